"""The rows in which a component is strongest, and the columns that move most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import same_color

from tparafac2.data import Labels
from tparafac2.plots import loadings, movers
from tparafac2.plots.bars import Move, largest_falls, largest_rises
from tparafac2.plots.style import FALL, RISE
from tparafac2.result import Result


def of_loadings(A, **changes):
    A = np.asarray(A, dtype=float)
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    R = A.shape[1]
    return Result(model="M", A=A, B=np.ones((2, 3, R)), C=np.ones((2, R)), **facts, **changes)


def two(ax):
    return [
        (label.get_text(), round(float(bar.get_width()), 3))
        for label, bar in zip(ax.get_yticklabels(), ax.patches)
    ]


def test_bars_go_from_the_most_positive_to_the_most_negative():
    labels = Labels(rows=["Ann", "Bo", "Cy", "Di"], names={"rows": "author"})
    ax = loadings(of_loadings([[0.0], [-6.0], [8.0], [0.0]], labels=labels), n=2)
    assert two(ax) == [("Cy", 0.8), ("Bo", -0.6)]
    assert ax.get_ylabel() == "author (the 2 largest of 4)"
    assert ax.yaxis_inverted()


def test_the_component_is_the_one_asked_for():
    ax = loadings(of_loadings([[1, 0], [0, 2]]), 2)
    assert two(ax) == [("1", 1.0), ("0", 0.0)]
    assert (ax.get_title("left"), ax.get_ylabel()) == ("Component 2", "Row")


def test_a_component_that_vanished_says_so():
    ax = loadings(of_loadings(np.zeros((3, 1))))
    assert "vanished" in ax.texts[0].get_text()
    assert not ax.patches


@pytest.mark.parametrize("n", [0, "many"])
def test_other_numbers_of_rows_are_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number"):
        loadings(of_loadings(np.ones((3, 1))), 1, n)


B = np.zeros((4, 3, 1))
B[:, 0, 0] = [0.6, 0.6, 0.8, 0.8]
B[:, 1, 0] = [0.8, 0.8, 0.0, 0.0]
B[:, 2, 0] = [0.0, 0.0, 0.6, 0.6]


def a_result(**changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    labels = Labels(columns=["ash", "elm", "oak"], time=[1990, 1995, 2000, 2005], names={"time": "year"})
    base = {"model": "M", "A": np.ones((2, 1)), "B": B, "C": np.ones((4, 1)), "labels": labels}
    return Result(**{**base, **facts, **changes})


def rows(ax):
    return [
        (label.get_text(), round(float(bar.get_width()), 3), text.get_text())
        for label, bar, text in zip(ax.get_yticklabels(), ax.patches, ax.texts)
    ]


def test_what_rises_what_falls_and_when():
    assert rows(movers(a_result())) == [
        ("oak", 0.6, "1995 → 2000"),
        ("ash", 0.2, "1995 → 2000"),
        ("elm", -0.8, "1995 → 2000"),
    ]


def test_rises_and_falls_have_their_colours():
    colours = [bar.get_facecolor() for bar in movers(a_result()).patches]
    assert [same_color(colour, RISE) for colour in colours] == [True, True, False]
    assert same_color(colours[-1], FALL)


def test_no_more_than_asked():
    assert [name for name, _, _ in rows(movers(a_result(), 1, 1))] == ["oak", "elm"]


def test_times_that_are_not_determined_do_not_count():
    undetermined = np.array([[False], [False], [True], [True]])
    ax = movers(a_result(undetermined=undetermined))
    assert not ax.patches
    assert ax.texts[0].get_text() == "No column moves."


def test_rises_come_first_from_top_to_bottom():
    ax = movers(a_result())
    assert ax.yaxis_inverted()
    assert np.all(np.diff(ax.get_yticks()) > 0)


def test_time_can_go_round():
    turned = a_result(B=np.roll(B, 1, axis=0), times=[0.0, 6.0, 12.0, 18.0], period=24.0)
    assert ("oak", 0.6, "1995 → 2000") in rows(movers(a_result()))
    assert {name for name, change, _ in rows(movers(turned)) if change > 0} == {"ash", "elm", "oak"}


def test_slices_with_columns_of_their_own_are_refused():
    with pytest.raises(ValueError, match="movers follows columns in time"):
        movers(a_result(B=list(B)))


@pytest.mark.parametrize("n", [0, 1.5])
def test_other_numbers_are_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number, at least 1"):
        movers(a_result(), 1, n)


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
