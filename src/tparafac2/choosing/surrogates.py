"""Data of a null: what a fit says, and its residuals where rows have nothing in common any more."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import DenseData, FloatArray, RowWeightedData, SliceData

_MOST_ENTRIES = 2**26  # of sparse data that are made dense


def surrogate(
    data: SliceData, A: FloatArray | None, W: FloatArray | None, rng: np.random.Generator
) -> SliceData:
    """What a fit says of the data, plus its residuals, each row shifted in time and columns as on a ring.

    Parameters
    ----------
    data : SliceData
    A, W : ndarrays (I, R), (K, J, R), optional
        The fit is A W_k'; zero if they are not given.
    rng : numpy Generator
    """
    if isinstance(data, RowWeightedData):
        A = None if A is None else A * np.sqrt(data.row_weights)[:, None]
        return data.around(surrogate(data.data, A, W, rng))
    values = getattr(data, "values", None)
    if values is None:
        return DenseData(_shifted(_dense(data), A, W, rng), data.scale, data.widths)
    made: Any = replace(data, values=_shifted(np.array(values), A, W, rng))  # type: ignore[type-var]
    return made  # type: ignore[no-any-return]


def is_affordable(data: SliceData) -> bool:
    """Whether surrogates of the data can be held in memory."""
    return hasattr(getattr(data, "data", data), "values") or int(np.prod(data.shape)) <= _MOST_ENTRIES


def _dense(data: SliceData) -> FloatArray:
    I = data.shape[1]
    return np.array(data.project(np.eye(I, dtype=data.dtype)[None])[0])


def _shifted(
    values: FloatArray, A: FloatArray | None, W: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """Rows one by one, in place; entries that are missing stay so, and take part as others of their row."""
    K, J = values.shape[1:]
    for i, row in enumerate(values):
        fitted = 0.0 if A is None or W is None else (W @ A[i]).astype(values.dtype)
        missing = np.isnan(row)
        residual = row - fitted
        if missing.any():
            seen = residual[~missing]
            residual[missing] = rng.choice(seen, np.count_nonzero(missing)) if seen.size else 0.0
        steps: NDArray[np.intp] = rng.integers((K, J))
        row[...] = np.roll(residual, tuple(steps.tolist()), axis=(0, 1)) + fitted
        row[missing] = np.nan
    return values
