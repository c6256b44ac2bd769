"""The weights of single columns in a component's pattern, in the course of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.data import listed
from tparafac2.plots.figures import canvas
from tparafac2.plots.heat_maps import WEIGHT, largest_columns
from tparafac2.plots.style import line_look, name_component, open_frame
from tparafac2.plots.subject import as_result, count, course_of, require_common_columns
from tparafac2.plots.time_axis import draw_band, draw_time, hatch_spans, time_axis, time_stretches
from tparafac2.plots.words import dimension_name, labels_of, picture_text
from tparafac2.result import By, Result, place_of, require_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def courses(
    model: object,
    component: int | str = 1,
    columns: Any = None,
    n: int = 5,
    *,
    by: By = "weight",
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights of some columns in one component's pattern over time.

    Every pattern has length 1. Times at which the data do not determine the pattern are hatched. Where there
    are intervals, their bands are shaded: they are centred on a fit that is less smooth than the lines.

    Parameters
    ----------
    model : fitted model or Result
    component : int or str
        Counted from 1, or its name.
    columns : label or sequence of labels, optional
        Which columns; by default the `n` largest.
    n : int
        How many columns, if none are given.
    by : "weight" or "distinctive"
        Which these are: the largest ones, or those that set the component apart from the others.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        Its first lines are the columns, in order.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.courses(model, 1, columns=[3, 7])
    >>> [line.get_label() for line in ax.lines[:2]]
    ['3', '7']
    """
    result = as_result(model)
    r = place_of(component, result)
    most = count("n", n)
    require_by(by)
    require_common_columns(result, "courses")
    axis = time_axis(result)
    course = course_of(result, r, axis, by)
    shown = (
        largest_columns(course.ranked(by), most, most) if columns is None else column_places(result, columns)
    )
    labels = labels_of(result, "columns", result.shape[2])
    with canvas(ax, 12, 6) as target:
        lines = []
        for place, j in enumerate(shown):
            look = line_look(place) | {"marker": ""}
            (line,) = target.plot(axis.positions, course.weights[:, j], label=labels[j], lw=1.2, **look)
            lines.append(line)
            if result.intervals is not None:
                part = (slice(None), j, r)
                draw_band(target, axis, result.intervals.patterns, part, look["color"])
        hatch_spans(target, time_stretches(axis), np.asarray(~course.determined.any(axis=1)))
        target.axhline(0, color="0.6", lw=0.5, zorder=0)
        draw_time(target, axis)
        target.set_ylabel(WEIGHT)
        open_frame(target)
        name_component(target, result, r)
        target.legend(
            lines,
            [labels[j] for j in shown],
            title=dimension_name(result, "columns"),
            loc="upper left",
            bbox_to_anchor=(1, 1),
            frameon=False,
        )
    return target


def column_places(result: Result, columns: Any) -> list[int]:
    """Places of columns by their labels, one or several."""
    single = isinstance(columns, str | bytes) or not isinstance(columns, Iterable)
    names = labels_of(result, "columns", result.shape[2])
    found = []
    for column in [columns] if single else list(columns):
        text = picture_text(column)
        if text not in names:
            raise ValueError(f"there is no column {text}; there are {listed(names)}.")
        found.append(names.index(text))
    if not found:
        raise ValueError("columns is empty: give at least one, or leave it out.")
    return list(np.array(found, dtype=int).tolist())
