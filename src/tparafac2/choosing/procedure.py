"""The procedure: what is measured, one after the other, until the answer stands."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tparafac2.choosing import rules
from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.rules import Similarity
from tparafac2.choosing.scores import Scores
from tparafac2.choosing.similarity import aligned
from tparafac2.choosing.tasks import (
    Whole,
    Work,
    compare_halves,
    fit_all,
    in_batches,
    null_gains,
    search_rank,
    sums_of,
    try_again,
)
from tparafac2.choosing.workers import Workers

_DRAWS = 3  # of the folds; more where they disagree
_MOST_DRAWS = 10
_FEW_NULLS, _NULLS = 2, 6  # surrogates: where they decide clearly, few are enough
_HALVES = 5
_FEW_ROWS = 50  # with fewer, halves are too small to decide
_WHOLE_STARTS = 6


@dataclass
class Evidence:
    """All that is known of a choice so far; every part may be missing, since the user may interrupt."""

    scores: Scores = field(default_factory=Scores)
    setting: dict[int, Candidate] = field(default_factory=dict)
    final: dict[int, Candidate] = field(default_factory=dict)
    whole: dict[Candidate, Whole] = field(default_factory=dict)
    folds: dict[Candidate, list[Similarity]] = field(default_factory=dict)
    halves: dict[Candidate, list[Similarity]] = field(default_factory=dict)
    nulls: dict[tuple[Candidate | None, Candidate], list[float]] = field(default_factory=dict)

    def settled(self, rank: int) -> Candidate:
        """The setting of a rank: that of least error, unless its relaxed constraint gained too little."""
        return self.final.get(rank, self.setting[rank])

    def threshold(self, fewer: Candidate | None, more: Candidate) -> float | None:
        """What a gain has to exceed; None where that was not measured."""
        null = self.nulls.get((fewer, more), [])
        return rules.upper_range(null) if len(null) > 1 else None


class Procedure:
    """One choice, step by step; every step leaves whole evidence behind.

    Parameters
    ----------
    work : Work
    ranks : sequence of int
    first : Candidate
        Its bounds, changes and model are those of all.
    workers : Workers
    """

    def __init__(self, work: Work, ranks: Sequence[int], first: Candidate, workers: Workers) -> None:
        self.work, self.ranks, self.first, self.workers = work, sorted(ranks), first, workers
        self.known = Evidence()

    def choose_rank(self) -> int:
        """Measure until the answer stands, and give the rank."""
        self._search()
        if not self.known.setting:
            raise KeyboardInterrupt("interrupted before any rank was tried.")
        self._measure(list(self.known.setting), range(1, _DRAWS))
        draws = _DRAWS
        self._find_nulls()
        while len(set(self.by_draw)) > 1 and draws < _MOST_DRAWS and not self.workers.interrupted:
            disputed = range(min(self.by_draw), max(self.by_draw) + 1)
            further = range(draws, min(draws + 2, _MOST_DRAWS))
            self._measure([one for one in self.known.setting if one in disputed], further)
            draws = further.stop
            self._find_nulls()
        self._halve([one for rank, one in self.known.setting.items() if rank <= self.supported + 1])
        return self.chosen

    def relax(self, rank: int) -> None:
        """Keep a relaxed constraint only where that gains more than the null does; otherwise tighten it."""
        setting = self.known.setting[rank]
        hard = self.best_hard(rank)
        if hard is None or hard == setting:
            return
        self._fit_all([hard])
        if hard not in self.known.whole:
            return
        self._measure_settings([hard], range(1, _DRAWS))
        if self.known.scores.gain(hard, setting) > 0:
            self._null([(hard, setting)])
        threshold = self.known.threshold(hard, setting)
        if threshold is not None and self.known.scores.gain(hard, setting) > threshold:
            return
        self.known.final[rank] = hard
        self._halve([hard])

    def jump(self, rank: int) -> dict[str, Any] | None:
        """Let changes be sudden, if that gains more than the null does."""
        smooth = self.known.settled(rank)
        first = smooth._replace(changes="sudden")
        (done,) = self.workers.do(search_rank, [(self._near(smooth), first, 0)])
        if done is None:
            return None
        self.known.scores.add(done[0], 0)
        sudden = rules.settle(sums_of(done[0]))
        self._fit_all([sudden])
        self._measure_settings([sudden], range(1, _DRAWS))
        gain, z = self.known.scores.gain(smooth, sudden), self.known.scores.z(smooth, sudden)
        if gain > 0:
            self._null([(smooth, sudden)])
        threshold = self.known.threshold(smooth, sudden)
        better = threshold is not None and gain > threshold
        if better:
            self.known.final[rank] = sudden
            self._halve([sudden])
        return {"gain": gain, "z": z, "null": threshold, "chosen": better}

    def compare(self, rank: int, others: Sequence[Candidate]) -> list[Candidate]:
        """The best setting of other kinds of model, in the same draws."""
        setting = self.known.settled(rank)
        work, best = self._near(setting), []
        for done in self.workers.do(search_rank, [(work, one, 0) for one in others]):
            if done is not None:
                self.known.scores.add(done[0], 0)
                best.append(rules.settle(sums_of(done[0])))
        return best

    def test_nothing(self, rank: int) -> None:
        """Whether one component gains more than it does where rows have nothing in common."""
        if rank == 1:
            self._null([(None, self.known.setting[1])])

    def relaxation(self, rank: int) -> dict[str, Any] | None:
        """What relaxing the constraint gains at a rank; None where not both were tried."""
        setting, hard = self.known.settled(rank), self.best_hard(rank)
        scores = self.known.scores
        soft = setting
        if hard == setting:
            tested = [more for fewer, more in self.known.nulls if fewer == hard and more.rank == rank]
            kind = self.first._replace(rank=rank, smoothness=None)
            own = [one for one in scores.errors if one.hard._replace(smoothness=None) == kind]
            relaxed = {
                one: scores.error(one, [0]) for one in own if one.is_relaxed and 0 in scores.errors[one]
            }
            if not relaxed:
                return None
            soft = tested[0] if tested else rules.smoothest(relaxed)
        if hard is None or not soft.is_relaxed:
            return None
        gain, z = scores.gain(hard, soft), scores.z(hard, soft)
        return {"gain": gain, "z": z, "null": self.known.threshold(hard, soft), "chosen": setting.is_relaxed}

    def stability(self, rank: int) -> np.ndarray | None:
        """How similar each component stays at settings that predict as well, at the worst."""
        setting = self.known.settled(rank)
        if setting not in self.known.whole or self.workers.interrupted:
            return None
        errors = {
            one: self.known.scores.error(one, [0])
            for one in self.known.scores.errors
            if one.label == setting.label and one.rank == rank and 0 in self.known.scores.errors[one]
        }
        others = [one for one in rules.tied(errors, setting) if one != setting] if setting in errors else []
        if not others:
            return None
        model = self.known.whole[setting].model
        worst = np.ones(rank)
        for fit in self.workers.do(fit_all, [(self.work, one, 2) for one in others]):
            if fit is None:
                return None
            worst = np.minimum(worst, (aligned(fit.model, model) * model).sum(axis=0))
        return np.asarray(worst)

    @property
    def order(self) -> tuple[int, ...]:
        """Which of the user's slices were fitted, in the order of time."""
        return self.work.splits.whole.order

    # --- what is measured ---

    def _search(self) -> None:
        """Errors of all settings, rank by rank, until two ranks beyond the best are known."""
        together = max(1, self.workers.n_jobs)
        for first in range(0, len(self.ranks), together):
            some = self.ranks[first : first + together]
            pieces = [(self.work, self.first._replace(rank=rank), 0) for rank in some]
            for rank, done in zip(some, self.workers.do(search_rank, pieces)):
                if done is None:
                    return
                found, self.known.scores.squares = done
                self.known.scores.add(found, 0)
                self.known.setting[rank] = rules.settle(sums_of(found))
                if self._is_enough():
                    return

    def _is_enough(self) -> bool:
        errors = {rank: self.known.scores.error(one) for rank, one in self.known.setting.items()}
        least = min(errors.values())
        best = min(rank for rank, error in errors.items() if error <= (1 + rules.TIE_BAND) * least)
        return sum(rank > best for rank in errors) >= rules.BEYOND

    def _measure(self, ranks: Sequence[int], draws: Sequence[int]) -> None:
        """Fit all rows at the setting of each rank, and try it again in further draws of the folds."""
        settings = [self.known.setting[rank] for rank in ranks]
        self._fit_all(settings)
        self._measure_settings(settings, draws)

    def _measure_settings(self, settings: Sequence[Candidate], draws: Sequence[int]) -> None:
        tasks = []
        for some in in_batches(self.work, draws):
            for one in settings:
                whole = self.known.whole.get(one)
                tasks.append((self.work, one, some, None if whole is None else whole.model))
        for (_, setting, some, _), done in zip(tasks, self.workers.do(try_again, tasks)):
            if done is None:
                continue
            for draw, errors in zip(some, done[0]):
                self.known.scores.add({setting: errors}, draw)
            self.known.folds.setdefault(setting, []).extend(done[1])

    def _fit_all(self, settings: Sequence[Candidate]) -> None:
        missing = [one for one in settings if one not in self.known.whole]
        done = self.workers.do(fit_all, [(self.work, one, _WHOLE_STARTS) for one in missing])
        self.known.whole |= {one: fit for one, fit in zip(missing, done) if fit is not None}

    def _halve(self, settings: Sequence[Candidate]) -> None:
        some = [one for one in settings if one in self.known.whole and one not in self.known.halves]
        pieces = [
            (self.work, one, draws, self.known.whole[one].model)
            for one in some
            for draws in in_batches(self.work, range(_HALVES))
        ]
        for (_, setting, _, _), found in zip(pieces, self.workers.do(compare_halves, pieces)):
            if found is not None:
                self.known.halves.setdefault(setting, []).extend(found)

    def _find_nulls(self) -> None:
        """What is gained where there is nothing to gain, wherever that decides."""
        while not self.workers.interrupted:
            wanted = {pair for draw in (None, *self._all_draws()) if (pair := self._unknown(draw))}
            if not wanted:
                return
            self._null([self._pair(*pair) for pair in sorted(wanted)])

    def _unknown(self, draw: int | None) -> tuple[int, int] | None:
        """Which gain decides next, where it is not known yet what it has to exceed."""
        missing: list[tuple[int, int]] = []

        def threshold(fewer: int, more: int) -> float:
            found = self._threshold(fewer, more)
            if found is None:
                missing.append((fewer, more))
            return math.inf if found is None else found

        rules.climb(self._errors(draw), threshold)
        return missing[0] if missing else None

    def _null(self, pairs: Sequence[tuple[Candidate | None, Candidate]]) -> None:
        """Gains on surrogates: a few, and more of them where these leave open what decides."""
        new = [
            pair
            for pair in pairs
            if (pair[0] is None or pair[0] in self.known.whole) and pair not in self.known.nulls
        ]
        self._surrogates(new, range(_FEW_NULLS))
        known = [pair for pair in new if len(self.known.nulls.get(pair, [])) == _FEW_NULLS]
        scores = self.known.scores
        gains = {
            (fewer, more): 1.0 - scores.error(more) if fewer is None else scores.gain(fewer, more)
            for fewer, more in known
        }
        close = [pair for pair in known if not rules.is_clear(gains[pair], self.known.nulls[pair])]
        self._surrogates(close, range(_FEW_NULLS, _NULLS))

    def _surrogates(self, pairs: Sequence[tuple[Candidate | None, Candidate]], draws: Sequence[int]) -> None:
        pieces = [
            (self.work, None if fewer is None else self.known.whole.get(fewer), fewer, more, some)
            for fewer, more in pairs
            for some in in_batches(self.work, draws)
        ]
        for (_, _, fewer, more, _), gains in zip(pieces, self.workers.do(null_gains, pieces)):
            if gains is not None:
                self.known.nulls.setdefault((fewer, more), []).extend(gains)

    def _near(self, setting: Candidate) -> Work:
        """Settings near the chosen one."""
        grid = self.work.smoothness
        place = next((i for i, one in enumerate(grid) if one == setting.smoothness), 0)
        near = grid[max(place - 1, 0) : place + 2]
        return self.work._replace(smoothness=near, rigidity=tuple({math.inf, setting.rigidity}))

    # --- what follows ---

    def best_hard(self, rank: int) -> Candidate | None:
        """The best setting of a rank with the constraint; None where none was tried."""
        own = {
            one: self.known.scores.error(one, [0])
            for one in self.known.scores.errors
            if one._replace(smoothness=None) == self.first._replace(rank=rank, smoothness=None)
        }
        return rules.smoothest(own) if own else None

    def there(self, rank: int) -> bool:
        """Whether every component of a rank is found again in other rows, as far as that is known."""
        found = self.similarity(rank)
        return found is None or "not there" not in rules.verdicts(found)

    @property
    def by_folds(self) -> bool:
        """Whether folds decide on components, since halves of the rows are small."""
        return self.work.splits.shape[1] < _FEW_ROWS

    def similarity(self, rank: int) -> Similarity | None:
        """What decides on the components of a rank."""
        known = self.known.folds if self.by_folds else self.known.halves
        return rules.median_of(known.get(self.known.settled(rank), []))

    def _pair(self, fewer: int, more: int) -> tuple[Candidate, Candidate]:
        return self.known.setting[fewer], self.known.setting[more]

    def _threshold(self, fewer: int, more: int) -> float | None:
        return self.known.threshold(*self._pair(fewer, more))

    def _all_draws(self) -> list[int]:
        return sorted({draw for one in self.known.setting.values() for draw in self.known.scores.draws(one)})

    def _errors(self, draw: int | None) -> dict[int, float]:
        """Errors by rank, of one draw or of all; ranks that were not tried again have their mean."""
        scores = self.known.scores
        return {
            rank: scores.error(one, [draw] if draw in scores.errors[one] else None)
            for rank, one in self.known.setting.items()
        }

    def _chain(self, draw: int | None) -> list[int]:
        def threshold(fewer: int, more: int) -> float:
            found = self._threshold(fewer, more)
            return math.inf if found is None else found

        return rules.climb(self._errors(draw), threshold)

    @property
    def by_draw(self) -> list[int]:
        """The largest supported rank in every draw of the folds."""
        return [self._chain(draw)[-1] for draw in self._all_draws()]

    @property
    def supported(self) -> int:
        """The largest rank that gains more than the null does, in most draws."""
        counts = Counter(self.by_draw)
        return min(counts, key=lambda rank: (-counts[rank], rank))

    @property
    def chain(self) -> list[int]:
        """Ranks up to the supported one, each of which gains more than the null does."""
        return [rank for rank in self._chain(None) if rank < self.supported] + [self.supported]

    @property
    def chosen(self) -> int:
        """The largest supported rank of which all components are found again in other rows.

        A smaller rank may fail where this one does not: three components of five are a matter of which.
        """
        return max((rank for rank in self.chain if self.there(rank)), default=self.chain[0])
