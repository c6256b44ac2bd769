"""How figures look: sizes for print, colours that everybody can tell apart, settings that leave no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypedDict

from tparafac2.plots.words import literal
from tparafac2.result import Result, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN_WIDTH = 8.5
PAGE_WIDTH = 17.5
"""Widths of a figure in print, in cm."""

FONT_SIZE = 7.0
"""In points at print size; nothing is set smaller."""

DIVERGING = "RdBu_r"
"""Blue below, white at, red above zero: safe for the colour-blind."""

RISE, FALL = "#B2182B", "#2166AC"
"""Above and below zero, as in the heat maps."""

NOTHING = "#E4E4E4"
"""Where there is nothing to show: no slice, or no such column."""

_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same figure on every machine
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "legend.fontsize": FONT_SIZE,
    "figure.titlesize": FONT_SIZE + 1,
    "axes.titlepad": 3,
    "axes.labelpad": 2,
    "axes.linewidth": 0.5,
    "hatch.linewidth": 0.4,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "tparafac2",  # or every file would have other names inside
}


_LETTER = 0.62
"""Usual width of a letter, and the distance of lines below, in units of the size of type."""
_LINE = 1.05

_LEFT_OVER = 0.85
"""Labels and titles will take some of the room that axes have when they are made."""


class LineLook(TypedDict):
    """How the line of a component is drawn, as matplotlib's arguments."""

    color: str
    linestyle: str
    marker: str


_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", ":", "-.")


def line_look(r: int) -> LineLook:
    """Give component r (from 0) a colour and a marker of its own; after seven also another kind of line.

    Examples
    --------
    >>> line_look(0)["color"] == line_look(7)["color"], line_look(7)["linestyle"]
    (True, '--')
    """
    turn, place = divmod(r, len(_COLOURS))
    return {
        "color": _COLOURS[place],
        "linestyle": _LINES[turn % len(_LINES)],
        "marker": _MARKERS[(place + turn) % len(_MARKERS)],
    }


def shade(colour: str, depth: float) -> tuple[float, float, float]:
    """Mix a colour with white: depth 1 is the colour itself, depth 0 white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - depth * (1 - channel) for channel in to_rgb(colour))
    return red, green, blue


@contextmanager
def print_style() -> Iterator[None]:
    """Draw for print, whatever the user's own settings; they are back afterwards."""
    from matplotlib import style

    with style.context(["default", _SETTINGS]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure of a size in cm, whose parts make room for each other."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 2.54, height / 2.54), layout="constrained")


def require_axes(ax: object) -> None:
    """Refuse what is neither None nor somewhere to draw."""
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, or None for a new figure; got {type(ax).__name__}.")


def open_frame(ax: Axes) -> None:
    """Leave only the two sides of the frame that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)


def name_component(ax: Axes, result: Result, r: int) -> None:
    """Write above a picture which component it is of."""
    ax.set_title(literal(heading(result.component_names, r)), loc="left", fontweight="bold")


def say(ax: Axes, sentence: str) -> None:
    """Write a sentence where there is nothing to draw."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", wrap=True)
    ax.set_xticks([])
    ax.set_yticks([])


def letters_that_fit(ax: Axes) -> int:
    """Tell how many letters of tick labels fit side by side below the axes, at least eight.

    Examples
    --------
    >>> with print_style():
    ...     letters_that_fit(new_figure(8.5, 5).add_subplot()) in range(30, 45)
    True
    """
    points = ax.get_window_extent().width * 72 / ax.figure.dpi
    return max(int(_LEFT_OVER * points / (_LETTER * _type_size("x"))), 8)


def rows_that_fit(ax: Axes) -> int:
    """Tell how many lines of tick labels fit one above the other beside the axes, at least one.

    Examples
    --------
    >>> with print_style():
    ...     rows_that_fit(new_figure(8.5, 5).add_subplot()) in range(12, 18)
    True
    """
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    return max(int(points / (_LINE * _type_size("y"))), 1)


def _type_size(axis: Literal["x", "y"]) -> float:
    import matplotlib
    from matplotlib.font_manager import FontProperties

    given = matplotlib.rcParams["xtick.labelsize" if axis == "x" else "ytick.labelsize"]
    return float(FontProperties(size=given).get_size_in_points())  # it can be "small" as well
