"""Straight lines between what is known at some times; in periodic time also from the last to the first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray


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
