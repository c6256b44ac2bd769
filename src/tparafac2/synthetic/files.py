"""Synthetic data and their truth as a labelled data set, and on disk: complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tparafac2.files import written_whole
from tparafac2.hdf5 import write_sealed
from tparafac2.synthetic.provenance import command_line, python_line, recipe_json

if TYPE_CHECKING:
    import xarray as xr

    from tparafac2.synthetic.dataset import SyntheticData


def to_dataset(data: SyntheticData) -> xr.Dataset:
    """Give data and truth as one data set; see `SyntheticData.to_dataset`.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> to_dataset(easy(seed=0, n_times=8, n_rows=30, n_columns=24)).X.dims
    ('time', 'rows', 'columns')
    """
    import xarray as xr

    variables = {
        "X": (("time", "rows", "columns"), data.X, {"long_name": "noisy data"}),
        "A": (("rows", "component"), data.A, {"long_name": "true loadings"}),
        "B": (("time", "columns", "component"), data.B, {"long_name": "true patterns"}),
        "C": (("time", "component"), data.C, {"long_name": "true strengths"}),
    }
    component = np.arange(1, len(data.concepts) + 1)
    return xr.Dataset(variables, {"component": component}, facts(data))


def facts(data: SyntheticData) -> dict[str, str | int | float]:
    """Say in plain values what the data are and what made them.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> sorted(facts(easy(seed=0, n_times=8, n_rows=30, n_columns=24)))
    ['case', 'command', 'noise', 'overlap', 'python', 'recipe', 'seed', 'tparafac2_version']
    """
    from tparafac2 import __version__

    recipe, seed = data.recipe, int(data.seed)
    known: dict[str, str | int | float] = {
        "case": data.case,
        # Seeds have no greatest value, numbers in files have.
        "seed": seed if seed <= np.iinfo(np.int64).max else str(seed),
        "noise": float(data.noise),
        "overlap": float(recipe.overlap),
        "recipe": recipe_json(recipe),
        "tparafac2_version": __version__,
        "python": python_line(recipe),
    }
    command = command_line(recipe)
    return known if command is None else {**known, "command": command}


def save_data(data: SyntheticData, path: str | os.PathLike[str]) -> None:
    """Write data and truth to a file; see `SyntheticData.save`.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> save_data(easy(seed=0, n_times=8, n_rows=30, n_columns=24), "data.csv")
    Traceback (most recent call last):
    ValueError: synthetic data are saved in a file ending in .nc (netCDF) or .npz (NumPy); got 'data.csv'.
    """
    target = check_target(path)
    with written_whole(target) as unfinished:
        if target.suffix == ".npz":
            np.savez(unfinished, X=data.X, A=data.A, B=data.B, C=data.C)
        else:
            write_sealed(to_dataset(data), unfinished)


def check_target(path: str | os.PathLike[str]) -> Path:
    """Refuse a path that data cannot be saved to, before they are made.

    Examples
    --------
    >>> check_target("no such folder/data.nc")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder 'no such folder' to save 'data.nc' in: make it first.
    """
    target = Path(path)
    if target.suffix not in (".nc", ".npz"):
        raise ValueError(
            f"synthetic data are saved in a file ending in .nc (netCDF) or .npz (NumPy); got {str(target)!r}."
        )
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(folder)!r} to save {target.name!r} in: make it first."
        )
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder: give the path of a file.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"the folder {str(folder)!r} may not be written to: choose another, or change its permissions."
        )
    return target
