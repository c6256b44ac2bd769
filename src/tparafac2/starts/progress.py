"""A line on stderr for fits that take longer than a moment."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from tparafac2.solver import Entry, Settings
from tparafac2.starts.interrupt import is_helper
from tparafac2.starts.outlook import Outlook, Range

_QUIET_SECONDS = 1.5
_REFRESH_SECONDS = 0.2
_DOUBT = 2.0  # what is left was measured to lie mostly within this factor of what convergence foretells

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
        self.began = self.batch_began = time.monotonic()
        self.shown = 0.0
        self.width = 0
        self.done = 0
        self.expect([1], Settings(), 1)

    def expect(self, batches: Sequence[int], settings: Settings, n_jobs: int) -> None:
        """How many starts there are in every batch, and in how many processes batches are worked on."""
        self.batches, self.settings, self.n_jobs = batches, settings, n_jobs
        self.outlook = Outlook(settings)

    def iteration(self, number: int, entry: Entry) -> None:
        """One more iteration of the current batch."""
        if not self.enabled:
            return
        self.outlook.step(entry)
        if self._due():
            going = len(entry.active) + sum(self.batches[self.done + 1 :])
            self._show(going, f", iteration {number}", self._left_of_iterations())

    def batch_done(self) -> None:
        """One more batch of starts is at its end."""
        self.done += 1
        self.batch_began = time.monotonic()
        self.outlook = Outlook(self.settings)
        if self.enabled and (self.width or self._due()):
            per_round = (self.batch_began - self.began) / -(-self.done // self.n_jobs)
            seconds = per_round * -(-(len(self.batches) - self.done) // self.n_jobs)
            self._show(sum(self.batches[self.done :]), "", Range(seconds, seconds))

    def close(self) -> None:
        """Take the line away."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0

    def _left_of_iterations(self) -> Range | None:
        """What is left of this batch, and of later ones, which are taken to be like those before."""
        left, now = self.outlook.seconds_left(), time.monotonic()
        if left is None:
            return None
        later = len(self.batches) - self.done - 1
        like = [(self.batch_began - self.began) / self.done] * 2 if self.done else None
        each = like or [now - self.batch_began + bound for bound in left]
        return Range(*(bound + later * one for bound, one in zip(left, each)))

    def _due(self) -> bool:
        now = time.monotonic()
        return now - self.began > _QUIET_SECONDS and now - self.shown > _REFRESH_SECONDS

    def _show(self, going: int, where: str, left: Range | None) -> None:
        self.shown = time.monotonic()
        together = sum(self.batches)
        line = f"{self.what}: {together - going} of {together} {self.of} at their end{where}"
        line += f", {_in_words(self.shown - self.began)}"
        if left is not None and left.most > 0:
            line += f", about {_range_in_words(Range(left.least / _DOUBT, left.most * _DOUBT))} left"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = max(self.width, len(line))


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
