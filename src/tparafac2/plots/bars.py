"""Bars: the rows in which a component is strongest, and the columns that move most in its pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.attribute_colours import attribute_colours, draw_key
from tparafac2.plots.figures import canvas
from tparafac2.plots.style import FALL, RISE, name_component, open_frame, say
from tparafac2.plots.subject import as_result, count, course_of, require_common_columns
from tparafac2.plots.time_axis import TimeAxis, time_axis
from tparafac2.plots.words import dimension_name, few_of, labels_of
from tparafac2.result import By, Intervals, of_rows, place_of, require_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_HEIGHT, _LETTER = 0.36, 0.16

_MARGIN = 0.1
"""A change lasts from the end of its first to the beginning of its last tenth."""

_NO_MOVE = 1e-9
_PALE = 0.35


class Move(NamedTuple):
    """The largest rise or fall of one column.

    Attributes
    ----------
    column : int
    change : float
        Positive for a rise, negative for a fall.
    begin, end : int
        Places in the order of time between which four fifths of it happen.
    """

    column: int
    change: float
    begin: int
    end: int


def loadings(
    model: object,
    component: int | str = 1,
    n: int = 20,
    *,
    by: By = "weight",
    attribute: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the largest loadings of one component, from the most positive to the most negative.

    They are those of the normalised factors: the loadings of a component have length 1. Where there are
    intervals of them, a line is the band of each.

    Parameters
    ----------
    model : fitted model or Result
    component : int or str
        Counted from 1, or its name.
    n : int
        How many rows to show.
    by : "weight" or "distinctive"
        Which: the largest ones, or those that set the component apart from the others.
    attribute : str, optional
        What else is known of the rows, to colour them by, with a key.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        With one bar (of its ``patches``) for each row shown, from top to bottom.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=30, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.loadings(model, 1, n=5)
    >>> len(ax.patches), ax.get_ylabel()
    (5, 'Row (the 5 largest of 30)')
    """
    result = as_result(model)
    r = place_of(component, result)
    most = count("n", n)
    values = np.nan_to_num(result.normalised().A[:, r])
    require_by(by)
    colours = None if attribute is None else attribute_colours(result, attribute)
    sizes = np.abs(values) if by == "weight" else of_rows(result)[:, r]
    largest = np.argsort(-sizes, kind="stable")[:most]
    shown = largest[np.argsort(-values[largest], kind="stable")]
    labels = labels_of(result, "rows", len(values))
    with canvas(ax, 10, 2.0 + 0.34 * max(len(shown), 4)) as target:
        if values.any():
            _draw_bars(target, range(len(shown)), values[shown], [labels[i] for i in shown])
            if colours:
                for bar, i in zip(target.patches, shown):
                    bar.set_facecolor(colours.rows[i])
                draw_key(target, colours)
            if result.intervals is not None and (band := result.intervals.loadings) is not None:
                _whiskers(target, range(len(shown)), band.lower[shown, r], band.upper[shown, r])
        else:
            say(target, "This component has vanished: all loadings are zero.")
        target.set_xlabel("Loading")
        target.set_ylabel(few_of(dimension_name(result, "rows"), len(shown), len(values), by))
        open_frame(target)
        name_component(target, result, r)
    return target


def movers(model: object, component: int | str = 1, n: int = 8, *, ax: Axes | None = None) -> Axes:
    """Draw the largest rises and falls of columns in one component's pattern, with when they happened.

    A column's rise is the largest one from any time to any later one, so that a column that comes and goes is
    in both lists; beside it is when four fifths of it happened. Times at which the data do not determine the
    pattern do not count. Every pattern has length 1: strength is not in it. Where there are intervals, a line
    is the band of each move, and bars are pale and hatched where it includes zero. These bands hold for all
    moves of the component together.

    Parameters
    ----------
    model : fitted model or Result
    component : int or str
        Counted from 1, or its name.
    n : int
        How many columns at most that rise, and how many that fall.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        With one bar (of its ``patches``) for each move: rises first, the largest first.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.movers(model, 1, n=3)
    >>> [bool(bar.get_width() > 0) for bar in ax.patches]
    [True, True, True, False, False, False]
    """
    result = as_result(model)
    r = place_of(component, result)
    most = count("n", n)
    require_common_columns(result, "movers")
    axis = time_axis(result)
    known = course_of(result, r, axis).known
    goes_round = result.period is not None
    rises = largest_rises(known, most, goes_round=goes_round)
    falls = largest_falls(known, most, goes_round=goes_round)
    labels = labels_of(result, "columns", result.shape[2])
    width = 9.0 + 2 * _LETTER * max(map(len, axis.labels))  # a bar, and from when to when
    with canvas(ax, width, 2.0 + _ROW_HEIGHT * max(len(rises) + len(falls), 4)) as target:
        if rises or falls:
            rows = _draw(target, axis, labels, rises, falls)
            if result.intervals is not None:
                _draw_doubts(target, rows, *_bands_of(result.intervals, r, rises, falls))
        else:
            say(target, "No column moves.")
        name_component(target, result, r)
    return target


def _bands_of(
    bands: Intervals, r: int, rises: list[Move], falls: list[Move]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both ends of the bands of moves."""
    up, down = [move.column for move in rises], [move.column for move in falls]
    lower = np.append(bands.rises.lower[up, r], bands.falls.lower[down, r])
    return lower, np.append(bands.rises.upper[up, r], bands.falls.upper[down, r])


def _draw_doubts(
    ax: Axes, rows: Sequence[float], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """Whiskers, and pale bars for what may as well not have moved."""
    _whiskers(ax, rows, lower, upper)
    for bar, low, high in zip(ax.patches, lower, upper):
        if not (low > 0 or high < 0):
            bar.set(alpha=_PALE, hatch="////", edgecolor="white")


def _whiskers(
    ax: Axes, rows: Sequence[float], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    ax.hlines(rows, lower, upper, color="0.15", lw=1.0, zorder=3)


def _draw(ax: Axes, axis: TimeAxis, labels: list[str], rises: list[Move], falls: list[Move]) -> list[float]:
    moves = [*rises, *falls]
    gap = 0.6 if rises and falls else 0.0
    rows = [place + (gap if place >= len(rises) else 0.0) for place in range(len(moves))]
    _draw_bars(ax, rows, [move.change for move in moves], [labels[move.column] for move in moves])
    beside = ax.get_yaxis_transform()
    for row, move in zip(rows, moves):
        when = f"{axis.labels[move.begin]} \N{RIGHTWARDS ARROW} {axis.labels[move.end]}"
        ax.text(1.02, row, when, transform=beside, va="center")
    ax.set_xlabel("Change of weight in the pattern")
    ax.annotate(axis.name, (1.02, 1), (0, 3), xycoords="axes fraction", textcoords="offset points")
    open_frame(ax)
    ax.spines["left"].set_visible(False)
    return rows


def _draw_bars(
    ax: Axes, rows: Sequence[float], values: Sequence[float] | NDArray[np.float64], labels: list[str]
) -> None:
    """Draw a bar from zero in every row, with its label beside it; the first row is above."""
    ax.barh(rows, values, height=0.72, color=[RISE if value > 0 else FALL for value in values])
    ax.set_yticks(rows, labels)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color="0.3", lw=0.5)
    ax.set_ylim(rows[-1] + 0.6, -0.6)


def largest_rises(known: NDArray[np.float64], n: int, *, goes_round: bool = False) -> list[Move]:
    """Find the n columns that rise most from any time to any later one, the largest first.

    There are fewer if no more columns rise. The weights (K, J) are in the order of time, NaN where they are
    not determined; where time goes round, after the last time comes the first again.

    Examples
    --------
    >>> largest_rises(np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.5], [0.25, 1.0]]), 2)
    [Move(column=1, change=1.0, begin=1, end=3), Move(column=0, change=0.25, begin=2, end=3)]
    """
    lowest = np.fmin.reduce(known, axis=0) if goes_round else np.fmin.accumulate(known, axis=0)
    gains = np.nan_to_num(np.fmax.reduce(known - lowest, axis=0))
    order = np.argsort(-gains, kind="stable")[:n]
    return [_rise(known[:, j], int(j), goes_round) for j in order if gains[j] > _NO_MOVE]


def largest_falls(known: NDArray[np.float64], n: int, *, goes_round: bool = False) -> list[Move]:
    """Find the n columns that fall most; see `largest_rises`.

    Examples
    --------
    >>> largest_falls(np.array([[0.5], [0.0], [0.25]]), 3)
    [Move(column=0, change=-0.5, begin=0, end=1)]
    """
    rises = largest_rises(-known, n, goes_round=goes_round)
    return [move._replace(change=-move.change) for move in rises]


def _rise(course: NDArray[np.float64], column: int, goes_round: bool) -> Move:
    places = np.flatnonzero(~np.isnan(course))
    if goes_round:  # begin at the lowest time, so that the highest comes after it
        places = np.roll(places, -int(np.argmin(course[places])))
    values = course[places]
    gains = values - np.minimum.accumulate(values)
    top = int(np.argmax(gains))
    change = float(gains[top])
    low = float(values[top]) - change
    begin = int(np.flatnonzero(values[: top + 1] <= low + _MARGIN * change)[-1])
    end = begin + int(np.flatnonzero(values[begin : top + 1] >= low + (1 - _MARGIN) * change)[0])
    return Move(column, change, int(places[begin]), int(places[end]))
