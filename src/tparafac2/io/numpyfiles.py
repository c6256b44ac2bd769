"""Data in NumPy's files, which do not name the dimensions of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Labels, Mode
from tparafac2.io.choosing import choose_array, nearest
from tparafac2.io.endings import blamed_on
from tparafac2.io.naming import ORDER, array_of_file

if TYPE_CHECKING:
    import xarray as xr

_ONLY = "array"  # what an .npy file holds has no name


def read_numpy(path: Path, names: Mapping[Mode, str], values: str | None, axes: str | None) -> xr.DataArray:
    """Read an array of three dimensions, and labels if there are any.

    Parameters
    ----------
    path : Path
        An .npy or .npz file.
    names : mapping
        For .npz: by mode, names of the arrays that hold labels; arrays called "rows", "columns" and "time"
        need not be mentioned.
    values : str, optional
        For .npz: name of the array, if there are several.
    axes : str
        What the dimensions are, in their order, for example "rows,columns,time".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=np.ones((3, 4, 2)), time=[2020, 2021])
    ...     X = read_numpy(Path(folder) / "x.npz", {}, None, "rows,columns,time")
    >>> X.dims, X.time.values.tolist()
    (('time', 'rows', 'columns'), [2020, 2021])
    """
    arrays = _loaded(path)
    if path.suffix.lower() == ".npy" and (names or values):
        raise ValueError(
            f"{path.name!r} holds one array without names: leave out rows=, columns=, time= and values=, or "
            "save labels beside it in an .npz file."
        )
    shapes = {name: str(array.shape) for name, array in arrays.items()}
    usable = [name for name, array in arrays.items() if array.ndim == 3 and array.dtype.kind in "biuf"]
    chosen = choose_array(path.name, shapes, usable, values)
    order = _read_axes(path, axes, arrays[chosen].shape)
    stack = arrays[chosen].transpose([order.index(mode) for mode in ORDER])
    sizes = dict(zip(ORDER, stack.shape))
    labels = {mode: _labels(path, arrays, mode, names.get(mode), sizes[mode]) for mode in MODES}
    return array_of_file(path.name, stack, Labels(**labels, names=_distinct(names)), chosen)


def _loaded(path: Path) -> dict[str, NDArray[Any]]:
    with blamed_on(path):
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return {_ONLY: found}
        with found:
            opened = {name: _opened(found, name) for name in found.files}
    return {name: array for name, array in opened.items() if array is not None}


def _opened(found: Any, name: str) -> NDArray[Any] | None:
    """One array of an .npz file; None for Python objects, which could run whatever a stranger likes."""
    try:
        return np.asarray(found[name])
    except ValueError as error:
        if "allow_pickle" in str(error):
            return None
        raise


def _read_axes(path: Path, axes: str | None, shape: tuple[int, ...]) -> list[str]:
    order = [] if axes is None else [axis.strip() for axis in str(axes).split(",")]
    if sorted(order) != sorted(MODES):
        said = "" if axes is None else f"; got axes={axes!r}"
        raise ValueError(
            f"the array in {path.name!r} has shape {shape}: say by axes= which of its dimensions are rows, "
            f"columns and time, in their order, for example axes='rows,columns,time'{said}."
        )
    return order


def _labels(
    path: Path, arrays: Mapping[str, NDArray[Any]], mode: Mode, name: str | None, size: int
) -> NDArray[Any] | None:
    if name is None and mode not in arrays:
        return None
    name = mode if name is None else name
    if name not in arrays:
        raise ValueError(
            f"{mode}={name!r} is not an array in {path.name!r}{nearest(name, arrays)} "
            f"It has {', '.join(map(repr, arrays))} (Python objects are not opened: save labels as text, "
            "with labels.astype(str))."
        )
    labels = arrays[name]
    if labels.shape != (size,):
        raise ValueError(
            f"{name!r} in {path.name!r} has shape {labels.shape}, but {size} labels of {mode} are needed: "
            "check axes=, or save one label for each."
        )
    return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels


def _distinct(names: Mapping[Mode, str]) -> Mapping[Mode, str]:
    # Rows and columns may have the same labels, as where countries agree with countries.
    return names if len({names.get(mode, mode) for mode in MODES}) == len(MODES) else {}
