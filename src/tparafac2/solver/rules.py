"""What each start is told after every iteration: how far to go ahead, when to stop, how stiff to be."""

import numpy as np
from numpy.typing import NDArray

from tparafac2.solver.settings import Settings

_PATIENCE = 30  # iterations without a tenth less gap, after which the gap counts as stalled


class Momentum:
    """How far to extrapolate each start.

    Parameters
    ----------
    n : int
        Number of starts.
    enabled : bool
        If False, never extrapolate.

    Examples
    --------
    >>> momentum = Momentum(1, enabled=True)
    >>> everyone = np.array([0])
    >>> [float(momentum.step(everyone, np.array([value]))[0].round(2)) for value in (3.0, 2.0, 1.0, 5.0)]
    [0.0, 0.28, 0.43, 0.0]
    """

    def __init__(self, n: int, enabled: bool) -> None:
        self.enabled = enabled
        self.age = np.ones(n)
        self.last = np.full(n, np.inf)

    def step(self, active: NDArray[np.intp], objective: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients for the active starts; a start whose objective rose begins anew."""
        rose = objective > self.last[active]
        self.last[active] = objective
        age = self.age[active]
        older = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * age * age))
        self.age[active] = np.where(rose, 1.0, older)
        return np.where(rose | (not self.enabled), 0.0, (age - 1.0) / older)

    def restart(self, i: int) -> None:
        """Begin anew for one start."""
        self.age[i] = 1.0


class StopRule:
    """The objective has stopped changing over a window, and every gap is small.

    Parameters
    ----------
    n : int
        Number of starts.
    settings : Settings
    rounding : float
        See `Precision`.
    """

    def __init__(self, n: int, settings: Settings, rounding: float) -> None:
        self.settings = settings
        self.rounding = rounding
        self.recent = np.full((settings.window + 1, n), np.nan)

    def step(
        self, active: NDArray[np.intp], objective: NDArray[np.float64], gap: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether each active start may stop, after this objective and this largest gap."""
        self.recent[:-1, active] = self.recent[1:, active]
        self.recent[-1, active] = objective
        seen = self.recent[:, active]
        spread = seen.max(axis=0) - seen.min(axis=0)  # NaN until the window is full: never below tol
        still = spread <= np.maximum(self.settings.tol * np.abs(objective), self.rounding)
        return np.asarray(still & (gap < self.settings.feasibility_tol))


class WeightRule:
    """Double the penalty weight of a start whose gap stalls above the tolerance."""

    def __init__(self, n: int, settings: Settings) -> None:
        self.settings = settings
        self.weight = np.full(n, settings.weight)
        self.best = np.full(n, np.inf)
        self.waited = np.zeros(n, dtype=int)

    def step(self, active: NDArray[np.intp], gap: NDArray[np.float64]) -> NDArray[np.intp]:
        """Starts whose weight was doubled just now."""
        better = gap < 0.9 * self.best[active]
        self.best[active] = np.where(better, gap, self.best[active])
        self.waited[active] = np.where(better, 0, self.waited[active] + 1)
        # A tenth of the tolerance: a gap that hovers just below it is not feasible to spare.
        stalled = (self.waited[active] >= _PATIENCE) & (gap > 0.1 * self.settings.feasibility_tol)
        raised = active[stalled] if self.settings.adapt_weight else active[:0]
        self.weight[raised] *= 2.0
        self.waited[raised] = 0
        self.best[raised] = gap[stalled] if self.settings.adapt_weight else self.best[raised]
        return np.asarray(raised)
