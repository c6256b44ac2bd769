"""Box plots in groups: the parts of a figure of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.style import LOOKS, Look, shade

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOX_WIDTH, FAMILY_GAP, GROUP_GAP = 0.8, 0.4, 1.2
"""The distance from box to box is 1; the gaps come on top of it."""

LIGHTEST = 0.2
"""Depth of the lightest shade."""

FRAME = "0.15"
"""Colour of outlines: nearly black."""


@dataclass(frozen=True)
class Box:
    """A method: where its box stands within a group, and its shade.

    Examples
    --------
    >>> Box("tPARAFAC2", lambda_b=10.0, place=2.4, depth=0.5).look.colour
    '#0072B2'
    """

    model: str
    lambda_b: float
    place: float
    depth: float

    @property
    def look(self) -> Look:
        """Colour and hatch of the family."""
        return LOOKS[self.model]

    @property
    def patch(self) -> dict[str, Any]:
        """How the box is filled and framed."""
        return {
            "facecolor": shade(self.look.colour, self.depth),
            "edgecolor": FRAME,
            "hatch": self.look.hatch,
            "linewidth": 0.5,
        }


def line_up(scores: pd.DataFrame) -> list[Box]:
    """Order the methods by family, then by smoothness: the smoother, the deeper the shade."""
    lambdas = sorted(scores["lambda_b"].dropna().unique())
    depths = dict(zip(lambdas[::-1], np.linspace(1, LIGHTEST, len(lambdas))))
    boxes: list[Box] = []
    for model in LOOKS:
        own = sorted(scores.loc[scores["model"] == model, "lambda_b"].unique())
        first = boxes[-1].place + 1 + FAMILY_GAP if boxes else 0.0
        boxes += [Box(model, value, first + i, depths.get(value, 0.6)) for i, value in enumerate(own)]
    return boxes


def draw_boxes(ax: Axes, boxes: list[Box], scores: pd.DataFrame) -> dict[float, float]:
    """Draw one group of boxes per level, and return the middle of every level's group."""
    levels = sorted(scores["level"].unique().tolist())
    width = boxes[-1].place + 1 + GROUP_GAP
    starts = {level: i * width for i, level in enumerate(levels)}
    offsets = _offsets(scores["dataset"].to_numpy())
    for box in boxes:
        for level, group in _own(scores, box).groupby("level"):
            x = starts[level] + box.place
            points = x + np.array([offsets[dataset] for dataset in group["dataset"]])
            _draw_box(ax, box, x, group["fms"].to_numpy(), points)
    border = (1 + GROUP_GAP) / 2
    for level in levels[1:]:
        ax.axvline(starts[level] - border, color="0.8", lw=0.5, zorder=0)
    ax.set_xlim(-border, len(levels) * width - border)
    ax.set_ylim(*score_range(scores["fms"].to_numpy()))
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color="0.9", lw=0.5)
    ax.set_axisbelow(True)
    return {level: start + boxes[-1].place / 2 for level, start in starts.items()}


def draw_legend(figure: Figure, boxes: list[Box]) -> None:
    """Explain above the axes: every family with all its shades, and the smoothness they stand for."""
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.patches import Patch

    models = list(dict.fromkeys(box.model for box in boxes))
    # A tuple of artists is one entry, which matplotlib's own types do not know.
    handles: list[Any] = [
        tuple(Patch(**box.patch) for box in boxes if box.model == model) for model in models
    ]
    lambdas = sorted({box.lambda_b for box in boxes if not math.isnan(box.lambda_b)})
    labels = list(models)
    if lambdas:
        smooth = {box.model for box in boxes if not math.isnan(box.lambda_b)}
        each = ", each with" if len(smooth) > 1 else " with"
        labels[-1] += rf"{each} $\lambda_B$ = {', '.join(f'{value:g}' for value in lambdas)}"
    figure.legend(
        handles,
        labels,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
        loc="outside upper center",
        ncols=len(models),
        frameon=False,
        borderpad=0,
    )


def score_range(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Choose the range of the axis: from a round number below the lowest score to just above a perfect one.

    Examples
    --------
    >>> low, high = score_range(np.array([0.87, 0.99]))
    >>> round(low, 2), high > 1
    (0.85, True)
    """
    lowest = float(scores.min())
    step = 0.05 if lowest > 0.7 else 0.1
    low = max(0.0, step * math.floor((lowest - 0.005) / step))
    return low, 1 + 0.02 * (1 - low)


def _offsets(datasets: NDArray[np.int_]) -> dict[int, float]:
    """Give every data set its own place across the width of a box, the same in all boxes."""
    distinct = np.unique(datasets)
    if distinct.size == 1:
        return {int(distinct[0]): 0.0}
    reach = 0.35 * BOX_WIDTH
    return dict(zip(distinct.tolist(), np.linspace(-reach, reach, distinct.size).tolist()))


def _own(scores: pd.DataFrame, box: Box) -> pd.DataFrame:
    lambdas = scores["lambda_b"]
    same_lambda = lambdas.isna() if math.isnan(box.lambda_b) else lambdas == box.lambda_b
    return scores[(scores["model"] == box.model) & same_lambda]


def _draw_box(ax: Axes, box: Box, x: float, scores: NDArray[np.float64], points: NDArray[np.float64]) -> None:
    """Draw a box at ``x``, its data sets at ``points``; one alone is a larger point in the box's colour."""
    if scores.size == 1:
        face = box.patch["facecolor"]
        ax.plot(points, scores, ls="", marker="o", ms=4, mew=0.5, mec=FRAME, color=face, zorder=3)
        return
    thin = {"lw": 0.5, "color": FRAME}
    ax.boxplot(
        [scores],
        positions=[x],
        widths=BOX_WIDTH,
        patch_artist=True,
        showfliers=False,  # every data set is drawn as a point
        manage_ticks=False,
        boxprops=box.patch,
        medianprops={"lw": 1.2, "color": "black"},
        whiskerprops=thin,
        capprops=thin,
    )
    ax.plot(points, scores, ls="", marker="o", ms=1.5, mew=0, color="black", alpha=0.45, zorder=3)
