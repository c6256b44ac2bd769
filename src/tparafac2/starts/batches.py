"""Batches of starts, one after the other, in several threads or on a cluster: the answer is the same."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2.clusters import Cluster, is_unwanted
from tparafac2.data import teamwork
from tparafac2.solver import Entry, Problem, Run, Settings, Start, solve
from tparafac2.starts.processes import Interrupt, helping, is_helper
from tparafac2.starts.progress import Progress

# Numbers in the patterns of a batch from which on Python's part of an iteration is small beside the rest, so
# that threads do not wait for each other. Larger batches would need more memory.
_NUMBERS = 100_000
# Of many rows the products take most of the time, and are several times faster for several starts at once.
_MANY, _ROWS = 100, 40
_MOST_ROWS = 100  # rows (starts x rank) of the batched products from which on they are no faster
_BATCH_BYTES = 512_000_000
_ARRAYS = 6  # of the size of B: patterns, products, auxiliaries and duals, and those of one step before


def batch_size(shape: tuple[int, int, int], rank: int) -> int:
    """Number of starts to process together: a matter of the problem's shape only.

    It must not depend on the machine or the number of threads, because rounding depends on it.

    Examples
    --------
    >>> batch_size((20, 13, 100), 3), batch_size((20, 1000, 500), 5), batch_size((20, 50, 2_000_000), 5)
    (17, 8, 1)
    """
    K, I, J = shape
    enough = -(-_NUMBERS // (rank * K * J))
    if I >= _MANY:
        enough = max(enough, -(-_ROWS // rank))
    most = min(-(-_MOST_ROWS // rank), _BATCH_BYTES // (8 * _ARRAYS * rank * K * J))
    return max(1, min(enough, most))


def batches(n: int, size: int) -> list[slice]:
    """Even batches of at most `size` starts.

    Examples
    --------
    >>> batches(20, 11)
    [slice(0, 10, None), slice(10, 20, None)]
    """
    count = -(-n // size)
    edges = np.linspace(0, n, count + 1).round().astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def run_starts(
    problem: Problem,
    starts: Sequence[Start],
    settings: Settings,
    n_jobs: int,
    progress: Progress,
    *,
    size: int | None = None,
    client: Any = None,
) -> list[Run]:
    """Run all starts.

    Parameters
    ----------
    problem : Problem
    starts : sequence of Start
        Taken one batch at a time, when its turn comes.
    settings : Settings
    n_jobs : int
        Number of threads that share the batches.
    progress : Progress
    size : int, optional
        Number of starts in a batch, if it is not to be that of `batch_size`.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers share the batches instead of threads; the data are sent to them.

    Returns
    -------
    list of Run
        In the order of the starts. After an interruption the batches that had not begun are missing.
    """
    parts = batches(len(starts), size or batch_size(problem.data.shape, problem.rank))
    if client is not None and len(parts) > 1:
        return _run_elsewhere(problem, [list(starts[part]) for part in parts], settings, client, progress)
    threads = 1 if is_helper() else max(1, min(n_jobs, len(parts)))
    progress.expect([part.stop - part.start for part in parts])
    # One level of parallelism: threads of the products inside threads of the starts only get in the way.
    with Interrupt() as interrupt, threadpool_limits(limits=1):
        hands = 1 if is_helper() else max(1, n_jobs // max(1, len(parts)))
        crew = Crew(problem, starts, settings, interrupt, progress, hands)
        return [run for runs in crew.all_of(parts, threads) for run in runs]


def _run_elsewhere(
    problem: Problem,
    parts: Sequence[Sequence[Start]],
    settings: Settings,
    client: Any,
    progress: Progress,
) -> list[Run]:
    """Have the workers of a cluster run the batches."""
    progress.expect([len(part) for part in parts])
    runs: list[Run] = []
    with Interrupt() as interrupt:
        pieces = [(is_unwanted, problem, part, settings) for part in parts]
        for batch in Cluster(client).do(_one_batch, pieces, lambda: interrupt.requested):
            progress.batch_done()
            runs += batch or []
    # After an interruption something is to be given back all the same.
    return runs or solve(problem, parts[0], settings, lambda entry: True)


def _one_batch(
    stop: Callable[[], bool], problem: Problem, starts: Sequence[Start], settings: Settings
) -> list[Run]:
    with helping(stop), Interrupt() as interrupt, threadpool_limits(limits=1):
        return solve(problem, starts, settings, lambda entry: interrupt.requested)


class Crew:
    """Threads that share batches of starts, and what they have in common."""

    def __init__(
        self,
        problem: Problem,
        starts: Sequence[Start],
        settings: Settings,
        interrupt: Interrupt,
        progress: Progress,
        hands: int,
    ) -> None:
        self.problem, self.starts, self.settings = problem, starts, settings
        self.hands = hands  # threads that share the products of one batch, where there are fewer batches
        self.interrupt, self.progress = interrupt, progress
        self.given_up = False
        self.one_at_a_time = threading.Lock()

    def all_of(self, parts: Sequence[slice], threads: int) -> list[list[Run]]:
        """The runs of every batch, in order; none of those that had not begun when the user interrupted."""
        if threads == 1:
            return [self.batch(number, part) for number, part in enumerate(parts)]
        with ThreadPoolExecutor(threads) as pool:
            work = [
                pool.submit(copy_context().run, self.batch, number, part) for number, part in enumerate(parts)
            ]
            try:
                return [batch.result() for batch in work]
            except BaseException:
                self.given_up = True  # or the other threads would finish what nobody waits for
                raise

    def batch(self, number: int, part: slice) -> list[Run]:
        """One batch, from its starts to their ends; the first one always has something to give back."""
        if self.given_up or (number > 0 and self.interrupt.requested):
            return []
        with teamwork(self.hands):
            runs = solve(self.problem, self.starts[part], self.settings, partial(self._watch, number))
        with self.one_at_a_time:
            self.progress.batch_done(number)
        return runs

    def _watch(self, number: int, entry: Entry) -> bool:
        with self.one_at_a_time:
            self.progress.iteration(number, entry)
        return self.given_up or self.interrupt.requested
