"""Straight lines between what is known at some times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import lines_through

QUARTERS = st.lists(st.integers(0, 95), min_size=1, max_size=8, unique=True)
HOURS = QUARTERS.map(lambda found: np.array(found) / 4)
SEEDS = st.integers(0, 1000)


@given(HOURS, SEEDS, st.lists(st.floats(-10, 40), min_size=1, max_size=5))
def test_lines_are_those_of_numpy_in_every_entry(times, seed, wanted):
    values = np.random.default_rng(seed).normal(size=(len(times), 2, 3))
    order = np.argsort(times)
    found = lines_through(times).at(values, np.array(wanted))
    for entry in np.ndindex(2, 3):
        expected = np.interp(wanted, times[order], values[order][(..., *entry)])
        np.testing.assert_allclose(found[(..., *entry)], expected, rtol=0, atol=1e-12)


@given(HOURS, SEEDS, st.lists(st.floats(0, 23.99), min_size=1, max_size=5))
def test_periodic_time_goes_from_the_last_to_the_first(times, seed, wanted):
    values = np.random.default_rng(seed).normal(size=len(times))
    found = lines_through(times, period=24.0).at(values, np.array(wanted))
    np.testing.assert_allclose(found, np.interp(wanted, times, values, period=24.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("period", [None, 24.0])
@given(times=HOURS, seed=SEEDS)
def test_at_a_known_time_is_exactly_what_is_known(times, seed, period):
    values = np.random.default_rng(seed).normal(size=(len(times), 2))
    values[0, 0] = np.inf  # of a fit that went wrong: its neighbours are not touched
    np.testing.assert_array_equal(lines_through(times, period).at(values, times), values)
