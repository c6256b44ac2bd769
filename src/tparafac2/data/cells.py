"""The cells of the slices that the lines of a long table fill, filled piece by piece."""

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray
from tparafac2.data.memory import require_memory
from tparafac2.words import Setting

Places: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = NDArray[np.intp]
Join: TypeAlias = Literal["sum", "mean"]
Shape: TypeAlias = tuple[int, int, int]

PIECE = 2**17
"""Lines that are worked on at once: few enough to stay in a cache."""

_DENSE = (
    Setting("top_columns"),
    " keeps the largest columns only; with ",
    Setting("absent", "zero"),
    " a table of which less than a tenth is there stays sparse.",
)


class Cells(NamedTuple):
    """Values of the combinations of a time, a row and a column that have lines, in this order.

    Attributes
    ----------
    shape : tuple
        (K, I, J).
    starts : ndarray of int (K I + 1,)
        Where those of each time and row begin.
    columns : ndarray of int
        Column of each.
    values : ndarray of float
        NaN where a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> filling = Filling.of((2, 1, 2), np.array([1, 2]), "mean")
    >>> filling.add(np.array([1, 0, 1]), np.array([0, 0, 0]), np.array([1.0, 5.0, 3.0]))
    >>> filling.cells().dense(absent=0.0)
    array([[[5., 0.]],
    <BLANKLINE>
           [[2., 0.]]])
    """

    shape: Shape
    starts: Places
    columns: NDArray[Any]
    values: FloatArray

    @property
    def nbytes(self) -> int:
        """Memory of all of it."""
        return self.starts.nbytes + self.columns.nbytes + self.values.nbytes

    def has_missing(self) -> bool:
        """Tell whether any value is NaN."""
        return self.n_missing > 0

    @property
    def n_missing(self) -> int:
        """How many values are NaN."""
        return sum(
            int(np.count_nonzero(np.isnan(self.values[some]))) for some in _in_pieces(len(self.values))
        )

    def column_sizes(self, by_time: bool) -> FloatArray:
        """Sums of absolute values, missing ones left out: of every column, (1, J), or by time, (K, J)."""
        K, _, J = self.shape
        sizes = np.zeros((K if by_time else 1, J))
        for k in range(K):
            inside = self._of_time(k)
            weights = np.abs(np.nan_to_num(self.values[inside]))
            sizes[k if by_time else 0] += np.bincount(self.columns[inside], weights=weights, minlength=J)
        return sizes

    def only_columns(self, kept: Positions) -> Self:
        """Leave out all other columns."""
        K, I, J = self.shape
        columns = renumbering(kept, J)[self.columns]
        stays = columns >= 0
        starts = np.append(0, np.cumsum(stays))[self.starts]
        return type(self)((K, I, len(kept)), starts, columns[stays], self.values[stays])

    def present(self) -> NDArray[np.bool_]:
        """Tell which columns have a cell at each time: (K, J)."""
        K, _, J = self.shape
        present = np.zeros((K, J), dtype=bool)
        for k in range(K):
            present[k, self.columns[self._of_time(k)]] = True
        present.flags.writeable = False
        return present

    def sampled(self) -> NDArray[np.bool_]:
        """Tell which rows have a cell at each time: (K, I)."""
        K, I, _ = self.shape
        return (self.starts[1:] > self.starts[:-1]).reshape(K, I)

    def sparse(self) -> list[Any]:
        """Make K scipy.sparse.csr_array (I, J), on the arrays of these cells."""
        from scipy.sparse import csr_array

        K, I, J = self.shape
        slices = []
        for k in range(K):
            inside, short = self._of_time(k), self.columns.dtype
            starts = self.starts[k * I : (k + 1) * I + 1] - inside.start
            if inside.stop - inside.start <= np.iinfo(short).max:
                starts = starts.astype(short)
            slices.append(csr_array((self.values[inside], self.columns[inside], starts), shape=(I, J)))
        return slices

    def dense(
        self, absent: float, present: NDArray[np.bool_] | None = None, allowed: int | None = None
    ) -> FloatArray:
        """Make the (K, I, J) array, with `absent` at all other places and NaN in columns not present."""
        K, I, _ = self.shape
        require_dense(self.shape, allowed)
        stack = np.full(self.shape, absent)
        for k in range(K):
            inside = self._of_time(k)
            rows = np.repeat(np.arange(I), np.diff(self.starts[k * I : (k + 1) * I + 1]))
            stack[k][rows, self.columns[inside]] = self.values[inside]
            if present is not None:
                stack[k][:, ~present[k]] = np.nan
        return stack

    def _of_time(self, k: int) -> slice:
        I = self.shape[1]
        return slice(int(self.starts[k * I]), int(self.starts[(k + 1) * I]))


def require_dense(shape: Shape, allowed: int | None = None) -> None:
    """Refuse dense slices that would not fit in the memory that is allowed, or in this machine.

    Examples
    --------
    >>> require_dense((2, 3, 4))
    """
    needed = math.prod(shape) * np.dtype(np.float64).itemsize
    require_memory(needed, "The table as dense slices", _DENSE, allowed)


class Filling:
    """Cells that are being filled, in an order that does not matter but for what repeats.

    There is room for every line, or, if these are more than there are cells, for every cell.
    """

    def __init__(self, shape: Shape, how: Join) -> None:
        self.shape, self.how = shape, how

    @classmethod
    def of(cls, shape: Shape, counts: Places, how: Join) -> "Filling":
        """Make room for so many lines at each time and row (K I,)."""
        dense = math.prod(shape) <= counts.sum()
        return _Summing(shape, how) if dense else _Sorting(shape, how, counts)

    @staticmethod
    def needs(shape: Shape, n_lines: int) -> int:
        """Memory that it takes, in bytes."""
        K, I, J = shape
        return 8 * (K * I + 1) + min(12 * n_lines, 29 * K * I * J)

    def add(self, lines: Places, columns: Positions, values: FloatArray) -> None:
        """Put in some: time and row counted through, columns and values."""
        raise NotImplementedError

    def cells(self) -> Cells:
        """Give all that was put in, with one value for each cell.

        A sum is missing if one of its values is; a mean is that of the values that are not missing.
        """
        raise NotImplementedError


class _Sorting(Filling):
    """Every line has its place among those of its time and row, to be sorted by column in the end."""

    def __init__(self, shape: Shape, how: Join, counts: Places) -> None:
        super().__init__(shape, how)
        self.starts = np.append(0, np.cumsum(counts))
        self.next = self.starts[:-1].copy()
        n = int(self.starts[-1])
        self.columns = np.empty(n, dtype=index_type(shape[2]))
        self.values = np.empty(n)

    def add(self, lines: Places, columns: Positions, values: FloatArray) -> None:
        order = np.argsort(lines, kind="stable")
        lines = lines[order]
        first = first_of_each(lines)
        lengths = np.diff(np.append(first, len(lines)))
        own = lines[first]
        to = np.arange(len(lines)) + np.repeat(self.next[own] - first, lengths)
        self.next[own] += lengths
        self.columns[to] = columns[order]
        self.values[to] = values[order]

    def cells(self) -> Cells:
        self.next = np.empty(0, dtype=np.int64)
        starts, J, end = self.starts, self.shape[2], 0
        for some in self._pieces():
            inside = slice(int(starts[some.start]), int(starts[some.stop]))
            lengths = np.diff(starts[some.start : some.stop + 1])
            keys = np.repeat(np.arange(len(lengths)) * J, lengths) + self.columns[inside]
            keys, values = joined(keys, self.values[inside], self.how)
            # What comes after has not been read yet, what is written never takes more room.
            self.columns[end : end + len(keys)] = keys % J
            self.values[end : end + len(keys)] = values
            kept = np.bincount(keys // J, minlength=len(lengths))
            starts[some] = end + np.append(0, np.cumsum(kept[:-1]))
            end += len(keys)
        starts[-1] = end
        if end < len(self.values):
            self.columns.resize(end, refcheck=False)
            self.values.resize(end, refcheck=False)
        return Cells(self.shape, starts, self.columns, self.values)

    def _pieces(self) -> Iterator[slice]:
        """Times and rows, counted through, with some lines each."""
        edges = np.searchsorted(self.starts, np.arange(PIECE, len(self.values), PIECE), side="right")
        edges = np.unique(np.concatenate([[0], edges, [len(self.starts) - 1]]))
        yield from map(slice, edges[:-1].tolist(), edges[1:].tolist())


class _Summing(Filling):
    """Every cell has a sum, and a number of lines."""

    def __init__(self, shape: Shape, how: Join) -> None:
        super().__init__(shape, how)
        n = math.prod(shape)
        self.sums = np.zeros(n)
        self.counts, self.known = np.zeros(n, dtype=bool), np.zeros(n if how == "mean" else 0, dtype=np.int64)

    def add(self, lines: Places, columns: Positions, values: FloatArray) -> None:
        places = lines * self.shape[2] + columns
        self.counts[places] = True
        if self.how == "mean":
            there = ~np.isnan(values)
            places, values = places[there], values[there]
            np.add.at(self.known, places, 1)
        np.add.at(self.sums, places, values)

    def cells(self) -> Cells:
        K, I, J = self.shape
        if self.how == "mean":
            with np.errstate(invalid="ignore"):
                self.sums /= self.known
        counts = self.counts.reshape(K * I, J)
        starts = np.append(0, np.cumsum(np.count_nonzero(counts, axis=1)))
        columns = (np.flatnonzero(self.counts) % J).astype(index_type(J))
        values = self.sums if len(columns) == len(self.sums) else self.sums[self.counts]
        return Cells(self.shape, starts, columns, values)


def joined(places: Places, values: FloatArray, how: Join) -> tuple[Places, FloatArray]:
    """Sort places, and add up or average the values that belong to the same one.

    Examples
    --------
    >>> joined(np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), "sum")
    (array([0, 2]), array([5., 4.]))
    """
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    starts = first_of_each(places)
    if len(starts) == len(places):
        return places, values
    return places[starts], _sums(values, starts) if how == "sum" else _means(values, starts)


def first_of_each(ordered: NDArray[Any]) -> Positions:
    """Where a new number begins among ordered ones.

    Examples
    --------
    >>> first_of_each(np.array([3, 3, 5]))
    array([0, 2])
    """
    return np.flatnonzero(np.append(len(ordered) > 0, ordered[1:] != ordered[:-1]))


def first_repeat(places: Places) -> tuple[int, int]:
    """Find where a place is repeated first, and where it stood before; there must be such a place.

    Examples
    --------
    >>> import numpy as np
    >>> first_repeat(np.array([4, 7, 9, 7, 4]))
    (3, 1)
    """
    order = np.argsort(places, kind="stable")
    repeats = np.flatnonzero(np.diff(places[order]) == 0) + 1
    where = repeats[order[repeats].argmin()]
    return int(order[where]), int(order[where - 1])


def largest(sizes: FloatArray, count: int, appearance: Positions) -> tuple[Positions, float]:
    """Find the columns whose size, (K, J), is largest at some time, and their share of all.

    Of equal ones those that appear first are taken.

    Examples
    --------
    >>> largest(np.array([[1.0, 2.0, 2.0]]), 1, np.array([0, 2, 1]))
    (array([2]), 0.4)
    """
    kept = np.sort(np.lexsort((appearance, -sizes.max(axis=0)))[:count])
    total = float(sizes.sum())
    return kept, float(sizes[:, kept].sum()) / total if total else 1.0


def renumbering(kept: Positions, size: int) -> NDArray[Any]:
    """New numbers of what is kept, by the old ones; -1 for what is not.

    Examples
    --------
    >>> renumbering(np.array([1, 2]), 4)
    array([-1,  0,  1, -1], dtype=int32)
    """
    numbers = np.full(size, -1, dtype=index_type(size))
    numbers[kept] = np.arange(len(kept))
    return numbers


def index_type(size: int) -> type[np.signedinteger[Any]]:
    """The shortest type of indices below a size."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def _in_pieces(size: int) -> Iterator[slice]:
    yield from (slice(first, first + PIECE) for first in range(0, size, PIECE))


def _sums(values: FloatArray, starts: Positions) -> FloatArray:
    return np.asarray(np.add.reduceat(values, starts))


def _means(values: FloatArray, starts: Positions) -> FloatArray:
    known = ~np.isnan(values)
    counts = np.add.reduceat(known, starts, dtype=np.intp)
    sums = _sums(np.where(known, values, 0.0), starts)
    means = np.full(len(starts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
