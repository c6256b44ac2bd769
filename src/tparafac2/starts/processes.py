"""Other processes that share the work: deaf to Ctrl-C, and gone when this one is gone."""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tparafac2.errors import WorkerLost
from tparafac2.starts.interrupt import Interrupt
from tparafac2.words import Argument

Done = TypeVar("Done")

_LOOK_SECONDS = 0.5


def in_processes(
    work: Callable[..., Done], pieces: Iterable[tuple[Any, ...]], n_jobs: int, *, ordered: bool = True
) -> Generator[Done, None, None]:
    """Do the pieces of work in several processes, and hand out what comes of them.

    Parameters
    ----------
    work : callable
    pieces : iterable of tuple
        Arguments of the calls.
    n_jobs : int
        Number of processes.
    ordered : bool
        Whether results come in the order of the pieces, or as soon as they are there.
    """
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=n_jobs,
        return_as="generator" if ordered else "generator_unordered",
        initializer=_settle_in,
        initargs=(os.getpid(),),
    )
    with _shielded_children():
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
def _shielded_children() -> Iterator[None]:
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
