"""Errors at entries that a fit did not see, for every setting along a path that never sees them either."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.evidence import Measured
from tparafac2.choosing.hiding import Hidden
from tparafac2.choosing.parts import Parts
from tparafac2.choosing.rules import Errors
from tparafac2.choosing.search import Search
from tparafac2.data import Places
from tparafac2.result import Result

QUICK: dict[str, Any] = {"tol": 1e-5, "feasibility_tol": 1e-3, "max_iter": 250, "n_jobs": 1}
"""As far as errors at hidden entries change by more than a tie."""

_STARTS = 3  # where a path begins
_BEGIN = 1e-3  # the smoothness there
_MOST_FIBRES = 100_000  # beyond, sums by row are precise enough
_HOPELESS = 1.02  # a constraint that gave way this much too far is not followed further

Fit = Callable[[Candidate, Result | None], Result]


def hidden_errors(
    parts: Parts, sets: Sequence[Hidden], first: Candidate, search: Search, seed: int
) -> Measured:
    """Errors of all settings of one rank at two sets of hidden entries: one that chooses, one that tests.

    Parameters
    ----------
    parts : Parts
    sets : sequence of two Hidden
    first : Candidate
        Its rank, bounds and model are those of all.
    search : Search
    seed : int
        Of the starts where the path begins.
    """
    shown = parts.without(sets)

    def fit(candidate: Candidate, before: Result | None) -> Result:
        begin: dict[str, Any] = {"n_starts": _STARTS, "random_state": seed}
        if before is not None:
            begin = {"init": (before.A, before.B, before.C)}
        return search.model(candidate, **QUICK, **begin).fit_intake(shown.intake).result_

    def errors(result: Result) -> Errors:
        squares = shown.errors(result.A, result.B, result.C)
        return Errors(*(_summed(one, at.places, parts.shape) for one, at in zip(squares, sets)))

    size = sum(float((weights * held * held).sum()) for weights, held in zip(shown.weights, shown.held))
    if first.model != "TParafac2":
        return Measured({first: errors(fit(first, None))}, size)
    fits = _both_ways(search.hard(first), fit)
    found = {candidate: errors(result) for candidate, result in fits.items()}
    best = min(found, key=lambda one: float(found[one].choosing.sum()))
    for way in search.flexible(best):
        found |= _giving_way(way, fits[best._replace(smoothness=way[0].smoothness)], fit, errors)
    return Measured({one: found[one] for one in found if one.rigidity in search.rigidity}, size)


def _both_ways(path: Sequence[Candidate], fit: Fit) -> dict[Candidate, Result]:
    """Fits along a path, from the usual smoothness down and up, each from where the one before it ended."""
    middle = int(np.argmin([abs(np.log((one.smoothness or _BEGIN) / _BEGIN)) for one in path]))
    found = {path[middle]: fit(path[middle], None)}
    for way in (path[middle::-1], path[middle:]):
        for before, candidate in itertools.pairwise(way):
            found[candidate] = fit(candidate, found[before])
    return found


def _giving_way(
    way: Sequence[Candidate], hard: Result, fit: Fit, errors: Callable[[Result], Errors]
) -> dict[Candidate, Errors]:
    """Errors along a way on which the constraint gives way, until that is plainly too far."""
    found: dict[Candidate, Errors] = {}
    before, least = hard, float(errors(hard).choosing.sum())
    for candidate in way:
        before = fit(candidate, before)
        found[candidate] = errors(before)
        error = float(found[candidate].choosing.sum())
        if error > _HOPELESS * least:
            break
        least = min(least, error)
    return found


def _summed(squares: NDArray[np.float64], at: Places, shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """Squared errors by row and time, since those of one sample may depend on each other.

    By row they would hide components of a few rows: with 3 of 40 rows, z could not be above 1.7.
    """
    K, I, _ = shape
    groups, n = (at.rows * K + at.time, I * K) if I * K <= _MOST_FIBRES else (at.rows, I)
    return np.bincount(groups, squares, n).astype(np.float64, copy=False)
