"""What was observed, and when: the fields of a result that say so, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WEAK = 1e-3
"""A component with less than this part of its greatest strength is as good as absent."""


def weak(sizes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell at which times (first axis) there is so little that the data say nothing of the pattern.

    Examples
    --------
    >>> weak(np.array([1.0, -0.5, 1e-4, 0.0])).tolist()
    [False, False, True, True]
    """
    sizes = np.abs(sizes)
    return np.asarray(~(sizes > WEAK * sizes.max(axis=0)))


def strengths(B: Sequence[NDArray[Any]] | NDArray[Any], C: NDArray[Any]) -> NDArray[np.float64]:
    """Say how much of every component there is at every time, (K, R), up to a factor for each component.

    Examples
    --------
    >>> strengths(np.array([[[3.0], [4.0]], [[1.0], [0.0]]]), np.array([[1.0], [-2.0]])).ravel().tolist()
    [5.0, 2.0]
    """
    with np.errstate(invalid="ignore", over="ignore"):  # a fit that went wrong may hold infinities
        return np.asarray(np.abs(C) * [np.linalg.norm(piece, axis=0) for piece in B])


class Clock(NamedTuple):
    """When the slices were taken, and in which order they were fitted.

    Attributes
    ----------
    times : ndarray (K,)
        Of all slices, in the user's order; 0, 1, 2, ... where there were none.
    order : tuple of int
        Which slices were fitted (those of which something was observed), in the order of time.
    period : float, optional
        Time goes round with this period.

    Examples
    --------
    >>> Clock(np.array([0.0, 6.0, 2.0]), (0, 2, 1), period=24.0).gaps
    array([ 2.,  4., 18.])
    """

    times: NDArray[np.float64]
    order: tuple[int, ...]
    period: float | None = None

    @property
    def gaps(self) -> NDArray[np.float64]:
        """Times between the slices that were fitted; with a period also from the last to the first."""
        fitted = self.times[list(self.order)]
        closing = [] if self.period is None else [fitted[0] + self.period - fitted[-1]]
        return np.append(np.diff(fitted), closing)


def read_clock(
    times: NDArray[np.float64] | None, coverage: NDArray[np.float64] | None, K: int, period: float | None
) -> Clock:
    """Tell when which slices were fitted: all of which something was observed, in the order of time.

    Examples
    --------
    >>> read_clock(np.array([3.0, 1.0, 2.0]), np.array([[1.0], [0.5], [0.0]]), 3, None).order
    (1, 0)
    """
    clock = np.arange(K, dtype=np.float64) if times is None else times
    seen = np.ones(K, dtype=bool) if coverage is None else np.asarray(coverage.any(axis=1))
    return Clock(clock, tuple(k for k in np.argsort(clock).tolist() if seen[k]), period)


def settled(given: Mapping[str, Any], shape: tuple[int, int, int], rank: int) -> dict[str, Any]:
    """Give the fields of a result that say what was observed and when, each in one type; refuse others.

    Examples
    --------
    >>> fields = dict.fromkeys(("times", "coverage", "undetermined", "present", "row_weights"))
    >>> settled(fields | {"times": [0, 2], "period": 24, "observed_share": 1}, (2, 5, 4), 3)["times"]
    array([0., 2.])
    """
    K, I, J = shape
    weights = _array("row_weights", given, (I,), "(rows)")
    if weights is not None and not ((weights >= 0) & np.isfinite(weights)).all():
        raise ValueError("row_weights must be finite and not negative; got others.")
    times = _array("times", given, (K,), "(for dates: days since 1970-01-01)")
    if times is not None and not np.isfinite(times).all():
        raise ValueError(f"times must be finite numbers; got {times[~np.isfinite(times)][0]}.")
    period = None if given["period"] is None else float(given["period"])
    if period is not None and not (math.isfinite(period) and period > 0):
        raise ValueError(f"period must be a positive finite number, or None; got {given['period']!r}.")
    share = float(given["observed_share"])
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"observed_share must be from 0 to 1; got {given['observed_share']!r}.")
    coverage = _array("coverage", given, (K, J), "(times x columns)")
    if coverage is not None and not ((coverage >= 0) & (coverage <= 1)).all():
        raise ValueError("coverage must be shares from 0 to 1 (0 where there is nothing); got others.")
    undetermined = _array("undetermined", given, (K, rank), "(times x components)", flags=True)
    return {
        "times": times,
        "period": period,
        "observed_share": share,
        "coverage": coverage,
        "undetermined": undetermined,
        "row_weights": weights,
        "present": _array("present", given, (K, J), "(times x columns)", flags=True),
    }


def _array(
    name: str, given: Mapping[str, Any], shape: tuple[int, ...], hint: str, *, flags: bool = False
) -> NDArray[Any] | None:
    if given[name] is None:
        return None
    array = np.asarray(given[name])
    if array.dtype.kind not in ("b" if flags else "iuf") or array.shape != shape:
        raise ValueError(
            f"{name} must be {'truth values' if flags else 'numbers'} of shape {shape} {hint}; "
            f"got shape {array.shape} of {array.dtype}."
        )
    return array if flags else array.astype(np.float64, copy=False)
