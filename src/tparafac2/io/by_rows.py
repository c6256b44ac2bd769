"""Rewriting an array so that all times and columns of a row lie together, as a fit reads it fastest."""

import math
import os
import shutil
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from tparafac2.data.labels import Mode
from tparafac2.data.memory import in_bytes
from tparafac2.errors import InTheWay, InvalidValue, NoFile
from tparafac2.files import written_whole
from tparafac2.large import Stored
from tparafac2.words import Setting

_ORDER: tuple[Mode, Mode, Mode] = ("rows", "time", "columns")
_PARTS = 8  # of the memory: what is read at once, and copies of it on its way


def store_by_rows(
    X: Any,
    path: str | os.PathLike[str],
    *,
    dims: Mapping[str, Hashable] | None = None,
    memory: str | int | None = None,
    overwrite: bool = False,
) -> Path:
    """Write an array to a netCDF file in which all times and columns of a row lie together.

    So a fit reads it fastest. Arrays in chunks of few times and many rows would be read many times over.

    Parameters
    ----------
    X : as for `Stored`
        Or an array in memory.
    path : path
        Of a file that ends in .nc.
    dims : mapping, optional
        For a DataArray: which dimension is which, as in `fit`.
    memory : str or int, optional
        Most memory to use; half of the machine's unless given.
    overwrite : bool
        Replace the file if it exists.

    Returns
    -------
    Path
        Of the file, in which the array is called X.

    Raises
    ------
    OSError
        If the disk has no room for it; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import tparafac2 as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = store_by_rows(np.ones((3, 5, 4)), Path(folder) / "by-rows.nc")
    ...     tp.io.read(file).sizes
    Frozen({'time': 3, 'rows': 5, 'columns': 4})
    """
    target = Path(path)
    if target.suffix.lower() != ".nc":
        raise InvalidValue(
            f"what is stored by rows is a netCDF file, and {target.name!r} does not end in .nc."
        )
    if target.exists() and not overwrite:
        raise InTheWay(f"{str(target)!r} exists already: ", Setting("overwrite", True), " replaces it.")
    stored = Stored(X, dims, memory=memory)
    size = math.prod(stored.shape) * stored.source.dtype.itemsize
    _require_disk(target, size)
    with written_whole(target) as unfinished:
        _write(stored, unfinished, max(1, stored.budget * stored.shape[0] // (_PARTS * size)))
    return target


def _write(stored: Stored, path: Path, times: int) -> None:
    """Write labels, and then the entries, some times at once."""
    import h5netcdf
    import xarray as xr

    K, I, J = stored.shape
    labels = {mode: getattr(stored.labels, mode) for mode in _ORDER}
    xr.Dataset(coords={mode: one for mode, one in labels.items() if one is not None}).to_netcdf(
        path, engine="h5netcdf"
    )
    with h5netcdf.File(path, "a") as file:
        for mode, length in zip(_ORDER, (I, K, J)):
            if mode not in file.dimensions:
                file.dimensions[mode] = length
        entries = file.create_variable("X", _ORDER, stored.source.dtype)
        for first in range(0, K, times):
            some = slice(first, min(first + times, K))
            entries[:, some, :] = stored.source.read(slice(0, I), some).transpose(1, 0, 2)


def _require_disk(target: Path, size: int) -> None:
    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise NoFile(
            f"{str(target)!r} would take {in_bytes(size)}, and the disk has {in_bytes(free)} left: "
            "free some, or choose another disk."
        )
