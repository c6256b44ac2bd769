"""When the slices were taken, what that means for the smoothness, and lines between what is known."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray
from tparafac2.errors import InvalidValue
from tparafac2.words import Advice, Argument

_DAY = np.timedelta64(1, "D")
_EVEN = "even"
_MOST_UNEVEN = 1e12  # times the shortest gap, the typical one; beyond, slices would be as good as one
_QUARTER = re.compile(r"(\d{4})[- ]?[Qq]([1-4])")
_MONTH = r"((?:19|20)\d\d)(0[1-9]|1[0-2])"
_DATES_AS_NUMBERS = {"months": re.compile(_MONTH), "days": re.compile(_MONTH + r"(0[1-9]|[12]\d|3[01])")}
_UNITS = {
    r"\d{4}": "Y",
    r"\d{4}-\d{2}": "M",
    _QUARTER.pattern: "Q",
    r"\d{4}-?[Ww]\d{2}": "W",
    r"\d{4}-\d{2}-\d{2}": "D",
}
"""Forms of dates, and how long what they say lasts."""

_STEPS = {"Y": (12, "M"), "M": (1, "M"), "Q": (3, "M"), "W": (7, "D"), "D": (1, "D")}


class TimeWeights(NamedTuple):
    """Weights of the changes between slices; `closing` is that of the change from the last to the first."""

    between: tuple[float, ...]
    closing: float


def read_times(given: Any, labels: NDArray[Any] | None, n: int) -> NDArray[np.float64] | None:
    """Times of the slices as numbers; dates are days since 1970.

    Parameters
    ----------
    given : sequence of numbers or dates, "even", or None
        None takes the labels where they are numbers or dates. "even" takes no notice of them.
    labels : ndarray, optional
        Labels of the time points.
    n : int
        Number of slices.

    Returns
    -------
    ndarray (n,), or None for evenly spaced slices

    Raises
    ------
    ValueError
        If there are not n of them, or two are equal, or one is not a number.

    Examples
    --------
    >>> read_times(["2020-01-01", "2020-01-31"], None, 2)
    array([18262., 18292.])
    """
    if isinstance(given, str):
        if given != _EVEN:
            raise ValueError(f"times must be numbers, dates or 'even'; got {given!r}.")
        return None
    from_labels = given is None
    if from_labels:
        if labels is None or labels.dtype.kind not in "iufM":
            return None
        given = labels
    times = as_numbers(given)
    if times.shape != (n,):
        raise ValueError(f"times has shape {times.shape}, but there are {n} slices: give one time for each.")
    if not np.isfinite(times).all():
        bad = int(np.flatnonzero(~np.isfinite(times))[0])
        raise ValueError(f"times[{bad}] is not a time (NaN, NaT or infinite): every slice needs its time.")
    _require_apart(times, "The labels of time" if from_labels else "times")
    return times


def as_numbers(given: Any) -> NDArray[np.float64]:
    """Numbers as they are; dates (of NumPy, pandas, datetime, or ISO text) as days since 1970.

    Examples
    --------
    >>> import datetime
    >>> as_numbers([datetime.date(1970, 1, 2)])
    array([1.])
    """
    array = np.asarray(given)
    if array.dtype.kind in "OUS":
        array = _read_entries(array)
    if array.dtype.kind == "M":
        days = (array - np.datetime64(0, "D")) / _DAY
        return np.asarray(days, dtype=np.float64)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"times must be numbers or dates; got values of type {array.dtype}.")
    return array.astype(np.float64)


def times_of_one_kind(entries: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read all numbers, all dates, all quarters or all weeks; tell which entries could be read.

    Text may be a number, a date as in ISO 8601 (2024-12-31, 2024-12), a quarter (2024Q1) or a week
    (2024-W05), of which the first day is taken. Times with a zone become UTC.

    Parameters
    ----------
    entries : 1-D array, or what becomes one

    Returns
    -------
    times : ndarray
        Numbers or dates.
    usable : ndarray of bool
        Where this is false the entry is of no kind, or of another than those before it.

    Examples
    --------
    >>> times_of_one_kind(["2020Q3", "2021Q1"])[0].astype("datetime64[D]")
    array(['2020-07-01', '2021-01-01'], dtype='datetime64[D]')
    >>> times_of_one_kind(["2020-01-02", "2021.5", "2022"])[1]
    array([ True, False, False])
    """
    import pandas as pd

    index = pd.Index(np.asarray(entries), tupleize_cols=False)  # the times themselves, not categories of them
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if isinstance(index, pd.DatetimeIndex) and index.tz is not None:
        index = index.tz_convert(None)
    if index.dtype.kind in "mM":
        return index.to_numpy(), index.notna()
    numbers, are_numbers = _numbers(index)
    if are_numbers.all():
        return numbers, are_numbers
    # A number among dates is no date, though pandas would read "2022" and even "2021.5" as one; and "now" and
    # "today" would another day be other dates.
    texts = [
        text if not is_number and (text := str(entry).strip())[:1].isdigit() else ""
        for entry, is_number in zip(index, are_numbers)
    ]
    readings = [(numbers, are_numbers), _dates(texts), _starts(texts, _quarter), _starts(texts, _week)]
    # What the table begins with tells which entry is the odd one.
    return max(readings, key=lambda reading: (_n_before_first_bad(reading[1]), np.count_nonzero(reading[1])))


def span_of(bound: Any, *, dates: bool) -> tuple[Any, Any]:
    """Give the first and the last moment of a time that was said: a year, a month and so on are all of it.

    Parameters
    ----------
    bound : number, date, or text of one
    dates : bool
        Whether dates are meant, or numbers.

    Raises
    ------
    ValueError
        If it is of the other kind, or no time at all.

    Examples
    --------
    >>> span_of("2020", dates=False)
    (2020.0, 2020.0)
    >>> [str(moment)[:10] for moment in span_of("2020-02", dates=True)]
    ['2020-02-01', '2020-02-29']
    """
    text = str(bound).strip()
    if not dates:
        try:
            number = float(text)
        except ValueError:
            raise ValueError(f"numbers, and {bound!r} is none.") from None
        if not np.isfinite(number):
            raise ValueError(f"numbers, and {bound!r} is none.")
        return number, number
    unit = next((unit for form, unit in _UNITS.items() if re.fullmatch(form, text)), None)
    entry = f"{text}-01" if unit == "Y" else bound
    times, usable = times_of_one_kind(np.array([entry], dtype=object))
    if not usable.all() or times.dtype.kind != "M":
        raise ValueError(f"dates, and {bound!r} is none: write it as 2024-12-31, 2024-12 or 2024.")
    first = times[0].astype("datetime64[us]")
    if unit is None:
        return first, first
    step, base = _STEPS[unit]
    after = (first.astype(f"datetime64[{base}]") + step).astype("datetime64[us]")
    return first, after - np.timedelta64(1, "us")


def hint_of_dates(times: NDArray[Any]) -> str | None:
    """Say how to write months or days, if times were taken as numbers and look like these throughout.

    Examples
    --------
    >>> hint_of_dates(np.array([202012, 202101]))
    'times such as 202012 were taken as numbers: write 2020-12 if months are meant'
    >>> hint_of_dates(np.array([2020, 2021])) is None
    True
    """
    if times.dtype.kind not in "iuf" or (times != np.floor(times)).any():
        return None
    texts = [f"{time:.0f}" for time in times.tolist()]
    for unit, looks_so in _DATES_AS_NUMBERS.items():
        if (first := looks_so.fullmatch(texts[0])) and all(map(looks_so.fullmatch, texts)):
            written = "-".join(first.groups())
            return f"times such as {texts[0]} were taken as numbers: write {written} if {unit} are meant"
    return None


def _read_entries(array: NDArray[Any]) -> NDArray[Any]:
    entries = array.ravel()
    if entries.dtype.kind == "S":
        entries = np.char.decode(entries, "utf-8", "replace")
    times, usable = times_of_one_kind(entries)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"times[{bad}] is not a time, or not of the kind of those before it; got {entries[bad]!r:.60}: "
            "times must be numbers or dates such as 2024-12-31, all of one kind."
        )
    return times.reshape(array.shape)


def _numbers(index: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    import pandas as pd

    numbers = np.asarray(pd.to_numeric(index, errors="coerce"))
    if numbers.dtype.kind not in "biuf":
        return numbers, np.zeros(len(numbers), dtype=bool)
    # Differences of short or unsigned integers would overflow.
    return numbers.astype(np.result_type(numbers, np.int64)), np.isfinite(numbers)


def _dates(texts: list[str]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    import pandas as pd

    read = pd.to_datetime(pd.Series(texts, dtype=object), errors="coerce", format="ISO8601", utc=True)
    dates = read.dt.tz_localize(None).to_numpy()
    return dates, ~np.isnat(dates)


def _starts(texts: list[str], first_day: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    dates = np.array([first_day(text) for text in texts], dtype="datetime64[D]").astype("datetime64[s]")
    return dates, ~np.isnat(dates)


def _quarter(text: str) -> date | None:
    found = _QUARTER.fullmatch(text)
    return None if found is None else date(int(found[1]), 3 * int(found[2]) - 2, 1)


def _week(text: str) -> date | None:
    try:
        return date.fromisoformat(text.upper()) if text[4:6].upper().strip("-").startswith("W") else None
    except ValueError:
        return None


def _n_before_first_bad(usable: NDArray[np.bool_]) -> int:
    return int(np.argmin(np.append(usable, False)))


def time_weights(
    times: Sequence[float] | NDArray[np.float64], period: float | None, known: int | None = None
) -> TimeWeights:
    """Inverse gaps, 1 for the median gap: evenly spaced slices all have weight 1.

    Parameters
    ----------
    times : increasing numbers
    period : float, optional
        Time goes round: the last slice is followed by the first.
    known : int, optional
        The median is that of so many times at the beginning, to which others were appended.

    Examples
    --------
    >>> time_weights([0.0, 1.0, 3.0, 4.0], None)
    TimeWeights(between=(1.0, 0.5, 1.0), closing=0.0)
    >>> time_weights([0.0, 6.0, 12.0, 18.0], 24.0).closing
    1.0
    """
    times = np.asarray(times, dtype=np.float64)
    gaps = np.diff(times)
    if not len(gaps):
        return TimeWeights((), 0.0)
    typical = float(np.median(gaps if known is None or known < 2 else gaps[: known - 1]))
    closing = 0.0
    if period is not None:
        span = float(times[-1] - times[0])
        if period <= span:
            raise InvalidValue(
                Argument("period"),
                f" is {period:g}, but the times span {span:g}: the period must be longer, so that the "
                "first slice comes after the last. Give times within one period (hours of a day, months).",
                received=period,
            )
        closing = typical / (period - span)
    return TimeWeights(tuple((typical / gaps).tolist()), closing)


def slice_durations(
    times: Sequence[float] | NDArray[np.float64], period: float | None, known: int | None = None
) -> tuple[float, ...]:
    """The time that each slice stands for, 1 for the median gap: evenly spaced slices all have 1.

    Parameters
    ----------
    times : increasing numbers
    period : float, optional
        Time goes round: the last slice is followed by the first.
    known : int, optional
        As in `time_weights`.

    Examples
    --------
    >>> slice_durations([0.0, 1.0, 3.0, 4.0], None)
    (1.0, 1.5, 1.5, 1.0)
    >>> slice_durations([0.0, 6.0, 12.0, 18.0], 24.0)
    (1.0, 1.0, 1.0, 1.0)
    """
    between, closing = time_weights(times, period, known)
    if not between:
        return (1.0,)
    gaps = 1.0 / np.array(between)
    round_trip = 1.0 / closing if closing else None
    before = np.concatenate([[round_trip or gaps[0]], gaps])
    after = np.concatenate([gaps, [round_trip or gaps[-1]]])
    return tuple(((before + after) / 2.0).tolist())


def _require_apart(times: NDArray[np.float64], what: str) -> None:
    order = np.argsort(times, kind="stable")
    if not math.isfinite(float(times[order[-1]]) - float(times[order[0]])):
        raise InvalidValue(f"{what} are too far apart to be compared: give them in a larger unit.")
    gaps = np.diff(times[order])
    close = np.flatnonzero(gaps <= (np.median(gaps) if len(gaps) else 0.0) / _MOST_UNEVEN)
    if len(close):
        first, second = sorted(int(k) for k in order[close[0] : close[0] + 2])
        same = "the same time twice" if gaps[close[0]] == 0 else "times that can hardly be told apart"
        raise InvalidValue(
            f"{what} has {same}, at slices {first} and {second}: put such slices together, or ",
            Advice("even_times", "give times='even'"),
            " if these are no times.",
        )


class Lines(NamedTuple):
    """Times between which lines are drawn.

    Attributes
    ----------
    times : ndarray (n,)
        Increasing; where time is periodic, continued by one at both ends.
    places : ndarray of int (n,)
        Where the values of these times stand.

    Examples
    --------
    >>> lines = lines_through(np.array([6.0, 0.0]), period=24.0)
    >>> lines.times, lines.places
    (array([-18.,   0.,   6.,  24.]), array([0, 1, 0, 1]))
    >>> lines.at(np.array([1.0, 0.0]), np.array([3.0, 15.0]))
    array([0.5, 0.5])
    """

    times: NDArray[np.float64]
    places: NDArray[np.intp]

    def at(self, values: FloatArray, wanted: NDArray[np.float64]) -> FloatArray:
        """Values at any times; beyond the ends those at the ends.

        Parameters
        ----------
        values : ndarray (K, ...)
            At the times the lines go through, in the order in which these were given.
        wanted : ndarray (n,)
            Where time is periodic, within the same period as those.

        Returns
        -------
        ndarray (n, ...)
            At a known time exactly what is known.
        """
        last = len(self.times) - 1
        left = np.clip(np.searchsorted(self.times, wanted, side="right") - 1, 0, last)
        right = np.minimum(left + 1, last)
        gap = self.times[right] - self.times[left]
        share = np.maximum(wanted - self.times[left], 0.0) / np.where(gap > 0, gap, np.inf)
        share = share.reshape(-1, *(1,) * (values.ndim - 1))
        before, after = values[self.places[left]], values[self.places[right]]
        with np.errstate(invalid="ignore"):  # a fit that went wrong may hold infinities
            return np.where(share > 0, (1.0 - share) * before + share * after, before)


def lines_through(times: NDArray[np.float64], period: float | None = None) -> Lines:
    """Order the times at which something is known.

    Parameters
    ----------
    times : ndarray (K,)
        All different; where time is periodic, all within one period.
    period : float, optional
    """
    places = np.argsort(times, kind="stable")
    times = times[places]
    if period is not None:
        times = np.concatenate([times[-1:] - period, times, times[:1] + period])
        places = np.concatenate([places[-1:], places, places[:1]])
    return Lines(times, places)
