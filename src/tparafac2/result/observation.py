"""What was observed, and when: the fields of a result that say so, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def settled_times(given: Any, K: int) -> NDArray[np.float64] | None:
    """Give the times as K finite numbers, or None.

    Examples
    --------
    >>> settled_times([0, 2], 2)
    array([0., 2.])
    """
    times = _numbers("times", given, (K,), "(for dates: days since 1970-01-01)")
    if times is not None and not np.isfinite(times).all():
        raise ValueError(f"times must be finite numbers; got {times[~np.isfinite(times)][0]}.")
    return times


def settled_period(given: Any) -> float | None:
    """Give the period as a positive number, or None.

    Examples
    --------
    >>> settled_period(24)
    24.0
    """
    if given is None:
        return None
    period = float(given)
    if not (math.isfinite(period) and period > 0):
        raise ValueError(f"period must be a positive finite number, or None; got {given!r}.")
    return period


def settled_share(given: Any) -> float:
    """Give the share of observed entries as a number from 0 to 1.

    Examples
    --------
    >>> settled_share(1)
    1.0
    """
    share = float(given)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"observed_share must be from 0 to 1; got {given!r}.")
    return share


def settled_coverage(given: Any, shape: tuple[int, int]) -> NDArray[np.float64] | None:
    """Give the share of observed rows for every time and column, (K, J), or None.

    Examples
    --------
    >>> settled_coverage([[1, 0.5]], (1, 2))
    array([[1. , 0.5]])
    """
    coverage = _numbers("coverage", given, shape, "(times x columns)")
    if coverage is not None and not ((coverage >= 0) & (coverage <= 1)).all():
        raise ValueError("coverage must be shares from 0 to 1 (0 where there is nothing); got others.")
    return coverage


def settled_undetermined(given: Any, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    """Give which patterns are undetermined, (K, R) truth values, or None.

    Examples
    --------
    >>> settled_undetermined([[True, False]], (1, 2))
    array([[ True, False]])
    """
    if given is None:
        return None
    array = np.asarray(given)
    if array.dtype != np.bool_ or array.shape != shape:
        raise ValueError(
            f"undetermined must be truth values of shape {shape} (times x components); "
            f"got shape {array.shape} of {array.dtype}."
        )
    return array


def _numbers(name: str, given: Any, shape: tuple[int, ...], hint: str) -> NDArray[np.float64] | None:
    if given is None:
        return None
    array = np.asarray(given)
    if array.dtype.kind not in "iuf" or array.shape != shape:
        raise ValueError(
            f"{name} must be numbers of shape {shape} {hint}; got shape {array.shape} of {array.dtype}."
        )
    return array.astype(np.float64, copy=False)
