"""Ctrl-C asks for the best so far; a second Ctrl-C means it."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, Self

_flag: ContextVar[str | None] = ContextVar("flag", default=None)


@contextmanager
def helping(flag: str) -> Iterator[None]:
    """What is done meanwhile helps another process, which makes the file `flag` when the user interrupts.

    A helper begins no processes of its own, and shows no progress.

    Examples
    --------
    >>> with helping("no/such/file"), Interrupt() as interrupt:
    ...     is_helper(), interrupt.requested
    (True, False)
    """
    before = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(before)


def is_helper() -> bool:
    """Whether this helps another process.

    Examples
    --------
    >>> is_helper()
    False
    """
    return _flag.get() is not None


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
        self._noted = False
        self._then: list[Callable[[], object]] = []
        self._previous: Any = None

    @property
    def requested(self) -> bool:
        """Whether the user has interrupted, here or in the process that this one helps."""
        flag = _flag.get()
        return self._noted or (flag is not None and os.path.exists(flag))

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
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True
        for action in self._then:
            action()


def _hears_interrupts() -> bool:
    """Whether Ctrl-C comes to Python code of this thread, and is neither ignored nor handled elsewhere."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    )
