"""Sparse data of which single entries are missing, and in no sum."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray, output_array, require_tail
from tparafac2.data.places import Places
from tparafac2.data.sparse import SparseData

if TYPE_CHECKING:
    from tparafac2.data.gaps import GramsByList
    from tparafac2.data.gram_kernels import Lists


@dataclass(frozen=True, eq=False)
class HoledSparseData:
    """A list of entries is in no sum: every row and column has a system of its own.

    Parameters
    ----------
    shown : SparseData
        With nothing stored at these entries; X / scale, of norm one without them.
    rows, columns : ndarrays of int (n,)
        Where they are; columns of all slices are counted through, J to each slice.
    roots : ndarray (I,), optional
        Of the weights of the rows, by which the rows of `shown` are multiplied.

    Examples
    --------
    >>> from scipy.sparse import eye_array
    >>> holed = HoledSparseData.without(SparseData.from_slices([eye_array(2)]), Places.of([1], (1, 2, 2)))
    >>> holed.column_grams(np.ones((1, 1, 2))).tolist()
    [[[[2.0, 1.0]]]]
    """

    shown: SparseData
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    roots: NDArray[np.float64] | None = None

    complete: ClassVar[bool] = False

    @classmethod
    def without(cls, data: SparseData, missing: Places, roots: NDArray[np.float64] | None = None) -> Self:
        """Leave out entries of sparse data, in the order of its slices; nothing may be stored there."""
        columns = missing.time * data.shape[2] + missing.columns
        order = np.lexsort((missing.rows, columns))
        made = cls(data, missing.rows[order], columns[order], roots)
        left = made.norm_squared / data.norm_squared
        return made if left == 1.0 else replace(made, shown=data.divided(float(np.sqrt(left))))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""
        return self.shown.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""
        return self.shown.dtype

    @property
    def nbytes(self) -> int:
        """Memory of the held arrays."""
        return self.shown.nbytes + self.rows.nbytes + self.columns.nbytes + self._grams.nbytes

    @property
    def scale(self) -> float:
        """Norm of what was observed of the user's X, corrected."""
        return self.shown.scale

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Number of true columns of each slice where they differ."""
        return self.shown.widths

    @cached_property
    def norm_squared(self) -> float:
        """Squared norm of what was observed: one, up to rounding."""
        return self.shown.norm_squared - float(self._taken_off @ self._taken_off)

    @property
    def negative_share(self) -> float | None:
        """Share of the sum of squares that is of negative entries; None where it would take all entries."""
        return self.shown.negative_share

    @cached_property
    def coverage(self) -> NDArray[np.float64]:
        """Share of the rows that was observed for every time and column, (K, J)."""
        K, I, J = self.shape
        return np.asarray(1.0 - np.bincount(self.columns, minlength=K * J).reshape(K, J) / I)

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with the sum of x_ikj a_i over the observed i."""
        At = self._weighted(At)
        out = self.shown.project(At, out=out)
        if self.shown.u is not None:
            added = (self._put_back @ At.reshape(-1, self.shape[1]).T).T
            np.add(out, added.reshape(out.shape), out=out, casting="same_kind")
        return out

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of x_ikj w_kj over the observed k and j, as (n, R, I)."""
        out = self.shown.accumulate(W, out=out)
        if self.shown.u is not None:
            added = W.reshape(-1, self._put_back.shape[0]) @ self._put_back
            np.add(out, added.reshape(out.shape), out=out, casting="same_kind")
        if self.roots is not None:
            np.multiply(out, self.roots, out=out, casting="same_kind")
        return out

    def column_grams(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of a_i a_i' over the observed i, for every column and slice: (n, R (R+1) / 2, K, J)."""
        require_tail("At", At, self.shape[1:2])
        n, R = At.shape[:2]
        out = output_array(out, (n, R * (R + 1) // 2, self.shape[0], self.shape[2]), self.dtype)
        self._grams.of_columns(self._weighted(At), out)
        return out

    def row_grams(self, W: FloatArray) -> NDArray[np.float64]:
        """The sum of w_kj w_kj' over the observed k and j, for every row: (n, I, R, R)."""
        require_tail("W", W, (self.shape[0], self.shape[2]))
        grams = self._grams.of_rows(W)
        return grams if self.roots is None else grams * np.square(self.roots)[:, None, None]

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 over what was observed, for each of the n starts."""
        require_tail("At", At, self.shape[1:2])
        require_tail("W", W, (self.shape[0], self.shape[2]))
        places = self.rows, self.columns
        return np.array([self.shown.squared_error(a, w, places) for a, w in zip(self._weighted(At), W)])

    def _weighted(self, At: FloatArray) -> FloatArray:
        return At if self.roots is None else At * self.roots

    @cached_property
    def _grams(self) -> "GramsByList":
        from tparafac2.data.gaps import GramsByList

        K, I, J = self.shape
        by_row = np.lexsort((self.columns, self.rows))
        return GramsByList(
            np.arange(K * J, dtype=np.int32),
            _lists(self.columns, self.rows, K * J),
            _lists(self.rows[by_row], self.columns[by_row], I),
        )

    @cached_property
    def _put_back(self) -> Any:
        """What the correction took off the missing entries, (K J, I)."""
        from scipy.sparse import csr_array

        K, I, J = self.shape
        places = (self.columns, self.rows)
        return csr_array((self._taken_off.astype(self.dtype), places), shape=(K * J, I))

    @cached_property
    def _taken_off(self) -> NDArray[np.float64]:
        """What the correction takes off each missing entry."""
        u, v = self.shown.u, self.shown.v
        if u is None or v is None:
            return np.zeros(len(self.rows))
        taken: NDArray[np.float64] = u[self.columns // self.shape[2], self.rows] * v.ravel()[self.columns]
        return taken.astype(np.float64, copy=False)


def _lists(sums: NDArray[np.intp], terms: NDArray[np.intp], n: int) -> "Lists":
    """Which terms are not in each of n sums, from pairs in the order of the sums."""
    from tparafac2.data.gram_kernels import Lists

    begin = np.concatenate([[0], np.cumsum(np.bincount(sums, minlength=n))])
    return Lists(begin, terms.astype(np.int32), np.zeros(n, dtype=bool))
