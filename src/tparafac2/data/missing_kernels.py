"""Compiled loops over data with missing entries, which are NaN.

Rows of the patterns are contiguous over columns, so that every inner loop runs over neighbouring numbers; the
comparison of a number with itself, which NaN alone fails, is vectorised too.
"""

from typing import Any

import numpy as np
from numba import njit

# No `nnan`: NaN is what these loops look for.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}


def kernel(function: Any) -> Any:
    """Compile a function that Python calls; kept on disk between runs."""
    return njit(cache=True, **_OPTIONS)(function)


def part(function: Any) -> Any:
    """Compile a function that only kernels call."""
    compiler: Any = njit
    return compiler(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


@part
def take_off(e, x, coef, P, k):  # type: ignore[no-untyped-def]
    """e = x - sum_r coef_r P[r, k], and 0 where x is NaN."""
    R, J = P.shape[0], np.uint64(e.shape[0])
    r = 0
    for j in range(J):
        e[j] = x[j]
    while r + 3 <= R:
        a, b, c = coef[r], coef[r + 1], coef[r + 2]
        for j in range(J):
            e[j] -= a * P[r, k, j] + b * P[r + 1, k, j] + c * P[r + 2, k, j]
        r += 3
    while r < R:
        a = coef[r]
        for j in range(J):
            e[j] -= a * P[r, k, j]
        r += 1
    for j in range(J):
        e[j] = e[j] if e[j] == e[j] else 0.0


@kernel
def project_filled(values, At, B, C, G):  # type: ignore[no-untyped-def]
    """G_k = F_k' A for every start, where F has the entries of the start's model where X has none.

    F is the model plus the residual at what was observed, so that only the residual needs a pass over X.
    """
    I, K, J = values.shape
    R = At.shape[1]
    e, coef = np.empty(J, values.dtype), np.empty(R, values.dtype)
    gram = np.empty((R, R), values.dtype)
    width = np.uint64(J)
    for p in range(At.shape[0]):
        for r in range(R):
            for s in range(R):
                inner = 0.0
                for i in range(I):
                    inner += At[p, r, i] * At[p, s, i]
                gram[r, s] = inner
        for k in range(K):
            for r in range(R):
                for j in range(width):
                    G[p, r, k, j] = 0.0
                for s in range(R):
                    a = gram[r, s] * C[p, s, k]
                    for j in range(width):
                        G[p, r, k, j] += a * B[p, s, k, j]
        for i in range(I):
            for k in range(K):
                for r in range(R):
                    coef[r] = At[p, r, i] * C[p, r, k]
                take_off(e, values[i, k], coef, B[p], k)
                for r in range(R):
                    a = At[p, r, i]
                    for j in range(width):
                        G[p, r, k, j] += a * e[j]


@kernel
def accumulate_filled(values, At, W, out):  # type: ignore[no-untyped-def]
    """out = sum_k F_k W_k for every start, F as in `project_filled` for the model A W'."""
    I, K, J = values.shape
    R = At.shape[1]
    e, coef = np.empty(J, values.dtype), np.empty(R, values.dtype)
    gram = np.empty((R, R))
    width = np.uint64(J)
    for p in range(At.shape[0]):
        for r in range(R):
            for s in range(R):
                inner = 0.0
                for k in range(K):
                    for j in range(width):
                        inner += W[p, r, k, j] * W[p, s, k, j]
                gram[r, s] = inner
        for i in range(I):
            for r in range(R):
                coef[r] = At[p, r, i]
                out[p, r, i] = 0.0
            for r in range(R):
                for s in range(R):
                    out[p, r, i] += gram[r, s] * At[p, s, i]
            for k in range(K):
                take_off(e, values[i, k], coef, W[p], k)
                for r in range(R):
                    inner = 0.0
                    for j in range(width):
                        inner += W[p, r, k, j] * e[j]
                    out[p, r, i] += inner


@kernel
def observed_sse(values, At, W, out):  # type: ignore[no-untyped-def]
    """Sum of squares of X - A W' over what was observed, for every start."""
    I, K, J = values.shape
    R = At.shape[1]
    e, coef = np.empty(J, values.dtype), np.empty(R, values.dtype)
    width = np.uint64(J)
    for p in range(At.shape[0]):
        total = 0.0
        for i in range(I):
            for r in range(R):
                coef[r] = At[p, r, i]
            for k in range(K):
                take_off(e, values[i, k], coef, W[p], k)
                part = 0.0
                for j in range(width):
                    part += e[j] * e[j]
                total += part
        out[p] = total
