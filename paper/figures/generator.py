"""What the generator makes: the kinds of drift and the kinds of strength."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tparafac2.plots import pattern_heatmap
from tparafac2.plots.style import COLUMN_WIDTH, LOOKS, new_figure, open_frame, print_style
from tparafac2.synthetic import (
    Concept,
    Constant,
    Decreasing,
    Gradual,
    Increasing,
    Incremental,
    Periodic,
    Reoccurring,
    Sudden,
    SyntheticData,
    generate,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TIMES = 20
_TICKS = (1, 10, 20)
_KINDS = (
    Concept(Sudden(start=8), Constant(level=15.0)),
    Concept(Gradual(start=13), Increasing(level=5.0, start=6)),
    Concept(Reoccurring(half_period=5), Decreasing(level=25.0, start=6)),
    Concept(Incremental(start=4, rate=0.2), Periodic(level=8.0, half_period=5)),
)


def drifts_figure(seed: int = 0) -> Figure:
    """Show the four kinds of concept drift: words by time, one heat map each.

    A word keeps its importance while it is active, so that nothing but the drift is seen.

    Parameters
    ----------
    seed : int
        Decides all that is random.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> [ax.get_title() for ax in drifts_figure().axes]
    ['Sudden', 'Gradual', 'Reoccurring', 'Incremental']
    """
    data = _illustration(seed)
    with print_style():
        figure = new_figure(COLUMN_WIDTH, 3.6)
        limit = np.quantile(data.B[data.B > 0], 0.98)
        for r, (ax, concept) in enumerate(zip(_row_of_panels(figure), data.concepts)):
            words = [*concept.initial_words, *concept.final_words]
            pattern_heatmap(data.B[:, words, r], ax, limit=limit)
            ax.set_title(type(concept.drift).__name__)
            _common_axes(ax, "Word", offset=0)
    return figure


def strengths_figure(seed: int = 0) -> Figure:
    """Show the four kinds of strength over time; see `drifts_figure`.

    Examples
    --------
    >>> [ax.get_title() for ax in strengths_figure().axes]
    ['Constant', 'Increasing', 'Decreasing', 'Periodic']
    """
    data, blue = _illustration(seed), LOOKS["tPARAFAC2"].colour
    with print_style():
        figure = new_figure(COLUMN_WIDTH, 3.2)
        for ax, concept, strengths in zip(_row_of_panels(figure), data.concepts, data.C.T):
            ax.plot(range(1, _TIMES + 1), strengths, color=blue, lw=1, marker="o", ms=1.8)
            ax.set_title(type(concept.strength).__name__)
            ax.set_ylim(0, 1.05 * data.C.max())
            open_frame(ax)
            _common_axes(ax, "Strength", offset=1)
    return figure


def _illustration(seed: int) -> SyntheticData:
    return generate(
        _KINDS,
        seed,
        n_times=_TIMES,
        n_rows=len(_KINDS),
        n_columns=24 * len(_KINDS),
        noise=0.0,
        fresh_importances=False,
        enforce_parafac2=False,
    )


def _row_of_panels(figure: Figure) -> list[Axes]:
    return list(figure.subplots(1, len(_KINDS), sharey=True))


def _common_axes(ax: Axes, quantity: str, offset: int) -> None:
    """Label time in few words, and the vertical axis once; ``offset`` is the position of the first time."""
    ax.set_xticks([tick - 1 + offset for tick in _TICKS], [str(tick) for tick in _TICKS])
    ax.set_xlabel("Time")
    ax.set_ylabel(quantity)
    ax.label_outer()
