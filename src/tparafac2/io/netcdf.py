"""Data in netCDF files, which name their dimensions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tparafac2.data import Mode
from tparafac2.data.labels import ORDER, dated_dims, labels_of, resolve_dims
from tparafac2.errors import InvalidValue
from tparafac2.hdf5 import open_hdf5
from tparafac2.io.choosing import choose_array, nearest
from tparafac2.io.endings import blamed_on
from tparafac2.io.file_arrays import array_of_file
from tparafac2.result.layout import CONTENT
from tparafac2.words import Advice, Setting

if TYPE_CHECKING:
    import xarray as xr


def read_netcdf(path: Path, dims: Mapping[Mode, str], values: str | None) -> xr.DataArray:
    """Read a variable of three dimensions.

    Parameters
    ----------
    path : Path
    dims : mapping
        Names of dimensions, by mode; what is left out is told from the names.
    values : str, optional
        Name of the variable, if there are several.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import xarray as xr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X = xr.DataArray(np.ones((3, 4, 2)), dims=("author", "word", "year"), name="counts")
    ...     _ = X.to_netcdf(Path(folder) / "x.nc", engine="h5netcdf")
    ...     read_netcdf(Path(folder) / "x.nc", {}, None).dims
    ('year', 'author', 'word')
    """
    array = _loaded(path, values)
    found = _resolved(path, array, dims)
    stack = array.transpose(*(found[mode] for mode in ORDER)).values
    return array_of_file(path.name, stack, labels_of(array, found), array.name)


def open_netcdf(path: Path) -> xr.Dataset:
    """Open a netCDF file of any format; what it holds is read when it is asked for."""
    import xarray as xr

    with path.open("rb") as file:
        classic = file.read(3) == b"CDF"
    with blamed_on(path):
        if classic:
            # A file that is mapped to memory and too short would end the process.
            return xr.open_dataset(path, engine="scipy", mmap=False)
        return open_hdf5(path)


def holds_model(dataset: xr.Dataset) -> bool:
    """Whether this is what `save` wrote of a fitted model."""
    return bool(np.array_equal(dataset.attrs.get("content", ""), CONTENT))


def _loaded(path: Path, values: str | None) -> xr.DataArray:
    with open_netcdf(path) as dataset:
        if holds_model(dataset):
            raise InvalidValue(
                f"{path.name!r} holds a fitted model, not data: ",
                Advice("load", "open it with tparafac2.load"),
                ".",
            )
        variables = {str(name): variable for name, variable in dataset.data_vars.items()}
        shapes = {name: f"({', '.join(map(str, one.dims))})" for name, one in variables.items()}
        usable = [name for name, one in variables.items() if one.ndim == 3 and one.dtype.kind in "biuf"]
        chosen = choose_array(path.name, shapes, usable, values)
        with blamed_on(path):
            return dataset[chosen].load()


def _resolved(path: Path, array: xr.DataArray, dims: Mapping[Mode, str]) -> dict[Mode, Hashable]:
    has = {str(dim): dim for dim in array.dims}
    listed = ", ".join(map(repr, has))
    for mode, name in dims.items():
        if name not in has:
            raise InvalidValue(
                Setting(mode, name),
                f" is not a dimension of {array.name!r} in {path.name!r}{nearest(name, has)} "
                f"It has {listed}.",
                received=name,
            )
    try:
        return resolve_dims(array.dims, {str(mode): name for mode, name in dims.items()}, dated_dims(array))
    except ValueError:
        rows, columns, time = has
        raise InvalidValue(
            f"{path.name!r} has the dimensions {listed}: say which are rows, columns and time, each another, "
            "for example ",
            Setting("rows", rows),
            ", ",
            Setting("columns", columns),
            ", ",
            Setting("time", time),
            ".",
        ) from None
