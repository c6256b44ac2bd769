"""From the one knob, or the paper's lambdas, to the terms that are minimised."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tparafac2.data import Intake
from tparafac2.errors import InvalidValue
from tparafac2.fitting.checks import SPARSE, require_number
from tparafac2.penalties import L1, Penalty, on_clock
from tparafac2.result import Terms
from tparafac2.words import Advice, Argument

DEFAULT_SMOOTHNESS = 3e-3


def require_weight(name: str, value: Any) -> float:
    """Check that a penalty weight is a finite number, not negative."""
    return require_number(name, value, "finite and not negative")


def resolve(
    smoothness: Any, given: dict[str, Any], default: float | None
) -> float | tuple[float, ...] | None:
    """What was asked for: one smoothness, all lambdas, or nothing.

    Parameters
    ----------
    smoothness : float, optional
    given : dict of str to (float or None)
        The lambdas by name.
    default : float, optional
        The smoothness if nothing is given.

    Returns
    -------
    float, tuple of float, or None
        Smoothness, or the lambdas in order, or None for no norm penalties.

    Examples
    --------
    >>> resolve(None, {"lambda_a": 0.1, "lambda_b": 10, "lambda_d": 0.1}, None)
    (0.1, 10.0, 0.1)
    """
    names = ", ".join(given)
    present = {name: require_weight(name, value) for name, value in given.items() if value is not None}
    if smoothness is not None:
        if present:
            raise ValueError(
                f"smoothness and {', '.join(present)} were both given: smoothness sets all lambdas at once. "
                f"Give either smoothness or {names}."
            )
        knob = require_weight("smoothness", smoothness)
        if knob == 0:
            raise InvalidValue(
                Argument("smoothness"),
                " must be positive; for a model without smoothness use ",
                Advice("use_parafac2", "Parafac2"),
                ".",
                received=smoothness,
            )
        return knob
    if not present:
        return default
    if len(present) < len(given):
        missing = [name for name in given if name not in present]
        raise ValueError(
            f"{', '.join(present)} given without {', '.join(missing)}: scale would flee to the factor "
            f"without a penalty, and there would be no minimum. Give all of {names}, or smoothness alone."
        )
    values = tuple(present.values())
    if any(values) and not all(values):
        zero = [name for name, value in present.items() if value == 0]
        raise ValueError(
            f"{', '.join(zero)} is zero while others are not: scale would flee to the factor without a "
            "penalty, and there would be no minimum. Make all of them positive, or all zero."
        )
    return values if any(values) else None


def weights(asked: float | tuple[float, ...] | None, scale: float, n: int) -> tuple[float, ...]:
    """Lambdas for data of norm `scale`, where only their product matters: n of them, equal under one knob.

    smoothness = (product of the n lambdas)^(1/n) / scale^(2 - 2/n).

    Examples
    --------
    >>> weights(1e-3, 1000.0, 3)
    (10.0, 10.0, 10.0)
    """
    if asked is None:
        return (0.0,) * n
    if isinstance(asked, tuple):
        return asked
    return (asked * scale ** (2 - 2 / n),) * n


def sparse_terms(sparsity: Mapping[str, float], scale: float, n: int) -> dict[str, list[Penalty]]:
    """Terms that let few entries be other than zero, by factor, for data of norm `scale` and n factors.

    Where these share the norm evenly, each has the scale^(1/n) of it, and sums of sizes grow as that does:
    in a unit of scale^(2 - 1/n) their weight is the same for data in any unit.

    Examples
    --------
    >>> sparse_terms({"rows": 0.01}, 1000.0, 3)["rows"]
    [L1(strength=1000.0)]
    """
    unit = sparsity_unit(scale, n)
    return {factor: [L1(sparsity[factor] * unit)] if sparsity.get(factor) else [] for factor in SPARSE}


def sparsity_unit(scale: float, n: int) -> float:
    """What a sparsity is multiplied by, for data of norm `scale` and a model of n factors.

    Examples
    --------
    >>> round(sparsity_unit(1000.0, 3))
    100000
    """
    return float(scale ** (2 - 1 / n))


def on_their_clock(terms: Terms, intake: Intake, period: float | None) -> Terms:
    """The terms for slices that were taken when these were."""
    if intake.times is None and period is None:
        return terms
    times = intake.clock[list(intake.order)]
    B, C = (tuple(on_clock(mode, times, period)) for mode in (terms.B, terms.C))
    return replace(terms, B=B, C=C)
