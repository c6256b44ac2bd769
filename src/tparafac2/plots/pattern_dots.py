"""One component's pattern at a few times: the weights of its largest columns side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.figures import canvas
from tparafac2.plots.heat_maps import WEIGHT, by_time, label_columns, largest_columns
from tparafac2.plots.style import name_component, open_frame
from tparafac2.plots.subject import as_result, count, course_of, require_common_columns
from tparafac2.plots.time_axis import TimeAxis, time_axis
from tparafac2.result import By, Result, place_of, require_by, slice_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_COLOURS = "viridis"
_LIGHTEST = 0.85
_LARGEST, _SMALLEST = 6.5, 3.5
_ROW_HEIGHT, _LETTER = 0.36, 0.16
_MOST_COLUMNS = 15
_USUAL_TIMES = 4
_APART = 0.14  # of a row, between the bands of different times


def snapshots(
    model: object,
    component: int | str = 1,
    times: Any = None,
    *,
    n_columns: int | None = None,
    by: By = "weight",
    ax: Axes | None = None,
) -> Axes:
    """Draw the pattern of one component at a few times: a dot for every column and time.

    The columns are the largest ones at these times; those that matter early are above
    those that matter late. Empty dots are not determined by the data. Where there are intervals, lines in the
    colour of the dots are their bands.

    Parameters
    ----------
    model : fitted model or Result
    component : int or str
        Counted from 1, or its name.
    times : label, number or date, or a sequence of them, optional
        Times of slices, as the user calls them. By default up to four, from the first to the last at which
        the pattern is determined.
    n_columns : int, optional
        How many columns to show; by default those that matter, but no more than 15.
    by : "weight" or "distinctive"
        Which columns are shown: the largest ones, or those that set the component apart from the others (see
        `Result.distinctive`).
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        The lines (of dots only) that are in its legend are the times, in order.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.snapshots(model, 1, times=[0, 5])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '5']
    """
    result = as_result(model)
    r = place_of(component, result)
    wanted = None if n_columns is None else count("n_columns", n_columns)
    require_by(by)
    require_common_columns(result, "snapshots")
    axis = time_axis(result)
    course = course_of(result, r, axis, by)
    slices = chosen_slices(result, axis, times, np.asarray(course.determined.any(axis=1)))
    weights, determined = course.weights[slices], course.determined[slices]
    known = np.where(determined, weights, np.nan)
    texts = [
        axis.labels[k] if row.any() else f"{axis.labels[k]} (not determined)"
        for k, row in zip(slices, determined)
    ]
    shown = by_time(known, largest_columns(course.ranked(by)[slices], wanted, _MOST_COLUMNS))
    width = 10.5 + _LETTER * max(map(len, texts))  # the dots, and the legend beside them
    with canvas(ax, width, 2.0 + _ROW_HEIGHT * max(len(shown), 4)) as target:
        lines = [
            _dots(target, weights[place, shown], determined[place, shown], share)
            for place, share in enumerate(np.linspace(0, 1, len(slices)))
        ]
        _reach(target, weights[:, shown])
        if result.intervals is not None:
            band = result.intervals.patterns
            for place, k in enumerate(slices):
                ends = (end[axis.order[k], shown, r] for end in (band.lower, band.upper))
                rows = np.arange(len(shown)) + 0.5 + _APART * (place - (len(slices) - 1) / 2)
                target.hlines(rows, *ends, color=lines[place].get_color(), lw=0.8)
        target.axvline(0, color="0.6", lw=0.5, zorder=0)
        target.set_ylim(len(shown), 0)
        label_columns(target, result, shown, by=by)
        target.set_xlabel(WEIGHT)
        open_frame(target)
        name_component(target, result, r)
        target.legend(lines, texts, title=axis.name, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return target


def _dots(ax: Axes, weights: NDArray[np.float64], determined: NDArray[np.bool_], share: float) -> Line2D:
    """Draw one time, at a share of the way from the first to the last: darker and larger the earlier it is.

    Dots of equal weight are then rings around each other, which the colour-blind can tell apart, too.
    """
    import matplotlib

    colour = matplotlib.colormaps[_COLOURS](_LIGHTEST * share)
    size = _LARGEST + share * (_SMALLEST - _LARGEST)
    rows = np.arange(len(weights)) + 0.5
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgecolor": colour, "ms": size}
    look["color"] = colour
    if not determined.all():
        vague = np.where(determined, np.nan, weights)
        ax.plot(vague, rows, markerfacecolor="white", alpha=0.7, **look)
    inside = colour if determined.any() else "white"
    (line,) = ax.plot(np.where(determined, weights, np.nan), rows, markerfacecolor=inside, **look)
    return line


def _reach(ax: Axes, weights: NDArray[np.float64]) -> None:
    """Join the dots of every column by a thin line, so that the eye stays in its row."""
    rows = np.arange(weights.shape[1]) + 0.5
    ax.hlines(rows, weights.min(axis=0), weights.max(axis=0), color="0.8", lw=0.8, zorder=1)


def chosen_slices(result: Result, axis: TimeAxis, times: Any, usable: NDArray[np.bool_]) -> list[int]:
    """Find the places, in the order of time and each once, of the slices at the given times.

    Without times these are up to four of the usable ones, from the first to the last.
    """
    if times is None:
        places = np.flatnonzero(usable) if usable.any() else np.arange(len(usable))
        picked = np.linspace(0, len(places) - 1, min(_USUAL_TIMES, len(places))).round().astype(int)
        return [int(places[k]) for k in picked]
    single = isinstance(times, str | bytes) or not isinstance(times, Iterable)
    wanted = [times] if single else list(times)
    if not wanted:
        raise ValueError("times is empty: give at least one time, or leave it out.")
    places = np.argsort(axis.order)
    return sorted({int(places[slice_at(result, time)]) for time in wanted})
