"""What the solver may ask of the data: two products, one residual, and a few facts."""

from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]


class Factors(NamedTuple):
    """The current model of n starts, for data that need it (dense and sparse data do not).

    Attributes
    ----------
    At : ndarray (n, R, I)
        Loadings, transposed.
    B : ndarray (n, R, K, J)
        Patterns.
    C : ndarray (n, R, K)
        Strengths.

    Examples
    --------
    >>> import numpy as np
    >>> Factors(np.ones((1, 2, 5)), np.ones((1, 2, 3, 4)), np.ones((1, 2, 3))).B.shape
    (1, 2, 3, 4)
    """

    At: FloatArray
    B: FloatArray
    C: FloatArray


@runtime_checkable
class SliceData(Protocol):
    """K slices X_k of I rows and J columns, divided by `scale` so that their joint norm is one.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData
    >>> isinstance(DenseData.from_slices([np.eye(2)]), SliceData)
    True
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""

    @property
    def nbytes(self) -> int:
        """Memory of the arrays held during a fit."""

    @property
    def scale(self) -> float:
        """Norm of the user's X; the data held are X / scale."""

    @property
    def norm_squared(self) -> float:
        """Squared norm of the held data: one, up to rounding."""

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Number of true columns of each slice where they differ (the rest is zero padding)."""

    def project(
        self, At: FloatArray, model: Factors | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""

    def accumulate(
        self, W: FloatArray, model: Factors | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 for each of the n starts, free of cancellation."""
