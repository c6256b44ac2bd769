"""The one loop: init, step, stop, for every model and a batch of starts at once."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.penalties import is_set
from tparafac2.solver.balance import Costs, Scales, best_scaling, remove_vanished
from tparafac2.solver.kernels import Summary
from tparafac2.solver.patterns import Given, PatternBlock, pattern_block
from tparafac2.solver.problem import Problem, SortedTerms
from tparafac2.solver.rows import Indices, RowBlock
from tparafac2.solver.rules import Momentum, StopRule, WeightRule
from tparafac2.solver.run import Run, Start, Status, Trace, finish
from tparafac2.solver.settings import Settings
from tparafac2.solver.views import Patterns, View, summarise, view_of


class Info(NamedTuple):
    """What is reported of one iteration, for the active starts only."""

    objective: NDArray[np.float64]
    gap_a: NDArray[np.float64]
    gap_b: NDArray[np.float64]
    gap_c: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """The largest gap."""
        return np.asarray(np.max([self.gap_a, self.gap_b, self.gap_c], axis=0))


class Entry(NamedTuple):
    """One line of the log: an iteration of those starts that were still going."""

    iteration: int
    seconds: float
    active: Indices
    info: Info


def solve(
    problem: Problem,
    starts: Sequence[Start],
    settings: Settings,
    watch: Callable[[Entry], bool] | None = None,
) -> list[Run]:
    """Run a batch of starts to their ends.

    Parameters
    ----------
    problem : Problem
    starts : sequence of Start
        Where to begin, in the solver's units.
    settings : Settings
    watch : callable, optional
        Called after each iteration with what is logged of it; True asks to stop now.

    Returns
    -------
    list of Run
        One for each start, in the same order.
    """
    batch = Batch(problem, starts, settings)
    count = len(starts)
    del starts  # they may be as large as the batch
    interrupted = False
    while batch.active.size and batch.iteration < settings.max_iter and not interrupted:
        batch.stop(batch.step())
        interrupted = bool(watch and watch(batch.log[-1]))
    batch.close(interrupted)
    points = [batch.point(i) for i in range(count)]
    del batch  # its arrays are no longer needed, and finishing needs some of its own
    return [finish(problem.of_start(i), point) for i, point in enumerate(points)]


class Batch:
    """The state of a batch of starts, and the one step that moves it."""

    def __init__(self, problem: Problem, starts: Sequence[Start], settings: Settings) -> None:
        n, dtype, lift = len(starts), problem.data.dtype, problem.precision.lift
        self.problem, self.settings = problem, settings
        self.loadings = RowBlock(np.stack([start.A.T for start in starts]), problem.a, settings, lift)
        self.strengths = RowBlock(np.stack([start.C.T for start in starts]), problem.c, settings, lift)
        B = np.ascontiguousarray(np.stack([start.B.transpose(2, 0, 1) for start in starts]), dtype=dtype)
        self.G = np.empty_like(B)
        self.patterns: PatternBlock = pattern_block(B, problem, settings)
        self.view: View = view_of(problem.data, problem.coupled)
        self.momentum = Momentum(n, settings.momentum)
        self.stop_rule = StopRule(n, settings, problem.precision.rounding)
        self.weights = WeightRule(n, settings)
        self.active: Indices = np.arange(n)
        self.status = [Status.RUNNING] * n
        self.vanished = np.zeros((n, problem.rank), dtype=bool)
        self.log: list[Entry] = []
        self.iteration = 0
        self.began = time.perf_counter()
        self.movable = [settings.balance and terms.scalable for terms in (problem.a, problem.b, problem.c)]
        if all(self.movable):
            self._balance_start()

    def step(self) -> Info:
        """One outer iteration of the active starts: patterns, strengths, loadings; scale and momentum."""
        active, problem = self.active, self.problem
        p = len(active)
        At, C = self.loadings.values[active], self.strengths.values[active]
        G, observed = self.view.columns(active, At, self.G[:p])
        N = self.view.row_gram(At)
        self.patterns.update(Given(active, G, N, C, self.weights.weight[active], observed))
        summary, systems = self.view.summarise(self._patterns(), G, N, observed)
        if not problem.fixed_strengths:
            self.strengths.update(active, systems, summary.cross)
            C = self.strengths.values[active]
        # W = B D takes the place of G, which is not needed any more.
        if p == len(self.patterns.B):
            np.multiply(self.patterns.B, C[..., None], out=G, casting="same_kind")
        else:
            for slot, i in enumerate(active):
                np.multiply(self.patterns.B[i], C[slot][:, :, None], out=G[slot], casting="same_kind")
        F, H = self.view.update_rows(self.loadings, active, C, G, summary.gram)
        At = self.loadings.values[active]
        N = At @ At.transpose(0, 2, 1)
        sse = self.view.sse(At, G, F, H)
        self._replace_cancelled(sse, At, G)
        return self._rescale_and_carry(sse, N, summary)

    def stop(self, info: Info) -> None:
        """Record the iteration, let finished starts go, and stiffen those whose gap stalls."""
        self.iteration += 1
        self.log.append(Entry(self.iteration, time.perf_counter() - self.began, self.active, info))
        done = self.stop_rule.step(self.active, info.objective, info.gap)
        broken = ~np.isfinite(info.objective)
        empty = self.vanished[self.active].all(axis=1)
        for mask, status in (
            (done, Status.CONVERGED),
            (empty, Status.VANISHED),
            (broken, Status.NOT_FINITE),
        ):
            for i in self.active[mask]:
                self.status[i] = status
        going_on = ~(done | broken | empty)
        for i in self.weights.step(self.active[going_on], info.gap[going_on]):
            self.patterns.stiffen(int(i), 2.0)
            self.momentum.restart(int(i))
        self.active = self.active[going_on]

    def close(self, interrupted: bool) -> None:
        """Say of the starts that were still going why they ended."""
        gaps = self.log[-1].info.gap if self.log else np.empty(0)
        for i in self.active:
            if interrupted:
                self.status[i] = Status.INTERRUPTED
            elif gaps[np.searchsorted(self.log[-1].active, i)] < self.settings.feasibility_tol:
                self.status[i] = Status.MAX_ITER
            else:
                self.status[i] = Status.INFEASIBLE
        self.active = self.active[:0]

    def point(self, i: int) -> Run:
        """Where start i is: its factors as they were optimised, never extrapolated."""
        A, C = self.loadings.feasible(i), self.strengths.feasible(i)
        B = self.patterns.point(i).transpose(1, 2, 0).astype(np.float64)
        return Run(A, B, C, self.status[i], self._trace(i), tuple(np.flatnonzero(self.vanished[i]).tolist()))

    def _patterns(self) -> Patterns:
        return Patterns(self.patterns.B, self.active)

    def _balance_start(self) -> None:
        """Only the product of the norm penalties matters, so it must not matter to the first step either."""
        At = self.loadings.values
        summary = summarise(self._patterns(), np.zeros_like(self.G))
        costs, sizes, linear = self._costs(At @ At.transpose(0, 2, 1), summary)
        scales = best_scaling(costs, sizes, self.problem.precision.farthest, self.movable, linear)
        at_rest = np.zeros(len(At))
        self.loadings.carry(self.active, scales.a, at_rest)
        self.patterns.carry(self.active, scales.b, at_rest)
        if not self.problem.fixed_strengths:
            self.strengths.carry(self.active, scales.c, at_rest)

    def _trace(self, i: int) -> Trace:
        rows = []
        for entry in self.log:
            slot = int(np.searchsorted(entry.active, i))
            if slot < len(entry.active) and entry.active[slot] == i:
                rows.append((entry.iteration, entry.seconds, *(column[slot] for column in entry.info)))
        return Trace(np.array(rows, dtype=np.float64).reshape(-1, len(Trace.columns)))

    def _replace_cancelled(self, sse: FloatArray, At: FloatArray, W: FloatArray) -> None:
        tiny = (sse < self.problem.precision.cancellation) & np.isfinite(sse)
        if tiny.any():
            sse[tiny] = self.view.residual_sse(np.flatnonzero(tiny), At, W)

    def _rescale_and_carry(self, sse: FloatArray, N: FloatArray, summary: Summary) -> Info:
        active = self.active
        costs, sizes, linear = self._costs(N, summary)
        scales = best_scaling(costs, sizes, self.problem.precision.farthest, self.movable, linear)
        if self.settings.balance:
            scales, gone = remove_vanished(scales, sizes, self.movable)
        else:
            gone = np.zeros(sizes.a.shape, dtype=bool)
        objective = sse + scales.penalty
        momentum = self.momentum.step(active, objective)
        newly_gone = (gone & ~self.vanished[active]).any(axis=1)
        momentum = np.where(newly_gone, 0.0, momentum)
        self.vanished[active] |= gone
        return self._carry(objective, scales, momentum, np.sqrt(summary.norms.sum(axis=1)))

    def _carry(
        self, objective: FloatArray, scales: Scales, momentum: FloatArray, norm_b: NDArray[np.float64]
    ) -> Info:
        active = self.active
        self.loadings.carry(active, scales.a, momentum)
        self.view.carry(active, scales.a, momentum)
        if not self.problem.fixed_strengths:
            self.strengths.carry(active, scales.c, momentum)
        gap_b = self.patterns.carry(active, scales.b, momentum) / np.maximum(norm_b, 1e-300)
        gaps = (self.loadings.gaps(active), gap_b, self.strengths.gaps(active))
        return Info(*(np.asarray(column, dtype=np.float64) for column in (objective, *gaps)))

    def _costs(self, N: FloatArray, summary: Summary) -> tuple[Costs, Costs, Costs | None]:
        """Penalties of every component in every mode, its squared norms, and penalties of degree one."""
        active, problem = self.active, self.problem
        blocks: list[tuple[SortedTerms, RowBlock | PatternBlock]] = [
            (problem.a, self.loadings),
            (problem.b, self.patterns),
        ]
        sizes = [np.diagonal(N, axis1=1, axis2=2), summary.norms]
        squares = [self.loadings.price(active, sizes[0]), self.patterns.price(active, summary)]
        if not problem.fixed_strengths:
            blocks.append((problem.c, self.strengths))
            sizes.append((self.strengths.values[active] ** 2).sum(axis=2))
            squares.append(self.strengths.price(active, sizes[2]))
        linear = [block.linear_price(active) for _, block in blocks]
        for (terms, block), square, length in zip(blocks, squares, linear):
            self._add_split_costs(square, length, terms, block.split_value)
        slopes = Costs.of(linear) if any(one.any() for one in linear) else None
        return Costs.of(squares), Costs.of(sizes), slopes

    def _add_split_costs(
        self,
        squares: FloatArray,
        linear: FloatArray,
        terms: SortedTerms,
        value: Callable[[int, int, int | None], float],
    ) -> None:
        for t, term in enumerate(terms.splits):
            if is_set(term.penalty):
                continue
            cost = linear if term.degree == 1 else squares
            for slot, i in enumerate(self.active):
                if term.degree is not None:
                    cost[slot] += [value(int(i), t, r) for r in range(self.problem.rank)]
                else:  # only the sum over components has a meaning
                    cost[slot, 0] += value(int(i), t, None)
