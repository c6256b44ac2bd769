"""What is asked for: checked before any work."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.fitting import (
    check_jobs,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    require_seed,
    told,
)
from tparafac2.result import Result
from tparafac2.words import Advice, Argument, Setting

FEWEST = 20
"""Fewer resamples say little of a spread."""

_FEWEST_UNITS = 5


@dataclass(frozen=True, kw_only=True)
class Request:
    """How intervals are to be found; the names are those of `Decomposition.intervals`."""

    level: float = 0.95
    n_resamples: int = 200
    over: str = "rows"
    groups: Any = None
    contrasts: Sequence[Any] = ()
    loadings: bool = True
    undersmoothing: float = 4.0
    random_state: Any = 0
    n_jobs: int = -1
    progress: bool | None = None
    client: Any = None

    def check(self) -> None:
        """Refuse what cannot be done with any data."""
        level = require_number("level", self.level)
        if not 0 < level < 1:
            raise InvalidValue(
                Argument("level"),
                f" must be above 0 and below 1; got {told(self.level)}.",
                received=self.level,
            )
        require_integer("n_resamples", self.n_resamples, FEWEST)
        require_choice("over", self.over, "'rows' or 'residuals'", ("rows", "residuals"))
        require_flag("loadings", self.loadings)
        if require_number("undersmoothing", self.undersmoothing, "at least 1") < 1:
            raise InvalidValue(
                Argument("undersmoothing"),
                f" must be at least 1; got {told(self.undersmoothing)}.",
                received=self.undersmoothing,
            )
        require_seed(self.random_state)
        check_jobs(self.n_jobs)
        if self.groups is not None and self.over != "rows":
            raise InvalidValue(
                Argument("groups"),
                " are rows that are drawn together, and ",
                Setting("over", self.over),
                " draws none: leave them out, or use ",
                Setting("over", "rows"),
                ".",
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which kinds of resamples are drawn."""
        if self.over == "residuals":
            return ("residuals",)
        return ("rows", "residuals") if self.loadings else ("rows",)


def require_usable(result: Result) -> None:
    """Refuse results of which there are no bands."""
    if result.terms.lost:
        raise InvalidValue(
            f"the model has penalties that its file could not hold ({', '.join(result.terms.lost)}): "
            "fit it again, and ask for intervals then."
        )
    if result.ragged:
        raise InvalidValue(
            "there are no intervals where every slice has columns of its own (B is a list): fit slices with "
            "the same columns, NaN where a column is missing."
        )
    if result.rank > 1 and not result.terms.is_unique:
        raise InvalidValue(
            "the components of this model are not unique, so that there is nothing to find again: use ",
            Advice("unique_model", "TParafac2, or nonnegative='rows'"),
            ".",
        )
    factors = (result.A, result.B, result.C)
    if not all(np.isfinite(factor).all() and np.any(factor) for factor in factors):
        raise InvalidValue("the fit broke down or vanished: there is nothing to put bands around.")


def require_units(n_units: int, rank: int, what: str) -> None:
    """Refuse too few rows, or groups of them, to be drawn from."""
    fewest = max(_FEWEST_UNITS, 2 * rank)
    if n_units < fewest:
        raise InvalidValue(
            f"{n_units} {what} are too few to draw others like them: at least {fewest} are needed for "
            f"{rank} component{'s' * (rank > 1)}. Use ",
            Setting("over", "residuals"),
            ", which takes the rows as they are.",
        )


def read_contrasts(given: Any, result: Result) -> tuple[tuple[int, int, int, int], ...]:
    """Find the places of (component, column, from, to): component from 1, the others by label or place.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> read_contrasts([(1, 2, 0, 1)], result)
    ((1, 2, 0, 1),)
    >>> read_contrasts([(1, 2, 0, 5)], result)
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: contrasts: there is no time 5.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise _no_contrasts(given)
    K, _, J = result.shape
    columns, times = result.labels.coordinate("columns", J), result.labels.coordinate("time", K)
    found = []
    for one in given:
        if isinstance(one, str | bytes) or not isinstance(one, Sequence) or len(one) != 4:
            raise _no_contrasts(one)
        component, column, begin, end = one
        if not isinstance(component, Integral) or not 1 <= int(component) <= result.rank:
            raise InvalidValue(
                Argument("contrasts"), f": components are 1 to {result.rank}; got {told(component)}."
            )
        j, k, l = _place(columns, column, "column"), _place(times, begin, "time"), _place(times, end, "time")
        found.append((int(component), j, k, l))
    return tuple(found)


def _place(labels: NDArray[Any], label: Any, what: str) -> int:
    sought = str(label)
    for place, one in enumerate(labels):
        if sought in (str(one), label_text(one)):
            return place
    raise InvalidValue(Argument("contrasts"), f": there is no {what} {told(label)}.")


def _no_contrasts(given: Any) -> InvalidType:
    return InvalidType(
        Argument("contrasts"),
        " must be a list of tuples (component, column, from, to), with labels as the data have them; "
        f"got {told(given)}.",
        received=given,
    )
