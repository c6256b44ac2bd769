"""The lines of a long table, read column by column, and the cells of the slices that they fill."""

from collections.abc import Hashable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray
from tparafac2.data.memory import require_memory
from tparafac2.data.text import listed, shown
from tparafac2.data.times import times_of_one_kind
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.words import Advice, Lines, Part, Setting

# Lines are counted as in a CSV file, where the header is line 1.
_SHOWN_NAMES = 20
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")


class Coded(NamedTuple):
    """One column of labels.

    Attributes
    ----------
    codes : ndarray of int (n_lines,)
        Position in `labels` of what each line has.
    labels : ndarray
        Every label once, in order.
    appearance : ndarray of int
        For each label how many others appear before it in the table.
    """

    codes: NDArray[np.intp]
    labels: NDArray[Any]
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


def read_labels(column: Any, role: str) -> Coded:
    """Read row or column labels of any type; sorted, or in order of appearance where they cannot be.

    Parameters
    ----------
    column : pandas Series
    role : str
        What the column is for.

    Examples
    --------
    >>> import pandas as pd
    >>> read_labels(pd.Series(["sun", "ice", "sun"], dtype=object), "columns")
    Coded(codes=array([1, 0, 1]), labels=array(['ice', 'sun'], dtype=object), appearance=array([1, 0]))
    """
    codes, found = _factorise(column, role)
    labels = np.asarray(found)
    order = _order(found, labels)
    return Coded(_inverse(order)[codes], labels[order], order)


def read_time_column(column: Any) -> Coded:
    """Read times, which are all numbers or all dates, and put them in order; text is read, too.

    Examples
    --------
    >>> import pandas as pd
    >>> read_time_column(pd.Series(["11", "2", "11"])).labels
    array([ 2, 11])
    """
    codes, found = _factorise(column, "time")
    times, usable = times_of_one_kind(found)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise InvalidValue(
            _first_line(codes == bad),
            f": the time {shown(found[bad])} in {column.name!r} "
            "cannot be read: times must be all numbers or all dates such as 2024-12-31, 2024-12, 2024Q4 or "
            "2024-W52, of one kind",
            Advice("other_dates", " (pandas.to_datetime reads other forms of dates)"),
            ".",
        )
    labels, places = np.unique(times, return_inverse=True)
    return Coded(places[codes], labels, np.arange(len(labels)))


def read_values(column: Any) -> FloatArray:
    """Read real numbers; NaN, None and NA mean that the value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> read_values(pd.Series([1, None, 3], dtype=object))
    array([ 1., nan,  3.])
    """
    _require_reals(column)
    values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise InvalidValue(
            _first_line(np.isinf(values)),
            f": the value in {column.name!r} is infinite: "
            "replace it by a number, or by NaN if it is missing.",
        )
    return values


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


def _first_line(where: NDArray[np.bool_]) -> Lines:
    return Lines((int(np.argmax(where)),))


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
        raise InvalidValue(
            _first_line(codes < 0),
            f": {column.name!r}, which names the {role}, is missing: fill it in, or leave such lines out",
            Advice("dropna", f" with frame.dropna(subset=[{column.name!r}])"),
            ".",
        )
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


def _require_reals(column: Any) -> None:
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
                Lines((position,)),
                f": {shown(entry)} in {column.name!r} is not a real number "
                f"but of type {type(entry).__name__}: convert the column first",
                Advice("to_numeric", f", for example with pandas.to_numeric(frame[{column.name!r}])"),
                ".",
                received=entry,
            )


Places = NDArray[np.int64]
Positions = NDArray[np.intp]


class Cells(NamedTuple):
    """Places, each one once and in order, and their values.

    Attributes
    ----------
    shape : tuple
        (K, I, J).
    places : ndarray of int
        Positions in the flat (K, I, J) array.
    values : ndarray of float
        NaN where a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> cells = Cells.join((2, 1, 2), np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), how="mean")
    >>> cells.dense(absent=0.0)
    array([[[5., 0.]],
           [[2., 0.]]])
    """

    shape: tuple[int, int, int]
    places: Places
    values: FloatArray

    @classmethod
    def join(
        cls, shape: tuple[int, int, int], places: Places, values: FloatArray, how: Literal["sum", "mean"]
    ) -> Self:
        """Sort the places, and add up or average the values that belong to the same one.

        A sum is missing if one of its values is; a mean is that of the values that are not missing.
        """
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
        starts = np.flatnonzero(np.append(True, places[1:] != places[:-1]))
        if len(starts) == len(places):
            return cls(shape, places, values)
        joined = _sums(values, starts) if how == "sum" else _means(values, starts)
        return cls(shape, places[starts], joined)

    def has_missing(self) -> bool:
        """Tell whether any value is NaN."""
        return bool(np.isnan(self.values).any())

    def largest_columns(self, count: int, appearance: Positions, by: Literal["total", "time"]) -> Positions:
        """Find the columns with the largest sums of absolute values; among equals those that appear first.

        By "time" that is the sum at the time when it is largest.
        """
        K, I, J = self.shape
        at = self.places // (I * J) * J if by == "time" else 0
        n = K * J if by == "time" else J
        weights = np.abs(np.nan_to_num(self.values))
        sums = np.bincount(at + self.places % J, weights=weights, minlength=n)
        sizes = sums.reshape(-1, J).max(axis=0)
        return np.sort(np.lexsort((appearance, -sizes))[:count])

    def only_columns(self, kept: Positions) -> Self:
        """Leave out all other columns."""
        K, I, J = self.shape
        renumbered = np.full(J, -1, dtype=np.int64)
        renumbered[kept] = np.arange(len(kept))
        lines, columns = np.divmod(self.places, J)
        columns = renumbered[columns]
        stays = columns >= 0
        places = lines[stays] * len(kept) + columns[stays]
        return type(self)((K, I, len(kept)), places, self.values[stays])

    def present(self) -> NDArray[np.bool_]:
        """Tell which columns have a place at each time: (K, J)."""
        K, I, J = self.shape
        present = np.zeros((K, J), dtype=bool)
        present[self.places // (I * J), self.places % J] = True
        present.flags.writeable = False
        return present

    def sampled(self) -> NDArray[np.bool_]:
        """Tell which rows have a place at each time: (K, I)."""
        K, I, J = self.shape
        sampled = np.zeros(K * I, dtype=bool)
        sampled[self.places // J] = True
        return sampled.reshape(K, I)

    def sparse(self) -> list[Any]:
        """Make K scipy.sparse.csr_array (I, J)."""
        from scipy.sparse import csr_array

        K, I, J = self.shape
        lines, columns = np.divmod(self.places, J)
        # The places are in order, so that the rows of all slices follow one another.
        bounds = np.searchsorted(lines, np.arange(K * I + 1))
        slices = []
        for k in range(K):
            starts = bounds[k * I : (k + 1) * I + 1]
            inside = slice(starts[0], starts[-1])
            parts = self.values[inside].copy(), columns[inside], starts - starts[0]
            slices.append(csr_array(parts, shape=(I, J)))
        return slices

    def dense(self, absent: float, present: NDArray[np.bool_] | None = None) -> FloatArray:
        """Make the (K, I, J) array, with `absent` at all other places and NaN in columns not present."""
        K, I, J = self.shape
        needed = K * I * J * np.dtype(np.float64).itemsize
        require_memory(needed, "The table as dense slices", "top_columns= keeps the largest columns only.")
        stack = np.full(self.shape, absent)
        stack.reshape(-1)[self.places] = self.values
        if present is not None:
            for k in range(K):
                stack[k][:, ~present[k]] = np.nan
        return stack


def first_repeat(places: Places) -> tuple[int, int]:
    """Find where a place is repeated first, and where it stood before; there must be such a place.

    Examples
    --------
    >>> import numpy as np
    >>> first_repeat(np.array([4, 7, 9, 7, 4]))
    (3, 1)
    """
    order = np.argsort(places, kind="stable")
    repeats = np.flatnonzero(np.diff(places[order]) == 0) + 1
    where = repeats[order[repeats].argmin()]
    return int(order[where]), int(order[where - 1])


def _sums(values: FloatArray, starts: Positions) -> FloatArray:
    return np.asarray(np.add.reduceat(values, starts))


def _means(values: FloatArray, starts: Positions) -> FloatArray:
    known = ~np.isnan(values)
    counts = np.add.reduceat(known, starts, dtype=np.intp)
    sums = _sums(np.where(known, values, 0.0), starts)
    means = np.full(len(starts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
