"""All data once more, from where a fit ended: how they are prepared, and where to begin."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Intake, Mode, Table, padded
from tparafac2.data.frames import is_frame, long_table
from tparafac2.errors import InvalidValue
from tparafac2.newdata.appending import require_continuable
from tparafac2.newdata.slices import key
from tparafac2.preparing import Preparation, Prepared, is_plain
from tparafac2.result import Result
from tparafac2.words import Argument

_NEEDS_ALL = " needs all data, those of the fit and the further ones, as the model does not keep them: "


def fitted_scale(result: Result) -> float:
    """Norm ||X|| of the data of the fit, without what was appended: the unit of the smoothness."""
    require_continuable(result)
    return math.sqrt(result.terms.scale**2 - sum((result.appended or {}).get("squares", ())))


def prepare_all(result: Result, X: Any, dims: Mapping[str, Hashable] | None) -> Any:
    """All data, prepared as those of the fit were; those of one time are refused."""
    one = X.shape[0] == 1 if isinstance(X, Table) else len(getattr(X, "shape", ())) == 2 and not _is_long(X)
    if one:
        raise InvalidValue(Argument("refit"), f"{_NEEDS_ALL}X has one time, and the model {len(result.C)}.")
    if isinstance(X, Prepared) or is_plain(result.preparation):
        return X
    record = result.preparation or {}
    chosen = [record[name] for name in ("transform", "pseudocount", "center", "scale")]
    return Preparation(*chosen).apply(X, dims=dims)


def _is_long(X: Any) -> bool:
    """Whether this is a long table of several times, and not one slice."""
    if not is_frame(X):
        return False
    try:
        return long_table(X).shape[0] > 1
    except ValueError:
        return False


def warm_start(result: Result, intake: Intake) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Factors to begin with: those of the fit, and at further times those of the last one.

    Parameters
    ----------
    result : Result
    intake : Intake
        All data: those of the fit and further ones.
    """
    K, J = intake.n_times, intake.data.shape[2]
    if len(result.C) > K:
        raise InvalidValue(
            Argument("refit"),
            f"{_NEEDS_ALL}X has {K} times, and the model {len(result.C)}.",
        )
    if result.ragged:
        raise InvalidValue(
            Argument("refit"), " is not for slices with columns of their own: fit all data again."
        )
    rows, columns = _places(result, intake, "rows"), _places(result, intake, "columns")
    A, C = np.zeros((intake.data.shape[1], result.rank)), np.empty((K, result.rank))
    A[rows >= 0] = result.A[rows[rows >= 0]]
    B = np.zeros((K, J, result.rank))
    known = result.clock.times
    for k, when in enumerate(intake.clock):
        nearest = int(np.argmin(np.abs(known - when)))
        B[k, columns >= 0] = np.asarray(padded(result.B, fill=0.0))[nearest][columns[columns >= 0]]
        C[k] = result.C[nearest]
    if not np.isin(known, intake.clock).all():
        raise InvalidValue(
            Argument("X"), " does not have all times of the model: give all data, old and new.", received=None
        )
    return A, B, C


def _places(result: Result, intake: Intake, mode: Mode) -> NDArray[np.intp]:
    """Where the rows or columns of the data stand in the model; -1 for those that it does not have."""
    size = intake.data.shape[1 if mode == "rows" else 2]
    given, own = getattr(intake.labels, mode), getattr(result.labels, mode)
    known = result.shape[1 if mode == "rows" else 2]
    if given is None or own is None:
        if size != known:
            raise InvalidValue(
                f"X has {size} {mode}, but the model has {known}, and there are no labels to tell which is "
                "which."
            )
        return np.arange(size)
    places = {key(label): place for place, label in enumerate(own)}
    return np.array([places.get(key(label), -1) for label in given], dtype=np.intp)
