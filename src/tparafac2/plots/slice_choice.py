"""Times as the user gives them, found among the slices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.time_axis import TimeAxis
from tparafac2.plots.words import label_text, listed
from tparafac2.result import Result
from tparafac2.result.moments import moment_text, read_moments, timeline

_USUAL = 4
_SAME = 1e-9


def chosen_slices(result: Result, axis: TimeAxis, times: Any, usable: NDArray[np.bool_]) -> list[int]:
    """Find the slices at the given times.

    Parameters
    ----------
    result : Result
    axis : TimeAxis
        Of this result.
    times : label, number or date, or several of them, or None
        None chooses up to four usable slices, from the first to the last.
    usable : ndarray of bool (K,)
        In the order of time.

    Returns
    -------
    list of int
        Places in the order of time, each once, from early to late.

    Examples
    --------
    >>> from tparafac2.data import Labels
    >>> from tparafac2.plots.time_axis import time_axis
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)), objective=0.0,
    ...                 explained_variance=1.0, status="Converged.", converged=True, n_iter=1,
    ...                 labels=Labels(time=[1990, 1992, 1991]))
    >>> chosen_slices(result, time_axis(result), [1992, 1990], np.ones(3, bool))
    [0, 2]
    >>> chosen_slices(result, time_axis(result), 1964, np.ones(3, bool))
    Traceback (most recent call last):
    ValueError: there is no slice at the time 1964; there are 1990, 1991, 1992.
    """
    if times is None:
        places = np.flatnonzero(usable) if usable.any() else np.arange(len(usable))
        picked = np.linspace(0, len(places) - 1, min(_USUAL, len(places))).round().astype(int)
        return [int(places[k]) for k in picked]
    single = isinstance(times, str | bytes) or not isinstance(times, Iterable)
    wanted = [times] if single else list(times)
    if not wanted:
        raise ValueError("times is empty: give at least one time, or leave it out.")
    return sorted({_place(result, axis, time) for time in wanted})


def _place(result: Result, axis: TimeAxis, time: Any) -> int:
    text = label_text(time)
    if text in axis.labels:
        return axis.labels.index(text)
    when = timeline(result)
    try:
        moment = float(read_moments(time, when.dated)[0][0])
    except ValueError:
        raise _unknown(text, axis) from None
    distances = np.abs(when.values[axis.order] - moment)
    nearest = int(np.argmin(distances))
    if not distances[nearest] <= _SAME * max(abs(moment), 1.0):
        raise _unknown(moment_text(moment, when.dated), axis)
    return nearest


def _unknown(text: str, axis: TimeAxis) -> ValueError:
    return ValueError(f"there is no slice at the time {text}; there are {listed(axis.labels)}.")
