"""Parameters are checked at the door, before any work."""

import math
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol

import numpy as np

from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.penalties import missing_attributes
from tparafac2.words import Argument

_LONGEST = 160


class Sized(Protocol):
    """All that is asked of data here; also known before a fit takes them in."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns: (K, I, J)."""

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Number of columns of each slice where they differ."""


class Size(NamedTuple):
    """The size of data that are not taken in yet."""

    shape: tuple[int, int, int]
    widths: tuple[int, ...] | None = None


def check_common(estimator: Any) -> None:
    """Check the parameters that all models share."""
    for name, least in (("rank", 1), ("n_starts", 1), ("max_iter", 1)):
        require_integer(name, getattr(estimator, name), least)
    for name in ("tol", "feasibility_tol"):
        require_tolerance(name, getattr(estimator, name))
    require_choice("algorithm", estimator.algorithm, "'fast' or 'paper'", ("fast", "paper"))
    require_choice("missing", estimator.missing, "'auto', 'em' or 'exact'", ("auto", "em", "exact"))
    for name in ("bridge", "nonnegative_rows", "nonnegative_strengths"):
        require_flag(name, getattr(estimator, name, True))
    if not (isinstance(estimator.compress, str) and estimator.compress == "auto"):
        require_flag("compress", estimator.compress)
    if estimator.progress is not None:
        require_flag("progress", estimator.progress)
    require_period(getattr(estimator, "period", None))
    require_seed(estimator.random_state)
    check_jobs(estimator.n_jobs)
    for name in ("penalties_a", "penalties_b", "penalties_c"):
        require_penalties(name, getattr(estimator, name))


def told(value: Any) -> str:
    """What was received, on one line and not too long.

    Examples
    --------
    >>> told([[1], [2]])
    '[[1], [2]]'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def as_number(value: Real) -> float:
    """A number as it is computed with; infinite if it is too large for that."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def require_choice(name: str, value: Any, listed: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is none of some words."""
    if not (isinstance(value, str) and value in allowed):
        raise InvalidValue(Argument(name), f" must be {listed}; got {told(value)}.", received=value)


def require_integer(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidType(Argument(name), f" must be a whole number; got {told(value)}.", received=value)
    if value < least:
        raise InvalidValue(Argument(name), f" must be at least {least}; got {value}.", received=value)


def require_tolerance(name: str, value: Any) -> None:
    """Refuse what is not a finite number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(Argument(name), f" must be a number; got {told(value)}.", received=value)
    if not (math.isfinite(number := as_number(value)) and number >= 0):
        raise InvalidValue(
            Argument(name), f" must be finite and at least 0; got {told(value)}.", received=value
        )


def require_period(value: Any) -> None:
    """Refuse what is not a positive number; None is no period."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(
            Argument("period"),
            f" must be a number, in the units of the times; got {told(value)}.",
            received=value,
        )
    if not (math.isfinite(number := as_number(value)) and number > 0):
        raise InvalidValue(
            Argument("period"), f" must be positive and finite; got {told(value)}.", received=value
        )


def require_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidType(Argument(name), f" must be True or False; got {told(value)}.", received=value)


def require_seed(value: Any) -> None:
    """Refuse what cannot seed the starts."""
    if value is None or isinstance(value, np.random.Generator | np.random.SeedSequence):
        return
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            "random_state must be a whole number, a numpy Generator or SeedSequence, or None; "
            f"got {told(value)}."
        )
    if value < 0:
        raise InvalidValue(Argument("random_state"), f" must be at least 0; got {value}.", received=value)


def require_penalties(name: str, terms: Any) -> None:
    """Refuse what is not a sequence of penalties, and name what is missing."""
    if not isinstance(terms, list | tuple):
        raise TypeError(
            f"{name} must be a list of penalties; got {told(terms)}. For one penalty write [penalty]."
        )
    for term in terms:
        missing = missing_attributes(term)
        if missing or isinstance(term, type):
            what = f"lacks {', '.join(missing)}" if missing else "is a class; make an instance of it"
            raise TypeError(
                f"{name}: {told(term)} is not a penalty: it {what}. "
                "See tparafac2.penalties.Penalty, and check_penalty to test your own."
            )


def check_rank(rank: int, data: Sized, *, flexible: bool) -> None:
    """Refuse a rank that the slices do not allow."""
    K, I, J = data.shape
    narrowest = min(data.widths) if data.widths is not None else J
    most = min(I * J, I * K, J * K) if flexible else min(I, narrowest)
    if rank > most:
        shape = f"{I} rows x {narrowest} columns" + (f" x {K} times" if flexible else "")
        raise ValueError(
            f"rank {rank} is larger than the slices allow ({shape}): use a rank of at most {most}."
        )


def require_slices(data: Sized, model: str) -> None:
    """Refuse a single slice where change in time is the point."""
    if data.shape[0] < 2:
        raise ValueError(
            f"{model} needs at least 2 slices to speak of change in time; got {data.shape[0]}. "
            "For one slice use a matrix factorisation."
        )


def require_even_widths(data: Sized, model: str) -> None:
    """Refuse slices of different widths where patterns of neighbouring slices are compared."""
    if data.widths is not None:
        raise ValueError(
            f"{model} compares the patterns of different slices column by column, but the slices have "
            f"between {min(data.widths)} and {max(data.widths)} columns. Give all slices the same columns, "
            "or use Parafac2 without further terms on the patterns, which allows different widths."
        )


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidValue(
            Argument("n_jobs"),
            f" must be a positive whole number, or -1 for all cores; got {told(n_jobs)}.",
            received=n_jobs,
        )
