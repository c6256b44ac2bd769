"""Kernels do what a few plain lines of NumPy do; those that make up a block are tested with their block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData
from tparafac2.penalties import Ridge, SuddenChanges, TemporalSmoothness
from tparafac2.solver import Settings, build_problem
from tparafac2.solver.kernels import Quadratics, solve_quadratic
from tparafac2.solver.patterns import pattern_block
from tparafac2.solver.views import Patterns, summarise

BOTH_PRECISIONS = pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-4)])
# Odd ranks and widths, because loops are unrolled; 700 columns, because they are cut into blocks.
SHAPES = [(1, 1, 1), (1, 4, 3), (2, 3, 5), (3, 5, 40), (4, 2, 9), (5, 3, 33), (6, 4, 700), (7, 6, 700)]


def assert_close(actual, expected, rtol):
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * scale)


def smoothing(R, K, strength, excess, closing=0.0, uneven=None):
    """strength * ||differences||^2 + excess * ||x||^2 + closing * ||last - first||^2.

    All of it times numbers of each component's own, where they are drawn.
    """
    links = np.full((1, R, K), strength, dtype=np.float64)
    links[..., -1] = closing
    return Quadratics(np.full(K, excess), links if uneven is None else links * uneven.uniform(0.1, 2, (R, K)))


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
        system[k, :, k] = D @ N @ D + (half_rho[k] + quad.own[k]) * np.eye(R)
    for k in range(K):
        after, link = (k + 1) % K, np.diag(quad.links[0, :, k])
        for one, other in ((k, after), (after, k)):
            system[one, :, one] += link
            system[one, :, other] -= link
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
        quad = smoothing(R, K, strength, excess=0.1, closing=closing, uneven=rng)
        half_rho = 0.5 * rho if split else np.zeros(K)
        B = np.full((R, K, J), 7.0)
        solve_quadratic(B, F, N[None], C, half_rho, quad)
        assert_close(B, dense_solution(F, N, C, half_rho, quad), 1e-9)

    def test_one_number_per_column_and_very_many_columns(self):
        F, N, C, rho = draw(np.random.default_rng(0), 1, 1, 30_001)
        B = np.zeros_like(F)
        solve_quadratic(B, F, N[None], C, rho, smoothing(1, 1, 0.0, 0.1))
        assert_close(B, F / (N[0, 0] * C[0, 0] ** 2 + rho[0] + 0.1), 1e-13)

    def test_single_precision(self):
        F, N, C, rho = draw(np.random.default_rng(0), 4, 5, 700, "float32")
        quad = smoothing(4, 5, 1.0, 0.1)
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
        summary = summarise(Patterns(B, active), G)
        gram, cross, norms, steps = summary
        wide = B[active].astype(np.float64)
        assert_close(gram, np.einsum("prkj,pskj->pkrs", wide, wide), rtol)
        assert_close(cross, np.einsum("prkj,prkj->prk", G, wide), rtol)
        assert_close(norms, np.sum(wide**2, axis=(2, 3)), rtol)
        changes = np.sum((np.roll(wide, -1, axis=2) - wide) ** 2, axis=3)
        assert_close(steps, changes, rtol)
        block = block_with([TemporalSmoothness(2.0, 1e-2), Ridge(0.5)], B)
        expected = 2.0 * changes[..., :-1].sum(axis=2) + (2.0 * 1e-2 + 0.5) * norms
        assert_close(block.price(active, summary), expected, rtol)

    def test_roughness_of_a_nearly_static_pattern_is_not_lost_in_rounding(self):
        base = np.random.default_rng(0).standard_normal(50)
        B = np.stack([base, base + 1e-9])[None, None]
        everyone = np.arange(1)
        prices = block_with([TemporalSmoothness(1.0, 0.0)], B).price(
            everyone, summarise(Patterns(B, everyone), B)
        )
        assert prices[0, 0] == pytest.approx(50 * 1e-18, rel=1e-5)


class TestPrice:
    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 2**32 - 1),
        K=st.integers(1, 9),
        floor=st.sampled_from([1e-6, 0.02, 0.5, 1.0]),
        closing=st.sampled_from([0.0, 2.0]),
        still=st.sampled_from([0.0, 0.5, 1.0]),
    )
    def test_links_that_follow_are_those_of_the_penalty(self, seed, K, floor, closing, still):
        """And the price is its value, also where most of the patterns stand still."""
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((2, 3, K, 6))
        for k in range(1, K):
            keeps = rng.random((2, 3)) < still
            B[:, :, k][keeps] = B[:, :, k - 1][keeps]
        weights = tuple(rng.uniform(0.1, 3.0, K - 1))
        term = SuddenChanges(3.0, 0.01, floor=floor, weights=weights, closing=closing)
        active = np.array([1])
        block = block_with([term, Ridge(0.5)], B)
        prices = block.price(active, summarise(Patterns(B, active), B[active]))
        parts = [B[1, r].reshape(K, -1, 1) for r in range(3)]
        assert_close(prices[0], [term.value(x) + 0.5 * (x**2).sum() for x in parts], 1e-12)
        assert np.array_equal(block.quadratics.links[0], block_with([term], B).quadratics.links[0])


def block_with(terms, B):
    """A block whose units are the user's; of the data only shape and type matter here."""
    data = DenseData(np.ones((2, *B.shape[2:]), B.dtype), 1.0)
    return pattern_block(B, build_problem(data, B.shape[1], ([], terms, [])), Settings())
