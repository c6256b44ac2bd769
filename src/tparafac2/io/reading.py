"""Data from files, whatever their kind."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tparafac2.data import MODES, Table, listed, shown
from tparafac2.data.table import TABLE_DEFAULTS, TableOptions, require_top
from tparafac2.errors import InvalidValue
from tparafac2.io.arrays import read_netcdf, read_numpy
from tparafac2.io.endings import ARRAY_ENDINGS, require_file
from tparafac2.io.longtables import Columns, read_parquet_table, read_text_table, told_of
from tparafac2.io.parquet import parquet_columns
from tparafac2.io.selecting import Selection, in_turn, top_columns
from tparafac2.io.stored import KEPT_ENDINGS, Asked, load_zarr, read_kept
from tparafac2.io.textfiles import SHOWN_COLUMNS, text_layout
from tparafac2.large import Stored, read_memory
from tparafac2.words import Argument, Part, Setting

if TYPE_CHECKING:
    import xarray as xr

_OF_TABLES = ("absent", "duplicates", "weights")
_OF_ARRAYS = ("memory", "client")


class ReadOptions(TableOptions, total=False):
    """Options of `read`: those of a table, and how large arrays are read."""

    memory: str | int | None
    client: Any
    one_time: bool


def read(
    path: str | os.PathLike[str],
    *,
    rows: str | None = None,
    columns: str | None = None,
    time: str | None = None,
    values: str | None = None,
    axes: str | Sequence[str] | None = None,
    select: Selection | None = None,
    **options: Unpack[ReadOptions],
) -> Table | Stored | xr.DataArray:
    """Read data for a fit.

    Parameters
    ----------
    path : path
        A long table: .csv, .tsv or .txt (also packed, .csv.gz), or .parquet, a file or a folder of part
        files, for which pyarrow is needed: it is read in pieces, and may be of any length. Or an array: .nc
        (netCDF), .npz or .npy (NumPy), or .zarr, for which zarr is needed. Columns of a text file may be
        separated by commas, semicolons, tabs or ``|``, whatever its ending; its first line has their names.
    rows, columns, time : str
        Of a long table: names of the columns that say which row, column and time a line belongs to. Of a
        netCDF file: names of the dimensions, where they are not plain. Of an .npz file: names of the arrays
        that hold labels, if these are not called rows, columns and time.
    values : str, optional
        Of a long table: name of the column with the values, in which True and False are 1 and 0; lines are
        counted without it. Else name of the array, if several in the file have three dimensions.
    axes : str, or sequence of str
        For .npz and .npy: what the dimensions are, for example "rows,columns,time" or ("time", "rows",
        "columns").
    select : Selection, optional
        What is kept: times, lines or labels that fulfil conditions, columns that are not left out.
    **options
        `top_columns` and `top_by`, as in `Table`; for long tables also `absent`, `duplicates` and `weights`.
        `memory`, the most that reading and a fit may use, such as "8GB": long tables that need more are
        refused before the work; of arrays (where it is half of the machine's unless given) what takes more
        than a quarter of it stays where it is, and is read in blocks of rows when it is fitted. For arrays
        also `client`, a distributed.Client of a Dask cluster, whose workers read the rows and keep them.
        `one_time` takes a long table of one time, too, to be appended to a model.

    Returns
    -------
    Table, xarray.DataArray or Stored
        All can be fitted. Dimensions of an array are in the order time, rows, columns; they keep their names
        if these tell which is which, and are else called so.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, OSError
        If there is no file, it may not be read, or it is a pipe or a device.
    ValueError, TypeError
        If what is in it cannot be used; the sentence names the line, as an editor counts.
    ImportError
        For .parquet if pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "words.csv"
    ...     _ = file.write_text("author;word;year\\nAnn;ice;2020\\nBo;sun;2021\\n")
    ...     table = read(file, rows="author", columns="word", time="year")
    >>> table.shape, table.labels.rows.tolist()
    ((2, 2, 2), ['Ann', 'Bo'])
    """
    known = (*TABLE_DEFAULTS, *_OF_ARRAYS, "one_time")
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(f"read has no option {unknown[0]!r}; it has {', '.join(known)}.")
    memory, client = options.pop("memory", None), options.pop("client", None)
    one_time = options.pop("one_time", False)
    select = select or Selection()
    require_top(options.get("top_columns"), options.get("top_by", "total"))
    source = Path(path)
    ending = require_file(source)
    asked = {"rows": rows, "columns": columns, "time": time, "values": values}
    if ending not in ARRAY_ENDINGS:
        _refuse("axes", axes, None, f"{source.name!r} is a long table: leave it out.")
        if client is not None:
            raise InvalidValue(
                Argument("client"),
                f" cannot be used here: {source.name!r} is a long table, which is read and fitted where you "
                "are; a cluster shares the fits by which the data choose rank and smoothness.",
                received=client,
            )
        is_parquet, budget = ending == ".parquet", None if memory is None else read_memory(memory)
        complete = _complete(source, asked | {"weights": options.get("weights")}, is_parquet)
        table = (read_parquet_table if is_parquet else read_text_table)(
            source, complete, options, select, budget
        )
        if not one_time:
            with told_of(source, None):
                table.require_times()
        return table
    for name in _OF_TABLES:
        default = TABLE_DEFAULTS[name]
        _refuse(name, options.get(name, default), default, f"{source.name!r} is no long table: leave it out.")
    names = {mode: found for mode in MODES if (found := asked[mode]) is not None}
    if ending == ".nc":
        names_them = "netCDF files name their dimensions: say "
        _refuse("axes", axes, None, names_them, *in_turn(map(Setting, MODES)), ".")
    asked_for = Asked(names, values, axes, select, memory, client)
    kept = read_kept(source, asked_for) if ending in KEPT_ENDINGS else None
    if kept is not None:
        _refuse("top_columns", options.get("top_columns"), None, f"{source.name!r} is not read at once.")
        return kept
    if ending == ".nc":
        array = read_netcdf(source, names, values)
    elif ending == ".zarr":
        array = load_zarr(source, asked_for)
    else:
        array = read_numpy(source, names, values, axes)
    array = select.of_array(source.name, array) if select else array
    count = options.get("top_columns")
    return array if count is None else top_columns(array, count, options.get("top_by", "total"))


def _refuse(name: str, value: object, default: object, *reason: Part) -> None:
    if value != default:
        raise InvalidValue(Setting(name, value), " cannot be used here: ", *reason, received=value)


def _complete(source: Path, asked: Mapping[str, Any], is_parquet: bool) -> Columns:
    lacking = [Setting(mode) for mode in MODES if asked[mode] is None]
    if lacking:
        # What there is to choose from is what the user needs to see now.
        found = _listed(source) if is_parquet else text_layout(source).describe()
        raise InvalidValue(
            f"{source.name!r} is a long table: say by ",
            *in_turn(lacking),
            f" which of its columns these are. {found}",
        )
    return {role: name for role, name in asked.items() if name is not None}


def _listed(source: Path) -> str:
    names = parquet_columns(source)
    return f"{source.name!r} has {len(names)} columns: {listed(map(shown, names), SHOWN_COLUMNS)}."
