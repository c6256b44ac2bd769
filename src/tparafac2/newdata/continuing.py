"""Patterns and strengths of further slices, the loadings and the patterns before them fixed.

Strengths are solved row by row and patterns by one exact solve, in turn, with momentum, until nothing
changes; what is no quadratic term (constraints, terms of the user's own) has an auxiliary and a dual
variable.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tparafac2.data import FloatArray
from tparafac2.newdata.chains import Chain, Ties
from tparafac2.penalties import is_set, proximal
from tparafac2.solver.problem import Scaled, SortedTerms
from tparafac2.solver.rows import RowBlock
from tparafac2.solver.rules import Momentum, StopRule, WeightRule
from tparafac2.solver.settings import Settings

_ALL = np.array([0])
_LIFT = 1e-13
_TINY = 1e-300
_SWEEPS = 50
_SETTINGS = Settings(max_iter=2000, tol=1e-7, feasibility_tol=1e-6)


class Seen(NamedTuple):
    """All that the loadings see of slices: nothing else of the data is needed.

    Attributes
    ----------
    G : ndarray (m, J, R)
        X_k' A, over what was observed, by weight.
    H : ndarray (m, J or 1, R, R)
        A' A over the rows that were observed of each column, or of all.
    squares : ndarray (m,)
        Sum of squares of what was observed.
    """

    G: FloatArray
    H: FloatArray
    squares: FloatArray

    def errors(self, B: FloatArray, C: FloatArray) -> FloatArray:
        """Squared errors (m,) of patterns (m, J, R) and strengths (m, R)."""
        W = B * C[:, None, :]
        cross = np.einsum("kjr,kjr->k", self.G, W)
        if self.H.shape[1] == 1:
            fitted = np.einsum("krs,krs->k", self.H[:, 0], np.einsum("kjr,kjs->krs", W, W))
        else:
            fitted = np.einsum("kjr,kjrs,kjs->k", W, self.H, W, optimize=True)
        return np.asarray(np.maximum(self.squares - 2.0 * cross + fitted, 0.0))

    def strength_systems(self, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """H (m, R, R) and right-hand sides (R, m) of the strengths, for given patterns."""
        if self.H.shape[1] == 1:
            H = self.H[:, 0] * np.einsum("kjr,kjs->krs", B, B)
        else:
            H = np.einsum("kjr,kjrs,kjs->krs", B, self.H, B, optimize=True)
        return np.asarray(H), np.einsum("kjr,kjr->rk", self.G, B)


@dataclass(frozen=True, eq=False)
class Turning:
    """Patterns that only turn, P_k Delta with a Delta that is known: as they must, or at a price."""

    delta: FloatArray

    def nearest(self, B: FloatArray) -> FloatArray:
        """The nearest patterns that only turn."""
        size = np.abs(self.delta).max() or 1.0
        turned = np.asarray(B @ (self.delta / size).T, dtype=np.float64)
        return np.asarray(proximal.polar_factors(turned) @ self.delta)

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """The nearest patterns, as a penalty gives them."""
        return self.nearest(v), None

    def value(self, x: FloatArray) -> float:
        """Nothing: a constraint."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Course:
    """What is asked of the patterns and strengths of further slices.

    Attributes
    ----------
    ties : Ties
    strengths : SortedTerms
    fixed_strengths : bool
    static : bool
        Whether patterns are those before.
    turning : Turning, optional
    soft : ndarray (m,), optional
        The price of each slice's squared distance from patterns that only turn; None: they must.
    splits : tuple of penalties
        Further terms on the patterns.
    """

    ties: Ties
    strengths: SortedTerms
    fixed_strengths: bool = False
    static: bool = False
    turning: Turning | None = None
    soft: FloatArray | None = None
    splits: tuple[Scaled, ...] = ()

    @property
    def split(self) -> tuple[Any, ...]:
        """All that has an auxiliary variable."""
        hard = (self.turning,) if self.turning is not None and self.soft is None else ()
        return (*hard, *self.splits)

    def value(self, B: FloatArray) -> float:
        """What all terms on the patterns cost."""
        total = self.ties.value(B) + sum(term.value(B) for term in self.splits if not is_set(term.penalty))
        if self.soft is not None and self.turning is not None:
            total += float((self.soft * ((B - self.turning.nearest(B)) ** 2).sum(axis=(1, 2))).sum())
        return total

    def strength_value(self, C: FloatArray) -> float:
        """What all terms on the strengths cost."""
        return sum(term.value(C) for term in self.strengths.everything if not is_set(term.penalty))

    def met(self, B: FloatArray) -> FloatArray:
        """The patterns on all constraints, in turn where there are several."""
        sets = [term for term in self.split if isinstance(term, Turning) or is_set(term.penalty)]
        even = np.ones(len(B))
        for _ in range(_SWEEPS if len(sets) > 1 else 1):
            last = B
            for term in sets:
                B = term.prox(B, even)[0]
            if np.linalg.norm(B - last) <= 1e-14 * np.linalg.norm(B):
                break
        return B


class Continued(NamedTuple):
    """Patterns (m, J, R) and strengths (m, R) of further slices, and how they were reached."""

    B: FloatArray
    C: FloatArray
    errors: FloatArray
    objective: float
    converged: bool
    n_iter: int


@dataclass(eq=False)
class _Patterns:
    """The patterns, and an auxiliary and a dual variable for every split term."""

    seen: Seen
    course: Course
    B: FloatArray
    aux: list[FloatArray] = field(init=False)
    dual: list[FloatArray] = field(init=False)
    states: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        split, self.ties = self.course.split, self.course.ties.paced(None)
        self.aux = [term.prox(self.B, np.ones(len(self.B)))[0] for term in split]
        self.dual = [np.zeros_like(self.B) for _ in split]
        self.states = [None] * len(split)
        self._point = self.B
        self._before = [array.copy() for array in (*self.aux, *self.dual)]

    def update(self, C: FloatArray, weight: float, rounds: int) -> None:
        """Solve for the patterns, the strengths given."""
        course, ties = self.course, self.ties
        systems = self.seen.H * (C[:, None, :, None] * C[:, None, None, :])
        traces = np.trace(systems, axis1=2, axis2=3).mean(axis=1)
        sizes = traces / C.shape[1] + ties.diagonal().mean(axis=(1, 2))
        rho = weight * np.maximum(sizes, 0.01 * sizes.mean() + _TINY)
        soft = np.zeros(len(C)) if course.soft is None else course.soft
        lift = _LIFT * sizes + _TINY
        chain = Chain(systems, ties, 0.5 * len(course.split) * rho + soft + lift)
        fixed = self.seen.G * C[:, None, :] + ties.pulls()
        for _ in range(rounds if course.split or course.soft is not None else 1):
            right = fixed.copy()
            if course.turning is not None and course.soft is not None:
                right += soft[:, None, None] * course.turning.nearest(self.B)
            for aux, dual in zip(self.aux, self.dual):
                right += 0.5 * rho[:, None, None] * (aux - dual)
            self.B = chain.solve(right)
            for t, term in enumerate(course.split):
                self.aux[t], self.states[t] = term.prox(self.B + self.dual[t], rho, self.states[t])
                self.dual[t] = self.dual[t] + self.B - self.aux[t]
        self._point = self.B
        self.ties = ties.paced(self.B)

    @property
    def gap(self) -> float:
        """Largest distance of the patterns from an auxiliary, relative to their size."""
        size = max(float(np.linalg.norm(self._point)), _TINY)
        return max((float(np.linalg.norm(self._point - aux)) / size for aux in self.aux), default=0.0)

    def carry(self, momentum: float) -> None:
        """Go on from an extrapolated point."""
        arrays: list[FloatArray] = [*self.aux, *self.dual]
        ahead: list[FloatArray] = [new + momentum * (new - old) for new, old in zip(arrays, self._before)]
        self._before = arrays
        self.aux, self.dual = ahead[: len(self.aux)], ahead[len(self.aux) :]

    def stiffen(self) -> None:
        """The penalty weight was doubled."""
        self.dual = [dual / 2.0 for dual in self.dual]
        half = len(self.aux)
        self._before = self._before[:half] + [dual / 2.0 for dual in self._before[half:]]


def go_on(seen: Seen, course: Course, C: FloatArray, settings: Settings = _SETTINGS) -> Continued:
    """Find the patterns and strengths of further slices, from the last patterns of the fit.

    Parameters
    ----------
    seen : Seen
    course : Course
    C : ndarray (m, R)
        Strengths to begin with.
    settings : Settings
        Of the solver.
    """
    m = len(C)
    begin = np.repeat(course.ties.before[None], m, axis=0)
    if course.ties.there is not None:
        begin = begin * course.ties.there[..., None]
    patterns = _Patterns(seen, course, begin)
    strengths = RowBlock(C.T[None], course.strengths, settings, 1e-15)
    total = max(float(seen.squares.sum()), _TINY)
    momentum, stop, weights = Momentum(1, True), StopRule(1, settings, 1e-12 * total), WeightRule(1, settings)
    converged, n_iter = False, 0
    _solve_strengths(seen, course, patterns.B, strengths)
    while not converged and n_iter < settings.max_iter:
        n_iter += 1
        if not course.static:
            patterns.update(strengths.values[0].T, float(weights.weight[0]), settings.inner)
        _solve_strengths(seen, course, patterns.B, strengths)
        C = strengths.values[0].T
        objective = float(seen.errors(patterns.B, C).sum()) + course.value(patterns.B)
        objective += course.strength_value(C)
        gap = patterns.gap
        ahead = momentum.step(_ALL, np.array([objective]))
        converged = bool(stop.step(_ALL, np.array([objective]), np.array([gap]))[0])
        if len(weights.step(_ALL, np.array([gap]))):
            patterns.stiffen()
            momentum.restart(0)
        patterns.carry(float(ahead[0]))
        if not course.fixed_strengths:
            strengths.carry(_ALL, np.ones((1, C.shape[1])), ahead)
    return _finished(seen, course, patterns, strengths, (converged, n_iter))


def _solve_strengths(seen: Seen, course: Course, B: FloatArray, strengths: RowBlock) -> None:
    if not course.fixed_strengths:
        H, right = seen.strength_systems(B)
        strengths.update(_ALL, np.ascontiguousarray(H)[None], np.ascontiguousarray(right)[None])


def _finished(
    seen: Seen, course: Course, patterns: _Patterns, strengths: RowBlock, ended: tuple[bool, int]
) -> Continued:
    """The patterns on their constraints, and the strengths that are best with these."""
    B = patterns.B if course.static else course.met(patterns._point)
    _solve_strengths(seen, course, B, strengths)
    strengths.carry(_ALL, np.ones((1, B.shape[2])), np.zeros(1))
    C = np.asarray(strengths.feasible(0))
    errors = seen.errors(B, C)
    objective = float(errors.sum()) + course.value(B)
    objective += course.strength_value(C)
    return Continued(B, C, errors, objective, *ended)
