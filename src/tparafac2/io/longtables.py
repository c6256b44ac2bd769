"""Long tables in files: one line for each row, column and time."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO, TypeAlias, TypedDict

import numpy as np

from tparafac2.data import Table
from tparafac2.data.lines import as_frame, shown
from tparafac2.data.table import Absent, Duplicates
from tparafac2.io.endings import damaged
from tparafac2.io.textfiles import TextLayout, line_of, opened_text, records, text_layout

Columns: TypeAlias = Mapping[str, str]
"""Names of columns, by what they are for: rows, columns, time, values."""

_MISSING_VALUES = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"]
_LINES_NAMED = re.compile(r"^line (\d+)(?: repeats line (\d+))?")


class TableOptions(TypedDict, total=False):
    """Options of `Table` that are handed on to it."""

    absent: Absent
    duplicates: Duplicates
    top_columns: int | None


def read_text_table(path: Path, asked: Columns, options: TableOptions) -> Table:
    """Read a CSV file or its like, in which labels are text unless all of them are plain numbers.

    Parameters
    ----------
    path : Path
    asked : mapping
        Names of columns, by what they are for.
    options : dict

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "t.csv"
    ...     _ = file.write_text("zip;item;year\\n007;1;2020\\n042;2;2021\\n")
    ...     labels = read_text_table(file, {"rows": "zip", "columns": "item", "time": "year"}, {}).labels
    >>> labels.rows.tolist(), labels.columns.tolist()
    (['007', '042'], [1, 2])
    """
    layout = text_layout(path, asked.values())
    with _told_of(path, layout):
        _require_columns(layout.columns, asked)
        frame = _parsed(path, layout, asked)
        return _tabulated(frame, asked, options)


def read_parquet_table(path: Path, asked: Columns, options: TableOptions) -> Table:
    """Read a Parquet file; labels are of the type that they have there."""
    try:
        arrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f"to read {path.name!r} pyarrow is needed: install it with 'pip install pyarrow', "
            "or save the table as CSV."
        ) from error
    try:
        names = parquet.read_schema(path).names
        with _told_of(path, None):
            _require_columns(names, asked)
        frame = parquet.read_table(path, columns=list(asked.values())).to_pandas()
    except (arrow.ArrowInvalid, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        raise ValueError(damaged(path, error)) from None
    with _told_of(path, None):
        return _tabulated(frame, asked, options)


def _tabulated(frame: Any, asked: Columns, options: TableOptions) -> Table:
    return Table(
        frame,
        rows=asked["rows"],
        columns=asked["columns"],
        time=asked["time"],
        values=asked.get("values"),
        **options,
    )


def _require_columns(names: Any, asked: Columns) -> None:
    import pandas as pd

    as_frame(pd.DataFrame([[0] * len(names)], columns=list(names)), asked)


def _parsed(path: Path, layout: TextLayout, asked: Columns) -> Any:
    """Only the columns asked for, by pandas' fast parser."""
    import pandas as pd

    places = {str(layout.columns.index(name)): name for name in asked.values()}
    of_values = [place for place, name in places.items() if name == asked.get("values")]
    # One column more than there are: pandas would say nothing of lines that are too long.
    beyond = str(len(layout.columns))
    names = [*places, beyond]
    texts = [name for name in names if name not in of_values]
    with opened_text(path, layout.encoding) as file:
        next(records(file, layout.delimiter))
        header = layout.delimiter.join(map(str, range(len(layout.columns) + 1)))
        try:
            frame = pd.read_csv(
                _Renamed(header + "\n", file),
                sep=layout.delimiter,
                usecols=names,
                index_col=False,
                # Text as it stands: a label may well be "007", "NA" or "None".
                dtype=dict.fromkeys(texts, object),
                keep_default_na=False,
                na_values={place: _MISSING_VALUES if place in of_values else [""] for place in names},
                low_memory=False,
            )
        except pd.errors.ParserError as error:
            raise ValueError(_unparsed(str(error))) from None
    _require_width(frame.pop(beyond), layout)
    frame = frame.rename(columns=places)
    for role, name in asked.items():
        frame[name] = _as_numbers(frame[name]) if role == "values" else _plain_labels(frame[name])
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


def _require_width(beyond: Any, layout: TextLayout) -> None:
    too_long = beyond.notna().to_numpy()
    if too_long.any():
        raise ValueError(
            f"line {int(np.argmax(too_long)) + 2}: there is more on it than the {len(layout.columns)} "
            f"columns of the header: put labels that hold {layout.separator} in quotation marks, and write "
            "decimals with a point."
        )


def _as_numbers(column: Any) -> Any:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers = pd.to_numeric(column.astype(object), errors="coerce")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        where = int(np.argmax(bad))
        raise ValueError(
            f"line {where + 2}: {shown(column.iloc[where])} in {column.name!r} is not a number: write it as "
            "1234.5, or leave it empty if it is missing."
        )
    return numbers


def _plain_labels(column: Any) -> Any:
    """Labels that are all numbers, written as Python writes them, as numbers: 2 then comes before 10."""
    column = column.astype("category")
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
def _told_of(path: Path, layout: TextLayout | None) -> Iterator[None]:
    """Sentences of what is wrong with a table name the file, and lines as an editor counts them."""
    try:
        yield
    except (ValueError, TypeError) as error:
        said = str(error)
        if said.startswith(repr(path.name)):
            raise
        named = _LINES_NAMED.match(said)
        if named is None:
            apart = f" (columns separated by {layout.separator})" if layout else ""
            sentence = f"{path.name!r}{apart}: {said}"
        else:
            numbers = [int(number) for number in named.groups() if number]
            if layout is not None:
                numbers = [line_of(path, layout, number - 2) for number in numbers]
            lines = " repeats line ".join(map(str, numbers))
            sentence = f"{path.name!r}, line {lines}{said[named.end() :]}"
        raise type(error)(sentence) from None


def _unparsed(error: str) -> str:
    open_quote = re.search(r"EOF inside string starting at row (\d+)", error)
    if open_quote:  # where the header is row 0
        return f"line {int(open_quote[1]) + 1}: a quotation mark is opened here and never closed."
    return f"this is no table that can be read ({error.rstrip('.')})."
