"""Batches of starts, one after the other or in several processes; the answer is the same."""

import os
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2.solver import Entry, Problem, Run, Settings, Start, solve
from tparafac2.starts.processes import Interrupt, flag_file, in_processes, is_helper, no_orphans
from tparafac2.starts.progress import Progress

_ROWS = 100  # rows (starts x rank) of the batched products from which on they are about as fast as they get
_BATCH_BYTES = 512_000_000
ARRAYS_PER_START = (
    6  # of the size of B: patterns, products, auxiliaries and duals, and those of one step before
)


def batch_size(shape: tuple[int, int, int], rank: int) -> int:
    """Number of starts to process together: a matter of the problem's shape only.

    It must not depend on the machine or the number of processes, because rounding depends on it.

    Examples
    --------
    >>> batch_size((20, 150, 100), 3), batch_size((20, 50, 2_000_000), 5)
    (34, 1)
    """
    K, _, J = shape
    per_start = 8 * ARRAYS_PER_START * rank * K * J
    return max(1, min(-(-_ROWS // rank), _BATCH_BYTES // per_start))


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
    problem: Problem, starts: Sequence[Start], settings: Settings, n_jobs: int, progress: Progress
) -> list[Run]:
    """Run all starts.

    Parameters
    ----------
    problem : Problem
    starts : sequence of Start
    settings : Settings
    n_jobs : int
        Number of processes; each uses one thread.
    progress : Progress

    Returns
    -------
    list of Run
        In the order of the starts. After an interruption the batches that had not begun are missing.
    """
    parts = batches(len(starts), batch_size(problem.data.shape, problem.rank))
    pieces = [starts[part] for part in parts]
    progress.expect([len(piece) for piece in pieces], settings, n_jobs)
    with Interrupt() as interrupt:
        if n_jobs == 1 or len(pieces) == 1 or is_helper():
            return _one_process(problem, pieces, settings, interrupt, progress)
        return _many_processes(problem, pieces, settings, n_jobs, interrupt, progress)


def _one_process(
    problem: Problem,
    pieces: Sequence[Sequence[Start]],
    settings: Settings,
    interrupt: Interrupt,
    progress: Progress,
) -> list[Run]:
    runs: list[Run] = []

    def watch(entry: Entry) -> bool:
        progress.iteration(entry.iteration, entry)
        return interrupt.requested

    for piece in pieces:
        if runs and interrupt.requested:
            break
        runs += _run_batch(problem, piece, settings, watch)
        progress.batch_done()
    return runs


def _many_processes(
    problem: Problem,
    pieces: Sequence[Sequence[Start]],
    settings: Settings,
    n_jobs: int,
    interrupt: Interrupt,
    progress: Progress,
) -> list[Run]:
    runs: list[Run] = []
    with flag_file(interrupt) as flag, no_orphans():
        work = [(problem, piece, settings, flag) for piece in pieces]
        for done in in_processes(_run_elsewhere, work, n_jobs):
            runs += done
            progress.batch_done()
    return runs


def _run_batch(
    problem: Problem,
    piece: Sequence[Start],
    settings: Settings,
    watch: Callable[[Entry], bool],
) -> list[Run]:
    # One level of parallelism: threads of the products inside processes of the starts only get in the way.
    with threadpool_limits(limits=1):
        return solve(problem, piece, settings, watch)


def _run_elsewhere(problem: Problem, piece: Sequence[Start], settings: Settings, flag: str) -> list[Run]:
    # The main process decides about Ctrl-C, and says so by the flag.
    return _run_batch(problem, piece, settings, lambda entry: os.path.exists(flag))
