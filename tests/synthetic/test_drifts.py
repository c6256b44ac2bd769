"""Each drift has the property that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.synthetic import Gradual, Incremental, Reoccurring, Sudden

INITIAL = np.array([True, True, True, False, False, False, False])
FINAL = np.array([False, False, False, True, True, True, False])
NEITHER = ~(INITIAL | FINAL)

moments = st.tuples(st.integers(2, 40), st.integers(0, 2**32)).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), st.integers(1, pair[0] - 1), st.just(pair[1]))
)


def activity(drift, n_times=20, seed=0):
    return drift.activity(INITIAL, FINAL, n_times, np.random.default_rng(seed))


def states(values):
    """Return where the final set is active, having checked that elsewhere the initial one is."""
    final = (values == FINAL).all(axis=1)
    assert np.array_equal(final, ~(values == INITIAL).all(axis=1))
    return final


@settings(max_examples=50)
@given(moments)
def test_sudden_switches_once_and_for_good(moment):
    n_times, start, seed = moment
    assert np.array_equal(states(activity(Sudden(start), n_times, seed)), np.arange(n_times) >= start)


@settings(max_examples=50)
@given(moments)
def test_gradual_begins_with_the_initial_set_and_keeps_the_final_one_from_start_on(moment):
    n_times, start, seed = moment
    final = states(activity(Gradual(start), n_times, seed))
    assert not final[0]
    assert final[start:].all()


def test_gradual_wavers_with_equal_chances_before_start():
    final = states(activity(Gradual(start=4_000), n_times=4_001))[1:4_000]
    assert abs(final.mean() - 0.5) < 0.05
    assert abs((final[1:] != final[:-1]).mean() - 0.5) < 0.05


def test_gradual_that_never_flips_is_sudden():
    assert np.array_equal(activity(Gradual(start=7, flip=0.0)), activity(Sudden(start=7)))


@settings(max_examples=50)
@given(moments)
def test_reoccurring_changes_sides_every_half_period(moment):
    n_times, half_period, seed = moment
    final = states(activity(Reoccurring(half_period), n_times, seed))
    assert not final[:half_period].any()
    assert np.array_equal(final[half_period:], ~final[:-half_period])


@st.composite
def incremental(draw):
    n_times = draw(st.integers(2, 40))
    duration = draw(st.integers(1, n_times - 1))
    start = draw(st.integers(1, n_times - duration))
    rate, steepness = draw(st.floats(0.01, 1)), draw(st.floats(0.1, 1e3))
    return Incremental(start, rate, duration, steepness), n_times, draw(st.integers(0, 2**32))


@settings(max_examples=100)
@given(incremental())
def test_incremental_goes_monotonically_from_the_initial_to_the_final_set(case):
    drift, n_times, seed = case
    values = activity(drift, n_times, seed)
    assert np.array_equal(values[: drift.start], np.tile(INITIAL, (drift.start, 1)))
    assert np.array_equal(values[-1], FINAL)
    steps = np.diff(values, axis=0)
    assert (steps[:, FINAL] >= 0).all()
    assert (steps[:, INITIAL] <= 0).all()
    assert not values[:, NEITHER].any()
    assert values.any(axis=1).all()


@settings(max_examples=50)
@given(incremental())
def test_incremental_words_follow_one_sigmoid(case):
    drift, n_times, seed = case
    values = activity(drift, n_times, seed)
    progress = np.arange(drift.duration + 1) / drift.duration
    logistic = 1 / (1 + np.exp(-drift.steepness * (progress - 0.5)))
    sigmoid = (logistic - logistic[0]) / (logistic[-1] - logistic[0])
    for word in np.flatnonzero(INITIAL | FINAL):
        grown = values[:, word] if FINAL[word] else 1 - values[:, word]
        possible = [
            np.concatenate([np.zeros(begin - 1), sigmoid, np.ones(n_times - begin - drift.duration)])
            for begin in range(drift.start, n_times - drift.duration + 1)
        ]
        assert min(np.abs(grown - curve).max() for curve in possible) < 1e-9


def test_incremental_starts_at_start_and_takes_one_word_at_a_time_when_the_rate_is_low():
    values = activity(Incremental(start=3, rate=0.1, duration=4), n_times=60, seed=1)
    changed = (values != values[0]).any(axis=1)
    assert changed.argmax() == 3
    firsts = [(values[:, word] != values[0, word]).argmax() for word in np.flatnonzero(INITIAL | FINAL)]
    assert len(set(firsts)) > 3


def test_incremental_keeps_words_that_are_both_initial_and_final():
    both = np.array([True, True, False])
    values = Incremental(start=1, duration=2).activity(
        both, np.array([False, True, True]), 9, np.random.default_rng(0)
    )
    assert (values[:, 1] == 1).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Sudden(0), ValueError, "start must be at least 1, got 0"),
        (lambda: Sudden(2.5), TypeError, "start must be a whole number, got 2.5"),
        (lambda: Sudden(True), TypeError, "whole number"),
        (lambda: Gradual(2, flip=1.5), ValueError, "flip must be a finite number between 0 and 1, got 1.5"),
        (lambda: Gradual(2, flip="often"), TypeError, "flip must be a number, got 'often'"),
        (lambda: Reoccurring(-1), ValueError, "half_period"),
        (lambda: Incremental(1, rate=0), ValueError, "rate must be a finite number above 0, got 0"),
        (lambda: Incremental(1, rate=1.1), ValueError, "rate"),
        (lambda: Incremental(1, duration=0), ValueError, "duration"),
        (lambda: Incremental(1, steepness=float("nan")), ValueError, "steepness"),
        (lambda: Incremental(1, steepness=None), TypeError, "steepness must be a number, got None"),
        (lambda: activity(Sudden(20)), ValueError, "start=20 lies outside a series of 20 slices"),
        (lambda: activity(Gradual(20)), ValueError, "start=20"),
        (lambda: activity(Reoccurring(20)), ValueError, "half_period=20"),
        (lambda: activity(Incremental(16, duration=5)), ValueError, "choose start <= 15"),
    ],
)
def test_impossible_drifts_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
