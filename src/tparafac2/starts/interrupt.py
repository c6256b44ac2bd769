"""Ctrl-C asks for the best so far; a second Ctrl-C means it."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self


class Interrupt:
    """While open, the first Ctrl-C is noted instead of raised.

    The loop looks at `requested` between iterations, where the state is whole. Nothing is changed outside the
    main thread, where Python delivers no signals, and where Ctrl-C is ignored: so shells start what runs in
    the background.

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
        if _hears_interrupts():
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


def _hears_interrupts() -> bool:
    """Whether Ctrl-C comes to Python code of this thread, and is neither ignored nor handled elsewhere."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    )
