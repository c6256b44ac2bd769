"""The best split of scale over the modes, in closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
from tparafac2.solver import Settings, Start, build_problem, solve
from tparafac2.solver.balance import Costs, best_scaling, no_scaling, remove_vanished

LAMBDAS = 0.3, 20.0, 0.7
EPSILON = 1e-6


def draw(seed, R=3, K=4):
    """Factors of one start whose sizes differ by orders of magnitude between modes."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3, 3, (3, R))
    A, B, C = rng.standard_normal((6, R)), rng.standard_normal((K, 5, R)), rng.random((K, R))
    return A * sizes[0], B * sizes[1], C * sizes[2]


def roughness(B):
    return np.sum(np.diff(B, axis=0) ** 2, axis=(0, 1)) + EPSILON * np.sum(B**2, axis=(0, 1))


def penalties_of(A, B, C, lambdas=LAMBDAS):
    a, b, d = lambdas
    return Costs(*(x[None] for x in (a * np.sum(A**2, 0), b * roughness(B), d * np.sum(C**2, 0))))


def sizes_of(A, B, C):
    return Costs(*(x[None] for x in (np.sum(A**2, 0), np.sum(B**2, (0, 1)), np.sum(C**2, 0))))


def rescaled(factors, scales):
    return tuple(factor * scale[0] for factor, scale in zip(factors, scales[:3], strict=True))


def reconstruct(A, B, C):
    return np.einsum("ir,kjr,kr->kij", A, B, C)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e160])
def test_costs_of_degree_one_and_two_are_balanced_in_any_unit(size):
    """What each gains by growing is twice a square, and once a size."""
    squares = np.array([1.0, 3.0, 0.2]) * min(size, 1.0)
    linear = np.array([5.0, 0.0, 0.0]) * size
    ones = Costs(*np.ones((3, 1, 1)))
    scales = best_scaling(Costs(*squares[:, None, None]), ones, linear=Costs(*linear[:, None, None]))
    moved = np.array([scale[0, 0] for scale in scales[:3]])
    gains = (2 * squares * moved + linear) * moved
    np.testing.assert_allclose(gains, gains[0], rtol=1e-6)
    assert np.log(moved).sum() == pytest.approx(0.0, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_costs_become_equal_and_the_model_stays(seed):
    factors = draw(seed)
    scales = best_scaling(penalties_of(*factors), sizes_of(*factors))
    np.testing.assert_allclose(scales.a * scales.b * scales.c, 1.0, rtol=1e-12)
    balanced = rescaled(factors, scales)
    a, b, c = penalties_of(*balanced)
    np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(a, c, rtol=1e-10)
    assert scales.penalty[0] == pytest.approx((a + b + c).sum(), rel=1e-10)
    np.testing.assert_allclose(reconstruct(*balanced), reconstruct(*factors), rtol=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_no_other_split_costs_less(seed):
    factors = draw(seed)
    rng = np.random.default_rng(seed)
    best = best_scaling(penalties_of(*factors), sizes_of(*factors))
    for size in (1e-3, 0.1, 1.0):
        a, b = np.exp(size * rng.standard_normal((2, 3)))
        other = rescaled(rescaled(factors, best), (a[None], b[None], 1.0 / (a * b)[None]))
        assert best.penalty[0] <= no_scaling(penalties_of(*other)).penalty[0] * (1 + 1e-12)


@given(st.integers(0, 2**32 - 1))
def test_one_knob(seed):
    """After balancing only the product of the lambdas is left in the penalty."""
    A, B, C = factors = draw(seed)
    scales = best_scaling(penalties_of(*factors), sizes_of(*factors))
    unit_patterns = B / np.sqrt(np.sum(B**2, axis=(0, 1)))
    weights = np.sqrt(np.prod(sizes_of(A, B, C), axis=0))[0]
    knob = np.prod(LAMBDAS) * roughness(unit_patterns)
    assert scales.penalty[0] == pytest.approx(np.sum(3.0 * np.cbrt(knob) * np.cbrt(weights**2)), rel=1e-10)


@given(st.integers(0, 2**32 - 1))
def test_without_penalties_norms_become_equal(seed):
    factors = draw(seed)
    scales = best_scaling(penalties_of(*factors, lambdas=(0.0, 0.0, 0.0)), sizes_of(*factors))
    a, b, c = sizes_of(*rescaled(factors, scales))
    np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(a, c, rtol=1e-10)
    assert scales.penalty[0] == 0.0


@given(st.integers(0, 2**32 - 1))
def test_fixed_strengths_are_left_out(seed):
    A, B, C = factors = draw(seed)
    costs, sizes = (found(*factors)._replace(c=None) for found in (penalties_of, sizes_of))
    scales = best_scaling(costs, sizes)
    np.testing.assert_array_equal(scales.c, 1.0)
    np.testing.assert_allclose(scales.a * scales.b, 1.0, rtol=1e-12)
    after_a, after_b, _ = penalties_of(A * scales.a[0], B * scales.b[0], C)
    np.testing.assert_allclose(after_a, after_b, rtol=1e-10)
    assert scales.penalty[0] == pytest.approx((after_a + after_b).sum(), rel=1e-10)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_zero_components_are_untouched(mode):
    factors = draw(0)
    factors[mode][..., 1] = 0.0
    scales = best_scaling(penalties_of(*factors), sizes_of(*factors))
    for scale in scales[:3]:
        assert scale[0, 1] == 1.0
        assert np.isfinite(scale).all()
    a, _, c = penalties_of(*rescaled(factors, scales))
    np.testing.assert_allclose(a[0, [0, 2]], c[0, [0, 2]], rtol=1e-10)


def test_each_start_is_balanced_by_itself():
    one, two = draw(1), draw(2)
    together = best_scaling(
        *(Costs(*map(np.concatenate, zip(of(*one), of(*two)))) for of in (penalties_of, sizes_of))
    )
    alone = best_scaling(penalties_of(*two), sizes_of(*two))
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_array_equal(ours[1], theirs[0])


def test_no_scaling_only_adds_up():
    costs = penalties_of(*draw(3))
    scales = no_scaling(costs)
    for scale in scales[:3]:
        np.testing.assert_array_equal(scale, 1.0)
    assert scales.penalty[0] == pytest.approx(sum(cost.sum() for cost in costs), rel=1e-14)


class TestVanished:
    def test_components_without_weight_become_exactly_zero(self):
        A, B, C = factors = draw(4)
        for factor in factors:
            factor[..., 2] *= 1e-8 / np.sqrt(np.sum(factor[..., 2] ** 2))
        sizes = sizes_of(A, B, C)
        scales, gone = remove_vanished(no_scaling(penalties_of(A, B, C)), sizes)
        assert gone.tolist() == [[False, False, True]]
        for scale in scales[:3]:
            assert scale.tolist() == [[1.0, 1.0, 0.0]]

    def test_one_large_mode_keeps_a_component_alive(self):
        sizes = Costs(np.array([[1e-30]]), np.array([[1e10]]), np.array([[1.0]]))
        _, gone = remove_vanished(no_scaling(sizes), sizes)
        assert not gone.any()

    def test_fixed_strengths_stay_one(self):
        sizes = Costs(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]]), None)
        scales, gone = remove_vanished(no_scaling(sizes), sizes)
        assert gone.tolist() == [[True, False]]
        np.testing.assert_array_equal(scales.c, 1.0)
        assert scales.a.tolist() == scales.b.tolist() == [[0.0, 1.0]]


def test_a_run_ends_balanced_and_on_the_one_knob_formula():
    rng = np.random.default_rng(0)
    truth = rng.random((9, 2)), rng.random((1, 7, 2)) + 0.2 * rng.random((5, 7, 2)), 1 + rng.random((5, 2))
    X = 10.0 * (reconstruct(*truth) + 0.05 * rng.standard_normal((5, 9, 7)))
    a, b, d = LAMBDAS
    terms = [Ridge(a)], [Parafac2(), TemporalSmoothness(b, EPSILON)], [Ridge(d), NonNegative()]
    problem = build_problem(DenseData.from_slices(X), 2, terms)
    start = Start(rng.random((9, 2)), rng.random((5, 7, 2)), rng.random((5, 2)))
    (run,) = solve(problem, [start], Settings(tol=1e-12, feasibility_tol=1e-9))
    assert run.status.converged
    A, B, C = (factor * problem.unit for factor in (run.A, run.B, run.C))
    cost_a, cost_b, cost_c = penalties_of(A, B, C)
    np.testing.assert_allclose(cost_a, cost_c, rtol=1e-10)
    np.testing.assert_allclose(cost_a, cost_b, rtol=1e-6)  # B was moved onto the set after balancing
    weights = np.sqrt(np.prod(sizes_of(A, B, C), axis=0))[0]
    knob = np.prod(LAMBDAS) * roughness(B / np.sqrt(np.sum(B**2, axis=(0, 1))))
    formula = np.sum(3.0 * np.cbrt(knob) * np.cbrt(weights**2))
    assert (cost_a + cost_b + cost_c).sum() == pytest.approx(formula, rel=1e-10)


def test_scale_has_an_end_where_a_component_costs_next_to_nothing():
    sizes = Costs(*(np.array([[size, 1.0]]) for size in (1.0, 1e30, 1.0)))
    costs = Costs(*(np.array([[cost, 1.0]]) for cost in (1.0, 1e-300, 1.0)))
    scales = best_scaling(costs, sizes, 1e40)
    np.testing.assert_allclose(scales.a * scales.b * scales.c, 1.0)
    assert sizes.b[0, 0] * scales.b[0, 0] ** 2 == pytest.approx(1e40)
    assert scales.penalty[0] < no_scaling(costs).penalty[0]
    assert scales.a[0, 1] == scales.b[0, 1] == 1.0


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 1, 1), (0, 1, 0), (1, 0, 1)]), st.booleans())
def test_terms_of_degree_one_are_balanced_too(seed, which, without_squares):
    """No other split costs less, where some modes have linear costs, alone or beside squares."""
    rng = np.random.default_rng(seed)
    squares, lengths = ([10 ** rng.uniform(-4, 4, (2, 3)) for _ in range(3)] for _ in range(2))
    linear = [use * 10 ** rng.uniform(-4, 4, (2, 3)) for use in which]
    if without_squares:
        squares = [np.where(one > 0, 0.0, square) for one, square in zip(linear, squares)]
    costs, slopes = Costs.of(squares), Costs.of(linear)
    best = best_scaling(costs, Costs.of(lengths), linear=slopes)
    np.testing.assert_allclose(best.a * best.b * best.c, 1.0, rtol=1e-9)
    for size in (1e-3, 0.1, 1.0):
        a, b = np.exp(size * rng.standard_normal((2, 2, 3)))
        other = [best.a * a, best.b * b, best.c / (a * b)]
        total = costs.after(other) + slopes.after(other, 1)
        assert (best.penalty <= total * (1 + 1e-9)).all()


@given(st.integers(0, 2**32 - 1), st.integers(0, 2))
def test_scale_moves_between_two_modes_where_the_third_is_held(seed, held):
    factors, movable = draw(seed), [i != held for i in range(3)]
    scales = best_scaling(penalties_of(*factors), sizes_of(*factors), movable=movable)
    balanced = rescaled(factors, scales)
    costs = penalties_of(*balanced)
    first, second = (i for i in range(3) if i != held)
    np.testing.assert_array_equal(scales[held], 1.0)
    np.testing.assert_allclose(costs[first], costs[second], rtol=1e-10)
    assert scales.penalty[0] == pytest.approx(sum(cost.sum() for cost in costs), rel=1e-10)
    np.testing.assert_allclose(reconstruct(*balanced), reconstruct(*factors), rtol=1e-9)


def test_with_one_mode_that_may_move_nothing_does():
    factors = draw(0)
    scales = best_scaling(penalties_of(*factors), sizes_of(*factors), movable=(True, False, False))
    assert all((scale == 1.0).all() for scale in scales[:3])


def test_a_component_that_vanished_is_not_set_to_zero_where_it_is_held():
    ones = np.ones((1, 2))
    sizes = Costs(np.array([[1.0, 0.0]]), ones, ones)
    scales, gone = remove_vanished(no_scaling(sizes), sizes, (True, False, True))
    assert gone.tolist() == [[False, True]]
    assert (scales.a.tolist(), scales.b.tolist(), scales.c.tolist()) == ([[1, 0]], [[1, 1]], [[1, 0]])
