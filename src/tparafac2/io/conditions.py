"""One comparison of labels with values, written by people and never run as code."""

import csv
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import shown
from tparafac2.data.times import span_of, times_of_one_kind
from tparafac2.errors import InvalidValue
from tparafac2.io.choosing import nearest
from tparafac2.words import Setting

Mask = NDArray[np.bool_]

MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")
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
        there = np.array([not _is_missing(label) for label in labels], dtype=bool)
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


def read_condition(text: str) -> Condition:
    """Read one comparison, such as ``region=Africa,Asia`` or ``count>=5``.

    Parameters
    ----------
    text : str
        A name, one of ``= != < <= > >=``, and a value; after ``=`` and ``!=`` several with commas, of which
        those that hold commas themselves stand in double quotes.

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


def _is_missing(label: Any) -> bool:
    if isinstance(label, str):
        return label in MISSING_TEXTS
    if label is None or isinstance(label, np.datetime64):
        return label is None or bool(np.isnat(label))
    return isinstance(label, float | np.floating) and math.isnan(label)
