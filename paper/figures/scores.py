"""The factor match scores of a case: one group of boxes per level, one box per method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from plan import CHOSEN, FLEXIBLE, Setting

from tparafac2.plots.style import COLUMN_WIDTH, LOOKS, PAGE_WIDTH, Look, new_figure, print_style, shade

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNIT_FORM = "overlapping-unit"
"""Name of the figure in which all methods are scored like the flexible model."""

BOX_WIDTH, FAMILY_GAP, GROUP_GAP = 0.8, 0.4, 1.2
"""The distance from box to box is 1; the gaps come on top of it."""

LEGEND_LINE = 0.4
"""In cm, for every line of the legend after the first."""

LIGHTEST = 0.2
"""Depth of the lightest shade."""

FRAME = "0.15"
"""Colour of outlines: nearly black."""


@dataclass(frozen=True)
class _Case:
    """What is shown of a case, and in which words."""

    name: str
    models: tuple[str, ...]
    level_name: str
    level_text: Callable[[float], str] = "{:g}".format
    width: float = COLUMN_WIDTH
    height: float = 5.5


_TWO = ("PARAFAC2", "tPARAFAC2", *(method.model for method in CHOSEN))
_EASY = _Case("easy", _TWO, r"Noise level $\eta$")
_ALMOST_ZERO = _Case("almost_zero", _TWO, "Almost zero strength", lambda n: Setting("almost_zero", n).label)
_UNIT_OVERLAPPING = _Case(
    "overlapping", tuple(LOOKS), "Words in common at the start", "{:.0%}".format, PAGE_WIDTH, 6.5
)
# Where true patterns change their sizes, scores in the paper's form and in unit form do not compare.
_OVERLAPPING = replace(_UNIT_OVERLAPPING, models=tuple(model for model in LOOKS if model != FLEXIBLE.model))


def easy_figure(table: pd.DataFrame) -> Figure:
    """Show the scores of PARAFAC2 and tPARAFAC2 in the easy case, by noise level.

    Every data set is a point over its box, in all boxes at the same distance from the middle.

    Parameters
    ----------
    table : DataFrame
        Results with the columns case, level, dataset, model, lambda_b and fms. Whatever levels, methods and
        data sets there are of the case are shown.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no score of the case.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"case": "easy", "level": 0.5, "dataset": [0, 1], "model": "PARAFAC2",
    ...                       "lambda_b": float("nan"), "fms": [0.92, 0.97]})
    >>> easy_figure(table).axes[0].get_ylabel()
    'Factor match score'
    """
    return _score_figure(table, _EASY)


def almost_zero_figure(table: pd.DataFrame) -> Figure:
    """Show the scores of PARAFAC2 and tPARAFAC2 by the number of weak concepts; see `easy_figure`."""
    return _score_figure(table, _ALMOST_ZERO)


def overlapping_figure(table: pd.DataFrame) -> Figure:
    """Show the scores of all methods but the flexible one by the overlap of concepts; see `easy_figure`."""
    return _score_figure(table, _OVERLAPPING)


def score_figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Make the figures of all cases that have scores, by name of the case; see `easy_figure`.

    Where concepts overlap, patterns change their sizes: the flexible model has a figure of its own there,
    with all methods in the form in which it is scored.
    """
    cases = (_EASY, _ALMOST_ZERO, _OVERLAPPING)
    figures = {case.name: _score_figure(table, case) for case in cases if not _scores(table, case).empty}
    if FLEXIBLE.model in set(_scores(table, _UNIT_OVERLAPPING)["model"]):
        unit = _score_figure(table.assign(fms=table["fms_unit"]), _UNIT_OVERLAPPING)
        unit.axes[0].set_ylabel("Factor match score, unit form")
        figures[UNIT_FORM] = unit
    return figures


def _score_figure(table: pd.DataFrame, case: _Case) -> Figure:
    scores = _scores(table, case)
    if scores.empty:
        raise ValueError(
            f"there are no scores of {'; '.join(case.models)} in the case {case.name!r}; "
            f"the table has the cases {sorted(set(table['case']))}."
        )
    boxes = line_up(scores)
    lines, abreast = _legend_shape(len({box.model for box in boxes}), wide=case.width == PAGE_WIDTH)
    with print_style():
        figure = new_figure(case.width, case.height + LEGEND_LINE * (lines - 1))
        ax = figure.add_subplot()
        groups = draw_boxes(ax, boxes, scores)
        ax.set_xticks(list(groups.values()), [case.level_text(level) for level in groups])
        ax.set_xlabel(f"{case.level_name} ({_count_text(scores)})")
        ax.set_ylabel("Factor match score")
        draw_legend(figure, boxes, abreast)
    return figure


def _scores(table: pd.DataFrame, case: _Case) -> pd.DataFrame:
    return table[(table["case"] == case.name) & table["model"].isin(case.models) & table["fms"].notna()]


def _legend_shape(families: int, wide: bool) -> tuple[int, int]:
    """Lines and columns: one line for the paper's families, more if others with long names are there, too."""
    paper, others = (4, 3) if wide else (2, 1)
    abreast = families if families <= paper else others
    return math.ceil(families / abreast), abreast


def _count_text(scores: pd.DataFrame) -> str:
    counts = scores.groupby(["level", "model", "lambda_b"], dropna=False).size()
    least, most = int(counts.min()), int(counts.max())
    number = f"{most}" if least == most else f"{least} to {most}"
    return f"{number} data set{'s' if most > 1 else ''} each"


@dataclass(frozen=True)
class Box:
    """A method: where its box stands within a group, and its shade."""

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
        face = shade(self.look.colour, self.depth)
        return {"facecolor": face, "edgecolor": FRAME, "hatch": self.look.hatch, "linewidth": 0.5}


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


def draw_legend(figure: Figure, boxes: list[Box], abreast: int) -> None:
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
        last = max(place for place, model in enumerate(models) if model in smooth)
        labels[last] += rf"{each} $\lambda_B$ = {', '.join(f'{value:g}' for value in lambdas)}"
    figure.legend(
        handles,
        labels,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
        loc="outside upper center",
        ncols=abreast,
        frameon=False,
        borderpad=0,
    )


def score_range(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Choose the range of the axis: from a round number below all scores to just above a perfect one."""
    lowest = float(scores.min())
    step = 0.05 if lowest > 0.7 else 0.1
    low = max(0.0, step * math.floor((lowest - 0.005) / step))
    return low, 1 + 0.02 * (1 - low)


def _offsets(datasets: NDArray[np.int_]) -> dict[int, float]:
    """Give every data set its own place across the width of a box, the same in all boxes."""
    distinct = np.unique(datasets)
    reach = 0.35 * BOX_WIDTH if distinct.size > 1 else 0.0
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
