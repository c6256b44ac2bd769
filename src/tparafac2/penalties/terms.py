"""The terms of the objective: one small frozen class each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tparafac2.data.times import slice_durations
from tparafac2.penalties import proximal
from tparafac2.penalties.abilities import Constraint
from tparafac2.penalties.base import Bands, FloatArray
from tparafac2.penalties.gaps import OnGaps, require_same
from tparafac2.penalties.requirements import indicator, require_weight


@dataclass(frozen=True)
class Ridge:
    """Keep the factor small: ``strength * ||x||^2``.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Ridge
    >>> Ridge(0.5).value(np.full((2, 3), 2.0))
    12.0
    >>> x, _ = Ridge(0.5).prox(np.full((2, 3), 2.0), rho=np.ones(2))
    >>> x.tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    strength: float

    degree: ClassVar[int | None] = 2
    exact: ClassVar[bool] = True
    rotatable: ClassVar[tuple[int, ...]] = (0, 1)

    def __post_init__(self) -> None:
        require_weight("Ridge", strength=self.strength)

    def value(self, x: FloatArray) -> float:
        """Give ``strength * ||x||^2``."""
        return float(self.strength * _squared_norm(x))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Shrink every slice towards zero."""
        wide, weights = proximal.prepare(v, rho)
        shrink = weights / (weights + 2.0 * self.strength)
        return (proximal.along_first(shrink, v.ndim) * wide).astype(v.dtype, copy=False), None

    def bands(self, n: int) -> Bands:
        """Give the term as a (diagonal) band matrix over the leading axis."""
        return Bands(np.full(n, float(self.strength)), np.zeros(n - 1))


@dataclass(frozen=True)
class TemporalSmoothness(OnGaps):
    """Let a factor change little from slice to slice.

    The term is ``strength * (sum_{k>0} weights[k-1] ||x[k] - x[k-1]||^2 + epsilon * ||x||^2)``.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.
    epsilon : float
        Weight of the norm beside the changes, at least 0. Without it a pattern that does not change
        costs nothing, its scale can grow without end, and the objective has no minimiser.
    weights : tuple of float, optional
        Weight of each change, for slices that are not evenly spaced. If not given, a fit takes them from the
        times of its slices, and without times they are all 1.
    closing : float
        Weight of the change from the last slice back to the first, for time that goes round; 0 for time that
        does not.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import TemporalSmoothness
    >>> smooth = TemporalSmoothness(2.0, epsilon=0.0)
    >>> smooth.value(np.array([[0.0], [1.0], [1.0]]))
    2.0
    >>> x, _ = smooth.prox(np.array([[0.0], [9.0]]), rho=np.ones(2))
    >>> x.tolist()
    [[4.0], [5.0]]
    """

    strength: float
    epsilon: float = 1e-6
    weights: tuple[float, ...] | None = None
    closing: float = 0.0

    degree: ClassVar[int | None] = 2
    exact: ClassVar[bool] = True
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        require_weight(
            "TemporalSmoothness", strength=self.strength, epsilon=self.epsilon, closing=self.closing
        )
        for weight in self.weights or ():
            require_weight("TemporalSmoothness", weights=weight)

    def value(self, x: FloatArray) -> float:
        """Give the weighted sum of squared changes (and of squares)."""
        wide = np.asarray(x, dtype=np.float64)
        changes = np.diff(wide, axis=0)
        if self.weights is not None:
            changes *= np.sqrt(proximal.along_first(self.gap_weights(len(wide)), wide.ndim))
        total = _squared_norm(changes) + self.epsilon * _squared_norm(wide)
        return float(self.strength * (total + self.closing * _squared_norm(wide[-1] - wide[0])))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Solve one tridiagonal system over the slices."""
        wide, weights = proximal.prepare(v, rho)
        surplus = weights + 2.0 * self.epsilon * self.strength
        coupling = 2.0 * self.strength * self.gap_weights(len(v))
        rhs = proximal.along_first(weights, v.ndim) * wide
        x = proximal.solve_ring(surplus, coupling, 2.0 * self.strength * self.closing, rhs)
        return x.astype(v.dtype, copy=False), None

    def bands(self, n: int) -> Bands:
        """Give the term as a tridiagonal matrix over the leading axis."""
        off = self.strength * self.gap_weights(n)
        diagonal = np.full(n, float(self.strength * self.epsilon))
        diagonal[1:] += off
        diagonal[:-1] += off
        return Bands(diagonal, off, float(self.strength * self.closing))


@dataclass(frozen=True)
class NonNegative:
    """Allow no negative entries.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import NonNegative
    >>> x, _ = NonNegative().prox(np.array([[1.0, -2.0]]), rho=np.ones(1))
    >>> x.tolist()
    [[1.0, 0.0]]
    """

    degree: ClassVar[int | None] = 0
    exact: ClassVar[bool] = True
    constraint: ClassVar[Constraint] = "nonnegative"

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if no entry is negative (relative to its component's largest), else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the size of the most negative entry, relative to its component's largest."""
        wide = np.asarray(x, dtype=np.float64)
        return float(np.max(-wide / proximal.component_sizes(wide), initial=0.0))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Replace negative entries by zero."""
        proximal.prepare(v, rho)
        return np.maximum(v, 0), None


@dataclass(frozen=True)
class Static:
    """Allow no change in time: all slices are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Static
    >>> x, _ = Static().prox(np.array([[0.0], [4.0]]), rho=np.array([3.0, 1.0]))
    >>> x.tolist()
    [[1.0], [1.0]]
    """

    degree: ClassVar[int | None] = 0
    exact: ClassVar[bool] = True
    constraint: ClassVar[Constraint] = "static"
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if all slices are equal, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the largest difference from the mean over time, relative to its component's largest entry."""
        return proximal.spread_over_slices(np.asarray(x, dtype=np.float64))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Replace every slice by the weighted mean of all."""
        wide, weights = proximal.prepare(v, rho)
        mean = proximal.weighted_mean(wide, weights).astype(v.dtype)
        return np.repeat(mean[None], len(v), axis=0), None


@dataclass(frozen=True)
class Parafac2:
    """Let the patterns turn but not change their sizes and angles: ``B_k' B_k`` is the same for every k.

    The set is not convex and its projection has no closed form: ``prox`` takes one sweep towards it from
    the carried state, the matrix Delta ``(R, R)`` with ``B_k = P_k Delta`` and orthonormal ``P_k``. The
    result is always on the set.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Parafac2
    >>> v = np.random.default_rng(0).standard_normal((4, 6, 2))
    >>> x, delta = Parafac2().prox(v, rho=np.ones(4))
    >>> Parafac2().value(v), Parafac2().value(x)
    (inf, 0.0)
    >>> np.allclose(x[3].T @ x[3], delta.T @ delta)
    True
    """

    degree: ClassVar[int | None] = 0
    exact: ClassVar[bool] = False
    constraint: ClassVar[Constraint] = "parafac2"
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if all cross products are equal, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the largest difference of a cross product from the mean, relative to its components' sizes."""
        _require_slices(x.shape)
        return proximal.cross_product_spread(np.asarray(x, dtype=np.float64))

    def prox(
        self, v: FloatArray, rho: FloatArray, state: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Take one sweep towards the nearest point of the set, and give the new Delta as state."""
        _require_slices(v.shape)
        wide, weights = proximal.prepare(v, rho)
        if state is None:
            delta = proximal.mean_cross_product_root(wide, weights)
        else:
            delta = np.asarray(state, dtype=np.float64)
            _require_delta(delta, rank=v.shape[2])
        x, delta = proximal.parafac2_sweep(wide, weights, delta)
        return x.astype(v.dtype, copy=False), delta

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse what is no pattern, or has fewer columns than components."""
        _require_slices(shape)

    def rescale_state(self, state: FloatArray, scale: FloatArray) -> FloatArray:
        """Delta has a column for each component."""
        return np.asarray(state * scale)


@dataclass(frozen=True)
class SoftParafac2:
    """Let the patterns change their sizes and angles, at a price.

    The term is ``strength * sum_k weights[k] ||B_k - P_k Delta||^2``, the squared distance from the nearest
    patterns that only turn: those with orthonormal ``P_k``, see `Parafac2`. There is no closed form for
    these: ``value`` looks for them until nothing moves, and ``prox`` takes one sweep from the carried Delta.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.
    weights : tuple of float, optional
        Weight of each slice. If not given, a fit takes the time that each slice stands for, and without times
        they are all 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import SoftParafac2
    >>> soft, v = SoftParafac2(2.0), np.stack([np.eye(3, 2), 3.0 * np.eye(3, 2)])
    >>> round(soft.value(v), 6)
    8.0
    >>> x, delta = soft.prox(v, rho=np.full(2, 4.0))
    >>> x[:, 0, 0].round(6).tolist(), delta.round(6).tolist()
    ([1.5, 2.5], [[2.0, 0.0], [0.0, 2.0]])
    """

    strength: float
    weights: tuple[float, ...] | None = None

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = False
    softens: ClassVar[Constraint] = "parafac2"
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        require_weight("SoftParafac2", strength=self.strength)
        for weight in self.weights or ():
            require_weight("SoftParafac2", weights=weight)

    def value(self, x: FloatArray) -> float:
        """Give the squared distance from the nearest patterns that only turn."""
        _require_slices(x.shape)
        return proximal.nearest_turning(np.asarray(x, np.float64), self.distance_weights(len(x)))[0]

    def prox(
        self, v: FloatArray, rho: FloatArray, state: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Take one sweep towards the nearest patterns that only turn, and go part of the way to them."""
        _require_slices(v.shape)
        wide, weights = proximal.prepare(v, rho)
        share = 2.0 * self.distance_weights(len(v))
        share = share / (share + weights)
        # With x at its best for given P and Delta, v's distance from P Delta is weighed like this.
        joint = share * weights if share.any() else weights
        delta = state if state is not None else proximal.mean_cross_product_root(wide, joint)
        delta = np.asarray(delta, dtype=np.float64)
        _require_delta(delta, rank=v.shape[2])
        nearest, delta = proximal.parafac2_sweep(wide, joint, delta)
        x = wide + proximal.along_first(share, v.ndim) * (nearest - wide)
        return x.astype(v.dtype, copy=False), delta

    def distance_weights(self, n: int) -> proximal.Float64Array:
        """Give the weight of each slice's squared distance."""
        if self.weights is None:
            return np.full(n, float(self.strength))
        if len(self.weights) != n:
            raise ValueError(
                f"SoftParafac2 has {len(self.weights)} weights, one for each slice, but there are {n} slices."
            )
        return self.strength * np.asarray(self.weights, dtype=np.float64)

    def on_clock(self, times: FloatArray, period: float | None) -> SoftParafac2:
        """Weigh slices by the time they stand for, unless they have weights already."""
        if self.weights is not None:
            return self
        return replace(self, weights=slice_durations(np.asarray(times, dtype=np.float64), period))

    def continued(self, times: FloatArray, known: int, period: float | None) -> SoftParafac2:
        """Weigh further slices as the `known` first ones; the last of these may have a longer time now."""
        if self.weights is None:
            return self
        weights = slice_durations(np.asarray(times, dtype=np.float64), period, known)
        require_same(type(self).__name__, self.weights[1:-1], weights[1 : known - 1])
        return replace(self, weights=weights)

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse what is no pattern, or has fewer columns than components."""
        _require_slices(shape)

    def rescale_state(self, state: FloatArray, scale: FloatArray) -> FloatArray:
        """Delta has a column for each component."""
        return np.asarray(state * scale)


def _squared_norm(x: FloatArray) -> float:
    return float(np.sum(np.square(x, dtype=np.float64)))


def _require_slices(shape: tuple[int, ...]) -> None:
    if len(shape) != 3:
        raise ValueError(
            f"Parafac2 is a constraint on patterns of shape (K, J, R), got shape {shape}: "
            "give it in penalties_b only."
        )
    columns, rank = shape[1:]
    if columns < rank:
        raise ValueError(
            f"Parafac2 needs at least as many columns as components, got J = {columns} and R = {rank}: "
            f"use a rank of at most {columns}."
        )


def _require_delta(delta: FloatArray, rank: int) -> None:
    if delta.shape != (rank, rank):
        raise ValueError(
            f"The state of Parafac2 is Delta, of shape ({rank}, {rank}) for R = {rank}, got shape "
            f"{delta.shape}: use state=None to start anew."
        )
    if not np.isfinite(delta).all():
        raise ValueError("The state of Parafac2 holds NaN or infinity: use state=None to start anew.")
