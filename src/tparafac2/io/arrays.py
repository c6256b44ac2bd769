"""Data in files of arrays: netCDF's, which name their dimensions, and NumPy's, which do not."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Labels, Mode, listed, require_memory, shown
from tparafac2.data.labels import ORDER, dated_dims, labels_of, named_array, resolve_dims
from tparafac2.data.times import times_of_one_kind
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.files import array_header
from tparafac2.io.endings import blamed_on
from tparafac2.io.selecting import in_turn, nearest
from tparafac2.result import holds_result
from tparafac2.words import Advice, Argument, Part, Setting

if TYPE_CHECKING:
    import xarray as xr

OBJECTS = "Python objects, which are not opened"

_ONLY = "array"  # what an .npy file holds has no name
_DATA = "X"  # what data are called beside other arrays, as in saved synthetic data


def read_netcdf(path: Path, dims: Mapping[Mode, str], values: str | None) -> xr.DataArray:
    """Read a variable of three dimensions; which of them are not named by mode is told from their names.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import xarray as xr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X = xr.DataArray(np.ones((3, 4, 2)), dims=("author", "word", "year"), name="counts")
    ...     _ = X.to_netcdf(Path(folder) / "x.nc", engine="h5netcdf")
    ...     read_netcdf(Path(folder) / "x.nc", {}, None).dims
    ('year', 'author', 'word')
    """
    array = _loaded(path, values)
    found = resolved_dims(path, array, dims)
    stack = array.transpose(*(found[mode] for mode in ORDER)).values
    return labelled(path.name, stack, labels_of(array, found), array.name)


def open_netcdf(path: Path) -> xr.Dataset:
    """Open a netCDF file of any format; what it holds is read when it is asked for."""
    import h5py
    import xarray as xr

    with path.open("rb") as file:
        classic = file.read(3) == b"CDF"
    with blamed_on(path):
        if classic:
            # A file that is mapped to memory and too short would end the process.
            return xr.open_dataset(path, engine="scipy", mmap=False)
        # Where h5netcdf fails itself it leaves half an object, and when this goes Python prints a traceback.
        with h5py.File(path, "r") as file:
            file.attrs.get("_nc3_strict")
        # Dimensions may have no names.
        return xr.open_dataset(path, engine="h5netcdf", phony_dims="access")


def _loaded(path: Path, values: str | None) -> xr.DataArray:
    with open_netcdf(path) as dataset:
        chosen = array_of(path, dataset, values)
        with blamed_on(path):
            return chosen.load()


def array_of(path: Path, dataset: xr.Dataset, values: str | None) -> xr.DataArray:
    """The array of a dataset that is meant; it is not loaded."""
    variables = {str(name): variable for name, variable in dataset.data_vars.items()}
    shapes = {name: f"({', '.join(map(str, one.dims))})" for name, one in variables.items()}
    usable = [name for name, one in variables.items() if one.ndim == 3 and one.dtype.kind in "biuf"]
    return dataset[chosen_array(path.name, shapes, usable, values)]


def resolved_dims(path: Path, array: xr.DataArray, dims: Mapping[Mode, str]) -> dict[Mode, Hashable]:
    """Which dimension is which, by what the user says and by their names."""
    has = {str(dim): dim for dim in array.dims}
    listed = ", ".join(map(repr, has))
    for mode, name in dims.items():
        if name not in has:
            raise InvalidValue(
                Setting(mode, name),
                f" is not a dimension of {array.name!r} in {path.name!r}{nearest(name, has)} "
                f"It has {listed}.",
                received=name,
            )
    try:
        return resolve_dims(array.dims, {str(mode): name for mode, name in dims.items()}, dated_dims(array))
    except ValueError:
        raise InvalidValue(
            f"{path.name!r} has the dimensions {listed}: say which are rows, columns and time, each another, "
            "for example ",
            *in_turn(map(Setting, MODES, has), last=", "),
            ".",
        ) from None


def read_numpy(
    path: Path, names: Mapping[Mode, str], values: str | None, axes: str | Sequence[str] | None
) -> xr.DataArray:
    """Read an array of three dimensions, and labels if there are any.

    Of an .npz file `names` has, by mode, the arrays that hold labels; those called "rows", "columns" and
    "time" need not be mentioned.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=np.ones((3, 4, 2)), time=[2020, 2021])
    ...     X = read_numpy(Path(folder) / "x.npz", {}, None, "rows,columns,time")
    >>> X.dims, X.time.values.tolist()
    (('time', 'rows', 'columns'), [2020, 2021])
    """
    if path.suffix.lower() == ".npz" and holds_result(path):
        raise InvalidValue(
            f"{path.name!r} holds a fitted model, not data: ",
            Advice("load", "open it with tparafac2.load"),
            ".",
        )
    found = dict(arrays_in(path))
    if path.suffix.lower() == ".npy" and (names or values):
        raise InvalidValue(
            f"{path.name!r} holds one array without names: leave out ",
            *in_turn(map(Setting, (*MODES, "values"))),
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
    chosen = chosen_array(path.name, shapes, usable, values)
    order = array_order(path, axes, arrays[chosen].shape)
    stack = arrays[chosen].transpose([order.index(mode) for mode in ORDER])
    sizes = dict(zip(ORDER, stack.shape))
    labels = {mode: _labels(path, found, mode, names.get(mode), sizes[mode]) for mode in MODES}
    _hint_at_labels(path, arrays, {mode: sizes[mode] for mode in MODES if labels[mode] is None})
    named = Labels(labels["rows"], labels["columns"], labels["time"], _distinct(names))
    return labelled(path.name, stack, named, chosen)


def read_array_groups(path: Path, rows: str | None, name: str) -> dict[Any, str] | list[str]:
    """Groups of the rows, from an array beside the data in an .npz file: by row label, if it has labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=np.ones((2, 4, 2)), who=["Ann", "Bo"], diet=["milk", "rice"])
    ...     read_array_groups(Path(folder) / "x.npz", "who", "diet")
    {'Ann': 'milk', 'Bo': 'rice'}
    """
    lists = {one: array for one, array in arrays_in(path) if array is not None and array.ndim == 1}
    if name not in lists:
        raise InvalidValue(
            Argument("groups"),
            f": {name!r} is not an array of {path.name!r} that could group rows; there are "
            f"{listed(map(repr, lists)) or 'none'}. Or write FILE:COLUMN.",
            received=name,
        )
    groups, labels = list(map(str, lists[name].tolist())), lists.get(rows or "rows")
    return groups if labels is None or len(labels) != len(groups) else dict(zip(labels.tolist(), groups))


def _hint_at_labels(path: Path, arrays: Mapping[str, NDArray[Any]], sizes: Mapping[Mode, int]) -> None:
    """Warn if a dimension has no labels, but one array beside has its length, as uneven months may."""
    told = []
    for mode, size in sizes.items():
        if size in [other for one, other in sizes.items() if one != mode]:
            continue  # it might be of either
        fitting = [name for name, array in arrays.items() if array.shape == (size,) and _all_differ(array)]
        if len(fitting) == 1:
            told.append(Setting(mode, fitting[0]))
    if told:
        what = f"{path.name!r} has arrays of the lengths of dimensions that have no labels: say "
        warnings.warn(ToldWarning(what, *in_turn(told, last=", "), " to use them."), stacklevel=4)


def _all_differ(array: NDArray[Any]) -> bool:
    return len(np.unique(array)) == len(array)


def arrays_in(path: Path, mmap: bool = False) -> Iterator[tuple[str, NDArray[Any] | None]]:
    """Names and arrays of a file, one after the other; None for Python objects, which are never opened.

    With `mmap` what an .npy file holds is left on the disk.
    """
    with blamed_on(path):
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                _require_whole(path.name, file, path.stat().st_size)
            yield _ONLY, _opened(lambda: np.load(path, allow_pickle=False, mmap_mode="r" if mmap else None))
            return
        # NumPy would leave a damaged file open.
        with path.open("rb") as packed, np.load(packed, allow_pickle=False) as found:
            for member in found.zip.infolist():
                if member.filename.endswith(".npy"):
                    with found.zip.open(member) as file:
                        _require_whole(f"{member.filename} in {path.name}", file, member.file_size)
            for name in found.files:
                yield name, _opened(lambda name=name: found[name])  # type: ignore[misc]


def _require_whole(name: str, file: IO[bytes], size: int) -> None:
    """Refuse an array that says it is larger than its file, before memory is asked for it."""
    shape, dtype = array_header(file)
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


def array_order(path: Path, axes: str | Sequence[str] | None, shape: tuple[int, ...]) -> list[str]:
    """What the dimensions of an array without names are, as the user says."""
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


def chosen_array(file: str, shapes: Mapping[str, str], usable: list[str], values: str | None) -> str:
    """Name of the array that was asked for, or of the only one that is usable, or of that called X.

    `shapes` are for people to read, `usable` are the names of arrays of three dimensions.

    Examples
    --------
    >>> shapes = {"counts": "(3, 4, 2)", "rows": "(3,)"}
    >>> chosen_array("votes.npz", shapes, ["counts"], None)
    'counts'
    >>> chosen_array("data.npz", {"X": "(2, 3, 4)", "B": "(2, 4, 3)"}, ["X", "B"], None)
    'X'
    >>> chosen_array("votes.npz", shapes, ["counts"], "count")
    Traceback (most recent call last):
    ValueError: 'votes.npz' has no array 'count'; did you mean 'counts'? It has 'counts' (3, 4, 2), 'rows'
    (3,).
    """
    listed = ", ".join(f"{shown(name)} {shape}" for name, shape in shapes.items()) or "none"
    if values is not None and values not in shapes:
        raise ValueError(f"{file!r} has no array {values!r}{nearest(values, shapes)} It has {listed}.")
    if values is not None and values not in usable:
        raise ValueError(
            f"{values!r} in {file!r} cannot be used: it must hold real numbers and have three dimensions, "
            f"for rows, columns and time. The file has {listed}."
        )
    if values is None and _DATA in usable:
        return _DATA
    if values is None and len(usable) != 1:
        found = f"{len(usable)} arrays" if usable else "no array"
        advice: list[Part] = [
            "put the tables of all times in one, for example with numpy.stack(tables), or save a long table "
            "as CSV. "
        ]
        if usable:
            advice = ["say which is meant, for example ", Setting("values", usable[0]), ". "]
        raise InvalidValue(
            f"{file!r} has {found} of real numbers with three dimensions, for rows, columns and time: ",
            *advice,
            f"It has {listed}.",
        )
    return usable[0] if values is None else values


def labelled(file: str, stack: NDArray[Any], labels: Labels, name: Hashable) -> xr.DataArray:
    """Give what a file holds as a labelled array; text that is numbers or dates throughout tells the time.

    Examples
    --------
    >>> import numpy as np
    >>> labels = Labels(time=["2021-05-01", "2020-12-31"])
    >>> labelled("votes.npz", np.ones((2, 3, 4)), labels, "X").time.dtype.kind
    'M'
    >>> labelled("votes.npz", np.ones((1, 3, 4)), Labels(), "X")
    Traceback (most recent call last):
    ValueError: 'votes.npz' holds one time only: at least two are needed. Is it said rightly which dimension
    is time?
    """
    return named_array(stack, checked_labels(file, labels, len(stack)), name)


def checked_labels(file: str, labels: Labels, n_times: int) -> Labels:
    """Labels of an array of at least two times, every one of its own; text that tells the time as times."""
    if n_times < 2:
        raise ValueError(
            f"{file!r} holds {'one time only' if n_times else 'no time'}: at least two are needed. "
            "Is it said rightly which dimension is time?"
        )
    if labels.time is not None:
        labels = replace(labels, time=_as_times(file, labels.time))
    for mode in MODES:
        if (found := getattr(labels, mode)) is not None:
            _require_distinct(file, mode, found)
    return labels


def _as_times(file: str, labels: NDArray[Any]) -> NDArray[Any]:
    if not all(isinstance(label, str) for label in labels):
        return labels
    times, usable = times_of_one_kind(labels)
    if usable.all():
        return times
    if usable.any():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"{file!r}: label {bad + 1} of time, {shown(labels[bad])}, cannot be read as a time, and "
            "others can: write all of them as numbers, all as dates such as 2024-12-31, or none."
        )
    return labels  # these are names


def _require_distinct(file: str, mode: Mode, labels: NDArray[Any]) -> None:
    import pandas as pd

    column = pd.Series(labels)
    missing = (column.isna() | (column == "")).to_numpy()
    if missing.any():
        raise ValueError(
            f"{file!r}: label {int(np.argmax(missing)) + 1} of {mode} is missing: give every one its label."
        )
    repeated = column.duplicated().to_numpy()
    if repeated.any():
        second = int(np.argmax(repeated))
        first = int(np.argmax((column == column[second]).to_numpy()))
        raise ValueError(
            f"{file!r}: labels {first + 1} and {second + 1} of {mode} are both {shown(labels[second])}: "
            "give every one its own, or put together what belongs together."
        )
