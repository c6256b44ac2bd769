"""The lines of a long table, read column by column."""

from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.cells import PIECE
from tparafac2.data.interface import FloatArray
from tparafac2.data.labels import MODES, Mode
from tparafac2.data.text import listed, shown
from tparafac2.data.times import times_of_one_kind
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.words import Advice, Lines, Part, Setting

# Lines are counted as in a CSV file, where the header is line 1.
At: TypeAlias = NDArray[np.intp] | None

_SHOWN_NAMES = 20
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")


class Piece(NamedTuple):
    """Some lines of a long table.

    Attributes
    ----------
    codes : dict of role to ndarray of int
        Which of the labels that were found each line has, for rows, columns and time.
    values : ndarray of float
        Ones if lines are counted.
    weights : ndarray of float, optional
    at : ndarray of int
        Where the lines stand in the table.
    """

    codes: Mapping[Mode, NDArray[Any]]
    values: FloatArray
    weights: FloatArray | None
    at: NDArray[np.intp]


@runtime_checkable
class LongLines(Protocol):
    """Lines of a long table that can be gone through several times, some at once.

    Attributes
    ----------
    n_lines : int
    memory : int, optional
        Most bytes that may be used.
    """

    n_lines: int
    memory: int | None

    def found(self, role: Mode) -> Any:
        """Every label of rows, columns or time once, in order of appearance, as pandas.factorize has it."""

    def first_line(self, role: Mode, label: int) -> int:
        """Where a label that was found appears first."""

    def pieces(self, *, values: bool = True) -> Iterator[Piece]:
        """All lines in their order; without values these are all one."""


class FrameLines:
    """Lines of a frame.

    Examples
    --------
    >>> lines = FrameLines({"r": ["b", "a", "b"]}, {"rows": "r"})
    >>> list(lines.found("rows")), next(lines.pieces()).codes["rows"]
    (['b', 'a'], array([0, 1, 0]))
    """

    def __init__(self, given: Any, asked: Mapping[str, Hashable]) -> None:
        frame = as_frame(given, asked)
        self.n_lines = len(frame)
        self.memory: int | None = None
        self._coded = {role: _factorise(frame[asked[role]], role) for role in MODES if role in asked}
        self._values = read_values(frame[asked["values"]]) if "values" in asked else None
        self._weights = read_weight_column(frame[asked["weights"]]) if "weights" in asked else None

    def found(self, role: Mode) -> Any:
        """Every label once, in order of appearance."""
        return self._coded[role][1]

    def first_line(self, role: Mode, label: int) -> int:
        """Where a label appears first."""
        return int(np.argmax(self._coded[role][0] == label))

    def pieces(self, *, values: bool = True) -> Iterator[Piece]:
        """All lines, some at once."""
        for first in range(0, self.n_lines, PIECE):
            some = slice(first, min(first + PIECE, self.n_lines))
            codes = {role: codes[some] for role, (codes, _) in self._coded.items()}
            own = np.ones(some.stop - first) if self._values is None or not values else self._values[some]
            weights = None if self._weights is None else self._weights[some]
            yield Piece(codes, own, weights, np.arange(some.start, some.stop))


class Ordered(NamedTuple):
    """Labels in order.

    Attributes
    ----------
    labels : ndarray
        Every label once, in order.
    places : ndarray of int
        Where in `labels` those are that were found, in order of appearance.
    appearance : ndarray of int
        For each label how many others appear before it in the table.
    """

    labels: NDArray[Any]
    places: NDArray[np.intp]
    appearance: NDArray[np.intp]


def as_frame(given: Any, asked: Mapping[str, Hashable]) -> Any:
    """Make a DataFrame of what is given, which has to have lines and each of the columns asked for.

    Parameters
    ----------
    given : DataFrame, or anything pandas.DataFrame takes
    asked : mapping
        Names of columns, by what they are for.

    Examples
    --------
    >>> as_frame({"word": ["ice", "sun"]}, {"columns": "wrod"})
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: columns='wrod' is not a column of the table; did you mean 'word'? It ...
    """
    import pandas as pd

    try:
        frame = given if isinstance(given, pd.DataFrame) else pd.DataFrame(given)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "a DataFrame is needed, or a dict of columns of equal length; "
            f"pandas says of the {type(given).__name__} given: {error}"
        ) from error
    if not len(frame):
        raise ValueError("the table has no lines: there is nothing to decompose.")
    names = list(frame.columns)
    for role, name in asked.items():
        if name not in names:
            raise InvalidValue(*_unknown(role, name, frame), received=name)
        if names.count(name) > 1:
            raise ValueError(
                f"the table has {names.count(name)} columns called {name!r}: rename one of them."
            )
    if len(set(asked.values())) < len(asked):
        given_twice = [part for pair in asked.items() for part in (", ", Setting(*pair))][1:]
        raise InvalidValue(f"{' and '.join(asked)} must be different columns; got ", *given_twice, ".")
    return frame


def ordered_labels(found: Any) -> Ordered:
    """Put row or column labels of any type in order; as they appear, where they have none.

    Parameters
    ----------
    found : pandas Index or ndarray
        Every label once, in order of appearance.

    Examples
    --------
    >>> ordered_labels(np.array(["sun", "ice"], dtype=object))
    Ordered(labels=array(['ice', 'sun'], dtype=object), places=array([1, 0]), appearance=array([1, 0]))
    """
    labels = np.asarray(found)
    order = _order(found, labels)
    return Ordered(labels[order], _inverse(order), order)


def ordered_times(lines: LongLines, name: Hashable) -> Ordered:
    """Read times, which are all numbers or all dates, and put them in order; text is read, too.

    Examples
    --------
    >>> ordered_times(FrameLines({"t": ["11", "2", "11"]}, {"time": "t"}), "t").labels
    array([ 2, 11])
    """
    found = lines.found("time")
    times, usable = times_of_one_kind(found)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise InvalidValue(
            Lines((lines.first_line("time", bad),)),
            f": the time {shown(found[bad])} in {name!r} "
            "cannot be read: times must be all numbers or all dates such as 2024-12-31, 2024-12, 2024Q4 or "
            "2024-W52, of one kind",
            Advice("other_dates", " (pandas.to_datetime reads other forms of dates)"),
            ".",
        )
    labels, places = np.unique(times, return_inverse=True)
    return Ordered(labels, places, np.arange(len(labels)))


def read_values(column: Any, at: At = None) -> FloatArray:
    """Read real numbers; NaN, None and NA mean that the value is missing.

    Parameters
    ----------
    column : pandas Series
    at : ndarray of int, optional
        Where its lines stand in the table, if not from the first on.

    Examples
    --------
    >>> import pandas as pd
    >>> read_values(pd.Series([1, None, 3], dtype=object))
    array([ 1., nan,  3.])
    """
    _require_reals(column, at)
    values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise InvalidValue(
            _first_line(np.isinf(values), at),
            f": the value in {column.name!r} is infinite: "
            "replace it by a number, or by NaN if it is missing.",
        )
    return values


def read_weight_column(column: Any, at: At = None) -> FloatArray:
    """Read numbers that are not negative, and none of which is missing; see `read_values`.

    Examples
    --------
    >>> import pandas as pd
    >>> read_weight_column(pd.Series([1, 2]))
    array([1., 2.])
    """
    weights = read_values(column, at)
    bad = ~(weights >= 0)
    if bad.any():
        raise InvalidValue(
            _first_line(bad, at),
            f": the weight in {column.name!r} is {weights[np.argmax(bad)]:g}: it must be a number, and not "
            "negative.",
        )
    return weights


def missing_label(position: int, name: Hashable, role: str) -> InvalidValue:
    """Say that a line has no label."""
    return InvalidValue(
        Lines((position,)),
        f": {name!r}, which names the {role}, is missing: fill it in, or leave such lines out",
        Advice("dropna", f" with frame.dropna(subset=[{name!r}])"),
        ".",
    )


def _unknown(role: str, name: object, frame: Any) -> list[Part]:
    import difflib

    if name in frame.index.names:
        advice = Advice("reset_index", "make it a column with frame.reset_index()")
        return [Setting(role, name), " is a level of the table's index: ", advice, "."]
    names = list(frame.columns)
    by_text = {str(known).casefold(): known for known in names}
    near = difflib.get_close_matches(str(name).casefold(), by_text, n=1)
    suggestion = f"; did you mean {by_text[near[0]]!r}?" if near else "."
    columns = listed(map(repr, names), _SHOWN_NAMES) or "no columns"
    return [Setting(role, name), f" is not a column of the table{suggestion} It has {columns}."]


def _first_line(where: NDArray[np.bool_], at: At) -> Lines:
    first = int(np.argmax(where))
    return Lines((first if at is None else int(at[first]),))


def _factorise(column: Any, role: str) -> tuple[NDArray[np.intp], Any]:
    """Number the different entries as they appear; what is done with them is then done once for each."""
    import pandas as pd

    try:
        codes, found = pd.factorize(column)
    except TypeError as error:
        raise TypeError(
            f"{role}: {column.name!r} holds what cannot be a label ({error}): use text or numbers."
        ) from error
    if (codes < 0).any():
        raise missing_label(int(np.argmax(codes < 0)), column.name, role)
    return codes, found


def _order(found: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    if getattr(found, "ordered", False):
        return np.argsort(found.codes)
    try:
        return np.argsort(labels, kind="stable")
    except TypeError:
        return np.arange(len(labels))


def _inverse(order: NDArray[np.intp]) -> NDArray[np.intp]:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _require_reals(column: Any, at: At) -> None:
    import pandas as pd

    types = pd.api.types
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return
    entries = column.to_numpy(dtype=object)
    if types.infer_dtype(entries, skipna=True) in _NUMBERS:
        return
    for position, (entry, missing) in enumerate(zip(entries, column.isna())):
        if not missing and not isinstance(entry, Real | Decimal | np.bool_):
            raise InvalidType(
                Lines((position if at is None else int(at[position]),)),
                f": {shown(entry)} in {column.name!r} is not a real number "
                f"but of type {type(entry).__name__}: convert the column first",
                Advice("to_numeric", f", for example with pandas.to_numeric(frame[{column.name!r}])"),
                ".",
                received=entry,
            )
