"""Kernels do what a few plain lines of NumPy do; those that make up a block are tested with their block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData
from tparafac2.penalties import Ridge, TemporalSmoothness
from tparafac2.solver import build_problem
from tparafac2.solver.kernels import Quadratics, solve_quadratic
from tparafac2.solver.views import Patterns, summarise

BOTH_PRECISIONS = pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-4)])
# Odd ranks and widths, because loops are unrolled; 700 columns, because they are cut into blocks.
SHAPES = [(1, 1, 1), (1, 4, 3), (2, 3, 5), (3, 5, 40), (4, 2, 9), (5, 3, 33), (6, 4, 700), (7, 6, 700)]


def assert_close(actual, expected, rtol):
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * scale)


def smoothing(K, strength, excess, closing=0.0):
    """Bands of strength * ||differences||^2 + excess * ||x||^2 + closing * ||last - first||^2."""
    diagonal = np.full(K, excess)
    diagonal[1:] += strength
    diagonal[:-1] += strength
    return Quadratics(diagonal, np.full(K - 1, strength), closing)


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
    for k, other in ((0, K - 1), (K - 1, 0)):
        system[k, :, k] += quad.closing * np.eye(R)
        system[k, :, other] -= quad.closing * np.eye(R)
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
        closing=st.sampled_from([0.0, 0.5, 1e3]),
        split=st.booleans(),
    )
    def test_equals_a_dense_solve(self, seed, R, K, J, strength, closing, split):
        rng = np.random.default_rng(seed)
        F, N, C, rho = draw(rng, R, K, J)
        C[:, rng.random(K) < 0.3] = 0.0  # slices without strength
        quad = smoothing(K, strength, excess=0.1, closing=closing)
        half_rho = 0.5 * rho if split else np.zeros(K)
        B = np.full((R, K, J), 7.0)
        solve_quadratic(B, F, N[None], C, half_rho, quad)
        assert_close(B, dense_solution(F, N, C, half_rho, quad), 1e-9)

    def test_one_number_per_column_and_very_many_columns(self):
        F, N, C, rho = draw(np.random.default_rng(0), 1, 1, 30_001)
        B = np.zeros_like(F)
        solve_quadratic(B, F, N[None], C, rho, smoothing(1, 0.0, 0.1))
        assert_close(B, F / (N[0, 0] * C[0, 0] ** 2 + rho[0] + 0.1), 1e-13)

    def test_single_precision(self):
        F, N, C, rho = draw(np.random.default_rng(0), 4, 5, 700, "float32")
        quad = smoothing(5, 1.0, 0.1)
        B = np.zeros_like(F)
        solve_quadratic(B, F, N[None], C, rho, quad)
        assert_close(B, dense_solution(F, N, C, rho, quad), 1e-4)


class TestSummarise:
    @BOTH_PRECISIONS
    @pytest.mark.parametrize(("R", "K", "J"), SHAPES)
    def test_equals_einsum(self, R, K, J, dtype, rtol):
        rng = np.random.default_rng(R + K + J)
        B, G = (rng.standard_normal((n, R, K, J)).astype(dtype) for n in (3, 2))
        active = np.array([0, 2])
        problem = problem_with([TemporalSmoothness(2.0, 1e-2), Ridge(0.5)], R, K, J, dtype)
        gram, cross, norms, bands = summarise(Patterns(B, active, problem.quadratics), G)
        wide = B[active].astype(np.float64)
        assert_close(gram, np.einsum("prkj,pskj->pkrs", wide, wide), rtol)
        assert_close(cross, np.einsum("prkj,prkj->prk", G, wide), rtol)
        assert_close(norms, np.sum(wide**2, axis=(2, 3)), rtol)
        changes = np.sum(np.diff(wide, axis=2) ** 2, axis=(2, 3))
        assert_close(bands, 2.0 * changes + (2.0 * 1e-2 + 0.5) * np.sum(wide**2, axis=(2, 3)), rtol)

    def test_roughness_of_a_nearly_static_pattern_is_not_lost_in_rounding(self):
        base = np.random.default_rng(0).standard_normal(50)
        B = np.stack([base, base + 1e-9])[None, None]
        problem = problem_with([TemporalSmoothness(1.0, 0.0)], 1, 2, 50, "float64")
        bands = summarise(Patterns(B, np.arange(1), problem.quadratics), B).bands
        assert bands[0, 0] == pytest.approx(50 * 1e-18, rel=1e-5)


def problem_with(terms, R, K, J, dtype):
    """A problem whose units are the user's; of the data only shape and type matter here."""
    return build_problem(DenseData(np.ones((2, K, J), dtype), 1.0), R, ([], terms, []))
