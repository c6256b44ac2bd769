"""Nearest points of sets of columns, as pure functions: columns (m, n), weights of their entries (m, n)."""

from __future__ import annotations

import numpy as np

from tparafac2.penalties.proximal import Float64Array

_NEWTON_STEPS = 60


def onto_simplex(columns: Float64Array, weights: Float64Array, total: float) -> Float64Array:
    """Find the nearest columns of entries that are not negative and sum to a total.

    An entry loses a share of one common amount, by its weight, or all that it has. The entries that lose all
    are those with the least ``weight * entry``, so that their number is found by sorting. A part of that
    amount is taken off beforehand: beside entries far above the total, the total would be lost to rounding.

    Examples
    --------
    >>> onto_simplex(np.array([[1.0, 0.5, -3.0]]), np.ones((1, 3)), 1.0).tolist()
    [[0.75, 0.25, 0.0]]
    """
    first = (weights * columns).argmax(axis=1)[:, None]
    value, weight = (np.take_along_axis(array, first, 1) for array in (columns, weights))
    columns = columns - value * (weight / weights)
    pulls = weights * columns
    order = np.argsort(-pulls, axis=1, kind="stable")
    values, give = (np.take_along_axis(array, order, 1) for array in (columns, 1.0 / weights))
    amounts = (np.cumsum(values, axis=1) - total) / np.cumsum(give, axis=1)
    kept = np.count_nonzero(np.take_along_axis(pulls, order, 1) > amounts, axis=1)
    amount = np.take_along_axis(amounts, np.maximum(kept, 1)[:, None] - 1, 1)
    nearest = np.maximum(columns - amount / weights, 0.0)
    return np.asarray(nearest * (total / nearest.sum(axis=1, keepdims=True)))


def onto_ball(columns: Float64Array, weights: Float64Array, radius: float) -> Float64Array:
    """Find the nearest columns of a norm of at most `radius`.

    Outside, entries are ``w v / (w + m)`` with the one m that gives the radius. One over the norm is nearly a
    straight line in m, which Newton's method finds in a few steps from 0.

    Examples
    --------
    >>> onto_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), np.ones((2, 2)), 1.0).round(12).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    sizes = np.linalg.norm(columns, axis=1, keepdims=True)
    outside = sizes > radius
    if not outside.any():
        return columns.copy()
    size = np.where(outside, sizes, 1.0)
    unit, relative = columns / size, weights / weights.max(axis=1, keepdims=True)
    goal = np.where(outside, radius / size, 1.0)
    m, found = np.zeros_like(size), unit
    for _ in range(_NEWTON_STEPS):
        share = relative / (relative + m)
        found = share * unit
        squared = np.sum(found**2, axis=1, keepdims=True)
        slope = np.sum(found**2 / (relative + m), axis=1, keepdims=True)
        step = (np.sqrt(squared) / goal - 1.0) * squared / np.maximum(slope, 1e-300)
        m = np.maximum(m + step, 0.0)
        if (np.abs(step) <= 1e-15 * (m + relative.min())).all():
            break
    norms = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
    return np.asarray(np.where(outside, found * (radius / norms), columns))
