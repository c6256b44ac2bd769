"""Compiled: small least-squares problems, one for each row of loadings or strengths."""

from functools import partial
from typing import Any

import numpy as np

from tparafac2 import compiling

# Here, because the cache on disk is renewed when this file changes, and no other: all that it calls is here.
# No `nnan`/`ninf`: a start that overflows must be seen as not finite, not optimised away.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}
kernel = partial(compiling.kernel, options=_OPTIONS)
part = partial(compiling.part, options=_OPTIONS)


@part
def solve_on(H, f, free, n, L, y):  # type: ignore[no-untyped-def]
    """y = the minimiser of y'Hy - 2f'y over the n free coordinates (Cholesky)."""
    for a in range(n):
        rest = f[free[a]]
        for b in range(a):
            entry = H[free[a], free[b]]
            for m in range(b):
                entry -= L[a, m] * L[b, m]
            L[a, b] = entry / L[b, b]
            rest -= L[a, b] * y[b]
        pivot = H[free[a], free[a]]
        for m in range(a):
            pivot -= L[a, m] * L[a, m]
        L[a, a] = np.sqrt(max(pivot, 1e-16 * H[free[a], free[a]] + 1e-300))
        y[a] = rest / L[a, a]
    for a in range(n - 1, -1, -1):
        for m in range(a + 1, n):
            y[a] -= L[m, a] * y[m]
        y[a] /= L[a, a]


@part
def nonnegative_row(H, f, x, free, L, y):  # type: ignore[no-untyped-def]
    """x = argmin over x >= 0 of x'Hx - 2f'x, from a feasible x: a primal active-set method for small R."""
    R = f.shape[0]
    n = np.int64(0)
    for r in range(R):
        if x[r] > 0.0:
            free[n] = r
            n += 1
    for _round in range(3 * R + 3):
        while n > 0:
            solve_on(H, f, free, n, L, y)
            step, blocking = 1.0, -1
            for a in range(n):
                if y[a] <= 0.0:
                    reach = x[free[a]] / (x[free[a]] - y[a])
                    if blocking < 0 or reach < step:
                        step, blocking = reach, a
            for a in range(n):
                x[free[a]] += step * (y[a] - x[free[a]])
            if blocking < 0:
                break
            x[free[blocking]] = 0.0
            n -= 1
            for a in range(blocking, n):
                free[a] = free[a + 1]
        steepest, where = 0.0, -1
        for r in range(R):
            if x[r] <= 0.0:
                slope, size = f[r], abs(f[r])
                for s in range(R):
                    slope -= H[r, s] * x[s]
                    size += abs(H[r, s] * x[s])
                if slope > steepest and slope > 1e-13 * size:
                    steepest, where = slope, r
        if where < 0:
            return
        free[n] = where
        n += 1


@part
def solve_columns(L, F, X):  # type: ignore[no-untyped-def]
    """X = (L L')^-1 F for all columns at once, the loops running over neighbours."""
    R, m = F.shape
    for r in range(R):
        for i in range(m):
            X[r, i] = F[r, i]
        for s in range(r):
            for i in range(m):
                X[r, i] -= L[r, s] * X[s, i]
        for i in range(m):
            X[r, i] /= L[r, r]
    for r in range(R - 1, -1, -1):
        for s in range(r + 1, R):
            for i in range(m):
                X[r, i] -= L[s, r] * X[s, i]
        for i in range(m):
            X[r, i] /= L[r, r]


@kernel
def solve_block(H, F, X, ridge, lift, nonnegative):  # type: ignore[no-untyped-def]
    """X = argmin of x'(H + ridge I)x - 2f'x for every start p and row m, over x >= 0 if asked.

    H is (p, 1 or m, R, R): one matrix for all rows, or one for each. F and X are (p, R, m); X is also where
    the search for non-negative solutions begins. A share `lift` of its trace is added to the diagonal of H:
    F is rounded, and what rounding says of components that are not there would be divided by nothing.
    """
    P, R, m = F.shape
    lifted, L = np.empty((R, R)), np.empty((R, R))
    free, x, f, y = np.empty(R + 1, np.int64), np.empty(R), np.empty(R), np.empty(R)
    for p in range(P):
        for i in range(m):
            if i < H.shape[1]:
                trace = 0.0
                for r in range(R):
                    trace += H[p, i, r, r]
                    for s in range(R):
                        lifted[r, s] = H[p, i, r, s]
                for r in range(R):
                    lifted[r, r] += ridge + lift * trace + 1e-300
            for r in range(R):
                free[r] = r
                f[r] = F[p, r, i]
                x[r] = X[p, r, i]
            if nonnegative:
                nonnegative_row(lifted, f, x, free, L, y)
            else:
                solve_on(lifted, f, free, R, L, x)
            if H.shape[1] == 1 and not nonnegative:
                solve_columns(L, F[p], X[p])
                break
            for r in range(R):
                X[p, r, i] = x[r]
