import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tparafac2.penalties import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
strengths = st.floats(0, 1e4)
shapes = st.one_of(
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4)),
)
pattern_shapes = st.tuples(st.integers(1, 6), st.integers(4, 7), st.integers(1, 4))
ALL = [Ridge(0.7), TemporalSmoothness(2.0), NonNegative(), Static(), Parafac2(), SoftParafac2(1.3)]


def draw(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape), rng.uniform(0.1, 10, shape[0])


def slicewise(rho, array):
    return rho.reshape(-1, *[1] * (array.ndim - 1)) * array


def distance(x, v, rho):
    return float(np.sum(slicewise(rho, (x - v) ** 2)))


def cross_products(x):
    return x.transpose(0, 2, 1) @ x


@SETTINGS
@given(seeds, shapes, strengths)
def test_ridge_prox_is_stationary(seed, shape, strength):
    v, rho = draw(seed, shape)
    x, state = Ridge(strength).prox(v, rho)
    assert state is None
    gradient = 2 * strength * x + slicewise(rho, x - v)
    np.testing.assert_allclose(gradient, 0, atol=1e-10 * (1 + strength))


@SETTINGS
@given(seeds, shapes, strengths, st.floats(0, 1))
def test_smoothness_prox_is_stationary(seed, shape, strength, epsilon):
    v, rho = draw(seed, shape)
    x, _ = TemporalSmoothness(strength, epsilon).prox(v, rho)
    changes = np.diff(x, axis=0)
    gradient = 2 * strength * epsilon * x + slicewise(rho, x - v)
    gradient[1:] += 2 * strength * changes
    gradient[:-1] -= 2 * strength * changes
    np.testing.assert_allclose(gradient, 0, atol=1e-10 * (1 + strength))


@SETTINGS
@given(seeds, shapes)
def test_infinite_smoothness_is_static(seed, shape):
    v, rho = draw(seed, shape)
    smooth, _ = TemporalSmoothness(1e15, epsilon=0.0).prox(v, rho)
    static, _ = Static().prox(v, rho)
    np.testing.assert_allclose(smooth, static, atol=1e-12)


@SETTINGS
@given(seeds, shapes, strengths, st.floats(0, 1))
def test_bands_reproduce_the_value(seed, shape, strength, epsilon):
    x, _ = draw(seed, shape)
    n = len(x)
    weights = tuple(np.random.default_rng(seed).uniform(0.0, 3.0, n - 1))
    uneven = TemporalSmoothness(strength, epsilon, weights, closing=0.5)
    for penalty in (Ridge(strength), TemporalSmoothness(strength, epsilon), uneven):
        diagonal, off_diagonal, closing = penalty.bands(n)
        matrix = np.diag(diagonal) - np.diag(off_diagonal, 1) - np.diag(off_diagonal, -1)
        ends = np.zeros(n)
        ends[0] += 1
        ends[-1] -= 1
        matrix += closing * np.outer(ends, ends)
        flat = x.reshape(n, -1)
        assert penalty.value(x) == pytest.approx(np.sum(flat * (matrix @ flat)), rel=1e-9, abs=1e-9)


@SETTINGS
@given(seeds, shapes)
def test_prox_of_uneven_cyclic_smoothness_is_the_minimiser(seed, shape):
    v, rho = draw(seed, shape)
    n = len(v)
    weights = tuple(np.random.default_rng(seed).uniform(0.0, 3.0, n - 1))
    penalty = TemporalSmoothness(2.0, 1e-3, weights, closing=1.5)
    x, _ = penalty.prox(v, rho)
    diagonal, off_diagonal, closing = penalty.bands(n)
    matrix = np.diag(diagonal) - np.diag(off_diagonal, 1) - np.diag(off_diagonal, -1)
    ends = np.zeros(n)
    ends[0] += 1
    ends[-1] -= 1
    matrix += closing * np.outer(ends, ends)
    wide = np.asarray(v, dtype=float).reshape(n, -1)
    expected = np.linalg.solve(2 * matrix + np.diag(rho), np.asarray(rho)[:, None] * wide)
    np.testing.assert_allclose(x.reshape(n, -1), expected, rtol=1e-6, atol=1e-6 * np.abs(wide).max())


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 2.0, 3.0, 4.0)])
def test_as_many_weights_as_changes(weights):
    penalty = TemporalSmoothness(1.0, weights=weights)
    for use in (penalty.value, lambda x: penalty.prox(x, np.ones(4)), lambda x: penalty.bands(len(x))):
        with pytest.raises(ValueError, match="but there are 4 slices: give 3 weights"):
            use(np.ones((4, 2)))


@pytest.mark.parametrize("wrong", [{"weights": (1.0, -1.0)}, {"weights": (np.nan,)}, {"closing": -1.0}])
def test_weights_are_not_negative(wrong):
    with pytest.raises(ValueError, match="TemporalSmoothness"):
        TemporalSmoothness(1.0, **wrong)


@SETTINGS
@given(seeds, shapes)
def test_nonnegative_prox_clips(seed, shape):
    v, rho = draw(seed, shape)
    x, _ = NonNegative().prox(v, rho)
    assert x.min() >= 0
    np.testing.assert_array_equal(x[v > 0], v[v > 0])
    assert not x[v <= 0].any()
    assert NonNegative().value(x) == 0.0
    assert NonNegative().value(v) == (0.0 if v.min() >= 0 else math.inf)


@SETTINGS
@given(seeds, shapes)
def test_static_prox_is_the_weighted_mean(seed, shape):
    v, rho = draw(seed, shape)
    x, _ = Static().prox(v, rho)
    np.testing.assert_allclose(x, np.broadcast_to(np.average(v, axis=0, weights=rho), v.shape), atol=1e-12)
    assert Static().value(x) == 0.0
    assert Static().value(v) == (0.0 if len(v) == 1 else math.inf)
    x[0] += 1  # the slices are separate memory
    assert Static().value(x) == (0.0 if len(v) == 1 else math.inf)


@SETTINGS
@given(seeds, pattern_shapes)
def test_parafac2_prox_lands_on_the_set(seed, shape):
    v, rho = draw(seed, shape)
    x, delta = Parafac2().prox(v, rho)
    assert delta.shape == (shape[2], shape[2])
    np.testing.assert_allclose(cross_products(x), np.broadcast_to(delta.T @ delta, (len(v), *delta.shape)))
    assert Parafac2().value(x) == 0.0
    if len(v) > 1:
        assert Parafac2().value(v) == math.inf


@SETTINGS
@given(seeds, pattern_shapes)
def test_parafac2_carried_state_is_never_worse_than_the_point_before(seed, shape):
    v, rho = draw(seed, shape)
    x, delta = Parafac2().prox(v, rho)
    for step in range(5):
        v = v + 0.1 * step * draw(seed + step, shape)[0]  # v moves, as it does in ADMM
        before = x
        x, delta = Parafac2().prox(v, rho, delta)
        assert distance(x, v, rho) <= distance(before, v, rho) * (1 + 1e-12) + 1e-12


@SETTINGS
@given(seeds, pattern_shapes)
def test_parafac2_leaves_points_of_the_set_alone(seed, shape):
    v, rho = draw(seed, shape)
    on_the_set, _ = Parafac2().prox(v, rho)
    x, delta = Parafac2().prox(on_the_set, rho)  # even at the first call
    np.testing.assert_allclose(x, on_the_set, atol=1e-7)
    again, _ = Parafac2().prox(on_the_set, rho, delta)
    np.testing.assert_allclose(again, on_the_set, atol=1e-7)


@SETTINGS
@given(seeds, pattern_shapes)
def test_parafac2_given_state_is_honoured(seed, shape):
    v, rho = draw(seed, shape)
    delta = np.random.default_rng(seed + 1).standard_normal((shape[2], shape[2]))
    x, delta_new = Parafac2().prox(v, rho, delta)
    bases = []
    for v_k in v:  # the inverse square root way to the polar factor, unlike the one in use
        s = v_k @ delta.T
        values, vectors = np.linalg.eigh(s.T @ s)
        assume(values[0] > 1e-4)
        bases.append(s @ vectors @ np.diag(values**-0.5) @ vectors.T)
    expected = sum(r * p.T @ v_k for r, p, v_k in zip(rho, bases, v)) / rho.sum()
    np.testing.assert_allclose(delta_new, expected, atol=1e-7)
    np.testing.assert_allclose(x, np.stack([p @ expected for p in bases]), atol=1e-7)


@pytest.mark.parametrize("state", [None, np.eye(3)])
def test_parafac2_vanished_components_stay_zero(state):
    v, rho = draw(0, (4, 6, 3))
    v[:, :, 1] = 0
    x, delta = Parafac2().prox(v, rho, state)
    for _ in range(3):
        x, delta = Parafac2().prox(v, rho, delta)
    assert np.isfinite(x).all()
    assert not x[:, :, 1].any()
    assert not delta[:, 1].any()
    assert Parafac2().value(x) == 0.0


def test_parafac2_of_nothing_is_nothing():
    x, delta = Parafac2().prox(np.zeros((3, 4, 2)), np.ones(3))
    assert not x.any()
    assert not delta.any()
    assert Parafac2().value(x) == 0.0


@pytest.mark.parametrize(
    "deficient", [np.zeros((6, 3)), np.ones((6, 3)), np.outer(np.arange(6.0), [1, 0, 2])]
)
def test_parafac2_slices_without_full_rank(deficient):
    v, rho = draw(1, (4, 6, 3))
    v[2] = deficient
    x, delta = Parafac2().prox(v, rho)
    for _ in range(5):
        assert Parafac2().value(x) == 0.0
        x, delta = Parafac2().prox(v, rho, delta)


@pytest.mark.parametrize("size", [1e-200, 1e-20, 1e20, 1e200])
def test_parafac2_at_any_size(size):
    v, rho = draw(2, (4, 6, 3))
    x, delta = Parafac2().prox(v, rho)
    large, delta_large = Parafac2().prox(size * v, rho)
    assert Parafac2().value(large) == 0.0
    np.testing.assert_allclose(large / size, x, atol=1e-12)
    np.testing.assert_allclose(delta_large / size, delta, atol=1e-12)


@pytest.mark.parametrize("violation", [1e-8, 1e-4])
def test_feasibility_is_judged_to_a_relative_tolerance(violation):
    x, _ = Parafac2().prox(*draw(4, (3, 5, 2)))
    expected = 0.0 if violation < 1e-6 else math.inf
    assert Parafac2().value(1e-9 * x * np.reshape([1, 1, 1 + violation], (3, 1, 1))) == expected
    assert Static().value(np.full((2, 3), 1e-9) * [[1], [1 + violation]]) == expected
    assert NonNegative().value(np.array([[1e-9], [-1e-9 * violation]])) == expected


@pytest.mark.parametrize("penalty", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept_and_results_agree_between_precisions(penalty, dtype):
    v, rho = draw(5, (4, 6, 3))
    x, _ = penalty.prox(v.astype(dtype), rho)
    assert x.dtype == dtype
    np.testing.assert_allclose(x, penalty.prox(v, rho)[0], atol=1e-5)
    assert math.isfinite(penalty.value(x))


@pytest.mark.parametrize("penalty", ALL, ids=repr)
def test_a_result_shares_no_memory_with_the_inputs(penalty):
    v, rho = draw(6, (4, 6, 3))
    v = np.abs(v)
    _, state = penalty.prox(v, rho)
    x, new_state = penalty.prox(v, rho, state)
    assert not np.shares_memory(x, v)
    assert x.flags.writeable
    assert state is None or not np.shares_memory(state, new_state)


@pytest.mark.parametrize(
    "make", [Ridge, TemporalSmoothness, lambda bad: TemporalSmoothness(1.0, epsilon=bad)]
)
@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf])
def test_impossible_strengths_are_refused(make, bad):
    with pytest.raises(ValueError, match=r"must be finite and at least 0, got (-1e-09|nan|inf)"):
        make(bad)


@pytest.mark.parametrize("bad", ["1", None, True])
def test_strengths_that_are_no_numbers_are_refused(bad):
    with pytest.raises(TypeError, match="strength must be a number, got"):
        Ridge(bad)


def test_penalties_are_frozen_and_equal_by_their_parameters():
    assert TemporalSmoothness(2) == TemporalSmoothness(2.0, epsilon=1e-6)
    penalty = Ridge(1.0)
    with pytest.raises(FrozenInstanceError):
        penalty.strength = 2.0


def test_parafac2_refuses_what_is_not_a_stack_of_tall_patterns():
    with pytest.raises(ValueError, match=r"patterns of shape \(K, J, R\), got shape \(4, 3\)"):
        Parafac2().prox(np.ones((4, 3)), np.ones(4))
    with pytest.raises(ValueError, match="J = 2 and R = 3: use a rank of at most 2"):
        Parafac2().prox(np.ones((4, 2, 3)), np.ones(4))
    with pytest.raises(ValueError, match="got J = 2 and R = 3"):
        Parafac2().value(np.ones((4, 2, 3)))


def test_parafac2_refuses_a_state_that_is_no_delta():
    v, rho = draw(7, (4, 6, 3))
    with pytest.raises(ValueError, match=r"\(3, 3\) for R = 3, got shape \(2, 2\)"):
        Parafac2().prox(v, rho, np.eye(2))
    with pytest.raises(ValueError, match="NaN or infinity: use state=None"):
        Parafac2().prox(v, rho, np.full((3, 3), np.nan))


@SETTINGS
@given(pattern_shapes, seeds, st.floats(1e-3, 1e3))
def test_soft_parafac2_is_the_distance_from_the_set(shape, seed, strength):
    v = np.random.default_rng(seed).standard_normal(shape)
    soft = SoftParafac2(strength)
    on_the_set, _ = Parafac2().prox(v, np.ones(len(v)))
    assert soft.value(on_the_set) <= 1e-12 * strength * np.sum(on_the_set**2)
    assert soft.value(v) <= strength * np.sum((v - on_the_set) ** 2) * (1 + 1e-12)


@SETTINGS
@given(pattern_shapes, seeds)
def test_soft_parafac2_goes_from_nothing_to_the_constraint(shape, seed):
    rng = np.random.default_rng(seed)
    v, rho = rng.standard_normal(shape), rng.uniform(0.5, 2.0, shape[0])
    hard, _ = Parafac2().prox(v, rho)
    np.testing.assert_array_equal(SoftParafac2(0.0).prox(v, rho)[0], v)
    np.testing.assert_allclose(SoftParafac2(1e12).prox(v, rho)[0], hard, atol=1e-9)


def test_soft_parafac2_weighs_slices_by_the_time_they_stand_for():
    on_clock = SoftParafac2(2.0).on_clock(np.array([0.0, 1.0, 3.0, 4.0]), None)
    np.testing.assert_allclose(on_clock.distance_weights(4), [2.0, 3.0, 3.0, 2.0])
    assert on_clock.on_clock(np.arange(4.0), None) == on_clock
    with pytest.raises(ValueError, match=r"4 weights.*3 slices"):
        on_clock.value(np.zeros((3, 4, 2)))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "1", True])
def test_soft_parafac2_refuses_strengths_that_are_none(bad):
    with pytest.raises((TypeError, ValueError), match="SoftParafac2: strength must be"):
        SoftParafac2(bad)
