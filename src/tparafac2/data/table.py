"""A long table, one line for each row, column and time, as slices."""

import copy
import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.cells import Cells, Join, largest, require_dense
from tparafac2.data.correction import Correction
from tparafac2.data.interface import FloatArray
from tparafac2.data.labels import Labels, Mode, told_largest
from tparafac2.data.lines import FrameLines, LongLines
from tparafac2.data.memory import require_memory
from tparafac2.data.tabulating import Counts, Tabulation
from tparafac2.data.text import shown
from tparafac2.data.times import hint_of_dates
from tparafac2.errors import InvalidValue
from tparafac2.words import PYTHON, Advice, Argument, Setting, Words

Absent: TypeAlias = Literal["zero", "missing", "columns", "rows"]
Duplicates: TypeAlias = Literal["error", "sum", "mean"]
TopBy: TypeAlias = Literal["total", "time"]


class TableOptions(TypedDict, total=False):
    """Options of `Table`, for all that hand them on; `TABLE_DEFAULTS` has what they are if not given."""

    absent: Absent
    duplicates: Duplicates
    top_columns: int | None
    top_by: TopBy
    weights: Hashable | None


_SPARSE_BELOW = 0.1


@dataclass(frozen=True, eq=False)
class Table:
    """Data as a long table: one line for each row, column and time.

    Rows and columns are put in the order of their labels (of their categories, where these are ordered), or,
    where labels of different types have no order, as they appear. Everything is read and checked at once; the
    frame is neither changed nor kept.

    Parameters
    ----------
    frame : DataFrame, or anything pandas.DataFrame takes
        For example a dict of arrays.
    rows, columns, time : name of a column of the frame
        Labels of rows and columns may be of any type. Times are all numbers or all dates, or text that can be
        read as such (dates as 2024-12-31 or 2024-12, quarters as 2024Q4, weeks as 2024-W52, of which the
        first day counts), in any order; times with a zone become UTC.
    values : name of a column of the frame, optional
        Real numbers; NaN says that a value is missing. Without it lines are counted.
    absent : "zero", "missing", "columns" or "rows"
        What combinations are that the table does not have: zero; missing; zero, except that a column
        without any line at some time does not exist then; or zero, except that a row without any line at some
        time was not observed then (a sample that was not taken, in a table that leaves out zeros).
    duplicates : "error", "sum" or "mean"
        What to do with several lines for the same row, column and time: refuse them, add them up (one
        missing value makes the sum missing), or take the mean of the values that are not missing. Lines that
        are counted may always repeat, and so may those of columns that are left out.
    top_columns : int, optional
        Keep this many columns, those with the largest sum of absolute values; of equal ones those that
        appear first. They stay in the order of their labels, and all rows and times are kept.
    top_by : "total" or "time"
        Whether the sum over all times decides, or that of the time when it is largest: a column that matters
        for a while only is then kept, too.
    weights : name of a column of the frame, optional
        How much each line counts in a fit, see `fit`: weights that are the same on all lines of a row are
        those of the row. Others are of entries, which needs one line for each, and absent="missing" where
        some have none.
    row_attributes : DataFrame, optional
        What else is known of the rows (region, treatment, age), for pictures, tables and associations: it
        plays no part in a fit. Their labels are in the column that is called as `rows` says, or in its index,
        or in its first column.

    Attributes
    ----------
    labels : Labels
        Of rows, columns and times; the dimensions are called as the columns of the frame.
    present : ndarray of bool (K, J), or None
        Which columns there are at each time, if absent is "columns".
    selection : str
        What was kept of a larger table, for the record; else nothing.
    counts : ndarray (I,) or (K, I, J), or None
        The weights of the rows, or of the entries.

    Raises
    ------
    ValueError, TypeError
        If the table cannot be used; the sentence names the first line that is wrong, counted as in a CSV
        file, where the header is line 1.

    Examples
    --------
    >>> lines = {"author": ["Ann", "Bo", "Ann"], "word": ["ice", "sun", "sun"], "year": [2020, 2021, 2021]}
    >>> table = Table(lines, rows="author", columns="word", time="year")
    >>> table.shape, table.labels.columns.tolist(), table.labels.time.tolist()
    ((2, 2, 2), ['ice', 'sun'], [2020, 2021])
    >>> table.slices()[1]
    array([[0., 1.],
           [0., 1.]])
    >>> print(table.describe())
    3 lines were counted for 2 times ('year') x 2 rows ('author') x 2 columns ('word'); 5 of 8 combinations
    are not in the table and were taken as zero (1 of 4 pairs of a row and a time have no line at all: use
    absent='rows' if these were not observed).
    """

    frame: InitVar[Any]
    _: KW_ONLY
    rows: Hashable
    columns: Hashable
    time: Hashable
    values: Hashable | None = None
    absent: Absent = "zero"
    duplicates: Duplicates = "error"
    top_columns: int | None = None
    top_by: TopBy = "total"
    weights: Hashable | None = None
    row_attributes: InitVar[Any] = None
    labels: Labels = field(init=False, repr=False)
    present: NDArray[np.bool_] | None = field(init=False, repr=False)
    _cells: Cells = field(init=False, repr=False)
    _n_lines: int = field(init=False, repr=False)
    _n_repeats: int = field(init=False, repr=False)
    _n_columns: int = field(init=False, repr=False)
    _memory: int | None = field(init=False, repr=False)
    _sampled: NDArray[np.bool_] | None = field(init=False, repr=False)
    correction: Correction | None = field(init=False, repr=False)
    _prepared: tuple[Any, ...] | None = field(init=False, repr=False)
    selection: str = field(init=False, repr=False, default="")
    counts: FloatArray | None = field(init=False, repr=False, default=None)

    def __post_init__(self, frame: Any, row_attributes: Any) -> None:
        self._require_options()
        lines = frame if isinstance(frame, LongLines) else FrameLines(frame, self._asked())
        whole = Tabulation.of(lines, self.time)
        K, I, J = whole.shape
        if self.absent != "zero":  # before all lines are gone through
            require_dense((K, I, min(J, self.top_columns or J)), lines.memory)
        sampled = whole.sampled() if self.absent == "rows" else None  # by all columns, also those left out
        made = self._made(whole)
        cells, columns, n_columns = made.cells, made.columns, len(whole.columns.labels)
        names: dict[Mode, str] = {
            "rows": str(self.rows),
            "columns": str(self.columns),
            "time": str(self.time),
        }
        labels = Labels(whole.rows.labels, columns, whole.time.labels, names)
        self._keep(
            labels=labels if row_attributes is None else labels.with_attributes(row_attributes, I),
            present=cells.present() if self.absent == "columns" else None,
            _cells=cells,
            _sampled=sampled,
            _n_lines=lines.n_lines,
            _n_repeats=made.n_repeats,
            _n_columns=n_columns,
            _memory=lines.memory,
            correction=None,
            _prepared=None,
            selection="" if len(columns) == n_columns else told_largest(len(columns), n_columns, made.share),
            counts=self._counts_of(made.weights, cells),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of times, rows and columns: (K, I, J)."""
        return self._cells.shape

    @property
    def nbytes(self) -> int:
        """Memory of the combinations that are held."""
        return self._cells.nbytes

    @property
    def n_absent(self) -> int:
        """How many combinations of a row, a column and a time the table does not have."""
        return math.prod(self.shape) - len(self._cells.values)

    @property
    def density(self) -> float:
        """Share of the combinations that the table has."""
        return len(self._cells.values) / math.prod(self.shape)

    def slices(self) -> list[Any]:
        """Make the K slices (I, J).

        Returns
        -------
        list of scipy.sparse.csr_array, or of ndarray
            Sparse if absent combinations are zero, fewer than a tenth are in the table, and no value is
            missing; else dense, with NaN where a value is missing, a row was not observed or a column does
            not exist.

        Raises
        ------
        MemoryError
            If the dense slices would not fit in this machine.

        Examples
        --------
        >>> table = Table({"r": [0, 1], "c": [0, 1], "t": [0, 1]}, rows="r", columns="c", time="t",
        ...               absent="columns")
        >>> table.slices()[0]
        array([[ 1., nan],
               [ 0., nan]])
        """
        if self._prepared is not None and self.correction is not None:
            K, I, J = self.shape
            require_memory(K * I * J * np.dtype(np.float64).itemsize, "The centred or scaled slices")
            return [self.correction.dense(piece, k) for k, piece in enumerate(self._prepared)]
        if self._prepared is not None:
            return list(self._prepared)
        if self._is_sparse():
            return [one.copy() for one in self._cells.sparse()]
        absent = np.nan if self.absent == "missing" else 0.0
        stack = self._cells.dense(absent, self.present, self._memory)
        if self._sampled is not None:
            stack[~self._sampled] = np.nan
        return list(stack)

    def sampled(self) -> NDArray[np.bool_]:
        """Tell which rows have a line at each time: (K, I)."""
        return self._cells.sampled()

    def require_times(self) -> None:
        """Refuse a table of one time where a model is to be fitted; it may be appended to one."""
        if self.shape[0] < 2:
            raise ValueError(
                f"every line has the same time, {shown(self.labels.coordinate('time', 1)[0])}: at least two "
                "times are needed."
            )

    def stored_slices(self) -> list[Any]:
        """The slices to which `correction` has still to be applied, as they are held: not to be changed."""
        if self._prepared is not None:
            return list(self._prepared)
        return self._cells.sparse() if self._is_sparse() else self.slices()

    def _is_sparse(self) -> bool:
        return self.absent == "zero" and self.density < _SPARSE_BELOW and not self._cells.has_missing()

    @property
    def budget(self) -> int | None:
        """How many bytes a fit may use beside the values that are held here, if that was said."""
        return None if self._memory is None else max(0, self._memory - self._cells.values.nbytes)

    def with_slices(self, slices: Sequence[Any], correction: Correction | None = None) -> Self:
        """Give the same table with other numbers, for example their logarithms.

        Parameters
        ----------
        slices : sequence of K ndarrays or scipy sparse arrays (I, J)
            They are kept as they are.
        correction : Correction, optional
            Centring and scaling of sparse slices, which never make them dense on the way to a fit.

        Returns
        -------
        Table
            With the labels of this one, and its account of what was read.

        Examples
        --------
        >>> table = Table({"r": [0, 1], "c": [0, 1], "t": [0, 1]}, rows="r", columns="c", time="t")
        >>> table.with_slices([10 * one for one in table.slices()]).slices()[1]
        array([[ 0.,  0.],
               [ 0., 10.]])
        """
        shapes = (len(slices), *{piece.shape for piece in slices})
        K, I, J = self.shape
        if shapes != (K, (I, J)):
            raise ValueError(f"{K} slices of shape {(I, J)} are needed; got {shapes[0]}: {shapes[1:]}.")
        other = copy.copy(self)
        other._keep(_prepared=tuple(slices), correction=correction)
        return other

    def with_selection(self, selection: str) -> Self:
        """Give the same table with a word on what was kept of a larger one, before what was said of columns.

        Examples
        --------
        >>> table = Table({"r": [0, 1], "c": [0, 1], "t": [0, 1]}, rows="r", columns="c", time="t")
        >>> table.with_selection("kept 2 of 9 lines").selection
        'kept 2 of 9 lines'
        """
        other = copy.copy(self)
        other._keep(selection="; ".join(filter(None, (selection, self.selection))))
        return other

    def describe(self, words: Words = PYTHON) -> str:
        """Say in one sentence what was read and what was assumed, with arguments called as in `words`."""
        K, I, J = self.shape
        names = self.labels.names
        read = "were counted for" if self.values is None else "give"
        chosen = f", the largest of {self._n_columns:,}" if self._n_columns > J else ""
        parts = [
            f"{self._n_lines:,} lines {read} {K:,} times ({names['time']!r}) "
            f"x {I:,} rows ({names['rows']!r}) x {J:,} columns ({names['columns']!r}{chosen})",
            self._absence(words),
        ]
        if self._n_repeats and self.values is not None:
            how = "added up" if self.duplicates == "sum" else "averaged"
            parts.append(f"lines that repeat the place of an earlier one ({self._n_repeats:,}) were {how}")
        if n_missing := self._cells.n_missing:
            parts.append(f"missing values in the table: {n_missing:,}")
        if hint := hint_of_dates(self.labels.coordinate("time", K)):
            parts.append(hint)
        return "; ".join(parts) + "."

    def _absence(self, words: Words) -> str:
        if not self.n_absent:
            return "every combination is in the table"
        found = (
            f"{self.n_absent:,} of {math.prod(self.shape):,} combinations are not in the table and were taken"
        )
        if self._sampled is not None:
            n_away = int(np.count_nonzero(~self._sampled))
            return (
                f"{found} as zero, but rows were not observed at times when they have no line at all "
                f"({n_away:,} of {self._sampled.size:,} pairs of a row and a time)"
            )
        if self.absent == "zero":
            sampled = self.sampled()
            doubt = (
                f" ({np.count_nonzero(~sampled):,} of {sampled.size:,} pairs of a row and a time have no "
                f"line at all: use {words.setting(Setting('absent', 'rows'))} if these were not observed)"
            )
            return f"{found} as zero{'' if sampled.all() else doubt}"
        if self.present is None:
            return f"{found} as {self.absent}"
        n_away = int(np.count_nonzero(~self.present))
        return (
            f"{found} as zero, but columns do not exist at times when they have no line at all "
            f"({n_away:,} of {self.present.size:,} pairs of a column and a time)"
        )

    def _asked(self) -> dict[str, Hashable]:
        asked = {"rows": self.rows, "columns": self.columns, "time": self.time}
        asked |= {} if self.values is None else {"values": self.values}
        return asked if self.weights is None else asked | {"weights": self.weights}

    def _made(self, whole: Tabulation) -> "_Made":
        """Fill the cells of the columns that are kept."""
        names = self.rows, self.columns, self.time
        how: Join = "mean" if self.duplicates == "mean" else "sum"
        top = None if self.top_columns is None else min(self.top_columns, len(whole.columns.labels))
        by_time, table, share, kept = self.top_by == "time", whole, 1.0, None
        if top is not None and top < len(whole.columns.labels):
            sizes = whole.sizes(by_time)
            # Else it is known only when lines for the same place were joined.
            if self.values is None or self.duplicates == "error" or (sizes.plain and how == "sum"):
                kept, share = largest(sizes.sums, top, whole.columns.appearance)
                table = whole.only_columns(kept)
        counts = table.counted()
        cells = table.filled(counts.lines, how)
        n_repeats = int(counts.lines.sum()) - len(cells.values)
        if n_repeats and self.values is not None and self.duplicates == "error":
            del cells
            raise table.first_repeat(names)
        weights = self._weighed(table, counts, n_repeats)
        if top is not None and top < len(table.columns.labels):
            kept, share = largest(cells.column_sizes(by_time), top, whole.columns.appearance)
            cells = cells.only_columns(kept)
            weights = weights.only_columns(kept) if isinstance(weights, Cells) else weights
        columns = whole.columns.labels if kept is None else whole.columns.labels[kept]
        return _Made(cells, columns, n_repeats, weights, share)

    def _weighed(self, table: Tabulation, counts: Counts, n_repeats: int) -> FloatArray | Cells | None:
        """Weights of the rows, if those of their lines are equal; else those of the cells."""
        if self.weights is None or (counts.least == counts.most).all():
            return None if self.weights is None else counts.most
        if n_repeats:
            raise InvalidValue(
                Setting("weights", self.weights),
                " differ within rows, and several lines have the same row, column and time: join these lines "
                "first, or give all lines of a row one weight.",
            )
        return table.filled(counts.lines, "sum", "weights")

    def _counts_of(self, weighed: FloatArray | Cells | None, cells: Cells) -> FloatArray | None:
        if not isinstance(weighed, Cells):
            return weighed
        n_absent = math.prod(cells.shape) - len(cells.values)
        if self.absent != "missing" and n_absent:
            raise InvalidValue(
                Setting("weights", self.weights),
                f" differ within rows, and {n_absent:,} combinations have no line, so that they have no "
                "weight: say ",
                Setting("absent", "missing"),
                ", add lines for them, or give all lines of a row one weight.",
            )
        return weighed.dense(0.0, None)

    def _keep(self, **found: Any) -> None:
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def _require_options(self) -> None:
        for name, value, allowed in (
            ("absent", self.absent, get_args(Absent)),
            ("duplicates", self.duplicates, get_args(Duplicates)),
        ):
            if value not in allowed:
                raise InvalidValue(
                    Argument(name),
                    f" must be one of {', '.join(map(repr, allowed))}; got {value!r}.",
                    received=value,
                )
        if self.values is None and self.duplicates == "mean":
            raise InvalidValue(
                Setting("duplicates", "mean"), " needs ", Setting("values"), ": without it lines are counted."
            )
        require_top(self.top_columns, self.top_by)


class _Made(NamedTuple):
    """Cells of the columns that are kept, the labels of these, and what is to be told of it."""

    cells: Cells
    columns: NDArray[Any]
    n_repeats: int
    weights: FloatArray | Cells | None
    share: float


TABLE_DEFAULTS: Mapping[str, Any] = {
    one.name: one.default for one in fields(Table) if one.name in TableOptions.__annotations__
}


def require_top(top_columns: Any, top_by: Any) -> None:
    """Refuse what is no number of columns, or no way to rank them."""
    if top_columns is not None and not _is_count(top_columns):
        raise InvalidValue(
            Argument("top_columns"),
            " must be a whole number, at least 1",
            Advice("or_none", ", or None"),
            f"; got {top_columns!r}.",
            received=top_columns,
        )
    if top_by not in get_args(TopBy):
        raise InvalidValue(
            Argument("top_by"),
            f" must be one of {', '.join(map(repr, get_args(TopBy)))}; got {top_by!r}.",
            received=top_by,
        )
    if top_by != "total" and top_columns is None:
        raise InvalidValue(
            Setting("top_by", top_by), " needs ", Setting("top_columns"), ": say how many columns are kept."
        )


def _is_count(value: object) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) >= 1  # type: ignore[arg-type]
    except TypeError:
        return False
