"""The data a model was fitted to, slice by slice, to hold against what the model says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Table
from tparafac2.plots.words import listed
from tparafac2.result import Result


def data_slices(X: Any, result: Result) -> Iterator[NDArray[np.float64]]:
    """Give the slices (I, J_k) of X, in the order of the result, NaN where an entry is missing.

    Sparse slices become dense one at a time.

    Parameters
    ----------
    X : ndarray (K, I, J), list of K arrays or sparse matrices, xarray.DataArray, or Table
    result : Result

    Raises
    ------
    ValueError
        If X does not have the shape of what was fitted.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="Converged.", converged=True, n_iter=1)
    >>> [piece.shape for piece in data_slices(np.ones((3, 2, 4)), result)]
    [(2, 4), (2, 4), (2, 4)]
    """
    pieces = _pieces(X, result)
    expected = [(len(result.A), width) for width in result.widths]
    received = [np.shape(piece) for piece in pieces]
    if received != expected:
        raise ValueError(
            f"X has {len(received)} slices of shape {listed(dict.fromkeys(received))}, but the model was "
            f"fitted to {len(expected)} of shape {listed(dict.fromkeys(expected))}: give the same data."
        )
    return (_dense(piece) for piece in pieces)


def _pieces(X: Any, result: Result) -> list[Any]:
    if isinstance(X, Table):
        return X.slices()
    if hasattr(X, "dims") and hasattr(X, "transpose"):
        names = result.labels.names
        wanted = [names["time"], names["rows"], names["columns"]]
        if sorted(wanted) != sorted(map(str, X.dims)):
            raise ValueError(
                f"X has the dimensions {listed(X.dims)}, but the model was fitted to {listed(wanted)}: "
                "give the same data."
            )
        return list(X.transpose(*wanted).values)
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise TypeError(f"X must be the data that the model was fitted to; got {type(X).__name__}.")
    return list(X)


def _dense(piece: Any) -> NDArray[np.float64]:
    if hasattr(piece, "toarray"):
        piece = piece.toarray()
    if isinstance(piece, np.ma.MaskedArray):
        piece = np.where(np.ma.getmaskarray(piece), np.nan, piece.data)
    return np.asarray(piece, dtype=np.float64)
