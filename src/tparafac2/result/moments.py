"""Moments in time, as people give them (numbers or dates) and as numbers to count with."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date, datetime
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text, label_texts, listed
from tparafac2.result.record import Result

_MICROSECONDS_PER_DAY = 86_400_000_000
_SAME_DAYS = 1e-6
_SAME_TIME = 1e-9
_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d\d)?")


class Timeline(NamedTuple):
    """When the slices were taken.

    Attributes
    ----------
    values : ndarray (K,)
        In the order of the slices, which need not be that of time.
    dated : bool
        Whether they are dates, counted in days since 1970-01-01.

    Examples
    --------
    >>> Timeline(np.array([0.0, 1.0]), dated=True).dated
    True
    """

    values: NDArray[np.float64]
    dated: bool


def timeline(result: Result) -> Timeline:
    """Find out when the slices of a result were taken: its times, else its labels, else 0, 1, 2, ...

    Examples
    --------
    >>> from tparafac2.data import Labels
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 labels=Labels(time=np.array(["1970-01-02", "1970-01-04"], dtype="datetime64[D]")))
    >>> timeline(result)
    Timeline(values=array([1., 3.]), dated=True)
    """
    labels = result.labels.time
    if result.times is not None:
        return Timeline(result.times, labels is not None and _are_dates_of(labels, result.times))
    # A period that came without times counts slices, so that labels would be of another unit.
    if labels is not None and labels.dtype.kind in "iufM" and result.period is None:
        dated = labels.dtype.kind == "M"
        return Timeline(days(labels) if dated else labels.astype(np.float64), dated)
    return Timeline(np.arange(len(result.C), dtype=np.float64), False)


def time_order(result: Result) -> NDArray[np.intp]:
    """Places of the slices in the order of time.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((3, 3, 1)), C=np.ones((3, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7, times=[2, 0, 1])
    >>> time_order(result)
    array([1, 2, 0])
    """
    return np.argsort(timeline(result).values, kind="stable")


def read_moments(given: object, dated: bool) -> tuple[NDArray[np.float64], bool]:
    """Read one moment or several as numbers, and tell whether it was one.

    Parameters
    ----------
    given : number, date, text of a date, or a sequence of them
    dated : bool
        Whether dates have a place on the timeline.

    Returns
    -------
    moments : ndarray (n,)
    single : bool

    Examples
    --------
    >>> read_moments("1970-01-02T12:00", dated=True)
    (array([1.5]), True)
    >>> read_moments([1, 2.5], dated=False)
    (array([1. , 2.5]), False)
    """
    if isinstance(given, str | Real | date | np.generic):
        return np.array([_number(given, dated)]), True
    if hasattr(given, "__array__"):
        array = np.asarray(given)
        if array.ndim == 0:
            return read_moments(array[()], dated)
        if array.ndim > 1:
            raise ValueError(
                f"t must be one time or a sequence of them; got an array of shape {array.shape}."
            )
        given = array
    if not isinstance(given, Iterable):
        raise ValueError(f"t must be one time or a sequence of them; got {given!r}.")
    return np.array([_number(one, dated) for one in given], dtype=np.float64), False


def days(dates: NDArray[Any]) -> NDArray[np.float64]:
    """Count the days since 1970-01-01; NaN for NaT.

    Examples
    --------
    >>> days(np.array(["1970-01-02T06", "NaT"], dtype="datetime64[h]"))
    array([1.25,  nan])
    """
    # Finer units than microseconds are below the resolution of days as floats.
    counts = dates.astype("datetime64[us]").astype(np.int64) / _MICROSECONDS_PER_DAY
    return np.asarray(np.where(np.isnat(dates), np.nan, counts))


def as_dates(values: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Give the dates of days since 1970-01-01.

    Examples
    --------
    >>> as_dates(np.array([1.5]))
    array(['1970-01-02T12:00:00.000000'], dtype='datetime64[us]')
    """
    return np.rint(values * _MICROSECONDS_PER_DAY).astype(np.int64).astype("datetime64[us]")


def moment_text(value: float, dated: bool) -> str:
    """Write a moment as people do.

    Examples
    --------
    >>> moment_text(1.5, dated=True), moment_text(1.5, dated=False)
    ('1970-01-02 12:00', '1.5')
    """
    if not dated or not abs(value) < 1e8:  # days that no date can be made of
        return label_text(value)
    return label_text(np.datetime64(round(value * _MICROSECONDS_PER_DAY), "us"))


def time_texts(result: Result) -> list[str]:
    """Write the times of all slices, in their order, as the user calls them.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> time_texts(result)
    ['0', '1']
    """
    if result.labels.time is not None:
        return label_texts(result.labels.time)
    when = timeline(result)
    return [moment_text(float(value), when.dated) for value in when.values]


def slice_at(result: Result, time: Any) -> int:
    """Find the slice of a time, by its label, or as a number or date; refused if there is none.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 times=np.array([2020.0, 2021.0]))
    >>> slice_at(result, 2021)
    1
    """
    text, texts, when = label_text(time), time_texts(result), timeline(result)
    whole = texts if result.labels.time is None else [label_text(one) for one in result.labels.time]
    for names in (whole, texts):
        if text in names:
            return names.index(text)
    try:
        moment = float(read_moments(time, when.dated)[0][0])
    except (ValueError, IndexError):
        raise _no_slice(text, texts, when) from None
    distances = np.abs(when.values - moment)
    nearest = int(np.argmin(distances))
    if not distances[nearest] <= _SAME_TIME * max(abs(moment), 1.0):
        raise _no_slice(moment_text(moment, when.dated), texts, when)
    return nearest


def _no_slice(text: str, texts: list[str], when: Timeline) -> ValueError:
    ordered = [texts[k] for k in np.argsort(when.values, kind="stable")]
    return ValueError(
        f"there is no slice at the time {text}; there are {listed(ordered)}, the last at {ordered[-1]}."
    )


def phases(values: NDArray[np.float64], period: float | None) -> NDArray[np.float64]:
    """Give the place of every moment within its period, or the moment itself where there is none.

    Examples
    --------
    >>> phases(np.array([-1.0, 5.0, 24.0]), 24.0).tolist()
    [23.0, 5.0, 0.0]
    """
    if period is None:
        return values
    within = np.mod(values, period)
    return np.where(within < period, within, 0.0)  # a tiny negative number is rounded up to the period


def gaps(values: NDArray[np.float64], period: float | None) -> NDArray[np.float64]:
    """Give the times between neighbouring slices, with that from the last to the first if time goes round.

    Examples
    --------
    >>> gaps(np.array([6.0, 0.0, 18.0]), None).tolist(), gaps(np.array([6.0, 0.0, 18.0]), 24.0).tolist()
    ([6.0, 12.0], [6.0, 12.0, 6.0])
    """
    ordered = np.sort(phases(values, period))
    if period is not None:
        ordered = np.append(ordered, ordered[0] + period)
    return np.diff(ordered)


def _number(value: object, dated: bool) -> float:
    if not isinstance(value, bool | np.timedelta64) and isinstance(value, Real):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ValueError(f"t must be a finite time; got {value!r}.")
        return number
    if not dated:
        raise ValueError(f"t must be a number, as the times of the slices are; got {value!r}.")
    return _day_number(value)


def _day_number(value: object) -> float:
    moment = _parsed(value) if isinstance(value, str) else value
    # pandas' NaT is a datetime, too; like every "not a time" it differs from itself.
    if not isinstance(moment, date | np.datetime64) or moment != moment:
        raise ValueError(f"t must be a date such as '2020-03-01', or a number of days; got {value!r}.")
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        raise ValueError(
            f"t must be a date without a time zone, as the times of the slices are; got {value!r}."
        )
    return float(days(np.asarray(np.datetime64(moment))))


def _parsed(text: str) -> date | np.datetime64 | None:
    try:
        if _YEAR_OR_MONTH.fullmatch(text):
            return np.datetime64(text)
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _are_dates_of(labels: NDArray[Any], times: NDArray[np.float64]) -> bool:
    """Tell whether times are days since 1970-01-01, of labels that are dates: objects and texts, too."""
    if labels.dtype.kind not in "MOUT":
        return False
    try:
        dates = days(labels) if labels.dtype.kind == "M" else np.array([_day_number(one) for one in labels])
    except ValueError:
        return False
    return bool(np.all(np.abs(dates - times) <= _SAME_DAYS))
