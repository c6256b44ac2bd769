"""The evolving block: three ways to update the patterns, one for each kind of terms."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.penalties import proximal
from tparafac2.solver import kernels
from tparafac2.solver.kernels import (
    UNSWEPT,
    Before,
    Drawn,
    Evolving,
    Observed,
    Pace,
    Quadratics,
    Rounds,
    Summary,
    Weights,
)
from tparafac2.solver.problem import Problem
from tparafac2.solver.rows import LEAST_WEIGHT, Indices
from tparafac2.solver.settings import Settings


class Given(NamedTuple):
    """What the patterns of the p active starts are solved from."""

    active: Indices
    G: FloatArray  # (p, R, K, J)
    N: FloatArray  # (p, R, R)  A'A; or (p, K, R, R), of the rows that were observed of each slice
    C: FloatArray  # (p, R, K)
    weight: FloatArray  # (p,)
    observed: Observed | None = None  # what N is for all, for each column; where entries are missing


class PatternBlock:
    """What the loop asks of the evolving block; B is (n, R, K, J). As it stands, nothing is split."""

    def __init__(self, B: FloatArray, problem: Problem, settings: Settings) -> None:
        self.B, self.problem, self.settings = B, problem, settings
        self.quadratics, self.pace = problem.quadratics, _pace(problem)
        if problem.b.pace is not None:  # every start has links of its own
            own, links = self.quadratics
            self.quadratics = Quadratics(own, np.repeat(links, len(B), axis=0))

    def update(self, given: Given) -> None:
        """Write new patterns of the active starts."""
        raise NotImplementedError

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> FloatArray:
        """Rescale the components, extrapolate what is carried, and give ||B - aux|| (largest over terms)."""
        self.B[active] *= scale[:, :, None, None].astype(self.B.dtype)
        return np.zeros(len(active))

    def price(self, active: Indices, summary: Summary) -> FloatArray:
        """What the absorbed terms cost, for every active start and component.

        What steps count that may be of any pace is brought up to the new patterns.
        """
        out = np.empty(summary.norms.shape)
        kernels.price_batch(self.quadratics, active, summary.steps, summary.gram, self.pace, out)
        return out

    def linear_price(self, active: Indices) -> FloatArray:
        """What absorbed sums of sizes cost, for every active start and component."""
        return np.zeros((len(active), self.B.shape[1]))

    def point(self, i: int) -> FloatArray:
        """Patterns (R, K, J) of start i as they are given back, but for constraints."""
        return np.asarray(self.B[i])

    def stiffen(self, i: int, factor: float) -> None:
        """The penalty weight of start i was multiplied by `factor`: scaled duals are divided by it."""

    def split_value(self, i: int, term: int, component: int | None) -> float:
        """Value of a split term at start i, in all or at one component; a constraint has none."""
        return 0.0


def _pace(problem: Problem) -> Pace:
    fixed, asked = problem.b.links, problem.b.pace
    return Pace(fixed, 0.0, fixed) if asked is None else Pace(fixed, float(asked.strength), asked.floors)


def by_slice(N: FloatArray) -> FloatArray:
    """(p, 1 or K, R, R): the one system of all slices, or one for each."""
    return N if N.ndim == 4 else N[:, None]


def slice_traces(N: FloatArray, C: FloatArray, observed: Observed | None = None) -> NDArray[np.float64]:
    """trace(D_k N D_k) for every start (p, K); N is what was observed, on average."""
    sizes = np.diagonal(by_slice(N), axis1=2, axis2=3).transpose(0, 2, 1)
    if observed is not None:
        first, second = np.triu_indices(N.shape[-1])
        sizes = observed.H[:, first == second].mean(axis=3)
    return np.asarray((sizes * C * C).sum(axis=1))


def slice_weights(
    traces: NDArray[np.float64], rank: int, weight: FloatArray, floor: float
) -> NDArray[np.float64]:
    """rho_k = s * trace_k / R for every start, with a floor."""
    least = floor * traces.mean(axis=1, keepdims=True) + LEAST_WEIGHT
    return np.asarray(weight[:, None] * np.maximum(traces, least) / rank)


class FusedPatterns(PatternBlock):
    """The PARAFAC2 term, hard or soft, non-negativity, both or none: everything in compiled passes."""

    def __init__(self, B: FloatArray, problem: Problem, settings: Settings) -> None:
        super().__init__(B, problem, settings)
        n, R, K, _ = B.shape
        terms = problem.b
        self.floor = settings.weight_floor
        dual, bounded = terms.asks_for("parafac2"), terms.asks_for("nonnegative")
        shrunken = terms.shrinking > 0
        self.drawn = Drawn(dual or terms.soft is not None, dual, bounded, shrunken)
        self.rounds = settings.inner if any(self.drawn) else 1
        self.thresholds = np.zeros((n, K))
        S, Y = (B.copy() if there else B for there in (dual, self.drawn.turning))
        Z = np.maximum(B, 0) if bounded else B.copy() if shrunken else B
        self.arrays = Evolving(
            S,
            Y,
            Z,
            B,
            np.zeros((n, K, R, R)),
            np.ones((n, K), np.uint8),
            np.stack([_first_delta(B[i]) for i in range(n)]),
        )
        self.before = Before(*(array.copy() if array is not B else B for array in (S, Y, Z)))

    def update(self, given: Given) -> None:
        """See PatternBlock."""
        active, G, N, C, weight, observed = given
        precision, arrays = self.problem.precision, self.arrays
        weights = self._weights(slice_traces(N, C, observed), weight)
        self.thresholds[active] = weights.pulls[:, 2]
        rounds = Rounds(self.rounds, np.zeros(len(active), np.int64), self.drawn, precision.collinear)
        while (rounds.done < self.rounds).any():
            before = rounds.done.copy()
            rest = (C, weights, self.quadratics, rounds)
            if observed is None:
                kernels.update_batch(arrays, active, G, by_slice(N), *rest)
            else:
                kernels.update_observed_batch(arrays, active, G, observed, *rest)
            left = self.drawn.turning & (rounds.done > before) & (arrays.explicit[active, 0] == UNSWEPT)
            for p in np.flatnonzero(left):
                self._careful_sweep(int(active[p]), weights.pulls[p, 0])

    def _weights(self, traces: NDArray[np.float64], weight: FloatArray) -> Weights:
        """What is not met exactly draws with its own weight; what has a dual variable, with half of rho."""
        half = 0.5 * slice_weights(traces, self.problem.rank, weight, self.floor)
        soft, nothing = self.problem.b.soft, np.zeros_like(half)
        turning = half if self.drawn.dual else nothing if soft is None else nothing + soft
        entries = half if self.drawn.bounded or self.drawn.shrunken else nothing
        lift = nothing if self.drawn.dual or entries is half else self.problem.precision.lift * traces
        threshold = 0.5 * self.problem.b.shrinking / half if self.drawn.shrunken else nothing
        return Weights(turning + entries + lift, np.stack([turning, entries, threshold], axis=1))

    def price(self, active: Indices, summary: Summary) -> FloatArray:
        """See PatternBlock."""
        return super().price(active, summary) + self.departures(active)

    def departures(self, active: Indices) -> FloatArray:
        """What a PARAFAC2 term that gives way costs, for every active start and component."""
        out = np.zeros((len(active), self.problem.rank))
        if self.problem.b.soft is not None:
            kernels.depart_batch(self.arrays, active, self.problem.b.soft, out)
        return out

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> FloatArray:
        """See PatternBlock."""
        if not any(self.drawn):
            return super().carry(active, scale, momentum)
        gap = np.zeros(len(active))
        kernels.carry_batch(
            self.arrays, self.before, active, scale, momentum, self.drawn, self.thresholds, gap
        )
        return np.sqrt(gap)

    def stiffen(self, i: int, factor: float) -> None:
        """See PatternBlock."""
        for S, Y, Z in (self.arrays[:3], self.before):
            if self.drawn.dual:
                S[i] = Y[i] + (S[i] - Y[i]) / factor
            if self.drawn.bounded or self.drawn.shrunken:
                left = self._shrunken(i, Z[i])
                Z[i] = left + (Z[i] - left) / factor

    def point(self, i: int) -> FloatArray:
        """See PatternBlock; with entries that are exactly zero, unless patterns must turn together."""
        if not self.drawn.shrunken or self.drawn.dual:
            return super().point(i)
        return self._shrunken(i, self.before.Z[i])

    def linear_price(self, active: Indices) -> FloatArray:
        """See PatternBlock."""
        if not self.drawn.shrunken:
            return super().linear_price(active)
        return np.asarray(
            self.problem.b.shrinking * np.abs(self.B[active]).sum(axis=(2, 3), dtype=np.float64)
        )

    def _shrunken(self, i: int, Z: FloatArray) -> FloatArray:
        """What the thresholds of start i leave of Z, and of that what is not negative if nothing may be."""
        t = self.thresholds[i][:, None].astype(Z.dtype)
        left = Z - np.clip(Z, -t, t)
        return np.maximum(left, 0) if self.drawn.bounded else left

    def _careful_sweep(self, i: int, weights: NDArray[np.float64]) -> None:
        """The sweep by singular values, for patterns too nearly collinear for cross products."""
        S, Y, Delta = self.arrays.S[i], self.arrays.Y[i], self.arrays.Delta
        slices = S.transpose(1, 2, 0).astype(np.float64)
        aux, Delta[i] = proximal.parafac2_sweep(slices, weights, Delta[i])
        Y[:] = aux.transpose(2, 0, 1)
        self.arrays.explicit[i] = 1


def _first_delta(B: FloatArray) -> FloatArray:
    slices = B.transpose(1, 2, 0).astype(np.float64)
    return proximal.mean_cross_product_root(slices, np.ones(len(slices)))


class StaticPatterns(PatternBlock):
    """Patterns that are the same in all slices: one exact least-squares solve."""

    def __init__(self, B: FloatArray, problem: Problem, settings: Settings) -> None:
        super().__init__(B, problem, settings)
        self.ridge = float(problem.b.diagonal.sum())
        self.lift = problem.precision.lift

    def update(self, given: Given) -> None:
        """See PatternBlock."""
        active, G, N, C, _, observed = given
        right = np.einsum("prkj,prk->prj", G, C)
        if observed is None:
            D = C.transpose(0, 2, 1)
            H = (by_slice(N) * D[:, :, :, None] * D[:, :, None, :]).sum(axis=1)
            solution = np.linalg.solve(self._lifted(H), right)
        else:
            systems = self._lifted(_static_systems(observed.H, C))
            solution = np.linalg.solve(systems, right.transpose(0, 2, 1)[..., None])[..., 0].transpose(
                0, 2, 1
            )
        self.B[active] = solution[:, :, None, :]

    def _lifted(self, H: FloatArray) -> FloatArray:
        """With the ridge, and for components that are not there the lift that rounding asks for."""
        trace = np.trace(H, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(H + (self.ridge + self.lift * trace + 1e-300) * np.eye(H.shape[-1]))


def _static_systems(H: FloatArray, C: FloatArray) -> FloatArray:
    """sum_k (c_k c_k') * H_kj for every column j: (p, J, R, R)."""
    R = C.shape[1]
    first, second = np.triu_indices(R)
    packed = np.einsum("pqkj,pqk->pjq", H, C[:, first] * C[:, second])
    systems = np.empty((*packed.shape[:2], R, R))
    systems[..., first, second] = systems[..., second, first] = packed
    return systems


class SplitPatterns(PatternBlock):
    """Any terms at all: an auxiliary and a dual variable for each, in plain NumPy, start by start."""

    def __init__(self, B: FloatArray, problem: Problem, settings: Settings) -> None:
        super().__init__(B, problem, settings)
        self.terms = problem.b.splits
        self.aux = [B.copy() for _ in self.terms]
        self.dual = [np.zeros_like(B) for _ in self.terms]
        self._before = [array.copy() for array in (*self.aux, *self.dual)]
        self.states: list[list[Any]] = [[None] * len(B) for _ in self.terms]

    def update(self, given: Given) -> None:
        """See PatternBlock."""
        active, G, N, C, weight, observed = given
        traces = slice_traces(N, C, observed)
        rho = slice_weights(traces, N.shape[-1], weight, self.settings.weight_floor)
        lift = self.problem.precision.lift * traces
        for p, i in enumerate(active):
            right = (G[p] * C[p][:, :, None]).astype(self.B.dtype, copy=False)
            half = 0.5 * rho[p][None, :, None]
            for _ in range(self.settings.inner):
                pull = sum(aux[i] - dual[i] for aux, dual in zip(self.aux, self.dual))
                target = np.ascontiguousarray(right + half * pull, dtype=self.B.dtype)
                half_rho, quadratics = 0.5 * len(self.terms) * rho[p] + lift[p], self._quadratics(int(i))
                if observed is None:
                    kernels.solve_quadratic(self.B[i], target, by_slice(N)[p], C[p], half_rho, quadratics)
                else:
                    H, joined = observed.H[p], observed.joined
                    kernels.solve_quadratic_observed(self.B[i], target, H, C[p], half_rho, quadratics, joined)
                if self._prox(int(i), rho[p]) < self.settings.inner_tol:
                    break

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> FloatArray:
        """See PatternBlock."""
        gap = np.zeros(len(active))
        for p, i in enumerate(active):
            for aux in self.aux:
                gap[p] = max(gap[p], float(np.linalg.norm(self.B[i] - aux[i])))
            factor = scale[p][:, None, None].astype(self.B.dtype)
            self.B[i] *= factor
            for array, before in zip((*self.aux, *self.dual), self._before):
                new = array[i] * factor
                array[i] = new + momentum[p] * (new - before[i])
                before[i] = new
            self._rescale_states(int(i), scale[p])
        return gap

    def stiffen(self, i: int, factor: float) -> None:
        """See PatternBlock."""
        for array in (*self.dual, *self._before[len(self.aux) :]):
            array[i] /= factor

    def split_value(self, i: int, term: int, component: int | None) -> float:
        """See PatternBlock; a constraint that is not met yet has the value of its auxiliary."""
        chosen = slice(None) if component is None else slice(component, component + 1)
        value = self.terms[term].value(self.B[i, chosen].transpose(1, 2, 0))
        if np.isfinite(value):
            return value
        return self.terms[term].value(self.aux[term][i, chosen].transpose(1, 2, 0))

    def _quadratics(self, i: int) -> Quadratics:
        own, links = self.quadratics
        return Quadratics(own, links if len(links) == 1 else links[i : i + 1])

    def _prox(self, i: int, rho: FloatArray) -> float:
        worst = 0.0
        norm = max(float(np.linalg.norm(self.B[i])), 1e-300)
        for t, term in enumerate(self.terms):
            v = (self.B[i] + self.dual[t][i]).transpose(1, 2, 0)
            aux, self.states[t][i] = term.prox(v, rho, self.states[t][i])
            self.aux[t][i] = aux.transpose(2, 0, 1)
            gap = self.B[i] - self.aux[t][i]
            self.dual[t][i] += gap
            worst = max(worst, float(np.linalg.norm(gap)) / norm)
        return worst

    def _rescale_states(self, i: int, scale: FloatArray) -> None:
        for t, term in enumerate(self.terms):
            self.states[t][i] = term.rescaled(self.states[t][i], scale)


def pattern_block(B: FloatArray, problem: Problem, settings: Settings) -> PatternBlock:
    """Choose the fastest block that can do what the terms ask."""
    if problem.static:
        return StaticPatterns(B, problem, settings)
    if problem.fused and settings.absorb:
        return FusedPatterns(B, problem, settings)
    return SplitPatterns(B, problem, settings)
