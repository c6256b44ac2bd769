"""Many small pieces of work, here, in processes or on a cluster, until they are done or stopped."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from threadpoolctl import threadpool_limits

from tparafac2.clusters import Cluster, count_threads, is_unwanted
from tparafac2.fitting import count_jobs
from tparafac2.starts import Interrupt, Progress, flag_file, helping, in_processes, no_orphans

Done = TypeVar("Done")


class Workers:
    """While open, the first Ctrl-C ends what is being worked on, and nothing more is begun.

    Parameters
    ----------
    n_jobs : int
        Number of processes; -1 for all cores.
    progress : bool, optional
        Whether to show a line; by default only on a terminal.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers do it instead of processes.

    Examples
    --------
    >>> with Workers(1, progress=False) as workers:
    ...     workers.do(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """

    def __init__(self, n_jobs: int, progress: bool | None = None, client: Any = None) -> None:
        self.cluster = None if client is None else Cluster(client)
        self.n_jobs = count_jobs(n_jobs) if client is None else count_threads(client)
        self.line = Progress(progress, of="fits")
        self.expected = 0

    @property
    def interrupted(self) -> bool:
        """Whether the user wants to see what there is."""
        return self._interrupt.requested

    def expect(self, pieces: int) -> None:
        """So many more pieces of work will come, as far as can be told."""
        self.expected += pieces
        self.line.expect([1] * max(self.expected, len(self.line.ended)))

    def do(self, work: Callable[..., Done], pieces: Sequence[tuple[Any, ...]]) -> list[Done | None]:
        """Do the pieces, and give what comes of each; None for those that were not finished."""
        if self.interrupted:
            return [None] * len(pieces)
        done: list[Done | None] = []
        for one in self._results(work, pieces):
            done.append(one)
            self.line.batch_done()
        return done

    def _results(self, work: Callable[..., Done], pieces: Sequence[tuple[Any, ...]]) -> Iterable[Done | None]:
        if self.cluster is not None:
            there = [(is_unwanted, work, *piece) for piece in pieces]
            return self.cluster.do(_do_one, there, lambda: self.interrupted)
        here = [(self._flag, work, *piece) for piece in pieces]
        n_jobs = min(self.n_jobs, len(pieces))
        return in_processes(_do_one, here, n_jobs) if n_jobs > 1 else (_do_one(*piece) for piece in here)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self.line.close)
            self._interrupt = stack.enter_context(Interrupt())
            self._flag = stack.enter_context(flag_file(self._interrupt))
            stack.enter_context(no_orphans())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> bool | None:
        return self._stack.__exit__(*exception)  # type: ignore[arg-type]


def _do_one(stop: str | Callable[[], bool], work: Callable[..., Done], *piece: Any) -> Done | None:
    # One thread, here as in other processes: rounding depends on their number, and processes are enough.
    with helping(stop), Interrupt() as interrupt, threadpool_limits(limits=1):
        if interrupt.requested:
            return None
        done = work(*piece)
        return None if interrupt.requested else done
