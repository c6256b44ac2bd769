"""SIGTERM ends a command in order: temporary files go, and so do the processes it began."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_DEAF_SECONDS = 5.0


class Terminated(KeyboardInterrupt):
    """This process was asked to end by SIGTERM: like a Ctrl-C that means it."""


@contextmanager
def terminable() -> Iterator[None]:
    """While open, SIGTERM is raised as Terminated, unless somebody has decided otherwise.

    It may well come twice, as `timeout` sends it: the second must not disturb what cleans up after the first.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    deaf_until = 0.0

    def end(signum: int, frame: FrameType | None) -> None:
        nonlocal deaf_until
        if time.monotonic() >= deaf_until:
            deaf_until = time.monotonic() + _DEAF_SECONDS
            raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
