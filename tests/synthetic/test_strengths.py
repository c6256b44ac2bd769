"""Each strength has the property that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.synthetic import Constant, Decreasing, Increasing, Periodic, Weakened

seeds = st.integers(0, 2**32)


def values(strength, n_times=20, seed=0):
    return strength.values(n_times, np.random.default_rng(seed))


@settings(max_examples=50)
@given(st.sampled_from([Constant, Increasing, Decreasing, Periodic]), st.floats(0.1, 20), seeds)
def test_strengths_are_positive(kind, level, seed):
    result = values(kind(level=level), 50, seed)
    assert result.shape == (50,)
    assert (result > 0).all()


def test_constant_fluctuates_around_its_level_without_trend():
    result = values(Constant(level=8, jitter=0.25), 10_000)
    assert abs(result[:5_000].mean() - 8) < 0.02
    assert abs(result[5_000:].mean() - 8) < 0.02
    assert abs(result.std() - 0.25) < 0.02


@settings(max_examples=30)
@given(st.integers(1, 19), seeds)
def test_increasing_rests_then_grows(start, seed):
    result = values(Increasing(level=5, start=start), seed=seed)
    assert (result[:start] == 5).all()
    assert (np.diff(result[start - 1 :]) > 0).all()


@settings(max_examples=30)
@given(st.integers(1, 19), seeds)
def test_decreasing_rests_then_falls_to_its_floor(start, seed):
    result = values(Decreasing(level=15, start=start, floor=2), seed=seed)
    assert (result[:start] == 15).all()
    falling = np.diff(result[start - 1 :])
    assert ((falling < 0) | (result[start:] == 2)).all()
    assert result.min() >= 2


def test_decreasing_without_a_floor_of_its_own_ends_just_above_zero():
    assert values(Decreasing(level=3, start=1))[-1] == 0.01


@settings(max_examples=30)
@given(st.integers(1, 19), seeds)
def test_periodic_rises_and_falls_in_turn(half_period, seed):
    result = values(Periodic(level=100, half_period=half_period), seed=seed)
    rising = np.diff(result) > 0
    assert np.array_equal(rising, np.arange(19) // half_period % 2 == 0)


def test_step_sizes_are_as_asked():
    steps = np.diff(values(Increasing(level=1, start=1, step=3, spread=0.5), 5_000))
    assert abs(steps.mean() - 3) < 0.05
    assert abs(steps.std() - 0.5) < 0.05


def test_weakened_changes_nothing_outside_its_window():
    base = Periodic(level=12)
    result = values(Weakened(base, start=3, duration=4))
    assert (result[3:7] == 0.01).all()
    outside = np.r_[0:3, 7:20]
    assert np.array_equal(result[outside], values(base)[outside])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Constant(level=0), ValueError, "level must be a finite number above 0, got 0"),
        (lambda: Constant(jitter=-1), ValueError, "jitter must be a finite number at least 0, got -1"),
        (lambda: Constant(floor=0), ValueError, "floor"),
        (lambda: Increasing(step=-1), ValueError, "step"),
        (lambda: Increasing(start=0), ValueError, "start"),
        (lambda: Decreasing(spread=float("inf")), ValueError, "spread"),
        (lambda: Periodic(half_period=0), ValueError, "half_period"),
        (lambda: Weakened("strong", 0, 2), TypeError, r"values\(n_times, rng\), got 'strong'"),
        (lambda: Weakened(Constant(), -1, 2), ValueError, "start must be at least 0"),
        (
            lambda: values(Weakened(Constant(), 18, 3)),
            ValueError,
            "3 weak slices from slice 18 on do not fit",
        ),
        (lambda: values(Increasing(start=20)), ValueError, "start=20 lies outside"),
        (lambda: values(Decreasing(start=20)), ValueError, "start=20 lies outside"),
        (lambda: values(Periodic(half_period=20)), ValueError, "half_period=20 lies outside"),
    ],
)
def test_impossible_strengths_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
