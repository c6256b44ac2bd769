"""Weights of the rows from what a fit leaves of them: noisy rows count less."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Intake, padded, row_errors
from tparafac2.fitting.one_fit import FitPlan
from tparafac2.result import Result

_ROUNDS = 4
_FEW_STARTS = 3
_FLOOR = 0.1  # of the median: no row counts more than ten times as much as that of median noise
_MOST_LEVERAGE = 0.999
_ROUNDING = 1e-12  # of the mean square of the data: what is left of a perfect fit says nothing


def fit_by_residuals(
    take: Callable[[Any], Intake], run: Callable[[Intake, FitPlan], Result], plan: FitPlan
) -> Result:
    """Fit and weigh the rows in turn, and fit once more with all starts and the last weights.

    The first fit has few starts and even weights; those after it begin where the one before ended.

    Parameters
    ----------
    take : callable
        From weights of the rows to data.
    run : callable
        From data and a plan to a result.
    plan : FitPlan
        Of the last fit.
    """
    n_rows = take(None).data.shape[1]
    intake = take(np.ones(n_rows))
    quick = replace(plan, n_starts=min(plan.n_starts, _FEW_STARTS))
    for _ in range(_ROUNDS):
        result = run(intake, quick)
        if result.status == "interrupted":
            return result
        intake = take(weights_of(left_over(intake, result)))
        quick = replace(plan, n_starts=1, init=(result.A, result.B, result.C))
    if intake.weighting is not None:
        intake = intake._replace(weighting=intake.weighting._replace(by="residuals"))
    return run(intake, plan)


def left_over(intake: Intake, result: Result) -> NDArray[np.float64]:
    """Mean squared residual of each row, as a part of the mean square of the data, less what it leads itself.

    A noisy row draws a component to itself, which then leaves little of it: of noise of variance s^2 a row of
    leverage h leaves (1 - h) s^2, so that residuals are divided by 1 - h.
    """
    data, order = intake.data, list(intake.order)
    K, I, J = data.shape
    W = (padded(result.B, fill=0.0) * result.C[:, None, :])[order]
    errors = row_errors(data, result.A / data.scale, W) * (K * I * J)
    weights = np.ones(I) if intake.weighting is None else intake.weighting.rows
    return np.asarray(errors / (1.0 - np.minimum(leverage(result.A, weights), _MOST_LEVERAGE)))


def leverage(A: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row decides itself what is fitted to it, from 0 to 1: w_i a_i' (A' diag(w) A)^-1 a_i.

    Examples
    --------
    >>> leverage(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.ones(3)).round(6).tolist()
    [0.5, 0.5, 1.0]
    """
    basis, sizes, _ = np.linalg.svd(np.sqrt(weights)[:, None] * A, full_matrices=False)
    return np.asarray(np.square(basis[:, sizes > 1e-10 * max(sizes[0], 1e-300)]).sum(axis=1))


def weights_of(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """One over the mean squared residual of each row, with a floor.

    Examples
    --------
    >>> weights_of(np.array([1.0, 2.0, 4.0, 2.0, 0.0])).round(3).tolist()
    [1.0, 0.5, 0.25, 0.5, 5.0]
    """
    floor = max(_FLOOR * float(np.median(errors)), _ROUNDING)
    return np.asarray(1.0 / np.maximum(errors, floor))
