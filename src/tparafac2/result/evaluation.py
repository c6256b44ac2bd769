"""What a fit reports, computed again from its factors and the data alone.

A second way to the same numbers, which knows nothing of the solver: sums over the differences themselves.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Intake, SliceData, Table, padded, take_in, unseen_among
from tparafac2.errors import InvalidValue
from tparafac2.large import stored_if_large, take_stored
from tparafac2.penalties import asks_for, distance_weights, proximal, softens
from tparafac2.preparing import Prepared, describe_record
from tparafac2.result.record import Result


class Evaluation(NamedTuple):
    """How well given factors describe data.

    Attributes
    ----------
    objective : float or None
        Squared error plus the values of all terms; None where these are not known: the result had a penalty
        of the user's own and was read from a file.
    explained_variance : float
        1 - squared_error / ||X||^2.
    squared_error : float
        Sum of squared differences, over what was observed, and by weight where there are weights.
    constraint_violations : dict
        For "A", "B" and "C", by constraint: how far the factor is from it, relative to its size.

    Examples
    --------
    >>> Evaluation(2.5, 0.9, 2.0, {"A": {}, "B": {}, "C": {"NonNegative": 0.0}}).objective
    2.5
    """

    objective: float | None
    explained_variance: float
    squared_error: float
    constraint_violations: dict[str, dict[str, float]]


def evaluate(
    result: Result,
    X: Any,
    *,
    mask: Any = None,
    dims: Mapping[str, Hashable] | None = None,
    weights: Any = None,
) -> Evaluation:
    """Evaluate the factors of a result on data; see `Result.evaluate`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
    >>> result = tp.CP(rank=2, n_starts=2, random_state=0).fit(X).result_
    >>> bool(abs(evaluate(result, X).objective / result.objective - 1) < 1e-9)
    True
    """
    # When slices were taken matters to the terms alone, and these remember it.
    intake = take_again(result, X, mask=mask, dims=dims, weights=weights, times="even")
    share = relative_error(result, intake)
    squared_error = share * intake.data.scale**2
    penalty = penalty_of(result)
    return Evaluation(
        None if penalty is None else squared_error + penalty,
        1.0 - share,
        squared_error,
        violations_of(result),
    )


def take_again(
    result: Result,
    X: Any,
    *,
    mask: Any = None,
    dims: Mapping[str, Hashable] | None = None,
    weights: Any = None,
    **settings: Any,
) -> Intake:
    """Take in data of the shape, preparation and labels of those that were fitted; refuse others.

    Without weights, by those that the fit had for the rows; the settings are those of `take_in`.
    """
    X = _as_prepared(result, X)
    if weights is None and not (isinstance(X, Table) and X.counts is not None):
        weights = _own_weights(result)
    stored = stored_if_large(X, dims)
    if stored is not None:
        intake = take_stored(stored, times="even")
    else:
        intake = take_in(X, dims=dims, mask=mask, weights=weights, **settings)
    _require_data_of(result, intake)
    return intake


def relative_error(result: Result, intake: Intake) -> float:
    """Squared error of the factors of a result, as a share of ||X||^2."""
    W = (padded(result.B, fill=0.0) * result.C[:, None, :])[list(intake.order)]
    return _relative_error(intake.data, result.A, W)


_SAME_FIT = {"float64": 1e-6, "float32": 1e-3}
"""By how much the explained variance may differ before data are not what was fitted."""


def require_fitted(result: Result, explained: float) -> None:
    """Refuse data of which the model does not explain as much as of its own."""
    if not abs(explained - result.explained_variance) <= _SAME_FIT.get(result.method.dtype, 1e-6):
        raise InvalidValue(
            f"X is not what was fitted: the model explains {explained:.6f} of its variation, and explained "
            f"{result.explained_variance:.6f} of that of its own data. Give the data of the fit."
        )


def penalty_of(result: Result) -> float | None:
    """The values of all terms at the factors of a result; None where they are not known."""
    if result.terms.lost:
        return None
    order = list(result.clock.order)
    present = None if result.present is None else result.present[order]
    unseen = unseen_among(None if result.coverage is None else result.coverage[order], present)
    B = padded(result.B, fill=0.0)[order]
    return result.terms.penalty(result.A, B, result.C[order], present, unseen)


def violations_of(result: Result) -> dict[str, dict[str, float]]:
    """How far the factors of a result are from each constraint."""
    order = np.argsort(result.clock.times, kind="stable")
    fitted = np.flatnonzero(np.isin(order, result.clock.order)).tolist()
    return result.terms.violations(result.A, padded(result.B, fill=0.0)[order], result.C[order], fitted)


class Turning(NamedTuple):
    """The nearest patterns P_k Delta that only turn, and how far they are, relative to the patterns' size."""

    delta: NDArray[np.float64]
    departure: float


def nearest_turning(result: Result) -> Turning | None:
    """The nearest patterns that only turn; None where nothing draws the patterns to such."""
    order = list(result.clock.order)
    B = np.asarray(padded(result.B, fill=0.0)[order], dtype=np.float64)
    soft = [term for term in result.terms.B if softens(term)]
    if not (soft or asks_for(result.terms.B, "parafac2")):
        return None
    weights = distance_weights(soft[0], "parafac2", len(B)) if soft else None
    weights = weights if weights is not None and weights.any() else np.ones(len(B))
    distance, delta = proximal.nearest_turning(B, weights)
    return Turning(delta, math.sqrt(distance / max(float(np.einsum("k,kjr->", weights, B**2)), 1e-300)))


def _own_weights(result: Result) -> NDArray[np.float64] | None:
    """The weights that the fit had, if they were those of rows."""
    if result.weighting is not None and result.weighting["by"] == "entries":
        raise ValueError(
            "the model was fitted with a weight for each entry, which results do not keep: give them once "
            "more, weights=..., or one for each row to evaluate by other weights."
        )
    return result.row_weights


def _relative_error(data: SliceData, A: NDArray[Any], W: NDArray[Any]) -> float:
    """Sum over k of ||X_k - A W_k'||^2, over what was observed and by weight, divided by ||X||^2."""
    A = A / data.scale
    if hasattr(data, "values"):  # (I, K, J), NaN where missing
        counts = getattr(data, "weights", np.ones((1, data.shape[0], 1)))
        return sum(
            float(np.nansum(counts[:, k] * np.square(data.values[:, k] - A @ W[k].T, dtype=np.float64)))
            for k in range(data.shape[0])
        )
    return float(data.residual_sse(A.T[None], W.transpose(2, 0, 1)[None])[0])


def _as_prepared(result: Result, X: Any) -> Any:
    """The data themselves, if they were prepared as those of the fit."""
    fitted = _preparation(result.preparation)
    given = _preparation(X.as_dict() if isinstance(X, Prepared) else None)
    if fitted != given:
        raise ValueError(
            f"the model was fitted to data of another preparation ({fitted}) than X ({given}): give X as "
            "tparafac2.Preparation(...).apply(X), as for the fit."
        )
    return X.data if isinstance(X, Prepared) else X


def _preparation(record: Mapping[str, Any] | None) -> str:
    return (record and describe_record(record).rstrip(".")) or "none"


def _require_data_of(result: Result, intake: Intake) -> None:
    """Refuse data that cannot be those of the fit: of another shape, or with other labels."""
    K, I, J = intake.n_times, *intake.data.shape[1:]
    widths = intake.data.widths or (J,) * K
    if result.shape[:2] != (K, I) or widths != result.widths:
        raise ValueError(
            f"X has {_size(K, I, widths)}, but the model was fitted to "
            f"{_size(*result.shape[:2], result.widths)}: give the data of the fit."
        )
    for mode in ("rows", "columns"):
        given, fitted = getattr(intake.labels, mode), getattr(result.labels, mode)
        if given is not None and fitted is not None:
            for here, there in zip(given, fitted):
                if str(here) != str(there):
                    raise ValueError(
                        f"X has other labels of the {mode} than the data of the fit ({here!s:.60} where the "
                        f"model has {there!s:.60}): give the same {mode} in the same order."
                    )


def _size(K: int, I: int, widths: tuple[int, ...]) -> str:
    columns = f"{widths[0]}" if len(set(widths)) == 1 else f"{min(widths)} to {max(widths)}"
    return f"{K} times, {I} rows and {columns} columns"
