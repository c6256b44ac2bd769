"""Parameters are checked at the door, before any work."""

import math
import multiprocessing
import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.penalties import missing_attributes
from tparafac2.words import Advice, Argument, Setting

SPARSE = ("patterns", "rows", "strengths")
"""Factors that can be asked to have few entries other than zero."""

_LONGEST = 160
_MOST_RIGID = 1e9  # beyond it, rounding makes more of a difference than giving way does


class Size(NamedTuple):
    """All that is asked of data here; also known before a fit takes them in."""

    shape: tuple[int, int, int]
    widths: tuple[int, ...] | None = None  # of the slices, where they differ


def check_common(given: Mapping[str, Any]) -> None:
    """Check the parameters that all models share, and those of some models that need no data."""
    for name, least in (("rank", 1), ("n_starts", 1), ("max_iter", 1)):
        require_integer(name, given[name], least)
    for name in ("tol", "feasibility_tol"):
        require_number(name, given[name])
    require_choice("algorithm", given["algorithm"], "'fast' or 'paper'", ("fast", "paper"))
    if given["nonnegative"] is not None:
        allowed = ("patterns", "rows", "both")
        require_choice("nonnegative", given["nonnegative"], "'patterns', 'rows', 'both' or None", allowed)
    require_rigidity(given.get("rigidity", math.inf))
    require_choice("changes", given.get("changes", "smooth"), "'smooth' or 'sudden'", ("smooth", "sudden"))
    read_sparsity(given["sparsity"])
    require_number("smooth_strengths", given.get("smooth_strengths", 0.0))
    for name in ("bridge", "nonnegative_strengths"):
        require_flag(name, given.get(name, True))
    if not (isinstance(given["compress"], str) and given["compress"] == "auto"):
        require_flag("compress", given["compress"])
    if given["progress"] is not None:
        require_flag("progress", given["progress"])
    if given.get("period") is not None:
        require_number("period", given["period"], "positive and finite", units=", in the units of the times")
    require_seed(given["random_state"])
    check_jobs(given["n_jobs"])
    for name in ("penalties_a", "penalties_b", "penalties_c"):
        require_penalties(name, given[name])


def check_weights(given: Mapping[str, Any]) -> None:
    """Refuse weights where they could not be kept to exactly."""
    if given["algorithm"] == "paper":
        raise InvalidValue(
            Argument("weights"),
            " cannot be kept to with ",
            Setting("algorithm", "paper"),
            ", which knows no weights: leave ",
            Argument("algorithm"),
            " at 'fast'.",
        )


def require_rigidity(value: Any) -> None:
    """Refuse what is neither infinite nor a number that a penalty can be multiplied by."""
    if isinstance(value, float) and value == math.inf:
        return
    asked = f"from 0 to {_MOST_RIGID:g}, or infinite"
    if require_number("rigidity", value, asked) > _MOST_RIGID:
        raise InvalidValue(Argument("rigidity"), f" must be {asked}; got {told(value)}.", received=value)


def read_sparsity(given: Any) -> dict[str, float]:
    """Give the weights of sparsity by factor, without those that are zero; refuse what are none.

    Examples
    --------
    >>> read_sparsity(0.01), read_sparsity({"rows": 0.1, "strengths": 0}), read_sparsity(None)
    ({'patterns': 0.01}, {'rows': 0.1}, {})
    """
    if given is None:
        return {}
    asked = dict(given) if isinstance(given, Mapping) else {"patterns": given}
    by_factor = Advice("sparsity_by_factor", "{'patterns': 1e-4, 'rows': 1e-4}")
    wanted = ("a number for the patterns, or some by factor, as ", by_factor)
    unknown = [factor for factor in asked if factor not in SPARSE]
    if unknown or not asked:
        listed = f"{', '.join(SPARSE[:-1])} or {SPARSE[-1]}"
        what = f"of {listed}, and not of {told(unknown[0])}" if unknown else f"of {listed}; got none of them"
        raise InvalidValue(Argument("sparsity"), f" can be that {what}: give ", *wanted, ".", received=given)
    for weight in asked.values():
        if isinstance(weight, bool) or not isinstance(weight, Real):
            raise InvalidType(
                Argument("sparsity"), " must be ", *wanted, f"; got {told(given)}.", received=given
            )
        if not 0 <= _as_number(weight) < math.inf:
            raise InvalidValue(
                Argument("sparsity"),
                f" must be finite and at least 0, 1e-5 to 1e-3 for example; got {told(given)}.",
                received=given,
            )
    return {factor: float(weight) for factor, weight in asked.items() if weight}


def told(value: Any) -> str:
    """What was received, on one line and not too long.

    Examples
    --------
    >>> told([[1], [2]])
    '[[1], [2]]'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


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


def require_number(name: str, value: Any, asked: str = "finite and at least 0", units: str = "") -> float:
    """Give a number; refuse what is not finite, or negative, or zero where a positive number is asked for.

    Examples
    --------
    >>> require_number("tol", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(Argument(name), f" must be a number{units}; got {told(value)}.", received=value)
    number = _as_number(value)
    if not (math.isfinite(number) and (number > 0 or (number == 0 and "positive" not in asked))):
        raise InvalidValue(Argument(name), f" must be {asked}; got {told(value)}.", received=value)
    return number


def _as_number(value: Real) -> float:
    """A number as it is computed with; infinite if it is too large for that."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


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


def check_rank(rank: int, data: Size, *, flexible: bool) -> None:
    """Refuse a rank that the slices do not allow."""
    K, I, J = data.shape
    narrowest = min(data.widths) if data.widths is not None else J
    most = min(I * J, I * K, J * K) if flexible else min(I, narrowest)
    if rank > most:
        shape = f"{I} rows x {narrowest} columns" + (f" x {K} times" if flexible else "")
        raise ValueError(
            f"rank {rank} is larger than the slices allow ({shape}): use a rank of at most {most}."
        )


def require_slices(data: Size, model: str) -> None:
    """Refuse a single slice where change in time is the point."""
    if data.shape[0] < 2:
        raise ValueError(
            f"{model} needs at least 2 slices to speak of change in time; got {data.shape[0]}. "
            "For one slice use a matrix factorisation."
        )


def require_even_widths(data: Size, model: str) -> None:
    """Refuse slices of different widths where patterns of neighbouring slices are compared."""
    if data.widths is not None:
        raise ValueError(
            f"{model} compares the patterns of different slices column by column, but the slices have "
            f"between {min(data.widths)} and {max(data.widths)} columns. Give all slices the same columns, "
            "or use Parafac2 without further terms on the patterns, which allows different widths."
        )


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of threads or processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidValue(
            Argument("n_jobs"),
            f" must be a positive whole number, or -1 for all cores; got {told(n_jobs)}.",
            received=n_jobs,
        )


def count_jobs(n_jobs: int) -> int:
    """Number of threads or processes; negative counts from the number of cores, as in joblib.

    All cores are those that this process may use; one of several processes leaves the others theirs.

    Examples
    --------
    >>> count_jobs(3), count_jobs(-1) >= 1
    (3, True)
    """
    if n_jobs > 0:
        return n_jobs
    if multiprocessing.current_process().name != "MainProcess":
        return 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable + 1 + n_jobs)
