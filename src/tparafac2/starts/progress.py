"""A line on stderr for fits that take longer than a moment."""

import sys
import time
from typing import TextIO

_QUIET_SECONDS = 1.5
_REFRESH_SECONDS = 0.2
_BAR = 24


class Progress:
    """Tells how far a fit is, on a terminal only, and only if it takes a while.

    Parameters
    ----------
    enabled : bool, optional
        True or False to decide; None for "if the stream is a terminal".
    stream : text stream, optional
        Standard error unless given.

    Examples
    --------
    >>> import io
    >>> quiet = io.StringIO()
    >>> progress = Progress(None, quiet)  # not a terminal
    >>> progress.expect(2, 100)
    >>> progress.batch_done()
    >>> quiet.getvalue()
    ''
    """

    def __init__(self, enabled: bool | None = None, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.enabled = self.stream.isatty() if enabled is None else enabled
        self.began = time.monotonic()
        self.shown = 0.0
        self.width = 0
        self.batches, self.max_iter, self.done = 1, 1, 0

    def expect(self, batches: int, max_iter: int) -> None:
        """How much work there is at most."""
        self.batches, self.max_iter = batches, max_iter

    def iteration(self, iteration: int, objective: float) -> None:
        """One more iteration of the current batch."""
        if self.enabled and self._due():
            share = (self.done + iteration / self.max_iter) / self.batches
            self._show(share, f"iteration {iteration} of at most {self.max_iter}")

    def batch_done(self) -> None:
        """One more batch of starts is at its end."""
        self.done += 1
        if self.enabled and (self.width or self._due()):
            self._show(self.done / self.batches, f"{self.done} of {self.batches} batches of starts")

    def close(self) -> None:
        """Take the line away."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0

    def _due(self) -> bool:
        now = time.monotonic()
        return now - self.began > _QUIET_SECONDS and now - self.shown > _REFRESH_SECONDS

    def _show(self, share: float, what: str) -> None:
        self.shown = time.monotonic()
        filled = round(min(share, 1.0) * _BAR)
        seconds = self.shown - self.began
        line = f"fitting [{'#' * filled}{'.' * (_BAR - filled)}] {what}, {seconds:.0f} s"
        if 0 < share < 1:  # most fits end long before max_iter, so that this is a bound
            line += f", at most {_in_words(seconds * (1 - share) / share)} left"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = max(self.width, len(line))


def _in_words(seconds: float) -> str:
    """A duration as one would say it: nobody needs the seconds of an hour."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"
