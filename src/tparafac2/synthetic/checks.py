"""Refusals shared by drifts, strengths and recipes."""

import math
from collections.abc import Callable
from typing import SupportsFloat

import numpy as np

from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.words import Argument


def check_count(name: str, value: object, least: int = 1) -> None:
    """Refuse anything but a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidType(
            Argument(name),
            f" must be a whole number, got {value!r}; pass an int of at least {least}.",
            received=value,
        )
    if value < least:
        raise InvalidValue(Argument(name), f" must be at least {least}, got {value}.", received=value)


def check_within(name: str, value: SupportsFloat, low: float, high: float = math.inf) -> None:
    """Refuse numbers outside the closed interval from ``low`` to ``high``, NaN and infinity."""
    wanted = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
    _check_number(name, value, wanted, lambda number: low <= number <= high)


def check_positive(name: str, value: SupportsFloat) -> None:
    """Refuse anything but a finite number above zero."""
    _check_number(name, value, "above 0", lambda number: number > 0)


def _check_number(name: str, value: SupportsFloat, wanted: str, fits: Callable[[float], bool]) -> None:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, got {value!r}; pass it without quotes.")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}.") from None
    if not (math.isfinite(number) and fits(number)):
        raise InvalidValue(
            Argument(name), f" must be a finite number {wanted}, got {value!r}.", received=value
        )


def check_inside_series(name: str, value: int, n_times: int) -> None:
    """Refuse a change that would come after the last slice: it could never be seen."""
    if value >= n_times:
        raise ValueError(
            f"{name}={value} lies outside a series of {n_times} slices; "
            f"choose a value from 1 to {n_times - 1}, or a longer series."
        )
