"""Compiled products of sparse tables with dense ones; threads can share them, as SciPy's cannot."""

from functools import partial
from typing import Any

import numpy as np

from tparafac2 import compiling

# Here, because the cache on disk is renewed when this file changes, and no other.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}
kernel = partial(compiling.kernel, options=_OPTIONS)


@kernel
def gather(begin, inner, values, M, out):  # type: ignore[no-untyped-def]
    """out[o] += the rows of M that line o has numbers for, times these.

    Four at a time, so that `out` is read and written less often.
    """
    w = np.uint64(M.shape[1])
    for o in range(out.shape[0]):
        p, last = begin[o], begin[o + 1]
        while p + 4 <= last:
            a, b, c, d = inner[p], inner[p + 1], inner[p + 2], inner[p + 3]
            x, y, z, t = values[p], values[p + 1], values[p + 2], values[p + 3]
            for r in range(w):
                out[o, r] += (x * M[a, r] + y * M[b, r]) + (z * M[c, r] + t * M[d, r])
            p += 4
        while p < last:
            a, x = inner[p], values[p]
            for r in range(w):
                out[o, r] += x * M[a, r]
            p += 1


@kernel
def scatter(begin, inner, values, M, out):  # type: ignore[no-untyped-def]
    """Row o of M, times each number of line o, is added to the row of `out` that the number stands for."""
    w = np.uint64(M.shape[1])
    for o in range(M.shape[0]):
        for p in range(begin[o], begin[o + 1]):
            i, x = inner[p], values[p]
            for r in range(w):
                out[i, r] += x * M[o, r]
