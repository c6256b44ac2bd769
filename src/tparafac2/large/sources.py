"""Arrays that stay where they are: of files and stores, rows are read when they are needed."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, int, int]
ALL = slice(None)


class Source(Protocol):
    """An array (K, I, J) for times, rows and columns, of which some rows can be read.

    It can be sent to another process.
    """

    @property
    def shape(self) -> Shape:
        """Numbers of times, rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is stored."""

    @property
    def chunks(self) -> Shape:
        """How many times, rows and columns are stored together: what is read at once, whatever is needed."""

    @property
    def name(self) -> str:
        """What people call it."""

    def read(self, rows: slice, times: slice = ALL) -> NDArray[Any]:
        """Some rows, (K, i, J), at all or some times."""


@dataclass(frozen=True)
class PlainFile:
    """An array that lies in a file as it would lie in memory.

    It is read, and not mapped: a file that becomes shorter would end the process, and what is mapped counts
    as memory of the process.

    Parameters
    ----------
    path : str
    dtype : dtype
    offset : int
        Where the first entry is, in bytes.
    shape : (K, I, J)
    strides : (int, int, int)
        How far apart neighbours in time, rows and columns are, in bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.arange(24.0).reshape(2, 4, 3).tofile(file.name)
    ...     stored = PlainFile(file.name, np.dtype(float), 0, (2, 4, 3), (96, 24, 8))
    ...     stored.read(slice(1, 2)).tolist()
    [[[3.0, 4.0, 5.0]], [[15.0, 16.0, 17.0]]]
    """

    path: str
    dtype: np.dtype[Any]
    offset: int
    shape: Shape
    strides: Shape

    @property
    def name(self) -> str:
        """The name of the file."""
        return os.path.basename(self.path)

    @property
    def order(self) -> list[int]:
        """Axes from those whose neighbours are far apart to those whose neighbours touch."""
        return sorted(range(3), key=lambda axis: -self.strides[axis])

    @property
    def chunks(self) -> Shape:
        """All times and columns of one row, or of all rows where these lie closest together."""
        K, I, J = self.shape
        return K, I if self.order[-1] == 1 else 1, J

    def read(self, rows: slice, times: slice = ALL) -> NDArray[Any]:
        """Some rows, (K, i, J): one piece of the file for every place of the axes before that of rows."""
        if times != ALL:  # by the way: nobody waits for it
            mapped = np.memmap(self.path, np.uint8, "r")[self.offset :]
            whole: NDArray[Any] = np.ndarray(self.shape, self.dtype, mapped, 0, self.strides)
            return np.array(whole[times, rows])
        order = self.order
        lengths = [
            len(range(*rows.indices(self.shape[1]))) if axis == 1 else self.shape[axis] for axis in order
        ]
        found = np.empty(lengths, dtype=self.dtype)
        before = order.index(1)
        with open(self.path, "rb", buffering=0) as file:
            for place in np.ndindex(*lengths[:before]):
                first = sum(i * self.strides[axis] for i, axis in zip(place, order))
                file.seek(self.offset + first + rows.start * self.strides[1])
                _fill(file, found[place])
        return found.transpose(np.argsort(order))


def _fill(file: Any, target: NDArray[Any]) -> None:
    left = target.reshape(-1).view(np.uint8).data
    while len(left):
        got = file.readinto(left)
        if not got:
            raise OSError("the file ends before its last entry")
        left = left[got:]


@dataclass(frozen=True)
class Indexed:
    """An array that gives parts of itself when it is indexed: of Zarr, h5py, xarray or Dask.

    Parameters
    ----------
    array : array-like with three dimensions
    axes : (int, int, int)
        Which of them are times, rows and columns.
    name : str

    Examples
    --------
    >>> stored = Indexed(np.arange(24.0).reshape(4, 2, 3), (1, 0, 2), "X")
    >>> stored.shape, stored.read(slice(0, 2)).shape
    ((2, 4, 3), (2, 2, 3))
    """

    array: Any
    axes: tuple[int, int, int] = (0, 1, 2)
    name: str = "X"

    @property
    def shape(self) -> Shape:
        """Numbers of times, rows and columns."""
        K, I, J = (self.array.shape[axis] for axis in self.axes)
        return K, I, J

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is stored."""
        found: np.dtype[Any] = np.dtype(self.array.dtype)
        return found

    @property
    def chunks(self) -> Shape:
        """The largest chunk, or a row where nothing is chunked."""
        found = _chunks(self.array)
        if found is None:
            return self.shape[0], 1, self.shape[2]
        K, I, J = (min(found[axis], self.array.shape[axis]) for axis in self.axes)
        return K, I, J

    def read(self, rows: slice, times: slice = ALL) -> NDArray[Any]:
        """Some rows, (K, i, J), at all or some times."""
        return np.asarray(self.array[self._index(rows, times)]).transpose(self.axes)

    def _index(self, rows: slice, times: slice = ALL) -> tuple[slice, ...]:
        asked = {self.axes[0]: times, self.axes[1]: rows}
        return tuple(asked.get(axis, ALL) for axis in range(3))


@dataclass(frozen=True)
class Lazy(Indexed):
    """An array that Dask computes when it is asked for."""

    def lazy_rows(self, rows: slice) -> Any:
        """Some rows (K, i, J), to be computed."""
        return self.array[self._index(rows)].transpose(self.axes)


def innermost(source: Any) -> Source:
    """The source behind all others that it is read through."""
    while (inner := getattr(source, "source", None)) is not None:
        source = inner
    found: Source = source
    return found


def _chunks(array: Any) -> Sequence[int] | None:
    found = getattr(array, "chunks", None)
    if not found and hasattr(array, "encoding"):  # as xarray notes of files what it does not read in chunks
        found = array.encoding.get("preferred_chunks") or array.encoding.get("chunksizes")
        if isinstance(found, dict):
            found = [found.get(dim, size) for dim, size in zip(array.dims, array.shape)]
    return [one if isinstance(one, int) else max(one) for one in found] if found else None


def mapped_file(array: NDArray[Any]) -> PlainFile | None:
    """Where an array lies that is mapped to memory, or a part of one; None if it is none.

    Examples
    --------
    >>> mapped_file(np.ones((2, 3, 4))) is None
    True
    """
    root: Any = array
    while root is not None and not isinstance(root, np.memmap):
        root = getattr(root, "base", None)
    root = cast(Any, root)
    if root is None or root._mmap is None or root.filename is None or array.ndim != 3:
        return None
    tight = array.itemsize
    for axis in sorted(range(3), key=lambda axis: array.strides[axis]):
        stride, after_rows = array.strides[axis], array.strides[axis] <= array.strides[1]
        if stride < tight or (after_rows and stride != tight):
            return None  # backwards, repeated, or with gaps between what belongs to a row
        tight = stride * array.shape[axis]
    while isinstance(root.base, np.memmap):
        root = root.base
    # A file is mapped from a multiple of the system's page size on.
    mapped_from = root.offset - root.offset % _granularity()
    begin = np.frombuffer(root._mmap, dtype=np.uint8).ctypes.data
    K, I, J = array.shape
    far, middle, near = array.strides
    return PlainFile(
        str(root.filename),
        array.dtype,
        mapped_from + array.ctypes.data - begin,
        (K, I, J),
        (far, middle, near),
    )


def _granularity() -> int:
    import mmap

    return mmap.ALLOCATIONGRANULARITY
