"""From terms and data to a result: the way every fit takes."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2 import __version__
from tparafac2.data import (
    FIRMLY,
    Compressed,
    Intake,
    PartlyObserved,
    Sketch,
    SliceData,
    Sweepable,
    compress,
    compressed_shape,
    is_complete,
    present_columns,
    require_memory,
    row_weights,
    sample,
    sketch,
    teamwork,
    unseen_columns,
)
from tparafac2.errors import InvalidValue
from tparafac2.fitting.agreement import require_agreement
from tparafac2.fitting.checks import count_jobs
from tparafac2.fitting.memory import needed_bytes
from tparafac2.fitting.packing import pack
from tparafac2.fitting.polishing import on_data, on_sketch, polish
from tparafac2.penalties import Quadratic, asks_for, can_rotate, holds_zero, is_temporal, joins_rows, softens
from tparafac2.result import ENDINGS, GIVEN_FACTORS, Finding, Kind, Method, Result, Terms, sentence
from tparafac2.solver import Problem, Run, Settings, Start, Status, build_problem, finish
from tparafac2.starts import (
    Progress,
    Starts,
    child_seeds,
    choose,
    fit_size,
    in_units,
    is_helper,
    mixed_start,
    prepare,
    read_factors,
    run_starts,
    svd_start,
    uniform_start,
)
from tparafac2.words import PYTHON, Advice, Argument, Words

# Sizes of data for which factors of size one are a start; beyond them, products of the three would overflow.
_PLAIN = {np.dtype(np.float64): (1e-30, 1e30), np.dtype(np.float32): (1e-12, 1e12)}

_SINGLE_TOL = 1e-5

# Weight of a penalty, where data have norm one, beyond which numbers might overflow.
_HEAVIEST = 1e30


class ConvergenceWarning(UserWarning):
    """The chosen run did not end as it should; the message says why and what to do.

    Attributes
    ----------
    findings : tuple of Finding
        The same as data.
    """

    def __init__(self, findings: Sequence[Finding] = ()) -> None:
        super().__init__(findings)
        self.findings = tuple(findings)

    def told(self, words: Words) -> str:
        """Give the message in other words than those of Python."""
        return " ".join(sentence(finding, words) for finding in self.findings)

    def __str__(self) -> str:
        return self.told(PYTHON)


@dataclass(frozen=True)
class FitPlan:
    """How it is to be fitted; the names are those that the models have for it."""

    rank: int
    algorithm: str = "fast"
    max_iter: int = 2000
    tol: float = 1e-8
    feasibility_tol: float = 1e-5
    n_starts: int = 10
    init: Any = "uniform"
    random_state: Any = None
    n_jobs: int = -1
    compress: bool | str = "auto"
    progress: bool | None = None
    period: float | None = None

    def settings(self, dtype: np.dtype[Any]) -> Settings:
        """How the solver is to work on data of this type."""
        # In single precision rounding alone moves the objective by more than a smaller tolerance.
        tol = max(self.tol, _SINGLE_TOL) if self.tol and dtype == np.float32 else self.tol
        make = Settings.paper if self.algorithm == "paper" else Settings
        return make(max_iter=self.max_iter, tol=tol, feasibility_tol=self.feasibility_tol)


def fit(intake: Intake, path: Sequence[Terms], plan: FitPlan, about: Mapping[str, Any]) -> Result:
    """Minimise the squared error plus the terms.

    Parameters
    ----------
    intake : Intake
        The data.
    path : sequence of Terms
        On the clock of the data; the last are what is minimised. Those before are fitted first, each from
        where the one before it ended: drawn starts begin with the first, given ones with the last.
    plan : FitPlan
    about : mapping
        `model` (a name), `parameters` and `preparation`, for the record.
    """
    data = intake.data
    settings = plan.settings(data.dtype)
    path = [tied(terms, data, settings) for terms in path]
    terms = path[-1]
    K, I, J = data.shape
    require_agreement(terms, {"A": (I, plan.rank), "B": (K, J, plan.rank), "C": (K, plan.rank)})
    given = _given_starts(plan, intake)
    stages = path if given is None else path[-1:]
    _require_memory(_problem(data, stages[0], plan.rank, settings), terms, plan, intake.budget)
    with watched(data, plan) as progress:
        compressed = _compress(data, terms, plan)
        problem = _problem(compressed.data, terms, plan.rank, settings)
        small = _sketch(compressed.data, terms, plan) if given is None else None
        bases = [compressed] if small is None else [compressed, small.compressed]
        problems = [_problem(bases[-1].data, stage, plan.rank, settings) for stage in stages]
        for one in problems:
            _require_weights(one)
            _require_lasting_columns(one)
        # Seeds are drawn here, and not by threads in an order of their own.
        seeds = child_seeds(plan.random_state, plan.n_starts) if given is None else []
        begin = Beginning(data, plan, settings, problem, given, seeds)
        signed = not asks_for(terms.A, "nonnegative"), not asks_for(terms.C, "nonnegative")
        starts = Starts(begin.count, lambda i: prepare(begin.start(i), data, bases, signed=signed))
        if small is None:
            runs = _search(problems, starts, settings, plan, progress)
        else:
            # What is small enough for this machine is small enough for every worker.
            client = getattr(data, "client", None)
            runs = _search(problems, starts, on_sketch(settings), plan, progress, client)
            whole = len(runs) == len(starts)  # else the user has interrupted, and asks for the best so far
            runs = on_data(runs, small, problem, settings)
            runs = polish(problem, runs, settings, count_jobs(plan.n_jobs), progress) if whole else runs
    choice = choose(runs, settings, fixed_strengths=terms.fixed_strengths)
    method = _method(plan, settings, data, bases, len(runs))
    about = {**about, "period": plan.period, "method": method, "version": __version__}
    return pack(intake, terms, problem, compressed, runs[choice.chosen], choice, about)


@contextmanager
def watched(data: SliceData, plan: FitPlan) -> Iterator[Progress]:
    """Tell how far the fit is, and how the data are read where that takes most of the time."""
    progress, reads = Progress(plan.progress), getattr(data, "reads", None)
    if reads is not None:
        progress.follow(reads)
    try:
        yield progress
    finally:
        progress.close()


def _search(
    problems: Sequence[Problem],
    starts: Starts,
    settings: Settings,
    plan: FitPlan,
    progress: Progress,
    client: Any = None,
) -> list[Run]:
    """All starts, and from the best of them along the path."""
    runs = run_starts(problems[0], starts, settings, count_jobs(plan.n_jobs), progress, client=client)
    return runs if len(problems) == 1 else follow(problems[1:], runs, settings, plan, progress)


def follow(
    problems: Sequence[Problem], runs: list[Run], settings: Settings, plan: FitPlan, progress: Progress
) -> list[Run]:
    """From the best run through all problems, and back from places that its loadings were mixed to.

    Runs along a path all descend from one, so that their agreement would say nothing; that of the mixed ones,
    as many as starts were asked for, does.
    """
    end = _best(runs, settings)
    for problem in problems:
        if end.status is Status.INTERRUPTED:  # the best so far, as it would be judged at the end
            return [finish(problems[-1], end)]
        (end,) = run_starts(problem, [Start(end.A, end.B, end.C)], settings, 1, progress)
    seeds = child_seeds(plan.random_state, 2 * plan.n_starts)[plan.n_starts + 1 :]
    signed = not problems[-1].a.asks_for("nonnegative")
    mixed = [mixed_start(seed, Start(end.A, end.B, end.C), signed=signed) for seed in seeds]
    return [end, *run_starts(problems[-1], mixed, settings, count_jobs(plan.n_jobs), progress)]


def _best(runs: list[Run], settings: Settings) -> Run:
    return runs[choose(runs, settings, fixed_strengths=False).chosen]


def _problem(data: SliceData, terms: Terms, rank: int, settings: Settings) -> Problem:
    return build_problem(
        data,
        rank,
        (terms.A, terms.B, terms.C),
        fixed_strengths=terms.fixed_strengths,
        absorb=settings.absorb,
        tie=terms.tie,
    )


def tied(terms: Terms, data: SliceData, settings: Settings) -> Terms:
    """Columns hold on to what was seen of them where a term on all of them together would else bend them."""
    turning = asks_for(terms.B, "parafac2") or any(map(softens, terms.B))
    own_systems = isinstance(data, PartlyObserved)  # each column can have its own
    if not (turning and settings.absorb and own_systems) or unseen_columns(data) is None:
        return terms
    bands = [term.bands(data.shape[0]) for term in terms.B if isinstance(term, Quadratic)]
    # Where time goes round, a column is always between two times at which it was seen.
    smooth = any(np.any(off) for _, off, _ in bands) and not any(closing for *_, closing in bands)
    return replace(terms, tie=FIRMLY) if smooth else terms


def _require_memory(problem: Problem, terms: Terms, plan: FitPlan, budget: int | None) -> None:
    data = problem.data
    smaller = compressed_shape(data, plan.rank, **_compressible(terms)) if plan.compress else data.shape
    require_memory(
        needed_bytes(problem, smaller, plan.n_starts, count_jobs(plan.n_jobs)),
        f"Fitting {plan.n_starts} starts of rank {plan.rank} to data of this size",
        (
            "Fewer starts (",
            Argument("n_starts"),
            "), processes (",
            Argument("n_jobs"),
            ") or components (",
            Argument("rank"),
            ") need less, too.",
        ),
        budget,
    )


def _require_weights(problem: Problem) -> None:
    """Refuse penalties beside which data are nothing, also to a computer."""
    for name, terms in (("loadings", problem.a), ("patterns", problem.b), ("strengths", problem.c)):
        if not terms.heaviest <= _HEAVIEST:
            raise InvalidValue(
                f"a penalty on the {name} weighs {terms.heaviest:.0e} beside data of norm "
                f"{problem.data.scale:.3g}, where 1 would leave nothing: lower ",
                Argument("smoothness"),
                Advice(
                    "or_the_lambdas",
                    ", or the lambdas. Only the product of the lambdas matters, so that one may be lowered "
                    "and another raised.",
                ),
            )


def _require_lasting_columns(problem: Problem) -> None:
    """Refuse columns that come and go where the auxiliary of a term would be other than zero there."""
    if present_columns(problem.data) is None:
        return
    for penalty in (term.penalty for term in problem.b.splits):
        if isinstance(penalty, Quadratic):
            raise ValueError(
                "columns that come and go (bridge=False) are not for the smoothness of algorithm='paper', "
                "which knows no such columns: use algorithm='fast', or bridge=True."
            )
        if is_temporal(penalty):
            raise ValueError(
                f"columns that come and go (bridge=False) are not for {type(penalty).__name__}, which knows "
                "no such columns: use TemporalSmoothness, or bridge=True."
            )
        if joins_rows(penalty) or not holds_zero(penalty):
            raise ValueError(
                f"columns that come and go (bridge=False) are not for {type(penalty).__name__}, by which the "
                "pattern of a column that is not there would not be zero: use bridge=True."
            )


def _given_starts(plan: FitPlan, intake: Intake) -> list[Start] | None:
    """Factors given by the user, checked before any work; None where starts are drawn."""
    if isinstance(plan.init, str):
        if plan.init not in ("uniform", "svd"):
            raise ValueError(
                f"init must be 'uniform', 'svd', a tuple (A, B, C) or a list of these; got {plan.init!r}."
            )
        return None
    several = plan.init if isinstance(plan.init, list) else [plan.init]
    if not several:
        raise ValueError("init is an empty list: give at least one tuple (A, B, C), or 'uniform'.")
    shape = (intake.n_times, *intake.data.shape[1:])
    starts = [read_factors(factors, shape, plan.rank) for factors in several]
    seen = list(intake.order)
    return [start._replace(B=start.B[seen], C=start.C[seen]) for start in starts]


def _compressible(terms: Terms) -> dict[str, bool]:
    return {"columns": can_rotate(terms.B, 1), "rows": can_rotate(terms.A, 0)}


def _compress(data: SliceData, terms: Terms, plan: FitPlan) -> Compressed:
    if plan.compress is True and not is_complete(data):
        raise ValueError(
            "compress=True is not possible with missing entries or weights of entries: every entry would "
            "depend on all of its row. Leave it at 'auto', which compresses where that is possible."
        )
    if not plan.compress:
        return Compressed(data)
    return compress(data, plan.rank, **_compressible(terms))


def _sketch(data: SliceData, terms: Terms, plan: FitPlan) -> Sketch | None:
    """A sketch for the starts, where rows may be mixed and starts are run until nothing changes any more.

    Where rows may not be mixed, and every pass over them is dear, some of them.
    """
    plain = is_complete(data) and row_weights(data) is None and _compressible(terms)["rows"]
    wanted = plan.compress and plan.algorithm == "fast" and plan.tol > 0
    if not wanted:
        return None
    # As many threads as for the starts, and none of their own for the products: rounding depends on these.
    with threadpool_limits(limits=1), teamwork(1 if is_helper() else count_jobs(plan.n_jobs)):
        if plain:
            return sketch(data, plan.rank)
        apart = not any(map(joins_rows, terms.A))
        return sample(data, plan.rank) if apart and isinstance(data, Sweepable) else None


@dataclass(frozen=True)
class Beginning:
    """Where the starts begin, in the solver's units: given, or drawn one by one when their turn comes."""

    data: SliceData
    plan: FitPlan
    settings: Settings
    problem: Problem
    given: list[Start] | None
    seeds: list[np.random.SeedSequence]

    @property
    def count(self) -> int:
        """Number of starts."""
        return self.plan.n_starts if self.given is None else len(self.given)

    def start(self, i: int) -> Start:
        """Start i, which is the same however many there are."""
        problem = self.problem
        if self.given is not None:
            return in_units(self.given[i], problem.unit, fixed_strengths=problem.fixed_strengths)
        start = self._drawn(i)
        if problem.fixed_strengths:
            start = start._replace(C=np.ones_like(start.C))
        smallest, largest = _PLAIN[self.data.dtype]
        if self.settings.balance or not smallest < self.data.scale < largest:
            return fit_size(start, fixed_strengths=problem.fixed_strengths)
        # The paper's starts have the size they are drawn with, in the user's units.
        C = start.C if problem.fixed_strengths else start.C / problem.unit
        return Start(start.A / problem.unit, start.B / problem.unit, C)

    def _drawn(self, i: int) -> Start:
        if self.plan.init == "svd" and i == 0:
            return svd_start(self.data, self.plan.rank)
        return uniform_start(self.seeds[i], self.data.shape, self.plan.rank)


def _method(
    plan: FitPlan, settings: Settings, data: SliceData, bases: Sequence[Compressed], n_starts: int
) -> Method:
    rows, columns = bases[0].row_basis, bases[0].column_basis
    return Method(
        algorithm=plan.algorithm,
        settings=asdict(settings),
        compressed_rows=None if rows is None else rows.shape[1],
        compressed_columns=None if columns is None else columns.shape[1],
        sketched_rows=None if len(bases) == 1 else bases[1].data.shape[1],
        passes=data.reads.passes if isinstance(data, Sweepable) else None,
        dtype=data.dtype.name,
        n_starts=n_starts,
        init=plan.init if isinstance(plan.init, str) else GIVEN_FACTORS,
        seed=int(plan.random_state) if isinstance(plan.random_state, Integral) else None,
    )


def warn_if_unsound(result: Result) -> None:
    """Warn the caller's caller where the chosen run is not sound; an interruption needs no warning."""
    kinds = {finding.kind for finding in result.findings}
    if Kind.NO_SOUND_START in kinds:
        told = {Kind.NO_SOUND_START, Kind.DEGENERATE, *ENDINGS.values()} - {Kind.CONVERGED}
        why = [finding for finding in result.findings if finding.kind in told]
        warnings.warn(ConvergenceWarning(why), stacklevel=3)
