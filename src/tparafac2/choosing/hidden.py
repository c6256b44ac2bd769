"""Errors at entries that a fit did not see, for every setting along a path that never sees them either."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.evidence import Measured
from tparafac2.choosing.hiding import Hidden
from tparafac2.choosing.parts import Parts, Shown
from tparafac2.choosing.rules import Errors
from tparafac2.choosing.search import Search
from tparafac2.data import Intake, Places
from tparafac2.errors import InvalidValue
from tparafac2.models import Decomposition
from tparafac2.result import Result
from tparafac2.words import Advice

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
    trial = Trial.of(parts, sets)
    if trial.size == 0:
        raise InvalidValue(
            f"all {sum(one.places.size for one in sets):,} entries that were hidden are zero, and nothing "
            "can be chosen by them: give denser data. ",
            Advice("set_yourself", "Or give a rank and a smoothness to TParafac2."),
        )

    def fit(candidate: Candidate, before: Result | None) -> Result:
        return follow([search.model(candidate)], trial.shown.intake, _STARTS, seed, before)

    if first.model != "TParafac2":
        return Measured({first: trial.errors(fit(first, None))}, trial.size)
    fits = _both_ways(search.hard(first), fit)
    found = {candidate: trial.errors(result) for candidate, result in fits.items()}
    best = min(found, key=lambda one: float(found[one].choosing.sum()))
    for way in search.flexible(best):
        found |= _giving_way(way, fits[best._replace(smoothness=way[0].smoothness)], fit, trial.errors)
    return Measured({one: found[one] for one in found if one.rigidity in search.rigidity}, trial.size)


def hidden_error(parts: Parts, sets: Sequence[Hidden], model: Decomposition, seed: int) -> float:
    """Squared error of one model at all hidden entries, relative to their own squares."""
    trial = Trial.of(parts, sets)
    errors = trial.errors(follow([model], trial.shown.intake, _STARTS, seed))
    return float((errors.choosing.sum() + errors.testing.sum()) / trial.size)


class Trial(NamedTuple):
    """Data of which two sets of entries are hidden, by which fits to the rest are judged."""

    shown: Shown
    shape: tuple[int, int, int]  # with all times: of some, nothing may have been observed

    @classmethod
    def of(cls, parts: Parts, sets: Sequence[Hidden]) -> Self:
        """Hide the sets, one that chooses and one that tests."""
        return cls(parts.without(sets), (parts.whole.n_times, *parts.shape[1:]))

    @property
    def size(self) -> float:
        """Sum of squares of what is hidden, by weight."""
        pairs = zip(self.shown.weights, self.shown.held)
        return sum(float((weights * held * held).sum()) for weights, held in pairs)

    def errors(self, result: Result) -> Errors:
        """Of a fit to what is shown."""
        squares = self.shown.errors(result.A, result.B, result.C)
        return Errors(*(_summed(one, at.places, self.shape) for one, at in zip(squares, self.shown.hidden)))


def follow(
    way: Sequence[Decomposition], intake: Intake, n_starts: int, seed: int, before: Result | None = None
) -> Result:
    """Fit models quickly, each from where the one before it ended; the first from there, or at random.

    Where nothing was left in the one before, nothing could grow from it: then at random, too.
    """
    for model in way:
        begin: dict[str, Any] = {"init": "uniform", "n_starts": n_starts, "random_state": seed}
        if before is not None and _something_left(before):
            begin = {"init": (before.A, before.B, before.C)}
        quick = type(model)(**(model.get_params() | QUICK | begin))
        before = quick.fit_intake(intake).result_
    if before is None:
        raise ValueError("there is no model on the way.")
    return before


def _something_left(result: Result) -> bool:
    return bool(result.A.any() and result.C.any()) and any(pattern.any() for pattern in result.B)


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
