"""A line on stderr for fits that take longer than a moment, and how long they will still take."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from tparafac2.large import LEAST_PASSES, MOST_PASSES, Reads
from tparafac2.solver import Entry, Settings
from tparafac2.starts.processes import is_helper

_SPAN = 25  # iterations over which the rate of convergence is measured
_FARTHEST = 3.0  # plateaus end all of a sudden: nothing is foretold beyond this many times the past
_LEAST_RATIO = 1e-300
_QUIET_SECONDS = 1.5
_REFRESH_SECONDS = 0.2
_DOUBT = 2.0  # what is left was measured to lie mostly within this factor of what convergence foretells


class Range(NamedTuple):
    """Between which bounds something is likely to lie."""

    least: float
    most: float


class Outlook:
    """Where the starts of one batch are on their way to the rule that stops them.

    The spread of the objective and the largest gap, as multiples of what they may be at the end, fall about
    geometrically near a minimum: their logarithms are extended as straight lines. Starts on the same data
    come to the same rate in the end, so that each is also judged by the median of all.

    Examples
    --------
    A start whose objective comes closer to 1 by a tenth in every iteration, one second each:

    >>> from tparafac2.solver import Info
    >>> outlook, zero, one = Outlook(Settings()), np.zeros(1), np.array([0])
    >>> for n in range(1, 121):
    ...     outlook.step(Entry(n, float(n), one, Info(np.array([1 + 0.9**n]), zero, zero, zero)))
    >>> [round(bound) for bound in outlook.seconds_left()]
    [61, 61]
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.iteration = 0
        self.active: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.objectives = self.gaps = np.empty((0, 0))
        self.paces = np.empty(_SPAN)  # seconds that one start took in recent iterations
        self.clock = 0.0

    def step(self, entry: Entry) -> None:
        """Take notice of one more iteration."""
        if not self.iteration:
            shape = (_SPAN + self.settings.window, len(entry.active))
            self.objectives, self.gaps = np.full(shape, np.nan), np.full(shape, np.nan)
        self.iteration, self.active = entry.iteration, entry.active
        # Starts that have stopped keep the last that was seen of them.
        for recent, now in ((self.objectives, entry.info.objective), (self.gaps, entry.info.gap)):
            recent[:-1, self.active] = recent[1:, self.active]
            recent[-1, self.active] = now
        self.paces[self.iteration % _SPAN] = (entry.seconds - self.clock) / len(self.active)
        self.clock = entry.seconds

    def seconds_left(self) -> Range | None:
        """Between how many seconds the batch will still take; None while that cannot be told."""
        left = self._iterations_left()
        if left is None or not left[1].max() <= _FARTHEST * self.iteration:
            return None
        pace = float(np.median(self.paces))
        # With every start that stops the iterations become cheaper: the sum over the starts is what is paid.
        return Range(*(pace * float(iterations.sum()) for iterations in left))

    def _iterations_left(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Least and most iterations that each active start will still need."""
        if self.iteration < _SPAN + self.settings.window:
            return None
        least, most = np.ones(len(self.active)), np.ones(len(self.active))
        for excess in self._excesses():
            above = np.maximum(excess[-1, self.active], 0.0)
            if not above.any():
                continue
            fall = -_slopes(excess)
            usual = np.median(fall[~np.isnan(fall)])  # some may have stopped before there was anything to see
            if not usual > 0:
                return None
            own = np.where(fall[self.active] > 0, fall[self.active], usual)
            least = np.maximum(least, above / np.maximum(own, usual))
            most = np.maximum(most, above / np.minimum(own, usual))
        bound = max(self.settings.max_iter - self.iteration, 0)
        return np.minimum(least, bound), np.minimum(most, bound)

    def _excesses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of how many times too large spread and gap were: below 0 a start may stop."""
        seen = np.lib.stride_tricks.sliding_window_view(self.objectives, self.settings.window + 1, axis=0)
        spread = seen.max(axis=-1) - seen.min(axis=-1)
        allowed = self.settings.tol * np.abs(self.objectives[-len(spread) :])
        gap = self.gaps[-len(spread) :] / max(self.settings.feasibility_tol, _LEAST_RATIO)
        ratio = spread / np.maximum(allowed, _LEAST_RATIO)
        return np.log(np.maximum(ratio, _LEAST_RATIO)), np.log(np.maximum(gap, _LEAST_RATIO))


def _slopes(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes of the straight lines closest to columns."""
    steps = np.arange(len(lines)) - (len(lines) - 1) / 2
    return np.asarray(steps @ lines / (steps @ steps))


_which_fit: ContextVar[str] = ContextVar("which_fit", default="")


@contextmanager
def one_of_several(which: str) -> Iterator[None]:
    """Fits that are begun meanwhile say which of several they are.

    Examples
    --------
    >>> with one_of_several("model 2 of 6"):
    ...     Progress(False).what
    'fitting model 2 of 6'
    """
    before = _which_fit.set(which)
    try:
        yield
    finally:
        _which_fit.reset(before)


class Progress:
    """Tells how far a fit is, on a terminal only, and only if it takes a while.

    How long it will still take is told from how it converges, as a range, or not at all: until it can be
    told, silence is better than the time of all iterations that there may be.

    Parameters
    ----------
    enabled : bool, optional
        True or False to decide; None for "if the stream is a terminal".
    stream : text stream, optional
        Standard error unless given.
    of : str
        What there are several of.

    Examples
    --------
    >>> import io
    >>> quiet = io.StringIO()
    >>> progress = Progress(None, quiet)  # not a terminal
    >>> progress.expect([10, 10], Settings(), 1)
    >>> progress.batch_done()
    >>> quiet.getvalue()
    ''
    """

    def __init__(
        self, enabled: bool | None = None, stream: TextIO | None = None, *, of: str = "starts"
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.enabled = not is_helper() and (self.stream.isatty() if enabled is None else enabled)
        self.of = of
        self.what = f"fitting {_which_fit.get()}".strip()
        self.began = time.monotonic()
        self.shown = 0.0
        self.width = 0
        self.reads: Reads | None = None
        self.expect([1], Settings(), 1)

    def looking(self, reads: Reads) -> None:
        """Some more was read in a first look at all data."""
        if self.enabled and self._due():
            left = Range(*(reads.seconds * (1 / reads.part - 1),) * 2)
            ahead = _range_in_words(
                Range(*(reads.seconds / reads.part * n for n in (LEAST_PASSES, MOST_PASSES)))
            )
            self._write(f"looking at the data: {reads.part:.0%}, {_rate(reads)}, then about {ahead}", left)

    def follow(self, reads: Reads) -> None:
        """Tell how data are read, too: this takes most of the time."""
        self.reads = reads
        reads.watch = self._reading

    def _reading(self) -> None:
        if self.enabled and self._due():
            self._show(self.where, self._left())

    def expect(self, batches: Sequence[int], settings: Settings, n_jobs: int) -> None:
        """How many starts there are in every batch, and by how many hands batches are worked on."""
        self.batches, self.settings, self.n_jobs = batches, settings, n_jobs
        self.outlooks: dict[int, Outlook] = {}  # of the batches that are being worked on
        self.ended: set[int] = set()
        self.where = ""
        self.expected = self.last_end = time.monotonic()

    def iteration(self, batch: int, entry: Entry) -> None:
        """One more iteration of a batch."""
        if not self.enabled:
            return
        self.outlooks.setdefault(batch, Outlook(self.settings)).step(entry)
        self.where = f", iteration {entry.iteration}"
        if self._due():
            self._show(self.where, self._left())

    def batch_done(self, batch: int | None = None) -> None:
        """One more batch of starts is at its end; any one, where nobody heard of its iterations."""
        self.ended.add(len(self.ended) if batch is None else batch)
        self.last_end = time.monotonic()
        if batch is not None:
            self.outlooks.pop(batch, None)
        if self.enabled and (self.width or self._due()):
            self._show("", self._left())

    def close(self) -> None:
        """Take the line away."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0

    def _left(self) -> Range | None:
        """What is left of the batches being worked on, and of later ones, taken to be like those before."""
        told = [outlook.seconds_left() for outlook in self.outlooks.values()]
        known = [one for one in told if one is not None]
        if len(known) < len(told) or not (known or self.ended):
            return None
        rounds = -(-(len(self.batches) - len(self.ended) - len(told)) // self.n_jobs)
        each: list[float] = [
            max(outlook.clock + one[k] for outlook, one in zip(self.outlooks.values(), known))
            if not self.ended
            else (self.last_end - self.expected) / -(-len(self.ended) // self.n_jobs)
            for k in range(2)
        ]
        longest = [max((one[k] for one in known), default=0.0) for k in range(2)]
        return Range(*(now + rounds * later for now, later in zip(longest, each)))

    @property
    def _going(self) -> int:
        """Starts that are not at their end."""
        begun = sum(len(outlook.active) for outlook in self.outlooks.values())
        known = self.ended | set(self.outlooks)
        return begun + sum(size for batch, size in enumerate(self.batches) if batch not in known)

    def _due(self) -> bool:
        now = time.monotonic()
        return now - self.began > _QUIET_SECONDS and now - self.shown > _REFRESH_SECONDS

    def _show(self, where: str, left: Range | None) -> None:
        together, going = sum(self.batches), self._going
        line = f"{self.what}: {together - going} of {together} {self.of} at their end{where}"
        if self.reads is not None:
            line += f", pass {self.reads.passes + 1} over the data{self._passes(left)}, {_rate(self.reads)}"
        self._write(line, None if left is None else Range(left.least / _DOUBT, left.most * _DOUBT))

    def _passes(self, left: Range | None) -> str:
        """How many passes are to be expected, where that can be told."""
        if self.reads is None or left is None or not self.reads.passes:
            return ""
        each = self.reads.seconds / (self.reads.passes + self.reads.part % 1)
        least, most = (
            self.reads.passes + bound / each for bound in (left.least / _DOUBT, left.most * _DOUBT)
        )
        return f" (of about {least:.0f} to {most:.0f})"

    def _write(self, line: str, left: Range | None) -> None:
        self.shown = time.monotonic()
        line += f", {_in_words(self.shown - self.began)}"
        if left is not None and left.most > 0:
            line += f", about {_range_in_words(left)} left"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = max(self.width, len(line))


def _rate(reads: Reads) -> str:
    return f"{reads.rate / 1e6:.0f} MB/s"


def _range_in_words(span: Range) -> str:
    least, most = _in_words(span.least), _in_words(span.most)
    number, _, unit = least.partition(" ")
    if least == most:
        return most
    return f"{number if most.endswith(f' {unit}') else least} to {most}"


def _in_words(seconds: float) -> str:
    """A duration as one would say it: nobody needs the seconds of an hour."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"
