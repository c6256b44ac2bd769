"""The factor match scores of a case: one group of boxes per level, one box per method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tparafac2.experiments.figures.boxes import draw_boxes, draw_legend, line_up
from tparafac2.plots.style import COLUMN_WIDTH, LOOKS, PAGE_WIDTH, new_figure, print_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Case:
    """What is shown of a case, and in which words."""

    name: str
    models: tuple[str, ...]
    level_name: str
    level_text: Callable[[float], str] = "{:g}".format
    width: float = COLUMN_WIDTH
    height: float = 5.5


def _weak_concepts(number: float) -> str:
    return f"{number:g} weak concept{'s' if number > 1 else ''}"


_EASY = _Case("easy", ("PARAFAC2", "tPARAFAC2"), r"Noise level $\eta$")
_ALMOST_ZERO = _Case("almost_zero", ("PARAFAC2", "tPARAFAC2"), "Almost zero strength", _weak_concepts)
_OVERLAPPING = _Case(
    "overlapping", tuple(LOOKS), "Words in common at the start", "{:.0%}".format, PAGE_WIDTH, 6.5
)


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
    """Show the scores of PARAFAC2 and tPARAFAC2 by the number of weak concepts; see `easy_figure`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"case": "almost_zero", "level": 1.0, "dataset": [0, 1], "model": "PARAFAC2",
    ...                       "lambda_b": float("nan"), "fms": [0.92, 0.97]})
    >>> almost_zero_figure(table).axes[0].get_xlabel()
    'Almost zero strength (2 data sets each)'
    """
    return _score_figure(table, _ALMOST_ZERO)


def overlapping_figure(table: pd.DataFrame) -> Figure:
    """Show the scores of all methods by the overlap of the concepts; see `easy_figure`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"case": "overlapping", "level": 0.1, "dataset": [0, 1], "model": "PARAFAC2",
    ...                       "lambda_b": float("nan"), "fms": [0.92, 0.97]})
    >>> overlapping_figure(table).axes[0].get_xlabel()
    'Words in common at the start (2 data sets each)'
    """
    return _score_figure(table, _OVERLAPPING)


def score_figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Make the figures of all cases that have scores, by name of the case; see `easy_figure`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"case": "easy", "level": 0.5, "dataset": [0, 1], "model": "PARAFAC2",
    ...                       "lambda_b": float("nan"), "fms": [0.92, 0.97]})
    >>> list(score_figures(table))
    ['easy']
    """
    cases = (_EASY, _ALMOST_ZERO, _OVERLAPPING)
    return {case.name: _score_figure(table, case) for case in cases if not _scores(table, case).empty}


def _score_figure(table: pd.DataFrame, case: _Case) -> Figure:
    scores = _scores(table, case)
    if scores.empty:
        raise ValueError(
            f"there are no scores of {', '.join(case.models)} in the case {case.name!r}; "
            f"the table has the cases {sorted(set(table['case']))}."
        )
    boxes = line_up(scores)
    with print_style():
        figure = new_figure(case.width, case.height)
        ax = figure.add_subplot()
        groups = draw_boxes(ax, boxes, scores)
        ax.set_xticks(list(groups.values()), [case.level_text(level) for level in groups])
        ax.set_xlabel(f"{case.level_name} ({_count_text(scores)})")
        ax.set_ylabel("Factor match score")
        draw_legend(figure, boxes)
    return figure


def _scores(table: pd.DataFrame, case: _Case) -> pd.DataFrame:
    return table[(table["case"] == case.name) & table["model"].isin(case.models) & table["fms"].notna()]


def _count_text(scores: pd.DataFrame) -> str:
    counts = scores.groupby(["level", "model", "lambda_b"], dropna=False).size()
    least, most = int(counts.min()), int(counts.max())
    number = f"{most}" if least == most else f"{least} to {most}"
    return f"{number} data set{'s' if most > 1 else ''} each"
