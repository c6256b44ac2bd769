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
from tparafac2.data.labels import SELECTION
from tparafac2.data.times import times_of_one_kind
from tparafac2.io.arrays import OBJECTS, arrays_in, open_netcdf
from tparafac2.io.endings import ARRAY_ENDINGS, FOLDER_ENDINGS, require_file
from tparafac2.io.longtables import (
    MISSING_VALUES,
    as_numbers,
    plain_labels,
    text_columns,
    told_of,
)
from tparafac2.io.parquet import parquet_columns, parquet_frame
from tparafac2.io.reading import read
from tparafac2.io.selecting import Selection
from tparafac2.io.stored import zarr_arrays, zarr_names
from tparafac2.io.textfiles import text_layout
from tparafac2.large import Stored
from tparafac2.result import holds_result

_EXAMPLES = 3


def describe(
    path: str | os.PathLike[str], *, select: Selection | None = None, **names: Any
) -> dict[str, Any]:
    """Say what a saved model or a data file holds.

    Parameters
    ----------
    path : path
        A file, or a folder with a model.npz, or one of Parquet files whose name ends in .parquet.
    select : Selection, optional
        Of data: what is kept of them.
    **names
        `rows`, `columns`, `time`, `values` and `axes`, as in `read`, where a selection needs to know.

    Returns
    -------
    dict
        `file`, `kind`, and either the `summary` of a model or the `contents` by name; with a selection also
        that.

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
    if source.is_dir() and source.suffix.lower() not in FOLDER_ENDINGS:
        if not (source / "model.npz").exists():
            raise IsADirectoryError(f"{str(source)!r} is a folder without a model.npz: give a file.")
        source = source / "model.npz"
    ending = require_file(source)
    select, names = select or Selection(), {name: one for name, one in names.items() if one is not None}
    if ending in ARRAY_ENDINGS:
        plain = {".nc": _netcdf, ".zarr": _zarr}.get(ending, _numpy)
        found = _selected(source, select, names) if select or names else plain(source)
    else:
        found = (_parquet if ending == ".parquet" else _text)(source, select, names)
    return {"file": str(source), **found}


def _selected(source: Path, select: Selection, names: dict[str, Any]) -> dict[str, Any]:
    found: Any = read(source, select=select, **names)
    array = found.X if isinstance(found, Stored) else found
    if not hasattr(array, "sizes"):  # a store without names, larger than memory
        return {"kind": "array", "contents": {source.stem: f"{array.dtype}, shape {array.shape}"}}
    said = f"{array.dtype}, {_sizes(array.sizes.items())}"
    contents = {str(array.name or "array"): said}
    contents |= {str(dim): _column(array[dim].to_series()) for dim in array.dims if dim in array.coords}
    kept = {"selection": array.attrs[SELECTION]} if SELECTION in array.attrs else {}
    return {"kind": "array", **kept, "contents": contents}


def _kept(select: Selection, frame: Any, names: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """Which lines are kept, and what there is to say of it."""
    if not select:
        return np.ones(len(frame), dtype=bool), {}
    mask = select.lines(frame, names)
    return mask, {"selection": select.account({"lines": (int(mask.sum()), len(mask))})}


def _netcdf(source: Path) -> dict[str, Any]:
    with open_netcdf(source) as dataset:
        contents = {
            str(name): f"{variable.dtype}, {_sizes(variable.sizes.items())}"
            for name, variable in dataset.variables.items()
        }
    return {"kind": "netCDF data", "contents": contents}


def _numpy(source: Path) -> dict[str, Any]:
    from tparafac2.models import load

    if source.suffix.lower() == ".npz" and holds_result(source):
        model = load(source)
        return {"kind": "fitted model", "model": repr(model), "summary": model.summary()}
    contents = {
        name: OBJECTS if array is None else f"{array.dtype}, shape {array.shape}"
        for name, array in arrays_in(source, mmap=True)
    }
    return {"kind": "NumPy arrays", "contents": contents}


def _zarr(source: Path) -> dict[str, Any]:
    contents = {}
    for name, array in zarr_arrays(source).items():
        dims = zarr_names(array)
        size = _sizes(zip(dims, array.shape)) if dims else f"shape {array.shape}"
        contents[name] = f"{array.dtype}, {size}, in chunks of {array.chunks}"
    return {"kind": "Zarr store", "contents": contents}


def _text(source: Path, select: Selection, names: dict[str, Any]) -> dict[str, Any]:
    layout = text_layout(source)
    told_apart = _told_apart(layout.columns[: layout.n_needed])
    with told_of(source, layout):
        select.require_columns(layout.columns, names)
        frame = text_columns(source, layout, range(layout.n_needed))
        frame = frame.rename(columns=dict(enumerate(told_apart))).apply(plain_labels)
        mask, kept = _kept(select, frame, names)
    contents = {name: _column(frame[name][mask], may_be_numbers=True) for name in told_apart}
    kind = f"long table of {mask.sum():,} lines, columns separated by {layout.separator}"
    return {"kind": kind, **kept, "contents": contents}


def _parquet(source: Path, select: Selection, names: dict[str, Any]) -> dict[str, Any]:
    columns = parquet_columns(source)
    with told_of(source, None):
        compared = [*select.require_columns(columns, names), *names.values()]
        mask, kept = _kept(select, parquet_frame(source, dict.fromkeys(compared or columns[:1])), names)
    contents = {}
    for name in columns:  # one at a time: all of them might not fit in memory
        contents[name] = _column(parquet_frame(source, [name])[name][mask])
    return {"kind": f"long table of {mask.sum():,} rows (Parquet)", **kept, "contents": contents}


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
