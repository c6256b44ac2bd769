"""Why these settings: errors of held-out rows, and similarity between parts of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tparafac2.plots.figures import figure_for_the_user
from tparafac2.plots.style import PAGE_WIDTH, letters_that_fit, open_frame, print_style, say, shade
from tparafac2.plots.subject import as_result
from tparafac2.plots.words import literal
from tparafac2.result import (
    ComponentPoint,
    ModelPoint,
    Panels,
    RankPoint,
    Setting,
    choice_panels,
    choice_sentences,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 6.0
_HEAD, _BAR = 1.8, 0.42  # of bars: what is around them, and each of them
_BESIDE_BARS = 6  # points from the bars to the numbers beside them
_BLUE, _BAND, _GREY = "#0072B2", "#DDEBF4", "#9A9A9A"
_RING: dict[str, Any] = {"s": 70, "facecolor": "none", "edgecolor": "black", "lw": 1.0, "zorder": 4}
_VERDICTS = {"replicable": (_BLUE, "o"), "there": ("#E69F00", "^"), "not there": ("#D55E00", "X")}
"""Colours and marks; no verdict is told by its colour alone."""

_WIDE = 10
"""Errors that differ by more than this factor are on a logarithmic scale."""

_ROOM, _BESIDE = 0.8, 0.55
"""How much of the way to the next place the points of one place take, around it or on from it."""


def choice(model: object) -> Figure:
    """Draw why `choose` took these settings: four panels, without those that have nothing to compare.

    The error of held-out rows by smoothness, one line for each rigidity (settings within the shaded band
    predict as well); by rank at each rank's best setting; the similarity of each component between parts of
    the rows, with a hollow mark for what it shares with no other component; and how other models do at the
    chosen rank, where that was asked for. Rings are around what was chosen.

    Parameters
    ----------
    model : Choice, fitted model or Result
        Whose settings were chosen by `choose`.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the settings were given, not chosen.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, noise=0.3, n_times=6, n_rows=24, n_columns=20, n_concepts=2).X
    >>> found = tp.choose(X, ranks=[1, 2], smoothness=[1e-3, 1e-2], rigidity=float("inf"), n_starts=3,
    ...                   random_state=0)
    >>> len(tp.plots.choice(found).axes)
    3
    """
    record = as_result(model).choice
    if record is None:
        raise ValueError(
            "this model's settings were given, not chosen: there is nothing to draw of why. Use choose(X)."
        )
    lines = _lines(choice_panels(record), record)
    figure = figure_for_the_user(PAGE_WIDTH, sum(line.height for line in lines) + 0.8)
    with print_style():
        parts = figure.subfigures(len(lines), 1, squeeze=False, height_ratios=[line.height for line in lines])
        for part, line in zip(parts.ravel(), lines):
            for ax, draw in zip(part.subplots(1, len(line.draws), squeeze=False).ravel(), line.draws):
                draw(ax)
                open_frame(ax)
        figure.suptitle(literal(choice_sentences(record)[0].partition(" (")[0]))
    return figure


class _Line(NamedTuple):
    """What is drawn side by side, and the height of that in cm."""

    height: float
    draws: list[Callable[[Axes], None]]


def _lines(found: Panels, record: Mapping[str, Any]) -> list[_Line]:
    rank, tie, threshold = record["chosen"]["rank"], record["tie_band"], record["threshold"]
    errors: list[Callable[[Axes], None]] = []
    if found.settings:
        errors.append(partial(_draw_settings, points=found.settings, band=found.band, rank=rank))
    if found.ranks:
        errors.append(partial(_draw_ranks, points=found.ranks))
    lines = [_Line(_HEIGHT, errors)] if errors else []
    if found.components:
        draw = partial(_draw_components, points=found.components, threshold=threshold, by=record["by"])
        lines.append(_Line(_HEIGHT, [draw]))
    if found.models:
        height = _HEAD + _BAR * len(found.models)
        lines.append(_Line(height, [partial(_draw_models, points=found.models, band=tie, rank=rank)]))
    nothing = "A single setting was tried: there is nothing to compare."
    return lines or [_Line(_HEAD, [partial(say, sentence=nothing)])]


def _draw_settings(ax: Axes, points: Sequence[Setting], band: float, rank: int) -> None:
    grid = sorted({one.smoothness for one in points})
    rigidities = sorted({one.rigidity for one in points}, reverse=True)
    flexible = [one for one in rigidities if math.isfinite(one)]
    ax.axhspan(min(0.0, *(one.excess for one in points)) - band, band, color=_BAND, lw=0, zorder=0)
    for order, rigidity in enumerate(rigidities):
        hard = math.isinf(rigidity)
        own = [one for one in points if one.rigidity == rigidity]
        # Side by side, since they are often tried at one smoothness only, with nearly the same error.
        places = [grid.index(one.smoothness) + _BESIDE * order / len(rigidities) for one in own]
        colour = "black" if hard else shade(_BLUE, 0.3 + 0.7 * order / len(rigidities))
        label = "hard" if hard else f"{'rigidity ' if rigidity == flexible[0] else ''}{rigidity:g}"
        look: dict[str, Any] = {"color": colour, "marker": "o", "ms": 3.5, "mew": 0.8}
        width = 1.4 if hard else 0.8
        ax.plot(places, [one.excess for one in own], **look, lw=width, mfc="white", label=label)
        for place, one in zip(places, own):
            if one.tied:
                ax.plot(place, one.excess, **look)
            if one.chosen:
                ax.scatter(place, one.excess, **_RING)
    _excess_scale(ax, "y", [one.excess for one in points], band)
    ax.set_ylabel("Above the least")
    ax.set_xticks(range(len(grid)), [f"{one:g}" for one in grid])
    ax.set_xlabel("Smoothness (filled: as good as the chosen)")
    ax.set_title(f"Error of held-out rows by smoothness, rank {rank}", loc="left")
    _legend_below(ax)


def _excess_scale(ax: Axes, which: Literal["x", "y"], excess: Sequence[float], band: float) -> None:
    """Linear up to the band, and logarithmic beyond."""
    low, high = min(2 * min(excess), -0.3 * band), max(2 * max(excess), 3 * band)
    steps = [10.0**power for power in range(-2, 6)] if high > 0.5 else [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    ticks = [0.0, band, *steps, *(-step for step in steps)]
    # Two ticks need a distance on a scale that begins with the band.
    ticks = [tick for tick in ticks if (low <= tick <= high and not 0.4 < tick / band < 2.5) or tick == band]
    scale, limits, place = (
        (ax.set_xscale, ax.set_xlim, ax.set_xticks)
        if which == "x"
        else (ax.set_yscale, ax.set_ylim, ax.set_yticks)
    )
    scale("symlog", linthresh=band, linscale=0.6)
    limits(low, high)
    place(ticks, [f"{float(f'{100 * tick:.2g}'):,g} %" for tick in ticks])
    place([], minor=True)


def _draw_ranks(ax: Axes, points: Sequence[RankPoint]) -> None:
    ranks = [one.rank for one in points]
    ax.plot(ranks, [one.error for one in points], "o-", color="black", lw=1.0, ms=4)
    for one in points:
        if one.chosen:
            ax.scatter(one.rank, one.error, **_RING)
    gains = ["" if one.gain is None else f"\n{one.gain:.1%}" for one in points]
    room = letters_that_fit(ax) / len(points) > max(map(len, gains)) - 1
    ax.set_xticks(ranks, [f"{rank}{gain if room else ''}" for rank, gain in zip(ranks, gains)])
    ax.set_xlim(ranks[0] - 0.5, ranks[-1] + 0.5)
    least, most = (end(one.error for one in points) for end in (min, max))
    if least > 0 and most > _WIDE * least:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.08 * most or 1.0)
    ax.set_xlabel("Rank (below: gain over one rank less)" if room else "Rank")
    ax.set_ylabel("Share of their squares")
    ax.set_title("Error of held-out rows by rank", loc="left")


def _draw_components(ax: Axes, points: Sequence[ComponentPoint], threshold: float, by: str) -> None:
    ranks = sorted({one.rank for one in points})
    ax.axhline(threshold, color="0.5", lw=0.8, ls=":")
    places = {one: one.rank + _ROOM * ((one.component - 0.5) / one.rank - 0.5) for one in points}
    for verdict, (colour, marker) in _VERDICTS.items():
        own = [one for one in points if one.verdict == verdict]
        if own:
            x, y = [places[one] for one in own], [one.similarity for one in own]
            ax.vlines(x, [one.alone for one in own], y, color=shade(colour, 0.5), lw=0.8, zorder=1)
            ax.scatter(x, y, s=18, color=colour, marker=marker, lw=0, label=verdict, zorder=3)
    alone = [one.alone for one in points]
    hollow: dict[str, Any] = {"s": 12, "facecolor": "white", "edgecolor": _GREY, "lw": 0.8, "zorder": 2}
    ax.scatter(list(places.values()), alone, **hollow, label="without what others share")
    for rank in {one.rank for one in points if one.chosen and len(ranks) > 1}:
        ax.axvspan(rank - 0.45, rank + 0.45, color="#F0F0F0", lw=0, zorder=0)
    if len(ranks) > 1:
        ax.set_xticks(ranks)
        ax.set_xlabel("Rank (grey: chosen)")
    else:
        ax.set_xticks(list(places.values()), [str(one.component) for one in points])
        ax.set_xlabel(f"Component, rank {ranks[0]}")
    ax.set_xlim(ranks[0] - 0.5, ranks[-1] + 0.5)
    ax.set_ylim(-0.03, 1.04)
    ax.set_ylabel(f"Cosine (dotted: replicable from {threshold:g})")
    ax.set_title(f"Similarity of each component between {by} of the rows", loc="left")
    _legend_below(ax)


def _legend_below(ax: Axes) -> None:
    """Where it is in nobody's way."""
    count = len(ax.get_legend_handles_labels()[1])
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": count}
    ax.legend(**below, frameon=False, handletextpad=0.3, columnspacing=0.9, handlelength=1.2)


def _draw_models(ax: Axes, points: Sequence[ModelPoint], band: float, rank: int) -> None:
    ax.axvspan(-band, band, color=_BAND, lw=0, zorder=0)
    for place, one in enumerate(points):
        ax.barh(place, one.excess, 0.5, color=_GREY)
        _write_beside(ax, place, "chosen" if one.chosen else f"{one.excess:+.1%}")
    _excess_scale(ax, "x", [one.excess for one in points], band)
    ax.axvline(0, color="black", lw=0.5)
    ax.set_ylim(len(points) - 0.5, -0.5)
    ax.set_yticks(range(len(points)), [literal(one.model) for one in points])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("Above that of the chosen model (shaded: as good)")
    ax.set_title(f"Error of held-out rows by model, rank {rank}", loc="left")


def _write_beside(ax: Axes, place: float, text: str) -> None:
    offset: dict[str, Any] = {"xytext": (_BESIDE_BARS, 0), "textcoords": "offset points", "va": "center"}
    ax.annotate(text, (1, place), xycoords=ax.get_yaxis_transform(), annotation_clip=False, **offset)
