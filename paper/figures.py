"""The paper's figures: kinds of drift and strength, scores of a case, and the patterns of one data set."""

import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch
from plan import FLEXIBLE, HARD, SMOOTH, WEAK, Task, level_name

import tparafac2 as tp

COLUMN, PAGE = 3.35, 6.89  # widths in print, in inches

LOOKS = {
    "PARAFAC2": ("#767676", ""),
    "tPARAFAC2": ("#0072B2", ""),
    "tCMF": ("#E69F00", "////"),
    "NNtCMF": ("#009E73", "\\\\\\\\"),
    HARD: ("#56B4E9", "...."),
    FLEXIBLE: ("#D55E00", "xxxx"),
}
"""Colours for everybody (Okabe and Ito) and hatches that work without colour, in the order of the boxes."""

STYLE: dict[str, Any] = {
    **dict.fromkeys(["font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"], 7),
    **dict.fromkeys(["xtick.labelsize", "ytick.labelsize"], 7),
    **dict.fromkeys(["axes.linewidth", "xtick.major.width", "ytick.major.width", "hatch.linewidth"], 0.5),
    **dict.fromkeys(["axes.labelpad", "xtick.major.size", "ytick.major.size"], 2),
}


def save_all(table: pd.DataFrame, examples: dict[str, tuple[Any, dict[str, Any]]], folder: Path) -> None:
    """Draw everything, and write each figure as PNG and PDF."""
    with style.context(["default", STYLE]):
        drawn = {"drifts": drifts(), "strengths": strengths()}
        drawn |= {case: scores(table, case) for case in table["case"].unique()}
        if "overlapping" in drawn:
            drawn["overlapping-unit"] = scores(table, "overlapping", "fms_unit")
        drawn |= {f"example-{case}": example(*found) for case, found in examples.items()}
        for name, figure in drawn.items():
            for ending in ("png", "pdf"):
                tp.plots.save(figure, folder / f"{name}.{ending}")


def drifts() -> Figure:
    """Show the four kinds of concept drift: words by time, one heat map each."""
    data, figure, axes = _illustration(1.42)
    limit = np.quantile(data.B[data.B > 0], 0.98)
    for r, (ax, concept) in enumerate(zip(axes, data.concepts)):
        words = [*concept.initial_words, *concept.final_words]
        tp.plots.pattern_heatmap(data.B[:, words, r], ax, limit=limit)
        ax.set(title=type(concept.drift).__name__, ylabel="Word")
        ax.set_xticks([0, 9, 19], ["1", "10", "20"])
        ax.label_outer()
    return figure


def strengths() -> Figure:
    """Show the four kinds of strength over time."""
    data, figure, axes = _illustration(1.26)
    for ax, concept, values in zip(axes, data.concepts, data.C.T):
        ax.plot(np.arange(len(values)) + 1, values, color=LOOKS["tPARAFAC2"][0], lw=1, marker="o", ms=1.8)
        ax.set(title=type(concept.strength).__name__, xlabel="Time", ylabel="Strength", xticks=[1, 10, 20])
        ax.set_ylim(0, 1.05 * data.C.max())
        ax.spines[["top", "right"]].set_visible(False)
        ax.label_outer()
    return figure


def _illustration(height: float) -> tuple[tp.synthetic.SyntheticData, Figure, Any]:
    """Make four concepts of all kinds, whose words keep their importance, and a panel for each."""
    s = tp.synthetic
    concepts = [
        s.Concept(s.Sudden(start=8), s.Constant(level=15.0)),
        s.Concept(s.Gradual(start=13), s.Increasing(level=5.0, start=6)),
        s.Concept(s.Reoccurring(half_period=5), s.Decreasing(level=25.0, start=6)),
        s.Concept(s.Incremental(start=4, rate=0.2), s.Periodic(level=8.0, half_period=5)),
    ]
    plain = {"noise": 0.0, "fresh_importances": False, "enforce_parafac2": False}
    data = s.generate(concepts, seed=0, **plain, n_times=20, n_rows=4, n_columns=96)
    figure = Figure(figsize=(COLUMN, height), layout="constrained")
    return data, figure, figure.subplots(1, len(concepts), sharey=True)


def scores(table: pd.DataFrame, case: str, measure: str = "fms") -> Figure:
    """Show the scores of a case: a group of boxes for each level, and a box for each method.

    tCMF is shown where concepts overlap. True patterns change their sizes there, and the flexible model is
    shown in unit form alone: its scores and those in the paper's form do not compare.
    """
    wide = case == "overlapping"
    left_out = {"tCMF", "NNtCMF"} if not wide else {FLEXIBLE} if measure == "fms" else set()
    rows = table[(table["case"] == case) & ~table["model"].isin(left_out)]
    levels, lambdas = sorted(rows["level"].unique()), sorted(rows["lambda_b"].dropna().unique())
    boxes = _line_up([model for model in LOOKS if model not in left_out], lambdas)
    end = boxes[-1][2]
    group = end + 2.2  # the distance from box to box is 1
    figure = Figure(figsize=(PAGE if wide else COLUMN, 2.56), layout="constrained")
    ax = figure.add_subplot()
    families: dict[str, list[Patch]] = {}
    for model, lambda_b, place, look in boxes:
        families.setdefault(model, []).append(Patch(**look))
        own = rows[rows["method"] == Task(case, 0, 0, model, lambda_b).method].sort_values("dataset")
        for i, level in enumerate(levels):
            _draw_box(ax, i * group + place, own.loc[own["level"] == level, measure], look)
    for i in range(1, len(levels)):
        ax.axvline(i * group - 1.1, color="0.8", lw=0.5, zorder=0)
    low = max(0.0, 0.1 * math.floor(10 * rows[measure].min() - 0.05))
    ax.set(xlim=(-1.1, len(levels) * group - 1.1), ylim=(low, 1 + 0.02 * (1 - low)))
    ax.set_xticks([i * group + end / 2 for i in range(len(levels))], [level_name(case, x) for x in levels])
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color="0.9", lw=0.5)
    ax.set_axisbelow(True)
    shades = rf"$\lambda_B$ = {', '.join(f'{value:g}' for value in lambdas)}"
    ax.set_xlabel(f"{rows['dataset'].nunique()} data sets each; shades are {shades}")
    ax.set_ylabel("Factor match score" + (", unit form" if measure == "fms_unit" else ""))
    place = {"loc": "outside upper center", "ncols": 3 if wide else 2, "frameon": False}
    handler = {tuple: HandlerTuple(ndivide=None, pad=0)}
    figure.legend([tuple(one) for one in families.values()], [*families], handler_map=handler, **place)
    return figure


def _line_up(models: list[str], lambdas: list[float]) -> list[tuple[Any, ...]]:
    """Give each method a place and a look: families stand apart, the smoother the deeper the shade."""
    boxes, place = [], -1.4
    for model in models:
        place += 0.4
        colour, hatch = LOOKS[model]
        for lambda_b in lambdas if model in SMOOTH else [None]:
            place += 1
            depth = 0.6 if lambda_b is None else 1 - 0.8 * lambdas[::-1].index(lambda_b) / len(lambdas)
            face = tuple(1 - depth * (1 - channel) for channel in to_rgb(colour))
            look = {"facecolor": face, "edgecolor": "0.15", "hatch": hatch, "linewidth": 0.5}
            boxes.append((model, lambda_b, place, look))
    return boxes


def _draw_box(ax: Axes, x: float, found: "pd.Series[float]", look: dict[str, Any]) -> None:
    """Draw a box, and every data set as a point, in all boxes at the same distance from the middle."""
    thin = {"lw": 0.5, "color": "0.15"}
    lines = {"medianprops": {"lw": 1.2, "color": "black"}, "whiskerprops": thin, "capprops": thin}
    where = {"positions": [x], "widths": 0.8, "manage_ticks": False}
    ax.boxplot([found], **where, **lines, patch_artist=True, showfliers=False, boxprops=look)
    places = x + np.linspace(-0.28, 0.28, len(found)) * (len(found) > 1)
    ax.plot(places, found, ls="", marker="o", ms=1.5, mew=0, color="black", alpha=0.45, zorder=3)


def example(data: tp.synthetic.SyntheticData, estimates: dict[str, Any]) -> Figure:
    """Show the true patterns of one data set, and below them those that each method found.

    Components are matched to the truth, have its sign and one norm, and all heat maps have one colour scale.
    The number above a pattern is its cosine with the true one. A line above a heat map marks the times at
    which the concept has almost no strength.
    """
    rows = {"Ground truth": [(pattern, "") for pattern in _common_norm(data.B)]}
    for name, estimate in estimates.items():
        match = tp.metrics.match_components(estimate, data.factors)
        found = estimate[1][:, :, match.permutation]
        signs = np.where(np.sum(found * data.B, axis=(0, 1)) < 0, -1, 1)
        cosines = [f"cosine {cosine:.2f}" for cosine in match.per_mode["B"]]
        rows[name] = list(zip(_common_norm(found * signs), cosines))
    sizes = np.abs([pattern for row in rows.values() for pattern, _ in row])
    limit = float(np.quantile(sizes[sizes > 0], 0.99))
    figure = Figure(figsize=(PAGE, 1.1 * len(rows) + 0.3), layout="constrained")
    axes = figure.subplots(len(rows), data.C.shape[1], squeeze=False)
    for r, ax in enumerate(axes[0]):
        ax.set_title(f"Concept {r + 1}", loc="left", pad=5, fontweight="bold")
    for row, (name, panels) in zip(axes, rows.items()):
        for r, (ax, (pattern, cosine)) in enumerate(zip(row, panels)):
            tp.plots.pattern_heatmap(pattern, ax, limit=limit)
            ax.set_title(cosine, loc="right", pad=5)
            weak = np.flatnonzero(data.C[:, r] <= WEAK)
            where = {"transform": ax.get_xaxis_transform(), "clip_on": False}
            ax.hlines([1.03] * len(weak), weak - 0.5, weak + 0.5, colors="black", lw=1.5, **where)
            ax.set_ylabel("Word")
            ax.label_outer(remove_inner_ticks=True)
        where = {"transform": row[0].transAxes, "rotation": 90, "ha": "right", "va": "center"}
        row[0].text(-0.2, 0.5, textwrap.fill(name, 14), fontweight="bold", **where)
    bar = {"extend": "both", "pad": 0.01, "aspect": 50, "label": "Importance (patterns scaled to one norm)"}
    figure.colorbar(axes[0, 0].images[0], ax=axes, **bar)
    return figure


def _common_norm(patterns: np.ndarray) -> np.ndarray:
    """Scale each pattern so that its norm in one slice is 1 on (quadratic) average; components come first."""
    norms = np.linalg.norm(patterns, axis=(0, 1)) / math.sqrt(len(patterns))
    return np.moveaxis(patterns / np.where(norms > 0, norms, 1.0), 2, 0)
