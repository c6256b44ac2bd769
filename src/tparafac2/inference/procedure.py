"""Intervals of a fit: a less smooth fit as their centre, refits around it, and what these say."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Intake, SliceData
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.fitting import FitPlan, count_jobs, read_groups
from tparafac2.inference.asked import FEWEST, Request, read_contrasts, require_units, require_usable
from tparafac2.inference.drawing import ResidualDraws, RowDraws, can_draw_rows, require_residuals
from tparafac2.inference.moves import Moves, extremes
from tparafac2.inference.refits import Refits, all_refits, broken, problem_of, refits_elsewhere
from tparafac2.inference.spread import Factors, Spread, matched, turning_to
from tparafac2.large import stored_if_large
from tparafac2.penalties import asks_for, joins_rows, softens
from tparafac2.preparing import Prepared
from tparafac2.result import (
    UNSTABLE,
    Band,
    Intervals,
    Result,
    Terms,
    relative_error,
    require_fitted,
    take_again,
)
from tparafac2.solver import Run, Start, solve
from tparafac2.starts import Progress, child_seeds, in_units, one_of_several
from tparafac2.words import Setting


def intervals_of(
    result: Result,
    X: Any,
    request: Request,
    *,
    mask: Any = None,
    dims: Mapping[str, Hashable] | None = None,
    weights: Any = None,
) -> Intervals:
    """Find bands around the factors of a result.

    Parameters
    ----------
    result : Result
    X, mask, dims, weights
        The data of the fit, as in `fit`.
    request : Request

    Returns
    -------
    Intervals
    """
    request.check()
    require_usable(result)
    intake = _data_of(result, X, mask=mask, dims=dims, weights=weights)
    task = _Task(result, intake, request)
    task.check()
    with one_of_several("data drawn anew"):
        progress = Progress(request.progress, of="refits")
    try:
        return task.run(progress)
    finally:
        progress.close()


def _require_rows_apart(terms: Terms) -> None:
    """Refuse to draw rows anew where a term looks at all of them together."""
    for term in terms.A:
        if joins_rows(term):
            raise InvalidValue(
                f"the model has a term on the loadings of all rows together ({type(term).__name__}), which "
                "means something else for rows drawn anew: use ",
                Setting("over", "residuals"),
                ".",
            )


def _data_of(result: Result, X: Any, **given: Any) -> Intake:
    """The data of the fit, as it took them in; refuse others."""
    if stored_if_large(X.data if isinstance(X, Prepared) else X, given["dims"]) is not None:
        raise InvalidType(
            "intervals come of many fits to data in memory, and X is read in blocks of rows: fit some of the "
            "rows, as tparafac2.Stored(X).sample() draws them, and ask for the intervals of that fit."
        )
    intake = take_again(
        result,
        X,
        **given,
        times="even" if result.times is None else result.times,
        dtype=result.method.dtype,
        bridge=bool(result.parameters.get("bridge", True)),
    )
    require_fitted(result, 1.0 - relative_error(result, intake))
    return intake


@dataclass(frozen=True, eq=False)
class _Task:
    """A result, its data, and what is asked of them."""

    result: Result
    intake: Intake
    request: Request

    @property
    def data(self) -> SliceData:
        return self.intake.data

    @property
    def order(self) -> list[int]:
        return list(self.intake.order)

    @cached_property
    def contrasts(self) -> tuple[tuple[int, int, int, int], ...]:
        return read_contrasts(self.request.contrasts, self.result)

    @cached_property
    def groups(self) -> NDArray[np.intp] | None:
        return read_groups(self.request.groups, self.intake.labels, self.data.shape[1])

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        rows = np.arange(self.data.shape[1])
        if self.groups is None:
            return list(rows[:, None])
        return [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]

    @cached_property
    def undersmoothing(self) -> float:
        return 1.0 if self.result.smoothness is None else float(self.request.undersmoothing)

    @cached_property
    def terms(self) -> Terms:
        """Those of the fit, with all norm penalties lower: by that factor the smoothness is, too."""
        terms = self.result.terms
        if self.undersmoothing == 1:
            return terms
        lighter = {mode: tuple(map(self._lighter, those)) for mode, those in terms.modes.items()}
        return replace(terms, **lighter)  # type: ignore[arg-type]

    def _lighter(self, term: Any) -> Any:
        """A norm penalty by that much lighter; so is what draws to the constraint: rigidity is relative."""
        if not (term.degree == 2 or softens(term)) or not hasattr(term, "strength"):
            return term
        return replace(term, strength=term.strength / self.undersmoothing)

    def _all(
        self, refits: Refits, seeds: Sequence[np.random.SeedSequence], progress: Progress
    ) -> Iterator[Run]:
        if self.request.client is not None:
            return refits_elsewhere(refits, seeds, self.request.client, progress)
        return all_refits(refits, seeds, count_jobs(self.request.n_jobs), progress)

    def check(self) -> None:
        """Refuse before any work what cannot be done with these data."""
        _ = self.contrasts
        if "rows" in self.request.kinds:
            _require_rows_apart(self.terms)
            what = "rows" if self.groups is None else "groups"
            require_units(len(self.members), self.result.rank, what)
            if not can_draw_rows(self.data):
                raise InvalidType(
                    f"no rows can be drawn from {type(self.data).__name__}: give the slices themselves."
                )
        if "residuals" in self.request.kinds:
            require_residuals(self.data)

    def run(self, progress: Progress) -> Intervals:
        """All refits, and what comes of them."""
        result, request = self.result, self.request
        centre, found, own = self._centre()
        model = Factors.of(*centre)
        known = self._known()
        ends = dict(zip(("rises", "falls"), extremes(known, goes_round=result.period is not None)))
        moves = Moves(model.B, own.B, np.isfinite(known), self.data.nbytes)
        changes: dict[str, Band] = {}
        spreads, missed, done, asked = {}, np.zeros(result.rank), {}, request.n_resamples
        for place, kind in enumerate(request.kinds):
            around, smoother = (self._measured(factors) for factors in (model, own))
            spread = Spread({name: around[name] for name in self._names(kind)}, smoother, self._owners())
            draws = self._draws(kind, centre)
            refits = Refits(draws.data, draws, self.terms, centre, kind == "residuals")
            seeds = child_seeds(request.random_state, (place + 1) * asked)[-asked:]
            count, lost = 0, np.zeros(result.rank)
            for run in self._all(refits, seeds, progress):
                count += 1
                if broken(run):
                    lost += 1
                    continue
                same, again = matched(Factors.of(run.A, run.B, run.C), model)
                lost += ~again
                spread.add(self._measured(same), again)
                if "patterns" in spread.centre:
                    moves.add(same.B, again)
            done[kind], spreads[kind] = count, spread
            if count < min(FEWEST, asked):
                raise KeyboardInterrupt(
                    f"interrupted after {count} of {asked} refits, and at least {FEWEST} are needed: the "
                    "model is as it was, without intervals."
                )
            missed = np.maximum(missed, lost / count)
            changes = changes or moves.bands(ends, request.level)
            if count < asked:  # whoever interrupts does not wait for more of another kind
                break
        missed = np.where(found, missed, 1.0)
        return self._packed(spreads, changes, missed, done, ends)

    def _centre(self) -> tuple[Start, NDArray[np.bool_], Factors]:
        """The less smooth fit in the solver's units, which components of the model it has, and the model.

        Components are in the order of the model.
        """
        result, order = self.result, self.order
        own = Start(result.A, np.asarray(result.B)[order], result.C[order])
        problem = problem_of(self.data, self.terms, result.rank)
        start = in_units(own, problem.unit, fixed_strengths=problem.fixed_strengths)
        model = Factors.of(*start)
        if self.undersmoothing == 1:
            return start, np.ones(result.rank, dtype=bool), model
        (run,) = solve(problem, [start], FitPlan(result.rank).settings(self.data.dtype))
        turn, found = turning_to(model, Factors.of(run.A, run.B, run.C))
        centre = Start(run.A @ turn, run.B @ turn, run.C @ np.abs(turn))
        return centre, found, matched(model, Factors.of(*centre))[0]

    def _draws(self, kind: str, centre: Start) -> RowDraws | ResidualDraws:
        if kind == "rows":
            return RowDraws(self.data, centre.A, self.members, self.result.preparation)
        return ResidualDraws.around(self.data, centre)

    def _known(self) -> NDArray[np.float64]:
        """Patterns of the model (K, J, R) that the data determine, in the order of time; NaN elsewhere."""
        result, order = self.result, self.order
        known = np.asarray(result.normalised().B, dtype=np.float64)[order].copy()
        if not result.constant:
            known[np.broadcast_to(result.undetermined_patterns[order][:, None, :], known.shape)] = np.nan
            if result.coverage is not None:
                known[result.coverage[order] == 0] = np.nan
        return known

    def _names(self, kind: str) -> tuple[str, ...]:
        moving = ("patterns", "strengths", "contrasts")
        if self.request.over == "residuals":
            return (*moving, "loadings")
        return moving if kind == "rows" else ("loadings",)

    def _owners(self) -> dict[str, NDArray[np.intp]]:
        """Of which component every last index is."""
        each = np.arange(self.result.rank)
        names = ("patterns", "strengths", "loadings")
        mine = np.array([component - 1 for component, *_ in self.contrasts], dtype=np.intp)
        return dict.fromkeys(names, each) | {"contrasts": mine}

    def _measured(self, factors: Factors) -> dict[str, Any]:
        B = factors.B
        place = {k: n for n, k in enumerate(self.order)}
        asked = [
            B[place[end], j, r - 1] - B[place[begin], j, r - 1] if {begin, end} <= set(place) else np.nan
            for r, j, begin, end in self.contrasts
        ]
        size = self.data.scale
        return {
            "patterns": B,
            "strengths": factors.C * size,
            "loadings": factors.A,
            "contrasts": np.array(asked, dtype=np.float64),
        }

    def _packed(
        self,
        spreads: Mapping[str, Spread],
        changes: Mapping[str, Band],
        missed: NDArray[np.float64],
        done: Mapping[str, int],
        ends: Mapping[str, NDArray[np.intp]],
    ) -> Intervals:
        request, terms = self.request, self.terms
        bounds = {
            "patterns": 0.0 if asks_for(terms.B, "nonnegative") else -np.inf,
            "loadings": 0.0 if asks_for(terms.A, "nonnegative") else -np.inf,
            "strengths": 0.0 if asks_for(terms.C, "nonnegative") else -np.inf,
        }
        unstable = missed > UNSTABLE

        def trusted(band: Band, owners: NDArray[np.intp]) -> Band:
            gone = unstable[owners]
            return band._replace(
                lower=np.where(gone, np.nan, band.lower), upper=np.where(gone, np.nan, band.upper)
            )

        bands = {name: trusted(band, np.arange(len(missed))) for name, band in changes.items()}
        for spread in spreads.values():
            for name in spread.centre:
                most = 1.0 if name in ("patterns", "loadings") else np.inf
                band = spread.band(name, request.level, bound=bounds.get(name, -np.inf), most=most)
                band = trusted(band, spread.owners[name])
                bands[name] = self._all_times(band) if name in ("patterns", "strengths") else band
        order = np.array(self.order, dtype=np.intp)
        return Intervals(
            level=float(request.level),
            over=request.over,
            n_resamples=min(done.values()),
            unmatched=missed,
            asked=self.contrasts,
            rise_times=order[ends["rises"]],
            fall_times=order[ends["falls"]],
            undersmoothing=self.undersmoothing,
            groups=None if self.groups is None else len(self.members),
            interrupted=min(done.values()) < request.n_resamples,
            **bands,
        )

    def _all_times(self, band: Band) -> Band:
        """In the order of the user's slices; nothing is known at times at which nothing was observed."""

        def spread_out(values: NDArray[np.float64]) -> NDArray[np.float64]:
            whole = np.full((self.intake.n_times, *values.shape[1:]), np.nan)
            whole[self.order] = values
            return whole

        return Band(*map(spread_out, band))
