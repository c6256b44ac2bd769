"""Whatever the user has, read: slices with labels, times and weights, or refused with a sentence."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.checks import (
    Mask,
    aligned_mask,
    missing_entries,
    require_numbers,
    require_stack,
    require_tables,
)
from tparafac2.data.correction import Correction
from tparafac2.data.frames import align, annotated_advice, as_frames, is_frame, long_table, slices_by_time
from tparafac2.data.labels import Labels, dated_dims, labels_of, resolve_dims
from tparafac2.data.places import Places
from tparafac2.data.sparse_tables import require_sound
from tparafac2.data.table import Table
from tparafac2.data.times import read_times, times_of_one_kind
from tparafac2.data.weights import Weights, read_weights

_ACCEPTED = (
    "a (K, I, J) array, a list of K arrays, DataFrames or scipy sparse matrices (I, J), "
    "a dict of these by time, an xarray.DataArray, or a Table"
)


class Reading(NamedTuple):
    """What the user has, in the user's order.

    Attributes
    ----------
    slices : sequence of K ndarrays, or of K scipy sparse matrices, (I, J_k)
    labels : Labels
    times : ndarray (K,), optional
        When each slice was taken; None for evenly spaced.
    given : sequence
        The slices as the user gave them, which may be masked arrays; empty if they are the same.
    mask : array or list of arrays of bool like the slices, optional
        True where an entry was observed.
    present : ndarray of bool (K, J), optional
        Which columns there are at each time, where the user says so.
    weights : Weights
    correction : Correction, optional
        Of sparse slices.
    hidden : Places, optional
        Entries of sparse slices that are missing, at which nothing is stored.
    budget : int, optional
        How many bytes may be used, where the user says so.
    """

    slices: Sequence[Any]
    labels: Labels
    times: NDArray[np.float64] | None = None
    given: Sequence[object] = ()
    mask: Any = None
    present: NDArray[np.bool_] | None = None
    weights: Weights = Weights()
    correction: Correction | None = None
    hidden: Places | None = None
    budget: int | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the slices are sparse."""
        return _is_list_of_sparse(self.slices)

    def missing(self) -> list[Mask] | None:
        """Where entries of dense slices are missing; None if nowhere."""
        return missing_entries(self.slices, self.given or self.slices, self.mask)

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """Some rows of it, where `given` is empty and nothing is hidden."""
        slices = [piece.tocsr() for piece in self.slices] if self.is_sparse else self.slices
        counts, entries = self.weights
        return self._replace(
            slices=_rows(slices, rows),
            labels=self.labels.of_rows(rows),
            mask=None if self.mask is None else _rows(self.mask, rows),
            weights=Weights(None if counts is None else counts[rows], entries and _rows(entries, rows)),
            correction=self.correction and self.correction.of_rows(rows),
        )


def _rows(pieces: Sequence[Any], rows: NDArray[np.intp]) -> list[Any]:
    return [piece[rows] for piece in pieces]


def read_in(
    X: object,
    *,
    dims: Mapping[str, Hashable] | None = None,
    mask: object = None,
    times: Any = None,
    weights: Any = None,
) -> Reading:
    """Read the user's data, which are neither changed nor copied; `take_in` says what each may be.

    Examples
    --------
    >>> reading = read_in({2021: np.ones((3, 4)), 2020: np.zeros((3, 4))})
    >>> reading.times.tolist(), len(reading.slices)
    ([2021.0, 2020.0], 2)
    """
    keys = None
    if isinstance(X, dict):
        weights = [weights[key] for key in X] if _is_by_time(weights, X) else weights
        X, mask, keys = slices_by_time(X, mask)
    elif is_frame(X) and dims is None:
        X = long_table(X)
    if isinstance(X, Table):
        X.require_times()
        found = Reading(X.stored_slices(), X.labels, present=X.present, correction=X.correction)
        found = found._replace(budget=X.budget)
    elif _is_list_of_sparse(X) and dims is None:
        require_sound(X)
        found = Reading(X, Labels())
    else:
        found = _read(X, dims)
    labels = found.labels
    mask = aligned_mask(mask, X, labels)
    counts = _read_counts(weights, X, found.slices, labels)
    if keys is not None and times is None:
        labels = replace(labels, time=keys)
    when = read_times(times, labels.time, len(found.slices))
    if when is not None and labels.time is None:  # what the user calls the times is in the results, too
        labels = replace(labels, time=_plain_times(times))
    if found.is_sparse:
        _require_plain(mask, counts)
    return found._replace(labels=labels, times=when, mask=mask, weights=counts)


def _require_plain(mask: object, counts: Weights) -> None:
    """Refuse what would make something of every zero of sparse slices."""
    if mask is not None:
        raise ValueError(
            "mask was given with sparse data: missing entries need dense input, .toarray() or "
            "frame.sparse.to_dense()."
        )
    if counts.entries is not None:
        raise ValueError(
            "weights of entries were given with sparse data, of which every zero would need one: give "
            "one for each row, or dense input, .toarray()."
        )


def _is_by_time(weights: Any, X: Mapping[Any, Any]) -> bool:
    """Whether these are tables of weights by time, and not numbers by row label."""
    if not isinstance(weights, dict) or set(weights) != set(X):
        return False
    return not any(isinstance(one, Real) for one in weights.values())


def _read_counts(weights: Any, X: object, slices: Sequence[Any], labels: Labels) -> Weights:
    if weights is None and isinstance(X, Table):
        weights = X.counts
    if weights is None:
        return Weights()
    labelled = hasattr(weights, "dims") and weights.ndim == 3
    if labelled or (isinstance(weights, list | tuple) and any(hasattr(one, "shape") for one in weights)):
        weights = aligned_mask(weights, X, labels, "weights")
    return read_weights(weights, [piece.shape for piece in slices], labels)


def _plain_times(times: Any) -> NDArray[Any]:
    given = np.asarray(times)
    return times_of_one_kind(given)[0] if given.dtype.kind == "O" else given


def _read(X: object, dims: Mapping[str, Hashable] | None) -> Reading:
    if _comes_from(X, "xarray") and hasattr(X, "dims") and hasattr(X, "coords"):
        return _read_labelled(X, dims)
    if dims is not None:
        raise ValueError(f"dims names the dimensions of an xarray.DataArray, but X is a {type(X).__name__}.")
    if _is_sparse(X):
        raise TypeError(
            "X is one sparse matrix; give a list of them (I, J), one for each time: [X_1, X_2, ...]."
        )
    if isinstance(X, list | tuple):
        return _read_list(X)
    if all(hasattr(X, name) for name in ("X", "obs", "var")):
        raise TypeError(annotated_advice(X))
    if not hasattr(X, "__array__"):
        raise TypeError(f"X is a {type(X).__name__}; give {_ACCEPTED}.")
    return Reading(_read_stack(X), Labels(), given=list(X) if isinstance(X, np.ma.MaskedArray) else ())


def _read_stack(X: object) -> Sequence[NDArray[Any]]:
    stack = np.asarray(X)
    require_stack(stack.shape)
    require_numbers(stack, "X")
    return list(stack)


def _read_labelled(X: Any, dims: Mapping[str, Hashable] | None) -> Reading:
    if hasattr(X, "data_vars"):
        raise TypeError(f"X is an xarray.{type(X).__name__}; choose one of its arrays, X['name'].")
    found = resolve_dims(X.dims, dims, dated_dims(X))
    ordered = X.transpose(found["time"], found["rows"], found["columns"])
    return Reading(_read_stack(ordered.values), labels_of(X, found))


def _read_list(X: Sequence[object]) -> Reading:
    labels, given, frames = Labels(), X, as_frames(X)
    if frames is None:
        slices = [_read_table(piece, f"slice {k}") for k, piece in enumerate(X)]
    else:
        slices, rows, columns = align(frames)
        labels, given = Labels(rows, columns), ()
    require_tables(slices)
    for k, piece in enumerate(slices):
        require_numbers(piece, f"slice {k}")
    return Reading(slices, labels, given=given)


def _read_table(piece: object, what: str) -> NDArray[Any]:
    if _is_sparse(piece):
        raise TypeError(
            f"{what} is a sparse matrix, but not all slices are: give only sparse matrices, "
            "or convert it with .toarray()."
        )
    try:
        return np.asarray(piece)
    except ValueError as error:
        raise ValueError(f"{what} is not a table: all its rows must have the same length.") from error


def _is_list_of_sparse(X: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(X, list | tuple) and len(X) > 0 and all(map(_is_sparse, X))


def _is_sparse(X: object) -> bool:
    return _comes_from(X, "scipy.sparse") and hasattr(X, "tocsr")


def _comes_from(X: object, module: str) -> bool:
    return type(X).__module__.startswith(module)
