"""Labels that a spreadsheet would take for formulas: marked as text when written, as they were when read."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


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


def write_csv(table: pd.DataFrame, path: Path) -> None:
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
