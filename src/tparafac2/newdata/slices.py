"""Further slices, read and put beside the rows and columns of a fit, or refused with a sentence."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Table, label_text, listed, read_in, require_memory, shown
from tparafac2.data.frames import is_frame, long_table, slices_by_time
from tparafac2.data.labels import Mode, is_called
from tparafac2.errors import InvalidValue
from tparafac2.result import Result
from tparafac2.words import Advice, Argument

_SHOWN = 3
_WHOLE = 1_000_000


class Piece(NamedTuple):
    """One slice as the user gave it: dense with NaN where missing, or sparse.

    Attributes
    ----------
    values : ndarray or scipy sparse matrix (I', J')
    rows, columns : ndarray, optional
        Their labels.
    fill : float
        What columns of the model are that the slice does not have: NaN, or 0; rows are missing.
    there : ndarray of bool (J',), optional
        Which columns there are, where the user says so.
    observed : ndarray of bool (I',), optional
        Which rows have a line in the slice of a long table; the others are missing.
    """

    values: Any
    rows: NDArray[Any] | None
    columns: NDArray[Any] | None
    fill: float = np.nan
    there: NDArray[np.bool_] | None = None
    observed: NDArray[np.bool_] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the values are sparse."""
        return not isinstance(self.values, np.ndarray)


class Given(NamedTuple):
    """Slices, and what the data themselves call their times."""

    pieces: list[Piece]
    times: NDArray[Any] | None


def read_slices(X: Any, dims: Mapping[str, Hashable] | None, names: Mapping[Mode, str]) -> Given:
    """Read one slice or several; `names` are those of the dimensions of the fit.

    Examples
    --------
    >>> given = read_slices(np.ones((3, 4)), None, {})
    >>> len(given.pieces), given.times is None
    (1, True)
    """
    keys = None
    if is_frame(X):
        try:
            X = long_table(X)
        except ValueError:
            X = [X]  # the table of one time
    elif isinstance(X, dict):
        X, _, keys = slices_by_time(X, None)
    elif not isinstance(X, Table | list | tuple) and len(getattr(X, "shape", ())) == 2:
        X = [X]
    if isinstance(X, list | tuple) and all(len(getattr(one, "shape", ())) == 2 for one in X):
        if not len(X):
            raise InvalidValue(Argument("X"), " has no slices: give at least one.")
        alone = [_turned(one, names) for one in X]
        pieces = [piece for one in alone for piece in _read([one], None)[0]]
        return Given(pieces, keys if keys is not None else _moments(alone))
    pieces, times = _read(X, dims)
    return Given(pieces, times)


def _read(X: Any, dims: Mapping[str, Hashable] | None) -> tuple[list[Piece], NDArray[Any] | None]:
    if isinstance(X, Table):  # also of one time, of which none can be fitted
        slices: Sequence[Any] = X.slices()
        labels, present, hidden = X.labels, X.present, None
        observed: Sequence[Any] = list(X.sampled())
    else:
        reading = read_in(X, dims=dims, times="even")
        slices, labels, present = reading.slices, reading.labels, reading.present
        hidden = None if reading.is_sparse else reading.missing()
        observed = [None] * len(slices)
    fill = 0.0 if isinstance(X, Table) and X.absent == "zero" else np.nan
    values = [piece.tocsr() if hasattr(piece, "tocsr") else np.array(piece, np.float64) for piece in slices]
    for piece, mask in zip(values, hidden or ()):
        piece[mask] = np.nan
    for k, piece in enumerate(values):
        known = piece[~np.isnan(piece)] if isinstance(piece, np.ndarray) else piece.data
        if not np.isfinite(known).all():
            raise InvalidValue(
                f"slice {k} has infinite values: replace them by numbers, or by NaN if they are missing."
            )
    there = [None] * len(values) if present is None else list(present)
    pieces = [
        Piece(one, labels.rows, labels.columns, fill, *told) for one, *told in zip(values, there, observed)
    ]
    return pieces, labels.time


def _turned(piece: Any, names: Mapping[Mode, str]) -> Any:
    """A table whose dimensions have names, rows first."""
    own = tuple(getattr(piece, "dims", ()))
    rows, columns = names.get("rows"), names.get("columns")
    return piece.transpose(rows, columns) if own == (columns, rows) and rows != columns else piece


def _moments(pieces: Sequence[Any]) -> NDArray[Any] | None:
    """Times of slices of a labelled array, which remember from where they were taken."""
    found = []
    for piece in pieces:
        coords = getattr(piece, "coords", {}) if hasattr(piece, "dims") else {}
        times = [coords[name].values for name in coords if coords[name].ndim == 0 and is_called(name, "time")]
        if len(times) != 1:
            return None
        found.append(times[0])
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Matched:
    """Further slices beside the rows and columns of a fit.

    Attributes
    ----------
    stack : ndarray (m, I, J), optional
        NaN where missing; None where slices are sparse.
    sparse : list of m sparse matrices (I, J)
    rows_seen : ndarray of bool (m, I)
        Rows of sparse slices that were observed.
    columns_seen : ndarray of bool (m, J)
        Columns of sparse slices that were observed.
    columns : ndarray (J,), optional
        Labels of all columns: those of the fit first.
    n_new : int
        How many columns were not there before.
    there : ndarray of bool (m, J), optional
        Which columns there are, where the user says so.
    """

    stack: FloatArray | None
    sparse: list[Any]
    rows_seen: NDArray[np.bool_]
    columns_seen: NDArray[np.bool_]
    columns: NDArray[Any] | None
    n_new: int
    there: NDArray[np.bool_] | None


def match(pieces: Sequence[Piece], result: Result, *, may_enter: bool, sparse: bool) -> Matched:
    """Put slices beside the rows and columns of a fit, by their labels, or by position without these.

    Parameters
    ----------
    pieces : sequence of Piece
    result : Result
    may_enter : bool
        Whether columns that were not there before may come.
    sparse : bool
        Whether sparse slices may stay so.
    """
    _, I, J = result.shape
    names, added = result.labels.columns, _new_columns(pieces, result)
    _require_common(pieces, names, added)
    if len(added) and not may_enter:
        raise InvalidValue(
            f"X has columns that the model does not have ({listed(map(shown, added), _SHOWN)}), and its "
            "patterns do not change in time, so that they cannot enter: fit all data again, or leave them "
            "out."
        )
    width = J + len(added)
    columns = names if names is None or not len(added) else _joined(names, added)
    rows = [_places(piece, result, "rows") for piece in pieces]
    places = [_places(piece, result, "columns", added) for piece in pieces]
    rows_seen, columns_seen = np.zeros((len(pieces), I), bool), np.zeros((len(pieces), width), bool)
    there = np.ones((len(pieces), width), bool)
    for k, piece in enumerate(pieces):
        known = piece.fill == 0
        columns_seen[k] = known
        columns_seen[k, places[k]] = True
        rows_seen[k, rows[k]] = True if piece.observed is None else piece.observed
        columns_seen[k, J:] &= np.isin(np.arange(J, width), places[k])
        if piece.there is not None:
            there[k] = False
            there[k, places[k]] = piece.there
    told = there if any(piece.there is not None for piece in pieces) else None
    if sparse and all(piece.is_sparse for piece in pieces):
        tables = [_placed(piece.values, r, c, (I, width)) for piece, r, c in zip(pieces, rows, places)]
        return Matched(None, tables, rows_seen, columns_seen, columns, len(added), told)
    require_memory(2 * len(pieces) * I * width * np.dtype(np.float64).itemsize, "The further slices")
    stack = np.full((len(pieces), I, width), np.nan)
    for k, piece in enumerate(pieces):
        stack[k][np.ix_(rows_seen[k], columns_seen[k])] = 0.0 if piece.fill == 0 else np.nan
        values = piece.values.toarray() if piece.is_sparse else piece.values
        stack[k][np.ix_(rows[k], places[k])] = values
        stack[k][~rows_seen[k]] = np.nan
    if np.isnan(stack).all():
        raise InvalidValue(Argument("X"), " has no observed entry in any row and column of the model.")
    return Matched(stack, [], rows_seen, columns_seen, columns, len(added), told)


def key(label: object) -> str:
    """What makes labels the same, also where one was read from a file: their text."""
    return label_text(label, _WHOLE)


def _new_columns(pieces: Sequence[Piece], result: Result) -> list[Any]:
    if result.labels.columns is None:
        return []
    known = {key(one) for one in result.labels.columns}
    added: dict[str, Any] = {}
    for piece in pieces:
        for label in () if piece.columns is None else piece.columns:
            if key(label) not in known:
                added.setdefault(key(label), label)
    return list(added.values())


def _require_common(pieces: Sequence[Piece], own: NDArray[Any] | None, added: Sequence[Any]) -> None:
    """Refuse a slice of which the model knows no column: its labels are other ones, or misspelt."""
    new = {key(label) for label in added}
    for piece in pieces:
        if own is None or piece.columns is None or not all(key(label) in new for label in piece.columns):
            continue
        here, there = (listed(map(shown, labels), _SHOWN) for labels in (piece.columns, own))
        raise InvalidValue(f"X and the model have no columns in common: X has {here}, the model {there}.")


def _places(piece: Piece, result: Result, mode: Mode, added: Sequence[Any] = ()) -> NDArray[np.intp]:
    """Where the rows or columns of a slice stand in the model."""
    axis, one = (0, "row") if mode == "rows" else (1, "column")
    size, own = result.shape[1 + axis], getattr(result.labels, mode)
    given, count = getattr(piece, mode), piece.values.shape[axis]
    if own is None or given is None:
        if count != size:
            why = "they have no labels" if given is None else "the model has no labels of them"
            raise InvalidValue(
                f"X has {count} {mode}, but the model has {size}, and {why} to tell which is which: give the "
                f"same {mode} in the same order, NaN where one is missing."
            )
        return np.arange(size)
    known = {key(label): place for place, label in enumerate([*own, *added])}
    texts = [key(label) for label in given]
    if len(set(texts)) < count:
        raise InvalidValue(f"X has a {one} label more than once: give every {one} a label of its own.")
    strange = [label for label, text in zip(given, texts) if text not in known]
    if strange:
        raise InvalidValue(
            f"X has {len(strange)} {mode} that the model does not have "
            f"({listed(map(shown, strange), _SHOWN)}): leave them out, or fit all data again",
            Advice("transform_rows", "; transform gives the loadings of new rows"),
            ".",
        )
    return np.array([known[text] for text in texts], dtype=np.intp)


def _placed(values: Any, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    table = values.tocoo()
    return coo_array((table.data.astype(float), (rows[table.row], columns[table.col])), shape=shape).tocsr()


def _joined(own: NDArray[Any], added: Sequence[Any]) -> NDArray[Any]:
    """Labels of one kind; text where they are of different kinds."""
    more = np.asarray(added)
    if own.dtype.kind == more.dtype.kind or {own.dtype.kind, more.dtype.kind} <= set("iuf"):
        return np.concatenate([own, more])
    return np.array([key(one) for one in (*own, *added)])
