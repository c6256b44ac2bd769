"""Norms that neither overflow nor underflow: entries are first divided by a common unit."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK_ENTRIES = 2**18


def power_of_two(size: float) -> float:
    """A power of two near a size: to divide by it is exact. One for nothing.

    Examples
    --------
    >>> power_of_two(5.0), power_of_two(0.0)
    (4.0, 1.0)
    """
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0.0 else 1.0


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
    unit = power_of_two(peak)
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
