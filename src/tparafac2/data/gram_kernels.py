"""Compiled sums of products over what was observed, from lists of what was not.

Numbers of all starts and all pairs of components are *lanes*: neighbours in memory, so that every inner loop
runs over many of them, whatever the lists say.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tparafac2 import compiling

_BLOCK = 16  # columns worked on at a time: whole lines of the cache are read and written

# Here, because the cache on disk is renewed when this file changes, and no other.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}
kernel = partial(compiling.kernel, options=_OPTIONS)
part = partial(compiling.part, options=_OPTIONS)

Array = np.ndarray[Any, np.dtype[Any]]


class Lists(NamedTuple):
    """Which terms make each of several sums, or, where these are fewer, which are not in it."""

    begin: Array  # (n + 1,) where the list of each sum begins in `terms`
    terms: Array  # int32, ascending within each list
    direct: Array  # (n,) bool: the list is of the terms of the sum


class Lanes(NamedTuple):
    """Which two rows of the factors each lane multiplies."""

    first: Array  # (L,) uint32
    second: Array  # (L,) uint32


class Terms(NamedTuple):
    """What is summed."""

    each: Array  # (m, L)
    total: Array  # (L,)  their sum
    least: Array  # (L,)  what has to be left of the total where terms are taken off it


@kernel
def multiply_pairs(factors, group, lanes, out):  # type: ignore[no-untyped-def]
    """out[g, l] = sum, over the columns of group g, of the product of the two rows (of n R) of lane l."""
    m, w = factors.shape[1], np.uint64(out.shape[1])
    for g in range(out.shape[0]):
        for j in range(w):
            out[g, j] = 0.0
    block = np.empty((_BLOCK, factors.shape[0]))
    for c in range(0, m, _BLOCK):
        width = min(_BLOCK, m - c)
        for r in range(factors.shape[0]):
            for b in range(width):
                block[b, r] = factors[r, c + b]
        for b in range(width):
            g = group[c + b]
            for j in range(w):
                out[g, j] += block[b, lanes.first[j]] * block[b, lanes.second[j]]


@part
def add_listed(out, o, X, terms, first, last, sign):  # type: ignore[no-untyped-def]
    """out[o] += sign times the listed rows of X, four at a time: `out` is read and written less often."""
    w = np.uint64(X.shape[1])
    while first + 4 <= last:
        a, b, c, d = terms[first], terms[first + 1], terms[first + 2], terms[first + 3]
        for j in range(w):
            out[o, j] += sign * ((X[a, j] + X[b, j]) + (X[c, j] + X[d, j]))
        first += 4
    while first < last:
        a = terms[first]
        for j in range(w):
            out[o, j] += sign * X[a, j]
        first += 1


@part
def add_others(out, o, X, terms, first, last):  # type: ignore[no-untyped-def]
    """out[o] += the rows of X that are not listed."""
    w = np.uint64(X.shape[1])
    for i in range(X.shape[0]):
        if first < last and terms[first] == i:
            first += 1
        else:
            for j in range(w):
                out[o, j] += X[i, j]


@part
def is_cancelled(out, o, least):  # type: ignore[no-untyped-def]
    """Whether too little is left in any lane; a loop that may end early would not be vectorised."""
    w, cancelled = np.uint64(out.shape[1]), 0.0
    for j in range(w):
        cancelled += 1.0 if out[o, j] < least[j] else 0.0
    return cancelled > 0.0


@part
def sum_one(out, o, lists, u, terms):  # type: ignore[no-untyped-def]
    """out[o] becomes sum u."""
    X, total, w = terms.each, terms.total, np.uint64(out.shape[1])
    first, last, direct = lists.begin[u], lists.begin[u + 1], lists.direct[u]
    if not direct:
        for j in range(w):
            out[o, j] = total[j]
        add_listed(out, o, X, lists.terms, first, last, -1.0)
        if not is_cancelled(out, o, terms.least):
            return
    for j in range(w):
        out[o, j] = 0.0
    if direct:
        add_listed(out, o, X, lists.terms, first, last, 1.0)
    else:
        add_others(out, o, X, lists.terms, first, last)


@kernel
def sum_rows(lists, terms, out):  # type: ignore[no-untyped-def]
    """All sums, (n, L)."""
    for u in range(out.shape[0]):
        sum_one(out, u, lists, u, terms)


@kernel
def sum_columns(lists, group, terms, out):  # type: ignore[no-untyped-def]
    """For each column the sum of its group, (L, m); neighbours of one group share it."""
    L, m = out.shape
    w = np.uint64(L)
    block = np.empty((_BLOCK, L))
    for c in range(0, m, _BLOCK):
        width = min(_BLOCK, m - c)
        for b in range(width):
            if c + b > 0 and group[c + b] == group[c + b - 1]:
                before = (b - 1) % _BLOCK  # of the block before, if this one begins
                for j in range(w):
                    block[b, j] = block[before, j]
            else:
                sum_one(block, b, lists, group[c + b], terms)
        for j in range(L):
            for b in range(width):
                out[j, c + b] = block[b, j]
