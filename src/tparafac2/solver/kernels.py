"""The compiled heart: nothing but loops, one start after the other.

Layout. The patterns of a start are (R, K, J) with J contiguous, so every inner loop runs over neighbouring
numbers and is vectorised by the compiler. Small matrices, one per slice, are (R, R, K) while they are
computed (the loops then run over slices) and (K, R, R) where they act on rows as scalars.

The PARAFAC2 term. With S_k = B_k + dual_k, the sweep gives aux_k = S_k T_k for an R x R matrix T_k, so aux
and dual never need arrays of their own between inner iterations: aux = S T and dual = S - S T. Where T_k
is not known (between outer iterations, or nearly collinear patterns) aux is explicit, in `Y`. Where the
term gives way there is no dual: S is B itself.

Non-negative patterns. One array is enough: with Z = aux + dual, aux = max(Z, 0) and dual = min(Z, 0). The
same holds where entries are shrunken by a threshold t: aux is what is left of Z.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tparafac2 import compiling

# No `nnan`/`ninf`: a start that overflows must be seen as not finite, not optimised away.
_FAST = {"reassoc", "contract", "arcp", "nsz"}
_BLOCK = 1024  # columns worked on at a time, so that very wide slices do not fall out of the cache
_ROTATED = (
    8  # rank up to which rotations, that begin where the last ones ended, are the fastest to polar factors
)
# Typed, because a literal argument makes the compiler specialise the callee once more.
_ZERO, _ONE, _THREE = np.int64(0), np.int64(1), np.int64(3)
_NO, _YES = np.bool_(False), np.bool_(True)
UNSWEPT = 2  # left in `explicit` where the sweep of the last inner iteration is left to the caller

Array = np.ndarray[Any, np.dtype[Any]]


# Here, because the cache on disk is renewed when this file changes, and no other.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": _FAST, "error_model": "numpy"}
kernel = partial(compiling.kernel, options=_OPTIONS)
part = partial(compiling.part, options=_OPTIONS)
# For what is called once: Numba compiles it with its caller only, which takes a tenth off the first fit.
inlined = partial(compiling.part, options=_OPTIONS | {"inline": "always"})


class Evolving(NamedTuple):
    """Arrays of the pattern update of n starts, all written in place."""

    S: Array  # (n, R, K, J) aux + dual of the PARAFAC2 term; B itself where that has no dual
    Y: Array  # (n, R, K, J) its aux, where explicit
    Z: Array  # (n, R, K, J) aux + dual of being non-negative, shrunken, or both
    B: Array  # (n, R, K, J)
    T: Array  # (n, K, R, R) aux_k = S_k T_k, where not explicit
    explicit: Array  # (n, K) uint8
    Delta: Array  # (n, R, R)


class Summary(NamedTuple):
    """What the other blocks need to know of the new patterns of p starts."""

    gram: Array  # (p, K, R, R)  B_k' B_k
    cross: Array  # (p, R, K)  diag(A' X_k B_k)
    norms: Array  # (p, R)  ||b_r||^2
    steps: Array  # (p, R, K)  ||b_(r,k+1) - b_rk||^2; that of the last is to the first


class Quadratics(NamedTuple):
    """The absorbed terms on the patterns: own_k ||b_rk||^2 + links_rk ||b_(r,k+1) - b_rk||^2."""

    own: Array  # (K,)
    links: Array  # (1 or n, R, K) the same in all starts, or not; the last ones go to the first slice


class Pace(NamedTuple):
    """Links that follow the steps of the patterns: strength / share_k, where all shares together make one.

    The shares are those that make the links cost the least, which are proportional to the lengths of the
    steps, but none is below a floor.
    """

    fixed: Array  # (K,) links of other terms
    strength: float
    floors: Array  # (K,) least shares; zero where there is no step


class Drawn(NamedTuple):
    """What draws the patterns, beside the data and the quadratic terms."""

    turning: bool  # towards patterns that only turn: the PARAFAC2 term is there
    dual: bool  # ... and must be met, with a dual variable
    bounded: bool  # towards patterns that are not negative
    shrunken: bool  # towards zero, entry by entry


class Weights(NamedTuple):
    """How strongly, for the p active starts and every slice."""

    system: Array  # (p, K) all that is added to the diagonals
    pulls: Array  # (p, 3, K) turning, bounded or shrunken; and by how much entries are shrunken


class Rounds(NamedTuple):
    """Which inner iterations to do."""

    wanted: int
    done: Array  # (p,) so far
    drawn: Drawn
    collinear: float  # pivot, relative to the diagonal, below which cross products are not trusted


class Span(NamedTuple):
    """Some neighbouring columns, unsigned, and room for one slice of them."""

    first: np.uint64
    width: np.uint64
    drawn: Drawn
    scratch: Array  # (R, 1, width)


class Place(NamedTuple):
    """From which rows to which, and by which matrix; numbers only, because arrays in tuples are counted."""

    k_to: int | np.int64
    first_to: np.uint64
    k_from: int | np.int64
    first_from: np.uint64
    matrix: int | np.int64
    width: np.uint64


class Before(NamedTuple):
    """S, Y and Z of the last iteration, rescaled but not extrapolated."""

    S: Array  # (n, R, K, J)
    Y: Array  # (n, R, K, J)
    Z: Array  # (n, R, K, J)


# Share of a diagonal that elimination leaves at least: where neither data nor penalties say anything of a
# component, and neighbours only hold on to each other, nothing would be left.
LEAST_PIVOT = 1e-15


@part
def clear(x):  # type: ignore[no-untyped-def]
    """x[...] = 0 (NumPy's own form takes ten times longer to compile)."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                x[i, j, k] = 0.0


@part
def mix(out, X, coef, at):  # type: ignore[no-untyped-def]
    """out[r] = sum_s coef[s, r] X[s] for all r, on neighbouring columns.

    Offsets and widths are unsigned throughout: an index that could be negative is not vectorised, and
    slicing the rows out would cost more than the work on them. Two results from three rows at a time is
    the most that the compiler still vectorises (every pair of pointers is checked for overlap).
    """
    ko, oo, kx, ox, m, w = at.k_to, at.first_to, at.k_from, at.first_from, at.matrix, at.width
    R = X.shape[0]
    if R < 3:
        for r in range(R):
            a = coef[m, 0, r]
            for j in range(w):
                out[r, ko, oo + j] = a * X[0, kx, ox + j]
    else:
        for r in range(0, R - 1, 2):
            a, b, c = coef[m, 0, r], coef[m, 1, r], coef[m, 2, r]
            d, e, f = coef[m, 0, r + 1], coef[m, 1, r + 1], coef[m, 2, r + 1]
            for j in range(w):
                x, y, z = X[0, kx, ox + j], X[1, kx, ox + j], X[2, kx, ox + j]
                out[r, ko, oo + j] = a * x + b * y + c * z
                out[r + 1, ko, oo + j] = d * x + e * y + f * z
        if R % 2 == 1:
            a, b, c = coef[m, 0, R - 1], coef[m, 1, R - 1], coef[m, 2, R - 1]
            for j in range(w):
                out[R - 1, ko, oo + j] = a * X[0, kx, ox + j] + b * X[1, kx, ox + j] + c * X[2, kx, ox + j]
    first = _THREE if R >= 3 else _ONE
    if first < R:
        add_mixed(out, X, coef, at, 1.0, first)


@part
def add_mixed(out, X, coef, at, scale, first):  # type: ignore[no-untyped-def]
    """out[r] += scale * sum over rows s >= first of coef[s, r] X[s], for all r."""
    ko, oo, kx, ox, m, w = at.k_to, at.first_to, at.k_from, at.first_from, at.matrix, at.width
    R = X.shape[0]
    for r in range(R):
        s = first
        while s + 3 <= R:
            a, b, c = scale * coef[m, s, r], scale * coef[m, s + 1, r], scale * coef[m, s + 2, r]
            for j in range(w):
                out[r, ko, oo + j] += (
                    a * X[s, kx, ox + j] + b * X[s + 1, kx, ox + j] + c * X[s + 2, kx, ox + j]
                )
            s += 3
        if s + 2 == R:
            a, b = scale * coef[m, s, r], scale * coef[m, s + 1, r]
            for j in range(w):
                out[r, ko, oo + j] += a * X[s, kx, ox + j] + b * X[s + 1, kx, ox + j]
        elif s + 1 == R:
            a = scale * coef[m, s, r]
            for j in range(w):
                out[r, ko, oo + j] += a * X[s, kx, ox + j]


@part
def add_gram(M, X, k, o, w):  # type: ignore[no-untyped-def]
    """M[k, r, s] += <X[r], X[s]> on w neighbouring columns, upper triangle; three rows are read at once."""
    R = X.shape[0]
    for r in range(0, R - 2, 3):
        a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(w):
            x, y, z = X[r, k, o + j], X[r + 1, k, o + j], X[r + 2, k, o + j]
            a += x * x
            b += x * y
            c += x * z
            d += y * y
            e += y * z
            f += z * z
        M[k, r, r] += a
        M[k, r, r + 1] += b
        M[k, r, r + 2] += c
        M[k, r + 1, r + 1] += d
        M[k, r + 1, r + 2] += e
        M[k, r + 2, r + 2] += f
        for s in range(r + 3, R):
            a, b, c = 0.0, 0.0, 0.0
            for j in range(w):
                x = X[s, k, o + j]
                a += x * X[r, k, o + j]
                b += x * X[r + 1, k, o + j]
                c += x * X[r + 2, k, o + j]
            M[k, r, s] += a
            M[k, r + 1, s] += b
            M[k, r + 2, s] += c
    for r in range(R - R % 3, R):
        for s in range(r, R):
            a = 0.0
            for j in range(w):
                a += X[r, k, o + j] * X[s, k, o + j]
            M[k, r, s] += a


@part
def invert_spd(H):  # type: ignore[no-untyped-def]
    """Invert a small symmetric positive definite matrix in place (Gauss-Jordan: no pivoting needed)."""
    R = H.shape[0]
    for p in range(R):
        pivot = 1.0 / H[p, p]
        H[p, p] = 1.0
        for j in range(R):
            H[p, j] *= pivot
        for i in range(R):
            if i != p:
                f = H[i, p]
                H[i, p] = 0.0
                for j in range(R):
                    H[i, j] -= f * H[p, j]


@part
def slice_inverses(E, N, C, half_rho, quad):  # type: ignore[no-untyped-def]
    """E[0, k] = (D_k N_k D_k + (half_rho_k + own_k) I + Q_k + Q_{k-1} - Q_{k-1} E_{k-1} Q_{k-1})^-1.

    That is block Thomas, forward, with the links Q_k of the components on a diagonal; E[1, k] = Q_k E_k
    leads back. N is (1 or K, R, R): one for all slices, or one for each.
    """
    links, K, R = quad.links, E.shape[1], E.shape[2]
    for k in range(K):
        n, before = min(k, N.shape[0] - 1), max(k - 1, 0)
        H, last = E[0, k], E[0, before]
        for r in range(R):
            back = links[r, before] if k > 0 else 0.0
            ahead = links[r, k] if k < K - 1 else 0.0
            for s in range(R):
                H[r, s] = N[n, r, s] * C[r, k] * C[s, k]
            H[r, r] += half_rho[k] + quad.own[k] + back + ahead
            if back > 0.0:
                least = LEAST_PIVOT * H[r, r]
                for s in range(R):
                    H[r, s] -= back * last[r, s] * links[s, before]
                H[r, r] = max(H[r, r], least)
        invert_spd(H)
        for r in range(R):
            for s in range(R):
                E[1, k, r, s] = links[r, k] * H[r, s]


class Pull(NamedTuple):
    """What draws the patterns of slice k: strengths (R, K), how strongly the terms do, and a neighbour."""

    k: int
    C: Array
    turning: float
    bounded: float
    threshold: float
    before: int  # k itself where there is none, or neighbours are seen to elsewhere


@part
def right_side(ev, i, G, pull, links, span):  # type: ignore[no-untyped-def]
    """Room for one slice becomes G D + weight (aux - dual) + links B[before]; S and Z become the duals."""
    B, S, Y, Z, f = ev.B[i], ev.S[i], ev.Y[i], ev.Z[i], span.scratch
    R, k, o, w = B.shape[0], pull.k, span.first, span.width
    h, before, drawn = pull.turning, pull.before, span.drawn
    if drawn.turning and not ev.explicit[i, k]:
        mix(f, S, ev.T[i], Place(_ZERO, np.uint64(0), k, o, k, w))
    for r in range(R):
        c = pull.C[r, k]
        coupling = links[r, before] if before != k else 0.0
        if drawn.turning:
            if ev.explicit[i, k]:
                for j in range(w):
                    f[r, 0, j] = Y[r, k, o + j]
            if drawn.dual:
                for j in range(w):
                    dual = S[r, k, o + j] - f[r, 0, j]
                    f[r, 0, j] -= dual
                    S[r, k, o + j] = dual
            for j in range(w):
                f[r, 0, j] = G[r, k, o + j] * c + h * f[r, 0, j] + coupling * B[r, before, o + j]
        else:
            for j in range(w):
                f[r, 0, j] = G[r, k, o + j] * c + coupling * B[r, before, o + j]
        if drawn.shrunken:
            t, low = pull.threshold, 0.0 if drawn.bounded else -1e300
            for j in range(w):
                z = Z[r, k, o + j]
                left = max(z - min(max(z, -t), t), low)
                f[r, 0, j] += pull.bounded * (left + left - z)
                Z[r, k, o + j] = z - left
        elif drawn.bounded:
            for j in range(w):
                z = Z[r, k, o + j]
                f[r, 0, j] += pull.bounded * abs(z)
                Z[r, k, o + j] = min(z, 0.0)


@part
def solve_rows(ev, i, G, C, E, pulls, quad, span):  # type: ignore[no-untyped-def]
    """New B of start i on a span of columns, from data and auxiliaries; S and Z become the duals.

    Minimises the least-squares part plus all quadratic terms exactly: a system that is block tridiagonal
    over slices, with R x R blocks that are the same for every column.
    """
    B, f = ev.B[i], span.scratch
    K, o, w = B.shape[1], span.first, span.width
    zero = np.uint64(0)
    inverses, back, links = E[0], E[1], quad.links
    for k in range(K):
        pull = Pull(k, C, pulls[0, k], pulls[1, k], pulls[2, k], max(k - 1, 0))
        right_side(ev, i, G, pull, links, span)
        mix(B, f, inverses, Place(k, o, _ZERO, zero, k, w))
    for k in range(K - 2, -1, -1):
        if quad.links[0, k] > 0.0:
            add_mixed(B, B, back, Place(k, o, k + 1, o, k, w), 1.0, _ZERO)


class Ring(NamedTuple):
    """What closes the chain of slices: with W = (I, 0, ..., 0, -I), the solution loses Z_k t."""

    Z: Array  # (K, R, R)  transposed slices of (chain)^-1 W'
    S: Array  # (1, R, R)  (Q^-1 + W Z)^-1, with the links Q of the last slice to the first
    t: Array  # (R, 2, width)  room for S (b_0 - b_last)


@part
def prepare_ring(ring, E, quad):  # type: ignore[no-untyped-def]
    """Fill Z and S from the inverses of the chain: the ends' coupling changes the matrix by rank R only."""
    Z, S, links = ring.Z, ring.S[0], quad.links
    K, R = E.shape[1], E.shape[2]
    f = np.empty((R, R))
    for k in range(K):
        for r in range(R):
            for s in range(R):
                f[r, s] = links[r, k - 1] * Z[k - 1, s, r] if k > 0 else 0.0
            if k == 0:
                f[r, r] += 1.0
            if k == K - 1:
                f[r, r] -= 1.0
        for r in range(R):
            for s in range(R):
                entry = 0.0
                for m in range(R):
                    entry += E[0, k, r, m] * f[m, s]
                Z[k, s, r] = entry
    for k in range(K - 2, -1, -1):
        for r in range(R):
            for s in range(R):
                for m in range(R):
                    Z[k, s, r] += E[1, k, m, r] * Z[k + 1, s, m]
    for r in range(R):
        for s in range(R):
            S[r, s] = Z[0, s, r] - Z[K - 1, s, r]
        S[r, r] += 1.0 / links[r, K - 1]
    invert_spd(S)


@part
def close_ring(B, ring, o, w):  # type: ignore[no-untyped-def]
    """Turn the solution of the chain into that of the ring, on neighbouring columns of B (R, K, J)."""
    R, K = B.shape[0], B.shape[1]
    t, zero = ring.t, np.uint64(0)
    for r in range(R):
        for j in range(w):
            t[r, 1, j] = B[r, 0, o + j] - B[r, K - 1, o + j]
    mix(t, t, ring.S, Place(_ZERO, zero, _ONE, zero, _ZERO, w))
    for k in range(K):
        add_mixed(B, t, ring.Z, Place(k, o, _ZERO, zero, k, w), -1.0, _ZERO)


@part
def add_dual(ev, i, M, span):  # type: ignore[no-untyped-def]
    """S = B + dual and its cross products, and Z = B + dual, for start i on a span of columns."""
    S, Z, B = ev.S[i], ev.Z[i], ev.B[i]
    R, K, o, w = B.shape[0], B.shape[1], span.first, span.width
    for k in range(K):
        for r in range(R):
            if span.drawn.dual:
                for j in range(w):
                    S[r, k, o + j] += B[r, k, o + j]
            if span.drawn.bounded or span.drawn.shrunken:
                for j in range(w):
                    Z[r, k, o + j] += B[r, k, o + j]
        if span.drawn.turning:
            add_gram(M, S, k, o, w)


@part
def orthogonalise_columns(N, V, work):  # type: ignore[no-untyped-def]
    """One-sided Jacobi: rotate the columns of N (R, R, K) until orthogonal; V collects the rotations."""
    R, K = N.shape[0], N.shape[2]
    for _sweep in range(40):
        worst = 0.0
        for p in range(R - 1):
            for q in range(p + 1, R):
                for k in range(K):
                    work[0, k] = 0.0
                    work[1, k] = 0.0
                    work[2, k] = 0.0
                for i in range(R):
                    for k in range(K):
                        work[0, k] += N[i, p, k] * N[i, p, k]
                        work[1, k] += N[i, q, k] * N[i, q, k]
                        work[2, k] += N[i, p, k] * N[i, q, k]
                for k in range(K):
                    d = work[1, k] - work[0, k]
                    g = work[2, k]
                    worst = max(worst, g * g / (work[0, k] * work[1, k] + 1e-300))
                    root = np.sqrt(d * d + 4.0 * g * g) + 1e-150
                    t = 2.0 * g / (d + np.copysign(root, d))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    work[0, k] = c
                    work[1, k] = t * c
                for i in range(R):
                    for k in range(K):
                        x, y = N[i, p, k], N[i, q, k]
                        N[i, p, k] = work[0, k] * x - work[1, k] * y
                        N[i, q, k] = work[1, k] * x + work[0, k] * y
                    for k in range(K):
                        x, y = V[i, p, k], V[i, q, k]
                        V[i, p, k] = work[0, k] * x - work[1, k] * y
                        V[i, q, k] = work[1, k] * x + work[0, k] * y
        # The rotations of this sweep have squared what was left.
        if worst < 1e-15:
            break


@part
def factorise_grams(M, L, Linv, limit):  # type: ignore[no-untyped-def]
    """Cholesky M_k = L_k L_k' and the inverses of L_k, all slices at once; zero columns stay zero.

    False where the columns of a slice are so nearly collinear that cross products lose too much.
    """
    K, R = M.shape[0], M.shape[1]
    clear(L)
    clear(Linv)
    for p in range(R):
        for k in range(K):
            pivot = M[k, p, p]
            for m in range(p):
                pivot -= L[p, m, k] * L[p, m, k]
            if pivot > limit * M[k, p, p]:
                L[p, p, k] = np.sqrt(pivot)
                Linv[p, p, k] = 1.0 / L[p, p, k]
            elif M[k, p, p] > 0.0:
                return False
        for i in range(p + 1, R):
            for k in range(K):
                L[i, p, k] = M[k, p, i]
            for m in range(p):
                for k in range(K):
                    L[i, p, k] -= L[i, m, k] * L[p, m, k]
            for k in range(K):
                L[i, p, k] *= Linv[p, p, k]
    for p in range(R):
        for i in range(p + 1, R):
            for m in range(p, i):
                for k in range(K):
                    Linv[i, p, k] -= L[i, m, k] * Linv[m, p, k]
            for k in range(K):
                Linv[i, p, k] *= Linv[i, i, k]
    return True


@part
def add_product(out, X, Y, transposed, lower):  # type: ignore[no-untyped-def]
    """out_k += X_k Y_k (or X_k Y_k') for small matrices (R, R, K), the loops running over slices.

    Y may be known to be a lower triangle. Two terms at a time, so that sums are fetched half as often; where
    their number is odd, the last one has no partner, which then counts nothing.
    """
    R, K = X.shape[0], X.shape[2]
    for i in range(R):
        for q in range(R):
            first = q if lower and not transposed else 0
            end = q + 1 if lower and transposed else R
            for p in range(first, end, 2):
                n = p + 1 if p + 1 < end else p
                there = 1.0 if p + 1 < end else 0.0
                if transposed:
                    for k in range(K):
                        out[i, q, k] += X[i, p, k] * Y[q, p, k] + there * X[i, n, k] * Y[q, n, k]
                else:
                    for k in range(K):
                        out[i, q, k] += X[i, p, k] * Y[p, q, k] + there * X[i, n, k] * Y[n, q, k]


@part
def turned_factors(out, L, Delta):  # type: ignore[no-untyped-def]
    """out_k = L_k' Delta' for lower triangles L_k."""
    R, K = L.shape[0], L.shape[2]
    for i in range(R):
        for q in range(R):
            for k in range(K):
                out[i, q, k] = 0.0
            for m in range(i, R):
                for k in range(K):
                    out[i, q, k] += L[m, i, k] * Delta[q, m]


@part
def add_squares(out, row, X, p):  # type: ignore[no-untyped-def]
    """out[row] = the squared lengths of column p of all X_k."""
    R, K = X.shape[0], X.shape[2]
    for k in range(K):
        out[row, k] = 0.0
    for i in range(R):
        for k in range(K):
            out[row, k] += X[i, p, k] * X[i, p, k]


@part
def halley_step(sw, a, b, c):  # type: ignore[no-untyped-def]
    """X_k = sw.N_k becomes X (a + b X'X) (1 + c X'X)^-1; gives how far X'X was from one, at most."""
    X, M, work = sw.N, sw.M, sw.work
    R, K = X.shape[0], X.shape[2]
    worst, rest = 0.0, b / c
    for p in range(R):
        for q in range(p, R):
            for k in range(K):
                work[0, k] = 0.0
            for i in range(R):
                for k in range(K):
                    work[0, k] += X[i, p, k] * X[i, q, k]
            one = 1.0 if p == q else 0.0
            for k in range(K):
                worst = max(worst, abs(work[0, k] - one))
                M[k, p, q] = (one + c * work[0, k]) / (a - rest)
    factorise_grams(M, sw.V, sw.Q, 0.0)
    clear(sw.V)
    add_product(sw.V, X, sw.Q, _YES, _YES)
    for i in range(R):
        for q in range(R):
            for k in range(K):
                X[i, q, k] *= rest
    add_product(X, sw.V, sw.Q, _NO, _YES)
    return worst


@inlined
def halley_polars(sw, Delta):  # type: ignore[no-untyped-def]
    """sw.N_k = polar(L_k' Delta') by Halley's iteration; False where it does not get there soon.

    Its weights are those that are best for singular values above `least` (of the largest, or more than
    that), and the error is cubed by every step in the end.
    """
    X, work = sw.N, sw.work
    R, K = X.shape[0], X.shape[2]
    turned_factors(X, sw.L, Delta)
    for k in range(K):
        work[1, k] = 0.0
    for p in range(R):
        add_squares(work, 0, X, p)
        for k in range(K):
            if work[0, k] == 0.0:  # a component is not there: no step would change that
                return False
            work[1, k] += work[0, k]
    for k in range(K):
        work[1, k] = 1.0 / np.sqrt(work[1, k] + 1e-300)
    for i in range(R):
        for q in range(R):
            for k in range(K):
                X[i, q, k] *= work[1, k]
    least = 0.02
    for _step in range(10):
        square = least * least
        d = np.cbrt(4.0 * (1.0 - square)) / np.cbrt(square * square)
        root = np.sqrt(1.0 + d)
        a = root + 0.5 * np.sqrt(8.0 - 4.0 * d + 8.0 * (2.0 - square) / (square * root))
        b = 0.25 * (a - 1.0) * (a - 1.0)
        c = a + b - 1.0
        least = min(1.0, least * (a + b * square) / (1.0 + c * square))
        if halley_step(sw, a, b, c) < 1e-5:
            return True
    return False


@part
def jacobi_polars(sw, Delta):  # type: ignore[no-untyped-def]
    """sw.N_k = polar(L_k' Delta'); directions without length stay zero. sw.V is a warm start, kept."""
    L, N, V, Q, work = sw.L, sw.N, sw.V, sw.Q, sw.work
    R, K = L.shape[0], L.shape[2]
    turned_factors(Q, L, Delta)
    clear(N)
    add_product(N, Q, V, _NO, _NO)
    orthogonalise_columns(N, V, work)
    for k in range(K):
        work[R, k] = 0.0
    for p in range(R):
        add_squares(work, p, N, p)
        for k in range(K):
            work[R, k] = max(work[R, k], work[p, k])
    for p in range(R):
        for k in range(K):
            length = work[p, k]
            work[p, k] = 1.0 / np.sqrt(length) if length > 1e-28 * work[R, k] else 0.0
        for i in range(R):
            for k in range(K):
                Q[i, p, k] = N[i, p, k] * work[p, k]
    clear(N)
    add_product(N, Q, V, _YES, _NO)


@part
def to_identity(V):  # type: ignore[no-untyped-def]
    """V_k = I for all slices."""
    for r in range(V.shape[0]):
        for s in range(V.shape[1]):
            for k in range(V.shape[2]):
                V[r, s, k] = 1.0 if r == s else 0.0


@inlined
def small_polars(sw, Delta):  # type: ignore[no-untyped-def]
    """sw.N_k = polar(L_k' Delta'), by rotations where these are few or lengths may vanish."""
    many = sw.N.shape[0] > _ROTATED
    if many and halley_polars(sw, Delta):
        return
    if many:
        to_identity(sw.V)
    jacobi_polars(sw, Delta)


class Sweep(NamedTuple):
    """Scratch of one PARAFAC2 sweep."""

    M: Array  # (K, R, R)  S_k' S_k, upper triangle
    L: Array  # (R, R, K)
    Linv: Array  # (R, R, K)
    N: Array  # (R, R, K)
    V: Array  # (R, R, K)
    Q: Array  # (R, R, K)
    work: Array  # (R + 3, K)


@part
def finish_sweep(ev, i, rho, sw):  # type: ignore[no-untyped-def]
    """Delta = sum_k rho_k P_k' S_k / sum_k rho_k, and T_k = L_k^-T N_k Delta."""
    Delta, T, Q = ev.Delta[i], ev.T[i], sw.Q
    K, R = T.shape[0], T.shape[1]
    total = 0.0
    for k in range(K):
        total += rho[k]
    for r in range(R):
        for s in range(R):
            entry = 0.0
            for m in range(s + 1):
                for k in range(K):
                    entry += rho[k] * sw.N[m, r, k] * sw.L[s, m, k]
            Delta[r, s] = entry / total
    for s in range(R):
        for q in range(R):
            for k in range(K):
                Q[s, q, k] = 0.0
            for m in range(s, R):
                for k in range(K):
                    Q[s, q, k] += sw.Linv[m, s, k] * sw.N[m, q, k]
        for r in range(R):
            for k in range(K):
                sw.work[0, k] = 0.0
            for q in range(R):
                for k in range(K):
                    sw.work[0, k] += Q[s, q, k] * Delta[q, r]
            for k in range(K):
                T[k, s, r] = sw.work[0, k]
    for k in range(K):
        ev.explicit[i, k] = 0


@inlined
def sweep(ev, i, weights, sw, collinear):  # type: ignore[no-untyped-def]
    """Nearest patterns that only turn, from the cross products in `sw.M`; False where it takes more care."""
    if not factorise_grams(sw.M, sw.L, sw.Linv, collinear):
        ev.explicit[i, 0] = UNSWEPT
        return False
    small_polars(sw, ev.Delta[i])
    finish_sweep(ev, i, weights, sw)
    return True


@part
def of_start(quad, i):  # type: ignore[no-untyped-def]
    """The terms of start i: its links are (R, K)."""
    return Quadratics(quad.own, quad.links[min(i, quad.links.shape[0] - 1)])


@part
def goes_round(quad):  # type: ignore[no-untyped-def]
    """Whether the last slice of a start is linked to the first."""
    return quad.links[0, quad.links.shape[1] - 1] > 0.0


@kernel
def update_batch(ev, active, G, N, C, weights, quad, rounds):  # type: ignore[no-untyped-def]
    """New patterns of every active start: exact if nothing else draws them, else so many iterations.

    `rounds.done` counts the iterations. Fewer than asked means that the sweep of the last one (marked by
    UNSWEPT) is left to the caller, with more care than cross products allow; call again for the rest.
    """
    R, K, J = ev.B.shape[1:]
    E = np.empty((2, K, R, R))
    width = min(J, _BLOCK)
    f = np.empty((R, 1, width), ev.B.dtype)
    ring = Ring(np.empty((K, R, R)), np.empty((1, R, R)), np.empty((R, 2, width), ev.B.dtype))
    small = np.zeros((5, R, R, K))
    sw = Sweep(np.zeros((K, R, R)), small[0], small[1], small[2], small[3], small[4], np.empty((R + 3, K)))
    for p in range(active.shape[0]):
        i = active[p]
        to_identity(sw.V)
        pulls, own = weights.pulls[p], of_start(quad, i)
        slice_inverses(E, N[p], C[p], weights.system[p], own)
        if goes_round(own):
            prepare_ring(ring, E, own)
        while rounds.done[p] < rounds.wanted:
            clear(sw.M)
            for first in range(0, J, width):
                span = Span(np.uint64(first), np.uint64(min(width, J - first)), rounds.drawn, f)
                solve_rows(ev, i, G[p], C[p], E, pulls, own, span)
                if goes_round(own):
                    close_ring(ev.B[i], ring, span.first, span.width)
                add_dual(ev, i, sw.M, span)
            rounds.done[p] += 1
            if rounds.drawn.turning and not sweep(ev, i, pulls[0], sw, rounds.collinear):
                break


@kernel
def summarise_batch(B, active, G, out):  # type: ignore[no-untyped-def]
    """Fill `out` (all zero) with what the other blocks need to know of the active starts' patterns."""
    R, K, J = B.shape[1:]
    o, w = np.uint64(0), np.uint64(J)
    for p in range(active.shape[0]):
        X, Gp, gram = B[active[p]], G[p], out.gram[p]
        for k in range(K):
            after = k + 1 if k < K - 1 else 0
            add_gram(gram, X, k, o, w)
            for r in range(R):
                cross, step = 0.0, 0.0
                for j in range(J):
                    b = X[r, k, j]
                    change = X[r, after, j] - b
                    cross += Gp[r, k, j] * b
                    step += change * change
                out.cross[p, r, k] = cross
                out.steps[p, r, k] = step
                out.norms[p, r] += gram[k, r, r]
                for s in range(r):
                    gram[k, r, s] = gram[k, s, r]


@part
def follow(links, steps, pace):  # type: ignore[no-untyped-def]
    """Links of one component become those that cost the least for its steps, squared lengths (K,)."""
    K = steps.shape[0]
    # What is left by the shares at their floors is shared by the others; each round, more may be at theirs.
    scale, settled = 1e300, False
    while not settled:
        left, length = 1.0, 0.0
        for k in range(K):
            root = np.sqrt(steps[k])
            if root * scale > pace.floors[k] and pace.floors[k] > 0.0:
                length += root
            else:
                left -= pace.floors[k]
        smaller = left / length if length > 0.0 else 0.0
        settled = not smaller < scale
        scale = min(scale, smaller)
    for k in range(K):
        links[k] = pace.fixed[k]
        if pace.floors[k] > 0.0:
            links[k] += pace.strength / max(np.sqrt(steps[k]) * scale, pace.floors[k])


@kernel
def price_batch(quad, active, steps, gram, pace, out):  # type: ignore[no-untyped-def]
    """out[p, r] = what the absorbed terms cost; links that follow the patterns are brought up to them."""
    R, K = quad.links.shape[1:]
    for p in range(active.shape[0]):
        own = of_start(quad, active[p])
        for r in range(R):
            if pace.strength > 0.0:
                follow(own.links[r], steps[p, r], pace)
            total = 0.0
            for k in range(K):
                total += quad.own[k] * gram[p, k, r, r] + own.links[r, k] * steps[p, r, k]
            out[p, r] = total


@part
def turned(ev, i, k, f):  # type: ignore[no-untyped-def]
    """Room for one slice becomes the PARAFAC2 term's aux of slice k."""
    R, J = ev.B.shape[1], ev.B.shape[3]
    if ev.explicit[i, k]:
        for r in range(R):
            for j in range(J):
                f[r, 0, j] = ev.Y[i, r, k, j]
    else:
        mix(f, ev.S[i], ev.T[i], Place(_ZERO, np.uint64(0), k, np.uint64(0), k, np.uint64(J)))


@kernel
def depart_batch(ev, active, pull, out):  # type: ignore[no-untyped-def]
    """out[p, r] = sum_k pull_k ||b_rk - aux_rk||^2 of the PARAFAC2 term, which is made explicit."""
    R, K, J = ev.B.shape[1:]
    f = np.empty((R, 1, J), ev.B.dtype)
    for p in range(active.shape[0]):
        i = active[p]
        for k in range(K):
            turned(ev, i, k, f)
            ev.explicit[i, k] = 1
            for r in range(R):
                total = 0.0
                for j in range(J):
                    away = ev.B[i, r, k, j] - f[r, 0, j]
                    total += away * away
                    ev.Y[i, r, k, j] = f[r, 0, j]
                out[p, r] += pull[k] * total


@part
def extrapolate(x, before, r, k, scale, momentum):  # type: ignore[no-untyped-def]
    """Row of x times scale, a step on from where it was; `before` gets it without the step."""
    for j in range(x.shape[2]):
        new = scale * x[r, k, j]
        x[r, k, j] = new + momentum * (new - before[r, k, j])
        before[r, k, j] = new


@part
def away_from(B, Z, r, k, t, low):  # type: ignore[no-untyped-def]
    """Squared distance of a row of B from what a threshold leaves of Z, and of that what is above `low`."""
    total = 0.0
    for j in range(B.shape[2]):
        z = Z[r, k, j]
        away = B[r, k, j] - max(z - min(max(z, -t), t), low)
        total += away * away
    return total


@kernel
def carry_batch(ev, before, active, scale, momentum, drawn, thresholds, gap):  # type: ignore[no-untyped-def]
    """Rescale the components of the active starts, extrapolate what is carried, and take ||B - aux||^2.

    `thresholds` (n, K) are those by which entries were shrunken.
    """
    R, K, J = ev.B.shape[1:]
    f = np.empty((R, 1, J), ev.B.dtype)
    for p in range(active.shape[0]):
        i, m = active[p], momentum[p]
        B, Z = ev.B[i], ev.Z[i]
        apart, below = 0.0, 0.0
        for k in range(K):
            if drawn.turning:
                turned(ev, i, k, f)
                ev.explicit[i, k] = 1
            for r in range(R):
                x = scale[p, r]
                if drawn.turning:
                    for j in range(J):
                        away = B[r, k, j] - f[r, 0, j]
                        apart += away * away
                        ev.Y[i, r, k, j] = f[r, 0, j]
                    extrapolate(ev.Y[i], before.Y[i], r, k, x, m)
                if drawn.dual:
                    extrapolate(ev.S[i], before.S[i], r, k, x, m)
                if drawn.bounded or drawn.shrunken:
                    below += away_from(B, Z, r, k, thresholds[i, k], 0.0 if drawn.bounded else -1e300)
                    extrapolate(Z, before.Z[i], r, k, x, m)
                for j in range(J):
                    B[r, k, j] *= x
        gap[p] = max(apart if drawn.dual else 0.0, below)
        for r in range(R):
            for s in range(R):
                ev.Delta[i, r, s] *= scale[p, s]


@kernel
def solve_quadratic(B, F, N, C, half_rho, quad):  # type: ignore[no-untyped-def]
    """B = argmin of the least-squares part with right-hand side F (R, K, J), all quadratic terms and rho."""
    R, K, J = B.shape
    E, own = np.empty((2, K, R, R)), of_start(quad, _ZERO)
    slice_inverses(E, N, C, half_rho, own)
    width = min(J, _BLOCK)
    f = np.empty((R, 1, width), B.dtype)
    whole = B.reshape((1, R, K, J))
    ev = Evolving(whole, whole, whole, whole, E, np.empty((1, K), np.uint8), E[0])
    ring = Ring(np.empty((K, R, R)), np.empty((1, R, R)), np.empty((R, 2, width), B.dtype))
    if goes_round(own):
        prepare_ring(ring, E, own)
    for first in range(0, J, width):
        span = Span(np.uint64(first), np.uint64(min(width, J - first)), Drawn(False, False, False, False), f)
        solve_rows(ev, 0, F, np.ones((R, K)), E, np.zeros((3, K)), own, span)
        if goes_round(own):
            close_ring(B, ring, span.first, span.width)


class Observed(NamedTuple):
    """What was observed of each column: its own cross products, and whom it is coupled to."""

    H: Array  # (p, R (R + 1) / 2, K, J)  sum of a_i a_i' over the rows observed, pairs r <= s
    joined: Array  # (K, J)  how much more its change to the next slice costs (from the last: to the first)


class Columns(NamedTuple):
    """Scratch of one start whose columns have systems of their own."""

    E: Array  # (K, R, R, J)
    work: Array  # (2, J)
    ring: Array  # (R, R, K, J), or empty: as Z of `Ring`, its columns first, for each column of the data
    ends: Array  # (R, R, J)  as S of `Ring`


@part
def column_scratch(R, K, J, quad):  # type: ignore[no-untyped-def]
    """Room for the systems of all columns; for rings only where there are some."""
    ring = np.empty((R, R, K if quad.links[0, 0, K - 1] > 0.0 else 0, J))
    return Columns(np.empty((K, R, R, J)), np.empty((2, J)), ring, np.empty((R, R, J)))


@part
def invert_columns(H, work):  # type: ignore[no-untyped-def]
    """Invert H[:, :, j] for all j, each symmetric positive definite, in place; loops run over columns."""
    R, w = H.shape[0], np.uint64(H.shape[2])
    for p in range(R):
        for j in range(w):
            work[0, j] = 1.0 / H[p, p, j]
            H[p, p, j] = 1.0
        for s in range(R):
            for j in range(w):
                H[p, s, j] *= work[0, j]
        for i in range(R):
            if i != p:
                for j in range(w):
                    work[1, j] = H[i, p, j]
                    H[i, p, j] = 0.0
                for s in range(R):
                    for j in range(w):
                        H[i, s, j] -= work[1, j] * H[p, s, j]


@part
def column_inverses(cols, H, C, half_rho, quad, joined):  # type: ignore[no-untyped-def]
    """As `slice_inverses`, with cross products and couplings of each column's own; `quad` of one start."""
    E, work, links = cols.E, cols.work, quad.links
    K, R, w = E.shape[0], E.shape[1], np.uint64(E.shape[3])
    for k in range(K):
        last = max(k - 1, 0)
        own = max(half_rho[k] + quad.own[k], 0.0) + 1e-300
        q = 0
        for r in range(R):
            before = links[r, last] if k > 0 else 0.0
            after = links[r, k] if k < K - 1 else 0.0
            for s in range(r, R):
                c, other = C[r, k] * C[s, k], links[s, last]
                for j in range(w):
                    E[k, r, s, j] = c * H[q, k, j]
                if r == s:
                    for j in range(w):
                        E[k, r, r, j] += own + after * joined[k, j]
                if before > 0.0:
                    for j in range(w):
                        f = joined[last, j]
                        E[k, r, s, j] -= before * f * E[last, r, s, j] * f * other
                    if r == s:
                        for j in range(w):
                            coupled = before * joined[last, j]
                            least = LEAST_PIVOT * (c * H[q, k, j] + own + after * joined[k, j] + coupled)
                            E[k, r, r, j] = max(E[k, r, r, j] + coupled, least)
                for j in range(w):
                    E[k, s, r, j] = E[k, r, s, j]
                q += 1
        invert_columns(E[k], work)


@part
def times_columns(out, k_to, X, k_from, M):  # type: ignore[no-untyped-def]
    """out[r, k_to, j] = sum_s M[r, s, j] X[s, k_from, j] for all columns j."""
    R, w = M.shape[0], np.uint64(M.shape[2])
    for r in range(R):
        for j in range(w):
            out[r, k_to, j] = M[r, 0, j] * X[0, k_from, j]
        for s in range(1, R):
            for j in range(w):
                out[r, k_to, j] += M[r, s, j] * X[s, k_from, j]


@part
def chain_of_columns(B, f, E, k, links, joined, carried):  # type: ignore[no-untyped-def]
    """Backward step of slice k: B[:, k] += joined E_k Q_k B[:, k + 1], column by column."""
    R, w = B.shape[0], np.uint64(B.shape[2])
    for r in range(R):
        for j in range(w):
            f[r, 0, j] = links[r, k] * joined[k, j] * B[r, k + 1, j]
    times_columns(carried, _ZERO, f, _ZERO, E[k])
    for r in range(R):
        for j in range(w):
            B[r, k, j] += carried[r, 0, j]


@part
def prepare_column_rings(cols, quad, joined, f, carried):  # type: ignore[no-untyped-def]
    """As `prepare_ring` for each column."""
    E, S = cols.E, cols.ends
    K, R, w = E.shape[0], E.shape[1], np.uint64(E.shape[3])
    last = K - 1
    for s in range(R):
        Z = cols.ring[s]  # (R, K, J): answers to W's column s
        for k in range(K):
            before = max(k - 1, 0)
            for r in range(R):
                coupling = quad.links[r, before]
                for j in range(w):
                    f[r, 0, j] = coupling * joined[before, j] * Z[r, before, j] if k > 0 else 0.0
            for j in range(w):
                f[s, 0, j] += (1.0 if k == 0 else 0.0) - (1.0 if k == last else 0.0)
            times_columns(Z, k, f, _ZERO, E[k])
        for k in range(K - 2, -1, -1):
            if quad.links[0, k] > 0.0:
                chain_of_columns(Z, f, E, k, quad.links, joined, carried)
        for r in range(R):
            for j in range(w):
                S[r, s, j] = Z[r, 0, j] - Z[r, last, j]
        for j in range(w):
            # A column that is not there at both ends has no ring: its S is as good as zero.
            closing = quad.links[s, last] * joined[last, j]
            S[s, s, j] += 1.0 / closing if closing > 0.0 else 1e300
    invert_columns(S, cols.work)


@part
def close_column_rings(B, cols, f, t):  # type: ignore[no-untyped-def]
    """As `close_ring`, with Z and S of each column's own."""
    R, K, w = B.shape[0], B.shape[1], np.uint64(B.shape[2])
    Z = cols.ring
    for r in range(R):
        for j in range(w):
            f[r, 0, j] = B[r, 0, j] - B[r, K - 1, j]
    times_columns(t, _ZERO, f, _ZERO, cols.ends)
    for r in range(R):
        for k in range(K):
            for s in range(R):
                for j in range(w):
                    B[r, k, j] -= Z[s, r, k, j] * t[s, 0, j]


@part
def solve_observed(ev, i, G, C, cols, pulls, quad, at):  # type: ignore[no-untyped-def]
    """New B of start i as in `solve_rows`, where every column has a system of its own."""
    B, f, carried, joined = ev.B[i], at.span.scratch, at.carried, at.joined
    R, K, w = B.shape[0], B.shape[1], np.uint64(B.shape[2])
    for k in range(K):
        right_side(ev, i, G, Pull(k, C, pulls[0, k], pulls[1, k], pulls[2, k], k), quad.links, at.span)
        before = k - 1
        if k > 0 and quad.links[0, before] > 0.0:
            for r in range(R):
                for j in range(w):
                    f[r, 0, j] += quad.links[r, before] * joined[before, j] * B[r, before, j]
        times_columns(B, k, f, _ZERO, cols.E[k])
    for k in range(K - 2, -1, -1):
        if quad.links[0, k] > 0.0:
            chain_of_columns(B, f, cols.E, k, quad.links, joined, carried)
    if goes_round(quad):
        close_column_rings(B, cols, f, carried)


class Wide(NamedTuple):
    """All columns at once, and room for two slices of them."""

    span: Span
    carried: Array  # (R, 1, J)
    joined: Array  # (K, J)


@kernel
def update_observed_batch(ev, active, G, observed, C, weights, quad, rounds):  # type: ignore[no-untyped-def]
    """As `update_batch`, from what was observed of each column."""
    R, K, J = ev.B.shape[1:]
    cols = column_scratch(R, K, J, quad)
    f, carried = np.empty((R, 1, J), ev.B.dtype), np.empty((R, 1, J), ev.B.dtype)
    span = Span(np.uint64(0), np.uint64(J), rounds.drawn, f)
    at = Wide(span, carried, observed.joined)
    small = np.zeros((5, R, R, K))
    sw = Sweep(np.zeros((K, R, R)), small[0], small[1], small[2], small[3], small[4], np.empty((R + 3, K)))
    for p in range(active.shape[0]):
        i = active[p]
        to_identity(sw.V)
        pulls, own = weights.pulls[p], of_start(quad, i)
        column_inverses(cols, observed.H[p], C[p], weights.system[p], own, observed.joined)
        if goes_round(own):
            prepare_column_rings(cols, own, observed.joined, f, carried)
        while rounds.done[p] < rounds.wanted:
            clear(sw.M)
            solve_observed(ev, i, G[p], C[p], cols, pulls, own, at)
            add_dual(ev, i, sw.M, span)
            rounds.done[p] += 1
            if rounds.drawn.turning and not sweep(ev, i, pulls[0], sw, rounds.collinear):
                break


@kernel
def summarise_observed_batch(B, active, observed, systems, steps):  # type: ignore[no-untyped-def]
    """Fill `systems` (p, K, R, R), the strengths' own, and `steps` as in `Summary`, by what columns count."""
    R, K, J = B.shape[1:]
    w = np.uint64(J)
    joined = observed.joined
    for p in range(active.shape[0]):
        X, H = B[active[p]], observed.H[p]
        for k in range(K):
            after = k + 1 if k < K - 1 else 0
            q = 0
            for r in range(R):
                step = 0.0
                for j in range(w):
                    change = X[r, after, j] - X[r, k, j]
                    step += joined[k, j] * change * change
                steps[p, r, k] = step
                for s in range(r, R):
                    entry = 0.0
                    for j in range(w):
                        entry += H[q, k, j] * X[r, k, j] * X[s, k, j]
                    systems[p, k, r, s] = systems[p, k, s, r] = entry
                    q += 1


@kernel
def solve_quadratic_observed(B, F, H, C, half_rho, quad, joined):  # type: ignore[no-untyped-def]
    """As `solve_quadratic`, from what was observed of each column: H is (R (R + 1) / 2, K, J)."""
    R, K, J = B.shape
    cols, own = column_scratch(R, K, J, quad), of_start(quad, _ZERO)
    f, carried = np.empty((R, 1, J), B.dtype), np.empty((R, 1, J), B.dtype)
    column_inverses(cols, H, C, half_rho, own, joined)
    if goes_round(own):
        prepare_column_rings(cols, own, joined, f, carried)
    whole = B.reshape((1, R, K, J))
    unused = np.empty((1, K, R, R))
    ev = Evolving(whole, whole, whole, whole, unused, np.empty((1, K), np.uint8), unused[0])
    at = Wide(Span(np.uint64(0), np.uint64(J), Drawn(False, False, False, False), f), carried, joined)
    solve_observed(ev, 0, F, np.ones((R, K)), cols, np.zeros((3, K)), own, at)
