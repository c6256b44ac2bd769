"""Nesterov momentum with restarts, start by start."""

import numpy as np
from numpy.typing import NDArray


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
