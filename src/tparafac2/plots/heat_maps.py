"""The parts of heat maps: which columns they show, in which colours, and under which names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.hatching import hatch_cells
from tparafac2.plots.ordering import by_time, largest_columns
from tparafac2.plots.style import DIVERGING, NOTHING, rows_that_fit
from tparafac2.plots.subject import Course
from tparafac2.plots.time_axis import TimeAxis, time_stretches
from tparafac2.plots.words import LONGEST, dimension_name, few_of, labels_of
from tparafac2.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Extend: TypeAlias = Literal["neither", "both", "min", "max"]

WEIGHT = "Weight in the pattern"


def columns_to_show(result: Result, course: Course, n: int | None, most: int) -> NDArray[np.intp]:
    """Choose columns and their order; columns of slices that have their own cannot be moved.

    Parameters
    ----------
    result : Result
    course : Course
        Of one component.
    n : int, optional
        How many; by default those that matter.
    most : int
        How many at most by default.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.array([[[0.0], [1.0]], [[2.0], [0.0]]]),
    ...                 C=np.ones((2, 1)), objective=0.0, explained_variance=1.0, status="converged",
    ...                 converged=True, n_iter=1)
    >>> from tparafac2.plots.subject import course_of
    >>> from tparafac2.plots.time_axis import time_axis
    >>> columns_to_show(result, course_of(result, 0, time_axis(result)), None, 5)
    array([1, 0])
    """
    if result.ragged:
        return np.arange(course.weights.shape[1])
    return by_time(course.known, largest_columns(course.known, n, most))


def draw_map(
    ax: Axes, axis: TimeAxis, course: Course, shown: NDArray[np.intp], limit: float, top: float = 0.0
) -> bool:
    """Draw weights as colours, one row for each column shown, and hatch what is not determined.

    Returns
    -------
    bool
        Whether anything is hatched.

    Examples
    --------
    >>> from tparafac2.plots.style import new_figure
    >>> ax = new_figure(8, 5).add_subplot()
    >>> axis = TimeAxis(np.arange(2), np.array([0.0, 1.0]), ["a", "b"], "names", "Time")
    >>> draw_map(ax, axis, Course(np.eye(2), np.ones((2, 2), bool)), np.array([0, 1]), 1.0)
    False
    """
    stretches = time_stretches(axis)
    weights = course.weights[:, shown]
    ax.pcolormesh(
        stretches.edges,
        top + np.arange(len(shown) + 1),
        np.ma.masked_invalid(stretches.filled(weights)),
        cmap=DIVERGING,
        vmin=-limit,
        vmax=limit,
        rasterized=True,
    )
    vague = ~course.determined[:, shown] & np.isfinite(weights)
    hatch_cells(ax, stretches, vague, top)
    ax.set_facecolor(NOTHING)
    ax.set_xlim(stretches.edges[0], stretches.edges[-1])
    ax.set_ylim(top + len(shown), 0)
    return bool(vague.any())


def label_columns(
    ax: Axes,
    result: Result,
    shown: NDArray[np.intp],
    tops: Sequence[float] = (0.0,),
    longest: int = LONGEST,
) -> None:
    """Write the names of columns beside their rows if there is room for all, and how many are left out.

    Columns of slices that have their own are in order: of these some names are enough.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
    shown : ndarray of int
        The columns, from top to bottom.
    tops : sequence of float
        Where the first row of a heat map begins; several heat maps can have the same columns.
    longest : int
        Letters of a name that are shown.

    Examples
    --------
    >>> from tparafac2.plots.style import new_figure
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> ax = new_figure(8, 5).add_subplot()
    >>> label_columns(ax, result, np.array([2, 0]))
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_ylabel()
    (['2', '0'], 'Column (the 2 largest of 4)')
    """
    labels = labels_of(result, "columns", result.shape[2], longest)
    crowding = len(shown) * len(tops) / rows_that_fit(ax)
    if crowding <= 1:
        named = range(len(shown))
    else:
        named = range(0, len(shown), math.ceil(5 * crowding)) if result.ragged else range(0)
    ax.set_yticks(
        [top + place + 0.5 for top in tops for place in named],
        [labels[shown[place]] for _ in tops for place in named],
    )
    ax.set_ylabel(few_of(dimension_name(result, "columns"), len(shown), result.shape[2]))


def colour_range(weights: NDArray[np.float64], limit: float | None = None) -> tuple[float, Extend]:
    """Choose the weight with the deepest colour, and say on which sides there are weights beyond it.

    A few large weights would make all others pale: one in a hundred of those that are not zero is cut.

    Examples
    --------
    >>> colour_range(np.array([0.0, -1.0, np.nan])), colour_range(np.array([0.5, 2.0]), limit=1.0)
    ((1.0, 'neither'), (1.0, 'max'))
    """
    finite = weights[np.isfinite(weights)]
    if limit is None:
        sizes = np.abs(finite[finite != 0])
        limit = float(np.quantile(sizes, 0.99)) if sizes.size else 1.0
    below, above = bool((finite < -limit).any()), bool((finite > limit).any())
    return limit, "both" if below and above else "min" if below else "max" if above else "neither"


def add_colour_bar(ax: Axes, extend: Extend) -> None:
    """Draw what the colours mean beside a heat map.

    Examples
    --------
    >>> from tparafac2.plots.style import new_figure
    >>> ax = new_figure(8, 5).add_subplot()
    >>> axis = TimeAxis(np.arange(2), np.array([0.0, 1.0]), ["a", "b"], "names", "Time")
    >>> _ = draw_map(ax, axis, Course(np.eye(2), np.ones((2, 2), bool)), np.array([0, 1]), 1.0)
    >>> add_colour_bar(ax, "neither")
    >>> len(ax.figure.axes)
    2
    """
    ax.figure.colorbar(ax.collections[0], ax=ax, extend=extend, label=WEIGHT, pad=0.02, aspect=30)
