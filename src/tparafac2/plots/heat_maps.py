"""The parts of heat maps: which columns they show, in which order and colours, and under which names.

What the data do not determine is there to be seen, but hatched and faded.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.style import DIVERGING, NOTHING, rows_that_fit
from tparafac2.plots.subject import Course
from tparafac2.plots.time_axis import HATCH, Stretches, TimeAxis, runs, time_stretches
from tparafac2.plots.words import LONGEST, dimension_name, few_of, labels_of
from tparafac2.result import By, Result, require_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Extend: TypeAlias = Literal["neither", "both", "min", "max"]

WEIGHT = "Weight in the pattern"
HATCHED = "pale, hatched: not determined by the data"

_FADED = (1.0, 1.0, 1.0, 0.6)
_MOST_EDGES = 5000
_SAME = 1e-6
_MATTERS = 0.05


def largest_columns(known: NDArray[np.float64], n: int | None, most: int) -> NDArray[np.intp]:
    """Choose the `n` largest columns of a pattern (K, J), NaN where it is not known; the largest first.

    Also of what else columns have at every time: how distinctive they are.

    Size is the length of a column's course in time. By default those that matter are chosen, at least a
    twentieth of the largest, but no more than `most`.

    Examples
    --------
    >>> pattern = np.array([[0.1, -3.0, 2.0], [0.1, np.nan, 2.9]])
    >>> largest_columns(pattern, 3, most=10), largest_columns(pattern, None, most=10)
    (array([2, 1, 0]), array([2, 1]))
    """
    size = np.sqrt(np.nansum(known**2, axis=0))
    if n is None:
        n = min(int(np.count_nonzero(size >= _MATTERS * size.max())), most)
    return np.argsort(-size, kind="stable")[:n]


def by_time(known: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put columns that matter early before those that matter late; those alike stay as they are.

    When a column matters is the mean time of its squared weights: steadier than the time of its peak.

    Examples
    --------
    >>> by_time(np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0]]), np.array([0, 1, 2]))
    array([1, 2, 0])
    """
    mass = np.nan_to_num(known[:, columns]) ** 2
    total = mass.sum(axis=0)
    centre = np.arange(len(known)) @ mass / np.where(total > 0, total, 1.0)
    steps = np.round(centre / (_SAME * max(len(known), 1)))  # rounding errors are no order
    return columns[np.argsort(steps, kind="stable")]


def columns_to_show(
    result: Result, course: Course, n: int | None, most: int, by: By = "weight"
) -> NDArray[np.intp]:
    """Choose `n` columns, or those that matter, and their order; slices' own columns cannot be moved."""
    require_by(by)
    if result.ragged:
        return np.arange(course.weights.shape[1])
    return by_time(course.known, largest_columns(course.ranked(by), n, most))


def draw_map(ax: Axes, axis: TimeAxis, course: Course, shown: NDArray[np.intp], limit: float) -> bool:
    """Draw weights as colours, one row for each column shown, and tell whether anything is hatched."""
    stretches = time_stretches(axis)
    weights = course.weights[:, shown]
    ax.pcolormesh(
        stretches.edges,
        np.arange(len(shown) + 1),
        np.ma.masked_invalid(stretches.filled(weights)),
        cmap=DIVERGING,
        vmin=-limit,
        vmax=limit,
        rasterized=True,
    )
    vague = ~course.determined[:, shown] & np.isfinite(weights)
    hatch_cells(ax, stretches, vague)
    ax.set_facecolor(NOTHING)
    ax.set_xlim(stretches.edges[0], stretches.edges[-1])
    ax.set_ylim(len(shown), 0)
    return bool(vague.any())


def hatch_cells(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_]) -> None:
    """Hatch the vague cells (K, n) of a heat map whose rows are one unit high.

    Thousands of small boxes are only faded.
    """
    if not vague.any():
        return
    from matplotlib.collections import PolyCollection

    whole = np.asarray(vague.all(axis=1))
    if np.count_nonzero(np.diff(vague & ~whole[:, np.newaxis], axis=0)) > _MOST_EDGES:
        _fade(ax, stretches, vague)
        return
    boxes = [_box(stretches.span(*run), 0, vague.shape[1]) for run in runs(whole)]
    for row, flags in enumerate((vague & ~whole[:, np.newaxis]).T):
        boxes += [_box(stretches.span(*run), row, row + 1) for run in runs(flags)]
    ax.add_collection(
        PolyCollection(boxes, facecolor=_FADED, edgecolor="0.55", hatch=HATCH, linewidth=0),
        autolim=False,
    )


def _fade(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_]) -> None:
    """Fade all cells at once: so many boxes would take minutes, and each would be too small for a hatch."""
    from matplotlib.colors import ListedColormap

    flags = stretches.filled(np.where(vague, 1.0, np.nan))
    rows = np.arange(vague.shape[1] + 1)
    ax.pcolormesh(
        stretches.edges, rows, np.ma.masked_invalid(flags), cmap=ListedColormap([_FADED]), rasterized=True
    )


def _box(span: tuple[float, float], top: float, bottom: float) -> list[tuple[float, float]]:
    left, right = span
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def label_columns(
    ax: Axes,
    result: Result,
    shown: NDArray[np.intp],
    longest: int = LONGEST,
    by: By = "weight",
) -> None:
    """Write the names of columns beside their rows if there is room for all, and how many are left out.

    Columns of slices that have their own are in order: of these some names are enough.
    """
    labels = labels_of(result, "columns", result.shape[2], longest)
    crowding = len(shown) / rows_that_fit(ax)
    if crowding <= 1:
        named = range(len(shown))
    else:
        named = range(0, len(shown), math.ceil(5 * crowding)) if result.ragged else range(0)
    ax.set_yticks(
        [place + 0.5 for place in named],
        [labels[shown[place]] for place in named],
    )
    ax.set_ylabel(few_of(dimension_name(result, "columns"), len(shown), result.shape[2], by))


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
    """Draw what the colours mean beside a heat map."""
    ax.figure.colorbar(ax.collections[0], ax=ax, extend=extend, label=WEIGHT, pad=0.02, aspect=30)
