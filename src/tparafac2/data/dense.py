"""Dense data: every product is one matrix product."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tparafac2.data.interface import FloatArray, negative_squares, output_array, require_tail
from tparafac2.data.norms import frobenius_norm
from tparafac2.data.teamwork import in_pieces

# Tiles of 2 MB in float64: they stay in cache while all starts use them, and are far below 64 MB.
_TILE_ENTRIES = 2**18
_TILE_WIDTH = 2**14
# Pieces that threads can share, of data of 32 MB or more in float64: for less, calling them takes too long.
_PIECES = 8
_SHARED_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class DenseData:
    """Slices in one array with rows first, so that both products need no rearranging.

    Parameters
    ----------
    values : ndarray (I, K, J)
        X / scale, C-contiguous, float64 or float32. It is held read-only, not copied.
    scale : float
        Norm of the user's X.
    widths : tuple of int, optional
        Number of true columns of each slice where they differ; the remaining columns are zero.

    Examples
    --------
    >>> import numpy as np
    >>> data = DenseData.from_slices([np.full((2, 3), 2.0), np.full((2, 3), 4.0)])
    >>> data.shape, round(data.scale, 6), round(data.norm_squared, 12)
    ((2, 2, 3), 10.954451, 1.0)
    >>> data.project(np.ones((1, 1, 2))).shape
    (1, 1, 2, 3)
    """

    values: FloatArray
    scale: float = 1.0
    widths: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        values = self.values
        if values.ndim != 3 or not values.flags.c_contiguous or values.dtype not in (np.float32, np.float64):
            raise ValueError(
                "values must be a C-contiguous (I, K, J) array of native float64 or float32; "
                f"got shape {values.shape} and type {values.dtype}. Use DenseData.from_slices instead."
            )
        held = values.view()
        held.flags.writeable = False
        object.__setattr__(self, "values", held)

    @classmethod
    def from_slices(
        cls, slices: Sequence[NDArray[Any]], *, scale: float | None = None, dtype: DTypeLike = np.float64
    ) -> Self:
        """Copy K slices (I, J_k) once, dividing by their joint norm on the way.

        Parameters
        ----------
        slices : sequence of real ndarrays (I, J_k)
            Narrower slices are padded with zero columns.
        scale : float, optional
            Norm of the slices where it is known already.
        dtype : float64 or float32

        Returns
        -------
        DenseData
        """
        scale = frobenius_norm(slices) if scale is None else scale
        if not 0.0 < scale < math.inf:
            raise ValueError(f"the norm of the slices must be positive and finite, but it is {scale}.")
        widths = tuple(piece.shape[1] for piece in slices)
        values = np.zeros((slices[0].shape[0], len(slices), max(widths)), dtype=dtype)
        with np.errstate(under="ignore"):
            for k, piece in enumerate(slices):
                # Dividing in float64 before rounding to dtype keeps 1e150 from overflowing in float32.
                held = values[:, k, : widths[k]]
                np.divide(piece, scale, out=held, dtype=np.float64, casting="same_kind")
        return cls(values, scale, widths if min(widths) < max(widths) else None)

    def with_values(self, values: FloatArray) -> Self:
        """The same data in other coordinates, (I', K, J')."""
        return type(self)(np.ascontiguousarray(values, dtype=self.dtype), self.scale, self.widths)

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """Some rows, any of them several times, in the same units: their norm is not one."""
        return self.with_values(self.values[rows])

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
        """Memory of the held arrays."""
        return self.values.nbytes

    @cached_property
    def norm_squared(self) -> float:
        """Squared norm of the held data, summed in float64: one, up to rounding."""
        return frobenius_norm([self._rows_by_rest]) ** 2

    @property
    def negative_share(self) -> float:
        """Share of the sum of squares that is of negative entries."""
        return negative_squares(self.values)

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""
        require_tail("At", At, self.values.shape[:1])
        n, R, I = At.shape
        out = output_array(out, (n, R, *self.values.shape[1:]), self.dtype)
        left, held, flat = (
            At.astype(self.dtype, copy=False).reshape(n * R, I),
            self._rows_by_rest,
            out.reshape(n * R, -1),
        )

        def some_columns(piece: slice) -> None:
            np.matmul(left, held[:, piece], out=flat[:, piece])

        in_pieces(some_columns, held.shape[1], _piece(*held.shape))
        return out

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""
        require_tail("W", W, self.values.shape[1:])
        n, R = W.shape[:2]
        out = output_array(out, (n, R, self.values.shape[0]), self.dtype)
        left, held = W.astype(self.dtype, copy=False).reshape(n * R, -1), self._rows_by_rest
        width = _piece(*held.shape)
        parts = np.empty((-(-held.shape[1] // width), len(held), n * R), dtype=self.dtype)

        def some_columns(piece: slice) -> None:
            np.matmul(held[:, piece], left[:, piece].T, out=parts[piece.start // width])

        in_pieces(some_columns, held.shape[1], width)
        out.reshape(n * R, -1)[...] = parts.sum(axis=0).T
        return out

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 per start, from the differences themselves, in float64.

        Padding counts as zeros, so W must be zero there.
        """
        require_tail("At", At, self.values.shape[:1])
        require_tail("W", W, self.values.shape[1:])
        flat = self._rows_by_rest
        W_flat = W.reshape(*W.shape[:2], -1)
        sse = np.zeros(len(At))
        for rows, columns in _tiles(*flat.shape):
            for start in range(len(At)):
                right = W_flat[start, :, columns].astype(np.float64, copy=False)
                difference = At[start, :, rows].T @ right
                np.subtract(flat[rows, columns], difference, out=difference)
                sse[start] += np.vdot(difference, difference)
        return sse

    @property
    def _rows_by_rest(self) -> FloatArray:
        return self.values.reshape(self.values.shape[0], -1)


def _piece(height: int, width: int) -> int:
    """How many columns make a piece: all of them where the data are too small for threads."""
    return -(-width // _PIECES) if height * width >= _SHARED_ENTRIES else width


def _tiles(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    across = min(width, _TILE_WIDTH)
    down = max(1, _TILE_ENTRIES // across)
    for top in range(0, height, down):
        for left in range(0, width, across):
            yield slice(top, top + down), slice(left, left + across)
