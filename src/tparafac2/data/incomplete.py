"""Data with missing entries, which are in no sum."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dense import DenseData
from tparafac2.data.interface import FloatArray, negative_squares, output_array, require_tail

if TYPE_CHECKING:
    from tparafac2.data.gaps import Grams, GramsByList


@dataclass(frozen=True, eq=False)
class ObservedData:
    """Sums run over what was observed, so that every row and column has a system of its own.

    Parameters
    ----------
    values : ndarray (I, K, J)
        X / scale, C-contiguous, NaN where nothing was observed.
    scale : float
        Norm of what was observed of the user's X.
    present : ndarray of bool (K, J), optional
        Which columns there are at each time, where columns enter and leave; the patterns of others are zero.

    Examples
    --------
    >>> X = np.ones((2, 1, 2))
    >>> X[0, 0, 0] = np.nan
    >>> data = ObservedData(X)
    >>> data.project(np.ones((1, 1, 2))).tolist(), data.column_grams(np.ones((1, 1, 2))).tolist()
    ([[[[1.0, 2.0]]]], [[[[1.0, 2.0]]]])
    """

    values: FloatArray
    scale: float = 1.0
    present: NDArray[np.bool_] | None = None

    COPIES: ClassVar[int] = 2  # arrays of the size of the data that a fit holds: with zeros for NaN, too
    complete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        held = self.values.view()
        held.flags.writeable = False
        object.__setattr__(self, "values", held)

    @classmethod
    def from_dense(cls, data: DenseData, present: NDArray[np.bool_] | None = None) -> Self:
        """Take over dense data that hold NaN."""
        return cls(data.values, data.scale, present)

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """Some rows, any of them several times, in the same units: their norm is not one."""
        return replace(self, values=self.values[rows])

    def first_guess(self) -> DenseData:
        """Complete data to begin with: missing entries follow row and column effects."""
        return DenseData(first_fill(self.values), self.scale)

    @cached_property
    def coverage(self) -> NDArray[np.float64]:
        """Share of the rows that was observed for every time and column, (K, J)."""
        return np.asarray((~np.isnan(self.values)).mean(axis=0))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""
        I, K, J = self.values.shape
        return K, I, J

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Memory of the arrays held during a fit."""
        return self.COPIES * self.values.nbytes + self._grams.nbytes

    @property
    def widths(self) -> None:
        """All slices have the same columns."""

    @cached_property
    def norm_squared(self) -> float:
        """Squared norm of what was observed: one, up to rounding."""
        return sum(float(np.nansum(np.square(row, dtype=np.float64))) for row in self.values)

    @property
    def negative_share(self) -> float:
        """Share of the sum of squares that is of negative entries."""
        return negative_squares(self.values)

    @cached_property
    def observed_share(self) -> float:
        """Share of the entries that were observed."""
        return float(np.count_nonzero(~np.isnan(self.values)) / self.values.size)

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with the sum of x_ikj a_i over the observed i."""
        return self._zeros_for_missing.project(At, out=out)

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of x_ikj w_kj over the observed k and j, as (n, R, I)."""
        return self._zeros_for_missing.accumulate(W, out=out)

    def column_grams(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of a_i a_i' over the observed i, for every column and slice: (n, R (R+1) / 2, K, J)."""
        require_tail("At", At, self.values.shape[:1])
        n, R = At.shape[:2]
        out = output_array(out, (n, R * (R + 1) // 2, *self.values.shape[1:]), self.dtype)
        self._grams.of_columns(At, out)
        return out

    def row_grams(self, W: FloatArray) -> NDArray[np.float64]:
        """The sum of w_kj w_kj' over the observed k and j, for every row: (n, I, R, R)."""
        require_tail("W", W, self.values.shape[1:])
        return self._grams.of_rows(W)

    @property
    def seen_by_slice(self) -> bool:
        """Whether all columns of each slice were observed in the same rows."""
        return self._slices is not None

    def slice_grams(self, At: FloatArray) -> NDArray[np.float64]:
        """The sum of a_i a_i' over the observed i, where that is the same for all columns: (n, K, R, R)."""
        if self._slices is None:
            raise ValueError("the columns of a slice were not all observed in the same rows.")
        require_tail("At", At, self.values.shape[:1])
        return self._slices.of_slices(At)

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 over what was observed, from the differences themselves."""
        from tparafac2.data.missing_kernels import observed_sse

        require_tail("At", At, self.values.shape[:1])
        require_tail("W", W, self.values.shape[1:])
        out = np.empty(len(At))
        observed_sse(self._rows_by_rest, self._alike(At), self._alike(W), out)
        return out

    @property
    def _rows_by_rest(self) -> FloatArray:
        return self.values.reshape(self.values.shape[0], -1)

    def _alike(self, array: FloatArray) -> FloatArray:
        """As the kernels want it: times and columns as one axis, three components or more.

        One type and memory order for all, because kernels are compiled anew for every other.
        """
        n, R = array.shape[:2]
        flat = np.ascontiguousarray(array, dtype=self.dtype).reshape(n, R, -1)
        return (
            flat
            if R >= 3
            else np.concatenate([flat, np.zeros_like(flat, shape=(n, 3 - R, flat.shape[2]))], 1)
        )

    @cached_property
    def _zeros_for_missing(self) -> DenseData:
        return DenseData(zeros_for_nan(self.values), self.scale)

    @cached_property
    def _grams(self) -> "Grams":
        from tparafac2.data.gaps import grams_of

        return grams_of(~np.isnan(self.values), self.dtype)

    @cached_property
    def _slices(self) -> "GramsByList | None":
        from tparafac2.data.gaps import one_of_each_slice

        return one_of_each_slice(self._grams, self.values.shape[1])


def zeros_for_nan(values: FloatArray) -> FloatArray:
    """A copy, with as little memory beside it as can be (`nan_to_num` takes half of it again)."""
    held = values.copy()
    held[np.isnan(held)] = 0.0
    return held


_ROUNDS = 10


def first_fill(values: FloatArray) -> FloatArray:
    """Fill missing entries by row and column effects.

    A row has one effect for all times, a column one for each time; where a column was not observed at some
    time at all it has its mean over the other times. The effects are fitted to what was observed, in turn.

    Parameters
    ----------
    values : ndarray (I, K, J)
        NaN where missing.

    Returns
    -------
    ndarray (I, K, J)
        A copy without NaN; what was observed is as it was.

    Examples
    --------
    >>> grid = np.add.outer([0.0, 1.0, 2.0], [[10.0, 20.0]])
    >>> holed = grid.copy()
    >>> holed[0, 0, 1] = np.nan
    >>> round(float(first_fill(holed)[0, 0, 1]), 3)
    20.0
    """
    observed = ~np.isnan(values)
    zeroed = np.where(observed, values, 0.0)
    per_row, per_column = observed.sum(axis=(1, 2)), observed.sum(axis=0)
    rows: FloatArray = np.zeros((len(values), 1, 1))
    for _ in range(_ROUNDS):
        columns = _mean(zeroed.sum(axis=0) - np.einsum("ikj,i->kj", observed, rows[:, 0, 0]), per_column)
        columns = _bridge(columns, per_column > 0)
        rest = zeroed.sum(axis=(1, 2)) - np.einsum("ikj,kj->i", observed, columns)
        rows = _mean(rest, per_row)[:, None, None]
    for row, seen, effect in zip(zeroed, observed, rows):
        np.copyto(row, effect + columns, where=~seen, casting="same_kind")
    return zeroed


def _mean(total: FloatArray, count: FloatArray) -> FloatArray:
    return np.asarray(total / np.maximum(count, 1))


def _bridge(columns: FloatArray, known: FloatArray) -> FloatArray:
    """The mean over other times where a column was not observed; over all columns if it never was."""
    times = known.sum(axis=0)
    over_time = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(times, 1)
    overall = over_time[times > 0].mean() if (times > 0).any() else 0.0
    return np.asarray(np.where(known, columns, np.where(times > 0, over_time, overall)))
