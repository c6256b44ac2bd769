"""The procedure: from data to a model whose rank, smoothness and rigidity the data chose."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any, NamedTuple, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.choice import Choice, as_record
from tparafac2.choosing.evidence import Evidence, Measured
from tparafac2.choosing.halves import Split, split_likeness, usable_splits
from tparafac2.choosing.hidden import hidden_errors
from tparafac2.choosing.hiding import Hidden
from tparafac2.choosing.likeness import Likeness, aligned, cross_likeness, likeness
from tparafac2.choosing.parts import Parts
from tparafac2.choosing.rules import (
    GIVES_WAY,
    IMPROVES,
    RankChoice,
    Settled,
    choose_rank,
    paired_z,
    settle,
    verdicts,
)
from tparafac2.choosing.search import Asked, Search
from tparafac2.choosing.workers import Workers
from tparafac2.fitting import count_jobs, read_groups, warn_if_unsound
from tparafac2.metrics import assign
from tparafac2.models import Decomposition
from tparafac2.reasons import above
from tparafac2.result import AGREEMENT, Result, Trust, courses, share_alike
from tparafac2.solver import compile_missing

Done = TypeVar("Done")

_SHARE = 0.1  # of the observed entries that choose, and as many that test
_WHOLE: dict[str, Any] = {"tol": 1e-6, "feasibility_tol": 1e-4, "max_iter": 500, "n_jobs": 1}
_WHOLE_STARTS = 6
_SAME_COMPONENT = 0.95  # likeness from which a component of the last fit is the one looked for in halves
_UNIDENTIFIED_COST = 0.02  # so much more error is paid for components that the starts agree on


def choose(
    X: Any,
    *,
    dims: Mapping[str, Hashable] | None = None,
    mask: Any = None,
    times: Any = None,
    weights: Any = None,
    groups: Any = None,
    client: Any = None,
    **search: Unpack[Asked],
) -> Choice:
    """Let the data choose rank, smoothness and rigidity, and say how far to trust the answer.

    Smoothness and rigidity are those that best predict observed entries which were hidden from the fit; the
    PARAFAC2 constraint gives way only if that helps at entries that did not choose. The rank is the largest
    one that still predicts better than fewer, and whose components are all found again in other rows.

    Parameters
    ----------
    X, dims, mask, times, weights
        As in `fit`; weights as numbers only.
    groups : sequence of I values, or mapping or Series by row label, optional
        Groups of rows (treatment, sex, region): halves of the rows have half of each.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers do the fits that choose, instead of processes. The last fit, of what
        was chosen, is done here.
    ranks : int or several, optional
        Ranks to try; one is taken as it is. 1 to 8, as far as halves of the rows allow. Larger ones are
        left out once one predicts worse than a smaller one, or two in a row no better.
    smoothness, rigidity : float or several, optional
        Values to try; one number is taken as it is. Half decades from 1e-4 to 1e-1; and infinite, 100, 10,
        1, 0.1 and 0.
    nonnegative : {"auto", "patterns", "rows", "both"}, optional
        What must not be negative: "auto" searches with non-negative patterns where no data are negative.
    changes : {"smooth", "sudden", "auto"}
        How patterns change, see `TParafac2`. "auto" searches with smooth changes, and takes sudden ones where
        these predict better at entries that did not choose.
    sparsity, smooth_strengths
        As in `TParafac2`, and taken as they are; models without norm penalties are compared without them.
    compare : bool
        Also set other models (CP, PARAFAC2, the hard and the flexible one, smooth or sudden changes, and
        other bounds where no data are negative) beside the chosen one, on the same hidden entries and halves.
    n_masks : int
        How often entries are hidden: a tenth that chooses and another that tests.
    n_splits : int
        How often the rows are halved; 0 leaves that out, and replicability is not known.
    threshold : float
        Likeness from which a component is replicable.
    n_starts, max_iter, period, bridge, dtype
        As in `TParafac2`.
    random_state : int, optional
        The same seed gives the same choice.
    n_jobs : int
        Fits that run side by side, each in a process of its own; -1 for one per core. The answer does not
        depend on it.
    progress : bool, optional
        Show a line of progress; by default only on a terminal.
    keep : bool
        Keep the models that were fitted to all data for each rank, and those compared, in ``Choice.models``.

    Returns
    -------
    Choice
        With the fitted model. After Ctrl-C the best so far: what was not measured is then not known.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=1, noise=0.2, n_times=6, n_rows=60, n_columns=30, n_concepts=2).X
    >>> choice = tp.choose(X, ranks=range(1, 4), smoothness=[1e-3, 1e-2], rigidity=float("inf"),
    ...                    compare=False, n_masks=1, n_splits=3, n_starts=3, random_state=0)
    >>> choice.model.rank
    2
    """
    _require_known(search)
    asked = Search(**search)
    parts = Parts.of(
        X,
        dims=dims,
        mask=mask,
        times=times,
        weights=weights,
        dtype=asked.dtype,
        bridge=asked.bridge,
    )
    if search.get("ranks") is None:
        asked = asked.cut_to(parts.shape)
    asked.check_size(parts.shape)
    members = read_groups(groups, parts.labels, parts.shape[1])
    choice = _Procedure(asked, parts, members, client).run()
    warn_if_unsound(choice.model.result_)
    return choice


def _require_known(given: Mapping[str, Any]) -> None:
    known = [*Asked.__annotations__, "dims", "mask", "times", "weights", "groups", "client"]
    for name in given:
        if name not in known:
            like = get_close_matches(name, known, 1)
            meant = f": did you mean {like[0]}?" if like else "."
            raise TypeError(f"choose has no argument {name!r}{meant}")


class _Piece(NamedTuple):
    """What a worker needs to know."""

    parts: Parts
    search: Search
    seed: int


class _Procedure:
    """One choice, step by step; every step leaves whole evidence behind."""

    def __init__(
        self, search: Search, parts: Parts, groups: NDArray[np.intp] | None, client: Any = None
    ) -> None:
        streams = np.random.SeedSequence(_entropy(search.random_state)).spawn(3)
        draws, halves = (np.random.default_rng(stream) for stream in streams[:2])
        seed = int(streams[2].generate_state(1)[0])
        bound = search.nonnegative
        if bound == "auto":
            bound = "patterns" if parts.nonnegative else None
        self.search, self.parts, self.groups, self.client = search, parts, groups, client
        changes = "sudden" if search.changes == "sudden" else "smooth"
        self.first = Candidate(search.ranks[0], nonnegative=bound, changes=changes)
        self.sudden: dict[str, Any] | None = None
        self.work = _Piece(parts, search, seed)
        self.masks = [parts.draw(draws, _SHARE) for _ in range(search.n_masks)]
        self.splits = usable_splits(halves, parts, search.n_splits, groups)
        self.evidence = Evidence(search.threshold, search.n_masks)

    def run(self) -> Choice:
        """Measure, judge, and fit what was chosen."""
        # Or each process would compile for itself.
        if self.client is not None or count_jobs(self.search.n_jobs) > 1:
            for observed in (True, False):
                compile_missing(self.search.dtype, observed)
        with Workers(self.search.n_jobs, self.search.progress, self.client) as workers:
            n_models = len(self.search.ranks) + len(self._others(self.first)) * self.search.compare
            workers.expect(n_models * (len(self.masks) + 1 + len(self.splits)))
            self._search_ranks(workers)
            self._fit_whole(workers, [one.chosen for one in self.evidence.settled.values()])
            self._settle_on_what_is_determined(workers)
            self._halve(workers, [one.chosen for one in self.evidence.settled.values()])
            if not self.evidence.settled:
                raise KeyboardInterrupt("interrupted before any rank was tried on hidden entries.")
            rank = choose_rank(self.evidence.by_rank(), workers.interrupted)
            chosen = self.evidence.settled[rank.rank].chosen
            if self.search.changes == "auto":
                chosen = self._let_jump(workers, chosen)
            if self.search.compare:
                self._compare(workers, chosen)
            interrupted = workers.interrupted
        model = self.search.model(chosen).fit_intake(self.parts.whole, self.parts.preparation)
        return self._finished(model, chosen, rank, interrupted)

    def _search_ranks(self, workers: Workers) -> None:
        """Errors at hidden entries, rank by rank, until larger ones predict no better."""
        ranks = list(self.search.ranks)
        together = max(1, workers.n_jobs // len(self.masks))  # ranks that are worked on side by side
        for first in range(0, len(ranks), together):
            some = ranks[first : first + together]
            pieces = [
                (self.work, mask, self.first._replace(rank=rank)) for rank in some for mask in self.masks
            ]
            done = workers.do(_measure, pieces)
            for rank, masks in zip(some, _grouped(done, len(self.masks))):
                if masks is None:
                    return
                self.evidence.settled[rank] = settle(self.evidence.add(masks), (), len(self.masks))
                if self._is_enough():
                    return

    def _is_enough(self) -> bool:
        """Whether the last rank predicted worse than the best before it, or the last two no better."""
        chosen = [one.chosen for _, one in sorted(self.evidence.settled.items())]
        for last, z in ((1, -IMPROVES), (2, IMPROVES)):
            if len(chosen) > last:
                earlier = min(chosen[:-last], key=self.evidence.error)
                if all(self.evidence.z(one, earlier) < z for one in chosen[-last:]):
                    return True
        return False

    def _fit_whole(self, workers: Workers, candidates: Sequence[Candidate]) -> None:
        """Fit all data, from several starts, to see whether these agree."""
        fits = workers.do(_fit_whole, [(self.work, one) for one in candidates])
        self.evidence.whole |= {one: fit for one, fit in zip(candidates, fits) if fit is not None}

    def _settle_on_what_is_determined(self, workers: Workers) -> None:
        """Where starts disagree at a setting, take a smoother one that predicts nearly as well."""
        again = []
        for rank, settled in self.evidence.settled.items():
            agreement = self.evidence.agreement(settled.chosen)
            if agreement is None or agreement >= AGREEMENT:
                continue
            errors = {one: error for one, error in self.evidence.errors.items() if one.rank == rank}
            least = (settled.chosen.smoothness or 0.0) * 1.5
            smoother = [
                one
                for one in errors
                if (one.smoothness or 0.0) > least
                and one.is_flexible == settled.chosen.is_flexible
                and self.evidence.error(one) <= (1 + _UNIDENTIFIED_COST) * self.evidence.error(settled.chosen)
            ]
            if smoother:
                found = settle(errors, barred=[one for one in errors if one not in smoother])
                again.append((rank, settled._replace(chosen=found.chosen, band=found.band)))
        self._fit_whole(workers, [settled.chosen for _, settled in again])
        for rank, settled in again:
            before = self.evidence.settled[rank].chosen
            if (self.evidence.agreement(settled.chosen) or 0.0) > (self.evidence.agreement(before) or 0.0):
                paid = above(self.evidence.error(settled.chosen), self.evidence.error(before))
                self.evidence.paid[rank] = paid
                self.evidence.settled[rank] = settled

    def _halve(self, workers: Workers, candidates: Sequence[Candidate]) -> None:
        """Look for the components of all data in halves of the rows."""
        known = [one for one in candidates if one in self.evidence.whole]
        pieces = [
            (self.work, split, one, courses(self.evidence.whole[one]))
            for one in known
            for split in self.splits
        ]
        for one, crossed in zip(known, _grouped(workers.do(_halve, pieces), len(self.splits))):
            if crossed is not None:
                self.evidence.likeness[one] = likeness(crossed)

    def _compare(self, workers: Workers, chosen: Candidate) -> None:
        """Set other models beside the chosen one, on the same hidden entries and halves."""
        beside = [one.chosen for one in self._settled_near(workers, chosen, self._others(chosen))]
        settled = self.evidence.settled[chosen.rank]
        beside += [one for one in (settled.hard, settled.flexible) if one is not None and one != chosen]
        self._fit_whole(workers, beside)
        self._halve(workers, beside)

    def _settled_near(
        self, workers: Workers, chosen: Candidate, others: Sequence[Candidate]
    ) -> list[Settled]:
        """The best settings of other models, near those of the chosen one."""
        search = replace(
            self.search,
            smoothness=_neighbours(self.search.smoothness, chosen.smoothness),
            rigidity=[math.inf, chosen.rigidity],
        )
        work = self.work._replace(search=search)
        done = workers.do(_measure, [(work, mask, one) for one in others for mask in self.masks])
        measured = [masks for masks in _grouped(done, len(self.masks)) if masks is not None]
        return [settle(self.evidence.add(masks), (), len(self.masks)) for masks in measured]

    def _let_jump(self, workers: Workers, chosen: Candidate) -> Candidate:
        """Let changes be sudden, if that helps at entries that did not choose."""
        found = self._settled_near(workers, chosen, [chosen._replace(changes="sudden")])
        if not found:
            return chosen
        other = found[0].chosen
        smooth, sudden = self.evidence.errors[chosen], self.evidence.errors[other]
        gains = smooth.testing - sudden.testing
        z, gain = paired_z(gains, len(self.masks)), float(gains.sum() / smooth.testing.sum())
        better = z >= GIVES_WAY and sudden.choosing.sum() < smooth.choosing.sum()
        self.sudden = {"z": z, "gain": gain, "chosen": bool(better)}
        if not better:
            return chosen
        self.evidence.settled[chosen.rank] = found[0]
        self._fit_whole(workers, [other])
        self._halve(workers, [other])
        return other

    def _others(self, chosen: Candidate) -> list[Candidate]:
        """Models of the same rank that the chosen one is compared with."""
        plain = Candidate(chosen.rank, nonnegative=chosen.nonnegative)
        others = [plain._replace(model="CP"), plain._replace(model="Parafac2")]
        if self.search.changes != "auto":  # which has tried both
            others.append(plain._replace(changes="smooth" if chosen.changes == "sudden" else "sudden"))
        if self.parts.nonnegative:
            bounds = {None, "patterns", "rows", "both"} - {chosen.nonnegative}
            bound = plain._replace(changes=chosen.changes)
            others += [bound._replace(nonnegative=one) for one in sorted(bounds, key=str)]
        return others

    def _finished(
        self, model: Decomposition, chosen: Candidate, rank: RankChoice, interrupted: bool
    ) -> Choice:
        """The fitted model with all that is known of how far to trust it."""
        settled, result = self.evidence.settled[chosen.rank], model.result_
        stability = None
        same = self._in_order_of(result, chosen)
        if not interrupted:
            with Workers(self.search.n_jobs, self.search.progress, self.client) as workers:
                if not same:
                    self.evidence.whole[chosen] = result
                    self._halve(workers, [chosen])
                stability = self._stability(workers, result, [one for one in settled.band if one != chosen])
                interrupted = workers.interrupted
        found = self.evidence.likeness.get(chosen)
        trust = Trust(
            replicability=None if found is None else found.own,
            chance=None if found is None else found.chance,
            verdict=None if found is None else np.array(verdicts(found, self.search.threshold)),
            stability=stability,
            threshold=self.search.threshold,
            n_splits=None if found is None else len(self.splits),
            n_settings=None if stability is None else len({chosen, *settled.band}),
            z=settled.z,
            gain=settled.gain,
        )
        agreement = share_alike(result.starts)
        if agreement is not None and agreement < AGREEMENT and "starts" not in rank.doubts:
            rank = rank._replace(sure=False, doubts=(*rank.doubts, "starts"))
        record = as_record(self.evidence, rank, chosen, self._facts(interrupted))
        model._take(replace(result, trust=trust, choice=record))
        kept = self.evidence.whole if self.search.keep else {}
        return Choice(model, {one.name: self._as_model(one, fit) for one, fit in kept.items()})

    def _in_order_of(self, result: Result, chosen: Candidate) -> bool:
        """Put what halves say in the order of the final components; if these are others, drop it."""
        found = self.evidence.likeness.get(chosen)
        if found is None:
            return True
        cosines = cross_likeness(courses(result), courses(self.evidence.whole[chosen]))
        own, theirs = assign(cosines)
        order = theirs[np.argsort(own)]
        same = bool(cosines[np.arange(result.rank), order].min() >= _SAME_COMPONENT)
        if same:
            self.evidence.likeness[chosen] = Likeness(found.own[order], found.chance[order])
        else:
            del self.evidence.likeness[chosen]
        return same

    def _stability(
        self, workers: Workers, result: Result, others: Sequence[Candidate]
    ) -> NDArray[np.float64] | None:
        """How alike each component stays at other settings, at the worst; None where that is not known."""
        if not result.C.any():
            return None
        pieces = [(self.work, one, (result.A, result.B, result.C)) for one in others]
        moved = [fit for fit in workers.do(_refit, pieces) if fit is not None]
        if len(moved) < len(others):
            return None
        own = courses(result)
        stays = [np.diag(cross_likeness(own, aligned(courses(fit), own))) for fit in moved]
        return np.asarray(np.min([np.ones(result.rank), *stays], axis=0))

    def _facts(self, interrupted: bool) -> dict[str, Any]:
        """What there is to know of how it was measured."""
        sizes = [] if self.groups is None else np.bincount(self.groups).tolist()
        return {
            "hides": self.parts.hides,
            "n_masks": len(self.masks),
            "share": sum(one.places.size for one in self.masks[0]) / self.parts.n_observed,
            "n_splits": len(self.splits),
            "threshold": self.search.threshold,
            "groups": len(sizes),
            "single_groups": sum(size == 1 for size in sizes),
            "ranks_asked": list(self.search.ranks),
            "interrupted": interrupted,
            "nonnegative_data": self.parts.nonnegative,
            "bound_by_data": self.search.nonnegative == "auto" and self.parts.nonnegative,
            "sudden": self.sudden,
        }

    def _as_model(self, candidate: Candidate, result: Result) -> Decomposition:
        model = type(self.search.model(candidate))(**result.parameters)
        model._take(result)
        return model


def _grouped(done: Sequence[Done | None], size: int) -> list[list[Done] | None]:
    """What came of pieces of work that belong together, so many each; None where some was not finished."""
    groups = [done[first : first + size] for first in range(0, len(done), size or 1)]
    finished = [[one for one in group if one is not None] for group in groups]
    return [own if len(own) == len(group) else None for own, group in zip(finished, groups)]


def _measure(work: _Piece, mask: Sequence[Hidden], first: Candidate) -> Measured:
    return hidden_errors(work.parts, mask, first, work.search, work.seed)


def _fit_whole(work: _Piece, candidate: Candidate) -> Result:
    starts = min(work.search.n_starts, _WHOLE_STARTS)
    model = work.search.model(candidate, **_WHOLE, n_starts=starts, random_state=work.seed)
    return model.fit_intake(work.parts.whole, work.parts.preparation).result_


def _halve(
    work: _Piece, split: Split, candidate: Candidate, model: NDArray[np.float64]
) -> NDArray[np.float64]:
    way = [work.search.model(one) for one in work.search.way_to(candidate)]
    return split_likeness(work.parts, split, way, model, work.seed)


def _refit(work: _Piece, candidate: Candidate, begin: tuple[Any, Any, Any]) -> Result:
    return work.search.model(candidate, **_WHOLE, init=begin).fit_intake(work.parts.whole).result_


def _neighbours(grid: Sequence[float], chosen: float | None) -> list[float]:
    """The chosen value, and those beside it."""
    place = next((i for i, one in enumerate(grid) if one == chosen), 0)
    return list(grid[max(place - 1, 0) : place + 2])


def _entropy(random_state: Any) -> int | None:
    """What every number that is drawn depends on."""
    if random_state is None or isinstance(random_state, Integral):
        return None if random_state is None else int(random_state)
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1)[0])
    return int(random_state.integers(2**63))
