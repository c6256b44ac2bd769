"""Arrays larger than memory, in files and stores: opened, chosen and named, and read when they are fitted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tparafac2.data import MODES, Labels, Mode
from tparafac2.data.labels import ORDER, dated_dims, labels_of, resolve_dims
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.io.arrays import (
    array_of,
    array_order,
    arrays_in,
    checked_labels,
    chosen_array,
    labelled,
    open_netcdf,
    resolved_dims,
)
from tparafac2.io.endings import blamed_on
from tparafac2.io.selecting import Selection, in_turn
from tparafac2.large import Stored, read_memory
from tparafac2.words import Setting

if TYPE_CHECKING:
    import xarray as xr

KEPT_ENDINGS = (".nc", ".npy", ".zarr")
"""Of files and stores that can be read in parts."""

_SMALL = 0.25  # of the memory: less is read at once


class Asked(NamedTuple):
    """What is asked for of an array in a file.

    Attributes
    ----------
    names : mapping
        Dimensions by mode, where they are not plain.
    values : str, optional
        Name of the array.
    axes : str or sequence of str, optional
        What the dimensions are, where they have no names.
    select : Selection
    memory : str or int, optional
        Most memory that a fit may use.
    client : optional
        Of a Dask cluster.
    """

    names: Mapping[Mode, str] = {}
    values: str | None = None
    axes: str | Sequence[str] | None = None
    select: Selection = Selection()
    memory: str | int | None = None
    client: Any = None


def read_kept(path: Path, asked: Asked) -> Stored | None:
    """What a file or store holds, to be read when it is fitted; None if it fits in memory.

    Parameters
    ----------
    path : Path
        With one of `KEPT_ENDINGS`.
    asked : Asked
    """
    budget = read_memory(asked.memory)
    # Half of the machine's memory is what may be used unless something else is said.
    share = _SMALL if asked.memory is not None else 2 * _SMALL
    opened = open_array(path, asked)
    if asked.client is None and 8 * math.prod(opened.array.shape) <= share * budget:
        return None
    array = opened.array
    _tell_of_absent_chunks(path, array)
    if asked.select:
        if opened.axes is not None:
            raise InvalidValue(
                f"{path.name!r} has no labels to select by: leave out the selection, or store its dimensions "
                "with names and labels, as xarray does."
            )
        array = asked.select.of_array(path.name, array)
    return Stored(array, axes=opened.axes, memory=asked.memory, client=asked.client)


def load_zarr(path: Path, asked: Asked) -> xr.DataArray:
    """All of an array in a Zarr store, in memory."""
    opened = open_array(path, asked)
    _tell_of_absent_chunks(path, opened.array)
    if opened.axes is not None:
        stack = np.asarray(opened.array[...]).transpose([opened.axes.index(mode) for mode in ORDER])
        return labelled(path.name, stack, Labels(), path.stem)
    with blamed_on(path):
        array = opened.array.load()
    dims = resolve_dims(array.dims, None, dated_dims(array))
    stack = array.transpose(*(dims[mode] for mode in ORDER)).values
    return labelled(path.name, stack, labels_of(array, dims), array.name)


def _tell_of_absent_chunks(path: Path, array: Any) -> None:
    """Say how many entries of an array in a Zarr store come from chunks that are not there.

    They may be lost, or were never written, as Zarr does with chunks that hold nothing but the fill value.
    """
    if path.suffix.lower() != ".zarr":
        return
    found = array if hasattr(array, "metadata") else zarr_arrays(path)[str(array.name)]
    lengths = [
        [min(step, size - first) for first in range(0, size, step)]
        for size, step in zip(found.shape, found.shards or found.chunks)
    ]
    absent = sum(
        math.prod(along[at] for along, at in zip(lengths, place))
        for place in np.ndindex(*map(len, lengths))
        if not (path / found.path / found.metadata.encode_chunk_key(place)).is_file()
    )
    if absent:
        sentence = (
            f"{absent:,} of {math.prod(found.shape):,} entries in {path.name!r} are in chunks that are not "
            f"there, and are read as its fill value ({found.fill_value})."
        )
        warnings.warn(ToldWarning(sentence), stacklevel=4)


class Opened(NamedTuple):
    """An array that is not loaded, and what its dimensions are where they have no names that tell."""

    array: Any
    axes: tuple[str, ...] | None = None


def open_array(path: Path, asked: Asked) -> Opened:
    """The array that is meant, not loaded."""
    if path.suffix.lower() == ".npy":
        array = next(one for _, one in arrays_in(path, mmap=True))
        if array is None or array.ndim != 3 or array.dtype.kind not in "biuf":
            return Opened(np.empty((0, 0, 0)))  # whoever reads it says what is wrong with it
        order = array_order(path, asked.axes, array.shape)
        stack = array.transpose([order.index(mode) for mode in ORDER])
        return Opened(labelled(path.name, stack, Labels(), None))
    found = _open_zarr(path, asked) if path.suffix.lower() == ".zarr" else _open_netcdf(path, asked)
    if found.axes is not None:
        return found
    dims = resolved_dims(path, found.array, asked.names)
    labels = checked_labels(path.name, labels_of(found.array, dims), found.array.sizes[dims["time"]])
    named = {dims[mode]: getattr(labels, mode) for mode in MODES if getattr(labels, mode) is not None}
    return Opened(_telling(found.array.assign_coords(named), dims))


def _telling(array: xr.DataArray, dims: Mapping[Mode, Hashable]) -> xr.DataArray:
    """The same with names of dimensions that tell which is which without further words."""
    try:
        if resolve_dims(array.dims, None, dated_dims(array)) == dims:
            return array
    except ValueError:
        pass
    return array.rename({dims[mode]: mode for mode in MODES})


def _open_netcdf(path: Path, asked: Asked) -> Opened:
    dataset = open_netcdf(path)
    return Opened(array_of(path, dataset, asked.values))


def _open_zarr(path: Path, asked: Asked) -> Opened:
    """An array of a Zarr store: by the names of its dimensions, or, where it has none, by axes."""
    import xarray as xr

    arrays = zarr_arrays(path)
    several = any(one.path for one in arrays.values())
    if several and all(zarr_names(one) or not one.ndim for one in arrays.values()):
        with blamed_on(path):
            dataset = xr.open_zarr(path, chunks=None, consolidated=False)
        return Opened(array_of(path, dataset, asked.values))
    if asked.names:
        raise InvalidValue(
            f"the dimensions of {path.name!r} have no names: say by ",
            Setting("axes"),
            " what they are, in their order, and leave out ",
            *in_turn(map(Setting, asked.names)),
            ".",
        )
    shapes = {name: str(one.shape) for name, one in arrays.items()}
    usable = [name for name, one in arrays.items() if one.ndim == 3 and one.dtype.kind in "biuf"]
    chosen = arrays[chosen_array(path.name, shapes, usable, asked.values)]
    return Opened(chosen, tuple(array_order(path, asked.axes, chosen.shape)))


def zarr_arrays(path: Path) -> dict[str, Any]:
    """The arrays of a Zarr store by name; one that is the store itself is called as this is."""
    with blamed_on(path):
        found = _zarr().open(path, mode="r")
        if hasattr(found, "shape"):
            return {path.stem: found}
        arrays = {str(name): one for name, one in found.arrays()}
        return {name: arrays[name] for name in sorted(arrays)}  # Zarr gives them in any order


def zarr_names(array: Any) -> tuple[str, ...]:
    """Names of the dimensions; none unless all have one."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS") or ()
    return () if None in names else tuple(names)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise ImportError(
            "Zarr stores need the package zarr: pip install 'tparafac2[zarr]', or save the data as .nc or "
            ".npy."
        ) from None
    return zarr
