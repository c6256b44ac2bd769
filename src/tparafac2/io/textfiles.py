"""Tables as text files: encoding, separators and lines; and labels that a spreadsheet would run, guarded."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import GzipFile
from io import BufferedReader, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tparafac2.data import listed, require_memory, shown
from tparafac2.data.memory import in_bytes
from tparafac2.io.endings import BadFile, damaged, encoding_of

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
SHOWN_COLUMNS = 20
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")

_LONGEST_LINE = 10_000_000  # bytes
_BYTES_FOR_ONE = 8  # of memory for each of a text file, at the peak
_BYTES_FOR_FIELD = 24  # likewise for each field, however short

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


@dataclass(frozen=True)
class TextLayout:
    """How a table is written in a text file; names of columns are without spaces around them.

    Examples
    --------
    >>> print(TextLayout("votes.csv", "utf-8-sig", ";", ("country", "year")).describe())
    'votes.csv' has 2 columns separated by ';': 'country', 'year'.
    """

    file: str
    encoding: str
    delimiter: str
    columns: tuple[str, ...]

    def describe(self) -> str:
        """Say in one sentence what was found."""
        names = listed(map(shown, self.columns), SHOWN_COLUMNS)
        return f"{self.file!r} has {len(self.columns)} columns separated by {self.separator}: {names}."

    @property
    def n_needed(self) -> int:
        """How many fields every line must have: separators at the end of the header begin no column."""
        return max(place for place, name in enumerate(self.columns, start=1) if name or place == 1)

    @property
    def separator(self) -> str:
        """What separates columns, as it stands in a sentence."""
        return _NAMES[self.delimiter]


def text_layout(path: Path, asked: Collection[Hashable] = (), memory: int | None = None) -> TextLayout:
    """Find out how a table is written in a file, which is packed if it ends in .gz.

    Of several possible delimiters the one is taken that gives most of the columns asked for, and then the one
    that gives most columns. A table that needs more memory than the machine has, or than `memory`, is
    refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "t.csv").write_text("author;word, or words;year\\n")
    ...     text_layout(Path(folder) / "t.csv").columns
    ('author', 'word, or words', 'year')
    """
    encoding = encoding_of(path)
    n_lines = _count_lines(path, memory)
    headers = {delimiter: _header(path, encoding, delimiter) for delimiter in _NAMES}

    def promise(delimiter: str) -> tuple[int, int]:
        header = headers[delimiter]
        return sum(name in header for name in asked), len(header)

    best = max(_NAMES, key=promise)
    if not headers[best]:
        raise ValueError(f"{path.name!r} is empty: there is nothing to read.")
    if len(headers[best]) == 1:
        raise ValueError(
            f"nothing separates columns in the first line of {path.name!r}, {shown(headers[best][0])}: "
            f"{', '.join(list(_NAMES.values())[:-1])} or {_NAMES['|']} is needed between their names."
        )
    _require_memory(path, _BYTES_FOR_FIELD * n_lines * (len(headers[best]) + 1), memory)
    return TextLayout(path.name, encoding, best, headers[best])


@contextmanager
def opened_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """Open a text file, unpacked where it ends in .gz; what goes wrong with its bytes becomes a sentence."""
    try:
        with _unpacked(path) as file, TextIOWrapper(file, encoding, newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        marked = encoding in ("utf-16", "utf-32")
        raise BadFile(damaged(path, error) if marked else _not_utf8(path)) from None


def records(file: TextIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Give every record of a table, the header among them, and the line that it begins on.

    Blank lines are no records, and labels in quotes may go over several lines.

    Examples
    --------
    >>> from io import StringIO
    >>> [line for line, _ in records(StringIO('a,b\\n\\n1,"two\\nlines"\\n3,4\\n'), ",")]
    [1, 3, 5]
    """
    reader = csv.reader(file, delimiter=delimiter)
    begins = 1
    for record in reader:
        if any(field.strip() for field in record) or len(record) > 1:
            yield begins, record
        begins = reader.line_num + 1


def line_of(path: Path, layout: TextLayout, position: int) -> int:
    """Line, as an editor counts, on which the data at this position (0 comes after the header) begin."""
    try:
        with opened_text(path, layout.encoding) as file:
            line, _ = next(islice(records(file, layout.delimiter), position + 1, None))
    except (csv.Error, StopIteration):  # a field of a hundred thousand letters: no line is better than none
        return position + 2
    return line


def first_short(path: Path, layout: TextLayout) -> tuple[int, int] | None:
    """Position of the first data with fewer fields than the header has names, and how many these are."""
    try:
        with opened_text(path, layout.encoding) as file:
            lengths = (len(record) for _, record in islice(records(file, layout.delimiter), 1, None))
            return next(((at, n) for at, n in enumerate(lengths) if n < layout.n_needed), None)
    except csv.Error:  # a field of a hundred thousand letters
        return None


def _header(path: Path, encoding: str, delimiter: str) -> tuple[str, ...]:
    with opened_text(path, encoding) as file:
        try:
            _, header = next(records(file, delimiter), (0, []))
        except csv.Error as error:
            raise ValueError(
                f"the first line of {path.name!r} cannot be read ({error}): it must hold the names of the "
                "columns; look for a quotation mark that is not closed."
            ) from None
    return tuple(unguarded(name.strip()) for name in header)


def _count_lines(path: Path, memory: int | None) -> int:
    """Number of lines, before any is read at once; a file or a line of it that is too large is refused."""
    size = n_lines = 0
    with _unpacked(path) as file:
        while piece := file.read(_LONGEST_LINE):
            ends = max(piece.count(b"\n"), piece.count(b"\r"))
            if not ends and len(piece) == _LONGEST_LINE:
                raise ValueError(
                    f"{path.name!r}, line {n_lines + 1}: the line is longer than {in_bytes(_LONGEST_LINE)}, "
                    "so this is no long table: write each value on a line of its own."
                )
            size, n_lines = size + len(piece), n_lines + ends
            _require_memory(path, _BYTES_FOR_ONE * size, memory)
    return n_lines


def _require_memory(path: Path, needed: int, memory: int | None) -> None:
    what = f"{path.name!r} is text, which is read at once, and"
    advice = "Write it as Parquet, which is read in pieces and has no such limit."
    require_memory(needed, what, [advice], memory)


@contextmanager
def _unpacked(path: Path) -> Iterator[GzipFile | BufferedReader]:
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(damaged(path, error)) from None


def _not_utf8(path: Path) -> str:
    with _unpacked(path) as file:
        line = next((number for number, one in enumerate(file, start=1) if not _is_utf8(one)), 1)
    return (
        f"{path.name!r}, line {line}: this is not UTF-8 text: save the file as UTF-8 "
        "(a spreadsheet calls it 'CSV UTF-8')."
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def guarded(label: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would run, and leave all else as it is.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-1.5"), guarded(-1.5), guarded("'tis")
    ("'=1+1", '-1.5', -1.5, "'tis")
    """
    runs = isinstance(label, str) and _FORMULA.match(label) and not _NUMBER.fullmatch(label)
    return f"'{label}" if runs else label


def unguarded(text: str) -> str:
    """Take away what `guarded` put there.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("'tis"), unguarded(guarded("'=1+1"))
    ('=1+1', "'tis", "'=1+1")
    """
    return text[1:] if _GUARDED.match(text) else text


def write_csv(table: pd.DataFrame, path: Path | TextIO) -> None:
    """Write a table without its index, safe to open in a spreadsheet, and the same when `read` again."""
    safe = table.rename(columns=guarded)
    texts = set(map(str, table.columns))
    for place, (_, column) in enumerate(table.items()):
        if column.dtype.kind == "O":
            marks = {label: guarded(label) for label in column.unique()}
            safe.isetitem(place, [marks.get(label, label) for label in column])
            texts.update(map(str, marks))
    # Python leaves a carriage return as it is, and to a reader it begins a new line.
    quoting = csv.QUOTE_NONNUMERIC if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL
    safe.to_csv(path, index=False, quoting=quoting)
