"""One component's pattern as a heat map over time, ordered so that its change can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tparafac2.plots.hatching import HATCHED
from tparafac2.plots.heat_maps import add_colour_bar, colour_range, columns_to_show, draw_map, label_columns
from tparafac2.plots.patterns import check_limit
from tparafac2.plots.showing import canvas
from tparafac2.plots.style import name_component, require_axes, rows_that_fit
from tparafac2.plots.subject import as_result, count, course_of, place_of
from tparafac2.plots.time_axis import draw_time, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COLUMNS = 25
_ROW_HEIGHT = 0.31


def pattern(
    model: object,
    component: int = 1,
    *,
    n_columns: int | None = None,
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
    component : int
        Counted from 1.
    n_columns : int, optional
        How many columns to show; by default those that matter (a twentieth of the largest, over all times),
        but no more than 25 and no more than can be labelled.
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
    course = course_of(result, r, axis)
    wanted = None if n_columns is None else count("n_columns", n_columns)
    fixed = None if limit is None else check_limit(limit)
    require_axes(ax)
    most = _MOST_COLUMNS if ax is None else min(_MOST_COLUMNS, rows_that_fit(ax))
    shown = columns_to_show(result, course, wanted, most)
    reach, extend = colour_range(course.weights[:, shown], fixed)
    labelled = min(len(shown), 25) if result.ragged else max(len(shown), 5)
    with canvas(ax, 13, 2.0 + _ROW_HEIGHT * labelled) as target:
        hatched = draw_map(target, axis, course, shown, reach)
        draw_time(target, axis, rug=True)
        label_columns(target, result, shown)
        name_component(target, r)
        if hatched:
            target.set_xlabel(f"{axis.name}\n{HATCHED}")
        if ax is None:
            add_colour_bar(target, extend)
    return target
