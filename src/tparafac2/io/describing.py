"""What is in a file, without taking it in whole."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

_LINES = 1000


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Say what a saved model or a data file holds.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict
        `file`, `kind`, and either the `summary` of a model or the `contents` by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.npy"
    ...     np.save(file, np.ones((2, 3, 4)))
    ...     describe(file)["contents"]
    {'array': 'float64, shape (2, 3, 4)'}
    """
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"there is no file {str(source)!r}: check the path.")
    if source.is_dir():
        if (source / "model.nc").exists():
            return describe(source / "model.nc")
        raise IsADirectoryError(f"{str(source)!r} is a folder without a model.nc: give a file.")
    name = source.name.removesuffix(".gz")
    if name.endswith(".nc"):
        return _netcdf(source)
    if name.endswith((".npz", ".npy")):
        return _numpy(source)
    if name.endswith((".csv", ".tsv", ".txt")):
        return _table(source)
    raise ValueError(f"{str(source)!r} is of no known kind: give a .nc, .npz, .npy, .csv, .tsv or .txt file.")


def _netcdf(source: Path) -> dict[str, Any]:
    import xarray as xr

    from tparafac2.models import load

    try:
        with xr.open_dataset(source, engine="h5netcdf", decode_cf=False) as dataset:
            ours = "tparafac2_version" in dataset.attrs and dataset.attrs.get("content") is not None
            contents = {
                str(name): f"{variable.dtype}, {dict(variable.sizes)}"
                for name, variable in dataset.data_vars.items()
            }
    except (OSError, ValueError, KeyError) as problem:
        raise ValueError(f"{str(source)!r} cannot be read as netCDF ({problem}).") from None
    if not ours:
        return {"file": str(source), "kind": "netCDF data", "contents": contents}
    model = load(source)
    return {"file": str(source), "kind": "fitted model", "model": repr(model), "summary": model.summary()}


def _numpy(source: Path) -> dict[str, Any]:
    try:
        opened = np.load(source, allow_pickle=False, mmap_mode="r" if source.suffix == ".npy" else None)
        arrays = (
            {"array": opened} if source.suffix == ".npy" else {name: opened[name] for name in opened.files}
        )
    except (OSError, ValueError, EOFError) as problem:
        raise ValueError(f"{str(source)!r} cannot be read as a NumPy file ({problem}).") from None
    contents = {name: f"{array.dtype}, shape {array.shape}" for name, array in arrays.items()}
    return {"file": str(source), "kind": "NumPy arrays", "contents": contents}


def _table(source: Path) -> dict[str, Any]:
    import pandas as pd

    try:
        head = pd.read_csv(source, sep=None, engine="python", nrows=_LINES)
    except (ValueError, csv.Error, OSError) as problem:
        raise ValueError(f"{str(source)!r} cannot be read as a table ({problem}).") from None
    contents = {
        str(name): f"{column.dtype}, for example {', '.join(map(str, column.dropna().unique()[:3]))}"
        for name, column in head.items()
    }
    return {"file": str(source), "kind": "long table (first lines looked at)", "contents": contents}
