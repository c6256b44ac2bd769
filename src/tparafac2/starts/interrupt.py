"""Ctrl-C asks for the best so far; a second Ctrl-C means it."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupt:
    """While open, the first Ctrl-C is noted instead of raised.

    The loop looks at `requested` between iterations, where the state is whole. Outside the main thread
    Python delivers no signals, and nothing is changed.

    Examples
    --------
    >>> with Interrupt() as interrupt:
    ...     interrupt.requested
    False
    """

    def __init__(self) -> None:
        self.requested = False
        self._then: list[Callable[[], object]] = []
        self._previous: Any = None

    def on_request(self, action: Callable[[], object]) -> None:
        """Do this too when the user interrupts; at once if that has happened already."""
        self._then.append(action)
        if self.requested:
            action()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        for action in self._then:
            action()


@contextmanager
def shielded_children() -> Iterator[None]:
    """Processes begun meanwhile are born deaf to Ctrl-C, which reaches a terminal's whole process group.

    For that moment, a fraction of a second, this process is deaf, too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the main process."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop_workers() -> None:
    """End the processes of joblib at once, if there are any: else they would finish what nobody waits for."""
    if "joblib.externals.loky" not in sys.modules:
        return
    from joblib.externals.loky import get_reusable_executor

    # Without `reuse` there would be a wait for their work to end.
    get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
