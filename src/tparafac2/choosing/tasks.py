"""The pieces of work of a choice: each can be done in a process of its own."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing import rules
from tparafac2.choosing.candidates import LEAST_FLEXIBLE, Candidate
from tparafac2.choosing.heldout import Held
from tparafac2.choosing.path import CLOSELY, Fits, Frame, Parts, fit_path
from tparafac2.choosing.rules import Similarity
from tparafac2.choosing.similarity import similarity, trajectories
from tparafac2.choosing.splits import DataSplits
from tparafac2.choosing.surrogates import surrogate
from tparafac2.data import SliceData
from tparafac2.metrics import agreement_with
from tparafac2.solver import best_rows

FloatArray = NDArray[np.float64]

_BEGIN = 1e-3  # the smoothness where paths begin
_STARTS = 3  # there
_HOPELESS = 1.02  # errors this much above the least are not followed further
_WINDOW = 3  # smoothnesses at which the constraint is relaxed, from the best one on
_WHOLE_STARTS = 6
_SAME = 0.99  # match of starts that found the same
_NUMBERS = 4_000_000  # in the sketches of draws that are done together
_ENTRIES = 2  # for every component: rows with fewer entries in a half are left out


class Work(NamedTuple):
    """What every task of a choice needs."""

    splits: DataSplits
    frame: Frame
    smoothness: tuple[float, ...]
    rigidity: tuple[float, ...]
    n_folds: int
    seed: int

    def rng(self, *key: int) -> np.random.Generator:
        """Random numbers of one draw, the same wherever it is done."""
        return np.random.default_rng([self.seed, *key])


class Trial:
    """One or more draws of folds: parts to fit, all in one batch, and the rows that they do not see.

    Parameters
    ----------
    work : Work
    first : Candidate
        What its bounds allow, all settings do.
    draws : sequence of int
    made : iterable of DataSplits, optional
        The data of every draw, made when their turn comes; those of the work unless given.
    """

    def __init__(
        self, work: Work, first: Candidate, draws: Sequence[int], made: Iterable[DataSplits] | None = None
    ) -> None:
        self.work, self.n_rows = work, work.splits.shape[1]
        self.held: list[list[Held]] = []
        data = itertools.repeat(work.splits, len(draws)) if made is None else made
        self.parts = Parts.of(work.frame, first, self._training(draws, data))

    def _training(self, draws: Sequence[int], made: Iterable[DataSplits]) -> Iterator[SliceData]:
        for draw, splits in zip(draws, made):
            rng, own = self.work.rng(1, draw), list[Held]()
            self.held.append(own)
            for rows in splits.folds(rng, self.work.n_folds):
                data, held = splits.hold_out(rows, splits.halves_of_entries(rng))
                own.append(held)
                yield data

    def errors(self, fits: Fits) -> list[FloatArray]:
        """For every draw, the squared error of every row by the fit that did not see it."""
        part, found = itertools.count(), []
        for held in self.held:
            errors = np.empty(self.n_rows)
            for one in held:
                B, C = fits.factors(next(part))
                own = one.errors(self.work.frame, fits.setting, B, C, self.parts.norm)
                errors[one.rows] = np.where(self._enough(one), own, 0.0)
            found.append(errors)
        return found

    def squares(self) -> list[FloatArray]:
        """For every draw, the sum of squares of every row."""
        found = []
        for held in self.held:
            squares = np.empty(self.n_rows)
            for one in held:
                squares[one.rows] = np.where(self._enough(one), one.squares(), 0.0)
            found.append(squares)
        return found

    def similar(self, fits: Fits, model: FloatArray) -> list[Similarity]:
        """For every draw, how similar components are between folds."""
        part = itertools.count()
        return [_similar(fits, [next(part) for _ in held], model) for held in self.held]

    def _enough(self, held: Held) -> NDArray[np.bool_]:
        """Which rows have enough entries in either half to tell their loadings."""
        return held.counts() >= _ENTRIES * self.work.frame.largest


def in_batches(work: Work, draws: Sequence[int]) -> list[tuple[int, ...]]:
    """Draws that are done together: many where the data are small, a matter of their shape only."""
    K, I, J = work.splits.shape
    size = work.n_folds * min(I, work.frame.largest + 10) * K * J
    step = max(1, _NUMBERS // size)
    return [tuple(draws[first : first + step]) for first in range(0, len(draws), step)]


def search_rank(work: Work, first: Candidate, draw: int) -> tuple[dict[Candidate, FloatArray], FloatArray]:
    """Errors of all settings of one rank in one draw of folds."""
    trial = Trial(work, first, [draw])
    found: dict[Candidate, FloatArray] = {}
    fits: dict[Candidate, Fits] = {}

    def follow(settings: Sequence[Candidate], before: Fits | None) -> None:
        least = min(sums_of(found).values(), default=math.inf)
        for fit in fit_path(trial.parts, settings, _STARTS, before):
            fits[fit.setting] = fit
            (found[fit.setting],) = trial.errors(fit)
            error = float(found[fit.setting].sum())
            if error > _HOPELESS * least:
                break
            least = min(least, error)

    if first.model != "TParafac2":
        follow([first], None)
        return found, trial.squares()[0]
    path = [first._replace(smoothness=one, rigidity=math.inf) for one in work.smoothness]
    middle = int(np.argmin([abs(math.log((one.smoothness or _BEGIN) / _BEGIN)) for one in path]))
    follow(path[middle : middle + 1], None)
    follow(path[middle + 1 :], fits[path[middle]])
    follow(path[:middle][::-1], fits[path[middle]])
    for way in _relaxed(work, found):
        hard = way[0].hard
        if hard not in fits:
            follow([hard], fits[path[middle]])
        follow(way, fits[hard])
    wanted = {one: errors for one, errors in found.items() if one.rigidity in work.rigidity}
    return wanted, trial.squares()[0]


def sums_of(found: Mapping[Candidate, FloatArray]) -> dict[Candidate, float]:
    """The error of every setting, over all rows."""
    return {one: float(errors.sum()) for one, errors in found.items()}


def _relaxed(work: Work, found: Mapping[Candidate, FloatArray]) -> Iterable[list[Candidate]]:
    """Paths along which the constraint is relaxed, each at one smoothness, from the best one on.

    Where the best lies at the end of the window, the window goes on.
    """
    steps = sorted((one for one in work.rigidity if one < math.inf), reverse=True)
    if not steps:
        return
    total = sums_of(found)
    best = rules.smoothest(total)
    enough = [one for one in work.smoothness if one >= LEAST_FLEXIBLE] or list(work.smoothness[-1:])
    first = min(sum(one < (best.smoothness or 0.0) for one in enough), len(enough) - 1)
    least, at = min(total.values()), first
    for place in range(first, len(enough)):
        if place >= at + _WINDOW:
            return
        yield [best._replace(smoothness=enough[place], rigidity=step) for step in steps]
        now = min(sums_of(found).values())
        if now < least * (1 - 1e-3):
            least, at = now, place


def try_again(
    work: Work, setting: Candidate, draws: Sequence[int], model: FloatArray | None
) -> tuple[list[FloatArray], list[Similarity]]:
    """Errors of one setting in further draws of folds, and how similar its components are there."""
    trial = Trial(work, setting, draws)
    *_, fits = fit_path(trial.parts, setting.path, _STARTS)
    return trial.errors(fits), [] if model is None else trial.similar(fits, model)


def _similar(fits: Fits, parts: Sequence[int], model: FloatArray) -> Similarity:
    return similarity([trajectories(*fits.factors(part)) for part in parts], model)


def compare_halves(
    work: Work, setting: Candidate, draws: Sequence[int], model: FloatArray
) -> list[Similarity]:
    """How similar the components of two halves of the rows are, for every draw."""
    halves = [rows for draw in draws for rows in work.splits.draw(work.rng(2, draw), 2)]
    parts = Parts.of(work.frame, setting, (work.splits.of_rows(rows) for rows in halves))
    *_, fits = fit_path(parts, setting.path, _STARTS)
    return [_similar(fits, [place, place + 1], model) for place in range(0, len(halves), 2)]


class Whole(NamedTuple):
    """A fit to all rows, in the solver's units."""

    setting: Candidate
    A: FloatArray
    B: FloatArray
    C: FloatArray
    agreeing: float | None

    @property
    def model(self) -> FloatArray:
        """The trajectories of its components."""
        return trajectories(self.B, self.C)


def fit_all(work: Work, setting: Candidate, n_starts: int) -> Whole:
    """Fit all rows, and see which share of the other starts found the same components."""
    data = work.splits.whole.data
    frame = replace(work.frame, settings=CLOSELY)
    parts = Parts.of(frame, setting, iter([data]))
    runs = parts.begin(setting.hard, n_starts, n_starts)[0]
    best, others = runs[0], [run for run in runs[1:] if np.isfinite(run.objective)]
    agreeing = None
    if others:
        factors = [(run.A, run.B, run.C) for run in others]
        agreeing = float(np.mean(agreement_with((best.A, best.B, best.C), factors, "ABC") >= _SAME))
    fits = Fits(setting.hard, [best], parts)
    if setting.is_relaxed:
        *_, fits = fit_path(parts, setting.path[1:], 1, fits)
    B, C = (factor.astype(np.float64) for factor in fits.factors(0))
    A = best_rows(frame.problem(setting, data, 1.0), B, C, frame.settings)
    return Whole(setting, A, B, C, agreeing)


def null_gains(
    work: Work, whole: Whole | None, fewer: Candidate | None, more: Candidate, draws: Sequence[int]
) -> list[float]:
    """What one setting gains over another on surrogates, in which there is nothing to gain."""
    data = work.splits.whole.data
    A, W = (None, None) if whole is None else (whole.A, whole.B * whole.C[:, None, :])
    made = (work.splits.of_data(surrogate(data, A, W, work.rng(3, draw, more.rank))) for draw in draws)
    trial = Trial(work, more, draws, made)
    found = []
    for setting in (fewer, more):
        if setting is None:
            found.append(trial.squares())
            continue
        *_, fits = fit_path(trial.parts, setting.path, _STARTS)
        found.append(trial.errors(fits))
    return [rules.relative_gain(float(one.sum()), float(other.sum())) for one, other in zip(*found)]
