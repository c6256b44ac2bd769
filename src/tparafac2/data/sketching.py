"""A sketch of the data: their rows in the few directions that matter, for finding where the minimum is.

With an orthonormal basis U of directions, ||X_k - U A' D_k B_k'||^2 is ||U'X_k - A' D_k B_k'||^2 and what the
directions leave of X_k: whatever is fitted to the sketch is a fit to the data whose error is known.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.compression import Compressed
from tparafac2.data.dense import DenseData
from tparafac2.data.interface import FloatArray, SliceData, Sweepable

_SPARE = (
    10  # directions beyond the rank: the range of noisy data is found to a few parts in a thousand with them
)
_ROUNDS = 2  # of products with X X': one finds a start, two the range
_WORTHWHILE = 0.5  # share of the entries that a sketch may have, or the way back takes longer than it saves


_SAMPLED = 10  # times as many rows of a sample as directions of a sketch


class Sketch(NamedTuple):
    """Data with few rows, the way back, and the squared norm of what they leave out.

    Of a sample of rows there is no way back for the loadings, and it is not known what it leaves out: None.
    """

    compressed: Compressed
    left_out: float | None


def sketched_rows(data: SliceData, rank: int) -> int | None:
    """Number of rows of a sketch, from shapes alone; None where it would not be much smaller than the data.

    Examples
    --------
    >>> sketched_rows(DenseData(np.ones((150, 1, 2))), 3), sketched_rows(DenseData(np.ones((20, 1, 2))), 3)
    (13, None)
    """
    K, I, J = data.shape
    m = rank + _SPARE
    # Sparse data hold a part of the entries only; of what is read again and again, the rows count.
    entries = I if isinstance(data, Sweepable) else min(I, data.nbytes / (data.dtype.itemsize * K * J))
    return m if m <= _WORTHWHILE * entries else None


def sketch(data: SliceData, rank: int) -> Sketch | None:
    """Coordinates of the rows of all slices in their leading directions, found by products with the data.

    Parameters
    ----------
    data : SliceData
        Complete, all rows counting the same.
    rank : int
        Number of components to be fitted.

    Returns
    -------
    Sketch or None
        None where it would not be much smaller than the data.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(4, 60, 1)) @ np.ones((4, 1, 5))
    >>> found = sketch(DenseData.from_slices(X), 2)
    >>> found.compressed.data.shape, round(found.left_out, 12)
    ((4, 12, 5), 0.0)
    """
    m = sketched_rows(data, rank)
    if m is None:
        return None
    # Directions to begin with: any do, and a fixed seed makes them repeatable.
    begin = np.random.default_rng(0).standard_normal((data.shape[1], m))
    basis, values = _found_in_sweeps(data, begin) if isinstance(data, Sweepable) else _found(data, begin)
    small = DenseData(values, data.scale, data.widths)
    return Sketch(Compressed(small, row_basis=basis), max(data.norm_squared - small.norm_squared, 0.0))


def _found(data: SliceData, basis: NDArray[np.float64]) -> tuple[NDArray[np.float64], FloatArray]:
    """An orthonormal basis of the leading directions, and the coordinates of the rows in it (m, K, J)."""
    for _ in range(_ROUNDS):
        pushed = data.accumulate(data.project(np.ascontiguousarray(basis.T)[None]))[0]
        basis = np.linalg.qr(pushed.T.astype(np.float64, copy=False))[0]
    return basis, data.project(np.ascontiguousarray(basis.T)[None])[0]


class _AsTheyAre:
    """The products with the data themselves, in the place of loadings that come of them."""

    def part(self, rows: slice) -> Callable[[FloatArray], FloatArray]:
        return np.asarray


def _found_in_sweeps(data: Sweepable, basis: NDArray[np.float64]) -> tuple[NDArray[np.float64], FloatArray]:
    """The same in three passes: what comes of the directions is known from what came before they were
    made orthonormal."""
    values = data.project(np.ascontiguousarray(basis.T)[None])[0]
    for _ in range(_ROUNDS):
        m = len(values)
        flat = values.reshape(m, -1).astype(np.float64, copy=False)
        # Orthonormal here, too, or the weak directions would be lost beside the strong ones.
        even = np.linalg.solve(_root(flat @ flat.T), flat).astype(data.dtype).reshape(values.shape)
        pushed, _, returned = data.sweep(even[None], _AsTheyAre())
        basis, mix = np.linalg.qr(pushed[0].T.astype(np.float64, copy=False))
        back = np.linalg.solve(mix.T, returned[0].reshape(m, -1).astype(np.float64, copy=False))
        values = back.astype(data.dtype).reshape(values.shape)
    return basis, values


def _root(gram: FloatArray) -> FloatArray:
    """A triangular root of a matrix of cross products, of which some may be dependent."""
    return np.asarray(np.linalg.cholesky(gram + 1e-13 * np.trace(gram) * np.eye(len(gram))))


def sampled_rows(data: Sweepable, rank: int) -> int | None:
    """Number of rows of a sample; None where there are not many more."""
    count = _SAMPLED * (rank + _SPARE)
    return count if count <= _WORTHWHILE * data.shape[1] else None


def sample(data: Sweepable, rank: int) -> Sketch | None:
    """Some rows, where terms on the loadings or missing entries do not let rows be mixed.

    They are made larger, so that penalties weigh beside them what they weigh beside all rows.

    Returns
    -------
    Sketch or None
        None where there are not many more rows.
    """
    I, count = data.shape[1], sampled_rows(data, rank)
    if count is None:
        return None
    from scipy.sparse import csr_array

    rows = np.sort(np.random.default_rng(0).choice(I, count, replace=False))
    selection = csr_array((np.full(count, np.sqrt(I / count)), (rows, np.arange(count))), shape=(I, count))
    some = data.some_rows(rows)
    larger = replace(some, values=some.values * some.dtype.type(np.sqrt(I / count)))
    return Sketch(Compressed(larger, row_basis=selection), None)
