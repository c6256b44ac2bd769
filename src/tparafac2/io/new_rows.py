"""Loadings of new rows, and data that were completed, as tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Table
from tparafac2.data.labels import ORDER
from tparafac2.files import write_netcdf, written_whole
from tparafac2.io.results import loading_lines
from tparafac2.io.textfiles import write_csv
from tparafac2.large import Stored

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from tparafac2.result import Result

_OURS = ("value", "filled")


def row_labels(data: Table | Stored | xr.DataArray) -> NDArray[Any]:
    """Labels of the rows of what `read` gives, or their numbers.

    Examples
    --------
    >>> table = Table({"r": ["b", "a"], "c": [0, 1], "t": [0, 1]}, rows="r", columns="c", time="t")
    >>> row_labels(table).tolist()
    ['a', 'b']
    """
    if isinstance(data, Table | Stored):
        return data.labels.coordinate("rows", data.shape[1])
    return np.asarray(data.coords[data.dims[1]]) if data.dims[1] in data.coords else np.arange(data.shape[1])


def loadings_table(result: Result, A: NDArray[np.float64], rows: NDArray[Any]) -> pd.DataFrame:
    """Loadings of new rows as a long table, on the scale of those that the folder of a fit has.

    Parameters
    ----------
    result : Result
    A : ndarray (I_new, R)
        As `transform` gives them.
    rows : ndarray (I_new,)
        Labels.

    Returns
    -------
    DataFrame
        One line for each row and component, as in ``loadings.csv``: divided by the length of the loadings of
        the rows of the fit.
    """
    lengths = np.linalg.norm(result.A, axis=0)
    scaled = A / np.where(lengths > 0, lengths, 1.0)
    return loading_lines(result, rows, scaled)


def completed_table(completed: xr.DataArray, holes: NDArray[np.bool_]) -> pd.DataFrame:
    """Completed data as a long table: one line for each time, row and column.

    Parameters
    ----------
    completed : DataArray (time, rows, columns)
    holes : ndarray of bool, likewise
        What was filled in.

    Returns
    -------
    DataFrame
        Labels, `value` and `filled` (true or false).
    """
    import pandas as pd

    names = [str(dim) + "_" * (str(dim) in _OURS) for dim in completed.dims]
    labels = [
        np.asarray(completed.coords[dim]) if dim in completed.coords else np.arange(size)
        for dim, size in zip(completed.dims, completed.shape)
    ]
    grid = np.indices(completed.shape).reshape(len(ORDER), -1)
    lines = {name: own[place] for name, own, place in zip(names, labels, grid)}
    lines |= {"value": completed.values.ravel(), "filled": holes.ravel()}
    return pd.DataFrame(lines)


def write_completed(completed: xr.DataArray, holes: NDArray[np.bool_], path: Path) -> None:
    """Write completed data to a file, .csv or .nc, that `read` understands; it is whole or not there."""
    import xarray as xr

    with written_whole(path) as unfinished:
        if path.suffix == ".csv":
            write_csv(completed_table(completed, holes), unfinished)
            return
        found = {"completed": completed, "filled": completed.copy(data=holes)}
        write_netcdf(xr.Dataset({name: one.drop_attrs() for name, one in found.items()}), unfinished)
