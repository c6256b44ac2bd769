"""Data in NumPy's files, which do not name the dimensions of arrays."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Labels, Mode, require_memory
from tparafac2.data.labels import ORDER
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.io.choosing import choose_array, nearest
from tparafac2.io.endings import blamed_on
from tparafac2.io.file_arrays import array_of_file
from tparafac2.words import Part, Setting

if TYPE_CHECKING:
    import xarray as xr

OBJECTS = "Python objects, which are not opened"

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

_ONLY = "array"  # what an .npy file holds has no name


def read_numpy(
    path: Path, names: Mapping[Mode, str], values: str | None, axes: str | Sequence[str] | None
) -> xr.DataArray:
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
    axes : str, or sequence of str
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
    found = dict(arrays_in(path))
    if path.suffix.lower() == ".npy" and (names or values):
        raise InvalidValue(
            f"{path.name!r} holds one array without names: leave out ",
            Setting("rows"),
            ", ",
            Setting("columns"),
            ", ",
            Setting("time"),
            " and ",
            Setting("values"),
            ", or save labels beside it in an .npz file.",
        )
    arrays = {name: array for name, array in found.items() if array is not None}
    if found and not arrays:
        raise ValueError(
            f"{path.name!r} holds {OBJECTS}, as they could run anything: save numbers, for example with "
            "array.astype(float)."
        )
    shapes = {name: f"({OBJECTS})" if array is None else str(array.shape) for name, array in found.items()}
    usable = [name for name, array in arrays.items() if array.ndim == 3 and array.dtype.kind in "biuf"]
    chosen = choose_array(path.name, shapes, usable, values)
    order = _read_axes(path, axes, arrays[chosen].shape)
    stack = arrays[chosen].transpose([order.index(mode) for mode in ORDER])
    sizes = dict(zip(ORDER, stack.shape))
    labels = {mode: _labels(path, found, mode, names.get(mode), sizes[mode]) for mode in MODES}
    _hint_at_labels(path, arrays, {mode: sizes[mode] for mode in MODES if labels[mode] is None})
    return array_of_file(path.name, stack, Labels(**labels, names=_distinct(names)), chosen)


def _hint_at_labels(path: Path, arrays: Mapping[str, NDArray[Any]], sizes: Mapping[Mode, int]) -> None:
    """Warn if a dimension has no labels, but one array beside has its length, as uneven months may."""
    told: list[Part] = []
    for mode, size in sizes.items():
        if size in [other for one, other in sizes.items() if one != mode]:
            continue  # it might be of either
        fitting = [name for name, array in arrays.items() if array.shape == (size,) and _all_differ(array)]
        if len(fitting) == 1:
            told += [", ", Setting(mode, fitting[0])]
    if told:
        what = f"{path.name!r} has arrays of the lengths of dimensions that have no labels: say "
        warnings.warn(ToldWarning(what, *told[1:], " to use them."), stacklevel=4)


def _all_differ(array: NDArray[Any]) -> bool:
    return len(np.unique(array)) == len(array)


def arrays_in(path: Path, mmap: bool = False) -> Iterator[tuple[str, NDArray[Any] | None]]:
    """Names and arrays of a file, one after the other; None for Python objects, which are never opened.

    Parameters
    ----------
    path : Path
        An .npy or .npz file.
    mmap : bool
        Leave what an .npy file holds on the disk.
    """
    with blamed_on(path):
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                _require_whole(path.name, file, path.stat().st_size)
            yield _ONLY, _opened(lambda: np.load(path, allow_pickle=False, mmap_mode="r" if mmap else None))
            return
        with np.load(path, allow_pickle=False) as found:
            for member in found.zip.infolist():
                if member.filename.endswith(".npy"):
                    with found.zip.open(member) as file:
                        _require_whole(f"{member.filename} in {path.name}", file, member.file_size)
            for name in found.files:
                yield name, _opened(lambda name=name: found[name])  # type: ignore[misc]


def _require_whole(name: str, file: IO[bytes], size: int) -> None:
    """Refuse an array that says it is larger than its file, before memory is asked for it."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        return
    shape, _, dtype = _HEADERS[version](file)
    claimed = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and not 0 <= claimed <= size:
        raise ValueError(f"{name} says it is an array of shape {shape}, of which it holds only a part")
    require_memory(claimed, f"The array of shape {shape} in {name}")


def _opened(load: Callable[[], Any]) -> NDArray[Any] | None:
    try:
        return np.asarray(load())
    except ValueError as error:
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            return None  # these could run whatever a stranger likes
        raise


def _read_axes(path: Path, axes: str | Sequence[str] | None, shape: tuple[int, ...]) -> list[str]:
    said = axes.split(",") if isinstance(axes, str) else axes or ()
    order = [str(axis).strip() for axis in said]
    if sorted(order) != sorted(MODES):
        got: list[Part] = [] if axes is None else ["; got ", Setting("axes", axes)]
        raise InvalidValue(
            f"the array in {path.name!r} has shape {shape}: say by ",
            Setting("axes"),
            " which of its dimensions are rows, columns and time, in their order, for example ",
            Setting("axes", "rows,columns,time"),
            *got,
            ".",
            received=axes,
        )
    return order


def _labels(
    path: Path, found: Mapping[str, NDArray[Any] | None], mode: Mode, name: str | None, size: int
) -> NDArray[Any] | None:
    if name is None and mode not in found:
        return None
    name = mode if name is None else name
    if name not in found:
        raise InvalidValue(
            Setting(mode, name),
            f" is not an array in {path.name!r}{nearest(name, found)} It has {', '.join(map(repr, found))}.",
            received=name,
        )
    labels = found[name]
    if labels is None:
        raise ValueError(
            f"{name!r} in {path.name!r}, which has the labels of {mode}, holds {OBJECTS}, as they could run "
            "anything: save labels as text, with labels.astype(str)."
        )
    if labels.shape != (size,):
        raise InvalidValue(
            f"{name!r} in {path.name!r} has shape {labels.shape}, but {size} labels of {mode} are needed: "
            "check ",
            Setting("axes"),
            ", or save one label for each.",
        )
    return _decoded(path, name, labels)


def _decoded(path: Path, name: str, labels: NDArray[Any]) -> NDArray[Any]:
    if labels.dtype.kind != "S":
        return labels
    try:
        return np.char.decode(labels, "utf-8")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name!r} in {path.name!r} holds bytes that are not UTF-8 text: save labels as text, for "
            "example with numpy.char.decode(labels, 'latin-1')."
        ) from None


def _distinct(names: Mapping[Mode, str]) -> Mapping[Mode, str]:
    # Rows and columns may have the same labels, as where countries agree with countries.
    return names if len({names.get(mode, mode) for mode in MODES}) == len(MODES) else {}
