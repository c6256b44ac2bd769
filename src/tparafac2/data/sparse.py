"""Sparse data: only what is stored is held and multiplied, at a cost in proportion to it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tparafac2.data.correction import Correction
from tparafac2.data.interface import FloatArray, negative_squares, output_array, require_tail
from tparafac2.data.norms import frobenius_norm, power_of_two
from tparafac2.data.sparse_tables import add_product, entries, require_sound, tidy
from tparafac2.data.teamwork import in_pieces

# Numbers per row from which on a block's own (I, R) result costs little beside them.
_PER_ROW = 4
_CHUNK = 2**15
_IN_CACHE = 2**17  # rows of ten numbers that a shared cache has room for
# Pieces that threads can share; sums do not depend on how many there are.
_PIECES = 4
_ROUNDING = 1e-7  # of the norm of what is stored: plain sums of squares are off by up to 2e-15 of it, squared
_RUNAWAY = 1e100


@dataclass(frozen=True, eq=False)
class SparseData:
    """Slices side by side as one sparse table of I rows and K J columns, cut into blocks.

    Parameters
    ----------
    blocks : tuple of csr_array or csc_array (I, columns)
        X / scale, neighbouring columns in each block; together all K J columns.
    shape : (K, I, J)
    scale : float
        Norm of the user's X, corrected.
    widths : tuple of int, optional
        Number of true columns of each slice where they differ; the remaining columns are empty.
    u, v : ndarrays (K, I) and (K, J), optional
        u_k v_k' is taken off slice k (and counts as part of the data), see `Correction`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import eye_array
    >>> data = SparseData.from_slices([2.0 * eye_array(8), eye_array(8)])
    >>> data.shape, round(data.scale, 6), round(data.norm_squared, 12)
    ((2, 8, 8), 6.324555, 1.0)
    >>> data.project(np.ones((1, 1, 8))).shape
    (1, 1, 2, 8)
    """

    blocks: tuple[Any, ...]
    shape: tuple[int, int, int]
    scale: float = 1.0
    widths: tuple[int, ...] | None = None
    u: FloatArray | None = None
    v: FloatArray | None = None

    @classmethod
    def from_slices(
        cls,
        slices: Sequence[Any],
        *,
        correction: Correction | None = None,
        scale: float | None = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """Take K sparse slices (I, J_k); values are copied, indices only to change the format or to join.

        Parameters
        ----------
        slices : sequence of real scipy sparse matrices (I, J_k), of any format
            Narrower slices are padded with empty columns.
        correction : Correction, optional
            Centring and scaling to apply.
        scale : float, optional
            Norm of the (corrected) slices where it is known already.
        dtype : float64 or float32

        Returns
        -------
        SparseData
        """
        require_sound(slices)
        widths = tuple(piece.shape[1] for piece in slices)
        shape = len(slices), slices[0].shape[0], max(widths)
        tables = tidy_slices(slices)
        for table in tables:
            table.resize(shape[1:])
        u = v = None
        if correction is not None:
            correction.check(shape)
            pieces = enumerate(tables)
            tables = [_with_values(one, correction.multiplied(entries(one), k)) for k, one in pieces]
            u, v = _taken_off(correction, widths)
        scale = _norm(tables, shape, u, v) if scale is None else scale
        if scale == 0.0 and correction is not None:
            raise ValueError("nothing is left of the slices after the correction: every entry is zero.")
        if not 0.0 < scale < math.inf:
            raise ValueError(f"the norm of the slices must be positive and finite, but it is {scale}.")
        blocks = tuple(_divided(_joined(tables), scale, dtype))
        if u is not None and v is not None:
            u, v = u.astype(dtype), (v / scale).astype(dtype)
        return cls(blocks, shape, scale, widths if min(widths) < max(widths) else None, u, v)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the held numbers, and of the products."""
        held: np.dtype[Any] = self.blocks[0].dtype
        return held

    @property
    def nbytes(self) -> int:
        """Memory of the held arrays."""
        arrays = [a for block in self.blocks for a in (block.data, block.indices, block.indptr)]
        return sum(a.nbytes for a in (*arrays, self.u, self.v) if a is not None)

    @cached_property
    def norm_squared(self) -> float:
        """Squared norm of the held data: one, up to rounding."""
        if self.u is None:
            return _stored_norm(self.blocks) ** 2
        K, I, J = self.shape
        return self.squared_error(np.empty((0, I)), np.empty((0, K, J)))

    @property
    def negative_share(self) -> float | None:
        """Share of the sum of squares that is of negative entries; None where it would take all entries."""
        return (
            None if self.u is not None else sum(negative_squares(block.data[None]) for block in self.blocks)
        )

    def row_squares(self) -> NDArray[np.float64]:
        """Sum of squares of each row, (I,)."""
        total = np.zeros(self.shape[1])
        for block, columns in self._parts():
            rows, places, values = entries(block)
            values = values.astype(np.float64)
            if self.u is not None and self.v is not None:
                j = columns.start + places.astype(np.intp)
                values = values * (values - 2.0 * self.u[j // self.shape[2], rows] * self.v.ravel()[j])
            else:
                values = values * values
            total += np.bincount(rows, values, len(total))
        if self.u is not None and self.v is not None:
            total += np.einsum("ki,ki,kj,kj->i", self.u, self.u, self.v, self.v, optimize=True)
        return total

    def plain_slices(self) -> tuple[Any, ...] | None:
        """Every slice as a sparse table; None where they are joined, corrected or of different widths."""
        plain = self.widths is None and self.u is None and len(self.blocks) == self.shape[0]
        return self.blocks if plain else None

    def project(self, At: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """G (n, R, K, J) with G_k = X_k' A, from At (n, R, I)."""
        K, I, J = self.shape
        require_tail("At", At, (I,))
        n, R = At.shape[:2]
        out = output_array(out, (n, R, K, J), self.dtype)
        flat = out.reshape(n * R, K * J)
        A = np.ascontiguousarray(At.reshape(n * R, I).T, dtype=self.dtype)
        parts = list(self._parts())

        def some_blocks(some: slice) -> None:
            for block, columns in parts[some]:
                product = np.zeros((block.shape[1], n * R), dtype=self.dtype)
                add_product(block.T, A, product)
                flat[:, columns] = product.T

        in_pieces(some_blocks, len(parts), 1)
        if self.u is not None and self.v is not None:
            weights = self.u @ A
            for k in range(K):
                out[:, :, k] -= (weights[k][:, None] * self.v[k]).reshape(n, R, J)
        return out

    def accumulate(self, W: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Sum over k of X_k W_k, as (n, R, I), from W (n, R, K, J)."""
        K, I, J = self.shape
        require_tail("W", W, (K, J))
        n, R = W.shape[:2]
        out = output_array(out, (n, R, I), self.dtype)
        total = self._accumulated(W.reshape(n * R, K * J))
        if self.u is not None and self.v is not None:
            weights = np.einsum("qkj,kj->kq", W.reshape(n * R, K, J), self.v)
            total -= self.u.T @ weights
        out.reshape(n * R, I)[:] = total.T
        return out

    def _accumulated(self, flat: FloatArray) -> FloatArray:
        """X W as (I, n R), from W as (n R, K J)."""
        parts, height = list(self._parts()), self.shape[1]
        # Rows are summed by themselves; columns add to all rows, so that each piece has sums of its own.
        by_rows = all(block.format == "csr" for block, _ in parts)
        size = len(parts) if by_rows else -(-len(parts) // _PIECES)
        totals = np.zeros((-(-len(parts) // size), height, len(flat)), dtype=self.dtype)

        def some_blocks(some: slice) -> None:
            total = totals[some.start // size]
            for block, columns in parts[some]:
                right = np.ascontiguousarray(flat[:, columns].T, dtype=self.dtype)
                if not by_rows:
                    add_product(block, right, total)
                    continue
                in_pieces(partial(_add_rows, block, right, total), height, -(-height // _PIECES))

        in_pieces(some_blocks, len(parts), size)
        return totals[0] if len(totals) == 1 else np.asarray(totals.sum(axis=0))

    def residual_sse(self, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """Sum over k of ||X_k - A W_k'||^2 per start, from the stored numbers alone.

        Padding counts as zeros, so W must be zero there.
        """
        K, I, J = self.shape
        require_tail("At", At, (I,))
        require_tail("W", W, (K, J))
        return np.array([self.squared_error(a, w) for a, w in zip(At, W)], dtype=np.float64)

    def squared_error(
        self,
        At: FloatArray,
        W: FloatArray,
        left_out: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
    ) -> float:
        """Sum of (x - m)^2 over what is stored, and of m^2 over all else, with M = A W' + u v'.

        Entries that are left out, at which nothing may be stored, are given as rows, and columns of all
        slices counted through.

        Nothing of the size of a slice is ever formed. What the model says of all that is not stored is a
        difference of sums, wrong by their rounding: see `Precision.rounding`.
        """
        if not all(float(np.abs(factor).max(initial=0.0)) < _RUNAWAY for factor in (At, W)):
            return math.inf
        K, _, J = self.shape
        flat = W.reshape(len(W), K * J)
        left = At.astype(np.float64, copy=False)
        right = flat.astype(np.float64, copy=False)
        stored, elsewhere = 0.0, float(((left @ left.T) * (right @ right.T)).sum()) + self._cross_terms(At, W)
        for block, columns in self._parts():
            rows, places, values = entries(block)
            for first in range(0, len(values), _CHUNK):
                part = slice(first, first + _CHUNK)
                m = self._fitted(At, flat, rows[part], columns.start + places[part].astype(np.intp))
                stored += float(np.square(values[part] - m).sum())
                elsewhere -= float(m @ m)
        if left_out is not None:
            elsewhere -= float(np.square(self._fitted(At, flat, *left_out)).sum())
        return stored + max(elsewhere, 0.0)

    def _fitted(
        self, At: FloatArray, flat: FloatArray, i: NDArray[Any], j: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """M = A W' + u v' at single entries."""
        left, right = At[:, i], flat[:, j]
        if self.u is not None and self.v is not None:
            left = np.vstack([left, self.u[j // self.shape[2], i]])
            right = np.vstack([right, self.v.ravel()[j]])
        return np.asarray(np.einsum("rn,rn->n", left, right, dtype=np.float64))

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """Some rows, any of them several times, in the same units: their norm is not one."""
        K, _, J = self.shape
        blocks = tuple(_rows_of(block, rows) for block in self.blocks)
        u = None if self.u is None else np.ascontiguousarray(self.u[:, rows])
        return replace(self, blocks=blocks, shape=(K, len(rows), J), u=u)

    def divided(self, size: float) -> Self:
        """The same data, divided by a number, which their scale is multiplied by."""
        blocks = tuple(_divided(self.blocks, size, self.dtype))
        v = None if self.v is None else (self.v / size).astype(self.dtype)
        return replace(self, blocks=blocks, v=v, scale=self.scale * size)

    def _cross_terms(self, At: FloatArray, W: FloatArray) -> float:
        """||u v'||^2 + 2 <A W', u v'>: what the correction adds to ||A W'||^2."""
        if self.u is None or self.v is None:
            return 0.0
        u, v = self.u.astype(np.float64, copy=False), self.v.astype(np.float64, copy=False)
        own = np.square(u).sum(axis=1) @ np.square(v).sum(axis=1)
        return float(own + 2.0 * np.sum((At @ u.T) * np.einsum("rkj,kj->rk", W, v)))

    def _parts(self) -> Iterator[tuple[Any, slice]]:
        first = 0
        for block in self.blocks:
            yield block, slice(first, first + block.shape[1])
            first += block.shape[1]


def tidy_slices(slices: Sequence[Any]) -> list[Any]:
    """Sparse slices in their own form if that is fast enough, else in the one that suits their shape.

    Examples
    --------
    >>> from scipy.sparse import coo_array, csr_array
    >>> [table.format for table in tidy_slices([csr_array((2, 3)), csr_array((2, 1))])]
    ['csr', 'csr']
    >>> [table.format for table in tidy_slices([coo_array((2, 3))])]
    ['csc']
    """
    height, width = slices[0].shape[0], max(piece.shape[1] for piece in slices)
    # The longer side is gone through in order and the shorter one looked up, so that it stays in cache.
    form: Literal["csr", "csc"] = "csc" if width > height else "csr"
    other: Literal["csr", "csc"] = "csr" if width > height else "csc"
    # Where both sides do, another form would be no faster, and cost a copy of all indices.
    if max(height, width) <= _IN_CACHE and all(piece.format == other for piece in slices):
        form = other
    return [tidy(piece, form) for piece in slices]


def _add_rows(block: Any, right: FloatArray, total: FloatArray, rows: slice) -> None:
    add_product(block, right, total, rows)


def _norm(
    tables: Sequence[Any], shape: tuple[int, int, int], u: FloatArray | None, v: FloatArray | None
) -> float:
    """Norm of the slices with u v' taken off; zero where only rounding is left of them."""
    stored = _stored_norm(tables)
    if u is None or v is None or not 0.0 < stored < math.inf:
        return stored
    # Divided by a power of two near the largest number, squares neither overflow nor underflow.
    unit = power_of_two(max(stored, float(np.abs(v).max())))
    left = SparseData(tuple(_divided(tables, unit, np.float64)), shape, u=u, v=v / unit)
    norm = unit * math.sqrt(left.norm_squared)
    return norm if norm > _ROUNDING * stored else 0.0


def _stored_norm(tables: Sequence[Any]) -> float:
    stored = [table.data[:, None] for table in tables if table.nnz]
    return frobenius_norm(stored) if stored else 0.0


def _rows_of(block: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a block, in its own form, as the compiled products want it: sorted and read-only."""
    picked = type(block)(block.tocsr()[rows])
    picked.sort_indices()
    return _with_values(picked, picked.data)


def _with_values(table: Any, values: FloatArray) -> Any:
    values.flags.writeable = False
    return type(table)((values, table.indices, table.indptr), shape=table.shape)


def _divided(tables: Sequence[Any], unit: float, dtype: DTypeLike) -> Iterator[Any]:
    for table in tables:
        with np.errstate(under="ignore"):
            # Dividing in float64 before rounding to dtype keeps 1e150 from overflowing in float32.
            values = np.divide(table.data, unit, dtype=np.float64).astype(dtype, copy=False)
        yield _with_values(table, values)


def _taken_off(correction: Correction, widths: Sequence[int]) -> tuple[FloatArray | None, FloatArray | None]:
    """u and v with all units in v, so that u v' can be divided like the data; nothing off the padding."""
    if correction.u is None or correction.v is None:
        return None, None
    unit = power_of_two(float(np.abs(correction.u).max()))
    u, v = correction.u / unit, correction.v * unit
    for k, width in enumerate(widths):
        v[k, width:] = 0.0
    return u, v


def _joined(tables: Sequence[Any]) -> list[Any]:
    """Neighbouring slices in one block where rows are many and hold few numbers.

    Every block brings an (I, R) result of its own, which then costs more than the numbers: joining them was
    twice as fast for 20 slices of 500,000 x 2,000 with one number in every second row. Wider than tall,
    a block would only fall out of the cache.
    """
    import scipy.sparse

    rows, columns = tables[0].shape
    numbers = max(1, sum(table.nnz for table in tables))
    together = min(max(1, rows // columns), math.ceil(_PER_ROW * rows * len(tables) / numbers))
    if together == 1:
        return list(tables)
    groups = [tables[k : k + together] for k in range(0, len(tables), together)]
    return [scipy.sparse.hstack(group, format="csr") for group in groups]
