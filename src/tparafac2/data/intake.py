"""The door: whatever the user has becomes dense data with labels, or is refused with a sentence."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tparafac2.data.checks import (
    require_numbers,
    require_stack,
    require_tables,
    require_unmasked,
    usable_norm,
)
from tparafac2.data.dense import DenseData
from tparafac2.data.dimensions import resolve_dims
from tparafac2.data.labels import Labels
from tparafac2.data.memory import require_memory

_ACCEPTED = "a (K, I, J) array, a list of K arrays or DataFrames (I, J), or an xarray.DataArray"


class Intake(NamedTuple):
    """What comes through the door.

    Attributes
    ----------
    data : DenseData
    labels : Labels

    Examples
    --------
    >>> import numpy as np
    >>> data, labels = take_in(np.ones((2, 3, 4)))
    >>> data.shape
    (2, 3, 4)
    """

    data: DenseData
    labels: Labels


class _Read(NamedTuple):
    slices: Sequence[NDArray[Any]]
    labels: Labels


def take_in(
    X: object, *, dims: Mapping[str, Hashable] | None = None, dtype: DTypeLike | None = None
) -> Intake:
    """Turn the user's data into what the solver works on; X itself is never changed.

    Parameters
    ----------
    X : ndarray (K, I, J), list of K arrays or DataFrames (I, J_k), or xarray.DataArray
        Real numbers or truth values. Slices of unequal width are padded with zero columns.
    dims : mapping, optional
        For a DataArray: which dimension is which, for example
        ``{"rows": "author", "columns": "word", "time": "year"}``; what is left out is told from the names.
    dtype : "float64" or "float32", optional
        Type to compute in; float64 unless given.

    Returns
    -------
    Intake
        `data` and `labels`.

    Raises
    ------
    TypeError
        If X is not of a supported kind: complex, text, objects, sparse matrices.
    ValueError
        If its shape or values cannot be used: unequal heights, empty, missing, infinite, all zero.
    MemoryError
        If the one copy of X that is made would not fit in this machine.

    Examples
    --------
    >>> import numpy as np
    >>> data, labels = take_in([np.ones((3, 4)), np.ones((3, 5))])
    >>> data.shape, data.widths
    ((2, 3, 5), (4, 5))
    """
    held_type = _float_type(dtype)
    slices, labels = _read(X, dims)
    width = max(piece.shape[1] for piece in slices)
    require_memory(len(slices) * len(slices[0]) * width * held_type.itemsize, "The working copy of X")
    data = DenseData.from_slices(slices, scale=usable_norm(slices), dtype=held_type)
    labels.check(data.shape)
    return Intake(data, labels)


def _float_type(dtype: DTypeLike | None) -> np.dtype[Any]:
    for accepted in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype is None or dtype in (accepted, accepted.type, accepted.name):
            return accepted
    raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")


def _read(X: object, dims: Mapping[str, Hashable] | None) -> _Read:
    if _comes_from(X, "xarray") and hasattr(X, "dims") and hasattr(X, "coords"):
        return _read_labelled(X, dims)
    if dims is not None:
        raise ValueError(f"dims names the dimensions of an xarray.DataArray, but X is a {type(X).__name__}.")
    _refuse_sparse(X, "X")
    if isinstance(X, list | tuple):
        return _read_list(X)
    if not hasattr(X, "__array__"):
        raise TypeError(f"X is a {type(X).__name__}; give {_ACCEPTED}.")
    return _Read(_read_stack(X), Labels())


def _read_stack(X: object) -> Sequence[NDArray[Any]]:
    stack = np.asarray(X)
    require_stack(stack.shape)
    require_numbers(stack, "X")
    require_unmasked(X, "X")
    return list(stack)


def _read_labelled(X: Any, dims: Mapping[str, Hashable] | None) -> _Read:
    if hasattr(X, "data_vars"):
        raise TypeError(f"X is an xarray.{type(X).__name__}; choose one of its arrays, X['name'].")
    dated = [dim for dim in X.dims if dim in X.coords and X.coords[dim].dtype.kind == "M"]
    found = resolve_dims(X.dims, dims, dated)
    ordered = X.transpose(found["time"], found["rows"], found["columns"])
    slices = _read_stack(ordered.values)
    coordinates = {mode: X.coords[dim].values for mode, dim in found.items() if dim in X.coords}
    return _Read(slices, Labels(**coordinates, names={mode: str(dim) for mode, dim in found.items()}))


def _read_list(X: Sequence[object]) -> _Read:
    slices = [_read_table(piece, f"slice {k}") for k, piece in enumerate(X)]
    require_tables(slices)
    for k, (piece, given) in enumerate(zip(slices, X)):
        require_numbers(piece, f"slice {k}")
        require_unmasked(given, f"slice {k}")
    if all(_comes_from(piece, "pandas") and hasattr(piece, "columns") for piece in X):
        return _Read(slices, Labels(rows=_common(X, "index"), columns=_common(X, "columns")))
    return _Read(slices, Labels())


def _read_table(piece: object, what: str) -> NDArray[Any]:
    _refuse_sparse(piece, what)
    try:
        return np.asarray(piece)
    except ValueError as error:
        raise ValueError(f"{what} is not a table: all its rows must have the same length.") from error


def _common(frames: Sequence[Any], axis: Literal["index", "columns"]) -> NDArray[Any] | None:
    first, *others = [getattr(frame, axis) for frame in frames]
    for k, other in enumerate(others, start=1):
        if first.equals(other):
            continue
        if len(first) == len(other) and set(first) == set(other):
            # The slices would silently be added up row against wrong row.
            raise ValueError(
                f"slice {k} has the same {axis} labels as slice 0, but in another order: "
                f"align every slice with .reindex({axis}=X[0].{axis})."
            )
        return None
    return np.asarray(first)


def _refuse_sparse(X: object, what: str) -> None:
    if _comes_from(X, "scipy.sparse"):
        raise TypeError(f"{what} is a sparse matrix, which is not supported yet: convert it with .toarray().")


def _comes_from(X: object, module: str) -> bool:
    return type(X).__module__.startswith(module)
