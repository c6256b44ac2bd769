"""The whole model on one page: how strong its components are, and how their patterns change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tparafac2.data import printable
from tparafac2.plots.figures import figure_for_the_user
from tparafac2.plots.heat_maps import (
    HATCHED,
    WEIGHT,
    colour_range,
    columns_to_show,
    draw_map,
    label_columns,
)
from tparafac2.plots.strength_lines import strengths
from tparafac2.plots.style import FONT_SIZE, PAGE_WIDTH, name_component, print_style
from tparafac2.plots.subject import as_result, course_of
from tparafac2.plots.time_axis import draw_time, time_axis
from tparafac2.plots.words import literal
from tparafac2.result import By, size_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 2
_COLUMNS, _MOST_COLUMNS = 14, 60
_LETTERS = 22
_STRENGTHS, _PATTERN = 5.0, 6.2


def overview(model: object, *, n_columns: int | None = None, by: By = "weight") -> Figure:
    """Draw strengths and the patterns of all components on one page; see `strengths` and `pattern`.

    All heat maps have one colour scale.

    Parameters
    ----------
    model : fitted model or Result
    n_columns : int, optional
        How many columns of each pattern to show; by default those that matter, but no more than 14.
    by : "weight" or "distinctive"
        Which columns are shown: the largest ones, or those that set the component apart from the others (see
        `Result.distinctive`).

    Returns
    -------
    matplotlib Figure
        Its axes are the strengths, the patterns in order, and the colour bar.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> len(tp.plots.overview(model).axes)
    4
    """
    result = as_result(model)
    axis = time_axis(result)
    courses = [course_of(result, r, axis, by) for r in range(result.rank)]
    shown = [columns_to_show(result, course, n_columns, _COLUMNS, by) for course in courses]
    weights = np.concatenate([course.weights[:, few].ravel() for course, few in zip(courses, shown)])
    reach, extend = colour_range(weights)
    lines = math.ceil(result.rank / _ACROSS)
    most = min(max(max(map(len, shown)), _COLUMNS), _MOST_COLUMNS)
    heights = [_STRENGTHS, _PATTERN * lines * most / _COLUMNS]
    figure = figure_for_the_user(PAGE_WIDTH, sum(heights) + 0.8)
    with print_style():
        upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).ravel()
        strengths(result, ax=upper.add_subplot())
        panels = lower.subplots(lines, _ACROSS, squeeze=False).ravel()
        for empty in panels[result.rank :]:
            empty.remove()
        panels = panels[: result.rank]
        hatched = False
        for r, (panel, course, few) in enumerate(zip(panels, courses, shown)):
            hatched |= draw_map(panel, axis, course, few, reach)
            draw_time(panel, axis, rug=True)
            label_columns(panel, result, few, longest=_LETTERS, by=by)
            name_component(panel, result, r)
        lower.colorbar(
            panels[0].collections[0], ax=list(panels), extend=extend, label=WEIGHT, pad=0.01, aspect=40
        )
        title = f"{printable(result.model)}: {size_text(result)}"
        figure.suptitle(literal(f"{title}, explained variance {result.explained_variance:.1%}"))
        if hatched:
            lower.supxlabel(HATCHED, fontsize=FONT_SIZE)
    return figure
