"""What the solver may ask of the data: two products, one residual, and a few facts; shapes as agreed."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]


@runtime_checkable
class SliceData(Protocol):
    """K slices X_k of I rows and J columns, divided by `scale` so that their joint norm is one.

    Any object with these attributes and methods can be fitted. Data may be able to do more, and are asked
    for it; all of this is optional:

    ``complete`` (bool, True if not there)
        Whether every entry counts. If not, errors are always summed by `residual_sse`.
    ``column_grams``, ``row_grams``
        Systems of every column and row by what was observed of them: see `PartlyObserved`.
    ``seen_by_slice`` (bool, False if not there), ``slice_grams``
        Whether all columns of each slice were observed in the same rows; their systems, one for each slice.
    ``present`` (bool, (K, J)), ``coverage`` ((K, J))
        Which columns there are at each time; the share of the rows that was observed.
    ``first_guess()``
        Complete data to begin with, where entries are missing.
    ``row_weights`` ((I,))
        How much each row counts, where that differs: the products and errors are by weight.
    ``of_rows(rows)``
        The same of some rows, any of them several times, in the same units.
    ``of_starts(which)``
        Where data differ from start to start: those of some of the starts. See `StackedData`.
    ``sweep``, ``some_rows``
        The update of the loadings and the product with them in one pass: see `Sweepable`.
    ``column_equations``, ``row_equations``
        Systems and right-hand sides of partly observed data in one pass.
    ``values``, ``with_values``
        Complete data, held as one dense array: see `Compressible`.

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

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 for each of the n starts, free of cancellation."""


@runtime_checkable
class Compressible(SliceData, Protocol):
    """Complete data in one dense array, which may be replaced by coordinates in a smaller basis.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData, ObservedData
    >>> isinstance(DenseData(np.ones((1, 1, 2))), Compressible)
    True
    >>> isinstance(ObservedData(np.ones((1, 1, 2))), Compressible)
    False
    """

    @property
    def values(self) -> FloatArray:
        """X / scale, (I, K, J)."""

    def with_values(self, values: FloatArray) -> "Compressible":
        """The same data in other coordinates, (I', K, J')."""


@runtime_checkable
class AroundOthers(SliceData, Protocol):
    """Data that treat the rows of others in a way of their own, so that only columns may be compressed."""

    @property
    def data(self) -> SliceData:
        """The others."""

    def around(self, data: SliceData) -> SliceData:
        """The same around others of the same rows."""


@runtime_checkable
class SparselyStored(SliceData, Protocol):
    """Data that hold their non-zeros only.

    Examples
    --------
    >>> from scipy.sparse import eye_array
    >>> from tparafac2.data import SparseData
    >>> isinstance(SparseData.from_slices([eye_array(3)]), SparselyStored)
    True
    """

    def plain_slices(self) -> tuple[Any, ...] | None:
        """All slices X_k / scale as sparse tables (I, J); None where they are not that alone."""


def negative_share(data: SliceData) -> float | None:
    """Share of the sum of squares that is of negative entries; None where the data cannot tell.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData
    >>> round(negative_share(DenseData.from_slices(np.array([[[3.0, 4.0]], [[0.0, -5.0]]]))), 12)
    0.5
    """
    share: float | None = getattr(data, "negative_share", None)
    return share


def negative_squares(values: FloatArray) -> float:
    """Sum of squares of the negative entries of values (I, ...), row by row; NaN is none."""
    if not (values < 0).any():
        return 0.0
    return sum(float(np.square(row[row < 0], dtype=np.float64).sum()) for row in values)


@runtime_checkable
class PartlyObserved(SliceData, Protocol):
    """Data of which some entries are missing, and in no sum: every row and column has a system of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData, ObservedData
    >>> holed = np.array([[[1.0, np.nan]]])
    >>> isinstance(ObservedData(holed), PartlyObserved), isinstance(DenseData(holed), PartlyObserved)
    (True, False)
    """

    def column_grams(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of a_i a_i' over the observed i, for every column and slice: (n, R (R+1) / 2, K, J)."""

    def row_grams(self, W: FloatArray) -> NDArray[np.float64]:
        """The sum of w_kj w_kj' over the observed k and j, for every row: (n, I, R, R)."""


class RowSolve(Protocol):
    """How loadings come of the products with the data, row by row."""

    def part(self, rows: slice) -> Callable[[FloatArray], FloatArray]:
        """The same for some rows: from their F (n, R, i) to their loadings (n, R, i)."""


@runtime_checkable
class Sweepable(SliceData, Protocol):
    """Data of which every pass is dear: the update of the loadings and the product with them can be one."""

    @property
    def reads(self) -> Any:
        """What was read so far: `passes`, and more."""

    def sweep(self, W: FloatArray, solve: RowSolve) -> tuple[FloatArray, FloatArray, FloatArray]:
        """F = sum over k of X_k W_k, the loadings that come of it, and their projection, in one pass."""

    def some_rows(self, rows: NDArray[np.intp]) -> Any:
        """Some rows, held in memory, as a dataclass with `values` (i, K, J); their numbers must be sorted."""


def is_complete(data: SliceData) -> bool:
    """Whether every entry of the data counts."""
    return bool(getattr(data, "complete", True))


def is_seen_by_slice(data: SliceData) -> bool:
    """Whether all columns of each slice were observed in the same rows, so that they share a system."""
    return bool(getattr(data, "seen_by_slice", False))


def present_columns(data: SliceData) -> NDArray[np.bool_] | None:
    """Which columns there are at each time, (K, J); None for all."""
    present: NDArray[np.bool_] | None = getattr(data, "present", None)
    return present


def row_weights(data: SliceData) -> NDArray[np.float64] | None:
    """How much each row of complete data counts, (I,); None where all count the same."""
    weights: NDArray[np.float64] | None = getattr(data, "row_weights", None)
    return weights


def require_tail(name: str, array: FloatArray, tail: tuple[int, ...]) -> None:
    """Refuse an array that is not of shape (n, R, *tail).

    Examples
    --------
    >>> import numpy as np
    >>> require_tail("At", np.ones((2, 3, 5)), (5,))
    """
    if array.ndim != 2 + len(tail) or array.shape[2:] != tail:
        expected = ", ".join(map(str, ("n", "R", *tail)))
        raise ValueError(f"{name} must have shape ({expected}); got {array.shape}.")


def output_array(out: FloatArray | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatArray:
    """The caller's array, if it can be filled in place; a new one where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> output_array(None, (2, 3), np.dtype(np.float32)).dtype
    dtype('float32')
    """
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"out must be a C-contiguous {dtype} array of shape {shape}; "
            f"got {out.dtype}, shape {out.shape}, C-contiguous: {out.flags.c_contiguous}."
        )
    return out


def padded(
    pieces: NDArray[Any] | Sequence[NDArray[Any]], width: int | None = None, *, fill: float = np.nan
) -> NDArray[Any]:
    """Stack pieces (J_k, ...) of different lengths as one array (K, width, ...), filled up behind their ends.

    They are as long as the longest one if no width is given. What is one array already is given back.

    Examples
    --------
    >>> padded([np.array([1.0]), np.array([2.0, 3.0])])
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    if isinstance(pieces, np.ndarray):
        return pieces
    longest = max(map(len, pieces)) if width is None else width
    stack = np.full((len(pieces), longest, *pieces[0].shape[1:]), fill, dtype=np.result_type(*pieces))
    for target, piece in zip(stack, pieces):
        target[: len(piece)] = piece
    return stack
