"""Data beside the fit, for the page: single entries over time, and where the model misses most."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.large import Stored
from tparafac2.plots.slice_residuals import data_slices
from tparafac2.preparing import Prepared
from tparafac2.result import Result

MOST_ENTRIES = 1_000_000
"""Beyond these the page has the data of the rows and columns with the largest residuals only."""

MOST_READ = 50_000_000
"""So many entries are compared with the fit in half a second: more are not, unless somebody asks for it."""

_MOST_MISSES = 10


class Entries(NamedTuple):
    """Data of some rows and columns.

    Attributes
    ----------
    rows, columns : ndarray of int
        Which of the rows and columns of the result they are.
    courses : ndarray (rows, columns, K)
        In the order of time; NaN where an entry is missing.
    misses : list of (row, column, share)
        Pairs of the largest residuals, as the share of all squared residuals; places of the result.
    explained : float
        Share of the sum of squares that the model explains.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    courses: NDArray[np.float64]
    misses: list[tuple[int, int, float]]
    explained: float


def is_affordable(data: Any) -> bool:
    """Whether data of a fit are in memory, and few enough to be shown beside it without being asked for.

    Examples
    --------
    >>> is_affordable(np.zeros((20, 100, 50)))
    True
    """
    data = data.data if isinstance(data, Prepared) else data
    return not isinstance(data, Stored) and bool(np.prod(data.shape, dtype=np.float64) <= MOST_READ)


def entries_of(result: Result, X: Any, order: NDArray[np.intp]) -> Entries:
    """Compare the data of a fit with what the model makes of them.

    Parameters
    ----------
    result : Result
    X : as for `tparafac2.plots.residuals`
        The data that the model was fitted to, prepared as they were then.
    order : ndarray of int (K,)
        The slices in the order of time.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((2, 2, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> X = np.ones((2, 2, 2))
    >>> X[1, 0, 1] = 3.0
    >>> entries_of(result, X, np.arange(2)).misses
    [(0, 1, 1.0)]
    """
    X = X.data if isinstance(X, Prepared) else X
    _, I, J = result.shape
    left, whole = np.zeros((I, J)), 0.0
    for piece, strength, pattern in zip(data_slices(X, result), result.C, result.B):
        squares = np.square(piece - (result.A * strength) @ pattern.T)
        left[:, : len(pattern)] += np.where(np.isnan(piece), 0.0, squares)
        whole += float(np.nansum(np.square(piece)))
    explained = 1.0 - float(left.sum()) / whole if whole > 0 else np.nan
    rows, columns = _kept(left, max(1, MOST_ENTRIES // len(order)))
    courses = np.full((len(rows), len(columns), len(order)), np.nan)
    # Read a second time: sparse slices are dense one at a time only.
    for place, piece in zip(np.argsort(order), data_slices(X, result)):
        there = columns < piece.shape[1]
        courses[:, there, place] = piece[np.ix_(rows, columns[there])]
    return Entries(rows, columns, courses, _misses(left, rows, columns), explained)


def _kept(left: NDArray[np.float64], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the largest residuals, as many of each in proportion as there is room for."""
    share = min(1.0, (most / max(left.size, 1)) ** 0.5)
    counts = [max(1, int(size * share)) for size in left.shape]
    rows, columns = (
        np.sort(np.argsort(-left.sum(axis=1 - axis), kind="stable")[:count])
        for axis, count in enumerate(counts)
    )
    return rows, columns


def _misses(
    left: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> list[tuple[int, int, float]]:
    block = left[np.ix_(rows, columns)]
    total = float(left.sum()) or 1.0
    largest = np.argsort(-block.ravel(), kind="stable")[:_MOST_MISSES]
    places = (np.unravel_index(one, block.shape) for one in largest if block.ravel()[one] > 0)
    return [(int(rows[i]), int(columns[j]), float(block[i, j] / total)) for i, j in places]
