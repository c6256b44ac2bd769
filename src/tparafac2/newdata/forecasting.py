"""What a model says of times beyond its last, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Labels
from tparafac2.errors import InvalidValue
from tparafac2.newdata.appending import require_continuable
from tparafac2.newdata.horizon import horizon
from tparafac2.newdata.origins import Origins, in_hindsight, without_later_times
from tparafac2.newdata.residuals import Noise, known_noise, measured_noise
from tparafac2.newdata.strength_courses import strength_draws
from tparafac2.penalties import asks_for, keep_sign
from tparafac2.preparing import undo
from tparafac2.preparing.steps import transform_steps
from tparafac2.result import Result
from tparafac2.result.dataset import free_names
from tparafac2.words import Argument

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_USERS = "those of the data"
_SHARES = "shares of the columns within each row and time"
_FEWEST = 4
"""So many times are the fewest whose strengths say how far they go: three steps between them."""
_DRAWS = 400
_AT_ONCE = 4_000_000


class Band(NamedTuple):
    """A forecast, and the ends of its interval, all of one shape."""

    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Forecast:
    """Patterns, strengths and fitted values at times beyond the last of a model.

    Attributes
    ----------
    patterns : Band of (h, J, R)
        The last patterns, of length 1: what a model that is smooth in time implies. Their interval grows
        with the time since.
    strengths : Band of (h, R)
        In the units of the data that were fitted, as in `normalised`.
    fitted : Band of (h, I, J)
        In the user's units, or shares where the data were prepared as such, as `fitted_values` gives them.
        Their interval has that of patterns and strengths and the noise of single entries.
    times : ndarray (h,)
        On the clock of the model.
    labels : Labels
        Of rows, columns and these times.
    level : float
        Share of the intervals that are to hold what comes.
    units : str
        What the fitted values are.

    Examples
    --------
    >>> band = Band(np.ones((1, 1, 1)), np.zeros((1, 1, 1)), np.full((1, 1, 1), 2.0))
    >>> Forecast(band, Band(*(part[0] for part in band)), band, np.array([3.0]), Labels(), 0.95)
    Forecast(1 time, 1 component, 1 rows x 1 columns, level 0.95)
    """

    patterns: Band
    strengths: Band
    fitted: Band
    times: NDArray[np.float64]
    labels: Labels
    level: float
    units: str = _USERS

    def __repr__(self) -> str:
        h, I, J = self.fitted.value.shape
        R = self.strengths.value.shape[1]
        steps, parts = ("time" if h == 1 else "times"), ("component" if R == 1 else "components")
        return f"Forecast({h} {steps}, {R} {parts}, {I} rows x {J} columns, level {self.level:g})"

    def to_dataset(self) -> xr.Dataset:
        """Everything as one labelled xarray.Dataset: ``patterns``, ``patterns_lower`` and so on."""
        import xarray as xr

        h, I, J = self.fitted.value.shape
        parts = {"patterns": self.patterns, "strengths": self.strengths, "fitted": self.fitted}
        taken = {f"{name}{end}" for name in parts for end in ("", "_lower", "_upper")} | {"component"}
        names = free_names(self.labels, taken)
        time, rows, columns = names["time"], names["rows"], names["columns"]
        dims = {
            "patterns": (time, columns, "component"),
            "strengths": (time, "component"),
            "fitted": (time, rows, columns),
        }
        units = {
            "patterns": "every component has length 1 at every time",
            "strengths": "those of the data that were fitted",
            "fitted": self.units,
        }
        variables = {
            f"{name}{end}": (dims[name], array, {"units": units[name]})
            for name, band in parts.items()
            for end, array in zip(("", "_lower", "_upper"), band)
        }
        coordinates = {
            time: self.labels.coordinate("time", h),
            rows: self.labels.coordinate("rows", I),
            columns: self.labels.coordinate("columns", J),
            "component": np.arange(1, self.strengths.value.shape[1] + 1),
        }
        return xr.Dataset(variables, coordinates, {"level": self.level})

    def to_frame(self) -> pd.DataFrame:
        """Fitted values as a long table: one line for each time, row and column, with its interval."""
        dataset = self.to_dataset()[["fitted", "fitted_lower", "fitted_upper"]]
        frame = dataset.to_dataframe().reset_index()
        return frame.rename(columns={"fitted": "value", "fitted_lower": "lower", "fitted_upper": "upper"})


@dataclass(frozen=True)
class Asked:
    """How a forecast is to be made; see `tparafac2.TParafac2.forecast`."""

    level: float = 0.95
    season: int | None = None
    random_state: Any = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.level, float) and 0.0 < self.level < 1.0):
            raise InvalidValue(
                Argument("level"), f" must be between 0 and 1; got {self.level!r}.", received=self.level
            )
        whole = isinstance(self.season, int) and not isinstance(self.season, bool)
        if self.season is not None and not (whole and self.season > 1):
            raise InvalidValue(
                Argument("season"),
                f" must be a whole number of steps above 1; got {self.season!r}.",
                received=self.season,
            )


def forecast(
    result: Result,
    h: Any = None,
    *,
    times: Any = None,
    X: Any = None,
    dims: Mapping[str, Hashable] | None = None,
    asked: Asked | None = None,
) -> Forecast:
    """Say what comes after the last time of a fit.

    Parameters
    ----------
    result : Result
    h : int, optional
        How many steps of even times; or `times`.
    times : sequence of numbers, dates or labels, optional
    X : optional
        The data of the fit, from which errors and noise are measured.
    dims : mapping, optional
        For a DataArray, as in `fit`.
    asked : Asked, optional
    """
    asked = asked or Asked()
    require_continuable(result)
    if result.ragged:
        raise InvalidValue("the model has slices of unequal width: which columns come next is not known.")
    known = len(result.clock.order)
    if result.period is None and known < _FEWEST:
        raise InvalidValue(
            f"the model has {known} times that were observed, and how far strengths go from one to the next "
            f"cannot be told from fewer than {_FEWEST}: a forecast needs a fit to more times."
        )
    ahead = horizon(result, h, times)
    if X is None:
        origins, noise = in_hindsight(result), known_noise(result)
    else:
        sight, noise = measured_noise(result, X, dims)
        origins = without_later_times(result, sight.stats, sight.coverage)
    parts = _drawn(result, ahead.values, origins, asked)
    low, high = (1.0 - asked.level) / 2.0, (1.0 + asked.level) / 2.0
    patterns, strengths = parts.pattern_band(asked.level), parts.strength_band(low, high)
    fitted = Band(*map(np.stack, zip(*_fitted(result, parts, noise, (low, high)))))
    return Forecast(
        patterns,
        strengths,
        fitted,
        ahead.values,
        replace(result.labels, time=ahead.labels),
        asked.level,
        _units(result),
    )


def _units(result: Result) -> str:
    """What fitted values are: totals of rows are not fitted where these were made shares."""
    steps = () if result.preparation is None else transform_steps(result.preparation["transform"])
    return _SHARES if {"share", "clr"} & set(steps) else _USERS


class _Drawn(NamedTuple):
    B: NDArray[np.float64]  # (h, J, R)
    variances: NDArray[np.float64]  # (h, J, R)
    C: NDArray[np.float64]  # (h, R)
    draws: NDArray[np.float64]  # (n, h, R)
    bounded: bool
    rng: np.random.Generator

    def pattern_band(self, level: float) -> Band:
        from scipy.stats import norm

        reach = float(norm.ppf((1.0 + level) / 2.0)) * np.sqrt(self.variances)
        lower = self.B - reach
        return Band(self.B, np.maximum(lower, 0.0) if self.bounded else lower, self.B + reach)

    def strength_band(self, low: float, high: float) -> Band:
        lower, upper = np.quantile(self.draws, (low, high), axis=0)
        return Band(self.C, np.minimum(lower, self.C), np.maximum(upper, self.C))


def _drawn(result: Result, times: NDArray[np.float64], origins: Origins, asked: Asked) -> _Drawn:
    terms, order = result.terms, list(result.clock.order)
    normal = result.normalised()
    B, C = np.asarray(normal.B)[order], normal.C[order]
    clock = result.clock.times[order]
    seeds = np.random.SeedSequence(_seed(asked.random_state)).spawn(result.rank + 1)
    h, static = len(times), asks_for(terms.B, "static")
    if result.period is not None:
        from tparafac2.data import lines_through

        lines = lines_through(clock, result.period)
        within = clock[0] + np.mod(times - clock[0], result.period)
        ahead, means = lines.at(B, within), lines.at(C, within)
        draws, variances = np.repeat(means[None], _DRAWS, axis=0), np.zeros(ahead.shape)
    else:
        ahead = np.repeat(B[-1:], h, axis=0)
        gaps = times - clock[-1]
        variances = np.zeros(ahead.shape) if static else np.stack([origins.spread(gap) for gap in gaps])
        variances = np.where(ahead[-1:].any(axis=2, keepdims=True), variances, 0.0)  # columns that are gone
        means, draws = _strengths(C, clock, times, asked, seeds[:-1])
    if keep_sign(terms.C) or terms.fixed_strengths:
        means, draws = np.maximum(means, 0.0), np.maximum(draws, 0.0)
    ahead, means, draws = (np.asarray(one, dtype=np.float64) for one in (ahead, means, draws))
    bounded = keep_sign(terms.B)
    return _Drawn(ahead, variances, means, draws, bounded, np.random.default_rng(seeds[-1]))


def _strengths(
    C: NDArray[np.float64],
    clock: NDArray[np.float64],
    times: NDArray[np.float64],
    asked: Asked,
    seeds: list[np.random.SeedSequence],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Forecasts of strengths; uneven times are put on a grid of their typical gap first."""
    gap = float(np.median(np.diff(clock))) if len(clock) > 1 else 1.0
    places = np.arange(clock[-1], clock[0] - 0.5 * gap, -gap)[::-1]
    even = np.stack([np.interp(places, clock, course) for course in C.T], axis=1)
    wanted = np.maximum(np.rint((times - clock[-1]) / gap).astype(int), 1)
    means, draws = strength_draws(even, int(wanted.max()), asked.season, _DRAWS, seeds)
    return means[wanted - 1], draws[:, wanted - 1]


def _seed(random_state: Any) -> int | None:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return None if random_state is None else int(random_state)


def _fitted(
    result: Result, parts: _Drawn, noise: Noise, ends: tuple[float, float]
) -> Iterator[tuple[NDArray[np.float64], ...]]:
    """Fitted values of each time, and quantiles of as many draws of everything that is not known."""
    A = result.normalised().A
    n, h, _ = parts.draws.shape
    I, J = len(A), parts.B.shape[1]
    deviations = np.sqrt(parts.variances)
    for t in range(h):
        value = _undone(result, (A * parts.C[t]) @ parts.B[t].T)
        B = parts.B[t] + deviations[t] * parts.rng.standard_normal((n, *parts.B[t].shape))
        B = np.maximum(B, 0.0) if parts.bounded else B
        lower, upper = np.empty((I, J)), np.empty((I, J))
        size = max(1, _AT_ONCE // (n * J))
        for first in range(0, I, size):
            rows = slice(first, first + size)
            means = np.einsum("ir,nr,njr->nij", A[rows], parts.draws[:, t], B, optimize=True)
            means += parts.rng.standard_normal(means.shape) * noise.deviations(rows)
            drawn = _undone(result, means, rows)
            lower[rows], upper[rows] = np.quantile(drawn, ends, axis=0)
        yield value, np.minimum(lower, value), np.maximum(upper, value)


def _undone(result: Result, values: NDArray[np.float64], rows: slice | None = None) -> NDArray[np.float64]:
    """In the user's units; what was taken off each time is taken to be that of the last one."""
    record = result.preparation
    if record is None:
        return values
    stack = values if values.ndim == 3 else values[None]
    own = dict(record)
    for step, numbers in (("center", "centers"), ("scale", "scales")):
        if own[step] == "time":
            last = int(np.argmax(result.clock.times))
            own[numbers] = [own[numbers][last]] * len(stack)
        elif own[step] == "rows" and rows is not None:
            own[numbers] = own[numbers][rows]
    undone = undo(own, stack)
    return np.asarray(undone if values.ndim == 3 else undone[0])
