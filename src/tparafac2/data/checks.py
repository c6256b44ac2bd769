"""Refuse slices that cannot be decomposed, in sentences, before any work is done."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.norm import frobenius_norm
from tparafac2.data.sparse_tables import entries

_STACK = "stack slices along a new first axis, for example np.stack([X_1, X_2, ...])"

# The objective is up to a square of these, and a share of it has to keep its digits.
_SMALLEST_NORM, _LARGEST_NORM = 1e-150, 1e154


def require_numbers(array: NDArray[Any], what: str) -> None:
    """Refuse anything but real numbers and truth values.

    Examples
    --------
    >>> import numpy as np
    >>> require_numbers(np.array([1, 2]), "X")
    """
    if array.dtype.kind == "c":
        raise TypeError(
            f"{what} holds complex numbers ({array.dtype}), which are not supported: "
            "use their absolute values, or real and imaginary parts as columns of their own."
        )
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{what} holds values of type {array.dtype}; numbers are needed: convert with .astype(float)."
        )


def require_stack(shape: tuple[int, ...]) -> None:
    """Refuse an array that is not a stack of K slices of I rows and J columns.

    Examples
    --------
    >>> require_stack((4, 3, 2))
    """
    if len(shape) != 3:
        advice = f"{_STACK}." if len(shape) == 2 else "reshape it, or give a list of K arrays (I, J)."
        raise ValueError(
            f"X has {_dimensions(shape)}, but three are needed, "
            f"(K, I, J) for time, rows and columns: {advice}"
        )
    if 0 in shape:
        raise ValueError(f"X has shape {shape} (time, rows, columns): at least one of each is needed.")


def require_tables(slices: Sequence[Any]) -> None:
    """Refuse a list that is empty or whose slices (arrays or sparse) are not tables of equal height.

    Examples
    --------
    >>> import numpy as np
    >>> require_tables([np.ones((3, 2)), np.ones((3, 5))])
    """
    if not slices:
        raise ValueError("X is an empty list: at least one slice (I, J) is needed.")
    for k, piece in enumerate(slices):
        if piece.ndim != 2:
            raise ValueError(
                f"slice {k} has {_dimensions(piece.shape)}, but every slice must be a table, rows by columns "
                f"(2 dimensions). If X is one table for one time point, {_STACK}."
            )
        if 0 in piece.shape:
            raise ValueError(f"slice {k} is empty (shape {piece.shape}): leave it out of the list.")
        rows, expected = piece.shape[0], slices[0].shape[0]
        if rows != expected:
            raise ValueError(
                f"slice {k} has {rows} rows, but slice 0 has {expected}: all slices must have "
                "the same rows. If rows and columns are exchanged, transpose every slice."
            )


def require_finite_entries(tables: Sequence[Any]) -> None:
    """Refuse sparse tables, in tidy form, that store NaN or infinity.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> require_finite_entries([csr_array([[0, 1], [2, 0]])])
    """
    for test, what, advice in (
        (
            np.isnan,
            "missing values (NaN)",
            "Missing values need dense input: use .toarray(), or fill them",
        ),
        (np.isinf, "infinite values", "Replace them by finite numbers"),
    ):
        found = [np.flatnonzero(test(table.data)) for table in tables]
        counts = [len(places) for places in found]
        if not any(counts):
            continue
        k = int(np.flatnonzero(counts)[0])
        rows, columns, _ = entries(tables[k])
        raise ValueError(
            f"X has {sum(counts)} {what}, the first in slice {k}, row {rows[found[k][0]]}, "
            f"column {columns[found[k][0]]} (counted from 0), {counts[k]} in that slice. {advice}."
        )


def usable_norm(slices: Sequence[NDArray[Any]]) -> float:
    """Norm of all slices, after refusing infinite and all-zero data.

    Parameters
    ----------
    slices : sequence of real ndarrays (I, J_k)

    Returns
    -------
    float
        Positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> usable_norm([np.array([[3.0, 4.0]])])
    5.0
    """
    norm = frobenius_norm(slices)
    if norm == 0.0:
        raise ValueError("every entry of X is zero: there is nothing to find. Check how X was made.")
    if norm > _LARGEST_NORM:
        count, first = _locate(slices, np.isinf)
        if count:
            raise ValueError(f"X has {count} infinite values{first}: replace them by finite numbers.")
    require_ordinary(norm)
    return norm


def require_ordinary(norm: float) -> None:
    """Refuse data whose norm cannot be squared.

    Examples
    --------
    >>> require_ordinary(1e-200)
    Traceback (most recent call last):
    ValueError: the entries of X are too small to be squared (norm 1e-200): divide X by 1e-200.
    """
    if not _SMALLEST_NORM <= norm <= _LARGEST_NORM:
        size = "small" if norm < 1 else "large"
        raise ValueError(
            f"the entries of X are too {size} to be squared (norm {norm:.3g}): divide X by {norm:.0e}."
        )


def _locate(
    slices: Sequence[NDArray[Any]], test: Callable[[NDArray[Any]], NDArray[np.bool_]]
) -> tuple[int, str]:
    count, first = 0, ""
    for k, piece in enumerate(slices):
        hits = test(piece)
        if hits.any() and not first:
            row, column = np.argwhere(hits)[0]
            first = f", the first in slice {k}, row {row}, column {column} (counted from 0)"
        count += int(np.count_nonzero(hits))
    return count, first


def _dimensions(shape: tuple[int, ...]) -> str:
    return f"{len(shape)} dimension{'' if len(shape) == 1 else 's'} (shape {shape})"
