"""Least squares beside Huber's function of changes in time, by Newton's method; arrays are (R, K, J)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tparafac2.penalties.proximal import Float64Array

_MOST_STEPS = 200
_HALVINGS = 30
_SETTLED = 1e-15


class Changes(NamedTuple):
    """What changes cost: ``strength / w * huber(w d)`` for a change of size d, as its weight w is.

    `closing` is the weight of the change from the last slice to the first, 0 where there is none.
    """

    weights: Float64Array
    closing: float
    strength: float
    threshold: float

    @property
    def all_weights(self) -> Float64Array:
        """Weights of the changes, with that of the ends where there is one."""
        return np.append(self.weights, self.closing) if self.closing else self.weights


def cost(x: Float64Array, changes: Changes) -> float:
    """Sum of what all changes cost.

    Examples
    --------
    >>> cost(np.array([[[0.0], [0.5], [5.5]]]), Changes(np.ones(2), 0.0, 1.0, 1.0))
    9.25
    """
    return float(_costs(x, changes).sum())


def nearest(
    v: Float64Array, rho: Float64Array, changes: Changes, begin: Float64Array | None = None
) -> Float64Array:
    """Minimise ``cost(x) + sum_k rho_k / 2 ||x_k - v_k||^2``, for every component by itself.

    Examples
    --------
    >>> v = np.array([[[0.0], [0.0], [9.0], [9.0]]])
    >>> nearest(v, np.ones(4), Changes(np.ones(3), 0.0, 1.0, 0.5)).ravel().round(3).tolist()
    [0.4, 0.6, 8.4, 8.6]
    """
    x = v.copy() if begin is None else begin.copy()
    if v.shape[1] < 2 or changes.strength == 0:
        return v.copy()
    value = _objective(x, v, rho, changes)
    for _ in range(_MOST_STEPS):
        gradient, step = _newton_step(x, v, rho, changes)
        promised = np.maximum(-np.sum(gradient * step, axis=(1, 2)), 0.0)
        if (promised <= _SETTLED * value).all():
            break
        x, value, moved = _along(x, step, promised, value, (v, rho, changes))
        if not moved:
            break
    return x


def _along(
    x: Float64Array,
    step: Float64Array,
    promised: Float64Array,
    value: Float64Array,
    given: tuple[Float64Array, Float64Array, Changes],
) -> tuple[Float64Array, Float64Array, bool]:
    """Go the step, or a half, or a half of that, until every component has fallen."""
    length = np.ones(len(x))
    ahead, found = x, value
    for _ in range(_HALVINGS):
        ahead = x + length[:, None, None] * step
        found = _objective(ahead, *given)
        short = found > value - 1e-4 * length * promised + 1e-15 * value
        if not short.any():
            break
        length = np.where(short, length / 2, length)
    better = found < value
    return np.where(better[:, None, None], ahead, x), np.where(better, found, value), bool(better.any())


def _newton_step(
    x: Float64Array, v: Float64Array, rho: Float64Array, changes: Changes
) -> tuple[Float64Array, Float64Array]:
    """Gradient, and the step to the minimum of the second-order model.

    The Hessian is one matrix T (K, K) over time for all columns, as in least squares with these weights,
    less one direction for every change beyond the threshold, along which that costs a straight line.
    """
    weights, E = changes.all_weights, _incidence(v.shape[1], closing=changes.closing > 0)
    differences = np.einsum("ek,rkj->rej", E, x)
    sizes = np.linalg.norm(differences, axis=2)
    far = weights * sizes > changes.threshold
    pulls = 2.0 * changes.strength * np.where(far, changes.threshold / np.where(far, sizes, 1.0), weights)
    gradient = rho[:, None] * (x - v) + np.einsum("ek,rej->rkj", E, pulls[:, :, None] * differences)
    T = np.einsum("ek,re,el->rkl", E, pulls, E) + np.diag(rho)
    inverse = np.linalg.inv(T)
    plain = -inverse @ gradient
    if not far.any():
        return gradient, plain
    units = np.where(far[:, :, None], differences / np.where(far, sizes, 1.0)[:, :, None], 0.0)
    reach = E @ inverse  # (R, E, K)
    small = np.einsum("rek,fk->ref", reach, E) * np.einsum("rej,rfj->ref", units, units)
    system = np.einsum("re,ef->ref", 1.0 / pulls, np.eye(len(E))) - small
    right = np.einsum("rej,rej->re", units, np.einsum("ek,rkj->rej", E, plain))
    amounts = np.linalg.solve(system, right[..., None])[..., 0]
    return gradient, plain + np.einsum("rek,rej->rkj", reach, amounts[:, :, None] * units)


def _incidence(n: int, *, closing: bool) -> Float64Array:
    """One row for each change: -1 at the slice before, 1 at the slice after."""
    eye = np.eye(n)
    rows = eye[1:] - eye[:-1]
    return np.vstack([rows, eye[:1] - eye[-1:]]) if closing else rows


def _objective(x: Float64Array, v: Float64Array, rho: Float64Array, changes: Changes) -> Float64Array:
    return np.asarray(_costs(x, changes) + 0.5 * np.einsum("k,rkj->r", rho, (x - v) ** 2))


def _costs(x: Float64Array, changes: Changes) -> Float64Array:
    """What the changes of each component cost (R,)."""
    steps = np.diff(x, axis=1)
    if changes.closing:
        steps = np.concatenate([steps, x[:, :1] - x[:, -1:]], axis=1)
    weights, t = changes.all_weights, changes.threshold
    rates = weights * np.linalg.norm(steps, axis=2)
    huber = np.where(rates <= t, rates**2, 2.0 * t * rates - t * t)
    return np.asarray(changes.strength * (huber / weights).sum(axis=1))
