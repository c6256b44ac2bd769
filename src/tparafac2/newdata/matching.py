"""New rows, brought to the columns, times and preparation of a fit, or refused with a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Reading, Table, listed, read_in, require_memory, shown
from tparafac2.data.frames import is_frame, long_table
from tparafac2.data.labels import named_array
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.large import Stored
from tparafac2.preparing import (
    Adjustment,
    Prepared,
    PreparedAgain,
    as_preparation,
    as_prepared,
    describe_record,
    prepare_again,
    prepare_sparse_again,
    prepares,
)
from tparafac2.result import Result
from tparafac2.words import Advice, Argument, Part, Setting

_SAME = 1e-9
"""Share of their size up to which means and deviations of two preparations are the same."""


@dataclass(frozen=True)
class Given:
    """What is said of new rows beside the rows themselves, as in `fit`.

    Attributes
    ----------
    dims, mask, times, weights
        As in `fit`.
    unknown : "refuse" or "drop"
        What becomes of columns and times that the model does not know.
    """

    dims: Mapping[str, Hashable] | None = None
    mask: Any = None
    times: Any = None
    weights: Any = None
    unknown: str = "refuse"

    def __post_init__(self) -> None:
        if self.unknown not in ("refuse", "drop"):
            raise InvalidValue(
                Argument("unknown"),
                f" must be 'refuse' or 'drop'; got {self.unknown!r:.60}.",
                received=self.unknown,
            )


NOTHING_SAID = Given()


class Order(NamedTuple):
    """Where times and columns of the model are among those of the user; -1 where they are not.

    Attributes
    ----------
    times : ndarray (K,)
    columns : ndarray (J,), or None
        None: as they are.
    """

    times: NDArray[np.intp]
    columns: NDArray[np.intp] | None

    def keeps(self, n_times: int, n_columns: int) -> bool:
        """Whether all is in the order of the model already."""
        same = np.array_equal(self.times, np.arange(n_times))
        return same and (self.columns is None or np.array_equal(self.columns, np.arange(n_columns)))


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows in the order of the model's times and columns.

    Attributes
    ----------
    reading : Reading
        As the user has them.
    order : Order
    raw : list of K ndarrays (I, J_k), NaN where missing, or of K sparse arrays
        In the user's units.
    made : PreparedAgain
        The same, prepared as the data of the fit.
    row_weights, entry_weights : ndarray (I,), and list of K ndarrays (I, J), optional
        By the user's numbers.
    """

    reading: Reading
    order: Order
    raw: list[Any]
    made: PreparedAgain
    row_weights: NDArray[np.float64] | None = None
    entry_weights: list[NDArray[np.float64]] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether what was prepared is sparse."""
        return not isinstance(self.made.values[0], np.ndarray)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.raw[0].shape[0])

    @property
    def labels(self) -> NDArray[Any]:
        """Labels of the rows, or their numbers."""
        return self.reading.labels.coordinate("rows", self.n_rows)

    @cached_property
    def missing(self) -> list[NDArray[np.bool_]]:
        """Where entries of dense slices are missing."""
        return [np.isnan(piece) for piece in self.raw]


def matched(result: Result, X: Any, given: Given, asked: str = "transform") -> NewRows:
    """New rows as the data of the fit were, for what was `asked` for; see `Decomposition.transform`."""
    X, prepared = as_data(result, X)
    if isinstance(X, Stored):
        raise InvalidValue(
            f"{asked} needs rows that fit in memory, and X is read in blocks of rows: give some rows at a "
            f"time, or {asked}(X.sample(1000)) for rows that are drawn at random."
        )
    X = long_table(X) if is_frame(X) and given.dims is None else X
    table = X if isinstance(X, Table) and not prepared else None
    reading = _read(X, given)
    order = _order(result, reading, given.unknown, table)
    if table is not None:
        _tell_of_absent(result, order, table)
    if reading.is_sparse and (order.times < 0).any():
        reading = _made_dense(reading, len(order.times))
    zero = table is None or _takes_as_zero(table)
    raw = _sparse(reading, order) if reading.is_sparse else _dense(reading, order, zero)
    _require_widths(result, raw)
    counts, entries = reading.weights
    if entries is not None:
        nothing = np.zeros_like(entries[0])
        entries = [_columns(nothing if k < 0 else entries[k], order.columns, 0.0) for k in order.times]
    made = _prepared(None if prepared else result.preparation, reading, raw)
    return NewRows(reading, order, raw, made, counts, entries)


def _read(X: Any, given: Given) -> Reading:
    said = {"mask": given.mask, "times": given.times, "weights": given.weights}
    if not isinstance(X, Table) or X.shape[0] > 1:
        return read_in(X, dims=given.dims, **said)
    # No model can be fitted to a table of one time, but loadings can be told by it.
    said["weights"] = X.counts if given.weights is None else given.weights
    slices = [one if isinstance(one, np.ndarray) else one.toarray() for one in X.slices()]
    return read_in(named_array(np.stack(slices), X.labels), **said)._replace(labels=X.labels)


def as_data(result: Result, X: Any) -> tuple[Any, bool]:
    """The data themselves, and whether they were prepared already, as those of the fit were."""
    X = as_prepared(X)
    if not isinstance(X, Prepared):
        return X, False
    record, fitted = X.as_dict(), result.preparation
    if not prepares(record):
        return X.data, False
    if not prepares(fitted) or fitted is None:
        raise InvalidValue(
            f"X was prepared ({_said(record)}), but the data of the fit were not: give it as it was before."
        )
    if as_preparation(record) != as_preparation(fitted):
        raise InvalidValue(
            f"X was prepared otherwise ({_said(record)}) than the data of the fit ({_said(fitted)}): give it "
            "as it was before, and the model prepares it itself."
        )
    for step, numbers in (("center", "centers"), ("scale", "scales")):
        if record[step] in ("columns", "time") and not _alike(record[numbers], fitted[numbers]):
            what = "means" if step == "center" else "standard deviations"
            raise InvalidValue(
                f"X was prepared by {what} of its own, and not by those of the fit: give it as it was "
                "before, and the model prepares it itself."
            )
    return X.data, True


def _said(record: Mapping[str, Any]) -> str:
    return describe_record({**record, "selection": ""}).rstrip(".")


def _alike(given: Sequence[float], fitted: Sequence[float]) -> bool:
    here, there = np.asarray(given), np.asarray(fitted)
    return here.shape == there.shape and bool(
        np.allclose(here, there, rtol=_SAME, atol=_SAME * np.abs(there).max())
    )


def _prepared(record: Mapping[str, Any] | None, reading: Reading, raw: list[Any]) -> PreparedAgain:
    if reading.is_sparse:
        if record is None or not prepares(record):
            return PreparedAgain(raw, Adjustment(), reading.correction)
        if "clr" not in (as_preparation(record).transform or ()):
            return prepare_sparse_again(record, raw, reading.labels)
        raw = [piece.toarray() for piece in raw]
    if record is None or not prepares(record):
        return PreparedAgain(raw, Adjustment())
    require_memory(3 * 8 * len(raw) * raw[0].size, "Preparing the data as dense slices")
    return prepare_again(record, np.stack(raw), reading.labels)


# --- times and columns --------------------------------------------------------------------------------------


def _order(result: Result, reading: Reading, unknown: str, table: Table | None) -> Order:
    names = reading.labels.columns, result.labels.columns
    columns = None
    if names[0] is not None and names[1] is not None and not result.ragged:
        columns = _places("columns", names[0], names[1], unknown, table)
    return Order(_times(result, reading, unknown, table), columns)


def _times(result: Result, reading: Reading, unknown: str, table: Table | None) -> NDArray[np.intp]:
    K, n = len(result.C), len(reading.slices)
    if reading.times is not None and result.times is not None:
        labels = reading.labels.coordinate("time", n), result.labels.coordinate("time", K)
        return _places("time", *labels, unknown, table, (reading.times, result.times))
    given, fitted = reading.labels.time, result.labels.time
    if given is not None and fitted is not None:
        return _places("time", given, fitted, unknown, table)
    if n != K:
        raise InvalidValue(
            f"X has {n} times, but the model has {K}: give one slice for each, all of it "
            "missing (NaN) where a time was not observed."
        )
    return np.arange(K)


def _places(
    mode: str,
    given: NDArray[Any],
    fitted: NDArray[Any],
    unknown: str,
    table: Table | None,
    numbers: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> NDArray[np.intp]:
    """Where what the model has is among what is given; what a long table lacks is absent there: -1."""
    here, there = (list(keys) for keys in numbers or (map(str, given), map(str, fitted)))
    if here == there:
        return np.arange(len(there))
    _require_apart(mode, here)
    at = {key: place for place, key in enumerate(here)}
    places = np.array([at.get(key, -1) for key in there], dtype=np.intp)
    known = set(there)
    surplus = [label for key, label in zip(here, given) if key not in known]
    what = "times" if mode == "time" else mode
    if (places < 0).all():
        raise InvalidValue(
            f"X and the model have no {what} in common: X has {_few(given)}, the model {_few(fitted)}."
        )
    if (places < 0).any() and table is None:
        lacking = [fitted[place] for place in np.flatnonzero(places < 0)]
        also = f", and has others: {_few(surplus)}" if surplus else ""
        raise InvalidValue(
            f"X lacks {len(lacking):,} of the {len(fitted):,} {what} of the model: {_few(lacking)}{also}. "
            f"Give all {what} of the fit, with NaN where nothing was observed."
        )
    if surplus and unknown == "refuse":
        some = f"{len(surplus):,} {what if len(surplus) > 1 else what[:-1]}"
        raise InvalidValue(
            f"X has {some} that the model does not know: {_few(surplus)}. Leave them out",
            Advice("drop_unknown", ", or say unknown='drop'"),
            ".",
        )
    return places


def _require_apart(mode: str, keys: list[Any]) -> None:
    if len(set(keys)) < len(keys):
        again = sorted({key for key in keys if keys.count(key) > 1})
        raise InvalidValue(
            f"X has {_few(again)} more than once among its labels of {mode}, and cannot be matched with the "
            "model by them: give every one a label of its own, or arrays without labels in the order of the "
            "fit."
        )


def _few(labels: Any) -> str:
    return listed(map(shown, labels), 5)


# --- what a long table has no line of -----------------------------------------------------------------------


def _takes_as_zero(table: Table) -> bool:
    return table.absent in ("zero", "rows")


def _tell_of_absent(result: Result, order: Order, table: Table) -> None:
    """Say which times and columns have no line, and how they are taken; refuse if most columns have none."""
    told: list[Part] = []
    if (order.times < 0).any():
        labels = result.labels.coordinate("time", len(order.times))
        told += [_without_line("times", labels, order.times), " Times without any line are taken as missing."]
    if order.columns is not None and (order.columns < 0).any():
        labels = result.labels.coordinate("columns", len(order.columns))
        lacking = _without_line("columns", labels, order.columns)
        if not _takes_as_zero(table):
            how: list[Part] = [" These are taken as missing."]
        elif 2 * np.count_nonzero(order.columns < 0) > len(order.columns):
            raise InvalidValue(
                lacking,
                " Too few are there to take all others as zero: give the columns of the fit, or say ",
                Setting("absent", "missing"),
                " if these were not observed.",
            )
        else:
            how = [" These are taken as zero: say ", Setting("absent", "missing"), " if not observed."]
        told += [" " if told else "", lacking, *how]
    if told:
        warnings.warn(ToldWarning(*told), stacklevel=5)


def _without_line(what: str, labels: NDArray[Any], places: NDArray[np.intp]) -> str:
    lacking = labels[places < 0]
    return f"X has no line of {len(lacking):,} of the {len(labels):,} {what} of the model: {_few(lacking)}."


def _made_dense(reading: Reading, n_times: int) -> Reading:
    """Slices beside which others may be missing: sparse ones have no place for that."""
    shape = reading.slices[0].shape
    advice = "X lacks times of the model, which are missing: give some rows at a time."
    require_memory(8 * n_times * shape[0] * shape[1], "The dense slices", [advice])
    return reading._replace(slices=[piece.toarray() for piece in reading.slices])


# --- in the order of the model ------------------------------------------------------------------------------


def _columns(piece: NDArray[Any], places: NDArray[np.intp] | None, fill: float) -> NDArray[Any]:
    if places is None:
        return piece
    found = piece[:, places]
    found[:, places < 0] = fill
    if (places < 0).any():  # of a row that was not observed at all, they were not either
        found[np.isnan(piece).all(axis=1)] = np.nan
    return found


def _dense(reading: Reading, order: Order, zero: bool) -> list[FloatArray]:
    """Slices in the order of the model, with NaN where entries are missing; what is not there is absent."""
    shape = reading.slices[0].shape
    require_memory(8 * len(order.times) * shape[0] * shape[1], "The working copy of X")
    hidden, fill = reading.missing(), 0.0 if zero else np.nan
    made = []
    for k in order.times:
        if k < 0:
            J = shape[1] if order.columns is None else len(order.columns)
            made.append(np.full((shape[0], J), np.nan))
            continue
        piece = np.array(reading.slices[k], dtype=np.float64)
        if hidden is not None:
            piece[hidden[k]] = np.nan
        if np.isinf(piece).any():
            raise InvalidValue("X has infinite values: replace them by finite numbers, or by NaN if missing.")
        made.append(_columns(piece, order.columns, fill))
    return made


def _sparse(reading: Reading, order: Order) -> list[Any]:
    import scipy.sparse

    pieces = [piece.tocsr() for piece in reading.slices]
    if any(not np.isfinite(piece.data).all() for piece in pieces):
        raise InvalidValue("X has values that are missing or infinite: missing values need dense input.")
    if reading.correction is not None and not order.keeps(len(pieces), pieces[0].shape[1]):
        raise InvalidValue(
            "X was prepared, and has other columns or times than the data of the fit, or in another order: "
            "give it as it was before."
        )
    if order.columns is not None:
        there = np.flatnonzero(order.columns >= 0)
        shape = pieces[0].shape[1], len(order.columns)
        chosen = scipy.sparse.csr_array((np.ones(len(there)), (order.columns[there], there)), shape=shape)
        pieces = [piece @ chosen for piece in pieces]
    return [pieces[k] for k in order.times]


def _require_widths(result: Result, slices: Sequence[Any]) -> None:
    widths = tuple(piece.shape[1] for piece in slices)
    if widths == result.widths:
        return
    here, there = (
        f"{min(some)}" if min(some) == max(some) else f"{min(some)} to {max(some)}"
        for some in (widths, result.widths)
    )
    raise InvalidValue(
        f"X has {here} columns, but the model has {there}: give the same columns in the same order",
        Advice("or_labels", ", or with labels, which are matched by name"),
        ".",
    )
