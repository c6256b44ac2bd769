"""Synthetic data, their truth and the line that makes them again, as a labelled data set and on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.files import write_netcdf, written_whole
from tparafac2.synthetic.recipe import Recipe
from tparafac2.synthetic.strengths import Weakened

if TYPE_CHECKING:
    import xarray as xr

    from tparafac2.synthetic.dataset import SyntheticData


def to_dataset(data: SyntheticData) -> xr.Dataset:
    """Give data and truth as one data set; see `SyntheticData.to_dataset`."""
    import xarray as xr

    variables = {
        "X": (("time", "rows", "columns"), data.X, {"long_name": "noisy data"}),
        "A": (("rows", "component"), data.A, {"long_name": "true loadings"}),
        "B": (("time", "columns", "component"), data.B, {"long_name": "true patterns"}),
        "C": (("time", "component"), data.C, {"long_name": "true strengths"}),
    }
    component = np.arange(1, len(data.concepts) + 1)
    return xr.Dataset(variables, {"component": component}, _facts(data))


def _facts(data: SyntheticData) -> dict[str, str | int | float]:
    """Say in plain values what the data are and what made them."""
    from tparafac2 import __version__

    recipe, seed = data.recipe, int(data.seed)
    return {
        "case": data.case,
        # Seeds have no greatest value, numbers in files have.
        "seed": seed if seed <= np.iinfo(np.int64).max else str(seed),
        "noise": float(data.noise),
        "overlap": float(recipe.overlap),
        "tparafac2_version": __version__,
        "python": _python_line(recipe),
    }


def save_data(data: SyntheticData, path: str | os.PathLike[str]) -> None:
    """Write data and truth to a file; see `SyntheticData.save`."""
    target = check_target(path)
    with written_whole(target) as unfinished:
        if target.suffix == ".npz":
            np.savez(unfinished, X=data.X, A=data.A, B=data.B, C=data.C)
        else:
            write_netcdf(to_dataset(data), unfinished)


def check_target(path: str | os.PathLike[str]) -> Path:
    """Refuse a path that data cannot be saved to, before they are made."""
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


def _python_line(recipe: Recipe) -> str:
    """Give a line of Python that makes the data set again."""
    arguments: dict[str, Any] = {
        "seed": int(recipe.seed),
        **_own_argument(recipe),
        "noise": float(recipe.noise),
        **{name: int(number) for name, number in recipe.size._asdict().items()},
    }
    if recipe.case == "custom":
        function = "generate"
        arguments = {"concepts": list(recipe.concepts), **arguments}
        arguments["enforce_parafac2"] = recipe.enforce_parafac2
    else:
        function = recipe.case
        arguments["n_concepts"] = len(recipe.concepts)
    arguments |= {"fresh_importances": recipe.fresh_importances, "dtype": recipe.dtype}
    listed = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"from tparafac2.synthetic import *; data = {function}({listed})"


def _own_argument(recipe: Recipe) -> dict[str, int | float]:
    """Give the argument that only this case has."""
    if recipe.case == "almost_zero":
        return {"n_weak": sum(isinstance(concept.strength, Weakened) for concept in recipe.concepts)}
    if recipe.case in ("overlapping", "custom"):
        return {"overlap": float(recipe.overlap)}
    return {}
