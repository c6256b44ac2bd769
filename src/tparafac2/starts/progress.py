"""A bar on stderr for fits that take longer than a moment, and how long they may still take."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import TYPE_CHECKING, TextIO

from tparafac2.large import Reads
from tparafac2.solver import Entry
from tparafac2.starts.processes import is_helper

if TYPE_CHECKING:
    import rich.progress

_QUIET_SECONDS = 1.5
_REFRESH_SECONDS = 0.2

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
    >>> progress.expect([10, 10])
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
        self.drawn = 0.0
        self.bar: rich.progress.Progress | None = None
        self.one_at_a_time = threading.RLock()
        self.reads: Reads | None = None
        self.expect([1])

    def looking(self, reads: Reads) -> None:
        """Some more was read in a first look at all data."""
        if self._due():
            self._draw(f"looking at the data, {_rate(reads)}", reads.part, 1.0)

    def follow(self, reads: Reads) -> None:
        """Tell how data are read, too: this takes most of the time."""
        self.reads = reads
        reads.watch = self._reading

    def _reading(self) -> None:
        if self._due():
            self._show()

    def expect(self, batches: Sequence[int]) -> None:
        """How many starts there are in every batch."""
        self.batches = batches
        self.active: dict[int, int] = {}  # starts of the batches that are being worked on
        self.ended: set[int] = set()
        self.where = ""

    def iteration(self, batch: int, entry: Entry) -> None:
        """One more iteration of a batch."""
        self.active[batch] = len(entry.active)
        self.where = f", iteration {entry.iteration}"
        if self._due():
            self._show()

    def batch_done(self, batch: int | None = None) -> None:
        """One more batch of starts is at its end; any one, where nobody heard of its iterations."""
        self.ended.add(len(self.ended) if batch is None else batch)
        if batch is not None:
            self.active.pop(batch, None)
        self.where = ""
        if self.bar is not None or self._due():
            self._show()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    @property
    def _going(self) -> int:
        """Starts that are not at their end."""
        known = self.ended | set(self.active)
        waiting = sum(size for batch, size in enumerate(self.batches) if batch not in known)
        return sum(self.active.values()) + waiting

    def _due(self) -> bool:
        now = time.monotonic()
        return self.enabled and now - self.began > _QUIET_SECONDS and now - self.drawn > _REFRESH_SECONDS

    def _show(self) -> None:
        together = sum(self.batches)
        done = together - self._going
        text = f"{self.what}: {done} of {together} {self.of} at their end{self.where}"
        if self.reads is not None:
            text += f", pass {self.reads.passes + 1} over the data, {_rate(self.reads)}"
        self._draw(text, done, together)

    def _draw(self, text: str, done: float, together: float) -> None:
        self.drawn = time.monotonic()
        with self.one_at_a_time:  # blocks of rows are read in several threads
            if self.bar is None:
                self.bar = _bar(self.stream)
                self.bar.add_task(text, total=together)
                self.bar.tasks[0].start_time = self.began
                self.bar.start()
            task = self.bar.task_ids[0]
            self.bar.update(task, description=text, completed=done, total=together, refresh=True)


def _bar(stream: TextIO) -> "rich.progress.Progress":
    """A bar that is drawn only when it is told to, without a thread of its own, and wiped at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(file=stream, force_terminal=True, force_jupyter=False),
        auto_refresh=False,
        speed_estimate_period=inf,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        get_time=time.monotonic,
    )


def _rate(reads: Reads) -> str:
    return f"{reads.rate / 1e6:.0f} MB/s"
