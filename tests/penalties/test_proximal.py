from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.penalties import proximal

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)


def tridiagonal_matrix(surplus, coupling):
    edges = np.diag(coupling, 1) + np.diag(coupling, -1)
    return np.diag(surplus + edges.sum(axis=1)) - edges


@SETTINGS
@given(seeds, st.integers(1, 8), sizes, sizes)
def test_tridiagonal_solution_solves_the_system(seed, n, columns, rank):
    rng = np.random.default_rng(seed)
    surplus, coupling = rng.uniform(0.1, 2, n), rng.uniform(0, 3, n - 1)
    rhs = rng.standard_normal((n, columns, rank))
    x = proximal.solve_tridiagonal(surplus, coupling, rhs)
    expected = np.linalg.solve(tridiagonal_matrix(surplus, coupling), rhs.reshape(n, -1)).reshape(rhs.shape)
    np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("coupling", [1e6, 1e12, 1e18])
def test_tridiagonal_solution_stays_accurate_under_strong_coupling(coupling):
    x = proximal.solve_tridiagonal(np.ones(3), np.full(2, coupling), np.array([1.0, 2.0, 6.0]))
    # In exact arithmetic: the first and the last row give x_0 and x_2 from x_1, the middle row gives x_1.
    c = Fraction(coupling)
    middle = (2 + c * (1 + 6) / (1 + c)) / (1 + 2 * c - 2 * c * c / (1 + c))
    exact = [(1 + c * middle) / (1 + c), middle, (6 + c * middle) / (1 + c)]
    np.testing.assert_allclose(x, [float(number) for number in exact], rtol=1e-14)


@SETTINGS
@given(seeds, st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_polar_factors_are_orthonormal_and_nearest(seed, count, rank, more):
    rng = np.random.default_rng(seed)
    matrices = rng.standard_normal((count, rank + more, rank))
    p = proximal.polar_factors(matrices)
    np.testing.assert_allclose(p.transpose(0, 2, 1) @ p, np.tile(np.eye(rank), (count, 1, 1)), atol=1e-12)
    rival = np.linalg.qr(matrices + rng.standard_normal(matrices.shape))[0]
    distance = np.linalg.norm(p - matrices, axis=(1, 2))
    assert (distance <= np.linalg.norm(rival - matrices, axis=(1, 2)) + 1e-12).all()


@pytest.mark.parametrize("matrix", [np.zeros((5, 3)), np.ones((5, 3)), np.eye(5, 3) * [1, 0, 1e-200]])
def test_polar_factors_are_orthonormal_without_full_rank(matrix):
    p = proximal.polar_factors(matrix[None])[0]
    np.testing.assert_allclose(p.T @ p, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_root_of_the_mean_cross_product_at_any_size(size):
    rng = np.random.default_rng(3)
    slices, weights = rng.standard_normal((4, 6, 3)), rng.uniform(0.5, 2, 4)
    root = proximal.mean_cross_product_root(size * slices, weights) / size
    expected = np.average(slices.transpose(0, 2, 1) @ slices, axis=0, weights=weights)
    np.testing.assert_allclose(root @ root, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(root, root.T, atol=1e-12)


@SETTINGS
@given(seeds, st.floats(1e-3, 1e3))
def test_sweep_does_not_depend_on_the_size_of_delta(seed, size):
    rng = np.random.default_rng(seed)
    slices, weights, delta = (
        rng.standard_normal((3, 5, 2)),
        rng.uniform(0.5, 2, 3),
        rng.standard_normal((2, 2)),
    )
    first = proximal.parafac2_sweep(slices, weights, delta)
    second = proximal.parafac2_sweep(slices, weights, size * delta)
    np.testing.assert_allclose(first[0], second[0], atol=1e-7)
    np.testing.assert_allclose(first[1], second[1], atol=1e-7)


@SETTINGS
@given(seeds, st.lists(st.floats(1e-9, 1e9), min_size=3, max_size=3))
def test_spreads_do_not_change_with_the_scale_of_components(seed, factors):
    slices = np.random.default_rng(seed).standard_normal((3, 5, 3))
    for spread in (proximal.cross_product_spread, proximal.spread_over_slices):
        assert spread(slices * factors) == pytest.approx(spread(slices), rel=1e-9)
        assert spread(slices) > 1e-3


def test_cross_product_spread_of_two_lengths():
    slices = np.stack([np.eye(3, 1), 2 * np.eye(3, 1)])
    assert proximal.cross_product_spread(slices) == pytest.approx(1.5 / 2.5)


@pytest.mark.parametrize(
    ("v", "rho", "error", "words"),
    [
        ([[1.0]], np.ones(1), TypeError, "float32 or float64 array, got list"),
        (np.ones((2, 3), dtype=int), np.ones(2), TypeError, "got int64 array"),
        (np.ones(3), np.ones(3), ValueError, r"at least 2 dimensions .* got shape \(3,\)"),
        (np.ones((0, 3)), np.ones(0), ValueError, "no empty one"),
        (np.ones((2, 3)), np.ones(3), ValueError, r"shape \(2,\), got shape \(3,\)"),
        (np.ones((2, 3)), 1.0, ValueError, r"use np.full\(2, rho\)"),
        (np.ones((2, 3)), np.array([1.0, 0.0]), ValueError, "rho must be positive"),
        (np.ones((2, 3)), np.array([1.0, np.nan]), ValueError, "rho must be positive and finite"),
        (np.full((2, 3), np.inf), np.ones(2), ValueError, "NaN or infinity"),
    ],
)
def test_bad_input_is_refused(v, rho, error, words):
    with pytest.raises(error, match=words):
        proximal.prepare(v, rho)
