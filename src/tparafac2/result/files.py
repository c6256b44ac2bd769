"""Results on disk: complete or not at all, and safe to open."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.data import MODES
from tparafac2.errors import InvalidValue, NoFile
from tparafac2.files import written_whole
from tparafac2.hdf5 import open_hdf5, write_sealed
from tparafac2.result.record import Result
from tparafac2.words import Advice

if TYPE_CHECKING:
    import xarray as xr

_OURS = Advice("our_file", "a file that Result.save wrote")


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file; see `Result.save`.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> save_result(result, "result.txt")
    Traceback (most recent call last):
    ValueError: results are saved as netCDF, in a file ending in .nc; got 'result.txt'.
    """
    from tparafac2.result.layout import keeps_type, to_layout

    target = Path(path)
    _require_target(target)
    for mode in MODES:
        labels = getattr(result.labels, mode)
        if labels is not None and not keeps_type(labels):
            warnings.warn(
                f"The labels of {mode} are saved as text: files do not have their type ({labels.dtype}).",
                UserWarning,
                stacklevel=3,
            )
    _write(to_layout(result), target)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` wrote. Nothing in the file is run.

    Parameters
    ----------
    path : path

    Returns
    -------
    Result
        As it was saved. Parameters that a file cannot hold (a random generator, a penalty of your own) are
        None, and a warning names them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a result, is damaged, or comes from a newer version.

    Examples
    --------
    >>> load_result("no such folder/result.nc")
    Traceback (most recent call last):
    FileNotFoundError: there is no file 'no such folder/result.nc': check the path.
    """
    from tparafac2.result.layout import from_layout

    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"there is no file {str(source)!r}: check the path.")
    if source.is_dir():
        raise InvalidValue(f"{str(source)!r} is a folder: give the path of ", _OURS, ".")
    if not source.is_file():
        raise NoFile(f"{str(source)!r} is a pipe or a device: give the path of ", _OURS, ".")
    dataset = _read(source)
    _require_result(dataset.attrs, source)
    try:
        result, lost = from_layout(dataset)
    except MemoryError:
        raise
    except Exception as error:
        raise _damaged(source, error) from None
    for name, text in lost.items():
        warnings.warn(
            f"The parameter {name} could not be kept in {source.name} and is None; it was {text}.",
            UserWarning,
            stacklevel=2,
        )
    return result


def _require_target(target: Path) -> None:
    if target.suffix != ".nc":
        raise ValueError(f"results are saved as netCDF, in a file ending in .nc; got {str(target)!r}.")
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first."
        )
    if target.is_dir():
        raise ValueError(f"{str(target)!r} is a folder: give the path of a file.")


def _write(dataset: xr.Dataset, target: Path) -> None:
    # Without a fill value NaN is a number like any other.
    floats = [name for name, variable in dataset.variables.items() if variable.dtype.kind == "f"]
    encoding = {name: {"_FillValue": None} for name in floats}
    with written_whole(target) as unfinished:
        write_sealed(dataset, unfinished, encoding)


def _read(source: Path) -> xr.Dataset:
    try:
        with open_hdf5(source, decode_cf=False) as dataset:
            return dataset.load()
    except (ImportError, MemoryError, PermissionError):
        raise  # the file is not to blame
    except Exception as error:  # the layers below have many names for a bad file
        raise _damaged(source, error) from None


def _require_result(attributes: Mapping[Any, Any], source: Path) -> None:
    from tparafac2.result.layout import CONTENT, FORMAT_VERSION

    version = attributes.get("format_version")
    if attributes.get("content") != CONTENT or not isinstance(version, int | np.integer):
        raise InvalidValue(
            f"{str(source)!r} is a netCDF file, but not a result of tparafac2: give ", _OURS, "."
        )
    if version > FORMAT_VERSION:
        writer = attributes.get("tparafac2_version", "of an unknown version")
        raise ValueError(
            f"{str(source)!r} was written by tparafac2 {writer} in format {version}, and this version reads "
            f"up to format {FORMAT_VERSION}: update tparafac2."
        )


def _damaged(source: Path, error: Exception) -> InvalidValue:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return InvalidValue(
        f"{str(source)!r} cannot be read as a result: it is damaged, incomplete or of another kind "
        f"({reason}). Give ",
        _OURS,
        Advice("save_again", ", or save the result again"),
        ".",
    )
