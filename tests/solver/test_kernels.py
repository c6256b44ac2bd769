"""Kernels do what a few plain lines of NumPy do; those of the pattern update are tested with its block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.solver.kernels import Quadratics, Summary, nonnegative_rows, solve_quadratic, summarise_batch

BOTH_PRECISIONS = pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-4)])
# Odd ranks and widths, because loops are unrolled; 700 columns, because they are cut into blocks.
SHAPES = [(1, 1, 1), (1, 4, 3), (2, 3, 5), (3, 5, 40), (4, 2, 9), (5, 3, 33), (6, 4, 700), (7, 6, 700)]


def assert_close(actual, expected, rtol):
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * scale)


def smoothing(K, strength, excess):
    """Bands of strength * ||differences||^2 + excess * ||x||^2."""
    diagonal = np.full(K, excess)
    diagonal[1:] += strength
    diagonal[:-1] += strength
    return Quadratics(diagonal, np.full(K - 1, strength))


def draw(rng, R, K, J, dtype="float64"):
    """Right-hand sides (R, K, J), cross products of loadings, strengths (R, K) and weights (K,)."""
    A = rng.standard_normal((R + 3, R))
    F = rng.standard_normal((R, K, J)).astype(dtype)
    return F, A.T @ A, rng.uniform(0.2, 2.0, (R, K)), rng.uniform(0.3, 3.0, K) * np.trace(A.T @ A) / R


def dense_solution(F, N, C, half_rho, quad):
    """Solve the whole block tridiagonal system at once, for all columns."""
    R, K, J = F.shape
    system = np.zeros((K, R, K, R))
    for k in range(K):
        D = np.diag(C[:, k])
        system[k, :, k] = D @ N @ D + (half_rho[k] + quad.diagonal[k]) * np.eye(R)
    for k in range(K - 1):
        system[k, :, k + 1] = system[k + 1, :, k] = -quad.off[k] * np.eye(R)
    right = F.astype(np.float64).transpose(1, 0, 2).reshape(K * R, J)
    return np.linalg.solve(system.reshape(K * R, K * R), right).reshape(K, R, J).transpose(1, 0, 2)


class TestSolveQuadratic:
    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 2**32 - 1),
        R=st.integers(1, 6),
        K=st.integers(1, 6),
        J=st.sampled_from([1, 2, 7, 8, 32, 33, 500, 2500]),
        strength=st.sampled_from([0.0, 0.1, 10.0]),
        split=st.booleans(),
    )
    def test_equals_a_dense_solve(self, seed, R, K, J, strength, split):
        rng = np.random.default_rng(seed)
        F, N, C, rho = draw(rng, R, K, J)
        C[:, rng.random(K) < 0.3] = 0.0  # slices without strength
        quad = smoothing(K, strength, excess=0.1)
        half_rho = 0.5 * rho if split else np.zeros(K)
        B = np.full((R, K, J), 7.0)
        solve_quadratic(B, F, N, C, half_rho, quad)
        assert_close(B, dense_solution(F, N, C, half_rho, quad), 1e-9)

    def test_one_number_per_column_and_very_many_columns(self):
        F, N, C, rho = draw(np.random.default_rng(0), 1, 1, 30_001)
        B = np.zeros_like(F)
        solve_quadratic(B, F, N, C, rho, smoothing(1, 0.0, 0.1))
        assert_close(B, F / (N[0, 0] * C[0, 0] ** 2 + rho[0] + 0.1), 1e-13)

    def test_single_precision(self):
        F, N, C, rho = draw(np.random.default_rng(0), 4, 5, 700, "float32")
        quad = smoothing(5, 1.0, 0.1)
        B = np.zeros_like(F)
        solve_quadratic(B, F, N, C, rho, quad)
        assert_close(B, dense_solution(F, N, C, rho, quad), 1e-4)


class TestSummariseBatch:
    @BOTH_PRECISIONS
    @pytest.mark.parametrize(("R", "K", "J"), SHAPES)
    def test_equals_einsum(self, R, K, J, dtype, rtol):
        rng = np.random.default_rng(R + K + J)
        B, G = (rng.standard_normal((n, R, K, J)).astype(dtype) for n in (3, 2))
        active = np.array([0, 2])
        quad = Quadratics(rng.random(K) + 2.0, rng.random(K - 1))
        out = Summary(np.zeros((2, K, R, R)), np.zeros((2, R, K)), np.zeros((2, R)), np.zeros((2, R)))
        summarise_batch(B, active, G, quad, out)
        wide = B[active].astype(np.float64)
        assert_close(out.gram, np.einsum("prkj,pskj->pkrs", wide, wide), rtol)
        assert_close(out.cross, np.einsum("prkj,prkj->prk", G, wide), rtol)
        assert_close(out.norms, np.sum(wide**2, axis=(2, 3)), rtol)
        bands = np.einsum("k,prkj->pr", quad.diagonal, wide**2)
        bands -= 2.0 * np.einsum("k,prkj,prkj->pr", quad.off, wide[:, :, :-1], wide[:, :, 1:])
        assert_close(out.bands, bands, rtol)

    def test_roughness_of_a_nearly_static_pattern_is_not_lost_in_rounding(self):
        base = np.random.default_rng(0).standard_normal(50)
        B = np.stack([base, base + 1e-9])[None, None]
        out = Summary(np.zeros((1, 2, 1, 1)), np.zeros((1, 1, 2)), np.zeros((1, 1)), np.zeros((1, 1)))
        summarise_batch(B, np.arange(1), B, smoothing(2, 1.0, 0.0), out)
        assert out.bands[0, 0] == pytest.approx(50 * 1e-18, rel=1e-5)


def quadratic(H, f, x):
    return x @ H @ x - 2.0 * f @ x


class TestNonnegativeRows:
    @settings(max_examples=150)
    @given(
        seed=st.integers(0, 2**32 - 1),
        R=st.integers(1, 8),
        smallest=st.sampled_from([1.0, 1e-3, 1e-8, 1e-13]),
        shared=st.booleans(),
        begin=st.sampled_from(["zero", "ones", "sparse"]),
    )
    def test_meets_the_optimality_conditions(self, seed, R, smallest, shared, begin):
        rng = np.random.default_rng(seed)
        m = 5
        Q = np.linalg.qr(rng.standard_normal((m, R, R)))[0]
        H = Q @ (np.geomspace(1.0, smallest, R)[:, None] * Q.transpose(0, 2, 1))
        H = H[:1] if shared else H
        F = rng.standard_normal((m, R))
        X = {"zero": np.zeros, "ones": np.ones, "sparse": lambda s: 1.0 * (rng.random(s) < 0.5)}[begin]((m, R))
        nonnegative_rows(H, F, X)
        assert (X >= 0).all()
        for i in range(m):
            h = H[0 if shared else i]
            slope = h @ X[i] - F[i]
            size = np.abs(F[i]) + np.abs(h) @ X[i]
            assert (slope >= -1e-9 * size).all()
            assert (np.abs(slope)[X[i] > 0] <= 1e-7 * size[X[i] > 0]).all()

    @settings(max_examples=50)
    @given(seed=st.integers(0, 2**32 - 1), R=st.integers(1, 6))
    def test_beats_random_feasible_points(self, seed, R):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((R + 2, R))
        H, f = A.T @ A + 1e-6 * np.eye(R), rng.standard_normal(R)
        X = rng.random((1, R))
        nonnegative_rows(H[None], f[None], X)
        best = quadratic(H, f, X[0])
        for scale in (1e-3, 0.1, 1.0, 10.0):
            for nearby in (X[0], 0.0):
                point = np.maximum(nearby + scale * rng.standard_normal(R), 0.0)
                assert best <= quadratic(H, f, point) + 1e-12

    def test_equals_every_choice_of_free_coordinates(self):
        rng = np.random.default_rng(0)
        for _ in range(30):
            A, f = rng.standard_normal((5, 3)), rng.standard_normal(3)
            H = A.T @ A
            values = [0.0]
            for mask in np.ndindex(2, 2, 2):
                free = np.flatnonzero(mask)
                x = np.zeros(3)
                x[free] = np.linalg.solve(H[np.ix_(free, free)], f[free])
                if (x >= 0).all():
                    values.append(quadratic(H, f, x))
            X = np.zeros((1, 3))
            nonnegative_rows(H[None], f[None], X)
            assert quadratic(H, f, X[0]) == pytest.approx(min(values), abs=1e-12)

    @pytest.mark.parametrize("begin", [0.0, 1.0])
    def test_a_component_that_is_not_there_is_harmless(self, begin):
        H = np.diag([2.0, 0.0, 1.0])[None] + 1e-300 * np.eye(3)
        X = np.full((1, 3), begin)
        nonnegative_rows(H, np.array([[4.0, 0.0, -1.0]]), X)
        np.testing.assert_allclose(X, [[2.0, 0.0, 0.0]], rtol=1e-12, atol=1e-12)

    def test_two_equal_components_are_harmless(self):
        H = np.ones((1, 2, 2))
        X = np.ones((1, 2))
        nonnegative_rows(H, np.array([[3.0, 3.0]]), X)
        assert (X >= 0).all()
        assert X.sum() == pytest.approx(3.0, rel=1e-6)
