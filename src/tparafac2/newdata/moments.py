"""When further slices were taken: after those of the fit, in their kind of time, or refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text, read_times
from tparafac2.data.times import as_numbers, times_of_one_kind
from tparafac2.errors import InvalidValue
from tparafac2.result import Result, moment_text, timeline
from tparafac2.words import Argument


class Moments(NamedTuple):
    """Times and labels of further slices.

    Attributes
    ----------
    values : ndarray (m,)
        On the clock of the result.
    labels : ndarray (m,), optional
        As the times of the fit are called.
    """

    values: NDArray[np.float64]
    labels: NDArray[Any] | None


def is_counted(result: Result) -> bool:
    """Whether slices are merely counted: without times, or with the times 0, 1, 2, ... of no label."""
    if result.times is None:
        return True
    return result.labels.time is None and np.array_equal(result.times, np.arange(len(result.C)))


def further_moments(
    result: Result, given: Any, found: NDArray[Any] | None, count: int, *, what: str = "slices"
) -> Moments:
    """Times of `count` further slices.

    Parameters
    ----------
    result : Result
    given : sequence of numbers, dates or labels, or one, optional
        What the user says.
    found : ndarray, optional
        Labels of time that the data have; refused if the user says otherwise.
    count : int
    what : str
        What is to come after the last time: slices, or times.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> further_moments(result, None, None, 2).values
    array([2., 3.])
    """
    if given is not None and (isinstance(given, str) or np.ndim(given) == 0):
        given = [given]
    if is_counted(result):
        return _counted(result, given, found, count, what)
    if given is None and found is None:
        raise InvalidValue(
            Argument("times"),
            f" must be given: the last time of the model is {_last(result)}, and X does not say when its "
            f"{'slice was' if count == 1 else 'slices were'} taken.",
        )
    entries = np.asarray(given if given is not None else found)
    dated = timeline(result).dated
    read = _of_kind(entries, dated)
    if read is None:
        raise InvalidValue(
            Argument("times"),
            f" must be {'dates' if dated else 'numbers'}, as those of the model are (its last is "
            f"{_last(result)}); got {label_text(entries.ravel()[0])}.",
            received=given,
        )
    values = read_times(read, None, count)
    if values is None:  # only 'even' is none
        raise InvalidValue(Argument("times"), " must be numbers or dates.", received=given)
    _require_later(result, values, dated, what)
    if given is not None and found is not None and (stated := _of_kind(found, dated)) is not None:
        _require_agreement(entries, found, values == as_numbers(stated))
    return Moments(values, _as_labels(result.labels.time, entries, read))


def moments_of(result: Result, found: NDArray[Any]) -> NDArray[np.float64] | None:
    """Labels of time on the clock of the result; None where they are not of its kind."""
    read = None if is_counted(result) else _of_kind(found, timeline(result).dated)
    return None if read is None else as_numbers(read)


def _of_kind(entries: NDArray[Any], dated: bool) -> NDArray[Any] | None:
    """Times as dates or as numbers; None where they cannot be read as such."""
    read, usable = times_of_one_kind(entries) if entries.dtype.kind in "OUS" else (entries, np.ones(1, bool))
    return read if usable.all() and (read.dtype.kind == "M") == dated else None


def _same(given: NDArray[Any], found: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are the same: as text, or as numbers or dates that are written otherwise."""
    for dated in (True, False):
        here, there = _of_kind(given, dated), _of_kind(found, dated)
        if here is not None and there is not None:
            return np.asarray(as_numbers(here) == as_numbers(there))
    return np.array([label_text(one) == label_text(other) for one, other in zip(given, found)])


def _require_agreement(given: NDArray[Any], found: NDArray[Any], same: NDArray[np.bool_]) -> None:
    """Refuse times that contradict those of the data."""
    if not same.all():
        k = int(np.argmin(same))
        raise InvalidValue(
            Argument("times"),
            f" says {label_text(given[k])}, but X says {label_text(found[k])}: leave ",
            Argument("times"),
            " out, or correct one of them.",
        )


def _counted(result: Result, given: Any, found: NDArray[Any] | None, count: int, what: str) -> Moments:
    K = len(result.C)
    values = np.arange(K, K + count, dtype=np.float64)
    own = result.labels.time
    if own is None:
        if given is not None:
            raise InvalidValue(
                Argument("times"),
                " was given, but the model was fitted without times: leave it out, or fit again with the "
                "times of all slices.",
                received=given,
            )
        return Moments(values, None)
    entries = found if given is None else np.asarray(given)
    if entries is None or entries.shape != (count,):
        raise InvalidValue(
            Argument("times"),
            f" must have one label for each of {count} {what}, as the times of the model have (its last is "
            f"{_last(result)}).",
            received=given,
        )
    taken = {label_text(one) for one in own}
    for one in entries:
        if label_text(one) in taken:
            raise InvalidValue(
                f"the time {label_text(one)} is in the model already: give {what} that come after its last, "
                f"{_last(result)}, or fit again.",
                received=given,
            )
        taken.add(label_text(one))
    if given is not None and found is not None:
        _require_agreement(entries, found, _same(entries, found))
    read = _of_kind(entries, own.dtype.kind == "M") if own.dtype.kind in "iufM" else entries
    return Moments(values, _as_labels(own, entries, entries if read is None else read))


def _require_later(result: Result, values: NDArray[np.float64], dated: bool, what: str) -> None:
    known = result.clock.times
    first, last = float(known.min()), float(known.max())
    for value in values:
        if value in known:
            raise InvalidValue(
                f"the time {moment_text(value, dated)} is in the model already: give {what} that come after "
                f"its last, {moment_text(last, dated)}, or fit again.",
            )
        if value < last:
            raise InvalidValue(
                f"the time {moment_text(value, dated)} lies before the last of the model, "
                f"{moment_text(last, dated)}: give {what} that come after it, or fit all data again.",
            )
        if result.period is not None and value >= first + result.period:
            raise InvalidValue(
                f"the time {moment_text(value, dated)} is more than a period of {result.period:g} after the "
                f"first of the model, {moment_text(first, dated)}: fit all data again.",
            )


def _last(result: Result) -> str:
    labels = result.labels.coordinate("time", len(result.C))
    return label_text(labels[int(np.argmax(result.clock.times))])


def _as_labels(own: NDArray[Any] | None, entries: NDArray[Any], read: NDArray[Any]) -> NDArray[Any] | None:
    """Labels of the kind that the times of the fit have."""
    if own is None:
        return None
    if own.dtype.kind == "M":
        return np.asarray(read.astype(own.dtype))
    if own.dtype.kind in "iu" and read.dtype.kind in "iuf" and (read == np.rint(read)).all():
        return np.asarray(read.astype(own.dtype))
    if own.dtype.kind in "iuf":
        return np.asarray(read)
    return np.array([str(one) for one in entries])
