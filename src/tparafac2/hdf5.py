"""netCDF files of the HDF5 kind: sealed when they are written, and read in no way that could hang.

Damaged bytes can send the HDF5 library round in circles for ever, where no signal reaches it, or change
numbers without a word. So files end with a checksum of all their bytes, which other programs do not look at.
It is tested before the library sees the file. A file without one is read by another process first, for a
limited time.
"""

from __future__ import annotations

import hashlib
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import xarray as xr

_MARK = b"\ntparafac2 seal\n"
_SEAL_BYTES = len(_MARK) + hashlib.sha256().digest_size + len(_MARK)
_PATIENCE = 60.0
"""Seconds in which a small file has to be read."""
_SLOWEST = 2e6
"""Bytes per second at which a large file has to be read at least."""
_PIECE = 64_000_000
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
"""Name of what stands for a dimension without labels, and is never read."""
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def write_sealed(dataset: xr.Dataset, path: Path, encoding: Mapping[Any, Any] | None = None) -> None:
    """Write a data set as netCDF, with a checksum of its bytes behind them.

    Examples
    --------
    >>> import tempfile
    >>> import xarray as xr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sealed(xr.Dataset({"rain": ("day", [1.0, 2.0])}), Path(folder, "rain.nc"))
    ...     xr.load_dataset(Path(folder, "rain.nc"))["rain"].values.tolist()
    [1.0, 2.0]
    """
    # In memory first: on a full disk HDF5 cannot close its file, and Python crashes when it ends.
    # The view of it is let go whatever happens: an error would keep it, and newer Pythons crash on that, too.
    with (
        memoryview(dataset.to_netcdf(engine="h5netcdf", encoding=encoding)) as content,
        path.open("wb") as file,
    ):
        file.write(content)
        file.write(_seal(hashlib.sha256(content).digest()))


def open_hdf5(path: Path, *, alone: bool = False, **options: Any) -> xr.Dataset:
    """Open a netCDF file of the HDF5 kind, from whatever source; variables are read when they are asked for.

    Parameters
    ----------
    path : Path
        A plain file.
    alone : bool
        Refuse what leads to another file, or claims to be larger than this one.
    **options
        Of `xarray.open_dataset`.

    Raises
    ------
    ValueError
        If the bytes are not those that were written, or reading them takes too long or ends in a crash; or
        if it does not stand alone and should.
    Exception
        Whatever the libraries below say of a bad file.
    """
    import h5py
    import xarray as xr

    _require_sound(path)
    # Where h5netcdf fails itself it leaves half an object, and when this goes Python prints a traceback.
    with h5py.File(path, "r") as file:
        file.attrs.get("_nc3_strict")
        if alone:
            _require_alone(file, path.stat().st_size)
    # Foreign files may have dimensions without names.
    return xr.open_dataset(path, engine="h5netcdf", phony_dims="access", **options)


def _require_alone(file: Any, size: int) -> None:
    import h5py

    claimed = 0
    for name in file:
        linked = not isinstance(file.get(name, getlink=True), h5py.HardLink)
        one = None if linked else file[name]
        if not isinstance(one, h5py.Dataset) or one.is_virtual or one.external:
            raise ValueError(f"{name} leads to another place")
        if not one.attrs.get("NAME", b"").startswith(_NO_VARIABLE):
            claimed += math.prod(one.shape or ()) * one.dtype.itemsize
    if claimed > size:
        raise ValueError(f"it claims to hold {claimed:,} bytes, and has {size:,}")


def _require_sound(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        sealed = _is_sealed(file, size)
    if not sealed:
        _require_readable(path, _PATIENCE + size / _SLOWEST)


def _is_sealed(file: BinaryIO, size: int) -> bool:
    """Whether there is a checksum that fits. Two marks, so that damage of the content does not hide it."""
    file.seek(max(0, size - _SEAL_BYTES))
    tail = file.read()
    if _MARK not in tail:
        return False
    file.seek(0)
    checksum, left = hashlib.sha256(), size - _SEAL_BYTES
    while left > 0 and (piece := file.read(min(left, 1 << 20))):
        checksum.update(piece)
        left -= len(piece)
    if tail != _seal(checksum.digest()):
        raise ValueError("its bytes are not those that were written: the checksum differs")
    return True


def _seal(digest: bytes) -> bytes:
    return _MARK + digest + _MARK


def _require_readable(path: Path, seconds: float) -> None:
    """Let another process read all of it, which can be ended if it hangs."""
    command = [sys.executable, "-P", __file__, str(path), str(round(seconds))]
    environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            command,
            env=environment,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it had not come to an end after {seconds:.0f} seconds") from None
    if done.returncode not in (0, 1):  # with an error the reader has come to an end, and we will hear of it
        raise ValueError("the HDF5 library crashed on it")


def _read_all(path: str) -> None:
    """Ask the libraries for everything that xarray may ask them for."""
    import h5netcdf

    with h5netcdf.File(path, "r", phony_dims="access") as file:
        dict(file.attrs)
        for variable in file.variables.values():
            with suppress(Exception):
                dict(variable.attrs)
                _read_variable(variable)


def _read_variable(variable: Any) -> None:
    if not variable.dimensions:
        variable[...]
        return
    length, *others = variable.shape
    per_line = variable.dtype.itemsize
    for other in others:
        per_line *= other
    chunk = variable.chunks[0] if variable.chunks else 1
    lines = max(_PIECE // max(per_line, 1), chunk, 1)
    for begin in range(0, length, lines):
        variable[begin : begin + lines]


if __name__ == "__main__":
    if hasattr(signal, "alarm"):  # also if nobody is left to end it
        signal.alarm(int(sys.argv[2]) + 1)
    _read_all(sys.argv[1])
