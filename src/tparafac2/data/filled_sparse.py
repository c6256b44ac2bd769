"""Sparse data of which single entries are missing, and follow the model as it goes (EM)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import BatchedFactors, FloatArray, require_tail
from tparafac2.data.places import Places
from tparafac2.data.sparse import SparseData

# Share of ||X||^2 below which squared errors come from the differences at what is stored, which takes longer.
_CANCELLATION = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}


@dataclass(frozen=True, eq=False)
class FilledSparseData:
    """EM: a list of entries follows the current model of each start, zero before there is one.

    Parameters
    ----------
    shown : SparseData
        With nothing stored at these entries; X / scale, of norm one without them.
    rows, columns : ndarrays of int (n,)
        Where they are; columns of all slices are counted through, J to each slice.

    Examples
    --------
    >>> from scipy.sparse import eye_array
    >>> data = SparseData.from_slices([eye_array(2)])
    >>> filled = FilledSparseData.without(data, Places.of([1], (1, 2, 2)))
    >>> model = BatchedFactors(np.ones((1, 1, 2)), 5.0 * np.ones((1, 1, 1, 2)), np.ones((1, 1, 1)))
    >>> (filled.project(model.At, model) - data.project(model.At)).tolist()
    [[[[0.0, 5.0]]]]
    """

    shown: SparseData
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    complete: ClassVar[bool] = False
    follows_model: ClassVar[bool] = True

    @classmethod
    def without(cls, data: SparseData, missing: Places) -> Self:
        """Leave out entries of sparse data, in the order of its slices; nothing may be stored there."""
        columns = missing.time * data.shape[2] + missing.columns
        order = np.argsort(columns, kind="stable")  # neighbours in memory are used together
        made = cls(data, missing.rows[order], columns[order])
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
        return self.shown.nbytes + self.rows.nbytes + self.columns.nbytes

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

    def project(
        self, At: FloatArray, model: BatchedFactors | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""
        from tparafac2.data.missing_kernels import project_places

        out = self.shown.project(At, out=out)
        W = np.zeros_like(out) if model is None else model.B * model.C[..., None]
        project_places(*self._missing, self._alike(At), self._alike(W), out.reshape(*out.shape[:2], -1))
        return out

    def accumulate(
        self, W: FloatArray, model: BatchedFactors | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J); the model is A W'."""
        from tparafac2.data.missing_kernels import accumulate_places

        out = self.shown.accumulate(W, out=out)
        At = np.zeros_like(out) if model is None else model.At
        accumulate_places(*self._missing, self._alike(At), self._alike(W), out)
        return out

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 over what was observed, for each of the n starts."""
        from tparafac2.data.missing_kernels import squares_at_places

        require_tail("At", At, self.shape[1:2])
        require_tail("W", W, (self.shape[0], self.shape[2]))
        cross = (self.shown.accumulate(W) * At).sum(axis=(1, 2), dtype=np.float64)
        flat = W.reshape(*W.shape[:2], -1).astype(np.float64, copy=False)
        size = ((flat @ flat.transpose(0, 2, 1)) * (At @ At.transpose(0, 2, 1))).sum(axis=(1, 2))
        sse = np.asarray(self.shown.norm_squared - 2.0 * cross + size, dtype=np.float64)
        filled = np.empty(len(At))
        squares_at_places(*self._missing, self._alike(At), self._alike(W), filled)
        sse -= filled
        for start in np.flatnonzero(sse < _CANCELLATION[self.dtype]):
            sse[start] = self.shown.squared_error(At[start], W[start], (self.rows, self.columns))
        return sse

    def _alike(self, array: FloatArray) -> FloatArray:
        """As the kernels want it: of one type and memory order, times and columns as one axis."""
        return np.ascontiguousarray(array, dtype=self.dtype).reshape(*array.shape[:2], -1)

    @cached_property
    def _missing(self) -> tuple[NDArray[np.intp], FloatArray]:
        """Rows and columns of the missing entries, and what the correction took off each: it is put back."""
        return np.stack([self.rows, self.columns]), self._taken_off.astype(self.dtype)

    @cached_property
    def _taken_off(self) -> NDArray[np.float64]:
        """What the correction takes off each missing entry."""
        u, v = self.shown.u, self.shown.v
        if u is None or v is None:
            return np.zeros(len(self.rows))
        taken: NDArray[np.float64] = u[self.columns // self.shape[2], self.rows] * v.ravel()[self.columns]
        return taken.astype(np.float64, copy=False)
