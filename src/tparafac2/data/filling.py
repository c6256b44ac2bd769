"""A first guess of missing entries, from what rows and columns have in common."""

import numpy as np

from tparafac2.data.interface import FloatArray

_ROUNDS = 10


def first_fill(values: FloatArray) -> FloatArray:
    """Fill missing entries by row and column effects.

    A row has one effect for all times, a column one for each time; where a column was not observed at some
    time at all it has its mean over the other times. The effects are fitted to what was observed, in turn.

    Parameters
    ----------
    values : ndarray (I, K, J)
        NaN where missing.

    Returns
    -------
    ndarray (I, K, J)
        A copy without NaN; what was observed is as it was.

    Examples
    --------
    >>> grid = np.add.outer([0.0, 1.0, 2.0], [[10.0, 20.0]])
    >>> holed = grid.copy()
    >>> holed[0, 0, 1] = np.nan
    >>> round(float(first_fill(holed)[0, 0, 1]), 3)
    20.0
    """
    observed = ~np.isnan(values)
    zeroed = np.where(observed, values, 0.0)
    per_row, per_column = observed.sum(axis=(1, 2)), observed.sum(axis=0)
    rows: FloatArray = np.zeros((len(values), 1, 1))
    for _ in range(_ROUNDS):
        columns = _mean(zeroed.sum(axis=0) - np.einsum("ikj,i->kj", observed, rows[:, 0, 0]), per_column)
        columns = _bridge(columns, per_column > 0)
        rest = zeroed.sum(axis=(1, 2)) - np.einsum("ikj,kj->i", observed, columns)
        rows = _mean(rest, per_row)[:, None, None]
    for row, seen, effect in zip(zeroed, observed, rows):
        np.copyto(row, effect + columns, where=~seen, casting="same_kind")
    return zeroed


def _mean(total: FloatArray, count: FloatArray) -> FloatArray:
    return np.asarray(total / np.maximum(count, 1))


def _bridge(columns: FloatArray, known: FloatArray) -> FloatArray:
    """The mean over other times where a column was not observed; over all columns if it never was."""
    times = known.sum(axis=0)
    over_time = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(times, 1)
    overall = over_time[times > 0].mean() if (times > 0).any() else 0.0
    return np.asarray(np.where(known, columns, np.where(times > 0, over_time, overall)))
