"""Compiled: small least-squares problems, one for each row of loadings or strengths."""

from functools import partial
from typing import Any, NamedTuple

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
def shrunken_row(H, f, x, shrinking, work):  # type: ignore[no-untyped-def]
    """x = argmin of x'Hx - 2f'x + shrinking sum |x|, from x: a primal active-set method for small R.

    Signs s are part of what is active: with z = s x >= 0 it is the problem of `nonnegative_row`, in turns
    with a look at which signs would gain, until none does.
    """
    R = f.shape[0]
    signs, g, z, S = work.signs, work.g, work.z, work.S
    for r in range(R):
        signs[r] = -1.0 if x[r] < 0.0 else 1.0
        z[r] = abs(x[r])
    for _round in range(4 * R + 4):
        for r in range(R):
            g[r] = signs[r] * f[r] - 0.5 * shrinking
            for s in range(R):
                S[r, s] = signs[r] * signs[s] * H[r, s]
        nonnegative_row(S, g, z, work.free, work.L, work.y)
        turned = False
        for r in range(R):
            if z[r] <= 0.0:
                slope, size = f[r], abs(f[r])
                for s in range(R):
                    slope -= H[r, s] * signs[s] * z[s]
                    size += abs(H[r, s] * z[s])
                if -signs[r] * slope > 0.5 * shrinking + 1e-13 * size:
                    signs[r] = -signs[r]
                    turned = True
        if not turned:
            break
    for r in range(R):
        x[r] = signs[r] * z[r]


class Scratch(NamedTuple):
    """Room for one row."""

    free: Any  # (R + 1,)
    L: Any  # (R, R)
    y: Any  # (R,)
    signs: Any  # (R,)
    g: Any  # (R,)
    z: Any  # (R,)
    S: Any  # (R, R)


@part
def scratch_of(R):  # type: ignore[no-untyped-def]
    """Room for rows of R numbers."""
    few = np.empty((4, R))
    return Scratch(
        np.empty(R + 1, np.int64), np.empty((R, R)), few[0], few[1], few[2], few[3], np.empty((R, R))
    )


@part
def nonnegative_row(H, f, x, free, L, y):  # type: ignore[no-untyped-def]
    """x = argmin over x >= 0 of x'Hx - 2f'x, from a feasible x: a primal active-set method for small R."""
    R = f.shape[0]
    n = np.int64(0)
    for r in range(R):
        if x[r] > 0.0:
            free[n] = r
            n += 1
        elif x[r] < 0.0:
            x[r] = 0.0
    for _round in range(3 * R + 3):
        while n > 0:
            solve_on(H, f, free, n, L, y)
            step, blocking = 1.0, -1
            for a in range(n):
                if y[a] <= 0.0:
                    now = x[free[a]]
                    reach = now / (now - y[a]) if now > 0.0 else 0.0
                    if blocking < 0 or reach < step:
                        step, blocking = reach, a
            if blocking < 0:
                # Assigned, not added: where y is tiny beside x, x + (y - x) rounds to 0. The coordinate would
                # then be freed a second time, and n would pass R.
                for a in range(n):
                    x[free[a]] = y[a]
                break
            for a in range(n):
                moved = x[free[a]] + step * (y[a] - x[free[a]])
                x[free[a]] = max(moved, 0.0)
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
        if where < 0 or n == R:
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


class Asked(NamedTuple):
    """What is asked of every row beside the squared error."""

    ridge: float
    shrinking: float  # weight of the sum of sizes
    lift: float
    nonnegative: bool


@kernel
def solve_block(H, F, X, asked):  # type: ignore[no-untyped-def]
    """X = argmin of x'(H + ridge I)x - 2f'x + shrinking |x| for every start and row, over x >= 0 if asked.

    H is (p, 1 or m, R, R): one matrix for all rows, or one for each. F and X are (p, R, m); X is also where
    the search for non-negative solutions begins. A share `lift` of its trace is added to the diagonal of H:
    F is rounded, and what rounding says of components that are not there would be divided by nothing.
    """
    P, R, m = F.shape
    lifted, work = np.empty((R, R)), scratch_of(R)
    x, f = np.empty(R), np.empty(R)
    linear = not (asked.nonnegative or asked.shrinking > 0.0)
    for p in range(P):
        for i in range(m):
            if i < H.shape[1]:
                trace = 0.0
                for r in range(R):
                    trace += H[p, i, r, r]
                    for s in range(R):
                        lifted[r, s] = H[p, i, r, s]
                for r in range(R):
                    lifted[r, r] += asked.ridge + asked.lift * trace + 1e-300
            for r in range(R):
                work.free[r] = r
                f[r] = F[p, r, i]
                x[r] = X[p, r, i]
            if asked.nonnegative:
                for r in range(R):
                    f[r] -= 0.5 * asked.shrinking
                nonnegative_row(lifted, f, x, work.free, work.L, work.y)
            elif asked.shrinking > 0.0:
                shrunken_row(lifted, f, x, asked.shrinking, work)
            else:
                solve_on(lifted, f, work.free, R, work.L, x)
            if H.shape[1] == 1 and linear:
                solve_columns(work.L, F[p], X[p])
                break
            for r in range(R):
                X[p, r, i] = x[r]


class Chained(NamedTuple):
    """What couples rows: own_k ||x_k||^2 + links_k ||x_(k+1) - x_k||^2; the last is linked to the first."""

    own: Any  # (m,)
    links: Any  # (m,)


@part
def neighbours(k, m, links):  # type: ignore[no-untyped-def]
    """Places of the slice before and after slice k, or -1 where there is no link to them."""
    before = k - 1 if k > 0 else m - 1
    after = k + 1 if k < m - 1 else 0
    if before == k or links[before] <= 0.0:
        before = -1
    if after == k or links[k] <= 0.0:
        after = -1
    return before, after


@part
def folded(k, m, goes_round):  # type: ignore[no-untyped-def]
    """Place of slice k in an order in which neighbours are near each other, also across the ends."""
    if not goes_round:
        return k
    return 2 * k if 2 * k < m else 2 * (m - 1 - k) + 1


@part
def fill_band(W, H, chain, order, free):  # type: ignore[no-untyped-def]
    """W (n, band) = rows of the lower triangle of the system of all slices; what is not free stands alone."""
    m, R = H.shape[0], H.shape[1]
    n, band = W.shape
    for a in range(n):
        for b in range(band):
            W[a, b] = 0.0
    for k in range(m):
        before, after = neighbours(k, m, chain.links)
        own = chain.own[k]
        if after >= 0:
            own += chain.links[k]
        if before >= 0:
            own += chain.links[before]
        for r in range(R):
            a = order[k] * R + r
            if not free[a]:
                W[a, band - 1] = 1.0
                continue
            for s in range(r + 1):
                b = order[k] * R + s
                if free[b]:
                    W[a, band - 1 - (a - b)] += H[k, r, s]
            W[a, band - 1] += own
            for side in range(2):
                other = after if side == 0 else before
                if other >= 0:
                    b = order[other] * R + r
                    link = chain.links[k] if side == 0 else chain.links[before]
                    if b < a and free[b]:
                        W[a, band - 1 - (a - b)] -= link


@part
def solve_band(W, x):  # type: ignore[no-untyped-def]
    """x = the solution of W x = x for a positive definite band W, which becomes its Cholesky factor."""
    n, band = W.shape
    for a in range(n):
        first = max(0, a - band + 1)
        for b in range(first, a + 1):
            entry = W[a, band - 1 - (a - b)]
            for c in range(max(first, b - band + 1), b):
                entry -= W[a, band - 1 - (a - c)] * W[b, band - 1 - (b - c)]
            if b < a:
                W[a, band - 1 - (a - b)] = entry / W[b, band - 1]
            else:
                W[a, band - 1] = np.sqrt(max(entry, 1e-15 * W[a, band - 1] + 1e-300))
        rest = x[a]
        for b in range(first, a):
            rest -= W[a, band - 1 - (a - b)] * x[b]
        x[a] = rest / W[a, band - 1]
    for a in range(n - 1, -1, -1):
        x[a] /= W[a, band - 1]
        for b in range(max(0, a - band + 1), a):
            x[b] -= W[a, band - 1 - (a - b)] * x[a]


@part
def slope_of(H, chain, f, x, order, k, r):  # type: ignore[no-untyped-def]
    """Half of minus the derivative of the objective in entry r of slice k, and the size of its parts."""
    m, R = H.shape[0], H.shape[1]
    a = order[k] * R + r
    slope, size = f[a], abs(f[a])
    for s in range(R):
        part_of = H[k, r, s] * x[order[k] * R + s]
        slope -= part_of
        size += abs(part_of)
    before, after = neighbours(k, m, chain.links)
    slope -= chain.own[k] * x[a]
    if after >= 0:
        slope -= chain.links[k] * (x[a] - x[order[after] * R + r])
    if before >= 0:
        slope -= chain.links[before] * (x[a] - x[order[before] * R + r])
    return slope, size


@part
def exchange(H, chain, f, x, order, free, one_only):  # type: ignore[no-untyped-def]
    """Bind what is below zero and free what would gain; gives how many entries were on the wrong side.

    All of them at once, or the last one alone, which cannot go round in circles.
    """
    m, R = H.shape[0], H.shape[1]
    wrong, last = 0, -1
    for k in range(m):
        for r in range(R):
            a = order[k] * R + r
            if free[a]:
                bad = x[a] < 0.0
            else:
                slope, size = slope_of(H, chain, f, x, order, k, r)
                bad = slope > 1e-13 * size
            if bad:
                wrong += 1
                last = max(last, a)
                if not one_only:
                    free[a] = not free[a]
    if one_only and last >= 0:
        free[last] = not free[last]
    return wrong


@part
def cost_of(H, chain, f, x, order):  # type: ignore[no-untyped-def]
    """What x costs, from the slopes: x'Sx - 2f'x = -x'(f + (f - Sx))."""
    total = 0.0
    for k in range(H.shape[0]):
        for r in range(H.shape[1]):
            slope, _ = slope_of(H, chain, f, x, order, k, r)
            a = order[k] * H.shape[1] + r
            total -= x[a] * (f[a] + slope)
    return total


@kernel
def solve_chained_block(H, F, X, asked, chain):  # type: ignore[no-untyped-def]
    """As `solve_block` for rows that are coupled to the next one; `asked.ridge` is among `chain.own`.

    Over x >= 0 by exchanging what is bound and what is free, all at once as long as that gets better
    (block pivoting), from what is positive in X. Where rounding hides what would gain, that may end anywhere:
    X is left as it is if that is better.
    """
    P, R, m = F.shape
    goes_round = m > 2 and chain.links[m - 1] > 0.0
    order = np.empty(m, np.int64)
    for k in range(m):
        order[k] = folded(k, m, goes_round)
    band = min((3 if goes_round else 2) * R, m * R)
    W, x, f, begin = np.empty((m * R, band)), np.empty(m * R), np.empty(m * R), np.empty(m * R)
    lifted, free = np.empty((m, R, R)), np.empty(m * R, np.bool_)
    for p in range(P):
        for k in range(m):
            one = min(k, H.shape[1] - 1)
            trace = 0.0
            for r in range(R):
                trace += H[p, one, r, r]
                a = order[k] * R + r
                f[a] = F[p, r, k] - (0.5 * asked.shrinking if asked.nonnegative else 0.0)
                free[a] = X[p, r, k] > 0.0 or not asked.nonnegative
                begin[a] = max(X[p, r, k], 0.0)
                for s in range(R):
                    lifted[k, r, s] = H[p, one, r, s]
            for r in range(R):
                lifted[k, r, r] += asked.lift * trace + 1e-300
        fewest, patience = m * R + 1, 3
        for _round in range(50 + 3 * m * R):
            fill_band(W, lifted, chain, order, free)
            for a in range(m * R):
                x[a] = f[a] if free[a] else 0.0
            solve_band(W, x)
            if not asked.nonnegative:
                break
            wrong = exchange(lifted, chain, f, x, order, free, patience == 0)
            if wrong == 0:
                break
            if wrong < fewest:
                fewest, patience = wrong, 3
            elif patience > 0:
                patience -= 1
        if asked.nonnegative:
            for a in range(m * R):
                x[a] = max(x[a], 0.0)
            if cost_of(lifted, chain, f, begin, order) < cost_of(lifted, chain, f, x, order):
                x[:] = begin
        for k in range(m):
            for r in range(R):
                X[p, r, k] = x[order[k] * R + r]
