"""How strengths may go on: exponential smoothing of each component's own course, by statsmodels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.errors import InvalidValue
from tparafac2.words import Advice, Argument

_FEWEST = 8
"""Fewer times than this say too little of a trend or of how fast strengths are forgotten."""


def require_statsmodels() -> Any:
    """The part of statsmodels that is needed; else say how to get it."""
    try:
        from statsmodels.tsa.exponential_smoothing import ets
    except ImportError:
        raise ImportError(
            "forecasts of strengths need the package statsmodels: pip install 'tparafac2[forecast]'."
        ) from None
    return ets


def strength_draws(
    courses: NDArray[np.float64],
    steps: int,
    season: int | None,
    n_draws: int,
    seeds: list[np.random.SeedSequence],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Forecasts (h, R) and draws around them (n_draws, h, R), of courses (K, R) at even times.

    Parameters
    ----------
    courses : ndarray (K, R)
    steps : int
    season : int, optional
        Steps after which strengths repeat, more or less.
    n_draws : int
    seeds : list of R seeds
    """
    ets = require_statsmodels()
    if season is not None and len(courses) < 2 * season + 2:
        raise InvalidValue(
            Argument("season"),
            f" is {season} steps, and there are {len(courses)} times: at least two seasons and two more "
            "times are needed",
            Advice("or_none", ", or None"),
            ".",
            received=season,
        )
    means, draws = [], []
    for course, seed in zip(courses.T, seeds):
        mean, paths = _of_one(ets, course, steps, season, n_draws, np.random.default_rng(seed))
        means.append(mean)
        draws.append(paths)
    return np.stack(means, axis=1), np.stack(draws, axis=2)


def _of_one(
    ets: Any, course: NDArray[np.float64], steps: int, season: int | None, n_draws: int, rng: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    size = float(np.abs(course).max()) or 1.0
    course = course / size
    spread = float(np.std(np.diff(course))) if len(course) > 2 else 0.0
    if len(course) < _FEWEST or spread < 1e-9:
        walk = np.cumsum(rng.normal(0.0, spread, (n_draws, steps)), axis=1)
        return np.full(steps, course[-1]) * size, (course[-1] + walk) * size
    best = min(_fitted(ets, course, season), key=lambda fit: fit.aicc)
    paths = best.simulate(steps, anchor="end", repetitions=n_draws, rng=rng)
    draws = np.asarray(paths, dtype=np.float64).reshape(steps, n_draws).T
    return np.asarray(best.forecast(steps), dtype=np.float64) * size, draws * size


def _fitted(ets: Any, course: NDArray[np.float64], season: int | None) -> Iterator[Any]:
    """With and without a trend that fades; the season where one is asked for."""
    seasonal = {} if season is None else {"seasonal": "add", "seasonal_periods": season}
    for trend in ({}, {"trend": "add", "damped_trend": True}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a course with few times has a flat likelihood
            yield ets.ETSModel(course, error="add", **trend, **seasonal).fit(disp=False)
