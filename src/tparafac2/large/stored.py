"""Data larger than memory: an array that stays where it is, with labels and how much memory may be used."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.clusters import count_threads, current_client
from tparafac2.data import Labels
from tparafac2.data.checks import require_numbers, require_stack
from tparafac2.data.labels import ORDER, dated_dims, labels_of, named_array, resolve_dims
from tparafac2.data.memory import in_bytes, physical_memory, require_memory
from tparafac2.errors import InvalidValue, TooLarge
from tparafac2.large.blocks import Blocks, OnDisk, some_stored_rows
from tparafac2.large.cluster import OnWorkers
from tparafac2.large.sources import Indexed, Lazy, Source, innermost, mapped_file
from tparafac2.words import Argument

if TYPE_CHECKING:
    import xarray as xr

_LARGEST_BLOCK = 2**27  # bytes in float64: beyond, nothing is gained
_OF_MEMORY = 16  # a block has this part of the memory at most: there are three at a time, and patterns
_WORTHWHILE = 1.5  # how many times all may be read in a pass
_UNITS = {
    "": 1,
    "b": 1,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_SHARES = 2  # blocks for every thread of a cluster: with 4, four workers on two cores took twice as long
_UNKNOWN_MEMORY = 8_000_000_000
_SMALL = 0.25  # of the memory: less is read at once


@dataclass(frozen=True, eq=False)
class Stored:
    """An array larger than memory, which `fit` reads in blocks of rows.

    `fit` makes one itself of what is stored and does not fit in a quarter of the memory.

    Parameters
    ----------
    X : numpy.memmap, zarr.Array, h5py.Dataset or dask.array.Array (K, I, J), or xarray.DataArray, not loaded
        One slice of rows and columns for each time. NaN is missing.
    dims : mapping, optional
        For a DataArray: which dimension is which, as in `fit`.
    axes : sequence of "time", "rows" and "columns", optional
        For others: what the dimensions are, if not this.
    memory : str or int, optional
        Most memory that the fit is to use: "8GB", or a number of bytes. Half of the machine's unless given.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers read the rows, keep them, and compute with them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     X = np.memmap(file, dtype="float32", mode="w+", shape=(12, 1000, 50))
    ...     Stored(X, memory="1GB").shape
    (12, 1000, 50)
    """

    X: Any
    dims: Mapping[str, Hashable] | None = None
    axes: tuple[str, ...] | None = None
    memory: str | int | None = None
    client: Any = None
    source: Source = field(init=False)
    labels: Labels = field(init=False)
    budget: int = field(init=False)  # `memory` in bytes

    def __post_init__(self) -> None:
        source, labels = read_source(self.X, self.dims, self.axes)
        require_stack(source.shape)
        require_numbers(np.empty(0, dtype=source.dtype), "X")
        labels.check(source.shape)
        if self.client is None and is_lazy(self.X):
            object.__setattr__(self, "client", current_client())
        for name, value in (("source", source), ("labels", labels), ("budget", read_memory(self.memory))):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of times, rows and columns."""
        return self.source.shape

    @property
    def lazy(self) -> bool:
        """Whether the workers of a cluster have the entries, or compute them."""
        return self.client is not None and hasattr(innermost(self.source), "lazy_rows")

    @property
    def nbytes(self) -> int:
        """Bytes of all entries, in float64."""
        return 8 * math.prod(self.shape)

    def read_through(self, source: Source) -> Stored:
        """The same, read through another source."""
        made = replace(self)
        object.__setattr__(made, "source", source)
        return made

    def blocks(self) -> Blocks:
        """All entries as they are stored, in blocks of rows, here or on the workers of a cluster."""
        if self.client is None:
            return OnDisk(self.source, self.edges())
        return OnWorkers.of(self.client, self.source, self.edges())

    def sample(self, n_rows: int = 500, random_state: Any = 0) -> xr.DataArray:
        """Some rows, drawn at random and held in memory, for `choose`; it takes one pass over the data.

        Parameters
        ----------
        n_rows : int
            How many; all, if there are fewer.
        random_state : int or numpy.random.Generator

        Returns
        -------
        xarray.DataArray
            In the order in which they are stored.
        """
        _require_count(n_rows)
        K, I, J = self.shape
        count = int(min(n_rows, I))
        require_memory(8 * K * count * J, f"A sample of {count:,} rows", allowed=self.budget)
        chosen = np.sort(np.random.default_rng(random_state).choice(I, count, replace=False))
        own = [chosen[(chosen >= edge.start) & (chosen < edge.stop)] - edge.start for edge in self.edges()]
        parts, _ = self.blocks().run(some_stored_rows, None, own)
        names = replace(self.labels, rows=self.labels.coordinate("rows", I))
        labels = names.of_rows(chosen)
        return named_array(np.concatenate(parts, axis=1), labels, "X")

    def edges(self) -> tuple[slice, ...]:
        """Blocks of rows that are read at once, of whole chunks where there are any."""
        K, I, J = self.shape
        row = 8 * K * J
        most = min(_LARGEST_BLOCK, self.budget // _OF_MEMORY)
        rows = max(1, most // row)
        if self.client is not None:  # work for all, and what a worker lost is soon made again
            rows = min(rows, -(-I // (_SHARES * count_threads(self.client))))
        chunk = self.source.chunks[1]
        if row > self.budget // 4:
            raise TooLarge(
                f"one row of X in all columns at all times takes {in_bytes(row)}, and ",
                Argument("memory"),
                f" is {in_bytes(self.budget)}: keep fewer columns or times, or give more memory.",
                received=self.memory,
            )
        if self.lazy:
            pass  # chunks are cut where they are
        elif chunk <= rows:
            rows -= rows % chunk
        elif chunk * row <= 2 * most:
            rows = chunk
        else:
            self._require_readable(rows, most)
        count = -(-I // rows)
        return tuple(slice(b * rows, min((b + 1) * rows, I)) for b in range(count))

    def _require_readable(self, rows: int, most: int) -> None:
        """Refuse chunks of so many rows that each would be read many times in every pass."""
        times = self.source.chunks[1] / rows
        if times <= _WORTHWHILE:
            return
        K, I, J = self.shape
        better = (K, max(1, min(I, int(most // (8 * K * J)))), J)
        raise InvalidValue(
            f"{self.source.name!r} is stored in chunks of {self.source.chunks} (times, rows, columns): with "
            f"{in_bytes(self.budget)} of ",
            Argument("memory"),
            f" each would be read {times:.0f} times in every pass over the data. Store it with all times and "
            f"few rows in a chunk, for example {better}, as tparafac2.io.store_by_rows does, or give more "
            "memory.",
            received=self.source.chunks,
        )


def read_memory(asked: str | int | None) -> int:
    """Bytes that may be used, from a number or a text such as "8GB"; else half of those that there are.

    Examples
    --------
    >>> read_memory("1.5 GB"), read_memory(2000000)
    (1500000000, 2000000)
    """
    if asked is None:
        return (physical_memory() or _UNKNOWN_MEMORY) // 2
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)\s*([a-z]*)", str(asked).strip().lower())
    size = float(found[1]) * _UNITS.get(found[2], 0.0) if found else 0.0
    if isinstance(asked, bool) or not 1e6 <= size < 1e18:
        raise InvalidValue(
            Argument("memory"),
            f" must be a size of at least 1 MB, such as '8GB', or a number of bytes; got {asked!r}.",
            received=asked,
        )
    return int(size)


def _require_count(n_rows: object) -> None:
    if isinstance(n_rows, bool) or not isinstance(n_rows, Integral) or int(n_rows) < 1:
        raise InvalidValue(
            Argument("n_rows"), f" must be a whole number of at least 1; got {n_rows!r}.", received=n_rows
        )


def is_stored(X: object) -> bool:
    """Whether X is an array that is not in memory.

    Examples
    --------
    >>> is_stored(np.ones((2, 3, 4)))
    False
    """
    if isinstance(X, np.ndarray):
        return mapped_file(X) is not None
    if _comes_from(X, "xarray"):
        variable = getattr(X, "variable", None)
        return variable is not None and (
            not getattr(variable, "_in_memory", True) or mapped_file(variable.values) is not None
        )
    return any(_comes_from(X, module) for module in ("zarr", "h5py", "dask.array"))


def is_lazy(X: object) -> bool:
    """Whether X is computed by Dask."""
    return _comes_from(getattr(getattr(X, "variable", None), "_data", X), "dask.array")


def stored_if_large(X: object, dims: Mapping[str, Hashable] | None = None) -> Stored | None:
    """What is to be read in blocks of rows; None for all that is in memory, or fits in there."""
    if isinstance(X, Stored):
        return X
    return Stored(X, dims) if is_large(X) else None


def is_large(X: object) -> bool:
    """Whether X is stored and takes more than a quarter of the memory, or is on a cluster."""
    if not is_stored(X):
        return False
    if is_lazy(X) and current_client() is not None:
        return True
    return 8 * math.prod(getattr(X, "shape", ())) > _SMALL * (physical_memory() or _UNKNOWN_MEMORY)


def read_source(
    X: Any, dims: Mapping[str, Hashable] | None, axes: tuple[str, ...] | None
) -> tuple[Source, Labels]:
    """Where rows are read from, and labels."""
    if _comes_from(X, "xarray") and hasattr(X, "coords"):
        if hasattr(X, "data_vars"):
            raise TypeError(f"X is an xarray.{type(X).__name__}; choose one of its arrays, X['name'].")
        found = resolve_dims(X.dims, dims, dated_dims(X))
        order = tuple(X.dims.index(found[mode]) for mode in ORDER)
        return _source(X.variable, order, str(X.name or "X")), labels_of(X, found)
    if hasattr(X, "array_keys") or hasattr(X, "visititems"):
        raise TypeError(f"X is a {type(X).__name__} of several arrays; choose one of them, X['name'].")
    if not hasattr(X, "shape") or not hasattr(X, "dtype"):
        raise TypeError(
            f"X is a {type(X).__name__}; give a numpy.memmap, a zarr.Array, an h5py.Dataset, a dask.array or "
            "an xarray.DataArray."
        )
    require_stack(X.shape)
    order = (0, 1, 2) if axes is None else tuple(axes.index(mode) for mode in ORDER)
    return _source(X, order, _name(X)), Labels()


def _source(array: Any, order: tuple[int, ...], name: str) -> Source:
    held = getattr(array, "_data", array)
    if isinstance(held, np.ndarray):
        plain = mapped_file(held.transpose(order))
        if plain is not None:
            return plain
    time, rows, columns = order
    if is_lazy(held):
        return Lazy(held, (time, rows, columns), name)
    return Indexed(array, (time, rows, columns), name)


def _name(X: Any) -> str:
    own = str(getattr(X, "name", None) or "").strip("/")
    held = getattr(getattr(X, "store", None), "root", "")  # of Zarr, a folder
    held = held or getattr(getattr(X, "file", None), "filename", "")  # of h5py
    return own or os.path.basename(str(held)) or "X"


def _comes_from(X: object, module: str) -> bool:
    return type(X).__module__.startswith(module)
