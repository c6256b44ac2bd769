"""Where a start begins, and what a run gives back, in the solver's units."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.solver.status import Status


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

    @property
    def n_iter(self) -> int:
        """Number of outer iterations."""
        return len(self.trace.rows)
