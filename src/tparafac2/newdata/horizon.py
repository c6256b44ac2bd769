"""The times that come after the last of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text
from tparafac2.errors import InvalidValue
from tparafac2.newdata.moments import Moments, further_moments, is_counted
from tparafac2.result import Result, timeline
from tparafac2.result.moments import as_dates, days
from tparafac2.words import Argument, Setting

_EVEN = 1e-6


def horizon(result: Result, h: Any, times: Any) -> Moments:
    """The next h times of even ones, or those that are given, in order.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((3, 3, 1)), C=np.ones((3, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 times=np.array([2000.0, 2002.0, 2004.0]))
    >>> horizon(result, 2, None).values
    array([2006., 2008.])
    """
    if h is not None and (isinstance(h, bool) or not isinstance(h, int | np.integer) or h < 1):
        raise InvalidValue(
            Argument("h"), f" must be a whole number of steps, at least 1; got {h!r}.", received=h
        )
    if times is not None:
        wanted = [times] if isinstance(times, str) or np.ndim(times) == 0 else list(times)
        if not wanted:
            raise InvalidValue(
                Argument("times"), " has none: give at least one time after the last of the model."
            )
        if len({label_text(one) for one in wanted}) < len(wanted):
            raise InvalidValue(
                Argument("times"), " has a time more than once: give each once.", received=times
            )
        if h is not None and h != len(wanted):
            raise InvalidValue(
                Argument("h"), f" is {h}, but there are {len(wanted)} times: give one of them.", received=h
            )
        found = further_moments(result, wanted, None, len(wanted), what="times")
        order = np.argsort(found.values, kind="stable")
        return Moments(found.values[order], None if found.labels is None else found.labels[order])
    if h is None:
        raise InvalidValue(
            "a forecast needs ", Argument("h"), ", a number of steps, or ", Argument("times"), "."
        )
    if is_counted(result):
        return _counted(result, int(h))
    return _even(result, int(h))


def _counted(result: Result, h: int) -> Moments:
    K, own = len(result.C), result.labels.time
    values = np.arange(K, K + h, dtype=np.float64)
    if own is None:
        return Moments(values, None)
    if own.dtype.kind not in "iuf" or len(own) < 2 or np.ptp(np.diff(own)) > _EVEN * abs(own[1] - own[0]):
        raise InvalidValue(
            "the times of the model are labels that cannot be continued (the last is ",
            f"{str(own[-1])!r}): give ",
            Setting("times"),
            " with a label for each step.",
        )
    return Moments(values, own[-1] + (own[1] - own[0]) * np.arange(1, h + 1))


def _even(result: Result, h: int) -> Moments:
    known, own = np.sort(result.clock.times), result.labels.time
    dated = timeline(result).dated
    gaps = np.diff(known)
    if dated and (dates := _calendar(known, h)) is not None:
        values = days(dates)
    elif len(gaps) and np.ptp(gaps) <= _EVEN * gaps.max():
        values = known[-1] + gaps[0] * np.arange(1, h + 1)
    else:
        raise InvalidValue(
            "the times of the model are uneven",
            f" ({gaps.min():g} to {gaps.max():g} apart), and do not tell when the next ones are: give "
            if len(gaps)
            else ", and do not tell when the next ones are: give ",
            Setting("times"),
            ".",
        )
    if own is None:
        return Moments(values, None)
    if own.dtype.kind in "iu":
        return Moments(values, np.rint(values).astype(own.dtype))
    if dated:
        labels = as_dates(values)
        whole = labels.astype("datetime64[D]")
        labels = whole if (whole == labels).all() else labels
        return Moments(values, labels.astype(own.dtype) if own.dtype.kind == "M" else labels.astype(str))
    return Moments(values, values.astype(own.dtype) if own.dtype.kind == "f" else values.astype(str))


def _calendar(known: NDArray[np.float64], h: int) -> NDArray[np.datetime64] | None:
    """Dates that go on by months, at the same day of each or at its end; None where these do not."""
    dates = as_dates(known)
    for shift in (np.timedelta64(0, "D"), np.timedelta64(1, "D")):
        months = (dates + shift).astype("datetime64[M]")
        within, steps = dates + shift - months, np.diff(months).astype(np.int64)
        if len(steps) and steps[0] > 0 and (within == within[0]).all() and (steps == steps[0]).all():
            return np.asarray(months[-1] + steps[0] * np.arange(1, h + 1) + within[0] - shift)
    return None
