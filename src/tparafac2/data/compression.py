"""Exact compression: the same minimum from a smaller table, when one side is much longer than the rest."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dense import DenseData
from tparafac2.data.interface import AroundOthers, Compressible, FloatArray, SliceData, SparselyStored

# A smaller gain does not pay for the factorisation.
_WORTHWHILE = 0.6
# Directions this much weaker than the strongest are rounding; dropping stronger ones would not be exact.
_ROUNDING = 1e-13
_ROWS = 4096  # rows of a basis that are changed at a time
# Of sparse rows only the cross products are factorised, which hold half the digits: eigenvalues below the
# first share of the largest are rounding, and those above the second give directions that are orthonormal.
_SPARSE_ROUNDING, _SPARSE_TRUST = 1e-12, 1e-8
_MOST_SPARSE_ROWS = 2000  # beyond, their cross products take longer than fitting without compression


@dataclass(frozen=True, eq=False)
class SparseBasis:
    """Orthonormal directions (J, m) as combinations of sparse vectors: never written out, J may be huge.

    Attributes
    ----------
    vectors : sparse (n, J)
    mix : ndarray (n, m)
        The basis is vectors' mix.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> basis = SparseBasis(csr_array([[0.0, 2.0, 0.0]]), np.array([[0.5]]))
    >>> (basis @ np.ones((4, 1, 1))).shape, (basis.T @ np.ones((4, 3, 1))).ravel().tolist()
    ((4, 3, 1), [1.0, 1.0, 1.0, 1.0])
    """

    vectors: Any
    mix: NDArray[np.float64]
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """(J, m), or (m, J) if transposed."""
        J, m = self.vectors.shape[1], self.mix.shape[1]
        return (m, J) if self.transposed else (J, m)

    @property
    def T(self) -> "SparseBasis":  # as arrays call it
        """The transpose."""
        return SparseBasis(self.vectors, self.mix, not self.transposed)

    def __matmul__(self, factor: FloatArray) -> FloatArray:
        """Products with all slices of a factor (K, m, R), or (K, J, R) if transposed."""
        out = np.empty((len(factor), self.shape[0], factor.shape[2]))
        for target, piece in zip(out, factor):
            if self.transposed:
                target[...] = self.mix.T @ (self.vectors @ piece)
            else:
                target[...] = self.vectors.T @ (self.mix @ piece)
        return out


@dataclass(frozen=True, eq=False)
class Compressed:
    """Data in the coordinates of orthonormal bases, and the way back.

    Attributes
    ----------
    data : SliceData
        The data to fit; the original data where nothing was worth compressing.
    row_basis : ndarray (I, I'), optional
        None where the rows are as they were.
    column_basis : ndarray (J, J') or SparseBasis, optional
        None where the columns are as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData
    >>> wide = DenseData.from_slices(np.random.default_rng(0).normal(size=(2, 3, 50)))
    >>> compressed = compress(wide, 2, columns=True, rows=True)
    >>> compressed.data.shape
    (2, 3, 6)
    >>> compressed.expand_patterns(np.ones((2, 6, 2))).shape
    (2, 50, 2)
    """

    data: SliceData
    row_basis: NDArray[np.float64] | None = None
    column_basis: NDArray[np.float64] | SparseBasis | None = None

    def expand_patterns(self, B: FloatArray) -> FloatArray:
        """Patterns (K, J', R) of the compressed data as patterns (K, J, R) of the original."""
        return B if self.column_basis is None else _apply(self.column_basis, B)

    def expand_loadings(self, A: FloatArray) -> FloatArray:
        """Loadings (I', R) of the compressed data as loadings (I, R) of the original."""
        return A if self.row_basis is None else _apply(self.row_basis, A)

    def compress_patterns(self, B: FloatArray) -> FloatArray:
        """Patterns (K, J, R) in compressed coordinates (K, J', R); what lies outside the basis is dropped."""
        return B if self.column_basis is None else _apply(self.column_basis.T, B)

    def compress_loadings(self, A: FloatArray) -> FloatArray:
        """Loadings (I, R) in compressed coordinates (I', R); what lies outside the basis is dropped."""
        return A if self.row_basis is None else _apply(self.row_basis.T, A)


def compress(data: SliceData, rank: int, *, columns: bool, rows: bool) -> Compressed:
    """Replace a long side of the data by exact coordinates in one basis common to all slices.

    Parameters
    ----------
    data : SliceData
        Coordinates are dense: sparse data are compressed only where they have few rows.
    rank : int
        Number of components R to be fitted. The columns keep at least K R directions and the rows R,
        because the best patterns may need directions in which the data are zero.
    columns : bool
        Whether columns may be compressed: there must be no element-wise term on the patterns.
        Data of unequal widths are left as they are: their padding would not stay zero.
    rows : bool
        Whether rows may be compressed: there must be no element-wise term on the loadings.

    Returns
    -------
    Compressed
        A side is compressed only where that makes it shorter by two fifths or more.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import DenseData
    >>> tall = DenseData.from_slices(np.random.default_rng(0).normal(size=(2, 50, 3)))
    >>> compress(tall, 2, columns=True, rows=True).row_basis.shape
    (50, 6)
    """
    if rank < 1:
        raise ValueError(f"rank must be at least 1; got {rank}.")
    if isinstance(data, AroundOthers):
        inner = compress(data.data, rank, columns=columns, rows=False)
        return replace(inner, data=data.around(inner.data))
    if columns and (slices := _few_sparse_rows(data, rank)):
        return _compress_sparse(data, slices, at_least=data.shape[0] * rank)
    if not isinstance(data, Compressible):
        return Compressed(data)
    row_basis = column_basis = None
    K, I, J = data.shape
    if rows and _shortens(K * J, rank, I):
        row_basis, coordinates = _common_basis(data.values.reshape(I, K * J).T, at_least=rank)
        data = data.with_values(coordinates.T.reshape(-1, K, J))
    K, I, J = data.shape
    if columns and data.widths is None and _shortens(K * I, K * rank, J):
        column_basis, coordinates = _common_basis(data.values.reshape(I * K, J), at_least=K * rank)
        data = data.with_values(coordinates.reshape(I, K, -1))
    return Compressed(data, row_basis, column_basis)


def compressed_shape(data: SliceData, rank: int, *, columns: bool, rows: bool) -> tuple[int, int, int]:
    """Largest shape (K, I', J') that `compress` gives, without a look at the entries.

    Examples
    --------
    >>> import numpy as np
    >>> compressed_shape(DenseData(np.ones((3, 2, 50))), 2, columns=True, rows=True)
    (2, 3, 6)
    """
    K, I, J = data.shape
    if isinstance(data, AroundOthers):
        return compressed_shape(data.data, rank, columns=columns, rows=False)
    if columns and _few_sparse_rows(data, rank):
        return K, I, K * I
    if not isinstance(data, Compressible):
        return K, I, J
    if rows and _shortens(K * J, rank, I):
        I = max(K * J, rank)
    if columns and data.widths is None and _shortens(K * I, K * rank, J):
        J = max(K * I, K * rank)
    return K, I, J


def _shortens(vectors: int, at_least: int, side: int) -> bool:
    return max(vectors, at_least) <= _WORTHWHILE * side


def _few_sparse_rows(data: SliceData, rank: int) -> tuple[Any, ...] | None:
    K, I, J = data.shape
    few = rank <= I and K * I <= _MOST_SPARSE_ROWS and _shortens(K * I, K * rank, J)
    return data.plain_slices() if few and isinstance(data, SparselyStored) else None


def _compress_sparse(data: SliceData, slices: tuple[Any, ...], at_least: int) -> Compressed:
    """Coordinates from the cross products of all rows, each divided by its length first."""
    import scipy.sparse

    K, I, _ = data.shape
    vectors = scipy.sparse.vstack(slices, format="csr").astype(np.float64)
    lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
    inverse = 1.0 / np.where(lengths > 0, lengths, 1.0)
    cosines = (vectors @ vectors.T).toarray() * inverse[:, None] * inverse
    squares, directions = np.linalg.eigh(cosines)
    kept = squares > _SPARSE_ROUNDING * squares[-1]
    # Further directions, in which the data are zero, would be dense.
    if np.count_nonzero(kept) < at_least or (squares[kept] < _SPARSE_TRUST * squares[-1]).any():
        return Compressed(data)
    strengths, directions = np.sqrt(squares[kept]), directions[:, kept]
    coordinates = (lengths[:, None] * directions * strengths).reshape(K, I, -1).transpose(1, 0, 2)
    basis = SparseBasis(vectors, inverse[:, None] * directions / strengths)
    values = np.ascontiguousarray(coordinates, dtype=data.dtype)
    return Compressed(DenseData(values, data.scale), column_basis=basis)


def _apply(basis: NDArray[np.float64] | SparseBasis, factor: FloatArray) -> FloatArray:
    product: FloatArray = basis @ factor
    return product.astype(factor.dtype, copy=False)


def _common_basis(vectors: FloatArray, at_least: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Orthonormal basis Q (d, m) of the given rows (n, d), and their coordinates (n, m) in it."""
    from scipy.linalg import qr

    # One copy of the vectors becomes the basis.
    Q, R = qr(np.array(vectors, dtype=np.float64).T, overwrite_a=True, mode="economic", check_finite=False)
    pivots = np.abs(np.diag(R))
    if pivots.min() <= 10 * _ROUNDING * pivots.max():
        # Only dependent vectors leave such a pivot: drop the directions they do not need.
        U, strengths, _ = np.linalg.svd(R)
        kept = U[:, strengths > _ROUNDING * strengths[0]]
        for first in range(0, len(Q), _ROWS):
            part = Q[first : first + _ROWS]
            part[:, : kept.shape[1]] = part @ kept
        Q, R = Q[:, : kept.shape[1]], kept.T @ R
    missing = at_least - Q.shape[1]
    if missing > 0:
        Q = np.hstack([Q, _further_directions(Q, missing)])
        R = np.vstack([R, np.zeros((missing, R.shape[1]))])
    return Q, R.T


def _further_directions(Q: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    # Any directions do; a fixed seed makes them repeatable, a second projection orthogonal to rounding.
    directions = np.random.default_rng(0).standard_normal((len(Q), count))
    for _ in range(2):
        directions = np.linalg.qr(directions - Q @ (Q.T @ directions))[0]
    return directions
