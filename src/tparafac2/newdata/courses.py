"""What the terms of a fit ask of slices that come after it: the same lambdas, on the same clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FIRMLY, FloatArray, couplings, padded, unseen_among
from tparafac2.errors import InvalidValue
from tparafac2.newdata.chains import Pacing, Ties
from tparafac2.newdata.continuing import Course, Turning
from tparafac2.penalties import (
    Pace,
    Paced,
    Penalty,
    Quadratic,
    Ridge,
    asks_for,
    continued,
    distance_weights,
    is_temporal,
    joins_rows,
    softens,
    squared_steps,
)
from tparafac2.result import Result, Terms
from tparafac2.solver.problem import Scaled, sort_terms
from tparafac2.words import Advice


class Further(NamedTuple):
    """When further slices were taken, and what was observed of them.

    Attributes
    ----------
    times : ndarray (m,)
        Increasing, on the clock of the fit.
    coverage : ndarray (m, J)
        Share of the rows that was observed, for every time and column.
    there : ndarray of bool (m, J), optional
        Which columns there are; None: all.
    n_new : int
        How many columns, the last ones, were not there before.
    """

    times: NDArray[np.float64]
    coverage: NDArray[np.float64]
    there: NDArray[np.bool_] | None
    n_new: int

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Slices of which something was observed (m,)."""
        return np.asarray(self.coverage.any(axis=1))

    def after(self, result: Result) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None]:
        """Coverage and presence of columns at all times; None where there is nothing to say."""
        shape = (len(result.C), self.coverage.shape[1])
        coverage = present = None
        if result.coverage is not None or (self.coverage < 1).any():
            before = np.ones(shape) if result.coverage is None else result.coverage
            coverage = np.concatenate([before, self.coverage])
        if result.present is not None or self.there is not None:
            old = np.ones(shape, dtype=bool) if result.present is None else result.present
            new = np.ones(self.coverage.shape, dtype=bool) if self.there is None else self.there
            present = np.concatenate([old, new])
        return coverage, present


def terms_for(result: Result, new: Further) -> Terms:
    """The terms of the fit for all slices: the lambdas are kept, and the clock goes on."""
    terms, order = result.terms, list(result.clock.order)
    _require_apart(terms, new)
    known, times = len(order), np.append(result.clock.times[order], new.times[new.observed])
    B, C = (tuple(continued(mode, times, known, result.period)) for mode in (terms.B, terms.C))
    if asks_for(terms.B, "static"):
        # The one pattern of all slices is to cost what it did.
        B = tuple(
            replace(term, strength=term.strength * known / len(times)) if isinstance(term, Ridge) else term
            for term in B
        )
    tie = terms.tie
    turning = asks_for(terms.B, "parafac2") or any(map(softens, terms.B))
    smooth = any(is_temporal(term) and isinstance(term, Quadratic | Paced) for term in terms.B)
    if turning and smooth and result.period is None and unseen_among(*new.after(result)) is not None:
        tie = FIRMLY
    return replace(terms, B=B, C=C, tie=tie)


def _require_apart(terms: Terms, new: Further) -> None:
    """Refuse terms on changes in time of which it is not known how they go on, and on what is not apart."""
    joined = [("strengths of all times", term) for term in terms.C if joins_rows(term)]
    if new.n_new:
        joined += [("columns that were in the fit", term) for term in terms.B if joins_rows(term)]
    for what, term in joined:
        raise InvalidValue(
            f"the model has a term on the {what} together ({type(term).__name__}), which says nothing of "
            "further ones: fit all data again."
        )
    for mode, name in ((terms.B, "patterns"), (terms.C, "strengths")):
        for term in mode:
            if name == "strengths" and is_temporal(term) and isinstance(term, Quadratic):
                raise InvalidValue(
                    "strengths are smooth in time here, so that those of further times would move the ones "
                    "before: fit all data again, from where the model ended (",
                    Advice("refit", "refit=True"),
                    ").",
                )
            if is_temporal(term) and (name == "strengths" or not _known_in_time(term)):
                raise InvalidValue(
                    f"the model has a term on changes of the {name} in time ({type(term).__name__}) that "
                    "does not say how it goes on: fit all data again."
                )


def _known_in_time(term: Penalty) -> bool:
    return isinstance(term, Quadratic | Paced) or softens(term)


def course_of(result: Result, new: Further, terms: Terms) -> Course:
    """What is asked of the slices that were observed, beside the patterns before them.

    Parameters
    ----------
    result : Result
        With all columns.
    new : Further
    terms : Terms
        For all slices that were observed: `terms_for`.
    """
    order = list(result.clock.order)
    m, n = int(new.observed.sum()), len(order) + int(new.observed.sum())
    turning = soft = None
    if asks_for(terms.B, "parafac2") or any(map(softens, terms.B)):
        turning = None if result.Delta is None else Turning(result.Delta)
    for term in terms.B:
        weights = distance_weights(term, "parafac2", n)
        soft = soft if weights is None else weights[-m:]
    splits = tuple(Scaled(term, 1.0, 1.0) for term in terms.B if is_split(term))
    scaled = [Scaled(term, 1.0, 1.0) for term in terms.C]
    return Course(
        _ties(result, new, terms),
        sort_terms(scaled, m, absorb=True, coupled=False),
        fixed_strengths=terms.fixed_strengths,
        static=asks_for(terms.B, "static"),
        turning=turning,
        soft=soft,
        splits=splits,
    )


def is_split(term: Penalty) -> bool:
    """Whether a term on the patterns has an auxiliary variable of its own."""
    handled = isinstance(term, Quadratic | Paced) or softens(term)
    return not (handled or any(asks_for([term], one) for one in ("parafac2", "static")))


def _ties(result: Result, new: Further, terms: Terms) -> Ties:
    order, here = list(result.clock.order), new.observed
    m, n = int(here.sum()), len(order) + int(here.sum())
    fitted = [*order, *(len(result.C) + np.flatnonzero(here))]
    coverage, present = new.after(result)
    coverage = None if coverage is None else coverage[fitted]
    present = None if present is None else present[fitted]
    joined = couplings(present, unseen_among(coverage, present), terms.tie)
    columns = np.ones((n, 1)) if joined is None else joined.copy()
    columns[-1] = 1.0  # from the last slice to the first
    B = np.asarray(padded(result.B, fill=0.0), dtype=np.float64)
    whole = np.concatenate([B[order], np.repeat(B[order[-1:]], m, axis=0)])
    return ties_of(terms.B, whole, slice(n - m, n), columns, None if present is None else present[-m:])


def ties_of(
    terms: Sequence[Penalty],
    B: NDArray[np.float64],
    new: slice,
    joined: FloatArray,
    there: NDArray[np.bool_] | None,
) -> Ties:
    """What holds some neighbouring slices, those before them being known, and all others at rest.

    Parameters
    ----------
    terms : sequence of penalties
    B : ndarray (n, J, R)
        Patterns of all slices, in the order of time.
    new : slice
        Which of them are not known.
    joined : ndarray (n, J or 1)
        How many times a column's change to the next slice counts.
    there : ndarray of bool, optional
        Which columns there are in the new ones.
    """
    norms, fixed, paces = links_on_clock(terms, len(B))
    steps = slice(new.start - 1, new.stop)
    goes_round = new.stop == len(B) and (fixed[-1] > 0 or any(pace.floors[-1] > 0 for pace in paces))
    own = fixed[steps, None] * joined[steps]
    if not goes_round:
        own[-1] = 0.0
    known = squared_steps(B)
    known[:, steps] = 0.0
    pacing = [Pacing(pace, known, steps.start, own, joined[steps]) for pace in paces]
    return Ties(
        before=B[new.start - 1],
        norms=norms[new],
        steps=own[:-1, :, None],
        closing=own[-1, :1],
        after=B[0] if goes_round else None,
        there=there,
        pacing=pacing[0] if pacing else None,
    )


def links_on_clock(
    terms: Sequence[Penalty], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[Pace]]:
    """All terms on squares of patterns over n slices: weights of norms (n,), of changes (n,), and paces.

    The last change is that from the last slice to the first.
    """
    norms, links, paces = np.zeros(n), np.zeros(n), []
    for term in terms:
        if isinstance(term, Quadratic):
            diagonal, off, closing = term.bands(n)
            norms += diagonal - np.append(off, 0.0) - np.append(0.0, off)
            links += np.append(off, closing)
        elif isinstance(term, Paced):
            paces.append(term.pace(n))
            norms += paces[-1].own
    return norms, links, paces
