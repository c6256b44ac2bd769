"""Which entries are missing, and whether what is left can be decomposed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.frames import align_mask, as_frames, has_labels
from tparafac2.data.labels import Labels
from tparafac2.data.text import listed, shown
from tparafac2.errors import InvalidValue
from tparafac2.words import Advice

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


def aligned_mask(mask: Any, X: Any, labels: Labels) -> Any:
    """A mask in the order of labelled data, by its own labels if it has any; others as they are."""
    is_listed = isinstance(mask, list | tuple) or (isinstance(mask, np.ndarray) and mask.ndim > 0)
    if is_listed:
        return _mask_of_tables(list(mask), X)
    if not (hasattr(mask, "dims") and hasattr(mask, "coords")):
        return mask
    if not hasattr(X, "dims"):
        raise ValueError(
            "mask has labels, but X has none, or is no xarray.DataArray: give both as such, or "
            "mask.values, in the order of X."
        )
    if set(mask.dims) != set(X.dims):
        raise ValueError(f"mask has the dimensions {mask.dims}, but X has {X.dims}: give the same.")
    for dim in X.dims:
        both = dim in mask.coords and dim in X.coords
        if both and not np.array_equal(mask.coords[dim].values, X.coords[dim].values):
            raise ValueError(f"mask and X differ in the labels of {dim!r}: align it, mask.reindex_like(X).")
    return mask.transpose(*(labels.names[mode] for mode in ("time", "rows", "columns"))).values


def require_observed(observed: Mask, labels: Labels) -> None:
    """Refuse data in which a row or a column, or everything, was never observed.

    Parameters
    ----------
    observed : ndarray of bool (K, I, J)
    labels : Labels
    """
    if not observed.any():
        raise InvalidValue(
            "every entry of X is missing: there is nothing to fit. Check ", Advice("data", "X and mask"), "."
        )
    _, I, J = observed.shape
    for mode, size, seen in (
        ("rows", I, observed.any(axis=(0, 2))),
        ("columns", J, observed.any(axis=(0, 1))),
    ):
        never = np.flatnonzero(~seen)
        if len(never):
            names = labels.coordinate("rows" if mode == "rows" else "columns", size)[never]
            some = listed(map(shown, names))
            raise ValueError(
                f"{len(names)} of {size} {mode} were never observed, at any time: {some}. "
                "Leave them out of X."
            )


def _mask_of_tables(mask: list[Any], X: Any) -> list[Any]:
    labelled = as_frames(mask, "mask of slice")
    frames = as_frames(X) if isinstance(X, list | tuple) else None
    if frames is not None and len(mask) == len(frames):
        return align_mask(mask, frames)
    if frames is None and labelled is not None and any(map(has_labels, labelled)):
        raise ValueError(
            "mask has labels, but X has none, or is no list of DataFrames: give both as such, or both as "
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
