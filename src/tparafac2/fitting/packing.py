"""From the chosen run to the result: in the user's units and order, for all slices of the user."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Compressed, FloatArray, Intake, negative_share, present_columns
from tparafac2.penalties import asks_for, ignore_sign
from tparafac2.result import Result, Terms, Unobserved, strengths, weak
from tparafac2.solver import Problem, Run
from tparafac2.starts import Choice


def pack(
    intake: Intake,
    terms: Terms,
    problem: Problem,
    compressed: Compressed,
    run: Run,
    choice: Choice,
    about: Mapping[str, Any],
) -> Result:
    """The chosen run in the user's units, components in order and with settled signs.

    `about` has what else is known of the fit, by the names that `Result` has for it.
    """
    A, B, C = _factors(terms, problem, compressed, run)
    # A pattern that cannot change is known from other times.
    changing = not asks_for(terms.B, "static")
    undetermined = weak(strengths(B, C)) & changing
    if intake.order != tuple(range(intake.n_times)):
        B, C, undetermined = all_times(intake, terms, B, C, undetermined, about["period"])
        undetermined &= changing
    widths = _user_widths(intake)
    square = intake.data.scale**2
    trace, starts = run.trace.table(), dict(choice.table)
    with np.errstate(over="ignore"):  # where a run has been on its way is allowed to be infinitely bad
        trace["objective"] = trace["objective"] * square
        for name in {"objective", "rough_objective"} & set(starts):
            starts[name] = starts[name] * square
    starts["explained_variance"] = 1.0 - starts.pop("sse")
    return Result(
        **about,
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
        observed_share=1.0 if intake.coverage is None else float(intake.coverage.mean()),
        coverage=intake.coverage,
        undetermined=undetermined,
        present=_present(intake),
        terms=terms,
        negative_share=negative_share(intake.data),
        **_weighting(intake),
    )


def _weighting(intake: Intake) -> dict[str, Any]:
    if intake.weighting is None:
        return {}
    rows, mean, by = intake.weighting
    return {"row_weights": rows, "weighting": {"by": by, "mean": mean}}


def _factors(
    terms: Terms, problem: Problem, compressed: Compressed, run: Run
) -> tuple[FloatArray, FloatArray, FloatArray]:
    A = compressed.expand_loadings(run.A) * problem.unit
    B = compressed.expand_patterns(run.B) * problem.unit
    C = run.C if terms.fixed_strengths else run.C * problem.unit
    lengths = [np.linalg.norm(A, axis=0), np.sqrt((B**2).sum(axis=(0, 1))), np.linalg.norm(run.C, axis=0)]
    order = np.argsort(
        -np.prod([length / max(length.max(), 1e-300) for length in lengths], axis=0), kind="stable"
    )
    # In one memory order, as files have it: sums over them are then the same to the last bit.
    A, B, C = (np.ascontiguousarray(factor[..., order]) for factor in (A, B, C))
    if ignore_sign([*terms.A, *terms.B]):
        sign = np.where(A.sum(axis=0) < 0, -1.0, 1.0)
        A, B = A * sign, B * sign
    return A, B, C


def all_times(
    intake: Intake,
    terms: Terms,
    B: FloatArray,
    C: FloatArray,
    undetermined: NDArray[np.bool_],
    period: float | None,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Patterns (K, J, R), strengths and flags (K, R) of all slices, from those that were fitted.

    What nothing was observed of is as smooth as the constraints allow.
    """
    seen = list(intake.order)
    unseen = np.setdiff1d(np.arange(intake.n_times), seen).tolist()
    gaps = Unobserved(intake.clock, seen, unseen, period)

    def at_their_places(values: NDArray[Any], others: float) -> NDArray[Any]:
        whole = np.full((intake.n_times, *values.shape[1:]), others, dtype=values.dtype)
        whole[seen] = values
        return whole

    B = gaps.patterns(at_their_places(B, np.nan), terms.B)
    return B, gaps.on_lines(at_their_places(C, np.nan)), at_their_places(undetermined, True)


def _user_widths(intake: Intake) -> list[int] | None:
    """Widths of the user's slices where they differ, in the user's order."""
    if intake.data.widths is None:
        return None
    widths = dict(zip(intake.order, intake.data.widths))
    return [widths[k] for k in range(intake.n_times)]


def _present(intake: Intake) -> NDArray[np.bool_] | None:
    """Which columns there were at each of the user's times, where columns come and go."""
    fitted = present_columns(intake.data)
    if fitted is None:
        return None
    present = np.zeros((intake.n_times, fitted.shape[1]), dtype=bool)
    present[list(intake.order)] = fitted
    return present
