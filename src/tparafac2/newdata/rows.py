"""Rows that were not in the fit: their loadings, what the model says of them, and how well it does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2 import metrics
from tparafac2.data import (
    Correction,
    DenseData,
    EntryWeightedData,
    FloatArray,
    ObservedData,
    RowWeightedData,
    SliceData,
    SparseData,
    listed,
    padded,
    shown,
)
from tparafac2.errors import InvalidValue
from tparafac2.fitting import require_integer
from tparafac2.large import Stored, stored_if_large, take_stored
from tparafac2.newdata.matching import NOTHING_SAID, Given, NewRows, as_data, matched
from tparafac2.penalties import is_temporal, joins_rows
from tparafac2.preparing import prepare_stored_again, prepares, undo
from tparafac2.result import LostTerm, Result, Terms
from tparafac2.solver import Settings, best_rows, build_problem
from tparafac2.words import Argument, Setting

_BLOCK = 2**24  # entries that sparse rows may have when they are made dense, to hide some of them


def transform(result: Result, X: Any, given: Given = NOTHING_SAID) -> NDArray[np.float64]:
    """Loadings (I_new, R) of rows that were not in the fit; see `Decomposition.transform`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
    >>> result = tp.CP(rank=2, n_starts=2, random_state=0).fit(X).result_
    >>> bool(np.allclose(transform(result, X[:, :3]), result.A[:3], atol=1e-3 * np.abs(result.A).max()))
    True
    """
    terms_of(result)
    if isinstance(X, SliceData):
        return _of_made(result, X)
    stored = stored_if_large(as_data(result, X)[0], given.dims)
    if stored is not None:
        return _of_stored(result, X, stored, given)
    return loadings(result, entries_of(result, matched(result, X, given)))


def inverse_transform(
    result: Result, A: Any, *, prepared: bool = False
) -> NDArray[np.float64] | list[NDArray[np.float64]]:
    """What the model says of rows with these loadings; see `Decomposition.inverse_transform`.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> inverse_transform(result, [[2.0]]).tolist()
    [[[2.0, 2.0, 2.0]], [[2.0, 2.0, 2.0]]]
    """
    loadings = np.asarray(A)
    if loadings.ndim != 2 or loadings.shape[1] != result.rank or loadings.dtype.kind not in "iuf":
        raise InvalidValue(
            Argument("A"),
            f" must be loadings of shape (rows, {result.rank}), as `transform` gives them; got "
            f"{loadings.dtype} of shape {loadings.shape}.",
            received=A,
        )
    fitted = metrics.reconstruct(loadings, result.B, result.C)
    record = result.preparation
    if prepared or record is None or not prepares(record) or isinstance(fitted, list):
        return fitted
    for step, what in (("center", "means"), ("scale", "standard deviations")):
        if record[step] == "rows":
            raise InvalidValue(
                f"each row was prepared by {what} of its own, which loadings do not tell: say ",
                Setting("prepared", True),
                " for values as they were fitted, or use complete(X).",
            )
    return np.asarray(undo(record, fitted), dtype=np.float64)


def score(
    result: Result, X: Any, given: Given = NOTHING_SAID, *, folds: int = 5, random_state: Any = 0
) -> float:
    """Explained variance of entries that the loadings have not seen; see `Decomposition.score`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
    >>> result = tp.CP(rank=2, n_starts=2, random_state=0).fit(X[:, 5:]).result_
    >>> 0.0 < score(result, X[:, :5]) < 1.0
    True
    """
    terms_of(result)
    require_integer("folds", folds, 2)
    rng = np.random.default_rng(random_state)
    squares = errors = 0.0
    for part in _dense_parts(result, matched(result, X, given, "score")):
        here = _folds(part, folds, rng)
        for fold in range(folds):
            hidden = here == fold
            found = loadings(result, part.without(hidden))
            fitted = np.einsum("ir,kjr->ikj", found, _right(result))
            counts = part.counts()[hidden]
            seen = part.values[hidden]
            squares += float((counts * seen**2).sum())
            errors += float((counts * (seen - fitted[hidden]) ** 2).sum())
    if squares == 0.0:
        raise InvalidValue("every entry of X is zero, as it was prepared: there is nothing to be explained.")
    return 1.0 - errors / squares


def terms_of(result: Result) -> Terms:
    """What was asked of the loadings; refuse terms that new rows cannot have."""
    if lost := [term for term in result.terms.A if isinstance(term, LostTerm)]:
        raise InvalidValue(
            f"the penalty {lost[0]!r} on the loadings is not one of this package, and files keep its name "
            "only: fit the model again."
        )
    if joined := [term for term in result.terms.A if joins_rows(term) or is_temporal(term)]:
        raise InvalidValue(
            f"the model has a term on the loadings of all rows together ({type(joined[0]).__name__}), so "
            "that new rows have none of their own: fit all rows again."
        )
    return result.terms


# --- the entries of new rows --------------------------------------------------------------------------------


class Entries(NamedTuple):
    """Rows that are ready to be solved.

    Attributes
    ----------
    labels : ndarray (I,)
    values : ndarray (I, K, J), optional
        As they were prepared, NaN where missing; None where they are sparse.
    weights : ndarray (I, K, J), optional
        Relative to those of the fit, 0 where an entry is missing.
    row_weights : ndarray (I,), optional
        The same, where entries of a row all count alike.
    sparse : NewRows, optional
        Where they are sparse.
    """

    labels: NDArray[Any]
    values: Any = None
    weights: Any = None
    row_weights: Any = None
    sparse: NewRows | None = None

    def without(self, hidden: NDArray[np.bool_]) -> Entries:
        """The same, with some more entries missing."""
        weights = None if self.weights is None else np.where(hidden, 0.0, self.weights)
        return self._replace(values=np.where(hidden, np.nan, self.values), weights=weights)

    def counts(self) -> NDArray[np.float64]:
        """How much every entry counts, (I, K, J)."""
        if self.weights is not None:
            return np.asarray(self.weights)
        rows = np.ones(len(self.labels)) if self.row_weights is None else self.row_weights
        return np.broadcast_to(rows[:, None, None], self.values.shape)

    def data(self, scale: float) -> SliceData:
        """What the solver works on, divided by the norm of the data of the fit."""
        if self.sparse is not None:
            return self._sparse_data(self.sparse, scale)
        values = np.ascontiguousarray(self.values / scale)
        if np.isnan(values).any() or self.weights is not None:
            if self.weights is None and self.row_weights is None:
                return ObservedData(values, scale)
            counts = np.where(np.isnan(values), 0.0, self.counts())
            values[counts == 0] = np.nan
            return EntryWeightedData(values, scale, None, np.ascontiguousarray(counts))
        if self.row_weights is None:
            return DenseData(values, scale)
        roots = np.sqrt(self.row_weights)[:, None, None]
        return RowWeightedData(DenseData(values * roots, scale), self.row_weights)

    def _sparse_data(self, rows: NewRows, scale: float) -> SliceData:
        correction = rows.made.correction
        if self.row_weights is not None:
            correction = (correction or Correction()).divided(1.0 / np.sqrt(self.row_weights), "rows")
        data = SparseData.from_slices(rows.made.values, correction=correction, scale=scale)
        return data if self.row_weights is None else RowWeightedData(data, self.row_weights)


def entries_of(result: Result, rows: NewRows) -> Entries:
    """The rows as they are solved: rows first, entries where the model has no column left out."""
    mean = _mean_weight(result, rows)
    counts = None if rows.row_weights is None else rows.row_weights / mean
    if rows.is_sparse:
        return Entries(rows.labels, row_weights=counts, sparse=rows)
    stack = padded([piece.T for piece in rows.made.values], fill=0.0)  # (K, J, I)
    values = np.array(stack.transpose(2, 0, 1), dtype=np.float64, order="C")
    if result.present is not None:
        values[:, ~result.present] = np.nan
    entries = None
    if rows.entry_weights is not None:
        entries = np.stack(rows.entry_weights).swapaxes(0, 1) / mean
        values[entries == 0] = np.nan
        entries = np.where(np.isnan(values), 0.0, entries)
    return Entries(rows.labels, values, entries, counts)


def _mean_weight(result: Result, rows: NewRows) -> float:
    """What weights are divided by: as at the fit, or so that new ones have a mean of one."""
    if result.weighting is not None:
        return float(result.weighting["mean"])
    if rows.row_weights is not None:
        return float(rows.row_weights.mean())
    if rows.entry_weights is None:
        return 1.0
    counts = np.stack(rows.entry_weights)
    return float(counts[counts > 0].mean())


# --- solving ------------------------------------------------------------------------------------------------


def loadings(result: Result, entries: Entries) -> NDArray[np.float64]:
    """The minimiser of the objective of the fit in the loadings, all else being as it is."""
    if entries.values is not None:
        _require_information(result, entries)
    return solved(result, entries.data(terms_of(result).scale), padded(result.B, fill=0.0), result.C)


def solved(result: Result, data: SliceData, B: FloatArray, C: FloatArray) -> NDArray[np.float64]:
    """Loadings of rows with these patterns and strengths."""
    terms = terms_of(result)
    problem = build_problem(data, result.rank, (terms.A, (), ()), fixed_strengths=terms.fixed_strengths)
    found = best_rows(problem, B.astype(np.float64) * (problem.unit / data.scale), C, Settings())
    return np.asarray(found * problem.unit)


def _require_information(result: Result, entries: Entries) -> None:
    """Refuse rows that were not observed, or too little where nothing else decides."""
    seen = np.count_nonzero(~np.isnan(entries.values), axis=(1, 2))
    _refuse_rows(entries.labels, seen == 0, "never observed, at any time that the model knows")
    alive = int(np.count_nonzero(np.any(_right(result), axis=(0, 1))))
    if all(term.degree == 0 for term in terms_of(result).A):
        what = f"observed at fewer entries than the model has components ({alive})"
        _refuse_rows(entries.labels, seen < alive, what)


def _refuse_rows(labels: NDArray[Any], bad: NDArray[np.bool_], what: str) -> None:
    if bad.any():
        names = listed(map(shown, labels[bad]))
        were = "was" if bad.sum() == 1 else "were"
        raise InvalidValue(
            f"{int(bad.sum())} of {len(bad)} rows {were} {what}: {names}. Leave them out of X: nothing can "
            "be said of them."
        )


def _right(result: Result) -> NDArray[np.float64]:
    return np.asarray(padded(result.B, fill=0.0) * result.C[:, None, :], dtype=np.float64)


# --- larger than memory, or in the form that the solver asks for --------------------------------------------


def _of_made(result: Result, data: SliceData) -> NDArray[np.float64]:
    _require_shape(result, data.shape)
    return solved(result, data, padded(result.B, fill=0.0), result.C)


def _require_shape(result: Result, shape: tuple[int, int, int]) -> None:
    K, _, J = shape
    if result.ragged or (len(result.C), result.shape[2]) != (K, J):
        raise InvalidValue(
            f"X has {K} times and {J} columns, but the model has {len(result.C)} and {result.shape[2]}: give "
            "the same, in the same order."
        )


def _of_stored(result: Result, X: Any, stored: Stored, given: Given) -> NDArray[np.float64]:
    for name in ("mask", "weights"):
        if getattr(given, name) is not None:
            raise InvalidValue(
                Argument(name), " is not for data that are read in blocks of rows: give some rows at a time."
            )
    _require_shape(result, stored.shape)
    for name in ("columns", "time"):
        here, there = getattr(stored.labels, name), getattr(result.labels, name)
        if here is not None and there is not None and [*map(str, here)] != [*map(str, there)]:
            raise InvalidValue(
                f"X has other labels of {name} than the model, or in another order, which is not for data "
                "that are read in blocks of rows: store it in the order of the fit."
            )
    record = result.preparation
    if record is not None and prepares(record) and not as_data(result, X)[1]:
        stored = prepare_stored_again(record, stored)
    intake = take_stored(stored, times="even")
    seen = list(intake.order)
    return solved(result, intake.data, padded(result.B, fill=0.0)[seen], result.C[seen])


# --- entries that are hidden --------------------------------------------------------------------------------


def _dense_parts(result: Result, rows: NewRows) -> Iterator[Entries]:
    """All rows at once, or blocks of sparse rows, which are made dense."""
    if not rows.is_sparse:
        yield entries_of(result, rows)
        return
    mean = _mean_weight(result, rows)
    width = sum(piece.shape[1] for piece in rows.made.values)
    step = max(1, _BLOCK // width)
    tables, correction = [piece.tocsr() for piece in rows.made.values], rows.made.correction
    for first in range(0, rows.n_rows, step):
        which = np.arange(first, min(first + step, rows.n_rows))
        pieces = [table[which] for table in tables]
        if correction is None:
            dense = [piece.toarray() for piece in pieces]
        else:
            own = correction.of_rows(which)
            dense = [own.dense(piece, k) for k, piece in enumerate(pieces)]
        values = padded([piece.T for piece in dense], fill=0.0).transpose(2, 0, 1)
        counts = None if rows.row_weights is None else rows.row_weights[which] / mean
        yield Entries(rows.labels[which], np.array(values, dtype=np.float64, order="C"), None, counts)


def _folds(part: Entries, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """In which fold each observed entry is hidden, (I, K, J); -1 where nothing was observed.

    Every row has about as many of its entries in each.
    """
    found = np.full(part.values.shape, -1, dtype=np.int64)
    for row, own in zip(part.values, found):
        seen = ~np.isnan(row)
        own[seen] = rng.permutation(math.floor(seen.sum())) % folds
    return found
