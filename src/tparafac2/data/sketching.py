"""A sketch of the data: their rows in the few directions that matter, for finding where the minimum is.

With an orthonormal basis U of directions, ||X_k - U A' D_k B_k'||^2 is ||U'X_k - A' D_k B_k'||^2 and what the
directions leave of X_k: whatever is fitted to the sketch is a fit to the data whose error is known.
"""

from typing import NamedTuple

import numpy as np

from tparafac2.data.compression import Compressed
from tparafac2.data.dense import DenseData
from tparafac2.data.interface import SliceData

_SPARE = (
    10  # directions beyond the rank: the range of noisy data is found to a few parts in a thousand with them
)
_ROUNDS = 2  # of products with X X': one finds a start, two the range
_WORTHWHILE = 0.5  # share of the entries that a sketch may have, or the way back takes longer than it saves


class Sketch(NamedTuple):
    """Data with few rows, the way back, and the squared norm of what they leave out."""

    compressed: Compressed
    left_out: float


def sketched_rows(data: SliceData, rank: int) -> int | None:
    """Number of rows of a sketch, from shapes alone; None where it would not be much smaller than the data.

    Examples
    --------
    >>> sketched_rows(DenseData(np.ones((150, 1, 2))), 3), sketched_rows(DenseData(np.ones((20, 1, 2))), 3)
    (13, None)
    """
    K, I, J = data.shape
    m = rank + _SPARE
    entries = min(I, data.nbytes / (data.dtype.itemsize * K * J))  # of which sparse data hold a part only
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
    basis = np.random.default_rng(0).standard_normal((data.shape[1], m))
    for _ in range(_ROUNDS):
        pushed = data.accumulate(data.project(np.ascontiguousarray(basis.T)[None]))[0]
        basis = np.linalg.qr(pushed.T.astype(np.float64, copy=False))[0]
    values = data.project(np.ascontiguousarray(basis.T)[None])[0]
    small = DenseData(values, data.scale, data.widths)
    return Sketch(Compressed(small, row_basis=basis), max(data.norm_squared - small.norm_squared, 0.0))
