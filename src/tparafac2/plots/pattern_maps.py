"""Patterns as heat maps: of a component of a model, and of an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tparafac2.plots.figures import canvas, figure_for_the_user
from tparafac2.plots.heat_maps import (
    HATCHED,
    add_colour_bar,
    colour_range,
    columns_to_show,
    draw_map,
    label_columns,
)
from tparafac2.plots.style import COLUMN_WIDTH, DIVERGING, name_component, require_axes, rows_that_fit
from tparafac2.plots.subject import as_result, count, course_of
from tparafac2.plots.time_axis import TimeAxis, draw_time, time_axis
from tparafac2.result import By, place_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_MOST_COLUMNS = 25
_ROW_HEIGHT = 0.31


def pattern(
    model: object,
    component: int | str = 1,
    *,
    n_columns: int | None = None,
    by: By = "weight",
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pattern of one component: time from left to right, its largest columns from top to bottom.

    Columns that matter early are above those that matter late. White is zero; every pattern has length 1, so
    that colours at different times can be compared. Hatched is what the data do not determine: the component
    has almost no strength then, or the column was not observed. Grey is where there is no slice, or no such
    column. Where slices have columns of their own (a list), these stay in their order and all are shown.

    Parameters
    ----------
    model : fitted model or Result
    component : int or str
        Counted from 1, or its name.
    n_columns : int, optional
        How many columns to show; by default those that matter (a twentieth of the largest, over all times),
        but no more than 25 and no more than can be labelled.
    by : "weight" or "distinctive"
        Which columns are shown: the largest ones, or those that set the component apart from the others (see
        `Result.distinctive`).
    limit : float, optional
        The absolute weight with the deepest colour. By default one weight in a hundred is beyond. Give the
        same limit to heat maps that are to be compared.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``, with a colour bar.

    Returns
    -------
    matplotlib Axes
        The heat map is the first of its ``collections``, for example for a colour bar.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=40)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.pattern(model, 2, n_columns=10)
    >>> ax.get_title("left"), ax.get_ylabel()
    ('Component 2', 'Column (the 10 largest of 40)')
    """
    result = as_result(model)
    r = place_of(component, result)
    axis = time_axis(result)
    course = course_of(result, r, axis, by)
    wanted = None if n_columns is None else count("n_columns", n_columns)
    fixed = None if limit is None else _check_limit(limit)
    require_axes(ax)
    most = _MOST_COLUMNS if ax is None else min(_MOST_COLUMNS, rows_that_fit(ax))
    shown = columns_to_show(result, course, wanted, most, by)
    reach, extend = colour_range(course.weights[:, shown], fixed)
    labelled = min(len(shown), 25) if result.ragged else max(len(shown), 5)
    with canvas(ax, 13, 2.0 + _ROW_HEIGHT * labelled) as target:
        hatched = draw_map(target, axis, course, shown, reach)
        label_columns(target, result, shown, by=by)
        name_component(target, result, r)
        _finish(target, axis, hatched)
        if ax is None:
            add_colour_bar(target, extend)
    return target


def _finish(ax: Axes, axis: TimeAxis, hatched: bool) -> None:
    draw_time(ax, axis, rug=True)
    if hatched:
        ax.set_xlabel(f"{axis.name}\n{HATCHED}")


def pattern_heatmap(
    pattern: ArrayLike,
    ax: Axes | None = None,
    *,
    limit: float | None = None,
    times: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
) -> Axes:
    """Draw a pattern with time from left to right, columns from top to bottom and white for zero.

    Parameters
    ----------
    pattern : array of shape (K, J)
        One component: the weight of every column at every time, for example ``model.B_[:, :, 0]``.
        NaN is left blank.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.
    limit : float, optional
        The absolute value with the deepest colour, by default the largest one. Give the same limit to heat
        maps that are to be compared.
    times, columns : sequence, optional
        Labels; by default numbers counted from 1.

    Returns
    -------
    matplotlib Axes
        With the heat map as its only image, for example for a colour bar.

    Examples
    --------
    >>> import numpy as np
    >>> ax = pattern_heatmap(np.eye(5, 8) - 0.5)
    >>> ax.images[0].get_clim()
    (-0.5, 0.5)
    >>> ax.figure.savefig("pattern.png")  # doctest: +SKIP
    """
    values = _check_pattern(pattern)
    for name, labels, size in (("times", times, values.shape[0]), ("columns", columns, values.shape[1])):
        if labels is not None and len(labels) != size:
            raise ValueError(
                f"{name} must have one label for each of the pattern's {size} {name}, got {len(labels)}."
            )
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0)) or 1.0
    reach = largest if limit is None else _check_limit(limit)
    if ax is None:
        ax = figure_for_the_user(COLUMN_WIDTH, 0.75 * COLUMN_WIDTH).add_subplot()
    ax.imshow(values.T, cmap=DIVERGING, vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest")
    _label(ax.xaxis, "Time", values.shape[0], times)
    _label(ax.yaxis, "Column", values.shape[1], columns)
    return ax


def _check_pattern(pattern: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(pattern, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"pattern must be an array (times, columns), one component, got shape {values.shape}; "
            "give for example B[:, :, 0]."
        )
    if np.isinf(values).any():
        raise ValueError("pattern has infinite values; NaN marks what is not known.")
    return values


def _check_limit(limit: float) -> float:
    """Refuse what cannot be the value with the deepest colour."""
    if not (math.isfinite(limit) and limit > 0):
        raise ValueError(f"limit must be a finite number above 0, got {limit!r}.")
    return float(limit)


def _label(axis: Axis, name: str, size: int, labels: Sequence[object] | None) -> None:
    places = _round_numbers(size)
    axis.set_ticks(
        [place - 1 for place in places],
        [str(place if labels is None else labels[place - 1]) for place in places],
    )
    axis.set_label_text(name)


def _round_numbers(size: int) -> list[int]:
    """Choose at most six numbers from 1 to ``size``: 1 and multiples of a round step, or every few."""
    step = next(
        factor * 10**power for power in range(20) for factor in (1, 2, 5) if factor * 10**power * 5 >= size
    )
    return list(range(1, size + 1, step)) if step < 5 else [1, *range(step, size + 1, step)]
