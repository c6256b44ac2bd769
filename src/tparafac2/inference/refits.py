"""Refits to many data sets, from the solution they were drawn from: many of them in one batch."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2.clusters import Cluster, is_unwanted
from tparafac2.data import (
    Compressed,
    SliceData,
    StackedData,
    is_complete,
    row_weights,
    sketch,
    sketched_rows,
)
from tparafac2.fitting import FitPlan
from tparafac2.inference.drawing import Drawn
from tparafac2.penalties import can_rotate
from tparafac2.result import Terms
from tparafac2.solver import Entry, Problem, Run, Settings, Start, Status, build_problem, extend, solve
from tparafac2.starts import Interrupt, Progress, batch_size, helping

# A standard error needs no more: with these it was that of fits to the end to a few per cent.
_LOOSELY: dict[str, Any] = {"max_iter": 500, "tol": 1e-6, "feasibility_tol": 1e-3}
_STACK_BYTES = 256_000_000
_MOST = 100  # refits in a batch


class Draws(Protocol):
    """What can be drawn from."""

    def draw(self, rng: np.random.Generator) -> Drawn:
        """One data set."""


@dataclass(frozen=True, eq=False)
class Refits:
    """Refits to data sets that are drawn when their turn comes.

    Parameters
    ----------
    data : SliceData
        Those that are drawn from.
    draws : Draws
    terms : Terms
    centre : Start
        Where all refits begin, in the solver's units.
    loadings : bool
        Whether loadings are asked for, too.
    """

    data: SliceData
    draws: Draws
    terms: Terms
    centre: Start
    loadings: bool

    @property
    def rank(self) -> int:
        """Number of components R."""
        return int(self.centre.A.shape[1])

    @property
    def settings(self) -> Settings:
        """How far each refit is to go."""
        return FitPlan(self.rank, **_LOOSELY).settings(self.data.dtype)

    @property
    def sketched(self) -> bool:
        """Whether rows may be mixed, so that few of them will do."""
        plain = is_complete(self.data) and row_weights(self.data) is None and can_rotate(self.terms.A, 0)
        return plain and sketched_rows(self.data, self.rank) is not None

    @property
    def size(self) -> int:
        """How many refits make a batch: a matter of the data's shape only."""
        if not is_complete(self.data) or row_weights(self.data) is not None:
            return 1
        K, I, J = self.data.shape
        rows = sketched_rows(self.data, self.rank) if self.sketched else None
        held = self.data.nbytes if rows is None else 8 * rows * K * J
        fits = max(1, _STACK_BYTES // held)
        return min(batch_size((K, rows or I, J), self.rank), fits, _MOST)

    def batch(
        self, seeds: Sequence[np.random.SeedSequence], watch: Callable[[Entry], bool] | None = None
    ) -> list[Run]:
        """One batch, from the drawing to the end."""
        drawn = [self.draws.draw(np.random.default_rng(seed)) for seed in seeds]
        small = [self._small(one.data) for one in drawn]
        starts = [
            Start(one.A if few.row_basis is None else few.row_basis.T @ one.A, *self.centre[1:])
            for one, few in zip(drawn, small)
        ]
        if len(drawn) == 1:
            runs = solve(self.problem(small[0].data), starts, self.settings, watch)
        else:
            stack = StackedData(tuple(few.data for few in small))
            runs = solve(self.problem(stack), starts, self.settings, watch)
        if self.loadings and self.sketched:
            pairs = zip(drawn, runs)
            runs = [
                run if broken(run) else extend(self.problem(one.data), [run], self.settings)[0]
                for one, run in pairs
            ]
        return runs

    def problem(self, data: SliceData) -> Problem:
        """What is minimised for given data."""
        return problem_of(data, self.terms, self.rank)

    def _small(self, data: SliceData) -> Compressed:
        found = sketch(data, self.rank) if self.sketched else None
        return Compressed(data) if found is None else found.compressed


def problem_of(data: SliceData, terms: Terms, rank: int) -> Problem:
    """What is minimised for given data."""
    penalties = (terms.A, terms.B, terms.C)
    return build_problem(data, rank, penalties, fixed_strengths=terms.fixed_strengths, tie=terms.tie)


def broken(run: Run) -> bool:
    """Whether a run came to nothing."""
    return run.status in (Status.NOT_FINITE, Status.VANISHED)


def all_refits(
    refits: Refits, seeds: Sequence[np.random.SeedSequence], n_jobs: int, progress: Progress
) -> Iterator[Run]:
    """The refits in the order of their seeds; those that are finished if the user interrupts."""
    parts = _batches(refits, seeds)
    threads = max(1, min(n_jobs, len(parts)))
    progress.expect([len(part) for part in parts])
    with Interrupt() as interrupt, threadpool_limits(limits=1), ThreadPoolExecutor(threads) as pool:

        def work(part: Sequence[np.random.SeedSequence]) -> list[Run]:
            if interrupt.requested:
                return []
            runs = refits.batch(part, lambda entry: interrupt.requested)
            return [run for run in runs if run.status is not Status.INTERRUPTED]

        waiting = [pool.submit(copy_context().run, work, part) for part in parts]
        try:
            for number, part in enumerate(waiting):
                runs = part.result()
                progress.batch_done(number)
                yield from runs
        finally:
            for part in waiting:
                part.cancel()


def refits_elsewhere(
    refits: Refits, seeds: Sequence[np.random.SeedSequence], client: Any, progress: Progress
) -> Iterator[Run]:
    """The same by the workers of a Dask cluster, to whom the data are sent once."""
    parts = _batches(refits, seeds)
    progress.expect([len(part) for part in parts])
    with Interrupt() as interrupt:
        pieces = [(is_unwanted, refits, part) for part in parts]
        for number, runs in enumerate(Cluster(client).do(_one_batch, pieces, lambda: interrupt.requested)):
            progress.batch_done(number)
            yield from runs or ()


def _one_batch(
    stop: Callable[[], bool], refits: Refits, seeds: Sequence[np.random.SeedSequence]
) -> list[Run]:
    with helping(stop), Interrupt() as interrupt, threadpool_limits(limits=1):
        return refits.batch(seeds, lambda entry: interrupt.requested)


def _batches(
    refits: Refits, seeds: Sequence[np.random.SeedSequence]
) -> list[Sequence[np.random.SeedSequence]]:
    size = refits.size
    return [seeds[first : first + size] for first in range(0, len(seeds), size)]
