"""Sums that neither overflow nor cancel: with a common unit, or as if computed with twice the digits."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray

Doubles: TypeAlias = NDArray[np.float64]

_SPLITTER = 2.0**27 + 1.0
_CHUNK = 2**15  # the arrays of a chunk stay in cache


def dot(x: FloatArray, y: FloatArray) -> Fraction:
    """Inner product of two vectors, wrong by about 1e-32 of the products' sizes.

    Examples
    --------
    >>> import numpy as np
    >>> float(dot(np.array([1e10, 1.0, -1e10]), np.array([1e10, 1e-3, 1e10])))
    0.001
    """
    total = Fraction(0)
    for first in range(0, len(x), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        product, error = two_product(_double(x[chunk]), _double(y[chunk]))
        total += _sum(product) + Fraction(float(error.sum()))
    return total


def gram_product(left: FloatArray, right: FloatArray) -> Fraction:
    """||left' right||^2 for left (R, m) and right (R, n), without forming the (m, n) table.

    Examples
    --------
    >>> import numpy as np
    >>> float(gram_product(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0, 4.0]])))
    125.0
    """
    total = Fraction(0)
    for r in range(len(left)):
        for s in range(r + 1):
            weight = 1 if r == s else 2
            total += weight * dot(left[r], left[s]) * dot(right[r], right[s])
    return total


def paired_products(left: FloatArray, right: FloatArray) -> tuple[Doubles, Doubles]:
    """Sum over r of left[r] * right[r], (R, n) each, as a sum of two vectors: rounded, and its error.

    Examples
    --------
    >>> import numpy as np
    >>> paired_products(np.array([[1e17], [1.0]]), np.array([[1.0], [3.0]]))
    (array([1.e+17]), array([3.]))
    """
    total, error = (np.zeros(left.shape[1]) for _ in range(2))
    for a, b in zip(left, right):
        product, lost = two_product(_double(a), _double(b))
        total, also_lost = two_sum(total, product)
        error += lost + also_lost
    return total, error


def power_of_two(size: float) -> float:
    """A power of two near a size: to divide by it is exact. One for nothing.

    Examples
    --------
    >>> power_of_two(5.0), power_of_two(0.0)
    (4.0, 1.0)
    """
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0.0 else 1.0


def two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """a + b, rounded, and exactly what rounding lost."""
    total = a + b
    b_rounded = total - a
    return total, (a - (total - b_rounded)) + (b - b_rounded)


def two_product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """a * b, rounded, and exactly what rounding lost."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Doubles) -> tuple[Doubles, Doubles]:
    """Two numbers of half the digits each, whose products are exact."""
    shifted = _SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high


def _sum(values: Doubles) -> Fraction:
    error = 0.0
    while len(values) > 1:
        if len(values) % 2:
            values = np.append(values, 0.0)
        half = len(values) // 2
        values, lost = two_sum(values[:half], values[half:])
        error += float(lost.sum())
    return Fraction(error) + sum(map(Fraction, values.tolist()))


def _double(values: NDArray[Any]) -> Doubles:
    return values.astype(np.float64, copy=False)


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
