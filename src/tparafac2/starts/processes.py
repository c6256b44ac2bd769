"""Ctrl-C asks for the best so far, and a second one means it; so it is in all processes that share the work.

The other processes are deaf to Ctrl-C, are told of it by a file, and are gone when this one is gone.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Self, TypeVar

from tparafac2.errors import WorkerLost
from tparafac2.words import Argument

Done = TypeVar("Done")

_LOOK_SECONDS = 0.5
_stop: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)


@contextmanager
def helping(stop: str | Callable[[], bool]) -> Iterator[None]:
    """What is done meanwhile helps another process, and ends when `stop` says so, or that file is there.

    A helper begins no processes of its own, and shows no progress.

    Examples
    --------
    >>> with helping("no/such/file"), Interrupt() as interrupt:
    ...     is_helper(), interrupt.requested
    (True, False)
    """
    before = _stop.set(partial(os.path.exists, stop) if isinstance(stop, str) else stop)
    try:
        yield
    finally:
        _stop.reset(before)


def is_helper() -> bool:
    """Whether this helps another process.

    Examples
    --------
    >>> is_helper()
    False
    """
    return _stop.get() is not None


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
        stop = _stop.get()
        return self._noted or (stop is not None and stop())

    def on_request(self, action: Callable[[], object]) -> None:
        """Do this too when the user interrupts; at once if that has happened already."""
        self._then.append(action)
        if self.requested:
            action()

    def __enter__(self) -> Self:
        if _hears_interrupts():
            self._previous = signal.signal(signal.SIGINT, self._note)
            outer = getattr(self._previous, "__self__", None)
            if isinstance(outer, Interrupt):  # this is a part of its work
                self.on_request(outer._hear)
        return self

    def _hear(self) -> None:
        if not self._noted:
            self._note(signal.SIGINT, None)

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


def in_processes(
    work: Callable[..., Done], pieces: Iterable[tuple[Any, ...]], n_jobs: int
) -> Generator[Done, None, None]:
    """Do the pieces of work in several processes, and hand out what comes of them, in their order.

    Parameters
    ----------
    work : callable
    pieces : iterable of tuple
        Arguments of the calls.
    n_jobs : int
        Number of processes.
    """
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=n_jobs,
        return_as="generator",
        initializer=_settle_in,
        initargs=(os.getpid(),),
    )
    with shielded_children():
        results: Generator[Done, None, None] = parallel(delayed(work)(*piece) for piece in pieces)
    return _handed_out(results)


def _handed_out(results: Generator[Done, None, None]) -> Generator[Done, None, None]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        yield from results
    except TerminatedWorkerError:
        raise WorkerLost(
            "a process that shared the work was ended from outside, perhaps for lack of memory: use fewer "
            "processes (",
            Argument("n_jobs"),
            "), or free memory.",
        ) from None


@contextmanager
def no_orphans() -> Iterator[None]:
    """Whatever ends this process's part of the work before its time ends that of the others."""
    try:
        yield
    except BaseException:
        stop_workers()
        raise


@contextmanager
def flag_file(interrupt: Interrupt) -> Iterator[str]:
    """A path that comes into being when the user interrupts: how other processes are told."""
    with tempfile.TemporaryDirectory(prefix="tparafac2-") as folder:
        flag = Path(folder) / "stop"
        interrupt.on_request(flag.touch)
        yield str(flag)


def stop_workers() -> None:
    """End the processes of joblib at once, if there are any: else they would finish what nobody waits for."""
    if "joblib.externals.loky" not in sys.modules:
        return
    from joblib.externals.loky import get_reusable_executor

    # Without `reuse` there would be a wait for their work to end.
    get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)


@contextmanager
def shielded_children() -> Iterator[None]:
    """Processes begun meanwhile are born deaf to Ctrl-C, which reaches a terminal's whole process group.

    For this process it is only held back for that moment.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it opens the ears of whoever starts it: not when workers are born
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle_in(parent: int) -> None:
    """First of all, in a new process: leave Ctrl-C to the one that began it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    # A process that is killed can tell nobody: without this its workers would go on, and wait for more.
    begun_by_it = os.getppid() == parent  # or it was killed a moment ago, and may not even be buried
    while os.getppid() == parent if begun_by_it else not _is_gone(parent):
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
