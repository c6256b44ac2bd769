"""The maths behind the penalties, as pure functions of float64 arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tparafac2.penalties.base import FloatArray, Pace

Float64Array: TypeAlias = npt.NDArray[np.float64]

_MOST_SWEEPS = 5000
_ROUNDING = 1e-28
_SETTLED = 1e-14  # gain of a sweep, relative to the sum of squares, that counts as none


def prepare(v: FloatArray, rho: FloatArray) -> tuple[Float64Array, Float64Array]:
    """Refuse bad input of a prox, and give `v` and `rho` in double precision.

    Single precision is widened because a projection must land on its set to 1e-6.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import prepare
    >>> v, rho = prepare(np.ones((2, 3), dtype=np.float32), np.array([1, 2]))
    >>> v.dtype.name, rho.dtype.name
    ('float64', 'float64')
    """
    if not isinstance(v, np.ndarray) or v.dtype not in (np.float32, np.float64):
        received = f"{v.dtype} array" if isinstance(v, np.ndarray) else type(v).__name__
        raise TypeError(
            f"v must be a float32 or float64 array, got {received}: use np.asarray(v, dtype=float)."
        )
    weights = np.asarray(rho, dtype=np.float64)
    if v.ndim < 2 or v.size == 0:
        raise ValueError(f"v must have at least 2 dimensions and no empty one, got shape {v.shape}.")
    if weights.shape != (len(v),):
        raise ValueError(
            f"rho must have one weight per leading index of v, shape ({len(v)},), got shape {weights.shape}: "
            f"use np.full({len(v)}, rho) for equal weights."
        )
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"rho must be positive and finite everywhere, got {weights}.")
    if not np.isfinite(v).all():
        raise ValueError("v holds NaN or infinity: a prox is defined for finite numbers only.")
    return v.astype(np.float64, copy=False), weights


def along_first(weights: Float64Array, ndim: int) -> Float64Array:
    """Give `weights` the shape in which they multiply the slices of an array with `ndim` dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import along_first
    >>> along_first(np.array([1.0, 2.0]), 3).shape
    (2, 1, 1)
    """
    return weights.reshape((-1,) + (1,) * (ndim - 1))


def solve_tridiagonal(surplus: Float64Array, coupling: Float64Array, rhs: Float64Array) -> Float64Array:
    """Solve one tridiagonal system for all trailing right-hand sides at once.

    The matrix has ``-coupling`` beside its diagonal and rows that sum to `surplus`. Given in this form
    (surplus > 0, coupling >= 0) the elimination never subtracts two matrix entries, so the solution stays
    accurate however much the coupling outweighs the surplus.

    Parameters
    ----------
    surplus : array (n,)
    coupling : array (n - 1,)
    rhs : array (n, ...)

    Returns
    -------
    array (n, ...)

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import solve_tridiagonal
    >>> solve_tridiagonal(np.ones(2), np.ones(1), np.array([[3.0], [0.0]])).tolist()
    [[2.0], [1.0]]
    """
    n = len(surplus)
    out = np.append(coupling, 0.0)
    excess, pivot = surplus.copy(), surplus + out
    x = rhs.copy()
    for k in range(1, n):
        passed_on = out[k - 1] / pivot[k - 1]
        excess[k] += passed_on * excess[k - 1]
        pivot[k] = excess[k] + out[k]
        x[k] += passed_on * x[k - 1]
    x[-1] /= pivot[-1]
    for k in range(n - 2, -1, -1):
        x[k] = (x[k] + out[k] * x[k + 1]) / pivot[k]
    return x


def solve_ring(
    surplus: Float64Array, coupling: Float64Array, closing: float, rhs: Float64Array
) -> Float64Array:
    """Solve a tridiagonal system whose first and last unknowns are coupled, too.

    As `solve_tridiagonal`, with ``closing`` as the coupling of the ends: a change of the matrix by one rank.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import solve_ring
    >>> solve_ring(np.ones(3), np.ones(2), 1.0, np.array([[4.0], [0.0], [0.0]])).round(12).tolist()
    [[2.0], [1.0], [1.0]]
    """
    x = solve_tridiagonal(surplus, coupling, rhs)
    if closing > 0 and len(x) > 1:
        ends = np.zeros((len(x), 1))
        ends[0], ends[-1] = 1.0, -1.0
        answer = solve_tridiagonal(surplus, coupling, ends)[:, 0]
        share = closing / (1.0 + closing * (answer[0] - answer[-1]))
        x -= along_first(answer, x.ndim) * (share * (x[0] - x[-1]))
    return x


def squared_steps(x: Float64Array) -> Float64Array:
    """Squared lengths (R, K) of each component's steps to the next slice; the last step is to the first.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import squared_steps
    >>> squared_steps(np.array([[0.0], [2.0], [3.0]])).tolist()
    [[4.0, 1.0, 9.0]]
    """
    changes = np.roll(x, -1, axis=0) - x
    return np.asarray(np.square(changes).sum(axis=tuple(range(1, x.ndim - 1))).T)


def links_of(pace: Pace, steps: Float64Array) -> Float64Array:
    """What each squared step (..., K) counts where the shares of the steps are those that cost the least.

    Shares are proportional to the lengths of the steps, but none is below its floor.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.base import Pace
    >>> from tparafac2.penalties.proximal import links_of
    >>> links_of(Pace(1.0, np.array([0.2, 0.2, 0.0]), 0.0), np.array([9.0, 0.0, 9.0])).tolist()
    [1.25, 5.0, 0.0]
    """
    there = pace.floors > 0
    lengths = np.where(there, np.sqrt(steps), 0.0)
    held = np.broadcast_to(~there, steps.shape)
    shares = np.zeros(steps.shape)
    for _ in range(steps.shape[-1] + 1):
        left = 1.0 - np.where(held, pace.floors, 0.0).sum(axis=-1, keepdims=True)
        length = np.where(held, 0.0, lengths).sum(axis=-1, keepdims=True)
        free = left * lengths / np.where(length > 0, length, np.inf)
        shares = np.where(held, pace.floors, free)
        lower = there & ~held & (free <= pace.floors)
        if not lower.any():
            break
        held = held | lower
    return np.asarray(np.where(there, pace.strength / np.where(there, shares, 1.0), 0.0))


def shrink(x: Float64Array, threshold: Float64Array) -> Float64Array:
    """Move every entry towards zero by a threshold (>= 0), and not beyond it.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import shrink
    >>> shrink(np.array([3.0, -1.0, 0.5]), np.array(1.0)).tolist()
    [2.0, 0.0, 0.0]
    """
    return np.asarray(x - np.clip(x, -threshold, threshold), dtype=np.float64)


def weighted_mean(slices: Float64Array, weights: Float64Array) -> Float64Array:
    """Average over the leading axis.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import weighted_mean
    >>> weighted_mean(np.array([[0.0, 1.0], [4.0, 1.0]]), np.array([3.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    return np.asarray(np.einsum("k,k...->...", weights / weights.sum(), slices), dtype=np.float64)


def polar_factors(matrices: Float64Array) -> Float64Array:
    """Find the nearest matrix with orthonormal columns to each of a stack of tall matrices.

    Where a matrix lacks rank the nearest one is not unique; the SVD still gives an orthonormal one.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import polar_factors
    >>> p = polar_factors(np.zeros((1, 3, 2)))
    >>> np.allclose(p[0].T @ p[0], np.eye(2))
    True
    """
    left, _, right = np.linalg.svd(matrices, full_matrices=False)
    return np.asarray(left @ right, dtype=np.float64)


def mean_cross_product_root(slices: Float64Array, weights: Float64Array) -> Float64Array:
    """Take the symmetric square root of the weighted mean of the cross products ``S_k' S_k``.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import mean_cross_product_root
    >>> slices = np.stack([3.0 * np.eye(2), np.diag([3.0, -3.0])])
    >>> mean_cross_product_root(slices, np.ones(2)).round(6).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    # The size is taken out first: squares of very large or small numbers leave the range of floats.
    size = np.abs(slices).max() or 1.0
    scaled = slices / size
    values, vectors = np.linalg.eigh(weighted_mean(scaled.transpose(0, 2, 1) @ scaled, weights))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(size * root, dtype=np.float64)


def parafac2_sweep(
    slices: Float64Array, weights: Float64Array, delta: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Take one step towards the nearest slices with equal cross products.

    Such slices are ``P_k Delta`` with orthonormal ``P_k``. The sweep finds the best ``P_k`` for the
    given Delta and then the best Delta for these, so repeated sweeps never move away.

    Returns
    -------
    (array (K, J, R), array (R, R))
        The new slices and the new Delta.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import parafac2_sweep
    >>> slices = np.stack([np.eye(3, 2), 3.0 * np.eye(3, 2)])
    >>> x, delta = parafac2_sweep(slices, np.ones(2), np.eye(2))
    >>> delta.round(6).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    size = np.abs(delta).max() or 1.0  # the polar factor does not depend on it; the range of floats does
    basis = polar_factors(slices @ (delta / size).T)
    delta_new = weighted_mean(basis.transpose(0, 2, 1) @ slices, weights)
    return np.asarray(basis @ delta_new, dtype=np.float64), delta_new


def nearest_turning(slices: Float64Array, weights: Float64Array) -> tuple[float, Float64Array]:
    """Weighted squared distance from the nearest slices ``P_k Delta`` with equal cross products, and Delta.

    Sweeps are repeated until they gain nothing: that is a nearest point, in rare cases not the very nearest.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import nearest_turning
    >>> distance, delta = nearest_turning(np.stack([np.eye(3, 2), 3.0 * np.eye(3, 2)]), np.ones(2))
    >>> round(distance, 6), delta.round(6).tolist()
    (4.0, [[2.0, 0.0], [0.0, 2.0]])
    """
    size = np.abs(slices).max(initial=0.0)
    if not (size > 0 and weights.any()):
        return 0.0, np.zeros((slices.shape[2], slices.shape[2]))
    # Distances are the same in the small orthonormal basis of each slice.
    small = np.asarray(np.linalg.qr(slices / size, mode="r"), dtype=np.float64)
    delta, distance = mean_cross_product_root(small, weights), np.inf
    total = float(np.einsum("k,kjr->", weights, small**2))
    for _ in range(_MOST_SWEEPS):
        nearest, delta = parafac2_sweep(small, weights, delta)
        before, distance = distance, float(np.einsum("k,kjr->", weights, (small - nearest) ** 2))
        if before - distance <= _SETTLED * total:
            break
    return float(size * size * distance) if distance > _ROUNDING * total else 0.0, size * delta


def cross_product_spread(slices: Float64Array) -> float:
    """Measure how far the cross products ``S_k' S_k`` are from being equal.

    The measure is relative to the size of each pair of components, so that it does not change when
    a component is multiplied by a number.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import cross_product_spread
    >>> cross_product_spread(np.stack([np.eye(2), -np.eye(2)]))
    0.0
    """
    scaled = slices / component_sizes(slices)
    products = scaled.transpose(0, 2, 1) @ scaled
    mean = products.mean(axis=0)
    norms = np.sqrt(np.diagonal(mean))
    norms = np.where(norms > 0, norms, 1.0)
    return float((np.abs(products - mean) / np.outer(norms, norms)).max())


def spread_over_slices(slices: Float64Array) -> float:
    """Measure how far the slices are from being equal, relative to the size of each component.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import spread_over_slices
    >>> spread_over_slices(np.ones((3, 4, 2)))
    0.0
    """
    scaled = slices / component_sizes(slices)
    return float(np.abs(scaled - scaled.mean(axis=0)).max())


def component_sizes(x: Float64Array) -> Float64Array:
    """Give the largest absolute entry of each component (last axis), and 1 for components that are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties.proximal import component_sizes
    >>> component_sizes(np.array([[0.5, -2.0, 0.0], [0.3, 1.0, 0.0]])).tolist()
    [0.5, 2.0, 1.0]
    """
    largest = np.abs(x).max(axis=tuple(range(x.ndim - 1)))
    return np.where(largest > 0, largest, 1.0)
