import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.inference.moves import extremes
from tparafac2.inference.spread import Factors, Spread, matched

RNG = np.random.default_rng(0)
MODEL = Factors.of(RNG.normal(size=(8, 3)), RNG.normal(size=(4, 6, 3)), RNG.random((4, 3)) + 0.5)


@given(st.permutations(range(3)), st.lists(st.sampled_from([-1.0, 1.0]), min_size=3, max_size=3))
def test_order_and_signs_do_not_matter(order, signs):
    other = Factors.of(MODEL.A[:, order] * signs, MODEL.B[:, :, order] * signs, 7.0 * MODEL.C[:, order])
    same, found = matched(other, MODEL)
    assert found.all()
    for one, wanted in zip(same, MODEL):
        np.testing.assert_allclose(one, wanted, atol=1e-12)


def test_what_is_something_else_is_not_found():
    B = MODEL.B.copy()
    B[:, :, 1] = np.linalg.qr(np.column_stack([*MODEL.B[0].T, RNG.normal(size=6)]))[0][:, 3]
    assert matched(Factors.of(MODEL.A, B, MODEL.C), MODEL)[1].tolist() == [True, False, True]


def spread_of(draws, centre, model=None):
    owners = {"x": np.arange(centre.shape[-1])}
    spread = Spread({"x": centre}, {"x": centre if model is None else model}, owners)
    for draw in draws:
        spread.add({"x": draw}, np.ones(centre.shape[-1], dtype=bool))
    return spread


def test_a_band_is_as_wide_as_the_normal_distribution_says():
    draws = RNG.normal(size=(400, 5, 2))
    band = spread_of(draws, np.zeros((5, 2))).band("x", 0.95)
    np.testing.assert_allclose(band.width, 2 * 1.959964 * draws.std(axis=0, ddof=1), rtol=1e-6)


def test_how_far_smoothness_moved_the_model_counts():
    draws = RNG.normal(size=(50, 1))
    band = spread_of(draws, np.zeros(1), np.array([3.0])).band("x", 0.95)
    expected = 1.959964 * np.sqrt(draws.var(ddof=1) + 9.0)
    assert band.upper[0] == pytest.approx(expected, rel=1e-6)


def test_at_a_bound_a_band_has_one_side_and_none_leaves_it():
    draws = np.abs(RNG.normal(size=(100, 2)))
    band = spread_of(draws, np.array([0.0, 0.5])).band("x", 0.95, bound=0.0, most=1.0)
    assert band.lower.tolist() == [0.0, 0.0]
    assert band.upper[0] == pytest.approx(min(1.0, 1.644854 * np.sqrt((draws[:, 0] ** 2).mean())), rel=1e-6)
    assert band.upper[1] <= 1.0


def test_refits_without_a_component_do_not_count_for_it():
    spread = Spread({"x": np.zeros(2)}, {"x": np.zeros(2)}, {"x": np.arange(2)})
    for n in range(30):
        spread.add({"x": np.array([(-1.0) ** n, 1e6 * (n == 3)])}, np.array([True, n != 3]))
    band = spread.band("x", 0.95)
    assert band.upper[0] > 1.9
    assert band.upper[1] == 0.0


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8))
def test_the_largest_rise_is_the_largest_of_all_pairs(course):
    known = np.array(course)[:, None]
    (begin, end), (top, bottom) = (places[:, 0] for places in extremes(known))
    gains = [course[l] - course[k] for k in range(len(course)) for l in range(k, len(course))]
    assert begin <= end
    assert top <= bottom
    assert course[end] - course[begin] == pytest.approx(max(gains), abs=1e-12)
    assert course[bottom] - course[top] == pytest.approx(min(gains), abs=1e-12)


def test_what_is_not_known_neither_rises_nor_falls():
    rise, fall = extremes(np.array([[np.nan], [0.2], [0.7], [np.nan]]))
    assert rise.ravel().tolist() == [1, 2]
    assert fall[0, 0] == fall[1, 0]
