"""From data to result: the way every model takes."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2 import __version__
from tparafac2.data import (
    Compressed,
    FloatArray,
    Intake,
    SliceData,
    compress,
    compressed_shape,
    follows_model,
    is_complete,
    present_columns,
    require_memory,
)
from tparafac2.errors import InvalidValue
from tparafac2.models.conventions import ConvergenceWarning
from tparafac2.models.model import Model
from tparafac2.models.needs import needed_bytes
from tparafac2.models.timeline import all_times
from tparafac2.penalties import Quadratic, asks_for, can_rotate, ignore_sign
from tparafac2.result import ENDINGS, Kind, Method, Result, Terms, strengths, weak
from tparafac2.result.parameters import GIVEN_FACTORS
from tparafac2.solver import Problem, Run, Settings, Start, build_problem
from tparafac2.starts import (
    Choice,
    Progress,
    child_seeds,
    choose,
    fit_size,
    in_units,
    prepare,
    read_factors,
    run_starts,
    svd_start,
    uniform_start,
)
from tparafac2.words import Advice, Argument

# Sizes of data for which factors of size one are a start; beyond them, products of the three would overflow.
_PLAIN = {np.dtype(np.float64): (1e-30, 1e30), np.dtype(np.float32): (1e-12, 1e12)}


_SINGLE_TOL = 1e-5


# Weight of a penalty, where data have norm one, beyond which numbers might overflow.
_HEAVIEST = 1e30


@dataclass(frozen=True)
class FitPlan:
    """How it is to be fitted."""

    rank: int
    settings: Settings
    n_starts: int = 10
    init: Any = "uniform"
    random_state: Any = None
    n_jobs: int = 1
    compress: bool | str = "auto"
    progress: bool | None = None
    period: float | None = None


def fit(intake: Intake, model: Model, plan: FitPlan, about: Mapping[str, Any]) -> Result:
    """Fit a model to data.

    Parameters
    ----------
    intake : Intake
    model : Model
    plan : FitPlan
    about : mapping
        `model` (a name) and `parameters`, for the record.

    Returns
    -------
    Result
    """
    data = intake.data
    require_scale_fixed(model)
    given = _given_starts(plan, intake)
    _require_memory(data, model, plan)
    compressed = _compress(data, model, plan)
    problem = _problem(compressed.data, model, plan)
    _require_weights(problem)
    _require_lasting_columns(problem)
    starts = _starts(given, data, model, plan, problem, compressed)
    progress = Progress(plan.progress)
    try:
        runs = run_starts(problem, starts, plan.settings, plan.n_jobs, progress)
    finally:
        progress.close()
    choice = choose(runs, plan.settings, fixed_strengths=model.fixed_strengths)
    chosen = runs[choice.chosen]
    about = {**about, "period": plan.period, "method": _method(plan, data, compressed, len(runs))}
    result = _package(intake, model, problem, compressed, chosen, choice, about)
    _warn(result)
    return result


def require_scale_fixed(model: Model) -> None:
    """Refuse norm penalties on some factors only: scale would flee to the others, and nothing be minimal."""
    modes = dict(zip(("a", "b", "c"), model.penalties))
    if model.fixed_strengths:
        del modes["c"]
    penalised = {mode: any(term.degree == 2 for term in terms) for mode, terms in modes.items()}
    free = [
        mode
        for mode, terms in modes.items()
        if not penalised[mode] and all(term.degree is not None for term in terms)
    ]
    if free and any(penalised.values()):
        names = " and ".join(f"penalties_{mode}" for mode in free)
        raise ValueError(
            "A norm penalty on some factors only: scale would flee to the others, and there is no minimum. "
            f"Give every factor one (here {names} too, for example [Ridge(0.1)]), or none."
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
    """Refuse columns that come and go where smoothness has an auxiliary, which would bridge them."""
    comes_and_goes = present_columns(problem.data) is not None
    if comes_and_goes and any(isinstance(term.penalty, Quadratic) for term in problem.b.splits):
        raise ValueError(
            "columns that come and go (bridge=False) are not for the smoothness of algorithm='paper', which "
            "knows no such columns: use algorithm='fast', or bridge=True."
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


def _require_memory(data: SliceData, model: Model, plan: FitPlan) -> None:
    smaller = compressed_shape(data, plan.rank, **_compressible(model)) if plan.compress else data.shape
    require_memory(
        needed_bytes(_problem(data, model, plan), smaller, plan.n_starts, plan.n_jobs),
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
    )


def _problem(data: SliceData, model: Model, plan: FitPlan) -> Problem:
    return build_problem(
        data,
        plan.rank,
        model.penalties,
        fixed_strengths=model.fixed_strengths,
        absorb=plan.settings.absorb,
    )


def _compressible(model: Model) -> dict[str, bool]:
    a, b, _ = model.penalties
    return {"columns": can_rotate(b, 1), "rows": can_rotate(a, 0)}


def _compress(data: SliceData, model: Model, plan: FitPlan) -> Compressed:
    if plan.compress is True and not is_complete(data):
        raise ValueError(
            "compress=True is not possible with missing entries: every entry would depend on all of its row. "
            "Leave it at 'auto', which compresses where that is possible."
        )
    if not plan.compress:
        return Compressed(data)
    return compress(data, plan.rank, **_compressible(model))


def _starts(
    given: list[Start] | None,
    data: SliceData,
    model: Model,
    plan: FitPlan,
    problem: Problem,
    compressed: Compressed,
) -> list[Start]:
    a, _, c = model.penalties
    signed = not asks_for(a, "nonnegative"), not asks_for(c, "nonnegative")
    if given is not None:
        scaled = (in_units(start, problem.unit, fixed_strengths=model.fixed_strengths) for start in given)
        return [prepare(start, data, compressed, signed=signed) for start in scaled]
    starts = []
    for i, seed in enumerate(child_seeds(plan.random_state, plan.n_starts)):
        drawn = plan.init == "uniform" or i > 0
        start = uniform_start(seed, data.shape, plan.rank) if drawn else svd_start(data, plan.rank)
        if model.fixed_strengths:
            start = start._replace(C=np.ones_like(start.C))
        smallest, largest = _PLAIN[data.dtype]
        if plan.settings.balance or not smallest < data.scale < largest:
            start = fit_size(start, fixed_strengths=model.fixed_strengths)
        else:  # the paper's starts have the size they are drawn with, in the user's units
            start = Start(start.A / problem.unit, start.B / problem.unit, start.C / problem.unit)
            start = start._replace(C=np.ones_like(start.C)) if model.fixed_strengths else start
        starts.append(prepare(start, data, compressed, signed=signed))
    return starts


def _package(
    intake: Intake,
    model: Model,
    problem: Problem,
    compressed: Compressed,
    run: Run,
    choice: Choice,
    about: Mapping[str, Any],
) -> Result:
    """The chosen run in the user's units, components in order and with settled signs."""
    A, B, C = _factors(model, problem, compressed, run)
    # A pattern that cannot change is known from other times.
    undetermined = weak(strengths(B, C)) & (not asks_for(model.penalties[1], "static"))
    if intake.order != tuple(range(intake.n_times)):
        B, C, undetermined = all_times(intake, B, C, undetermined, about["period"])
        undetermined &= not asks_for(model.penalties[1], "static")
    widths = _user_widths(intake)
    square = intake.data.scale**2
    trace, starts = run.trace.table(), dict(choice.table)
    with np.errstate(over="ignore"):  # where a run has been on its way is allowed to be infinitely bad
        trace["objective"] = trace["objective"] * square
        starts["objective"] = starts["objective"] * square
    starts["explained_variance"] = 1.0 - starts.pop("sse")
    return Result(
        model=about["model"],
        parameters=about["parameters"],
        A=A,
        B=B if widths is None else [piece[:width] for piece, width in zip(B, widths)],
        C=C,
        labels=intake.labels,
        objective=run.objective * square,
        explained_variance=1.0 - run.sse,
        feasibility_gaps=dict(zip("ABC", run.gaps)),
        status=run.status.value,
        converged=run.status.converged,
        n_iter=run.n_iter,
        trace=trace,
        starts=starts,
        times=intake.times,
        period=about["period"],
        preparation=about["preparation"],
        observed_share=1.0 if intake.coverage is None else float(intake.coverage.mean()),
        coverage=intake.coverage,
        undetermined=undetermined,
        present=_present(intake),
        terms=_terms(model, intake),
        method=replace(about["method"], algorithm=about["parameters"]["algorithm"]),
        version=__version__,
    )


def _terms(model: Model, intake: Intake) -> Terms:
    A, B, C = map(tuple, model.penalties)
    return Terms(A=A, B=B, C=C, scale=intake.data.scale, fixed_strengths=model.fixed_strengths)


def _method(plan: FitPlan, data: SliceData, compressed: Compressed, n_starts: int) -> Method:
    missing = "complete" if is_complete(data) else "em" if follows_model(data) else "exact"
    rows, columns = compressed.row_basis, compressed.column_basis
    return Method(
        settings=asdict(plan.settings),
        missing=missing,
        compressed_rows=None if rows is None else rows.shape[1],
        compressed_columns=None if columns is None else columns.shape[1],
        dtype=data.dtype.name,
        n_starts=n_starts,
        init=plan.init if isinstance(plan.init, str) else GIVEN_FACTORS,
        seed=int(plan.random_state) if isinstance(plan.random_state, Integral) else None,
    )


def _present(intake: Intake) -> NDArray[np.bool_] | None:
    """Which columns there were at each of the user's times, where columns come and go."""
    fitted = present_columns(intake.data)
    if fitted is None:
        return None
    present = np.zeros((intake.n_times, fitted.shape[1]), dtype=bool)
    present[list(intake.order)] = fitted
    return present


def _factors(
    model: Model, problem: Problem, compressed: Compressed, run: Run
) -> tuple[FloatArray, FloatArray, FloatArray]:
    A = compressed.expand_loadings(run.A) * problem.unit
    B = compressed.expand_patterns(run.B) * problem.unit
    C = run.C if model.fixed_strengths else run.C * problem.unit
    lengths = [np.linalg.norm(A, axis=0), np.sqrt((B**2).sum(axis=(0, 1))), np.linalg.norm(run.C, axis=0)]
    order = np.argsort(
        -np.prod([length / max(length.max(), 1e-300) for length in lengths], axis=0), kind="stable"
    )
    A, B, C = A[:, order], B[:, :, order], C[:, order]
    a, b, _ = model.penalties
    if ignore_sign([*a, *b]):
        sign = np.where(A.sum(axis=0) < 0, -1.0, 1.0)
        A, B = A * sign, B * sign
    return A, B, C


def _user_widths(intake: Intake) -> list[int] | None:
    """Widths of the user's slices where they differ, in the user's order."""
    if intake.data.widths is None:
        return None
    widths = dict(zip(intake.order, intake.data.widths))
    return [widths[k] for k in range(intake.n_times)]


def _warn(result: Result) -> None:
    """Warn where the chosen run is not sound; the user's own interruption needs no warning."""
    kinds = {finding.kind for finding in result.findings}
    if Kind.NO_SOUND_START in kinds:
        told = {Kind.NO_SOUND_START, Kind.DEGENERATE, *ENDINGS.values()} - {Kind.CONVERGED}
        why = [finding for finding in result.findings if finding.kind in told]
        warnings.warn(ConvergenceWarning(why), stacklevel=4)


def read_settings(
    algorithm: str, max_iter: int, tol: float, feasibility_tol: float, *, single: bool = False
) -> Settings:
    """Settings by the name of the algorithm."""
    if single:  # rounding alone moves the objective by more than a smaller tolerance
        tol = max(tol, _SINGLE_TOL) if tol else tol
    if algorithm == "paper":
        return Settings.paper(max_iter, tol, feasibility_tol)
    return replace(Settings(), max_iter=max_iter, tol=tol, feasibility_tol=feasibility_tol)


def count_jobs(n_jobs: int) -> int:
    """Number of processes; negative counts from the number of cores, as in joblib."""
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
