"""What rises and what falls in a pattern, by how much and when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_MARGIN = 0.1
"""A change lasts from the end of its first to the beginning of its last tenth."""

_NO_MOVE = 1e-9


class Move(NamedTuple):
    """The largest rise or fall of one column.

    Attributes
    ----------
    column : int
    change : float
        Positive for a rise, negative for a fall.
    begin, end : int
        Places in the order of time between which four fifths of it happen.

    Examples
    --------
    >>> Move(column=3, change=-0.5, begin=1, end=4).change
    -0.5
    """

    column: int
    change: float
    begin: int
    end: int


def largest_rises(known: NDArray[np.float64], n: int, *, goes_round: bool = False) -> list[Move]:
    """Find the n columns that rise most from any time to any later one.

    Parameters
    ----------
    known : ndarray (K, J)
        Weights in the order of time, NaN where they are not determined.
    n : int
    goes_round : bool
        After the last time comes the first again.

    Returns
    -------
    list of Move
        The largest first; fewer than n if no more columns rise.

    Examples
    --------
    >>> largest_rises(np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.5], [0.25, 1.0]]), 2)
    [Move(column=1, change=1.0, begin=1, end=3), Move(column=0, change=0.25, begin=2, end=3)]
    """
    lowest = np.fmin.reduce(known, axis=0) if goes_round else np.fmin.accumulate(known, axis=0)
    gains = np.nan_to_num(np.fmax.reduce(known - lowest, axis=0))
    order = np.argsort(-gains, kind="stable")[:n]
    return [_rise(known[:, j], int(j), goes_round) for j in order if gains[j] > _NO_MOVE]


def largest_falls(known: NDArray[np.float64], n: int, *, goes_round: bool = False) -> list[Move]:
    """Find the n columns that fall most; see `largest_rises`.

    Examples
    --------
    >>> largest_falls(np.array([[0.5], [0.0], [0.25]]), 3)
    [Move(column=0, change=-0.5, begin=0, end=1)]
    """
    rises = largest_rises(-known, n, goes_round=goes_round)
    return [move._replace(change=-move.change) for move in rises]


def _rise(course: NDArray[np.float64], column: int, goes_round: bool) -> Move:
    places = np.flatnonzero(~np.isnan(course))
    if goes_round:  # begin at the lowest time, so that the highest comes after it
        places = np.roll(places, -int(np.argmin(course[places])))
    values = course[places]
    gains = values - np.minimum.accumulate(values)
    top = int(np.argmax(gains))
    change = float(gains[top])
    low = float(values[top]) - change
    begin = int(np.flatnonzero(values[: top + 1] <= low + _MARGIN * change)[-1])
    end = begin + int(np.flatnonzero(values[begin : top + 1] >= low + (1 - _MARGIN) * change)[0])
    return Move(column, change, int(places[begin]), int(places[end]))
