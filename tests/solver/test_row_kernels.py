"""Rows of small least-squares problems, shrunken, bounded or coupled, against slow and obvious solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from tparafac2.solver.row_kernels import Asked, Chained, solve_block, solve_chained_block

seeds = st.integers(0, 2**32 - 1)


def draw(seed, R, m, one):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((1, 1 if one else m, R + 2, R))
    F = rng.standard_normal((1, R, m)) * 10 ** rng.uniform(-1, 1)
    return rng, np.ascontiguousarray(A.transpose(0, 1, 3, 2) @ A), F


def whole_system(H, F, chain):
    """The system of all rows together, (m R, m R), and its right-hand side."""
    R, m = F.shape
    system = np.zeros((m, R, m, R))
    for k in range(m):
        system[k, :, k] += H[min(k, len(H) - 1)] + chain.own[k] * np.eye(R)
        after = (k + 1) % m
        for one, other in ((k, after), (after, k)):
            system[one, :, one] += chain.links[k] * np.eye(R)
            system[one, :, other] -= chain.links[k] * np.eye(R)
    return system.reshape(m * R, m * R), F.T.reshape(-1)


@settings(max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 5), st.booleans(), st.sampled_from([0.01, 0.5, 5.0, 100.0]))
def test_shrunken_rows_meet_the_conditions_of_a_minimum(seed, R, m, one, shrinking):
    rng, H, F = draw(seed, R, m, one)
    X = rng.standard_normal((1, R, m))
    solve_block(H, F, X, Asked(0.3, shrinking, 0.0, False))
    for k in range(m):
        x = X[0, :, k]
        slope = F[0, :, k] - (H[0, min(k, H.shape[1] - 1)] + 0.3 * np.eye(R)) @ x
        close = 1e-9 * max(1.0, np.abs(F).max())
        assert np.abs(slope[x == 0]).max(initial=0.0) <= shrinking / 2 + close
        np.testing.assert_allclose(slope[x != 0], np.sign(x[x != 0]) * shrinking / 2, atol=close)


def test_so_much_shrinking_leaves_nothing():
    _, H, F = draw(0, 3, 4, True)
    X = np.ones((1, 3, 4))
    solve_block(H, F, X, Asked(0.0, 3.0 * np.abs(F).max(), 0.0, False))
    assert not X.any()


powers = st.integers(-25, 25)


@settings(max_examples=200)
@given(seeds, st.integers(1, 9), st.booleans(), powers, powers, st.floats(0.0, 1.0))
def test_nonnegative_rows_of_any_size_meet_the_conditions_of_a_minimum(seed, R, alike, size, start, zeros):
    """From a start that may be many powers of ten larger or smaller than the solution."""
    rng, H, F = draw(seed, R, 4, False)
    if alike:  # ties: several entries reach their bound at once
        H[:], F[:] = np.eye(R), np.sign(F)
    F *= 10.0**size
    X = 10.0**start * rng.random((1, R, 4)) * (rng.random((1, R, 4)) >= zeros)
    solve_block(H, F, X, Asked(0.0, 0.0, 0.0, True))
    for k in range(4):
        x, f = X[0, :, k], F[0, :, k]
        slope = f - H[0, k] @ x
        close = 1e-9 * (np.abs(f) + np.abs(H[0, k]) @ x).max()
        assert np.isfinite(x).all()
        assert (x >= 0).all()
        assert (slope <= close).all()
        assert np.abs(slope[x > 0]).max(initial=0.0) <= close


@pytest.mark.parametrize("R", [2, 3, 8])
def test_a_solution_far_below_its_start_is_exact(R):
    """x + (y - x) rounds to 0 here: no coordinate may be freed twice for that."""
    X = np.ones((1, R, 1))
    solve_block(np.eye(R)[None, None], np.full((1, R, 1), 1e-20), X, Asked(0.0, 0.0, 0.0, True))
    np.testing.assert_allclose(X, 1e-20, rtol=1e-12)


@settings(max_examples=60)
@given(
    seeds,
    st.integers(1, 4),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.7]),
    st.sampled_from([0.1, 10.0, 1e4]),
)
def test_coupled_rows_are_one_system(seed, R, m, one, nonnegative, closing, strength):
    rng, H, F = draw(seed, R, m, one)
    links = strength * rng.uniform(0.1, 2.0, m)
    links[-1] = closing * strength if m > 1 else 0.0
    chain = Chained(rng.uniform(0.1, 1.0, m), links)
    X = rng.standard_normal((1, R, m))
    solve_chained_block(H, F, X, Asked(0.0, 0.0, 0.0, nonnegative), chain)
    system, right = whole_system(H[0], F[0], chain)
    if nonnegative:
        root = np.linalg.cholesky(system).T
        bounds = (np.zeros(len(right)), np.full(len(right), np.inf))
        expected = lsq_linear(root, np.linalg.solve(root.T, right), bounds, method="bvls", tol=1e-14).x
        assert (X >= 0).all()
    else:
        expected = np.linalg.solve(system, right)
    found = X[0].T.reshape(-1)
    assert found @ system @ found - 2 * right @ found <= (
        expected @ system @ expected - 2 * right @ expected + 1e-8 * max(1.0, abs(right @ expected))
    )
    if not nonnegative:
        np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", [2, 9, 11, 17])
def test_coupled_rows_never_cost_more_than_their_start(seed):
    """Also where components are so nearly alike that rounding hides which of them would gain."""
    rng = np.random.default_rng(seed)
    A, links = rng.standard_normal((3, 8)), np.append(100 * rng.random(15), 0.0)
    H = A.T @ A / np.square(A).sum()
    F = H @ rng.standard_normal((8, 16))

    def cost(x):
        steps = np.square(np.roll(x, -1, axis=1) - x)
        return (x * (H @ x)).sum() + 1e-15 * np.square(x).sum() + (links * steps).sum() - 2 * (F * x).sum()

    X = np.ones((1, 8, 16))
    for _ in range(5):
        before = cost(X[0])
        chain = Chained(np.full(16, 1e-20), links)
        solve_chained_block(H[None, None], F[None], X, Asked(0.0, 0.0, 1e-15, True), chain)
        assert (X >= 0).all()
        assert cost(X[0]) <= before + 1e-9 * abs(before)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_shrinking_a_coupled_row_that_is_bounded(nonnegative):
    """Beside a bound the sum of sizes is linear; without one it is solved elsewhere."""
    _, H, F = draw(3, 3, 6, False)
    chain = Chained(np.full(6, 0.1), np.append(np.ones(5), 0.0))
    X, plain = np.ones((1, 3, 6)), np.ones((1, 3, 6))
    solve_chained_block(H, F, X, Asked(0.0, 0.8 if nonnegative else 0.0, 0.0, nonnegative), chain)
    solve_chained_block(H, F - (0.4 if nonnegative else 0.0), plain, Asked(0.0, 0.0, 0.0, nonnegative), chain)
    np.testing.assert_allclose(X, plain, atol=1e-12)
