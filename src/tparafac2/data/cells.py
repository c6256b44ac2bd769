"""The places of a stack of slices that a long table has lines for, and what stands there."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray
from tparafac2.data.memory import require_memory

Places = NDArray[np.int64]
Positions = NDArray[np.intp]


class Cells(NamedTuple):
    """Places, each one once and in order, and their values.

    Attributes
    ----------
    shape : tuple
        (K, I, J).
    places : ndarray of int
        Positions in the flat (K, I, J) array.
    values : ndarray of float
        NaN where a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> cells = Cells.join((2, 1, 2), np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), how="mean")
    >>> cells.dense(absent=0.0)
    array([[[5., 0.]],
           [[2., 0.]]])
    """

    shape: tuple[int, int, int]
    places: Places
    values: FloatArray

    @classmethod
    def join(
        cls, shape: tuple[int, int, int], places: Places, values: FloatArray, how: Literal["sum", "mean"]
    ) -> Self:
        """Sort the places, and add up or average the values that belong to the same one.

        A sum is missing if one of its values is; a mean is that of the values that are not missing.
        """
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
        starts = np.flatnonzero(np.append(True, places[1:] != places[:-1]))
        if len(starts) == len(places):
            return cls(shape, places, values)
        joined = _sums(values, starts) if how == "sum" else _means(values, starts)
        return cls(shape, places[starts], joined)

    def has_missing(self) -> bool:
        """Tell whether any value is NaN."""
        return bool(np.isnan(self.values).any())

    def largest_columns(self, count: int, appearance: Positions, by: Literal["total", "time"]) -> Positions:
        """Find the columns with the largest sums of absolute values; among equals those that appear first.

        By "time" that is the sum at the time when it is largest.
        """
        K, I, J = self.shape
        at = self.places // (I * J) * J if by == "time" else 0
        n = K * J if by == "time" else J
        weights = np.abs(np.nan_to_num(self.values))
        sums = np.bincount(at + self.places % J, weights=weights, minlength=n)
        sizes = sums.reshape(-1, J).max(axis=0)
        return np.sort(np.lexsort((appearance, -sizes))[:count])

    def only_columns(self, kept: Positions) -> Self:
        """Leave out all other columns."""
        K, I, J = self.shape
        renumbered = np.full(J, -1, dtype=np.int64)
        renumbered[kept] = np.arange(len(kept))
        lines, columns = np.divmod(self.places, J)
        columns = renumbered[columns]
        stays = columns >= 0
        places = lines[stays] * len(kept) + columns[stays]
        return type(self)((K, I, len(kept)), places, self.values[stays])

    def present(self) -> NDArray[np.bool_]:
        """Tell which columns have a place at each time: (K, J)."""
        K, I, J = self.shape
        present = np.zeros((K, J), dtype=bool)
        present[self.places // (I * J), self.places % J] = True
        present.flags.writeable = False
        return present

    def sampled(self) -> NDArray[np.bool_]:
        """Tell which rows have a place at each time: (K, I)."""
        K, I, J = self.shape
        sampled = np.zeros(K * I, dtype=bool)
        sampled[self.places // J] = True
        return sampled.reshape(K, I)

    def sparse(self) -> list[Any]:
        """Make K scipy.sparse.csr_array (I, J)."""
        from scipy.sparse import csr_array

        K, I, J = self.shape
        lines, columns = np.divmod(self.places, J)
        # The places are in order, so that the rows of all slices follow one another.
        bounds = np.searchsorted(lines, np.arange(K * I + 1))
        slices = []
        for k in range(K):
            starts = bounds[k * I : (k + 1) * I + 1]
            inside = slice(starts[0], starts[-1])
            parts = self.values[inside].copy(), columns[inside], starts - starts[0]
            slices.append(csr_array(parts, shape=(I, J)))
        return slices

    def dense(self, absent: float, present: NDArray[np.bool_] | None = None) -> FloatArray:
        """Make the (K, I, J) array, with `absent` at all other places and NaN in columns not present."""
        K, I, J = self.shape
        needed = K * I * J * np.dtype(np.float64).itemsize
        require_memory(needed, "The table as dense slices", "top_columns= keeps the largest columns only.")
        stack = np.full(self.shape, absent)
        stack.reshape(-1)[self.places] = self.values
        if present is not None:
            for k in range(K):
                stack[k][:, ~present[k]] = np.nan
        return stack


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


def _sums(values: FloatArray, starts: Positions) -> FloatArray:
    return np.asarray(np.add.reduceat(values, starts))


def _means(values: FloatArray, starts: Positions) -> FloatArray:
    known = ~np.isnan(values)
    counts = np.add.reduceat(known, starts, dtype=np.intp)
    sums = _sums(np.where(known, values, 0.0), starts)
    means = np.full(len(starts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
