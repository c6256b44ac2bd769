"""What is in a file, read as a fit would read it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import shown
from tparafac2.data.times import times_of_one_kind
from tparafac2.io.endings import require_file
from tparafac2.io.longtables import (
    MISSING_VALUES,
    as_numbers,
    parquet_columns,
    parquet_frame,
    plain_labels,
    text_columns,
    told_of,
)
from tparafac2.io.netcdf import holds_model, open_netcdf
from tparafac2.io.numpyfiles import OBJECTS, arrays_in
from tparafac2.io.textfiles import text_layout

_EXAMPLES = 3


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Say what a saved model or a data file holds.

    Parameters
    ----------
    path : path
        A file, or a folder with a model.nc.

    Returns
    -------
    dict
        `file`, `kind`, and either the `summary` of a model or the `contents` by name.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, OSError, ValueError, ImportError
        As `read` does.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.csv"
    ...     _ = file.write_text("zip;year;n\\n007;2020;1.5\\n042;2021;NA\\n")
    ...     describe(file)["contents"]  # doctest: +NORMALIZE_WHITESPACE
    {'zip': "numbers as values, text as labels, 2 different, for example '007', '042'",
     'year': 'numbers from 2020 to 2021, 2 different',
     'n': "numbers as values, text as labels, 2 different, for example '1.5', 'NA', 1 missing"}
    """
    source = Path(path)
    if source.is_dir():
        if not (source / "model.nc").exists():
            raise IsADirectoryError(f"{str(source)!r} is a folder without a model.nc: give a file.")
        source = source / "model.nc"
    ending = require_file(source)
    if ending == ".nc":
        found = _netcdf(source)
    elif ending in (".npy", ".npz"):
        found = _numpy(source)
    else:
        found = _parquet(source) if ending == ".parquet" else _text(source)
    return {"file": str(source), **found}


def _netcdf(source: Path) -> dict[str, Any]:
    from tparafac2.models import load

    with open_netcdf(source) as dataset:
        is_model = holds_model(dataset)
        contents = {
            str(name): f"{variable.dtype}, {_sizes(variable.sizes.items())}"
            for name, variable in dataset.variables.items()
        }
    if not is_model:
        return {"kind": "netCDF data", "contents": contents}
    model = load(source)
    return {"kind": "fitted model", "model": repr(model), "summary": model.summary()}


def _numpy(source: Path) -> dict[str, Any]:
    contents = {
        name: OBJECTS if array is None else f"{array.dtype}, shape {array.shape}"
        for name, array in arrays_in(source, mmap=True)
    }
    return {"kind": "NumPy arrays", "contents": contents}


def _text(source: Path) -> dict[str, Any]:
    layout = text_layout(source)
    with told_of(source, layout):
        frame = text_columns(source, layout, range(layout.n_needed))
    contents = {
        name: _column(plain_labels(frame[place]), may_be_numbers=True)
        for place, name in enumerate(_told_apart(layout.columns[: layout.n_needed]))
    }
    kind = f"long table of {len(frame):,} lines, columns separated by {layout.separator}"
    return {"kind": kind, "contents": contents}


def _parquet(source: Path) -> dict[str, Any]:
    n_rows, contents = 0, {}
    for name in parquet_columns(source):  # one at a time: all of them might not fit in memory
        column = parquet_frame(source, [name])[name]
        n_rows, contents[name] = len(column), _column(column)
    return {"kind": f"long table of {n_rows:,} rows (Parquet)", "contents": contents}


def _column(column: Any, may_be_numbers: bool = False) -> str:
    """Say what a column would be as labels; and that it would be numbers as values, if these are other."""
    try:
        different = np.asarray(column.dropna().unique())
    except TypeError:
        return "neither text nor numbers: it cannot be used"
    if not len(different):
        return "empty"
    kind, missing = _kind(different), column.isna()
    if may_be_numbers and different.dtype.kind == "O" and _are_numbers(different):
        kind, missing = "numbers as values, text as labels", missing | column.isin(MISSING_VALUES)
    said = f"{kind}, {len(different):,} different"
    if different.dtype.kind == "O":
        said += f", for example {', '.join(map(shown, different[:_EXAMPLES]))}"
    return f"{said}, {missing.sum():,} missing" if missing.any() else said


def _kind(different: NDArray[Any]) -> str:
    times, usable = different, np.array([different.dtype.kind in "iufM"])
    if different.dtype.kind == "O" and isinstance(different[0], str):
        times, usable = times_of_one_kind(different)
        usable = usable & (times.dtype.kind == "M")
    if not usable.all():
        return "text" if isinstance(different[0], str) else type(different[0]).__name__
    name = "dates" if times.dtype.kind == "M" else "numbers"
    return f"{name} from {shown(times.min())} to {shown(times.max())}"


def _are_numbers(texts: NDArray[Any]) -> bool:
    import pandas as pd

    texts = texts[~np.isin(texts, MISSING_VALUES)]
    try:
        return len(texts) > 0 and len(as_numbers(pd.Series(texts))) > 0
    except ValueError:
        return False


def _told_apart(names: Sequence[str]) -> list[str]:
    counts = Counter(names)
    return [
        name if name and counts[name] == 1 else f"{name} (column {place})".strip()
        for place, name in enumerate(names, start=1)
    ]


def _sizes(sizes: Iterable[tuple[Any, int]]) -> str:
    return " x ".join(f"{size} {name}" for name, size in sizes) or "one value"
