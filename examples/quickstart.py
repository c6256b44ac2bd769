"""Find evolving patterns in noisy data whose truth is known, and see how well they are found.

The data tell of three concepts: groups of authors who use a set of words that changes in time, more or less
often. Half as much noise as signal is added. Run it with ``make demo``; the figure is out/quickstart.png.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from numpy.typing import NDArray

import tparafac2 as tp

FIGURE = Path("out/quickstart.png")
COLOURS = "viridis"
# Okabe and Ito's colours, which colour-blind people can tell apart.
LINES: dict[str, dict[str, Any]] = {
    "truth": {"color": "black", "linestyle": "--"},
    "PARAFAC2": {"color": "#E69F00"},
    "tPARAFAC2": {"color": "#0072B2"},
}

FloatArray = NDArray[np.float64]


class Story(NamedTuple):
    """What one model says about every component, in the order and with the signs of the truth."""

    patterns: FloatArray
    """(R, J, K): words x time; all times of a component together have length 1."""
    strengths: FloatArray
    """(R, K): the size (norm) of the component's part of every time slice."""
    scores: FloatArray
    """(R,): similarity to the truth, from 0 to 1."""


def main() -> None:
    data = tp.synthetic.easy(seed=0, noise=0.5)
    model = tp.TParafac2(rank=3, lambda_a=0.1, lambda_b=1000, lambda_d=0.1, n_starts=10, random_state=0).fit(
        data.X
    )
    plain = tp.Parafac2(rank=3, n_starts=10, random_state=0).fit(data.X)

    print(model.summary())
    print()
    print("Factor match score, 1 is the truth itself:")
    print(f"  tPARAFAC2  {tp.metrics.factor_match_score(model, data):.3f}")
    print(f"  PARAFAC2   {tp.metrics.factor_match_score(plain, data):.3f}")

    factors = {
        "truth": (data.A, data.B, data.C),
        "PARAFAC2": (plain.A_, plain.B_, plain.C_),
        "tPARAFAC2": (model.A_, model.B_, model.C_),
    }
    stories = {name: tell(estimate, factors["truth"]) for name, estimate in factors.items()}
    captions = [f"{_words(c.drift)} change\n{_words(c.strength)} strength" for c in data.concepts]
    FIGURE.parent.mkdir(exist_ok=True)
    draw(stories, captions).savefig(FIGURE, dpi=150)
    print(f"\nFigure: {FIGURE}")


def tell(estimate: tuple[Any, Any, Any], truth: tuple[Any, Any, Any]) -> Story:
    """Put the components of an estimate in the order, scale and sign of the truth."""
    match = tp.metrics.match_components(estimate, truth)
    A, B, C = (factor[..., match.permutation] for factor in estimate)
    strengths = C * np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=1)
    signs = np.sign(np.sum(B * truth[1], axis=(0, 1)))
    patterns = B * signs / np.linalg.norm(B, axis=(0, 1))
    return Story(patterns.transpose(2, 1, 0), strengths.T, match.per_component)


def draw(stories: dict[str, Story], captions: list[str]) -> Figure:
    """Draw a row per concept: its pattern in time as told by each story, and its strength."""
    figure = Figure(figsize=(10, 8))
    figure.suptitle("Three evolving concepts, recovered from noisy data", weight="bold")
    figure.set_layout_engine("constrained", h_pad=0.08)
    grid = figure.add_gridspec(len(captions) + 1, len(stories) + 1, height_ratios=[*[12] * len(captions), 1])
    # One scale for all, that of the truth; a few very heavy words must not darken the others.
    present = stories["truth"].patterns[stories["truth"].patterns > 0]
    scale = Normalize(0, float(np.quantile(present, 0.98)))
    for r, caption in enumerate(captions):
        row = [figure.add_subplot(grid[r, column]) for column in range(len(stories) + 1)]
        for panel, (name, story) in zip(row, stories.items()):
            draw_pattern(panel, story.patterns[r], scale)
            panel.set_title(name if name == "truth" else f"{name}, match {story.scores[r]:.2f}", fontsize=10)
            panel.tick_params(labelleft=panel is row[0])
        draw_strengths(row[-1], {name: story.strengths[r] for name, story in stories.items()})
        row[0].set_ylabel(f"Concept {r + 1}\n{caption}\n\nword (column)")
        if r == len(captions) - 1:
            for panel in row:
                panel.set_xlabel("time (slice)")
    draw_keys(figure, grid, scale, row[-1])
    return figure


def draw_pattern(panel: Axes, pattern: FloatArray, scale: Normalize) -> None:
    panel.imshow(pattern, norm=scale, cmap=COLOURS, aspect="auto", interpolation="nearest")
    panel.set_xticks(range(0, pattern.shape[1], 5))


def draw_strengths(panel: Axes, strengths: dict[str, FloatArray]) -> None:
    for name, values in strengths.items():
        panel.plot(values, label=name, **LINES[name])
    panel.set_title("strength (norm in the data)", fontsize=10)
    panel.set_xticks(range(0, len(values), 5))
    panel.set_ylim(bottom=0)
    panel.yaxis.tick_right()
    panel.grid(alpha=0.3)


def draw_keys(figure: Figure, grid: GridSpec, scale: Normalize, lines: Axes) -> None:
    """Explain colours and lines below the panels."""
    figure.colorbar(
        ScalarMappable(scale, COLOURS),
        cax=figure.add_subplot(grid[-1, :-1]),
        orientation="horizontal",
        extend="both",
        label="weight of the word (a pattern has length 1 over all words and times)",
    )
    corner = figure.add_subplot(grid[-1, -1])
    corner.axis("off")
    corner.legend(*lines.get_legend_handles_labels(), loc="center", frameon=False)


def _words(thing: object) -> str:
    return type(thing).__name__.lower()


if __name__ == "__main__":
    main()
