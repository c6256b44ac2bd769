"""Patterns between the slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Lines, lines_through
from tparafac2.result.dataset import UNITS, dimensions
from tparafac2.result.moments import Timeline, as_dates, moment_text, phases, read_moments, timeline
from tparafac2.result.record import Result, unit_columns

if TYPE_CHECKING:
    import xarray as xr

_ROUNDING_STEPS = 4


def patterns_at(result: Result, t: object) -> xr.DataArray:
    """Give the patterns at any time, for eyes and with labels; see `Result.patterns_at`."""
    import xarray as xr

    optimised, moments, single = optimised_at(result, t)
    names = dimensions(result)
    when: NDArray[np.generic] = as_dates(moments) if timeline(result).dated else moments
    # A fit that went wrong may hold infinities: they become NaN, without noise.
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        units = [unit_columns(piece)[0] for piece in optimised]
    found = xr.DataArray(
        np.stack(units) if units else optimised,
        dims=(names["time"], names["columns"], "component"),
        coords={
            names["time"]: when,
            names["columns"]: result.labels.coordinate("columns", optimised.shape[1]),
            "component": np.arange(1, result.rank + 1),
        },
        name="patterns",
        attrs=UNITS["patterns"],
    )
    return found[0] if single else found


def optimised_at(result: Result, t: object) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Give the optimised patterns (n, J, R) at any time, these times, and whether one was asked for.

    Squared changes divided by the gaps are least, for given patterns at the slices, on straight lines.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.array([[[0.0]], [[4.0]]]), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 times=np.array([10.0, 20.0]))
    >>> optimised_at(result, [10, 12.5])[0].ravel().tolist()
    [0.0, 1.0]
    >>> optimised_at(result, 21)
    Traceback (most recent call last):
    ValueError: the patterns are known from 10 to 20, and t = 21 is outside: give a time in this range.
    """
    if isinstance(result.B, list):
        raise ValueError(
            "there is nothing between slices that have columns of their own (B is a list): patterns_at needs "
            "a fit in which all slices have the same columns."
        )
    when = timeline(result)
    moments, single = read_moments(t, when.dated)
    lines = _lines(when, result.period)
    wanted = _snapped(when, moments, lines.times, result.period)
    if result.period is None:
        _require_within(wanted, lines.times, when.dated)
    return np.asarray(lines.at(result.B, wanted), dtype=np.float64), moments, single


def _lines(when: Timeline, period: float | None) -> Lines:
    """Lines through the times of the slices, which have to be known and different."""
    if not np.isfinite(when.values).all():
        raise ValueError(
            "the labels of time do not say when every slice was taken (some are NaN, NaT or infinite): "
            "fit with times=."
        )
    lines = lines_through(phases(when.values, period), period)
    same = np.flatnonzero(np.diff(lines.times) == 0)
    if len(same):
        first, second = sorted(lines.places[same[0] : same[0] + 2])
        raise ValueError(
            f"slices {first} and {second} were both taken at {moment_text(when.values[first], when.dated)}"
            f"{'' if period is None else f' (the period is {period:.15g})'}: "
            "fit with times= that are different."
        )
    return lines


def _snapped(
    when: Timeline, moments: NDArray[np.float64], known: NDArray[np.float64], period: float | None
) -> NDArray[np.float64]:
    """Move what differs from the time of a slice by rounding only (dates, whole periods) to that time."""
    wanted = phases(moments, period)
    nearest = known[np.searchsorted((known[1:] + known[:-1]) / 2, wanted)]
    size = np.maximum(np.abs(moments), np.abs(when.values).max())
    return np.where(np.abs(wanted - nearest) <= _ROUNDING_STEPS * np.spacing(size), nearest, wanted)


def _require_within(wanted: NDArray[np.float64], known: NDArray[np.float64], dated: bool) -> None:
    outside = wanted[(wanted < known[0]) | (wanted > known[-1])]
    if len(outside):
        first, last, t = (moment_text(float(value), dated) for value in (known[0], known[-1], outside[0]))
        raise ValueError(
            f"the patterns are known from {first} to {last}, and t = {t} is outside: "
            "give a time in this range."
        )
