"""Data that do not all count the same: weights of rows, or of entries, in every sum."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dense import DenseData
from tparafac2.data.incomplete import ObservedData, zeros_for_nan
from tparafac2.data.interface import (
    FloatArray,
    SliceData,
    negative_share,
    require_tail,
)

if TYPE_CHECKING:
    from tparafac2.data.gaps import Grams


@dataclass(frozen=True, eq=False)
class RowWeightedData:
    """Data with a weight for each row, at little more than the cost of data without weights.

    Held are the rows times the root of their weights; loadings are multiplied likewise on their way into the
    products, and are themselves never scaled, so that what is asked of them keeps its meaning.

    Parameters
    ----------
    data : SliceData
        The slices diag(w)^(1/2) X_k, divided by their joint norm: complete.
    row_weights : ndarray (I,)
        w: positive, of mean one.

    Examples
    --------
    >>> data = RowWeightedData(DenseData(np.array([[[1.0]], [[2.0]]])), np.array([1.0, 4.0]))
    >>> data.project(np.ones((1, 1, 2))).ravel(), data.accumulate(np.ones((1, 1, 1, 1))).ravel()
    (array([5.]), array([1., 4.]))
    """

    data: SliceData
    row_weights: NDArray[np.float64]

    def around(self, data: SliceData) -> "RowWeightedData":
        """The same weights for others of the same rows."""
        return RowWeightedData(data, self.row_weights)

    def of_rows(self, rows: NDArray[np.intp]) -> "RowWeightedData":
        """Some rows, any of them several times, with their weights."""
        return RowWeightedData(self.data.of_rows(rows), self.row_weights[rows])  # type: ignore[attr-defined]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""
        return self.data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""
        return self.data.dtype

    @property
    def nbytes(self) -> int:
        """Memory of the held arrays."""
        return self.data.nbytes

    @property
    def scale(self) -> float:
        """Norm of the user's X, by weight."""
        return self.data.scale

    @property
    def norm_squared(self) -> float:
        """Squared norm of the held data: one, up to rounding."""
        return self.data.norm_squared

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Number of true columns of each slice where they differ."""
        return self.data.widths

    @property
    def negative_share(self) -> float | None:
        """Share of the sum of squares that is of negative entries, by weight; None: not known."""
        return negative_share(self.data)

    def first_guess(self) -> SliceData:
        """Data to begin with."""
        return self.data

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' diag(w) A, from At (n, R, I)."""
        return self.data.project(At * self._roots, out=out)

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of diag(w) X_k W_k, as (n, R, I), from W (n, R, K, J)."""
        out = self.data.accumulate(W, out=out)
        np.multiply(out, self._roots, out=out, casting="same_kind")
        return out

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k and i of w_i ||x_ki - W_k a_i||^2 for each of the n starts, free of cancellation."""
        return self.data.residual_sse(At * self._roots, W)

    @cached_property
    def _roots(self) -> NDArray[np.float64]:
        return np.sqrt(self.row_weights)


@dataclass(frozen=True, eq=False)
class EntryWeightedData(ObservedData):
    """A weight for each entry, 0 where it is missing: every row and column has a system of its own.

    Parameters
    ----------
    values : ndarray (I, K, J)
        X / scale, C-contiguous, NaN where nothing was observed.
    scale : float
        Norm of what was observed of the user's X, by weight.
    present : ndarray of bool (K, J), optional
        Which columns there are at each time, where columns enter and leave.
    weights : ndarray (I, K, J)
        Of mean one over what was observed, and 0 elsewhere.

    Examples
    --------
    >>> data = EntryWeightedData(np.array([[[1.0]], [[2.0]]]), weights=np.array([[[1.0]], [[3.0]]]))
    >>> data.project(np.ones((1, 1, 2))).ravel(), data.column_grams(np.ones((1, 1, 2))).ravel()
    (array([7.]), array([4.]))
    """

    weights: FloatArray = None  # type: ignore[assignment]

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """Some rows, any of them several times, with their weights."""
        return replace(self, values=self.values[rows], weights=self.weights[rows])

    @cached_property
    def norm_squared(self) -> float:
        """Squared norm of what was observed, by weight: one, up to rounding."""
        return sum(
            float(np.nansum(weights * np.square(row, dtype=np.float64)))
            for row, weights in zip(self.values, self.weights)
        )

    @property
    def negative_share(self) -> float:
        """Share of the sum of squares that is of negative entries, by weight."""
        below = (np.fmin(row, 0.0, dtype=np.float64) for row in self.values)  # zero for NaN
        return sum(float((weights * row * row).sum()) for row, weights in zip(below, self.weights))

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum of w_ikj (x_ikj - a_i' w_kj)^2 over what was observed, from the differences themselves."""
        require_tail("At", At, self.values.shape[:1])
        require_tail("W", W, self.values.shape[1:])
        sse = np.zeros(len(At))
        for start, (loadings, right) in enumerate(zip(At, W)):
            right = right.astype(np.float64, copy=False)
            for i, row in enumerate(self.values):
                difference = row - np.tensordot(loadings[:, i], right, 1)
                sse[start] += np.nansum(self.weights[i] * difference * difference)
        return sse

    @cached_property
    def _zeros_for_missing(self) -> DenseData:
        held = zeros_for_nan(self.values)
        held *= self.weights
        return DenseData(held, self.scale)

    @cached_property
    def _grams(self) -> "Grams":
        from tparafac2.data.gaps import GramsByWeight

        return GramsByWeight(DenseData(self.weights))
