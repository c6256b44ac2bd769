"""Data in blocks of rows, wherever these are: every product is a pass over all blocks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import DenseData, FloatArray, ObservedData, RowSolve
from tparafac2.large import blocks as over
from tparafac2.large.blocks import Blocks, Reads, Recipe


@dataclass(frozen=True, eq=False)
class BlockedData:
    """Complete data in blocks of rows.

    The loadings of a row depend on other rows through sums only: products with all rows are sums of those
    with blocks, and the update of the loadings and the next product can be one pass (`sweep`).

    Parameters
    ----------
    blocks : Blocks
    shape : (K, I, J)
        Of the slices that are fitted.
    recipe : Recipe
        What is made of every block.
    negative_share : float
        Share of the sum of squares that is of negative entries.
    """

    blocks: Blocks
    shape: tuple[int, int, int]
    recipe: Recipe
    negative_share: float = 0.0

    widths: ClassVar[None] = None
    norm_squared: ClassVar[float] = 1.0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products."""
        return np.dtype(self.recipe.dtype)

    @property
    def scale(self) -> float:
        """Norm of the user's X."""
        return self.recipe.scale

    @property
    def reads(self) -> Reads:
        """What was read so far."""
        return self.blocks.reads

    @property
    def client(self) -> Any:
        """Of the cluster whose workers have the blocks; None if they are read here."""
        return getattr(self.blocks, "client", None)

    @property
    def nbytes(self) -> int:
        """Memory of what is held of the blocks at once."""
        return self.blocks.largest

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""
        (G,) = self.blocks.run(over.project, None, self._by_block(At))[1]
        return _in(out, G)

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""
        parts, _ = self.blocks.run(over.accumulate, W, self._nothing)
        return _in(out, np.concatenate(parts, axis=2))

    def sweep(self, W: FloatArray, solve: RowSolve) -> tuple[FloatArray, FloatArray, FloatArray]:
        """F = sum over k of X_k W_k, the loadings that come of it, and their projection, in one pass."""
        parts, (G,) = self.blocks.run(over.sweep, W, [solve.part(rows) for rows in self.blocks.edges])
        F, At = (np.concatenate([part[i] for part in parts], axis=2) for i in range(2))
        return F, At, G

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 for each of the n starts, from the differences themselves."""
        (sse,) = self.blocks.run(over.residual_sse, W, self._by_block(At))[1]
        return np.asarray(sse)

    def some_rows(self, rows: NDArray[np.intp]) -> DenseData | ObservedData:
        """Some rows, held in memory; their numbers must be sorted."""
        own = [rows[(rows >= edge.start) & (rows < edge.stop)] - edge.start for edge in self.blocks.edges]
        values = np.concatenate(self.blocks.run(over.some_rows, None, own)[0])
        if self.recipe.complete:
            return DenseData(values, self.scale)
        return ObservedData(values, self.scale, self.recipe.present)

    def _by_block(self, At: FloatArray) -> list[FloatArray]:
        return [np.ascontiguousarray(At[:, :, rows]) for rows in self.blocks.edges]

    @property
    def _nothing(self) -> list[None]:
        return [None] * len(self.blocks.edges)


@dataclass(frozen=True, eq=False)
class BlockedObservedData(BlockedData):
    """Data with missing entries, in blocks of rows; what is missing is in no sum.

    Parameters
    ----------
    coverage : ndarray (K, J)
        Share of the rows that was observed.
    """

    coverage: NDArray[np.float64] | None = None

    complete: ClassVar[bool] = False

    @property
    def present(self) -> NDArray[np.bool_] | None:
        """Which columns there are at each time."""
        return self.recipe.present

    @cached_property
    def observed_share(self) -> float:
        """Share of the entries that were observed."""
        return 1.0 if self.coverage is None else float(self.coverage.mean())

    def column_grams(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The sum of a_i a_i' over the observed i, for every column and slice: (n, R (R+1) / 2, K, J)."""
        return _in(out, self.column_equations(At)[0])

    def row_grams(self, W: FloatArray) -> NDArray[np.float64]:
        """The sum of w_kj w_kj' over the observed k and j, for every row: (n, I, R, R)."""
        return self.row_equations(W)[1]

    def column_equations(self, At: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`column_grams` and `project` in one pass."""
        H, G = self.blocks.run(over.column_equations, None, self._by_block(At))[1]
        return H, G

    def row_equations(self, W: FloatArray) -> tuple[FloatArray, NDArray[np.float64]]:
        """`accumulate` and `row_grams` in one pass."""
        parts, _ = self.blocks.run(over.row_equations, W, self._nothing)
        return np.concatenate([F for F, _ in parts], axis=2), np.concatenate([H for _, H in parts], axis=1)


def _in(out: FloatArray | None, found: FloatArray) -> FloatArray:
    if out is None:
        return found
    out[...] = found
    return out
