"""One data set in detail, a typical one: true patterns and, below each, what the methods made of it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from measure import WEAK, Factors, fit, unit_form
from numpy.typing import NDArray
from plan import CHOSEN, HEADLINE, Method, Plan, Setting, Task

from tparafac2.metrics import match_components
from tparafac2.plots import pattern_heatmap
from tparafac2.plots.heat_maps import colour_range
from tparafac2.plots.style import PAGE_WIDTH, new_figure, print_style
from tparafac2.plots.time_axis import runs
from tparafac2.synthetic import SyntheticData

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FloatArray: TypeAlias = NDArray[np.float64]
Components: TypeAlias = tuple[FloatArray, FloatArray, FloatArray | None]

PLAIN, TIMED = Method("PARAFAC2"), Method("tPARAFAC2", HEADLINE)

ROW_HEIGHT = 2.8
"""In cm, with all that belongs to a row of heat maps."""

LETTERS_BESIDE = 14
"""So many letters of a name fit beside a row; longer ones go on in another line."""

TITLE_PAD = 5.0
"""In points: between a heat map and the text above it there is room for the mark of weak times."""


class Example(NamedTuple):
    """One data set, and what the methods made of it."""

    setting: Setting
    dataset: int
    data: SyntheticData
    estimates: dict[str, Factors]


def typical_dataset(table: pd.DataFrame, setting: Setting) -> int:
    """The data set on which tPARAFAC2 gains as much over PARAFAC2 as in the median.

    Of an even number the one with the smaller gain of the two in the middle, so that no example flatters.
    """
    of_setting = table[(table["case"] == setting.case) & (table["level"] == setting.level)]
    scores = of_setting.pivot_table(index="dataset", columns="method", values="fms")
    gain = (scores[TIMED.label] - scores[PLAIN.label]).sort_values(kind="stable")
    return int(gain.index[(len(gain) - 1) // 2])


def show(table: pd.DataFrame, setting: Setting, plan: Plan) -> Example:
    """Fit PARAFAC2 and tPARAFAC2 once more to a typical data set; the factors are those of the records."""
    dataset = typical_dataset(table, setting)
    rows = table[(table["case"] == setting.case) & (table["level"] == setting.level)]
    settings = rows[rows["dataset"] == dataset].set_index("method")[["smoothness", "rigidity"]]
    estimates: dict[str, Factors] = {}
    for method in (PLAIN, TIMED, *(CHOSEN if plan.chosen else ())):
        settled = settings.loc[method.label].to_dict() if method.is_chosen else {}
        data, model = fit(Task(setting, dataset, method), plan.protocol, **settled)
        A, B, C = (np.asarray(one, dtype=float) for one in (model.A_, model.B_, model.C_))
        # Where patterns change their sizes, these are shown where they are scored: in the strengths.
        estimates[method.label] = (A, B, C) if method.keeps_sizes else unit_form((A, B, C))
    return Example(setting, dataset, data, estimates)


@dataclass(frozen=True)
class _Panel:
    """A pattern (K, J), NaN where no component is left, and its cosine with the true one."""

    pattern: FloatArray
    cosine: float | None = None


def example_figure(
    truth: Components | SyntheticData, estimates: Mapping[str, Components], title: str | None = None
) -> Figure:
    """Show how well the patterns of one data set were found.

    The first row has the true patterns, every further row those of one estimate: components are matched to
    the truth, turned to its sign and scaled to one norm, and all heat maps have one colour scale. The number
    above an estimated pattern is its cosine with the true one, over all times. A line above a heat map marks
    the times at which the concept has almost no strength (0.01).

    Parameters
    ----------
    truth : SyntheticData or (A, B, C)
        True loadings (I, R), patterns (K, J, R) and strengths (K, R).
    estimates : mapping of str to (A, B, C)
        The estimated components by name of the method. C is None for a method without strengths.
    title : str, optional

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from tparafac2.synthetic import almost_zero
    >>> data = almost_zero(seed=0, n_times=8, n_rows=12, n_columns=18)
    >>> figure = example_figure(data, {"perfect": data.factors})
    >>> len(figure.axes)
    7
    """
    if isinstance(truth, SyntheticData):
        truth = truth.factors
    _, B, C = truth
    rank = B.shape[2]
    rows = {"Ground truth": [_Panel(_to_common_norm(B[:, :, r])) for r in range(rank)]}
    rows |= {name: _matched(estimate, truth) for name, estimate in estimates.items()}
    limit, extend = colour_range(np.array([panel.pattern for row in rows.values() for panel in row]))
    weak = np.zeros((len(B), rank), bool) if C is None else np.asarray(C) == WEAK
    with print_style():
        figure = new_figure(PAGE_WIDTH, ROW_HEIGHT * len(rows) + (1.2 if title else 0.7))
        axes = figure.subplots(len(rows), rank, squeeze=False)
        for row_axes, (name, row) in zip(axes, rows.items()):
            for ax, panel, weak_times in zip(row_axes, row, weak.T):
                _draw(ax, panel, limit, weak_times)
            _name_row(row_axes[0], name)
        for r, ax in enumerate(axes[0]):
            ax.set_title(f"Concept {r + 1}", loc="left", pad=TITLE_PAD, fontweight="bold")
            if weak[:, r].any():
                ax.set_title(f"\N{EM DASH} strength {WEAK}", loc="right", pad=TITLE_PAD)
        for ax in axes.flat:
            ax.label_outer(remove_inner_ticks=True)
        label = "Importance (patterns scaled to one norm)"
        figure.colorbar(axes[0, 0].images[0], ax=axes, extend=extend, pad=0.01, aspect=50, label=label)
        if title:
            figure.suptitle(title)
    return figure


def _matched(estimate: Components, truth: Components) -> list[_Panel]:
    """Bring estimated patterns into the order, sign and norm of the true ones."""
    with_strengths = estimate[2] is not None and truth[2] is not None
    match = match_components(estimate, truth, modes="ABC" if with_strengths else "AB")
    panels = []
    for r, found in enumerate(match.permutation):
        if found < 0:
            panels.append(_Panel(np.full(truth[1].shape[:2], np.nan)))
            continue
        pattern = _to_common_norm(estimate[1][:, :, found])
        sign = -1 if np.vdot(pattern, truth[1][:, :, r]) < 0 else 1
        panels.append(_Panel(sign * pattern, float(match.per_mode["B"][r])))
    return panels


def _to_common_norm(pattern: FloatArray) -> FloatArray:
    """Scale a pattern so that its norm in one slice is 1 on (quadratic) average."""
    norm = np.linalg.norm(pattern)
    return np.asarray(pattern * (np.sqrt(len(pattern)) / norm) if norm > 0 else pattern)


def _name_row(ax: Axes, name: str) -> None:
    """Write the name of a row to the left of the label of its vertical axis."""
    ax.set_ylabel("Word")
    ax.annotate(
        textwrap.fill(name, LETTERS_BESIDE),
        xy=(0, 0.5),
        xycoords=(ax.yaxis.label, "axes fraction"),
        xytext=(-2, 0),
        textcoords="offset points",
        rotation=90,
        ha="right",
        va="center",
        fontweight="bold",
    )


def _draw(ax: Axes, panel: _Panel, limit: float, weak: NDArray[np.bool_]) -> None:
    pattern_heatmap(panel.pattern, ax, limit=limit)
    if panel.cosine is not None:
        ax.set_title(f"cosine {panel.cosine:.2f}", loc="right", pad=TITLE_PAD)
    elif np.isnan(panel.pattern).all():
        ax.set_title("no component left", loc="right", pad=TITLE_PAD)
    above = ax.get_xaxis_transform()
    for first, last in runs(weak):
        (mark,) = ax.plot([first - 0.5, last + 0.5], [1.03, 1.03], transform=above, c="black", lw=1.5)
        mark.set(solid_capstyle="butt", clip_on=False)
