"""Long tables in files: one line for each row, column and time."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Table, listed, shown
from tparafac2.data.lines import as_frame
from tparafac2.data.table import TableOptions
from tparafac2.errors import InvalidValue, Told, TooLarge
from tparafac2.io.endings import BadFile
from tparafac2.io.parquet import ParquetLines, ParquetTable, parquet_columns, parquet_frame
from tparafac2.io.selecting import Selection
from tparafac2.io.textfiles import (
    MISSING_TEXTS,
    TextLayout,
    first_short,
    line_of,
    opened_text,
    records,
    text_layout,
    unguarded,
)
from tparafac2.words import Argument, Lines

Columns: TypeAlias = Mapping[str, str]
"""Names of columns, by what they are for: rows, columns, time, values, weights."""

MISSING_VALUES = list(MISSING_TEXTS)
_TRUTHS = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}


def read_text_table(
    path: Path, asked: Columns, options: TableOptions, select: Selection, memory: int | None = None
) -> Table:
    """Read a CSV file or its like, in which labels are text unless all of them are plain numbers.

    It is read at once, and refused where that takes more than the machine has, or than `memory`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "t.csv"
    ...     _ = file.write_text("zip;item;year\\n007;1;2020\\n042;2;2021\\n")
    ...     asked = {"rows": "zip", "columns": "item", "time": "year"}
    ...     labels = read_text_table(file, asked, {}, Selection()).labels
    >>> labels.rows.tolist(), labels.columns.tolist()
    (['007', '042'], [1, 2])
    """
    compared = [condition.name for condition in select.conditions]
    layout = text_layout(path, [*asked.values(), *compared], memory)
    with told_of(path, layout):
        _require_columns(layout.columns, asked)
        select.require_columns(layout.columns, asked)
        frame = _parsed(path, layout, asked, compared)
    return _tabulated(path, layout, frame, asked, options, select)


def read_parquet_table(
    path: Path, asked: Columns, options: TableOptions, select: Selection, memory: int | None = None
) -> Table:
    """Read a Parquet file, or all of a folder, in pieces; labels are of the type that they have there.

    Parameters
    ----------
    path : Path
    asked : mapping
        Names of columns, by what they are for.
    options : TableOptions
    select : Selection
    memory : int, optional
        Most bytes that may be used, by a fit, too.
    """
    source = ParquetTable(path)
    with told_of(path, source.place):
        _require_columns(source.names, asked)
        compared = select.require_columns(source.names, asked)
        source.require_same([*asked.values(), *compared])
        if not source.n_lines:
            raise ValueError("the table has no lines: there is nothing to decompose.")
        lines = ParquetLines(source, asked, select, memory)
        return _table(lines, asked, options).with_selection(lines.account)


def text_columns(path: Path, layout: TextLayout, places: Collection[int], values: int | None = None) -> Any:
    """Columns of a text file by their places, 0 first, as categories of text just as it stands there.

    That at `values` is read as numbers, if it is all numbers. Empty labels are missing; among numbers also NA
    and its like.
    """
    import pandas as pd

    # One column more than there are: pandas would say nothing of lines that are too long. In the last one
    # lines that are too short have nothing.
    beyond, last = len(layout.columns), layout.n_needed - 1
    wanted = {*places, last, beyond}
    with opened_text(path, layout.encoding) as file:
        next(records(file, layout.delimiter))
        header = layout.delimiter.join(map(str, range(beyond + 1)))
        try:
            frame = pd.read_csv(
                _Renamed(header + "\n", file),
                sep=layout.delimiter,
                usecols=[str(place) for place in wanted],
                index_col=False,
                # Text as it stands: a label may well be "007", "NA" or "None".
                dtype={str(place): object for place in wanted if place != values},
                keep_default_na=False,
                na_values={str(one): MISSING_VALUES if one == values else [""] for one in wanted},
                low_memory=False,
            )
        except pd.errors.ParserError as error:
            raise _unparsed(str(error)) from None
    frame.columns = frame.columns.astype(int)
    _require_width(path, frame[beyond].isna().to_numpy(), frame[last].isna().to_numpy(), layout)
    found = frame[list(places)].astype({place: "category" for place in places if place != values})
    for place in set(places) - {values}:
        found[place] = _as_before_writing(found[place])
    return found


def read_row_weights(path: Path, rows: str | None) -> dict[Any, float]:
    """Read a table with one weight for each row label.

    Parameters
    ----------
    path : Path
        CSV or its like, or .parquet: two columns, labels and weights; or a column of labels that is called as
        `rows` says, and one called "weight" or "weights".
    rows : str, optional
        What the rows are called in the data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "sizes.csv"
    ...     _ = file.write_text("land,people\\nFiji,0.9\\nPeru,34\\n")
    ...     read_row_weights(file, "land")
    {'Fiji': 0.9, 'Peru': 34.0}
    """
    layout, names, label = _of_rows(path, rows)
    others = [name for name in names if name != label]
    called = [name for name in others if name.casefold() in ("weight", "weights")] or others
    if len(called) != 1:
        raise InvalidValue(
            f"{path.name!r} has the columns {', '.join(map(repr, names))}: give a file with two, the labels "
            "of the rows and their weights, or call one of them 'weight'."
        )
    with told_of(path, layout):
        labels, weights = _two_columns(path, layout, (label, called[0]), numbers=True)
        numbers = as_numbers(weights).to_numpy(dtype=np.float64, na_value=np.nan)
        repeated = labels.duplicated().to_numpy()
        for bad, what in ((repeated, "is there twice"), (np.isnan(numbers), "has no weight")):
            if bad.any():
                where = int(np.argmax(bad))
                row = shown(labels.iloc[where])
                raise InvalidValue(Lines((where,)), f": the row {row} {what}: give one weight for each.")
    return dict(zip(labels.astype(object).tolist(), numbers.tolist()))


def read_row_groups(path: Path, rows: str | None, column: str) -> dict[Any, str]:
    """Read to which group each row belongs, from a table whose lines may repeat it.

    Parameters
    ----------
    path : Path
        CSV or its like, or .parquet. The labels of the rows are in the column that is called as `rows` says,
        or in the first one.
    rows : str, optional
        What the rows are called in the data.
    column : str
        What the groups are called.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("who,month,diet\\nAnn,1,milk\\nAnn,2,milk\\nBo,1,rice\\n")
    ...     read_row_groups(file, "who", "diet")
    {'Ann': 'milk', 'Bo': 'rice'}
    """
    import pandas as pd

    layout, names, label = _of_rows(path, rows, column)
    if column not in names or column == label:
        others = listed(shown(name) for name in names if name != label)
        raise InvalidValue(
            Argument("groups"),
            f": {shown(column)} is not a column of {path.name!r} that could group rows; there are {others}.",
            received=column,
        )
    with told_of(path, layout):
        found: dict[Any, str] = {}
        labels, groups = (one.astype(object) for one in _two_columns(path, layout, (label, column)))
        pairs = pd.DataFrame({"row": labels, "group": groups})[labels.notna()].drop_duplicates()
        for where, row, group in zip(pairs.index, pairs["row"], pairs["group"]):
            if pd.isna(group) or row in found:
                what = "has no group" if pd.isna(group) else f"is in {group!r}, but before in {found[row]!r}"
                raise InvalidValue(
                    Lines((int(where),)),
                    f": the row {shown(row)} {what}: every row is in one group of {column!r}.",
                )
            found[row] = str(group)
    return found


def read_row_attributes(path: Path, rows: str | None) -> Any:
    """Read what else is known of the rows: the labels in the first column, then a column for each attribute.

    Parameters
    ----------
    path : Path
        CSV or its like, or .parquet. The labels of the rows are in the column that is called as `rows` says,
        or in the first one.
    rows : str, optional
        What the rows are called in the data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "lands.csv"
    ...     _ = file.write_text("region,land,people\\nAsia,Fiji,0.9\\n,Peru,34\\nAfrica,Mali,NA\\n")
    ...     read_row_attributes(file, "land").to_numpy().tolist()
    [['Fiji', 'Asia', 0.9], ['Peru', nan, 34.0], ['Mali', 'Africa', nan]]
    """
    layout, names, label = _of_rows(path, rows)
    order = [label, *(name for name in names if name != label)]
    with told_of(path, layout):
        if layout is None:
            return parquet_frame(path, order)
        places = [layout.columns.index(name) for name in order]
        frame = text_columns(path, layout, places).rename(columns=dict(zip(places, order)))
        frame[label] = plain_labels(frame[label])
        for name in order[1:]:
            frame[name] = _numbers_if_all(frame[name])
    return frame


def _numbers_if_all(column: Any) -> Any:
    """Numbers, if all that is not missing is one; else the text as it stands."""
    import pandas as pd

    texts = column.astype(object)
    numbers = pd.to_numeric(texts.where(~texts.isin(MISSING_VALUES)), errors="coerce")
    lost = numbers.isna() & texts.notna() & ~texts.isin(MISSING_VALUES)
    return texts if lost.any() or numbers.isna().all() else numbers


def _of_rows(path: Path, rows: str | None, *others: str) -> tuple[TextLayout | None, list[str], str]:
    """How a table on rows is laid out, its columns, and which of them has the labels."""
    asked = [name for name in (rows, *others) if name is not None]
    layout = None if path.suffix == ".parquet" else text_layout(path, asked)
    names = parquet_columns(path) if layout is None else list(layout.columns)
    return layout, names, rows if rows in names else names[0]


def _two_columns(
    path: Path, layout: TextLayout | None, names: tuple[str, str], *, numbers: bool = False
) -> tuple[Any, Any]:
    """Labels and what there is of each; whether this is numbers, which text does not tell."""
    if layout is None:
        frame = parquet_frame(path, names)
    else:
        label, other = (layout.columns.index(name) for name in names)
        frame = text_columns(path, layout, [label, other], other if numbers else None)
        frame = frame.rename(columns=dict(zip((label, other), names)))
    return frame[names[0]], frame[names[1]]


def _as_before_writing(labels: Any) -> Any:
    """Labels without the apostrophes that keep spreadsheets from running them."""
    changed = {text: plain for text in labels.cat.categories if (plain := unguarded(text)) != text}
    if not changed:
        return labels
    texts = labels.astype(object)
    return texts.map(changed).where(texts.isin(changed), texts).astype("category")


def _tabulated(
    path: Path,
    layout: TextLayout,
    frame: Any,
    asked: Columns,
    options: TableOptions,
    select: Selection,
) -> Table:
    kept, account = None, ""
    if select:
        with told_of(path, layout):
            mask = select.lines(frame, asked)
        kept, before = np.flatnonzero(mask), frame
        frame = frame[mask].reset_index(drop=True)
        sizes = {"lines": (len(frame), len(before))}
        sizes |= {mode: (frame[asked[mode]].nunique(), before[asked[mode]].nunique()) for mode in MODES}
        account = select.account(sizes)
    with told_of(path, layout, kept):
        return _table(frame, asked, options).with_selection(account)


def _table(lines: Any, asked: Columns, options: TableOptions) -> Table:
    return Table(
        lines,
        rows=asked["rows"],
        columns=asked["columns"],
        time=asked["time"],
        values=asked.get("values"),
        **options,
    )


def _require_columns(names: Any, asked: Columns) -> None:
    import pandas as pd

    as_frame(pd.DataFrame([[0] * len(names)], columns=list(names)), asked)


def _parsed(path: Path, layout: TextLayout, asked: Columns, compared: Iterable[str]) -> Any:
    others = set(compared) - set(asked.values())
    places = {layout.columns.index(name): name for name in [*asked.values(), *sorted(others)]}
    values = layout.columns.index(asked["values"]) if "values" in asked else None
    frame = text_columns(path, layout, places, values).rename(columns=places)
    for role, name in asked.items():
        is_number = role in ("values", "weights")
        frame[name] = as_numbers(frame[name]) if is_number else plain_labels(frame[name])
    for name in others:
        frame[name] = plain_labels(frame[name])
    return frame


class _Renamed:
    """A file that is read on from where it is, after another header."""

    def __init__(self, header: str, rest: TextIO) -> None:
        self.header, self.rest = header, rest

    def read(self, size: int = -1) -> str:
        header, self.header = self.header, ""
        return header or self.rest.read(size)

    def __iter__(self) -> Iterator[str]:
        return iter(self.rest)


def _require_width(
    path: Path, fits: NDArray[np.bool_], may_be_short: NDArray[np.bool_], layout: TextLayout
) -> None:
    if not fits.all():
        raise InvalidValue(
            Lines((int(np.argmin(fits)),)),
            f": there is more on it than the {len(layout.columns)} "
            f"columns of the header: put labels that hold {layout.separator} in quotation marks, and write "
            "decimals with a point.",
        )
    if may_be_short.any() and (found := first_short(path, layout)):
        position, n_fields = found
        raise InvalidValue(
            Lines((position,)),
            f": there is less on it ({n_fields}) than the {layout.n_needed} columns of "
            "the header: complete it; keep the separators where a value is missing.",
        )


def as_numbers(column: Any) -> Any:
    """Values as numbers; the first that is none is named."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    texts = column.astype(object)
    numbers = pd.to_numeric(texts.map(_TRUTHS).where(texts.isin(_TRUTHS), texts), errors="coerce")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        where = int(np.argmax(bad))
        raise InvalidValue(
            Lines((where,)),
            f": {shown(column.iloc[where])} in {column.name!r} is not a number: write it as "
            "1234.5, or leave it empty if it is missing.",
        )
    return numbers


def plain_labels(column: Any) -> Any:
    """Labels that are all numbers, written as Python writes them, as numbers: 2 then comes before 10."""
    texts = column.cat.categories.tolist()
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            if texts and all(str(kind(text)) == text for text in texts):
                numbers = np.array([kind(text) for text in texts], dtype=dtype)
                return column.cat.rename_categories(numbers) if np.isfinite(numbers).all() else column
        except (ValueError, OverflowError):
            continue
    return column


@contextmanager
def told_of(
    path: Path, layout: TextLayout | Callable[[int], str] | None, kept: NDArray[np.intp] | None = None
) -> Iterator[None]:
    """Sentences of what is wrong with a table name the file, and lines as an editor counts them.

    Files that have no lines have rows, from 1, or places as `layout` writes them. If some lines only were
    kept, `kept` says where they stood.
    """
    apart = f" (columns separated by {layout.separator})" if isinstance(layout, TextLayout) else ""

    def place(position: int) -> str:
        found = position if kept is None else int(kept[position])
        if isinstance(layout, TextLayout):
            return f"line {line_of(path, layout, found)}"
        return f"row {found + 1}" if layout is None else layout(found)

    try:
        yield
    except BadFile:
        raise
    except MemoryError as error:
        if isinstance(error, Told):
            raise
        raise TooLarge(
            f"there is not enough memory to read {path.name!r}: keep fewer lines and columns, or use a "
            "machine with more memory."
        ) from None
    except (ValueError, TypeError) as error:
        if isinstance(error, Told):
            raise error.within(repr(path.name), apart, place) from None
        raise type(error)(f"{path.name!r}{apart}: {error}") from None


def _unparsed(error: str) -> InvalidValue | MemoryError:
    """What pandas says of a table that it cannot read, in our words."""
    if "out of memory" in error:
        return MemoryError()
    open_quote = re.search(r"EOF inside string starting at row (\d+)", error)
    if open_quote:  # where the header is row 0
        return InvalidValue(
            Lines((int(open_quote[1]) - 1,)), ": a quotation mark is opened here and never closed."
        )
    return InvalidValue(f"this is no table that can be read ({error.rstrip('.')}).")
