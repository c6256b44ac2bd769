"""Where a start begins, how it ends, and what it gives back there, in the solver's units."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, is_complete, row_weights
from tparafac2.penalties import is_set
from tparafac2.solver.problem import Problem, Scaled, met


class Status(StrEnum):
    """How a run ended.

    Examples
    --------
    >>> str(Status.MAX_ITER), Status.MAX_ITER.converged
    ('max_iter', False)
    """

    RUNNING = "running"
    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    INFEASIBLE = "infeasible"
    INTERRUPTED = "interrupted"
    NOT_FINITE = "not_finite"
    VANISHED = "vanished"

    @property
    def converged(self) -> bool:
        """Whether the run ended where it should."""
        return self is Status.CONVERGED


class Start(NamedTuple):
    """Where one start begins: A (I, R), B (K, J, R), C (K, R), in the solver's units."""

    A: FloatArray
    B: FloatArray
    C: FloatArray


class Trace:
    """What happened at each iteration of one start.

    Parameters
    ----------
    rows : ndarray (n_iter, 6)
        One row for each iteration, in the order of `columns`.
    """

    columns = ("iteration", "seconds", "objective", "gap_a", "gap_b", "gap_c")

    def __init__(self, rows: NDArray[np.float64]) -> None:
        self.rows = rows

    def gaps(self) -> tuple[float, float, float]:
        """Gaps of A, B and C at the last iteration."""
        gap_a, gap_b, gap_c = self.rows[-1, 3:] if len(self.rows) else (np.inf,) * 3
        return float(gap_a), float(gap_b), float(gap_c)

    def raised(self, objective: float) -> "Trace":
        """The same with a constant added to the objectives."""
        return Trace(self.rows + objective * (np.array(self.columns) == "objective"))

    @classmethod
    def joined(cls, first: "Trace", second: "Trace") -> "Trace":
        """Two traces, one after the other, as one."""
        later = second.rows.copy()
        if len(first.rows):
            later[:, :2] += first.rows[-1, :2]  # iterations and seconds are counted on
        return cls(np.vstack([first.rows, later]))

    def table(self) -> dict[str, NDArray[np.float64]]:
        """All iterations, by column."""
        return {name: self.rows[:, k] for k, name in enumerate(self.columns)}


class Run(NamedTuple):
    """One start at its end."""

    A: FloatArray
    B: FloatArray
    C: FloatArray
    status: Status
    trace: Trace
    vanished: tuple[int, ...]
    objective: float = np.nan
    sse: float = np.nan
    gaps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    sketched: bool = False  # whether the end is one on a sketch of the data
    rough: "Run | None" = None  # where it had ended on the sketch, before it went on from there on the data

    @property
    def n_iter(self) -> int:
        """Number of outer iterations."""
        return len(self.trace.rows)


def finish(problem: Problem, run: Run) -> Run:
    """Project the patterns onto their constraints and evaluate the objective there."""
    if not all(np.isfinite(factor).all() for factor in (run.A, run.B, run.C)):
        return run._replace(status=Status.NOT_FINITE, objective=np.inf, sse=np.inf)
    B = met(problem.b.splits, run.B.astype(np.float64, copy=False))
    objective, sse = evaluate(problem, run.A, B, run.C)
    return run._replace(B=B, objective=objective, sse=sse, gaps=run.trace.gaps())


def evaluate(problem: Problem, A: FloatArray, B: FloatArray, C: FloatArray) -> tuple[float, float]:
    """The true objective and its sum of squared errors at the given factors, in the solver's units."""
    sse = squared_error(problem, A, B * C[:, None, :])
    return sse + penalty(problem, A, B, C), sse


def penalty(problem: Problem, A: FloatArray, B: FloatArray, C: FloatArray) -> float:
    """What all terms together cost at the given factors."""
    total = sum(_value(term, A) for term in problem.a.everything) + _pattern_penalty(problem, B)
    if not problem.fixed_strengths:
        total += sum(_value(term, C) for term in problem.c.everything)
    return total


def _pattern_penalty(problem: Problem, B: FloatArray) -> float:
    """Value of the terms on the patterns, each column's changes weighed as they are coupled."""
    return sum(_value(term, B, problem.coupled) for term in problem.b.everything)


def squared_error(problem: Problem, A: FloatArray, BD: FloatArray) -> float:
    """Sum of squared errors, by one product with the data where that does not cancel."""
    At = np.ascontiguousarray(A.T, dtype=np.float64)[None]
    W = np.ascontiguousarray(BD.transpose(2, 0, 1), dtype=problem.data.dtype)[None]
    if not is_complete(problem.data):
        return float(problem.data.residual_sse(At, W)[0])
    cross = float((problem.data.accumulate(W)[0] * At[0]).sum())
    gram = np.einsum("kjr,kjs->rs", BD, BD, optimize=True)
    weights = row_weights(problem.data)
    rows = A.T @ A if weights is None else A.T @ (weights[:, None] * A)
    sse = problem.data.norm_squared - 2.0 * cross + float((gram * rows).sum())
    # Components that cancel each other are far larger than what they leave together.
    largest = max(1.0, float(np.abs(gram * rows).max()))
    trusted = sse >= problem.precision.cancellation * largest
    return sse if trusted else float(problem.data.residual_sse(At, W)[0])


def _value(term: Scaled, x: FloatArray, coupled: FloatArray | None = None) -> float:
    """Value of a term; a constraint counts by its gap, which is reported beside the objective."""
    value = 0.0 if is_set(term.penalty) else term.value(x, coupled)
    return value if np.isfinite(value) else 0.0
