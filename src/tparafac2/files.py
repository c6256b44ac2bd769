"""Files that are complete or not there at all, and archives of arrays that are safe to open."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

_PLAIN = "biufUSmM"
_LAST_CHARACTER = 0x10FFFF
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # it differs in the alphabet of the names of fields
}


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `target` only if all went well.

    Parameters
    ----------
    target : Path
        Replaced at one stroke if it exists.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "note.txt") as unfinished:
    ...         _ = unfinished.write_text("done")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    # The ending stays: some writers choose the format by it.
    unfinished = target.with_name(f".{secrets.token_hex(8)}{UNFINISHED}{target.suffix}")
    try:
        yield unfinished
        with open(unfinished, "rb") as written:
            os.fsync(written.fileno())  # or a power cut could leave the name without the content
        os.replace(unfinished, target)
    except OSError as error:
        if error.errno is None:
            raise
        # The user knows nothing of the unfinished file.
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
    finally:
        unfinished.unlink(missing_ok=True)


UNFINISHED = ".unfinished"
"""Part of the name of files that a killed process may leave behind."""


def write_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write a data set as netCDF."""
    # In memory first: on a full disk HDF5 cannot close its file, and Python crashes when it ends.
    # The view of it is let go whatever happens: an error would keep it, and newer Pythons crash on that, too.
    with memoryview(dataset.to_netcdf(engine="h5netcdf")) as content:
        path.write_bytes(content)


def write_arrays(
    path: Path, header: str, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write what `numpy.savez` writes: a zip archive of plain arrays, not packed, with a checksum for each.

    Parameters
    ----------
    path : Path
    header : str
        Name of the first array, which is JSON.
    facts : mapping
        What the header has beside the names of all arrays.
    arrays : mapping of str to ndarray
        Of numbers, truth values, texts, dates and durations.
    """
    text = json.dumps({"arrays": list(arrays), **facts}).encode()
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **{header: np.array(text), **arrays})


def read_arrays(path: Path, header: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_arrays` wrote, after every array was compared with its checksum.

    No more memory is asked for than a few times the size of the file.

    Raises
    ------
    Exception
        If the file is anything else, of many kinds.
    """
    size = path.stat().st_size
    with path.open("rb") as file, ZipFile(file) as archive:
        members = archive.infolist()
        names = [one.filename for one in members]
        if f"{header}.npy" not in names or len(set(names)) < len(names):
            raise ValueError("it has no header, or two arrays of one name")
        if any(one.compress_type != ZIP_STORED or one.file_size != one.compress_size for one in members):
            raise ValueError("its arrays are packed")
        if (claimed := sum(one.file_size for one in members)) > size:
            raise ValueError(f"it claims to hold {claimed:,} bytes, and has {size:,}")
        if (changed := archive.testzip()) is not None:
            raise ValueError(f"the checksum of {changed} differs")
        facts = json.loads(_array_in(archive, f"{header}.npy").item())
        if names != [f"{name}.npy" for name in (header, *facts.pop("arrays"))]:
            raise ValueError("its arrays are not those that its header lists")
        return facts, {name.removesuffix(".npy"): _array_in(archive, name) for name in names[1:]}


def _array_in(archive: ZipFile, name: str) -> NDArray[Any]:
    """An array, if it is as large as it says, and holds neither objects nor what is no character."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        shape, dtype = array_header(member)
        held = size - member.tell()
    # An array without entries could claim any length, and somebody may count to it.
    if dtype.kind not in _PLAIN or not all(0 <= length <= size for length in shape):
        raise ValueError(f"{name} claims to be of shape {shape} and type {dtype}, which no array here is")
    if (claimed := math.prod(shape) * dtype.itemsize) != held:
        raise ValueError(f"{name} claims to hold {claimed:,} bytes, and has {held:,}")
    with archive.open(name) as member:
        array = np.asarray(np.lib.format.read_array(member, allow_pickle=False))
    if dtype.kind == "U" and held:
        characters = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(dtype.byteorder))
        if characters.max() > _LAST_CHARACTER:
            raise ValueError(f"{name} has bytes that are no text")
    return array


def array_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type that an .npy file claims, read from its beginning."""
    version = np.lib.format.read_magic(file)
    if version not in _READERS:
        raise ValueError(f"the array is of version {version} of the format .npy, which is not known")
    shape, _, dtype = _READERS[version](file)
    return shape, dtype
