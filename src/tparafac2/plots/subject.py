"""What a picture is of: the result behind a model, one of its components, and what the data say of it."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import padded
from tparafac2.plots.time_axis import TimeAxis
from tparafac2.result import By, Result, of_columns


class Course(NamedTuple):
    """The course of one component's pattern.

    Attributes
    ----------
    weights : ndarray (K, J)
        Every pattern has length 1; slices are in the order of time. NaN where a slice has no such column.
    determined : ndarray of bool (K, J)
        Whether the data say anything about this weight.
    distinctive : ndarray (K, J), optional
        How far each column sets this component apart from the others.
    """

    weights: NDArray[np.float64]
    determined: NDArray[np.bool_]
    distinctive: NDArray[np.float64] | None = None

    def ranked(self, by: By) -> NDArray[np.float64]:
        """What columns are chosen by, at every time; NaN or zero where they are not determined."""
        return self.known if by == "weight" or self.distinctive is None else self.distinctive

    @property
    def known(self) -> NDArray[np.float64]:
        """Weights, NaN where they are not determined."""
        return np.where(self.determined, self.weights, np.nan)


def as_result(model: object) -> Result:
    """Give the result of a fitted model or of a choice, or the result itself."""
    if isinstance(model, Result):
        return model
    if callable(getattr(model, "fit", None)) or hasattr(type(model), "result_"):
        found: Any = model.result_  # type: ignore[attr-defined]  # or it says itself that it is not fitted
        if isinstance(found, Result):
            return found
    raise TypeError(
        f"a fitted model or its result_ is needed, not {type(model).__name__}: "
        "for a file give tparafac2.load(path)."
    )


def count(name: str, value: Any) -> int:
    """Refuse what is not a number of things to show."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if isinstance(value, bool) or number < 1:
        raise ValueError(f"{name} must be a whole number, at least 1; got {value!r}.")
    return number


def course_of(result: Result, r: int, axis: TimeAxis, by: By = "weight") -> Course:
    """Follow the pattern of component r (from 0) in time."""
    J = result.shape[2]
    weights = padded([piece[:, r] for piece in result.normalised().B], J)
    weights[~np.isfinite(weights)] = np.nan
    vague = result.undetermined_patterns[:, r]
    determined = ~vague[:, np.newaxis] & np.isfinite(weights)
    # A pattern that never changes is known from the times at which it was observed.
    if result.coverage is not None and not (weights == weights[0]).all():
        determined &= result.coverage > 0
    scores = None if by == "weight" else of_columns(result)[axis.order, :, r]
    return Course(weights[axis.order], determined[axis.order], scores)


def unobserved_times(result: Result) -> NDArray[np.bool_]:
    """Tell at which times, in the order of the slices, nothing at all was observed."""
    if result.coverage is None:
        return np.zeros(len(result.C), dtype=bool)
    return np.asarray((result.coverage == 0).all(axis=1))


def require_common_columns(result: Result, picture: str) -> None:
    """Refuse slices with columns of their own, where columns have to be followed in time."""
    if result.ragged:
        raise ValueError(
            f"{picture} follows columns in time, but here every slice has columns of its own (B is a list): "
            "look at them with pattern."
        )
