"""Loadings and strengths: least squares, non-negative rows, and ADMM for anything else."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.penalties import NonNegative, Ridge, TemporalSmoothness
from tparafac2.solver import Settings
from tparafac2.solver.problem import Scaled, sort_terms
from tparafac2.solver.rows import RowBlock

m, R, n = 7, 3, 2
EVERYONE = np.arange(n)


def block_for(penalties, settings=None, values=None):
    settings = settings or Settings()
    terms = [Scaled(penalty, 1.0, 1.0) for penalty in penalties]
    values = np.random.default_rng(0).random((n, R, m)) if values is None else values
    return RowBlock(values, sort_terms(terms, m, absorb=settings.absorb, coupled=False), settings, 1e-15)


def draw(shared, seed=1):
    """Cross products H (n, m or 1, R, R) and right-hand sides F (n, R, m)."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 1 if shared else m, R + 2, R))
    return A.transpose(0, 1, 3, 2) @ A, 3.0 * rng.standard_normal((n, R, m))


def stay(p=n):
    return np.ones((p, R)), np.zeros(p)


def value(H, F, x, ridge=0.0):
    """Sum over rows of x'Hx - 2f'x + ridge ||x||^2 for one start; x is (R, m)."""
    rows = np.broadcast_to(H, (m, R, R))
    return np.einsum("rm,mrs,sm->", x, rows, x) - 2.0 * np.sum(F * x) + ridge * np.sum(x**2)


@pytest.mark.parametrize("shared", [True, False])
def test_without_terms_least_squares(shared):
    H, F = draw(shared)
    block = block_for([Ridge(0.5)])
    block.update(EVERYONE, H, F)
    for i in range(n):
        for row in range(m):
            h = H[i, 0 if shared else row] + 0.5 * np.eye(R)
            np.testing.assert_allclose(block.values[i, :, row], np.linalg.solve(h, F[i, :, row]), rtol=1e-9)
    block.carry(EVERYONE, *stay())
    assert block.gaps(EVERYONE).tolist() == [0.0] * n


@pytest.mark.parametrize("shared", [True, False])
def test_nonnegative_rows_are_exact(shared):
    H, F = draw(shared)
    block = block_for([Ridge(0.1), NonNegative()])
    block.update(EVERYONE, H, F)
    x = block.values
    assert (x >= 0).all()
    assert (x == 0).any(), "the constraint must matter"
    slope = np.einsum("nmrs,nsm->nrm", np.broadcast_to(H, (n, m, R, R)), x) + 0.1 * x - F
    assert (slope >= -1e-9).all()
    np.testing.assert_allclose(slope * x, 0.0, atol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_admm_reaches_the_exact_answer(shared):
    """The paper's way, repeated, ends where the active-set method is at once."""
    H, F = draw(shared)
    exact = block_for([Ridge(0.1), NonNegative()])
    slow = block_for([Ridge(0.1), NonNegative()], Settings(absorb=False, inner=1000))
    for block in (exact, slow):
        block.update(EVERYONE, H, F)
        block.carry(EVERYONE, *stay())
    np.testing.assert_allclose(slow.values, exact.values, atol=1e-8)
    assert (slow.gaps(EVERYONE) < 1e-8).all()


def test_what_is_given_back_is_not_negative_by_a_rounding_error():
    H, F = draw(shared=False)
    block = block_for([NonNegative()], Settings(absorb=False, inner=300))
    block.update(EVERYONE, H, F)
    block.carry(EVERYONE, *stay())
    assert (block.values < 0).any(), "the least squares must overshoot for the test to mean anything"
    for i in range(n):
        assert (block.feasible(i) >= 0).all()


def test_a_coupling_term_on_rows_gets_an_auxiliary():
    H, F = draw(shared=True)
    H += 5.0 * np.eye(R)
    block = block_for([TemporalSmoothness(2.0, epsilon=0.0)], Settings(inner=400))
    block.update(EVERYONE, H, F)
    differences = np.diff(np.eye(m), axis=0)
    for i in range(n):
        system = np.kron(np.eye(m), H[i, 0]) + 2.0 * np.kron(differences.T @ differences, np.eye(R))
        expected = np.linalg.solve(system, F[i].T.ravel()).reshape(m, R)
        np.testing.assert_allclose(block.values[i].T, expected, atol=1e-8)


@dataclass(frozen=True)
class Box:
    """A term that is neither quadratic nor a cone."""

    top: float
    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True

    def value(self, x):
        return 0.0 if (np.abs(x) <= self.top + 1e-9).all() else np.inf

    def prox(self, v, rho, state=None):
        return np.clip(v, -self.top, self.top), state


def test_any_term_of_the_users_works():
    H, F = draw(shared=True)
    block = block_for([Box(0.5)], Settings(inner=1000))
    block.update(EVERYONE, H, F)
    block.carry(EVERYONE, *stay())
    rng = np.random.default_rng(3)
    for i in range(n):
        x = block.feasible(i).T
        assert block.splits[0].value(x.T) == 0.0
        assert (np.abs(x) > 0.4999).any(), "the constraint must matter"
        for size in (1e-3, 0.1):
            other = np.clip(x + size * rng.standard_normal(x.shape), -0.5, 0.5)
            assert value(H[i], F[i], x) <= value(H[i], F[i], other) + 1e-6


def test_only_active_starts_are_touched():
    H, F = draw(shared=True)
    for penalties, how in (
        ([], None),
        ([NonNegative()], None),
        ([NonNegative()], Settings(absorb=False)),
    ):
        block, alone = block_for(penalties, how), block_for(penalties, how)
        before = block.values.copy()
        block.update(np.array([1]), H[1:], F[1:])
        alone.update(EVERYONE, H, F)
        np.testing.assert_array_equal(block.values[0], before[0])
        np.testing.assert_allclose(block.values[1], alone.values[1], rtol=1e-12)


def test_carry_rescales_extrapolates_and_keeps_the_point():
    H, F = draw(shared=True)
    block = block_for([])
    old = block.values.copy()
    block.update(EVERYONE, H, F)
    new = block.values.copy()
    scale, momentum = np.array([[0.5, 2.0, 0.0], [1.0, 3.0, 1.0]]), np.array([0.6, 0.0])
    block.carry(EVERYONE, scale, momentum)
    point = new * scale[:, :, None]
    np.testing.assert_allclose(block.values, point + momentum[:, None, None] * (point - old), rtol=1e-13)
    for i in range(n):
        np.testing.assert_array_equal(block.feasible(i), point[i].T)  # never extrapolated


@pytest.mark.parametrize("absorb", [True, False])
def test_what_must_not_be_negative_is_not_extrapolated_below_zero(absorb):
    H, F = draw(shared=False)
    block = block_for([NonNegative()], Settings(absorb=absorb))
    block.update(EVERYONE, H, F)
    block.carry(EVERYONE, np.ones((n, R)), np.full(n, 0.95))
    extrapolated = block.values if absorb else block.aux[0]
    assert (extrapolated >= 0).all()


def test_duals_and_auxiliaries_scale_along():
    H, F = draw(shared=False)
    block = block_for([NonNegative()], Settings(absorb=False, inner=2))
    block.update(EVERYONE, H, F)
    aux, dual = block.aux[0].copy(), block.dual[0].copy()
    scale = np.array([[0.5, 2.0, 1.0], [4.0, 1.0, 3.0]])
    block.carry(EVERYONE, scale, np.zeros(n))
    np.testing.assert_allclose(block.aux[0], aux * scale[:, None, :], rtol=1e-14)
    np.testing.assert_allclose(block.dual[0], dual * scale[:, None, :], rtol=1e-14)


@pytest.mark.parametrize("penalties", [[], [NonNegative()]])
def test_a_component_that_is_not_there_becomes_zero(penalties):
    H, F = draw(shared=True)
    H[:, :, 1, :] = H[:, :, :, 1] = 0.0
    F[:, 1] = 0.0
    block = block_for(penalties)
    block.update(EVERYONE, H, F)
    assert np.isfinite(block.values).all()
    assert not block.values[:, 1].any()


def test_no_rows_of_the_data_at_all():
    """All cross products zero: a first iteration after everything vanished must not break."""
    for penalties, how in (
        ([], None),
        ([NonNegative()], None),
        ([NonNegative()], Settings(absorb=False)),
    ):
        block = block_for(penalties, how)
        block.update(EVERYONE, np.zeros((n, 1, R, R)), np.zeros((n, R, m)))
        assert np.isfinite(block.values).all()


def quadratic(H, f, x):
    return x @ H @ x - 2.0 * f @ x


def nonnegative_rows(H, F, X):
    """The minimisers over x >= 0 of x'Hx - 2f'x for rows f of F (k, R), sought from the rows of X."""
    terms = sort_terms([Scaled(NonNegative(), 1.0, 1.0)], len(F), absorb=True, coupled=False)
    block = RowBlock(X.T[None], terms, Settings(), 1e-15)
    block.update(np.array([0]), H[None], np.ascontiguousarray(F.T)[None])
    return block.values[0].T


class TestNonnegativeRows:
    """The active-set method behind non-negative blocks."""

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
        rows = 5
        Q = np.linalg.qr(rng.standard_normal((rows, R, R)))[0]
        H = Q @ (np.geomspace(1.0, smallest, R)[:, None] * Q.transpose(0, 2, 1))
        H = H[:1] if shared else H
        F = rng.standard_normal((rows, R))
        begin_at = {"zero": np.zeros, "ones": np.ones, "sparse": lambda s: 1.0 * (rng.random(s) < 0.5)}[begin]
        X = nonnegative_rows(H, F, begin_at((rows, R)))
        assert (X >= 0).all()
        for i in range(rows):
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
        X = nonnegative_rows(H[None], f[None], X)
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
            X = nonnegative_rows(H[None], f[None], X)
            assert quadratic(H, f, X[0]) == pytest.approx(min(values), abs=1e-12)

    @pytest.mark.parametrize("begin", [0.0, 1.0])
    def test_a_component_that_is_not_there_is_harmless(self, begin):
        H = np.diag([2.0, 0.0, 1.0])[None] + 1e-300 * np.eye(3)
        X = np.full((1, 3), begin)
        X = nonnegative_rows(H, np.array([[4.0, 0.0, -1.0]]), X)
        np.testing.assert_allclose(X, [[2.0, 0.0, 0.0]], rtol=1e-12, atol=1e-12)

    def test_two_equal_components_are_harmless(self):
        H = np.ones((1, 2, 2))
        X = np.ones((1, 2))
        X = nonnegative_rows(H, np.array([[3.0, 3.0]]), X)
        assert (X >= 0).all()
        assert X.sum() == pytest.approx(3.0, rel=1e-6)
