"""What else is known of the rows (region, treatment, age): a table that is joined by row label."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.text import listed, shown
from tparafac2.errors import InvalidType, InvalidValue, ToldWarning
from tparafac2.words import Argument

Attributes: TypeAlias = Mapping[str, NDArray[Any]]
"""Numbers (NaN is missing), or texts as objects (None is missing), one for each row, by name."""

_NAME = Argument("row_attributes")
_DAYS_PER_YEAR = 365.2425


def settled(given: Mapping[Any, Any]) -> dict[str, NDArray[Any]]:
    """Attributes as they are kept: numbers as float64, dates as years, all else as text.

    Examples
    --------
    >>> settled({"age": [3, 5], "fed": [True, None], "born": np.array(["2000-01-01", "NaT"], dtype="M8[D]")})
    {'age': array([3., 5.]), 'fed': array(['yes', None], dtype=object), 'born': array([2000.,   nan])}
    """
    found: dict[str, NDArray[Any]] = {}
    for name, values in given.items():
        text = str(name)
        if text in found:
            raise InvalidValue(_NAME, f" has two columns called {shown(text)}: give each its own name.")
        found[text] = _settled(values)
        found[text].flags.writeable = False
    return found


def _settled(values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidValue(_NAME, f" must have one value for each row; got an array of shape {array.shape}.")
    if array.dtype.kind in "iuf":
        numbers = array.astype(np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    if array.dtype.kind == "M":
        days = array.astype("datetime64[s]").astype(np.int64) / 86_400
        return np.where(np.isnat(array), np.nan, 1970 + days / _DAYS_PER_YEAR)
    if array.dtype.kind == "O" and not any(isinstance(one, str | bool | np.bool_) for one in array):
        numbers_or_none = _numbers(array)
        if numbers_or_none is not None:
            return numbers_or_none
    texts = np.empty(len(array), dtype=object)
    texts[:] = [_text(one) for one in array.tolist()]
    return texts


def _numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    try:
        return np.array([np.nan if _is_missing(one) else float(one) for one in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value == "") or bool(value != value)  # NaN and NaT are no equals
    except TypeError:  # as pandas.NA says
        return True


def join_attributes(
    given: Any, labels: NDArray[Any] | None, n_rows: int, name: str
) -> dict[str, NDArray[Any]]:
    """Bring a table of attributes to the rows.

    Parameters
    ----------
    given : DataFrame, Series, or what pandas.DataFrame takes
        The labels of the rows are in the column that is called as the rows are, else in its index, or (where
        the index merely counts) in the first column. Lines that repeat a row must say the same.
    labels : ndarray (I,), optional
        Of the rows, else these are called 0, 1, 2, ...
    n_rows : int
    name : str
        What the rows are called.

    Returns
    -------
    dict of str to ndarray (I,)
        Rows without a line have missing attributes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"land": ["Peru", "Fiji"], "people": [34.0, 0.9]})
    >>> join_attributes(frame, np.array(["Fiji", "Mali", "Peru"]), 3, "land")
    {'people': array([ 0.9,  nan, 34. ])}
    """
    keys, frame, origin = _keyed(given, labels is not None, name)
    rows = np.arange(n_rows) if labels is None else labels
    names = list(map(str, frame.columns))
    if len(set(names)) < len(names):
        again = next(one for one in names if names.count(one) > 1)
        raise InvalidValue(_NAME, f" has two columns called {shown(again)}: give each its own name.")
    places = _places(keys, frame, rows, origin)
    found: dict[Any, Any] = {}
    for column in frame.columns:
        values = frame[column]
        if not isinstance(values.dtype, np.dtype):  # pandas' own types: categories, missing integers
            values = values.astype(object)
        whole = settled({str(column): values.to_numpy()})[str(column)]
        empty = np.nan if whole.dtype.kind == "f" else None
        matched = np.array([empty if place < 0 else whole[place] for place in places], dtype=whole.dtype)
        found[str(column)] = matched
    return found


def _keyed(given: Any, labelled: bool, name: str) -> tuple[list[Any], Any, str]:
    """Labels of rows, the table without them, and where they were."""
    import pandas as pd

    if isinstance(given, pd.Series):
        given = given.to_frame(given.name if given.name is not None else "attribute")
    try:
        frame = pd.DataFrame(given)
    except (TypeError, ValueError) as error:
        raise InvalidType(
            _NAME, f" must be a DataFrame with a line for each row; got a {type(given).__name__} ({error})."
        ) from None
    counted = isinstance(frame.index, pd.RangeIndex)
    column = name if name in frame.columns else None
    if column is None and counted and labelled and len(frame.columns):
        column = frame.columns[0]
    if column is None:
        origin = "its index"
        keys, frame = list(frame.index), frame.reset_index(drop=True)
    else:
        origin = f"its {'' if column == name else 'first '}column {shown(column)}"
        keys, frame = frame[column].astype(object).tolist(), frame.drop(columns=[column])
    if not len(frame.columns) or not len(frame):
        raise InvalidValue(
            _NAME, " has no attributes: give a column with the row labels, and at least one other."
        )
    return keys, frame, origin


def _places(keys: list[Any], frame: Any, rows: NDArray[Any], origin: str) -> list[int]:
    """The line of each row, -1 where it has none; by equal labels, or, where none is equal, by their text."""
    taken = f"row labels were taken from {origin}"
    lines: dict[Any, int] = {}
    for place, key in enumerate(keys):
        if _is_missing(key):
            continue
        first = lines.setdefault(key, place)
        if first != place and not frame.iloc[first].equals(frame.iloc[place]):
            raise InvalidValue(
                _NAME,
                f" has the row {shown(key)} twice, with different values: give it one line. The {taken}: if "
                "they are elsewhere, put them into the first column.",
            )
    wanted = rows.tolist() if rows.dtype.kind != "M" else list(rows)
    if not any(one in lines for one in wanted):
        lines, wanted = {str(key): place for key, place in lines.items()}, [str(one) for one in wanted]
    known = set(wanted)
    strangers = [key for key in lines if key not in known]
    if len(strangers) == len(lines):
        raise InvalidValue(
            _NAME,
            f" has no row of the data: it has {listed(map(shown, strangers), 3) or 'none'}; the data have "
            f"{listed(map(shown, wanted), 3)}. The {taken}.",
        )
    if strangers:
        warnings.warn(
            ToldWarning(
                _NAME,
                f" has {len(strangers):,} of {len(lines):,} labels that are no rows of the data, and are "
                f"left out: {listed(map(shown, strangers))}.",
            ),
            stacklevel=2,
        )
    return [lines.get(one, -1) for one in wanted]
