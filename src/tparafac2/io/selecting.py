"""Which lines of a table, or labels of an array, are kept: by comparisons, which are never run as code."""

from __future__ import annotations

import csv
import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import listed, shown
from tparafac2.data.cells import largest
from tparafac2.data.labels import AXES, MODES, SELECTION, Mode, dated_dims, resolve_dims, told_largest
from tparafac2.data.times import span_of, times_of_one_kind
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.io.textfiles import MISSING_TEXTS, SHOWN_COLUMNS
from tparafac2.words import Argument, Part, Setting

if TYPE_CHECKING:
    import xarray as xr

Mask = NDArray[np.bool_]

_MANY = {"time": "times"}
_CONDITION = re.compile(r"\s*(.*?)\s*(!=|<=|>=|==|=|<|>)(.*)", re.DOTALL)
_ORDERS: Mapping[str, Callable[[Any, Any, Any], Mask]] = {
    ">=": lambda labels, first, last: np.asarray(labels >= first),
    ">": lambda labels, first, last: np.asarray(labels > last),
    "<=": lambda labels, first, last: np.asarray(labels <= last),
    "<": lambda labels, first, last: np.asarray(labels < first),
}


class Condition(NamedTuple):
    """One comparison: a name, an operator, and what to compare with."""

    name: str
    operator: str
    values: tuple[Any, ...]
    said: Setting

    def of(self, labels: NDArray[Any]) -> Mask:
        """Tell of different labels which fulfil it; missing ones never do."""
        there = _there(labels)
        holds = np.zeros(len(labels), dtype=bool)
        if self.operator in _ORDERS:
            first, last = self._span(ordered := self._ordered(labels[there]), self.values[0])
            holds[there] = _ORDERS[self.operator](ordered, first, last)
            return holds
        holds[there] = np.any([self._equal(labels[there], value) for value in self.values], axis=0)
        return holds if self.operator == "=" else there & ~holds

    def _equal(self, labels: NDArray[Any], value: Any) -> Mask:
        if labels.dtype.kind in "iufM":
            first, last = self._span(labels, value)
            found = np.asarray((labels >= first) & (labels <= last))
        else:
            found = np.array([str(label) == str(value) for label in labels], dtype=bool)
        if not found.any():
            near = nearest(str(value), {str(label): None for label in labels})
            raise InvalidValue(self.said, f": there is no {value!r} in {self.name!r}{near}")
        return found

    def _ordered(self, labels: NDArray[Any]) -> NDArray[Any]:
        if labels.dtype.kind in "iufM":
            return labels
        times, usable = times_of_one_kind(labels)
        if not usable.all() or times.dtype.kind not in "iufM":
            bad = labels[int(np.argmin(usable))]
            raise InvalidValue(
                self.said,
                f": {self.name!r} holds {shown(bad)}, which is neither a number nor a date: only "
                "= and != can be used.",
            )
        return times

    def _span(self, labels: NDArray[Any], value: Any) -> tuple[Any, Any]:
        try:
            return span_of(value, dates=labels.dtype.kind == "M")
        except ValueError as error:
            raise InvalidValue(self.said, f": {self.name!r} holds {error}") from None


class Rule(NamedTuple):
    """What the entries of one column of a long table have to fulfil.

    Attributes
    ----------
    name : str
        Of the column.
    holds : callable
        Tells it of all different entries.
    by_order : bool
        Whether it can be told of each number, or date, without the others.
    missing : bool
        Whether what is missing fulfils it.
    """

    name: str
    holds: Callable[[NDArray[Any]], Mask]
    by_order: bool
    missing: bool = False


def read_condition(text: str) -> Condition:
    """Read one comparison: a name, one of ``= != < <= > >=``, and a value.

    After ``=`` and ``!=`` there may be several with commas, of which those that hold commas themselves stand
    in double quotes.

    Examples
    --------
    >>> read_condition('land="Korea, South",Japan').values
    ('Korea, South', 'Japan')
    """
    said = Setting("where", text)
    found = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    if found is None or not found[1]:
        raise InvalidValue(
            said,
            " is no comparison: write a name, one of = != < <= > >=, and a value, for example "
            "region=Africa,Asia or count>=5.",
        )
    name, sign, rest = found[1], found[2].replace("==", "="), found[3]
    values = tuple(value.strip() for value in next(csv.reader([rest], skipinitialspace=True), []))
    if not values or "" in values:
        raise InvalidValue(said, f" compares with nothing: write a value after {sign}, and between commas.")
    if sign in _ORDERS and len(values) > 1:
        raise InvalidValue(said, f" compares with several values: after {sign} there can be one only.")
    return Condition(name, sign, values, said)


def _places(kept: Mask) -> slice | NDArray[np.intp]:
    """Where it is true: a slice, if that is all in one piece, so that what is on disk is read in one."""
    places = np.flatnonzero(kept)
    whole = len(places) > 0 and len(places) == places[-1] - places[0] + 1
    return slice(int(places[0]), int(places[-1]) + 1) if whole else places


def _there(labels: NDArray[Any]) -> Mask:
    if labels.dtype.kind in "iufM":
        return np.asarray(labels == labels)  # NaN and NaT are no equals of themselves
    return np.array([not _is_missing(label) for label in labels], dtype=bool)


def _is_missing(label: Any) -> bool:
    if isinstance(label, str):
        return label in MISSING_TEXTS
    if label is None or isinstance(label, np.datetime64):
        return label is None or bool(np.isnat(label))
    return isinstance(label, float | np.floating) and math.isnan(label)


def nearest(name: str, known: Mapping[str, object]) -> str:
    """Suggest the name that was meant, if there is one like it, and end the sentence.

    Examples
    --------
    >>> nearest("Yaer", {"year": 0}), nearest("x", {"year": 0})
    ("; did you mean 'year'?", '.')
    """
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else "."


def in_turn(settings: Iterable[Setting], last: str = " and ") -> list[Part]:
    """Settings for a sentence, with commas between them.

    Examples
    --------
    >>> InvalidValue("say ", *in_turn(map(Setting, ("rows", "columns", "time"))), ".")
    InvalidValue('say rows=, columns= and time=.')
    """
    parts = [part for setting in settings for part in (", ", setting)][1:]
    return [*parts[:-2], last, parts[-1]] if len(parts) > 1 else list(parts)


@dataclass(frozen=True)
class Selection:
    """What is kept of data, for `read`.

    Parameters
    ----------
    since, until : number, date, or text of one, optional
        The first and the last time that is kept. Of dates, ``2020`` is the whole year, ``2020-05`` the whole
        month, ``2020Q2`` and ``2020-W18`` the quarter and the week.
    where : str, or sequence of str
        Comparisons that all have to hold, such as ``region=Africa,Asia``, ``region!=Asia`` or ``count>=5``.
        In a long table they name any of its columns, of an array a dimension, whose labels are compared. What
        is missing fulfils none.
    without_columns : sequence of labels, or Path
        Columns that are left out, each of which must be there; or a text file with one on each line, such as
        a list of stop words, of which at least one must be there.

    Examples
    --------
    >>> Selection(since=1990, where="region=Africa").describe()
    'since 1990, where region=Africa'
    >>> Selection(since=1990, until=1980)
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: since=1990 comes after until=1980: nothing lies between.
    """

    since: Any = None
    until: Any = None
    where: str | Sequence[str] = ()
    without_columns: Sequence[Any] | Path = ()

    def __post_init__(self) -> None:
        if isinstance(self.without_columns, str):
            raise InvalidType(
                Argument("without_columns"),
                f" must be a sequence of labels, or a Path; got {self.without_columns!r}.",
                received=self.without_columns,
            )
        _ = self.conditions
        bounds = {name: bound for name in ("since", "until") if (bound := getattr(self, name)) is not None}
        spans = _spans(bounds)
        if len(spans) == 2 and spans[0][0] > spans[1][1]:
            raise InvalidValue(
                Setting("since", self.since),
                " comes after ",
                Setting("until", self.until),
                ": nothing lies between.",
            )

    @property
    def conditions(self) -> list[Condition]:
        """The comparisons of `where`."""
        texts = [self.where] if isinstance(self.where, str) else self.where
        return [read_condition(text) for text in texts]

    def __bool__(self) -> bool:
        return self != Selection()

    def describe(self) -> str:
        """Say what is kept, in the user's words."""
        parts = [
            f"{name} {value}"
            for name, value in (("since", self.since), ("until", self.until))
            if value is not None
        ]
        parts += [f"where {condition.said.value}" for condition in self.conditions]
        if isinstance(self.without_columns, Path):
            parts.append(f"without the columns in {str(self.without_columns)!r}")
        elif n := len(self.without_columns):
            parts.append(f"without {n:,} column{'s' if n > 1 else ''}")
        return ", ".join(parts)

    def require_columns(self, names: Iterable[str], asked: Mapping[str, str]) -> list[str]:
        """Names of the columns of a long table that are compared; those that it does not have are refused."""
        known = {str(name): None for name in names}
        for condition in self.conditions:
            if condition.name not in known:
                raise InvalidValue(
                    condition.said,
                    f": {condition.name!r} is not a column of the table"
                    f"{nearest(condition.name, known)} It has {listed(map(shown, known), SHOWN_COLUMNS)}.",
                )
        for given, mode in ((self._bounds, "time"), (len(self._left_out()), "columns")):
            if given and mode not in asked:
                raise InvalidValue(Setting(mode), f" must say which column has the {_MANY.get(mode, mode)}.")
        return [condition.name for condition in self.conditions]

    def rules(self, asked: Mapping[str, str]) -> list[Rule]:
        """What lines of a long table are kept by; `asked` has names of columns by what they are for."""
        conditions = [*self.conditions, *self._bounding(asked.get("time", "time"))]
        rules = [Rule(one.name, one.of, one.operator in _ORDERS) for one in conditions]
        if len(self._left_out()):
            rules.append(Rule(asked["columns"], self._stays, False, True))
        return rules

    def lines(self, frame: Any, asked: Mapping[str, str]) -> Mask:
        """Tell which lines of a long table are kept."""
        import pandas as pd

        kept = np.ones(len(frame), dtype=bool)
        for rule in self.rules(asked):
            codes, labels = pd.factorize(frame[rule.name])
            kept &= np.append(rule.holds(np.asarray(labels)), rule.missing)[codes]
        self.require_some(bool(kept.any()))
        return kept

    def require_some(self, some: bool) -> None:
        """Refuse to keep nothing."""
        if not some:
            raise ValueError(f"nothing is left {self.describe()}: keep more.")

    def of_array(self, file: str, array: xr.DataArray) -> xr.DataArray:
        """Keep what is asked for of an array, which then says so in an attribute."""
        dims = resolve_dims(array.dims, None, dated_dims(array))
        kept = {mode: np.ones(array.sizes[dim], dtype=bool) for mode, dim in dims.items()}
        modes: dict[str, Mode] = {str(dim): mode for mode, dim in dims.items()} | {one: one for one in MODES}
        for condition in [*self.conditions, *self._bounding(str(dims["time"]))]:
            if condition.name not in modes:
                raise InvalidValue(
                    condition.said,
                    f": {condition.name!r} is not a dimension of {file!r}"
                    f"{nearest(condition.name, modes)} It has {', '.join(map(repr, map(str, array.dims)))}.",
                )
            mode = modes[condition.name]
            kept[mode] &= condition.of(_labels(file, array, dims[mode], mode))
        if len(self._left_out()):
            kept["columns"] &= self._stays(_labels(file, array, dims["columns"], "columns"))
        counts = {mode: int(mask.sum()) for mode, mask in kept.items()}
        for mode, least in (("rows", 1), ("columns", 1), ("time", 2)):
            if counts[mode] < least:
                left = "no" if not counts[mode] else "one"
                what = _MANY.get(mode, mode) if not counts[mode] else mode
                raise ValueError(f"{file!r}: {left} {what} left {self.describe()}: keep more.")
        chosen = array.isel({dims[mode]: _places(mask) for mode, mask in kept.items()})
        sizes = {str(mode): (counts[mode], len(mask)) for mode, mask in kept.items()}
        return chosen.assign_attrs({SELECTION: self.account(sizes)})

    def account(self, sizes: Mapping[str, tuple[int, int]]) -> str:
        """Say how many were kept of how many."""
        parts = [
            f"{now:,} of {before:,} {_MANY.get(what, what)}"
            for what, (now, before) in sizes.items()
            if now < before
        ]
        return f"kept {', '.join(parts) or 'everything'} ({self.describe()})"

    @property
    def _bounds(self) -> bool:
        return self.since is not None or self.until is not None

    def _bounding(self, name: str) -> list[Condition]:
        return [
            Condition(name, sign, (bound,), Setting(said, bound))
            for said, bound, sign in (("since", self.since, ">="), ("until", self.until, "<="))
            if bound is not None
        ]

    def _left_out(self) -> list[str]:
        if not isinstance(self.without_columns, Path):
            return [str(label) for label in self.without_columns]
        lines = self.without_columns.read_text(encoding="utf-8-sig").splitlines()
        names = [line.strip() for line in lines if line.strip()]
        if not names:
            raise ValueError(f"{str(self.without_columns)!r} names no column: write one on each line.")
        return names

    def _stays(self, labels: NDArray[Any]) -> Mask:
        texts = {_text(label): None for label in labels}
        names = self._left_out()
        unknown = [name for name in names if name not in texts]
        if unknown and (len(unknown) == len(names) or not isinstance(self.without_columns, Path)):
            raise InvalidValue(
                Argument("without_columns"),
                f": there is no column {unknown[0]!r}{nearest(unknown[0], texts)}",
                received=unknown[0],
            )
        gone = set(names)
        return np.array([_text(label) not in gone for label in labels], dtype=bool)


def top_columns(array: xr.DataArray, count: int, by: str) -> xr.DataArray:
    """Keep the largest columns of an array, as `Table` does of a long table.

    Examples
    --------
    >>> import xarray as xr
    >>> X = xr.DataArray([[[1.0, 0.0, 2.0]], [[1.0, 5.0, 2.0]]], dims=("time", "rows", "columns"))
    >>> top_columns(X, 1, "time").values.ravel(), top_columns(X, 2, "total").sizes["columns"]
    (array([0., 5.]), 2)
    """
    dims = resolve_dims(array.dims, None, dated_dims(array))
    J = array.sizes[dims["columns"]]
    if count >= J:
        return array
    per_time = np.nansum(np.abs(array.values), axis=AXES["rows"])
    sizes = per_time.sum(axis=0)[None] if by == "total" else per_time
    kept, share = largest(sizes, count, np.arange(J))
    before, told = array.attrs.get(SELECTION), told_largest(count, J, share)
    chosen = array.isel({dims["columns"]: kept})
    return chosen.assign_attrs({SELECTION: f"{before}; {told}" if before else told})


def _labels(file: str, array: xr.DataArray, dim: Any, mode: str) -> NDArray[Any]:
    if dim not in array.coords:
        raise ValueError(f"the {_MANY.get(mode, mode)} of {file!r} have no labels to choose by.")
    return np.asarray(array.coords[dim].values)


def _spans(bounds: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Bounds before the data are known, which will say whether 2020 is a number or a year."""
    for dates in (False, True):
        try:
            return [span_of(bound, dates=dates) for bound in bounds.values()]
        except ValueError:
            continue
    raise InvalidValue(
        *in_turn(Setting(*bound) for bound in bounds.items()),
        " cannot be used: give numbers, or dates such as 2024-12-31 or 2024-12, of one kind.",
    )


def _text(label: Any) -> str:
    if isinstance(label, np.datetime64):
        return str(np.datetime_as_string(label, unit="auto"))
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)
