"""The norm of all slices together, for numbers of any size."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK_ENTRIES = 2**18


def frobenius_norm(slices: Sequence[NDArray[Any]]) -> float:
    """Norm of all entries of all slices, summed in float64.

    Squares neither overflow nor underflow: entries are first divided by a power of two near the largest one,
    which is exact. An entry that is NaN gives NaN; an infinite entry gives infinity.

    Parameters
    ----------
    slices : sequence of real ndarrays (I, J_k)
        Any real type, byte order and memory order.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> frobenius_norm([np.array([[3e200, 4e200]])])
    5e+200
    """
    peak = _largest_magnitude(slices)
    if peak == 0.0 or not math.isfinite(peak):
        return peak
    unit = math.ldexp(1.0, math.frexp(peak)[1] - 1)
    total = 0.0
    for block in _row_blocks(slices):
        scaled = np.divide(block, unit, dtype=np.float64).ravel(order="K")
        total += float(scaled @ scaled)
    return unit * math.sqrt(total)


def _largest_magnitude(slices: Sequence[NDArray[Any]]) -> float:
    extremes = [float(pick(piece)) for piece in slices for pick in (np.min, np.max)]
    if any(math.isnan(extreme) for extreme in extremes):
        return math.nan
    return max(map(abs, extremes))


def _row_blocks(slices: Sequence[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    for piece in slices:
        height = max(1, _BLOCK_ENTRIES // piece.shape[1])
        for first in range(0, piece.shape[0], height):
            yield piece[first : first + height]
