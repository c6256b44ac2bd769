"""Refuse slices that cannot be decomposed, in sentences, before any work is done: too large, too empty."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.frames import align_mask, as_frames, has_labels
from tparafac2.data.labels import Labels
from tparafac2.data.norms import frobenius_norm
from tparafac2.data.sparse_tables import entries
from tparafac2.data.text import listed, shown
from tparafac2.errors import InvalidValue
from tparafac2.words import Advice

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


Mask = NDArray[np.bool_]


def missing_entries(
    slices: Sequence[NDArray[Any]], given: Sequence[object], mask: object
) -> list[Mask] | None:
    """Where entries are missing: NaN, masked, or False in `mask`; None if nowhere.

    Parameters
    ----------
    slices : sequence of real ndarrays (I, J_k)
    given : sequence
        The same slices as the user gave them, which may be masked arrays.
    mask : array (K, I, J) or list of K arrays (I, J_k), optional
        True where observed.

    Examples
    --------
    >>> missing_entries([np.array([[1.0, np.nan]])], [None], None)
    [array([[False,  True]])]
    """
    hidden = [_hidden(piece, original) for piece, original in zip(slices, given)]
    if mask is not None:
        for k, observed in enumerate(_read_mask(mask, slices)):
            hidden[k] = hidden[k] | ~observed
    return hidden if any(one.any() for one in hidden) else None


class ObservedSlices(Sequence[NDArray[Any]]):
    """Slices with zeros for what is missing, made one at a time.

    Examples
    --------
    >>> ObservedSlices([np.array([[1.0, np.nan]])], [np.array([[True, False]])])[0].tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, slices: Sequence[NDArray[Any]], observed: Sequence[Mask]) -> None:
        self.slices, self.observed = slices, observed

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, k: Any) -> Any:
        return np.where(self.observed[k], self.slices[k], 0)


class WeightedSlices(Sequence[NDArray[Any]]):
    """Slices times the roots of weights, made one at a time.

    Examples
    --------
    >>> WeightedSlices([np.array([[1.0, 3.0]])], [np.array([[2.0, 0.0]])])[0].tolist()
    [[2.0, 0.0]]
    """

    def __init__(self, slices: Sequence[NDArray[Any]], roots: Sequence[NDArray[Any]]) -> None:
        self.slices, self.roots = slices, roots

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, k: Any) -> Any:
        return np.multiply(self.slices[k], self.roots[k], dtype=np.float64)


def aligned_mask(mask: Any, X: Any, labels: Labels, what: str = "mask") -> Any:
    """A mask in the order of labelled data, by its own labels if it has any; others as they are."""
    is_listed = isinstance(mask, list | tuple) or (isinstance(mask, np.ndarray) and mask.ndim > 0)
    if is_listed:
        return _mask_of_tables(list(mask), X, what)
    if not (hasattr(mask, "dims") and hasattr(mask, "coords")):
        return mask
    if not hasattr(X, "dims"):
        raise ValueError(
            f"{what} has labels, but X has none, or is no xarray.DataArray: give both as such, or "
            f"{what}.values, in the order of X."
        )
    if set(mask.dims) != set(X.dims):
        raise ValueError(f"{what} has the dimensions {mask.dims}, but X has {X.dims}: give the same.")
    for dim in X.dims:
        both = dim in mask.coords and dim in X.coords
        if both and not np.array_equal(mask.coords[dim].values, X.coords[dim].values):
            raise ValueError(
                f"{what} and X differ in the labels of {dim!r}: align it, {what}.reindex_like(X)."
            )
    return mask.transpose(*(labels.names[mode] for mode in ("time", "rows", "columns"))).values


def require_observed(observed: Mask, labels: Labels) -> None:
    """Refuse data in which a row or a column, or everything, was never observed.

    Parameters
    ----------
    observed : ndarray of bool (K, I, J)
    labels : Labels
    """
    require_seen(np.asarray(observed.any(axis=(0, 2))), np.asarray(observed.any(axis=(0, 1))), labels)


def require_seen(rows: Mask, columns: Mask, labels: Labels) -> None:
    """Refuse data in which a row or a column was never observed.

    Examples
    --------
    >>> require_seen(np.array([True]), np.array([True, True]), Labels())
    """
    if not rows.any():
        raise InvalidValue(
            "every entry of X is missing: there is nothing to fit. Check ", Advice("data", "X and mask"), "."
        )
    for mode, size, seen in (("rows", len(rows), rows), ("columns", len(columns), columns)):
        never = np.flatnonzero(~seen)
        if len(never):
            names = labels.coordinate("rows" if mode == "rows" else "columns", size)[never]
            some = listed(map(shown, names))
            raise ValueError(
                f"{len(names)} of {size} {mode} were never observed, at any time: {some}. "
                "Leave them out of X."
            )


def _mask_of_tables(mask: list[Any], X: Any, what: str) -> list[Any]:
    labelled = as_frames(mask, f"{what} of slice")
    frames = as_frames(X) if isinstance(X, list | tuple) else None
    if frames is not None and len(mask) == len(frames):
        return align_mask(mask, frames, what)
    if frames is None and labelled is not None and any(map(has_labels, labelled)):
        raise ValueError(
            f"{what} has labels, but X has none, or is no list of DataFrames: give both as such, or both as "
            "arrays."
        )
    return mask


def _brief(shapes: list[tuple[int, ...]]) -> str:
    return ", ".join(dict.fromkeys(map(str, shapes)))


def _hidden(piece: NDArray[Any], original: object) -> Mask:
    hidden = np.isnan(piece) if piece.dtype.kind == "f" else np.zeros(piece.shape, dtype=bool)
    if isinstance(original, np.ma.MaskedArray):
        hidden |= np.ma.getmaskarray(original)
    # Where nothing is missing one False stands for all.
    return hidden if hidden.any() else np.broadcast_to(np.False_, piece.shape)


def _read_mask(mask: Any, slices: Sequence[NDArray[Any]]) -> list[Mask]:
    values = getattr(mask, "values", mask)
    if not isinstance(values, list | tuple) and (callable(values) or np.ndim(values) == 0):
        raise TypeError(
            f"mask must have True or False for every entry of X, as an array like X; got {mask!r:.60}."
        )
    try:
        read = [np.asarray(piece) for piece in values]
    except ValueError as error:
        raise ValueError("mask is no array: all rows of a slice must have the same length.") from error
    expected = [piece.shape for piece in slices]
    if [piece.shape for piece in read] != expected:
        got = [piece.shape for piece in read[:3]]
        raise ValueError(
            f"mask has {len(read)} slices of shape {_brief(got)}, but X has {len(expected)} of shape "
            f"{_brief(expected[:3])}: give True or False for every entry of X, True where it was observed."
        )
    for piece in read:
        if piece.dtype.kind != "b" and not (piece.dtype.kind in "iuf" and np.isin(piece, (0, 1)).all()):
            raise ValueError("mask must hold True (observed) and False (missing) only, or 1 and 0.")
    return [piece.astype(bool) for piece in read]
