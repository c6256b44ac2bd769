"""The rows in which one component is strongest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tparafac2.plots.showing import canvas
from tparafac2.plots.style import FALL, RISE, name_component, open_frame, say
from tparafac2.plots.subject import as_result, count, place_of
from tparafac2.plots.words import dimension_name, few_of, labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_HEIGHT = 0.34


def loadings(model: object, component: int = 1, n: int = 20, *, ax: Axes | None = None) -> Axes:
    """Draw the largest loadings of one component, from the most positive to the most negative.

    They are those of the normalised factors: the loadings of a component have length 1.

    Parameters
    ----------
    model : fitted model or Result
    component : int
        Counted from 1.
    n : int
        How many rows to show.
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
    largest = np.argsort(-np.abs(values), kind="stable")[:most]
    shown = largest[np.argsort(-values[largest], kind="stable")]
    labels = labels_of(result, "rows", len(values))
    with canvas(ax, 10, 2.0 + _ROW_HEIGHT * max(len(shown), 4)) as target:
        if values.any():
            colours = [RISE if value > 0 else FALL for value in values[shown]]
            target.barh(range(len(shown)), values[shown], height=0.72, color=colours)
            target.set_yticks(range(len(shown)), [labels[i] for i in shown])
            target.tick_params(axis="y", length=0)
            target.axvline(0, color="0.3", lw=0.5)
            target.set_ylim(len(shown) - 0.4, -0.6)
        else:
            say(target, "This component has vanished: all loadings are zero.")
        target.set_xlabel("Loading")
        target.set_ylabel(few_of(dimension_name(result, "rows"), len(shown), len(values)))
        open_frame(target)
        name_component(target, r)
    return target
