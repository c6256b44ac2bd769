"""Data that differ from start to start, in one batch: as those that were drawn from others are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray, SliceData, output_array


@dataclass(frozen=True, eq=False)
class StackedData:
    """Complete data of one shape and in the same units, a data set for each start.

    Parameters
    ----------
    parts : tuple of SliceData
        X / scale of start 0, 1, ..., with one common scale: their norms are not one.

    Examples
    --------
    >>> from tparafac2.data import DenseData
    >>> data = StackedData((DenseData(np.full((1, 1, 1), 2.0)), DenseData(np.full((1, 1, 1), 3.0))))
    >>> data.project(np.ones((2, 1, 1))).ravel(), data.of_starts([1]).project(np.ones((1, 1, 1))).ravel()
    (array([2., 3.]), array([3.]))
    """

    parts: tuple[SliceData, ...]

    def of_starts(self, which: Sequence[int] | NDArray[np.intp]) -> "StackedData":
        """The data of some of the starts."""
        same = len(which) == len(self.parts)  # they are always in order
        return self if same else StackedData(tuple(self.parts[i] for i in which))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""
        return self.parts[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""
        return self.parts[0].dtype

    @property
    def nbytes(self) -> int:
        """Memory of the held arrays."""
        return sum(part.nbytes for part in self.parts)

    @property
    def scale(self) -> float:
        """What all of them were divided by."""
        return self.parts[0].scale

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Number of true columns of each slice where they differ."""
        return self.parts[0].widths

    @cached_property
    def norm_squared(self) -> Any:
        """Squared norms of all of them, (n,): these are added to what there is of each start."""
        return np.array([part.norm_squared for part in self.parts])

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""
        K, _, J = self.shape
        out = output_array(out, (*At.shape[:2], K, J), self.dtype)
        for i, part in enumerate(self.parts):
            part.project(At[i : i + 1], out=out[i : i + 1])
        return out

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""
        return np.concatenate([part.accumulate(W[i : i + 1]) for i, part in enumerate(self.parts)])

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 for each of the n starts, free of cancellation."""
        pairs = zip(self.parts, At, W)
        return np.array([part.residual_sse(a[None], w[None])[0] for part, a, w in pairs])
