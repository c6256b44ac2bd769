"""Compiled loops over data with missing entries, which are NaN.

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
def project_row(G, x, W, coef, e, at):  # type: ignore[no-untyped-def]
    """G[r] += coef_r (x - sum_s coef_s W[s]) where x is observed, on neighbouring columns.

    Everything for three components in one loop: what is left of x never leaves the registers.
    """
    o, w = at
    a, b, c = coef[0], coef[1], coef[2]
    if W.shape[0] == 3:
        for j in range(w):
            d = x[o + j] - (a * W[0, o + j] + b * W[1, o + j] + c * W[2, o + j])
            d = d if d == d else 0.0
            G[0, o + j] += a * d
            G[1, o + j] += b * d
            G[2, o + j] += c * d
        return
    beyond_three(e, x, W, coef, at)
    for j in range(w):
        d = e[j] - (a * W[0, o + j] + b * W[1, o + j] + c * W[2, o + j])
        d = d if d == d else 0.0
        G[0, o + j] += a * d
        G[1, o + j] += b * d
        G[2, o + j] += c * d
        e[j] = d
    for r in range(3, W.shape[0]):
        a = coef[r]
        for j in range(w):
            G[r, o + j] += a * e[j]


@part
def accumulate_row(out, x, W, coef, e, at):  # type: ignore[no-untyped-def]
    """out[r] += <W[r], x - sum_s coef_s W[s]> over what is observed of neighbouring columns."""
    o, w = at
    a, b, c = coef[0], coef[1], coef[2]
    p, q, t = 0.0, 0.0, 0.0
    if W.shape[0] == 3:
        for j in range(w):
            f, g, h = W[0, o + j], W[1, o + j], W[2, o + j]
            d = x[o + j] - (a * f + b * g + c * h)
            d = d if d == d else 0.0
            p += d * f
            q += d * g
            t += d * h
    else:
        beyond_three(e, x, W, coef, at)
        for j in range(w):
            f, g, h = W[0, o + j], W[1, o + j], W[2, o + j]
            d = e[j] - (a * f + b * g + c * h)
            d = d if d == d else 0.0
            p += d * f
            q += d * g
            t += d * h
            e[j] = d
        for r in range(3, W.shape[0]):
            inner = 0.0
            for j in range(w):
                inner += W[r, o + j] * e[j]
            out[r] += inner
    out[0] += p
    out[1] += q
    out[2] += t


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
def project_filled(values, At, W, G):  # type: ignore[no-untyped-def]
    """Add E' A to G (n, R, m) for every start, where E is what the model A W' leaves of the observed values.

    With G = W A'A before, G is then F' A, where F has the entries of the model where nothing was observed.
    R is at least 3: fewer components are filled up with zeros. Columns are worked on in blocks that stay in
    the fastest cache while all rows pass by.
    """
    I, m = values.shape
    width = min(m, _BLOCK)
    e = np.empty(width, values.dtype)
    for p in range(At.shape[0]):
        for first in range(0, m, width):
            at = (np.uint64(first), np.uint64(min(width, m - first)))
            for i in range(I):
                project_row(G[p], values[i], W[p], At[p, :, i], e, at)


@kernel
def accumulate_filled(values, At, W, out):  # type: ignore[no-untyped-def]
    """Add E W to out (n, R, I) for every start, E as in `project_filled`."""
    I, m = values.shape
    width = min(m, _BLOCK)
    e = np.empty(width, values.dtype)
    for p in range(At.shape[0]):
        for first in range(0, m, width):
            at = (np.uint64(first), np.uint64(min(width, m - first)))
            for i in range(I):
                accumulate_row(out[p, :, i], values[i], W[p], At[p, :, i], e, at)


@kernel
def observed_sse(values, At, W, out):  # type: ignore[no-untyped-def]
    """Sum of squares of X - A W' over what was observed, for every start."""
    I, m = values.shape
    width = min(m, _BLOCK)
    e = np.empty(width, values.dtype)
    for p in range(At.shape[0]):
        out[p] = 0.0
        for first in range(0, m, width):
            at = (np.uint64(first), np.uint64(min(width, m - first)))
            for i in range(I):
                out[p] += squares_of_row(values[i], W[p], At[p, :, i], e, at)


@part
def at_place(At, W, i, j, before):  # type: ignore[no-untyped-def]
    """The model A W' at one entry, added to what there is before."""
    total = before
    for r in range(At.shape[0]):
        total += At[r, i] * W[r, j]
    return total


@kernel
def project_places(places, before, At, W, G):  # type: ignore[no-untyped-def]
    """Add P' A to G (n, R, m) for every start, where P has the model A W' and `before` at places alone."""
    for p in range(At.shape[0]):
        for c in range(places.shape[1]):
            i, j = places[0, c], places[1, c]
            value = at_place(At[p], W[p], i, j, before[c])
            for r in range(At.shape[1]):
                G[p, r, j] += value * At[p, r, i]


@kernel
def accumulate_places(places, before, At, W, out):  # type: ignore[no-untyped-def]
    """Add P W to out (n, R, I) for every start, P as in `project_places`."""
    for p in range(At.shape[0]):
        for c in range(places.shape[1]):
            i, j = places[0, c], places[1, c]
            value = at_place(At[p], W[p], i, j, before[c])
            for r in range(At.shape[1]):
                out[p, r, i] += value * W[p, r, j]


@kernel
def squares_at_places(places, before, At, W, out):  # type: ignore[no-untyped-def]
    """Sum of squares of P for every start, P as in `project_places`."""
    for p in range(At.shape[0]):
        out[p] = 0.0
        for c in range(places.shape[1]):
            value = at_place(At[p], W[p], places[0, c], places[1, c], before[c])
            out[p] += value * value
