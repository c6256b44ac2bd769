"""The squared error over data with missing entries, which are NaN, as a compiled loop.

Times and columns are one axis, so that every inner loop runs over many neighbouring numbers; the comparison
of a number with itself, which NaN alone fails, is vectorised too.
"""

from functools import partial
from typing import Any

import numpy as np

from tparafac2 import compiling

_BLOCK = 512  # columns worked on at a time

# No `nnan`: NaN is what these loops look for. Here, because the cache on disk is renewed when this file
# changes, and no other.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}
kernel = partial(compiling.kernel, options=_OPTIONS)
part = partial(compiling.part, options=_OPTIONS)


@part
def beyond_three(e, x, P, coef, at):  # type: ignore[no-untyped-def]
    """e = x - sum over r >= 3 of coef_r P[r], on neighbouring columns."""
    o, w = at
    for j in range(w):
        e[j] = x[o + j]
    for r in range(3, P.shape[0]):
        a = coef[r]
        for j in range(w):
            e[j] -= a * P[r, o + j]


@part
def squares_of_row(x, W, coef, e, at):  # type: ignore[no-untyped-def]
    """The sum of squares of x - sum_r coef_r W[r] over what is observed of neighbouring columns."""
    o, w = at
    a, b, c = coef[0], coef[1], coef[2]
    total = 0.0
    if W.shape[0] == 3:
        for j in range(w):
            d = x[o + j] - (a * W[0, o + j] + b * W[1, o + j] + c * W[2, o + j])
            d = d if d == d else 0.0
            total += d * d
    else:
        beyond_three(e, x, W, coef, at)
        for j in range(w):
            d = e[j] - (a * W[0, o + j] + b * W[1, o + j] + c * W[2, o + j])
            d = d if d == d else 0.0
            total += d * d
    return total


@kernel
def observed_sse(values, At, W, out):  # type: ignore[no-untyped-def]
    """Sum of squares of X - A W' over what was observed, for every start.

    R is at least 3: fewer components are filled up with zeros.
    """
    I, m = values.shape
    width = min(m, _BLOCK)
    e = np.empty(width, values.dtype)
    for p in range(At.shape[0]):
        out[p] = 0.0
        for first in range(0, m, width):
            at = (np.uint64(first), np.uint64(min(width, m - first)))
            for i in range(I):
                out[p] += squares_of_row(values[i], W[p], At[p, :, i], e, at)
