"""Which columns are shown, and in which order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tparafac2.plots.ordering import by_time, largest_columns

PATTERNS = arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=st.floats(-1, 1))


@given(PATTERNS, st.integers(1, 10))
def test_none_that_is_left_out_is_larger(known, n):
    chosen = largest_columns(known, n, most=3)
    assert len(chosen) == min(n, known.shape[1])
    size = np.linalg.norm(known, axis=0)
    assert (np.delete(size, chosen) <= size[chosen].min() + 1e-12).all()


def test_by_default_columns_that_matter():
    known = np.array([[1.0, 0.01, 0.5, 0.06]])
    assert largest_columns(known, None, most=10).tolist() == [0, 2, 3]
    assert largest_columns(known, None, most=2).tolist() == [0, 2]
    assert largest_columns(known, 4, most=2).tolist() == [0, 2, 3, 1]


def test_what_is_not_known_does_not_count():
    known = np.array([[np.nan, 0.1], [np.nan, 0.1]])
    assert largest_columns(known, 1, most=9).tolist() == [1]
    assert largest_columns(np.full((2, 3), np.nan), None, most=9).tolist() == [0, 1, 2]


def test_columns_are_in_the_order_in_which_they_matter():
    times = np.arange(20)[:, np.newaxis]
    peaks = np.array([12, 3, 17, 8])
    known = np.exp(-((times - peaks) ** 2) / 8) * np.array([1, -1, 1, -1])
    assert by_time(known, np.arange(4)).tolist() == [1, 3, 0, 2]


@given(PATTERNS)
def test_nothing_is_lost(known):
    columns = np.arange(known.shape[1])
    assert sorted(by_time(known, columns)) == columns.tolist()


def test_columns_alike_stay_as_they_were():
    known = np.tile([0.3, 0.1, 0.7], (7, 1))
    assert by_time(known, np.array([2, 0, 1])).tolist() == [2, 0, 1]
