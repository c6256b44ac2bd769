"""Further terms on how a factor goes on from slice to slice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tparafac2.penalties import proximal
from tparafac2.penalties.abilities import OnScale
from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.dynamics import Steps, factorised, solved, solved_in_eigenbasis
from tparafac2.penalties.gaps import OnGaps
from tparafac2.penalties.huber import Changes, cost, nearest
from tparafac2.penalties.proximal import Float64Array
from tparafac2.penalties.requirements import require_positive, require_square_matrix, require_weight

_WHOLE = 1e-6
_SYMMETRIC = 1e-12


@dataclass(frozen=True)
class HuberChanges(OnGaps):
    """Let a component change little from slice to slice, but forgive large changes: Huber's function of them.

    The size d of a component's change, as a whole, costs ``d^2`` up to a threshold t, as in
    `TemporalSmoothness`, and beyond it only ``2 t d - t^2``: a sudden change costs in proportion to its size,
    and is not smeared over its neighbours. The threshold is in the units of the factor, so that the term has
    no degree: scales are not balanced, each lambda counts by itself and not in their product alone, and
    `smoothness` sets the lambdas but says less of the fit. It counts as a norm penalty: the other factors
    need one, too, or a bound.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.
    threshold : float
        Size of a component's change in one slice from which on it counts as sudden, above 0.
    weights : tuple of float, optional
        Weight w of each change, for slices that are not evenly spaced: changes by d count as changes by w d,
        for 1 / w times as long. If not given, a fit takes them from the times of its slices (the inverse of
        the gaps, so that the threshold is one for rates), and without times they are all 1.
    closing : float
        Weight of the change from the last slice back to the first, for time that goes round; 0 for time that
        does not.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import HuberChanges
    >>> HuberChanges(1.0, threshold=1.0).value(np.array([[0.0], [0.5], [5.5]]))
    9.25
    >>> x, _ = HuberChanges(1.0, threshold=0.5).prox(np.array([[0.0], [0.0], [9.0], [9.0]]), rho=np.ones(4))
    >>> x[:, 0].round(3).tolist()
    [0.4, 0.6, 8.4, 8.6]
    """

    strength: float
    threshold: float
    weights: tuple[float, ...] | None = None
    closing: float = 0.0

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        require_weight("HuberChanges", strength=self.strength, closing=self.closing)
        require_positive("HuberChanges", threshold=self.threshold)
        for weight in self.weights or ():
            require_positive("HuberChanges", weights=weight)

    @property
    def on_scale(self) -> OnScale | None:
        """Changes grow with the scale."""
        return "costs" if self.strength > 0 else None

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse another number of slices than there are weights for."""
        self.gap_weights(shape[0])

    def value(self, x: FloatArray) -> float:
        """Give Huber's function of all changes, summed."""
        self.require_shape(np.shape(x))
        return cost(_by_component(x), self._changes(len(x)))

    def prox(
        self, v: FloatArray, rho: FloatArray, state: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Minimise by Newton's method, from the carried state: the last answer."""
        self.require_shape(v.shape)
        wide, weights = proximal.prepare(v, rho)
        begin = None if state is None else _by_component(np.asarray(state, dtype=np.float64).reshape(v.shape))
        found = nearest(_by_component(wide), weights, self._changes(len(v)), begin)
        x = np.ascontiguousarray(np.moveaxis(found, 0, -1)).reshape(v.shape)
        return x.astype(v.dtype), x

    def rescale_state(self, state: FloatArray, scale: FloatArray) -> FloatArray:
        """The last answer has a column for each component."""
        return np.asarray(state * scale)

    def _changes(self, n: int) -> Changes:
        return Changes(self.gap_weights(n), float(self.closing), float(self.strength), float(self.threshold))


@dataclass(frozen=True, eq=False, repr=False)
class LinearDynamics:
    """Let patterns follow known dynamics: ``strength * sum_k ||B_k - H B_(k-1)||^2``, with H given.

    With the identity as H it is smoothness in time. The term is of degree two, so that balance and the one
    knob stay; it is no part of `smoothness`. Patterns that follow the dynamics cost nothing.

    Parameters
    ----------
    H : array (J, J) or scipy.sparse matrix
        From the pattern of a slice to that of the next.
    strength : float
        Weight of the term, at least 0.
    steps : tuple of int, optional
        How many times H is applied from each slice to the next. If not given, a fit takes them from the times
        of its slices, of which the shortest gap is one step; all gaps have to be whole multiples of it. A
        change over n steps weighs 1 / n. Without times they are all 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import LinearDynamics
    >>> decay = LinearDynamics(0.5 * np.eye(2), 3.0)
    >>> decay.value(np.array([[[8.0], [4.0]], [[4.0], [1.0]]]))
    3.0
    >>> x, _ = LinearDynamics(0.5 * np.eye(1), 1e9).prox(np.array([[[4.0]], [[7.0]]]), rho=np.ones(2))
    >>> x[:, 0, 0].round(6).tolist()
    [6.0, 3.0]
    """

    H: Any
    strength: float = 1.0
    steps: tuple[int, ...] | None = None

    degree: ClassVar[int | None] = 2
    exact: ClassVar[bool] = True
    even: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_weight("LinearDynamics", strength=self.strength)
        matrix = require_square_matrix("LinearDynamics", "H", self.H)
        if not isinstance(matrix, np.ndarray):
            matrix = matrix.toarray()
            matrix.setflags(write=False)
        object.__setattr__(self, "H", matrix)
        if self.steps is not None and not all(isinstance(n, int | np.integer) and n > 0 for n in self.steps):
            raise ValueError(f"LinearDynamics: steps must be whole numbers above 0, got {self.steps}.")

    def __repr__(self) -> str:
        n, steps = len(self.H), "" if self.steps is None else f", steps={self.steps}"
        return f"LinearDynamics(H {n} x {n}, strength={self.strength}{steps})"

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse what is no pattern of as many columns as H is for, in as many slices as there are steps."""
        n = len(self.H)
        if len(shape) != 3:
            raise ValueError(
                f"LinearDynamics is a term on patterns of shape (K, J, R), got shape {shape}: give it in "
                "penalties_b only."
            )
        if shape[1] != n:
            raise ValueError(
                f"LinearDynamics has an H of shape ({n}, {n}), but there are {shape[1]} columns: give an H "
                f"of shape ({shape[1]}, {shape[1]})."
            )
        if self.steps is not None and len(self.steps) != shape[0] - 1:
            raise ValueError(
                f"LinearDynamics has {len(self.steps)} steps, one for each change between slices, but "
                f"there are {shape[0]} slices: give {shape[0] - 1}."
            )

    def value(self, x: FloatArray) -> float:
        """Give the weighted sum of squared distances from where the dynamics lead."""
        self.require_shape(np.shape(x))
        wide = np.asarray(x, dtype=np.float64)
        total = 0.0
        for k, n in enumerate(self._steps(len(x)).counts):
            ahead = wide[k]
            for _ in range(n):
                ahead = self.H @ ahead
            total += float(np.sum((wide[k + 1] - ahead) ** 2)) / n
        return float(self.strength * total)

    def prox(self, v: FloatArray, rho: FloatArray, state: Any = None) -> tuple[FloatArray, Any]:
        """Solve one block tridiagonal system; its factors are carried, for the next call with this rho."""
        self.require_shape(v.shape)
        wide, weights = proximal.prepare(v, rho)
        if self.strength == 0:
            return v.copy(), None
        steps = self._steps(len(v))
        if self._eigen is not None:
            return solved_in_eigenbasis(wide, weights, steps, self._eigen).astype(v.dtype, copy=False), None
        if state is None or not np.array_equal(state[0], weights):
            state = weights.copy(), factorised(weights, steps)
        return solved(wide, weights, steps, state[1]).astype(v.dtype, copy=False), state

    def on_clock(self, times: FloatArray, period: float | None) -> LinearDynamics:
        """Apply H as often as the shortest gap fits into each; refuse gaps in which it does not."""
        if period is not None:
            raise ValueError(
                "LinearDynamics is not for time that goes round (period=): where the dynamics lead, it does "
                "not begin again. Leave out one of the two."
            )
        if self.steps is not None or len(times) < 2:
            return self
        gaps = np.diff(np.asarray(times, dtype=np.float64))
        counts = gaps / gaps.min()
        whole = np.rint(counts)
        if (np.abs(counts - whole) > _WHOLE * counts).any():
            raise ValueError(
                "LinearDynamics needs times that are whole steps apart, as H is one step: the shortest gap "
                f"is {gaps.min():.6g}, and the longest {gaps.max():.6g}: give even times, or steps=."
            )
        return replace(self, steps=tuple(int(n) for n in whole))

    @cached_property
    def _eigen(self) -> tuple[Float64Array, Float64Array] | None:
        """Eigenvalues and eigenvectors of a symmetric H; else None."""
        if np.abs(self.H - self.H.T).max() > _SYMMETRIC * np.abs(self.H).max():
            return None
        values, vectors = np.linalg.eigh(self.H)
        return values, vectors

    def _steps(self, n: int) -> Steps:
        return Steps(self.H, self.steps if self.steps is not None else (1,) * (n - 1), float(self.strength))


def _by_component(x: FloatArray) -> Float64Array:
    """Components first: (R, K, J), with J = 1 for strengths."""
    wide = np.asarray(x, dtype=np.float64)
    return np.ascontiguousarray(np.moveaxis(wide.reshape(len(wide), -1, wide.shape[-1]), -1, 0))
