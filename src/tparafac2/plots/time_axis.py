"""Time as an axis: slices where they were taken, named as by the user, hatched where nothing is known."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.style import letters_that_fit
from tparafac2.plots.words import dimension_name, picture_text
from tparafac2.result import Band, Result, Timeline, moment_text, timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REACH = 1.5
"""A slice stands for the time around it up to so many usual gaps: beyond, nothing was taken."""

_EVEN = 1e-6
_LONG_LABEL = 10
_MOST_RUG = 150
_FEWEST_DATES = 5  # with fewer, matplotlib finds no steps for 13 to 24 months
_FIRST_DAY, _LAST_DAY = -719_000, 2_932_000
"""Days of which the calendar has dates (years 2 to 9997)."""


HATCH = "//////"


class TimeAxis(NamedTuple):
    """The slices along an axis of time.

    Attributes
    ----------
    order : ndarray of int (K,)
        The slices in the order of time.
    positions : ndarray (K,)
        When they were taken, increasing; dates as matplotlib counts them.
    labels : list of str
        What the user calls these times.
    kind : {"numbers", "dates", "names"}
        Whether there may be ticks between slices, and what they say.
    name : str
        Of the axis.
    """

    order: NDArray[np.intp]
    positions: NDArray[np.float64]
    labels: list[str]
    kind: Literal["numbers", "dates", "names"]
    name: str

    @property
    def even(self) -> bool:
        """Whether all gaps are equal."""
        gaps = np.diff(self.positions)
        return not len(gaps) or float(np.ptp(gaps)) <= _EVEN * float(gaps.max())


class Stretches(NamedTuple):
    """The stretches of time that slices stand for, and the gaps between these.

    Attributes
    ----------
    edges : ndarray (n + 1,)
    slices : ndarray of int (n,)
        Which slice (in the order of time) a stretch belongs to, or -1 for a gap.
    """

    edges: NDArray[np.float64]
    slices: NDArray[np.intp]

    def filled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Spread values (K, n) over the stretches, NaN in the gaps, (n, stretches)."""
        return np.where(self.slices >= 0, values[self.slices].T, np.nan)

    def span(self, first: int, last: int) -> tuple[float, float]:
        """Where the stretch of the first slice begins and that of the last one ends."""
        places = np.flatnonzero((self.slices == first) | (self.slices == last))
        return float(self.edges[places[0]]), float(self.edges[places[-1] + 1])


def time_axis(result: Result) -> TimeAxis:
    """Lay the slices of a result along time.

    Slices without times are at 0, 1, 2, ..., as in `Result.patterns_at`; so are those whose labels are
    numbers that do not tell them apart.
    """
    when, given = timeline(result), result.labels.time
    if not np.isfinite(when.values).all() or len(np.unique(when.values)) < len(when.values):
        when = Timeline(np.arange(len(result.C), dtype=np.float64), False)
    order = np.argsort(when.values, kind="stable")
    positions = when.values[order]
    if given is None:
        labels = [moment_text(float(value), when.dated) for value in positions]
    else:
        labels = [picture_text(label) for label in given[order]]
    named = given is not None and not (given.dtype.kind in "iuf" and np.array_equal(given, when.values))
    kind: Literal["numbers", "dates", "names"] = "names" if named else "numbers"
    if when.dated and _in_calendar(positions):
        kind, positions = "dates", positions + _first_of_1970()
    return TimeAxis(order, positions, labels, kind, dimension_name(result, "time"))


def time_stretches(axis: TimeAxis) -> Stretches:
    """Give every slice the time half-way to its neighbours, but no more than what is usual between slices.

    Examples
    --------
    >>> axis = TimeAxis(np.arange(4), np.array([0.0, 1.0, 2.0, 12.0]), list("abcd"), "names", "Time")
    >>> time_stretches(axis)
    Stretches(edges=array([-0.5,  0.5,  1.5,  3.5, 10.5, 12.5]), slices=array([ 0,  1,  2, -1,  3]))
    """
    times = axis.positions
    gaps = np.diff(times)
    usual = float(np.median(gaps)) if len(gaps) else 1.0
    half = np.minimum(gaps / 2, _REACH * usual)
    outer = [usual / 2]
    left = times - np.concatenate([outer, half])
    right = times + np.concatenate([half, outer])
    edges, slices = [left[0]], []
    for k in range(len(times)):
        if left[k] > edges[-1] + 1e-9 * usual:
            edges.append(left[k])
            slices.append(-1)
        edges.append(right[k])
        slices.append(k)
    return Stretches(np.array(edges), np.array(slices))


def draw_time(ax: Axes, axis: TimeAxis, *, rug: bool = False) -> None:
    """Write times along the horizontal axis: every slice if there is room, else round numbers or dates.

    Parameters
    ----------
    ax : matplotlib Axes
    axis : TimeAxis
    rug : bool
        Mark slices that are not evenly spaced by small ticks.
    """
    if len(axis.positions) == 1:  # or matplotlib shows a twentieth of the years since its epoch around it
        ax.set_xlim(axis.positions[0] - 0.5, axis.positions[0] + 0.5)
    letters = letters_that_fit(ax)
    longest = max(map(len, axis.labels))
    slanted = axis.kind == "names" and longest > _LONG_LABEL
    shown = _spread(axis.positions, (2.5 if slanted else longest + 1.5) / letters)
    if axis.kind == "dates":
        _date_ticks(ax, letters)
    elif axis.kind == "numbers" and len(shown) < len(axis.labels):
        _number_ticks(ax, axis, letters)
    else:
        how: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        ax.set_xticks([axis.positions[k] for k in shown], [axis.labels[k] for k in shown], **how)
    if rug and not axis.even and len(axis.labels) <= _MOST_RUG:
        ax.set_xticks(axis.positions, minor=True)
        ax.tick_params(axis="x", which="minor", length=1.2)
    ax.set_xlabel(axis.name)


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Find the first and the last place of every unbroken run."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    firsts, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    return [(int(first), int(end) - 1) for first, end in zip(firsts, ends)]


def hatch_spans(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_]) -> None:
    """Hatch the background at some slices, given in the order of time."""
    for run in runs(vague):
        left, right = stretches.span(*run)
        ax.axvspan(left, right, facecolor="none", edgecolor="0.75", hatch=HATCH, linewidth=0, zorder=0)


def draw_band(ax: Axes, axis: TimeAxis, band: Band, part: tuple[Any, ...], colour: str) -> None:
    """Shade a band over time; `part` takes one course (K,), in the order of the slices, out of its arrays."""
    lower, upper = (end[part][axis.order] for end in (band.lower, band.upper))
    ax.fill_between(axis.positions, lower, upper, color=colour, alpha=0.2, lw=0, zorder=1)


def _in_calendar(days: NDArray[np.float64]) -> bool:
    """Tell whether matplotlib has dates for these days, and for what an axis shows before and after them."""
    margin = float(days[-1] - days[0]) + 1
    return bool(days[0] - margin > _FIRST_DAY and days[-1] + margin < _LAST_DAY)


def _first_of_1970() -> float:
    """Give the day from which we count, as matplotlib counts: users can tell it to begin elsewhere."""
    from matplotlib.dates import date2num

    return float(date2num(np.datetime64("1970-01-01")))  # type: ignore[no-untyped-call]


def _spread(positions: NDArray[np.float64], least: float) -> list[int]:
    """Choose places from the first on that are at least so far apart, as a share of the whole."""
    whole = float(positions[-1] - positions[0]) or 1.0
    chosen = [0]
    for k, position in enumerate(positions):
        if (position - positions[chosen[-1]]) / whole >= least:
            chosen.append(k)
    return chosen


def _number_ticks(ax: Axes, axis: TimeAxis, letters: int) -> None:
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    whole = bool((axis.positions == np.round(axis.positions)).all())
    most = letters // (max(map(len, axis.labels)) + 1)
    ax.xaxis.set_major_locator(MaxNLocator(max(most, 2), integer=whole, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(ScalarFormatter(useOffset=False))


def _date_ticks(ax: Axes, letters: int) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(tz=UTC, minticks=2, maxticks=max(letters // 6, _FEWEST_DATES))  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_formatter(formatter)
