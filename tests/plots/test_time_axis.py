"""Slices along an axis of time."""

import datetime
from itertools import pairwise

import matplotlib.dates
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure

from tparafac2.data import Labels
from tparafac2.plots.time_axis import (
    Stretches,
    TimeAxis,
    draw_time,
    hatch_spans,
    runs,
    time_axis,
    time_stretches,
)
from tparafac2.result import Result


def a_result(K=3, time=None, **changes):
    return Result(
        model="M", A=np.ones((2, 1)), B=np.ones((K, 2, 1)), C=np.ones((K, 1)), objective=0.0,
        explained_variance=1.0, status="", converged=True, n_iter=1,
        labels=Labels(time=time, names={"time": "when"}), **changes,
    )  # fmt: skip


def an_axis(positions, kind="numbers", labels=None):
    positions = np.asarray(positions, dtype=float)
    return TimeAxis(
        np.arange(len(positions)), positions, labels or [f"{p:g}" for p in positions], kind, "when"
    )


def ticks(axis, width=5.0):
    ax = Figure(figsize=(width, 3)).add_subplot()
    ax.plot(axis.positions, axis.positions)
    draw_time(ax, axis)
    ax.figure.draw_without_rendering()
    return ax


# --- where the slices are -----------------------------------------------------------------------------------


def test_without_times_slices_are_counted_from_zero():
    axis = time_axis(a_result())
    assert (axis.positions.tolist(), axis.labels, axis.kind, axis.name) == (
        [0, 1, 2],
        list("012"),
        "numbers",
        "when",
    )


def test_numbers_are_at_their_true_places_in_order():
    axis = time_axis(a_result(time=[30, 0, 10]))
    assert axis.order.tolist() == [1, 2, 0]
    assert axis.positions.tolist() == [0, 10, 30]
    assert axis.labels == ["0", "10", "30"]
    assert not axis.even


def test_dates_are_where_matplotlib_has_them():
    dates = np.array(["2020-03-01", "2019-12-31", "2020-01-15"], dtype="datetime64[D]")
    axis = time_axis(a_result(time=dates))
    assert axis.kind == "dates"
    assert axis.labels == ["2019-12-31", "2020-01-15", "2020-03-01"]
    np.testing.assert_allclose(axis.positions, matplotlib.dates.date2num(np.sort(dates)))


def test_dates_are_right_whatever_matplotlib_counts_from():
    from unittest import mock

    with mock.patch("matplotlib.dates._epoch", "2000-01-01"):
        axis = time_axis(a_result(time=np.array(["2000-01-02", "2000-01-03", "2000-01-04"], "datetime64[D]")))
        assert axis.positions.tolist() == [1, 2, 3]


def test_dates_without_labels():
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
    assert time_axis(a_result(time=days, times=[18262.0, 18263.0, 18264.0])).kind == "dates"


def test_dates_beyond_the_calendar_are_names_at_their_places():
    far = np.array(["12000-01-01", "12001-01-01", "12002-01-01"], dtype="datetime64[D]")
    axis = time_axis(a_result(time=far))
    assert (axis.kind, axis.labels[0]) == ("names", "12000-01-01")


@pytest.mark.parametrize(
    "years", [("0400", "2000", "2001"), ("2000", "7000", "9000"), ("0002",), ("0095",), ("9996",)]
)
def test_dates_at_the_ends_of_the_calendar_can_be_drawn(years):
    ticks(time_axis(a_result(len(years), np.array([f"{year}-01-01" for year in years], "datetime64[D]"))))


def test_names_are_evenly_spaced_unless_times_are_known():
    names = ["before", "during", "after"]
    assert time_axis(a_result(time=names)).positions.tolist() == [0, 1, 2]
    known = time_axis(a_result(time=names, times=[0.0, 1.0, 10.0]))
    assert (known.positions.tolist(), known.labels, known.kind) == ([0, 1, 10], names, "names")


def test_numbers_that_are_not_the_times_are_names():
    axis = time_axis(a_result(time=[2001, 2002, 2003], times=[0.0, 1.0, 5.0]))
    assert (axis.kind, axis.labels) == ("names", ["2001", "2002", "2003"])


@pytest.mark.parametrize("labels", [[1, 1, 2], [1.0, np.nan, 2.0]], ids=["twice", "unknown"])
def test_numbers_that_do_not_tell_slices_apart_are_names(labels):
    axis = time_axis(a_result(time=labels))
    assert (axis.positions.tolist(), axis.kind) == ([0, 1, 2], "names")


# --- the stretches they stand for ---------------------------------------------------------------------------


def test_even_slices_touch():
    cells = time_stretches(an_axis([1, 2, 3]))
    assert cells.edges.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert cells.slices.tolist() == [0, 1, 2]


def test_one_slice_has_a_place():
    assert time_stretches(an_axis([5])).edges.tolist() == [4.5, 5.5]


def test_a_long_gap_stays_empty():
    cells = time_stretches(an_axis([0, 1, 2, 20, 21]))
    assert cells.slices.tolist() == [0, 1, 2, -1, 3, 4]
    assert cells.edges.tolist() == [-0.5, 0.5, 1.5, 3.5, 18.5, 20.5, 21.5]
    filled = cells.filled(np.arange(10.0).reshape(5, 2))
    np.testing.assert_array_equal(filled, [[0, 2, 4, np.nan, 6, 8], [1, 3, 5, np.nan, 7, 9]])


def test_spans_of_slices():
    cells = time_stretches(an_axis([0, 1, 2, 20, 21]))
    assert (cells.span(0, 1), cells.span(2, 3), cells.span(4, 4)) == ((-0.5, 1.5), (1.5, 20.5), (20.5, 21.5))


@given(arrays(float, st.integers(1, 20), elements=st.integers(-(10**6), 10**6), unique=True))
def test_every_slice_is_inside_its_own_stretch(times):
    axis = an_axis(np.sort(times))
    cells = time_stretches(axis)
    assert (np.diff(cells.edges) > 0).all()
    assert cells.slices[cells.slices >= 0].tolist() == list(range(len(times)))
    for k, time in enumerate(axis.positions):
        left, right = cells.span(k, k)
        assert left < time < right


# --- what is written ----------------------------------------------------------------------------------------


def texts(ax):
    left, right = ax.get_xlim()
    return [
        label.get_text()
        for place, label in zip(ax.get_xticks(), ax.get_xticklabels())
        if left <= place <= right
    ]


def test_few_times_are_all_named():
    assert texts(ticks(an_axis([0, 30, 60, 120]))) == ["0", "30", "60", "120"]


def test_many_numbers_become_round_ones():
    ax = ticks(an_axis(np.arange(1946, 2020)))
    assert 3 <= len(texts(ax)) <= 8
    assert all(int(text) % 10 == 0 for text in texts(ax))


def test_whole_numbers_have_no_ticks_between_them():
    assert all(text.isdigit() for text in texts(ticks(an_axis(np.arange(2001, 2009)), width=2.0)))


def test_names_are_thinned_from_the_first():
    labels = [f"week {k:02d}" for k in range(50)]
    shown = texts(ticks(an_axis(np.arange(50), "names", labels)))
    assert shown[0] == "week 00"
    assert 2 <= len(shown) <= 12
    assert set(shown) <= set(labels)


def test_long_names_are_slanted():
    ax = ticks(an_axis([0, 1], "names", ["before the war", "after the war"]))
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {35}


@pytest.mark.parametrize("width", [2.5, 5.0])
@pytest.mark.parametrize("span", [0.05, 1.9, 40, 400, 700, 4000])
@pytest.mark.filterwarnings("error")
def test_dates_do_not_run_into_each_other(width, span):
    days = matplotlib.dates.date2num(np.datetime64("2019-03-01")) + np.linspace(0, span, 30)
    ax = ticks(an_axis(days, "dates"), width)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
    assert boxes
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


def test_uneven_slices_are_marked():
    times = np.delete(np.arange(1946.0, 2020.0), 18)
    uneven, even = Figure().add_subplot(), Figure().add_subplot()
    draw_time(uneven, an_axis(times), rug=True)
    draw_time(even, an_axis(np.arange(50.0)), rug=True)
    uneven.set_xlim(1946, 2020)
    marked = {*uneven.get_xticks(minor=True), *uneven.get_xticks()}
    assert marked >= set(times)
    assert 1964 not in marked
    assert even.get_xticks(minor=True).tolist() == []


@given(arrays(bool, st.integers(0, 12)))
def test_runs_cover_what_is_true(flags):
    found = np.zeros_like(flags)
    for first, last in runs(flags):
        assert first <= last
        found[first : last + 1] = True
    np.testing.assert_array_equal(found, flags)


def test_spans_are_behind():
    ax = Figure().add_subplot()
    hatch_spans(ax, Stretches(np.arange(5.0), np.arange(4)), np.array([True, True, False, True]))
    assert [patch.get_extents().width > 0 for patch in ax.patches] == [True, True]
    assert all(patch.get_zorder() == 0 and patch.get_hatch() for patch in ax.patches)
