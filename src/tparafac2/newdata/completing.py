"""The user's data with missing entries filled in by the model, in the user's units and form."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Labels, Table, padded
from tparafac2.data.frames import as_frames, is_frame
from tparafac2.data.labels import named_array
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.newdata.matching import NOTHING_SAID, Given, NewRows, matched
from tparafac2.newdata.rows import entries_of, loadings, terms_of
from tparafac2.preparing import Prepared, prepares, undo_beside
from tparafac2.result import Result


def complete(result: Result, X: Any, given: Given = NOTHING_SAID) -> Any:
    """The data with missing entries filled in; see `Decomposition.complete`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
    >>> holed = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    >>> result = tp.CP(rank=2, n_starts=2, random_state=0).fit(holed).result_
    >>> bool(np.isnan(complete(result, holed)).any())
    False
    """
    terms_of(result)
    if isinstance(X, Prepared):
        raise InvalidValue(
            "X was prepared, and entries are filled in in the units before that: give it as it was, and the "
            "model prepares it itself."
        )
    rows = matched(result, X, given, "complete")
    if rows.reading.is_sparse and not isinstance(X, Table):
        return X  # every entry of sparse slices is known
    return _like(X, _filled(result, rows), rows, result)


class Holes(NamedTuple):
    """What is missing in a Table or a DataArray, in the order of what `complete` gives.

    Attributes
    ----------
    entries : ndarray of bool (K, I, J)
    times : ndarray of bool (K,)
        Times of the model that a table has no line of.
    """

    entries: NDArray[np.bool_]
    times: NDArray[np.bool_]


def holes_of(result: Result, X: Any, **given: Any) -> Holes:
    """Where entries of a Table or a DataArray are missing; `complete` has said what there is to say of it."""
    if hasattr(X, "dims"):
        entries = np.asarray(np.isnan(X.values))
        return Holes(entries, np.zeros(len(entries), dtype=bool))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = matched(result, X, Given(**given))
    gone = rows.order.times < 0
    if rows.reading.is_sparse:
        return Holes(np.zeros((len(rows.raw), *rows.raw[0].shape), dtype=bool), gone)
    return Holes(np.stack(rows.missing), gone)


def _filled(result: Result, rows: NewRows) -> list[FloatArray]:
    """Values in the order of the model, (I, J_k) for each time."""
    if rows.reading.is_sparse:
        return [piece.toarray() for piece in rows.raw]
    raw = rows.raw
    holes = rows.missing
    if not any(one.any() for one in holes):
        return raw
    A = loadings(result, entries_of(result, rows))
    W = np.asarray(padded(result.B, fill=0.0) * result.C[:, None, :], dtype=np.float64)
    fitted = np.einsum("ir,kjr->kij", A, W)
    record = result.preparation
    if record is not None and prepares(record):
        fitted = undo_beside(record, rows.made.adjustment, fitted, np.stack(raw))
    if result.present is not None:
        fitted = np.where(result.present[:, None, :], fitted, np.nan)
    made = [np.where(gone, new[:, : gone.shape[1]], old) for gone, new, old in zip(holes, fitted, raw)]
    _warn_if_left(made, result)
    return made


def _warn_if_left(slices: Sequence[FloatArray], result: Result) -> None:
    left = sum(int(np.isnan(piece).sum()) for piece in slices)
    if left and result.present is not None:
        why = "at times at which the model has no such column"
    elif left:
        why = (
            "of rows of which nothing was observed at that time: shares and log-ratios do not tell their "
            "totals. What the model says of their shares is in inverse_transform(transform(X))"
        )
    if left:
        warnings.warn(ToldWarning(f"{left:,} entries are still missing, {why}."), stacklevel=5)


# --- back into the user's form ------------------------------------------------------------------------------


def _like(X: Any, slices: list[FloatArray], rows: NewRows, result: Result) -> Any:
    """The slices, which are in the order of the model, as the user has them."""
    if isinstance(X, Table) or is_frame(X):
        return _labelled(slices, rows, result)
    own = _in_user_order(slices, rows)
    if isinstance(X, dict):
        return dict(zip(X, _as_list(list(X.values()), own)))
    if hasattr(X, "dims"):
        names = rows.reading.labels.names
        order = [names[mode] for mode in ("time", "rows", "columns")]
        stack = X.transpose(*order).copy(data=np.stack(own).astype(_float_type(X.dtype)))
        return stack.transpose(*X.dims)
    if isinstance(X, list | tuple):
        return _as_list(X, own)
    return np.stack(own).astype(_float_type(np.asarray(X).dtype), copy=False)


def _in_user_order(slices: list[FloatArray], rows: NewRows) -> list[FloatArray]:
    """Slices in the user's order of times and columns; what the model does not know is as it was."""
    hidden = rows.reading.missing()
    made: list[FloatArray] = []
    for k, piece in enumerate(rows.reading.slices):
        own = np.array(piece, dtype=np.float64)
        if hidden is not None:
            own[hidden[k]] = np.nan
        made.append(own)
    columns = rows.order.columns
    for new, k in zip(slices, rows.order.times):
        if columns is None:
            made[k] = new
        else:
            made[k][:, columns] = new
    return made


def _as_list(given: Sequence[Any], slices: list[FloatArray]) -> list[Any]:
    frames = as_frames(given)
    if frames is None:
        return [new.astype(_float_type(np.asarray(old).dtype)) for old, new in zip(given, slices)]
    import pandas as pd

    first = frames[0]  # in whose order all were read
    tables = [pd.DataFrame(new, index=first.index, columns=first.columns) for new in slices]
    return [table.reindex(index=old.index, columns=old.columns) for table, old in zip(tables, frames)]


def _labelled(slices: list[FloatArray], rows: NewRows, result: Result) -> Any:
    """An array with the rows of a long table, and the columns and times of the model."""
    read = rows.reading.labels
    labels = Labels(
        read.rows,
        read.columns if result.labels.columns is None else result.labels.columns,
        read.time if result.labels.time is None else result.labels.time,
        read.names,
        read.attributes,
    )
    return named_array(np.stack(slices), labels)


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else np.dtype(np.float64)
