"""Transforms of values, of dense stacks (K, I, J) with NaN where missing and of sparse slices."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tparafac2.data import FloatArray

Transform: TypeAlias = Literal["log1p", "sqrt", "share", "clr"]
KEEP_ZERO = (None, "log1p", "sqrt", "share")
"""Transforms after which zero is still zero, so that sparse slices stay sparse."""

_ELEMENTWISE: dict[str | None, Callable[[FloatArray], FloatArray]] = {"log1p": np.log1p, "sqrt": np.sqrt}


class Transformed(NamedTuple):
    """Values, and for how many rows at a time there was nothing to share out."""

    values: Any
    n_empty: int = 0


def transform_dense(stack: FloatArray, transform: Transform | None, pseudocount: float | None) -> Transformed:
    """Transform a stack; missing values stay missing, and across columns only what was observed counts.

    Examples
    --------
    >>> transform_dense(np.array([[[1.0, 3.0, np.nan], [0.0, 0.0, 0.0]]]), "share", None)
    Transformed(values=array([[[0.25, 0.75,  nan], [0.  , 0.  , 0.  ]]]), n_empty=1)
    """
    if transform is None:
        return Transformed(stack)
    _require_not_negative(stack, transform)
    if transform in _ELEMENTWISE:
        return Transformed(_ELEMENTWISE[transform](stack))
    observed = ~np.isnan(stack)
    if transform == "clr":
        return Transformed(_centred_logs(stack, observed, pseudocount))
    totals = stack.sum(axis=2, keepdims=True, where=observed)
    shares = stack.copy()
    np.divide(stack, totals, out=shares, where=totals > 0)
    return Transformed(shares, int(np.count_nonzero(observed.any(axis=2) & (totals[:, :, 0] == 0))))


def transform_sparse(slices: Sequence[Any], transform: Transform | None) -> Transformed:
    """Transform sparse slices by one of the transforms that keep zeros.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> transform_sparse([csr_array([[0, 1, 3], [0, 0, 0]])], "share").values[0].toarray()
    array([[0.  , 0.25, 0.75],
           [0.  , 0.  , 0.  ]])
    """
    made, n_empty = [], 0
    for given in slices:
        piece = given.tocsr().astype(np.float64)  # a copy
        if transform is not None:
            _require_not_negative(piece.data, transform)
        if transform in _ELEMENTWISE:
            piece.data = _ELEMENTWISE[transform](piece.data)
        elif transform == "share":
            totals = np.asarray(piece.sum(axis=1)).ravel()
            n_empty += int(np.count_nonzero(totals == 0))
            own = np.repeat(totals, np.diff(piece.indptr))
            np.divide(piece.data, own, out=piece.data, where=own > 0)
        made.append(piece)
    return Transformed(made, n_empty)


def undo_transform(fitted: FloatArray, transform: Transform | None) -> FloatArray:
    """Go back from fitted values; from clr only to shares, since the totals are gone.

    Counts and shares are never negative, so that what would be is zero.

    Examples
    --------
    >>> undo_transform(np.array([[[0.0, np.log(3.0)]]]), "clr")
    array([[[0.25, 0.75]]])
    """
    match transform:
        case None:
            return fitted
        case "log1p":
            return np.expm1(np.maximum(fitted, 0.0))
        case "sqrt":
            return np.square(np.maximum(fitted, 0.0))
        case "share":
            return np.maximum(fitted, 0.0)
    known = ~np.isnan(fitted)
    largest = np.max(fitted, axis=2, keepdims=True, where=known, initial=-np.inf)
    # Where nothing is known there is no largest one, and nothing to take off.
    sizes = np.exp(fitted - np.where(np.isfinite(largest), largest, 0.0))
    totals = np.sum(sizes, axis=2, keepdims=True, where=known)
    return sizes / np.where(totals > 0, totals, 1.0)


def _centred_logs(stack: FloatArray, observed: Any, pseudocount: float | None) -> FloatArray:
    n_zeros = int(np.count_nonzero(stack == 0))
    if pseudocount is None and n_zeros:
        raise ValueError(
            f"transform='clr' takes logarithms, and {n_zeros:,} of {int(observed.sum()):,} values are zero: "
            "give pseudocount=, which is added to every value; for counts 0.5 or 1 is usual."
        )
    logs = np.log(stack if pseudocount is None else stack + pseudocount)
    counts = np.maximum(observed.sum(axis=2, keepdims=True), 1)
    return np.asarray(logs - logs.sum(axis=2, keepdims=True, where=observed) / counts)


def _require_not_negative(values: FloatArray, transform: Transform) -> None:
    n_negative = int(np.count_nonzero(values < 0))
    if n_negative:
        raise ValueError(
            f"transform={transform!r} is for values that are not negative, but {n_negative:,} of "
            f"{int(np.count_nonzero(~np.isnan(values))):,} are; the smallest is {np.nanmin(values):g}. "
            "Leave the transform out, or correct these values."
        )
