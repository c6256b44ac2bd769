"""Which columns of a pattern are shown, and in which order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SAME = 1e-6
_MATTERS = 0.05


def largest_columns(known: NDArray[np.float64], n: int | None, most: int) -> NDArray[np.intp]:
    """Choose the largest columns of a pattern (K, J), NaN where it is not known; the largest first.

    Size is the length of a column's course in time.

    Parameters
    ----------
    known : ndarray (K, J)
    n : int, optional
        How many; by default those that matter: at least a twentieth of the largest.
    most : int
        How many at most by default.

    Examples
    --------
    >>> pattern = np.array([[0.1, -3.0, 2.0], [0.1, np.nan, 2.9]])
    >>> largest_columns(pattern, 3, most=10), largest_columns(pattern, None, most=10)
    (array([2, 1, 0]), array([2, 1]))
    """
    size = np.sqrt(np.nansum(known**2, axis=0))
    if n is None:
        n = min(int(np.count_nonzero(size >= _MATTERS * size.max())), most)
    return np.argsort(-size, kind="stable")[:n]


def by_time(known: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put columns that matter early before those that matter late; those alike stay as they are.

    When a column matters is the mean time of its squared weights: steadier than the time of its peak.

    Examples
    --------
    >>> by_time(np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0]]), np.array([0, 1, 2]))
    array([1, 2, 0])
    """
    mass = np.nan_to_num(known[:, columns]) ** 2
    total = mass.sum(axis=0)
    centre = np.arange(len(known)) @ mass / np.where(total > 0, total, 1.0)
    steps = np.round(centre / (_SAME * max(len(known), 1)))  # rounding errors are no order
    return columns[np.argsort(steps, kind="stable")]
