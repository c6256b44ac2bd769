"""Loadings and strengths: blocks whose rows meet only in the terms on them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.penalties import asks_for
from tparafac2.solver.problem import SortedTerms, met
from tparafac2.solver.row_kernels import Asked, Chained, solve_block, solve_chained_block
from tparafac2.solver.settings import Settings

Indices = NDArray[np.intp]
"""Which starts of a batch."""

# Penalty weight of a factor that is zero; positive also in the units of users whose data are tiny.
LEAST_WEIGHT = 1e-90


@dataclass(frozen=True, eq=False)
class RowSolver:
    """How rows are solved one by one; x (p, R, m) is where the search for non-negative solutions begins."""

    H: FloatArray
    x: FloatArray
    asked: Asked

    def part(self, rows: slice) -> "RowSolver":
        """The same for some rows."""
        own = self.H if self.H.shape[1] == 1 else self.H[:, rows]
        return replace(self, H=own, x=np.ascontiguousarray(self.x[:, :, rows]))

    def __call__(self, F: FloatArray) -> FloatArray:
        """The solutions (p, R, m) from F (p, R, m)."""
        x = self.x.copy()
        # In double precision always: the kernel is compiled anew for every other.
        solve_block(self.H, np.asarray(F, np.float64), x, self.asked)
        return x


class RowBlock:
    """One factor of all starts: `values` (n, R, m), solved row by row of m.

    The subproblem of a row x is x'Hx - 2f'x plus the terms. With norms, changes from row to row, sums of
    sizes and non-negativity it is solved exactly; any other term has an auxiliary and a dual variable (ADMM).

    Parameters
    ----------
    values : ndarray (n, R, m)
        Where the starts begin.
    terms : SortedTerms
    settings : Settings
    lift : float
        See `Precision`.
    """

    def __init__(self, values: FloatArray, terms: SortedTerms, settings: Settings, lift: float) -> None:
        # One memory order for all: the kernels are compiled anew for every other.
        self.values = np.array(values, dtype=np.float64, order="C")
        self.before = self.values.copy()
        self.terms = terms
        self.settings = settings
        self.lift = lift
        self.linear = False  # whether extrapolated values are kept as they are, also where they are negative
        self.clip = settings.absorb and terms.only("nonnegative")
        self.asked = Asked(float(terms.ridge), float(terms.shrinking), float(lift), bool(self.clip))
        self.chain = Chained(terms.own, terms.links) if terms.links.any() else None
        splits = () if self.clip else terms.splits
        self.splits = splits
        self.aux = [self.values.transpose(0, 2, 1).copy() for _ in splits]
        self.dual = [np.zeros_like(aux) for aux in self.aux]
        self._carried_before = [array.copy() for array in (*self.aux, *self.dual)]
        self.states: list[list[Any]] = [[None] * len(self.values) for _ in splits]

    def update(self, active: Indices, H: FloatArray, F: FloatArray) -> None:
        """Solve for the active starts: H (p, m or 1, R, R) and F (p, R, m)."""
        if self.splits:
            for p, i in enumerate(active):
                self._admm(int(i), H[p], F[p].T)
        elif self.chain is not None:
            x = self.values[active]
            solve_chained_block(H, np.asarray(F, np.float64), x, self.asked, self.chain)
            self.values[active] = x
        else:
            self.values[active] = self.solving(active, H)(F)

    @property
    def row_wise(self) -> bool:
        """Whether every row can be solved by itself, once and for all."""
        return not self.splits and self.chain is None

    def solving(self, active: Indices, H: FloatArray) -> "RowSolver":
        """How rows of the active starts are solved, one by one, from H (p, m or 1, R, R)."""
        x = self.values[active]
        return RowSolver(H, np.maximum(x, 0.0) if self.clip else x, self.asked)

    def price(self, active: Indices, sizes: FloatArray) -> FloatArray:
        """What absorbed norms and changes cost, for every active start and component of these squares."""
        if self.chain is None:
            return np.asarray(self.terms.ridge * sizes)
        x = self.values[active]
        steps = np.square(np.roll(x, -1, axis=2) - x)
        return np.asarray((self.chain.own * x * x + self.chain.links * steps).sum(axis=2))

    def linear_price(self, active: Indices) -> FloatArray:
        """What absorbed sums of sizes cost."""
        if not self.terms.shrinking:
            return np.zeros((len(active), self.values.shape[1]))
        return np.asarray(self.terms.shrinking * np.abs(self.values[active]).sum(axis=2))

    def gaps(self, active: Indices) -> FloatArray:
        """Largest ||x - aux|| / ||x|| over the split terms."""
        worst = np.zeros(len(active))
        if not self.splits:
            return worst
        x = self.before[active].transpose(0, 2, 1)
        norms = np.maximum(np.linalg.norm(x, axis=(1, 2)), 1e-300)
        for t in range(len(self.splits)):
            aux = self._carried_before[t][active]
            worst = np.maximum(worst, np.linalg.norm(x - aux, axis=(1, 2)) / norms)
        return worst

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> None:
        """Rescale the components, remember the point, and go on from an extrapolated one."""
        step = momentum[:, None, None]
        new = self.values[active] * scale[:, :, None]
        ahead = new + step * (new - self.before[active])
        self.values[active] = np.maximum(ahead, 0.0) if self.clip and not self.linear else ahead
        self.before[active] = new
        for t, array in enumerate((*self.aux, *self.dual)):
            new = array[active] * scale[:, None, :]
            ahead = new + step * (new - self._carried_before[t][active])
            is_aux = t < len(self.splits)
            if is_aux and asks_for([self.splits[t].penalty], "nonnegative"):
                ahead = np.maximum(ahead, 0.0)
            array[active] = ahead
            self._carried_before[t][active] = new

    def split_value(self, i: int, term: int, component: int | None) -> float:
        """Value of a split term at start i, in all or at one component; else that of its auxiliary."""
        chosen = slice(None) if component is None else slice(component, component + 1)
        value = self.splits[term].value(self.values[i, chosen].T)
        return value if np.isfinite(value) else self.splits[term].value(self.aux[term][i][:, chosen])

    def feasible(self, i: int) -> FloatArray:
        """Factor (m, R) of start i that meets its constraint exactly (the last one, of several)."""
        x = self.before[i].T
        for t, term in enumerate(self.splits):
            if not np.isfinite(term.value(x)):
                x = self._carried_before[t][i]
        return met(self.terms.splits, x.copy())

    def _admm(self, i: int, H: FloatArray, F: FloatArray) -> None:
        R = H.shape[-1]
        trace = np.trace(H, axis1=-2, axis2=-1)
        rho = np.broadcast_to(
            np.maximum(trace, self.settings.weight_floor * trace.mean() + LEAST_WEIGHT) / R, len(F)
        ).copy()
        weight = self.terms.ridge + (0.5 * len(self.splits) * rho)[: len(H), None, None]
        inverse = np.linalg.inv(H + weight * np.eye(R))
        for _ in range(self.settings.inner):
            pull = sum(aux[i] - dual[i] for aux, dual in zip(self.aux, self.dual))
            x = np.einsum(
                "mr,mrs->ms", F + 0.5 * rho[:, None] * pull, np.broadcast_to(inverse, (len(F), R, R))
            )
            worst = 0.0
            for t, term in enumerate(self.splits):
                self.aux[t][i], self.states[t][i] = term.prox(x + self.dual[t][i], rho, self.states[t][i])
                gap = x - self.aux[t][i]
                self.dual[t][i] += gap
                worst = max(worst, float(np.linalg.norm(gap)) / max(float(np.linalg.norm(x)), 1e-300))
            if worst < self.settings.inner_tol:
                break
        self.values[i] = x.T
