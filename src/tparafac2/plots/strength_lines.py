"""How strong every component is in the course of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.figures import canvas
from tparafac2.plots.style import line_look, open_frame
from tparafac2.plots.subject import as_result, unobserved_times
from tparafac2.plots.time_axis import TimeAxis, draw_band, draw_time, hatch_spans, time_axis, time_stretches
from tparafac2.plots.words import literal
from tparafac2.result import heading

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_MOST_MARKERS = 60


def strengths(model: object, *, ax: Axes | None = None) -> Axes:
    """Draw the strengths of all components over time.

    They are those of the normalised factors: loadings and patterns have length 1, all size is here. Times at
    which nothing was observed are hatched; the strengths there are interpolated, and their markers are empty.
    Where there are intervals, their bands are shaded.

    Parameters
    ----------
    model : fitted model or Result
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        Its first lines are the components, in order.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.strengths(model)
    >>> [line.get_label() for line in ax.lines[:2]]
    ['Component 1', 'Component 2']
    """
    result = as_result(model)
    axis = time_axis(result)
    unseen = unobserved_times(result)[axis.order]
    values = result.normalised().C[axis.order]
    with canvas(ax, 12, 6) as target:
        names = [literal(heading(result.component_names, r)) for r in range(result.rank)]
        lines = [_line(target, axis, values[:, r], unseen, r, names[r]) for r in range(result.rank)]
        if result.intervals is not None:
            for r in range(result.rank):
                draw_band(target, axis, result.intervals.strengths, (slice(None), r), line_look(r)["color"])
        hatch_spans(target, time_stretches(axis), unseen)
        if (values < 0).any():
            target.axhline(0, color="0.6", lw=0.5, zorder=0)
        else:
            target.set_ylim(bottom=0)
        draw_time(target, axis)
        if unseen.any():
            target.set_xlabel(f"{axis.name}\nhatched: nothing was observed")
        target.set_ylabel("Strength")
        open_frame(target)
        numbers = [name.removeprefix("Component ") for name in names]
        target.legend(
            lines, numbers, title="Component", loc="upper left", bbox_to_anchor=(1, 1), frameon=False
        )
    return target


def _line(
    ax: Axes, axis: TimeAxis, values: NDArray[np.float64], unseen: NDArray[np.bool_], r: int, name: str
) -> Artist:
    look = line_look(r)
    few = len(values) <= _MOST_MARKERS
    (line,) = ax.plot(
        axis.positions,
        values,
        label=name,
        lw=1.2,
        ms=3 if few else 0,
        markevery=np.flatnonzero(~unseen).tolist(),
        **look,
    )
    if few and unseen.any():
        ax.scatter(
            axis.positions[unseen],
            values[unseen],
            s=9,
            marker=look["marker"],
            facecolor="white",
            edgecolor=look["color"],
            linewidth=0.7,
            zorder=3,
        )
    return line
