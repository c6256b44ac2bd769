import datetime
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hand_made import hand_made
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from tparafac2.data import Labels
from tparafac2.result import Result
from tparafac2.result.moments import (
    days,
    gaps,
    moment_text,
    phases,
    read_moments,
    slice_at,
    time_texts,
    timeline,
)

MARCH = 18322.0  # days from 1970-01-01 to 2020-03-01


def make(K: int, **changes: Any) -> Result:
    return hand_made(**({"A": np.ones((2, 1)), "B": np.ones((K, 4, 1)), "C": np.ones((K, 1))} | changes))


@pytest.mark.parametrize(
    "date",
    [
        "2020-03-01",
        "2020-03-01T00:00:00",
        "2020-03",
        datetime.date(2020, 3, 1),
        datetime.datetime(2020, 3, 1),
        np.datetime64("2020-03-01"),
        np.datetime64("2020-03"),
        np.datetime64("2020-03-01", "ns"),
        pd.Timestamp("2020-03-01"),
        MARCH,
        18322,
        np.float32(18322),
    ],
    ids=repr,
)
def test_a_date_in_any_form_is_the_same_day(date: object) -> None:
    moments, single = read_moments(date, dated=True)
    assert single
    assert moments.tolist() == [MARCH]
    several, single = read_moments([date, date], dated=True)
    assert not single
    assert several.tolist() == [MARCH, MARCH]


@pytest.mark.parametrize(
    "dates",
    [
        pd.date_range("2020-03-01", periods=2),
        pd.Series(pd.date_range("2020-03-01", periods=2)),
        np.array(["2020-03-01", "2020-03-02"], dtype="datetime64[D]"),
        ("2020-03-01", datetime.date(2020, 3, 2)),
        (date for date in ["2020-03-01", "2020-03-02"]),
        np.array([MARCH, MARCH + 1]),
        range(18322, 18324),
    ],
    ids=lambda dates: type(dates).__name__,
)
def test_sequences_of_all_kinds(dates: object) -> None:
    moments, single = read_moments(dates, dated=True)
    assert not single
    assert moments.tolist() == [MARCH, MARCH + 1]


def test_an_array_without_axes_is_one_moment() -> None:
    moments, single = read_moments(np.array("2020-03-01", dtype="datetime64[s]"), dated=True)
    assert single
    assert moments.tolist() == [MARCH]


def test_no_moments_at_all() -> None:
    assert read_moments([], dated=False)[0].shape == (0,)


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        np.float32("inf"),
        10**400,
        None,
        True,
        np.bool_(True),
        1j,
        b"2020-03-01",
        "now",
        "today",
        "",
        "03/04/2020",
        "2020-13",
        "2020-02-30",
        "NaT",
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64(1, "D"),
        "2020-03-01T00:00Z",
        pd.Timestamp("2020-03-01", tz="UTC"),
        datetime.datetime(2020, 3, 1, tzinfo=datetime.UTC),
        {},
    ],
    ids=repr,
)
def test_what_is_not_a_time_is_refused_with_a_sentence(value: Any, dated: bool) -> None:
    sentence = r"^t must be .*; got .*\.$"
    with pytest.raises(ValueError, match=sentence):
        read_moments([value], dated)
    if not isinstance(value, bytes | dict):  # these two are sequences themselves
        with pytest.raises(ValueError, match=sentence):
            read_moments(value, dated)


def test_a_time_zone_is_named_as_the_trouble() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        read_moments(pd.date_range("2020", periods=2, tz="Europe/Oslo"), dated=True)


def test_tables_of_times_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        read_moments(np.zeros((2, 2)), dated=False)


@settings(max_examples=50)
@given(st.datetimes(), st.sampled_from(["us", "ms", "s", "h", "D"]))
def test_days_agree_with_the_calendar(moment: datetime.datetime, unit: str) -> None:
    date = np.array([np.datetime64(moment, unit)])
    since = date.astype("datetime64[us]").item() - datetime.datetime(1970, 1, 1)
    assert days(date)[0] == pytest.approx(since / datetime.timedelta(days=1), rel=1e-15)


@settings(max_examples=50)
@given(st.dates(datetime.date(1000, 1, 1)))
def test_dates_are_written_as_people_do(date: datetime.date) -> None:
    assert moment_text(read_moments(date, dated=True)[0][0], dated=True) == date.isoformat()


def test_days_beyond_all_dates_are_written_as_numbers() -> None:
    assert moment_text(1e300, dated=True) == "1e+300"


DATES = np.array(["2020-03-01", "2020-03-05", "2020-04-01"], dtype="datetime64[D]")
NUMBERS = [MARCH, MARCH + 4, MARCH + 31]


@pytest.mark.parametrize(
    ("labels", "times", "period", "values", "dated"),
    [
        (None, None, None, [0, 1, 2], False),
        ([1990, 2000, 1995], None, None, [1990, 2000, 1995], False),
        ([0.5, 0.25, 1.0], None, None, [0.5, 0.25, 1.0], False),
        (DATES, None, None, NUMBERS, True),
        (["a", "b", "c"], None, None, [0, 1, 2], False),
        ([True, False, True], None, None, [0, 1, 2], False),
        ([1990, 2000, 1995], None, 3.0, [0, 1, 2], False),
        ([1990, 2000, 1995], [5, 6, 8], None, [5, 6, 8], False),
        (DATES, [5, 6, 8], None, [5, 6, 8], False),
        (DATES, NUMBERS, None, NUMBERS, True),
        (DATES.astype(object), NUMBERS, None, NUMBERS, True),
        (DATES.astype(str), NUMBERS, None, NUMBERS, True),
        (DATES.astype("datetime64[ns]"), NUMBERS, 365.25, NUMBERS, True),
        (["a", "b", "c"], NUMBERS, None, NUMBERS, False),
        (None, NUMBERS, None, NUMBERS, False),
    ],
)
def test_where_the_times_come_from(labels, times, period, values, dated) -> None:
    when = timeline(make(3, labels=Labels(time=labels), times=times, period=period))
    assert when.values.tolist() == values
    assert when.dated == dated


TIMES = arrays(np.float64, st.integers(1, 6), elements=st.integers(-1000, 1000).map(lambda n: n / 8))


@settings(max_examples=50)
@given(TIMES, st.integers(1, 80).map(lambda n: n / 8))
def test_gaps_fill_the_whole_period(values, period) -> None:
    between = gaps(values, period)
    assert len(between) == len(values)
    assert between.sum() == period
    assert (gaps(values, None) >= 0).all()
    assert gaps(values, None).sum() == np.ptp(values)


@settings(max_examples=100)
@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e6))
def test_phases_lie_within_the_period(value: float, period: float) -> None:
    assert 0 <= phases(np.array([value]), period)[0] < period


@pytest.mark.parametrize("times", [None, np.array([0.0, 1.0, 2.0])])
def test_months_are_written_without_days_and_found_with_and_without(times):
    months = np.array(["2013-01-01", "2013-02-01", "2013-04-01"], dtype="M8[ns]")
    result = hand_made(K=3, labels=Labels(time=months), times=times)
    assert time_texts(result) == ["2013-01", "2013-02", "2013-04"]
    for asked in ("2013-02", "2013-02-01", months[1]):
        assert slice_at(result, asked) == 1


def test_days_stay_where_one_of_them_is_no_first():
    labels = Labels(time=np.array(["2013-01-01", "2013-02-01", "2013-02-15"], dtype="M8[D]"))
    assert time_texts(hand_made(K=3, labels=labels))[0] == "2013-01-01"
