"""A component's entries in one slice, as one column: how the terms on whole columns see any factor.

Such a column runs along the columns of the data for patterns, along the rows for loadings, and along time for
strengths.
"""

from __future__ import annotations

import numpy as np

from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.proximal import Float64Array, along_first


def length_of(shape: tuple[int, ...]) -> int:
    """Number of entries in a column of a factor of this shape.

    Examples
    --------
    >>> length_of((20, 100, 3)), length_of((150, 3))
    (100, 150)
    """
    return shape[-2]


def columns_of(x: FloatArray) -> Float64Array:
    """All columns, one below the other: (K R, J) of patterns (K, J, R), (R, n) of another factor (n, R).

    Examples
    --------
    >>> columns_of(np.arange(6.0).reshape(1, 3, 2)).tolist()
    [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    """
    turned = np.moveaxis(np.asarray(x, dtype=np.float64), -1, -2)
    return np.ascontiguousarray(turned).reshape(-1, x.shape[-2])


def from_columns(columns: Float64Array, like: FloatArray) -> FloatArray:
    """The factor that has these columns, in the shape and precision of another.

    Examples
    --------
    >>> x = np.arange(6.0).reshape(1, 3, 2)
    >>> bool((from_columns(columns_of(x), x) == x).all())
    True
    """
    turned = columns.reshape(*like.shape[:-2], like.shape[-1], like.shape[-2])
    return np.ascontiguousarray(np.moveaxis(turned, -1, -2), dtype=like.dtype)


def column_weights(rho: Float64Array, like: FloatArray) -> Float64Array:
    """The weight of every entry of the columns: one for each slice, or for each row of another factor.

    Examples
    --------
    >>> column_weights(np.array([1.0, 2.0]), np.ones((2, 2, 1))).tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    >>> column_weights(np.array([1.0, 2.0]), np.ones((2, 1))).tolist()
    [[1.0, 2.0]]
    """
    return columns_of(np.broadcast_to(along_first(rho, like.ndim), like.shape))
