"""When the slices were taken, and what that means for the smoothness between them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_DAY = np.timedelta64(1, "D")
_EVEN = "even"


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
    _require_distinct(times, "The labels of time" if from_labels else "times")
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
        array = _read_text(array, given)
    if array.dtype.kind == "M":
        days = (array - np.datetime64(0, "D")) / _DAY
        return np.asarray(days, dtype=np.float64)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"times must be numbers or dates; got values of type {array.dtype}.")
    return array.astype(np.float64)


def _read_text(array: NDArray[Any], given: Any) -> NDArray[Any]:
    """Texts of numbers ("1990") as numbers, others as dates; microseconds do not overflow in any year."""
    try:
        if all(isinstance(one, str | bytes) for one in array.ravel()):
            return array.astype(np.float64)
    except ValueError:
        pass  # not numbers
    try:
        return array.astype("datetime64[us]")
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"times must be numbers or dates; got {' '.join(repr(given).split()):.80} ({error})."
        ) from None


def time_weights(times: Sequence[float] | NDArray[np.float64], period: float | None) -> TimeWeights:
    """Inverse gaps, 1 for the median gap: evenly spaced slices all have weight 1.

    Parameters
    ----------
    times : increasing numbers
    period : float, optional
        Time goes round: the last slice is followed by the first.

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
    typical = float(np.median(gaps))
    closing = 0.0
    if period is not None:
        span = float(times[-1] - times[0])
        if period <= span:
            raise ValueError(
                f"period is {period:g}, but the times span {span:g}: the period must be longer, so that the "
                "first slice comes after the last. Give times within one period (hours of a day, months)."
            )
        closing = typical / (period - span)
    return TimeWeights(tuple((typical / gaps).tolist()), closing)


def _require_distinct(times: NDArray[np.float64], what: str) -> None:
    order = np.argsort(times, kind="stable")
    equal = np.flatnonzero(np.diff(times[order]) == 0)
    if len(equal):
        first, second = sorted(int(k) for k in order[equal[0] : equal[0] + 2])
        raise ValueError(
            f"{what} has the same time twice, at slices {first} and {second}: put such slices together, or "
            "give times='even' if these are no times."
        )
