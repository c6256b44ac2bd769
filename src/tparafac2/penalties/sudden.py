"""Changes that may be sudden: the path of a pattern is kept short, at whatever pace it is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tparafac2.penalties import proximal
from tparafac2.penalties.base import FloatArray, Pace
from tparafac2.penalties.gaps import OnGaps
from tparafac2.penalties.requirements import require_positive, require_weight

FLOOR = 0.05
_MOST_ROUNDS = 2000
_SETTLED = 1e-14  # gain of a round, relative to the value, that counts as none


@dataclass(frozen=True)
class SuddenChanges(OnGaps):
    """Let a factor change little in all, but as suddenly as the data say.

    For each component the term is ``strength * ((sum_k ||x[k] - x[k-1]||)^2 / n + epsilon * ||x||^2)`` with
    the number n of changes: the squared length of the path, where `TemporalSmoothness` has the sum of its
    squared steps. Both are the same where all steps are equally long. Of a given way, a single jump costs
    as much as many small steps here, and n times as much there.

    It is the smallest value of ``sum_k ||x[k] - x[k-1]||^2 / share[k] / n`` over shares of time that sum to
    one, and this is how it is solved: as smoothness on a clock of each component's own. No share is allowed
    below `floor` times that of the real clock, so that steps within noise are smooth, and not nought.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.
    epsilon : float
        Weight of the norm beside the changes, at least 0; see `TemporalSmoothness`.
    floor : float
        Least share of a step, relative to that of its gap in time, above 0 and at most 1. With 1 the term is
        `TemporalSmoothness`.
    weights : tuple of float, optional
        Inverse gaps between the slices, of any unit, above 0. If not given, a fit takes them from the times
        of its slices, and without times they are all 1.
    closing : float
        The same of the change from the last slice back to the first, for time that goes round; 0 for time
        that does not.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import SuddenChanges, TemporalSmoothness
    >>> jump = np.array([[0.0], [0.0], [4.0], [4.0], [4.0]])
    >>> ramp = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> [TemporalSmoothness(1.0, 0.0).value(x) for x in (jump, ramp)]
    [16.0, 4.0]
    >>> [round(SuddenChanges(1.0, 0.0, floor=1e-9).value(x), 6) for x in (jump, ramp)]
    [4.0, 4.0]
    """

    strength: float
    epsilon: float = 1e-6
    floor: float = FLOOR
    weights: tuple[float, ...] | None = None
    closing: float = 0.0

    degree: ClassVar[int | None] = 2
    exact: ClassVar[bool] = True
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        require_weight(owner, strength=self.strength, epsilon=self.epsilon, closing=self.closing)
        require_positive(owner, floor=self.floor)
        if self.floor > 1:
            raise ValueError(f"{owner}: floor must be at most 1, got {self.floor}.")
        for weight in self.weights or ():
            require_positive(owner, weights=weight)

    def value(self, x: FloatArray) -> float:
        """Give the squared lengths of the components' paths (and their squares)."""
        return float(self._cost(np.asarray(x, dtype=np.float64), self.pace(len(x))))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Solve a tridiagonal system over the slices for each component, until their clocks settle."""
        wide, weights = proximal.prepare(v, rho)
        pace, x = self.pace(len(v)), wide
        surplus, last = weights + 2.0 * pace.own, np.inf
        rhs = proximal.along_first(weights, v.ndim) * wide
        for _ in range(_MOST_ROUNDS if self.strength else 0):
            links = 2.0 * proximal.links_of(pace, proximal.squared_steps(x))
            x = np.stack(
                [
                    proximal.solve_ring(surplus, links[r, :-1], float(links[r, -1]), rhs[..., r])
                    for r in range(v.shape[-1])
                ],
                axis=-1,
            )
            distances = np.square(x - wide).sum(axis=tuple(range(1, x.ndim)))
            reached = self._cost(x, pace) + 0.5 * float(weights @ distances)
            if not reached < last - _SETTLED * abs(reached):
                break
            last = reached
        return x.astype(v.dtype, copy=False), None

    def pace(self, n: int) -> Pace:
        """Give what the shares of the steps are chosen from."""
        gaps = 1.0 / self.gap_weights(n)
        last = 1.0 / self.closing if self.closing else 0.0
        whole = float(gaps.sum() + last)
        if not whole:  # one slice goes nowhere
            return Pace(0.0, np.zeros(n), float(self.strength * self.epsilon))
        shares = np.append(gaps, last) / whole
        return Pace(self.strength / whole, self.floor * shares, float(self.strength * self.epsilon))

    def _cost(self, x: proximal.Float64Array, pace: Pace) -> float:
        steps = proximal.squared_steps(x)
        return float((proximal.links_of(pace, steps) * steps).sum() + pace.own * np.square(x).sum())
