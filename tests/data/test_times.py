import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import Table, lines_through
from tparafac2.data.times import as_numbers, read_times, time_weights

DATES = ["2020-01-01", "2020-02-01", "2020-12-31"]
DAYS = [18262.0, 18293.0, 18627.0]


@pytest.mark.parametrize(
    "given",
    [
        DATES,
        np.array(DATES, dtype="datetime64[D]"),
        np.array(DATES, dtype="datetime64[s]"),
        pd.to_datetime(DATES),
        [datetime.date.fromisoformat(text) for text in DATES],
        [datetime.datetime.fromisoformat(text) for text in DATES],
        [pd.Timestamp(text) for text in DATES],
    ],
)
def test_dates_are_days(given):
    np.testing.assert_array_equal(read_times(given, None, 3), DAYS)


@pytest.mark.parametrize(
    ("given", "starts"),
    [
        (["2020Q1", "2020-Q3", "2021 q2"], ["2020-01-01", "2020-07-01", "2021-04-01"]),
        (["2020-W05", "2020W53", "2021-w01-3"], ["2020-01-27", "2020-12-28", "2021-01-06"]),
        (["2020-01", "2020-12", "2021-02"], ["2020-01-01", "2020-12-01", "2021-02-01"]),
    ],
)
def test_quarters_weeks_and_months_are_their_first_day(given, starts):
    np.testing.assert_array_equal(as_numbers(given), as_numbers(starts))
    lines = {"r": [1] * 3, "c": [1] * 3, "t": given}
    found = Table(lines, rows="r", columns="c", time="t").labels.time
    assert found.astype("datetime64[D]").astype(str).tolist() == starts


@pytest.mark.parametrize("given", [["2020Q5", "2020Q1"], ["2020-W54", "2020-W01"], ["2021-W53", "2021-W01"]])
def test_quarters_and_weeks_that_are_not(given):
    with pytest.raises(ValueError, match=r"times\[0\] is not a time"):
        as_numbers(given)


@pytest.mark.parametrize(
    ("times", "written"),
    [
        ([202012, 202101], "202012 were taken as numbers: write 2020-12 if months"),
        ([202012.0, 202101.0], "202012 were taken as numbers: write 2020-12 if months"),
        (["202012", "202101"], "202012 were taken as numbers: write 2020-12 if months"),
        ([20201231, 20210101], "20201231 were taken as numbers: write 2020-12-31 if days"),
        ([202012, 202113], None),
        ([202000, 202001], None),
        ([2020, 2021], None),
        ([202012.5, 202101], None),
        (["2020-12", "2021-01"], None),
    ],
)
def test_months_written_as_numbers_bring_a_hint(times, written):
    said = Table({"r": [1, 1], "c": [1, 1], "t": times}, rows="r", columns="c", time="t").describe()
    assert ("taken as numbers" in said) == (written is not None)
    assert written is None or written in said


def test_hours_count():
    assert as_numbers(["1970-01-01T06:00"]).tolist() == [0.25]


def test_labels_are_the_times_where_they_can_be():
    np.testing.assert_array_equal(read_times(None, np.array([1990, 1991, 1995]), 3), [1990, 1991, 1995])
    assert read_times(None, np.array(["spring", "summer", "autumn"]), 3) is None
    assert read_times(None, None, 3) is None
    assert read_times("even", np.array([1990, 1991, 1995]), 3) is None
    np.testing.assert_array_equal(read_times([3, 1, 2], np.array([1990, 1991, 1995]), 3), [3, 1, 2])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2], r"shape \(2,\), but there are 3 slices"),
        ([[1, 2, 3]], r"shape \(1, 3\)"),
        ([1, 2, 1], "same time twice, at slices 0 and 2"),
        ([0, 1e-250, 1], "times that can hardly be told apart, at slices 0 and 1"),
        ([-1.7e308, 0, 1.7e308], "too far apart to be compared: give them in a larger unit"),
        ([1, np.nan, 2], r"times\[1\] is not a time"),
        (["2020-01-01", "NaT", "2020-01-03"], r"times\[1\] is not a time"),
        (["a", "b", "c"], "numbers or dates"),
        (["2020-01-02", "2022", "2023"], r"times\[1\] is not a time, or not of the kind"),
        ([datetime.date(2020, 1, 2), 2022, 2023], r"times\[1\] is not a time.*got 2022"),
        (["2020Q1", "2020Q2", "2020-07"], r"times\[2\] is not a time"),
        ([1, None, 2], r"times\[1\] is not a time"),
        ([True, False, True], "numbers or dates"),
        ("daily", "'even'; got 'daily'"),
        ([1j, 2, 3], "numbers or dates"),
    ],
)
def test_what_is_no_time_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        read_times(given, None, 3)


def test_equal_labels_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"labels of time has the same time twice.*times='even'"):
        read_times(None, np.array([1, 1, 2]), 3)


@given(start=st.floats(-1e6, 1e6), gap=st.floats(1e-3, 1e3), n=st.integers(2, 30))
def test_even_spacing_is_the_papers_model(start, gap, n):
    weights = time_weights(start + gap * np.arange(n), None)
    np.testing.assert_allclose(weights.between, 1.0, rtol=1e-6)
    assert weights.closing == 0.0


@given(gaps=st.lists(st.floats(0.01, 100), min_size=1, max_size=20))
def test_weights_are_inverse_to_gaps(gaps):
    weights = np.array(time_weights(np.concatenate([[0.0], np.cumsum(gaps)]), None).between)
    np.testing.assert_allclose(weights * gaps, np.median(gaps), rtol=1e-6)


def test_a_period_closes_the_ring():
    assert time_weights(np.arange(12.0), 12.0) == (tuple([1.0] * 11), 1.0)
    assert time_weights(np.arange(0, 20, 2.0), 24.0).closing == pytest.approx(2 / 6)
    with pytest.raises(ValueError, match="the period must be longer"):
        time_weights(np.arange(12.0), 11.0)


def test_one_slice_has_no_weights():
    assert time_weights([3.0], None) == ((), 0.0)


def test_texts_of_numbers_are_numbers_and_early_dates_are_right():
    assert read_times(["1500", "1550", "1900"], None, 3).tolist() == [1500, 1550, 1900]
    early = read_times(["1500-01-01", "1500-01-02", "9999-12-31"], None, 3)
    assert early[1] - early[0] == 1
    assert early[2] > early[1]


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
