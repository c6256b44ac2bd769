"""How far patterns go in a given time, measured from many origins: the error of saying that they stay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, padded
from tparafac2.newdata.continuing import Course, Seen, Turning, go_on
from tparafac2.newdata.courses import is_split, ties_of
from tparafac2.penalties import asks_for, distance_weights, softens
from tparafac2.result import Result, Terms
from tparafac2.result.record import unit_columns
from tparafac2.solver.problem import Scaled, sort_terms

_FEWEST_PAIRS = 4
_NEAR = 0.34
_OWN = 5.0
"""So many origins apart from each other make a column's own errors count as much as those of all columns."""


class Origins(NamedTuple):
    """Patterns as they were known at some times, and as they are known now.

    Attributes
    ----------
    then, now : ndarray (n, J, R)
        Of length 1.
    times : ndarray (n,)
    hindsight : bool
        Whether `then` is known from later times, too: from one slice to the next such patterns change less
        than could be known at that time.
    """

    then: NDArray[np.float64]
    now: NDArray[np.float64]
    times: NDArray[np.float64]
    hindsight: bool

    def spread(self, gap: float) -> NDArray[np.float64]:
        """Mean squared error (J, R) of saying that patterns stay as they are over this gap in time."""
        if not self.hindsight:
            return self._at(gap)
        # A random walk seen with hindsight is too smooth over short times, and right over long ones.
        span = float(self.times[-1] - self.times[0])
        gaps = [gap * more for more in (1, 2, 3, 4, 6, 8) if gap * more <= span / 3] or [gap]
        found = np.stack([self._at(one) * gap / one for one in gaps])
        by_component = found.mean(axis=1)
        return np.asarray(found[by_component.argmax(axis=0), :, np.arange(found.shape[2])].T)

    def _at(self, gap: float) -> NDArray[np.float64]:
        between = self.times[None, :] - self.times[:, None]
        first, second = np.nonzero(np.abs(between - gap) <= _NEAR * gap)
        if len(first) < _FEWEST_PAIRS:
            ahead = between[between > 0]
            longest = float(np.quantile(ahead, 0.8)) if len(ahead) else 0.0
            if not 0 < longest < gap:
                first, second = np.nonzero(between > 0)
                return self._pooled(first, second, gap)
            return self._at(longest) * gap / longest
        return self._pooled(first, second, gap)

    def _pooled(self, first: NDArray[np.intp], second: NDArray[np.intp], gap: float) -> NDArray[np.float64]:
        """Errors of each column, drawn to those of all columns where few origins speak for it."""
        if not len(first):
            return np.zeros(self.now.shape[1:])
        squares = ((self.now[second] - self.then[first]) ** 2).mean(axis=0)
        span = float(self.times[-1] - self.times[0])
        apart = min(len(first), max(span / gap, 1.0))
        share = apart / (apart + _OWN)
        return np.asarray(share * squares + (1.0 - share) * squares.mean(axis=0))


def in_hindsight(result: Result) -> Origins:
    """The patterns of the fit, all of which are known from earlier and later times."""
    order = list(result.clock.order)
    units = np.stack([unit_columns(piece)[0] for piece in np.asarray(padded(result.B, fill=0.0))[order]])
    return Origins(units, units, result.clock.times[order], hindsight=True)


def without_later_times(result: Result, seen: Seen, coverage: FloatArray) -> Origins:
    """Patterns of the second half of the times, each appended to those before it as if it were the last.

    Parameters
    ----------
    result : Result
    seen : Seen
        Of all slices that were fitted, in the order of time.
    coverage : ndarray (n, J)
        Share of the rows that was observed of these.
    """
    whole = in_hindsight(result)
    order, terms = list(result.clock.order), result.terms
    n, begin = len(order), len(order) // 2
    if asks_for(terms.B, "static") or n < 4:
        return whole
    B = np.asarray(padded(result.B, fill=0.0), dtype=np.float64)[order]
    last, then = B[begin - 1], []
    for k in range(begin, n):
        one = Seen(*(part[k : k + 1] for part in seen))
        course = _course(result, terms, (k, B), last, coverage[k])
        last = go_on(one, course, result.C[order][k - 1 : k]).B[0]
        then.append(unit_columns(last)[0])
    return Origins(np.stack(then), whole.now[begin:], whole.times[begin:], hindsight=False)


def _course(
    result: Result,
    terms: Terms,
    place: tuple[int, NDArray[np.float64]],
    before: NDArray[np.float64],
    seen: Any,
) -> Course:
    """What is asked of slice k, were it the last one; of the patterns, only the lengths of steps are used."""
    k, B = place
    n, order = len(B), list(result.clock.order)
    tied = np.where(seen == 0, terms.tie, 1.0) if (seen == 0).any() else np.ones(1)
    there = None if result.present is None else result.present[order[k]][None]
    if result.present is not None:
        tied = tied * (result.present[order[k - 1]] & result.present[order[k]])
    pulled = [distance_weights(term, "parafac2", n) for term in terms.B if softens(term)]
    soft = None if not pulled or pulled[0] is None else pulled[0][k : k + 1]
    turning = None if result.Delta is None else Turning(result.Delta)
    scaled = [Scaled(term, 1.0, 1.0) for term in terms.C]
    ties = ties_of(terms.B, B, slice(k, k + 1), np.broadcast_to(tied, (n, len(tied))), there)
    return Course(
        ties._replace(before=before, after=None, closing=np.zeros(1)),
        sort_terms(scaled, 1, absorb=True, coupled=False),
        fixed_strengths=terms.fixed_strengths,
        turning=turning,
        soft=soft,
        splits=tuple(Scaled(term, 1.0, 1.0) for term in terms.B if is_split(term)),
    )
