"""What rises and what falls, by how much and when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tparafac2.plots.moves import Move, largest_falls, largest_rises

COURSES = arrays(
    float,
    st.tuples(st.integers(1, 7), st.integers(1, 4)),
    elements=st.one_of(st.just(np.nan), st.integers(-8, 8).map(float)),
)


def rise_by_trying(course):
    pairs = [
        (course[late] - course[early])
        for late in range(len(course))
        for early in range(late)
        if not np.isnan(course[late] - course[early])
    ]
    return max(pairs, default=0.0)


@given(COURSES)
def test_rises_are_the_largest_from_any_time_to_any_later_one(known):
    found = {move.column: move.change for move in largest_rises(known, 99)}
    for j, course in enumerate(known.T):
        assert found.get(j, 0.0) == max(rise_by_trying(course), 0.0)


@given(COURSES)
def test_falls_are_rises_backwards_in_time(known):
    rises = {move.column: move.change for move in largest_rises(known[::-1], 99)}
    falls = {move.column: -move.change for move in largest_falls(known, 99)}
    assert rises == falls


@given(COURSES, st.booleans())
def test_when_is_within_the_known_times_and_holds_most_of_the_change(known, goes_round):
    for move in largest_rises(known, 99, goes_round=goes_round):
        course = known[:, move.column]
        assert goes_round or move.begin < move.end
        assert course[move.end] - course[move.begin] >= 0.8 * move.change - 1e-12


@given(COURSES)
def test_where_time_goes_round_the_whole_range_is_risen_and_fallen(known):
    for move in largest_rises(known, 99, goes_round=True):
        course = known[:, move.column]
        assert move.change == np.nanmax(course) - np.nanmin(course)


def test_a_column_that_comes_and_goes_is_in_both_lists():
    known = np.array([0.0, 0.0, 0.05, 0.5, 1.0, 0.98, 0.5, 0.1, 0.1])[:, np.newaxis]
    assert largest_rises(known, 5) == [Move(0, 1.0, 2, 4)]
    assert largest_falls(known, 5) == [Move(0, pytest.approx(-0.9), 5, 7)]


def test_over_midnight():
    known = np.array([1.0, 0.2, 0.0, 0.1])[:, np.newaxis]
    (rise,) = largest_rises(known, 1, goes_round=True)
    assert (rise.change, rise.begin, rise.end) == (1.0, 3, 0)


def test_the_largest_come_first_and_no_more_than_asked():
    known = np.array([[0.0, 0.0, 0.0], [0.1, 0.3, 0.2]])
    assert [move.column for move in largest_rises(known, 2)] == [1, 2]


def test_what_does_not_move_is_not_there():
    assert largest_rises(np.ones((4, 3)), 3) == []
    assert largest_falls(np.full((4, 3), np.nan), 3) == []
