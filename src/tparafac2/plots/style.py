"""How figures look: sizes for print, colours that everybody can tell apart, settings that leave no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN_WIDTH = 8.5
PAGE_WIDTH = 17.5
"""Widths of a figure in print, in cm."""

FONT_SIZE = 7.0
"""In points at print size; nothing is set smaller."""

DIVERGING = "RdBu_r"
"""Blue below, white at, red above zero: safe for the colour-blind."""

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
}


@dataclass(frozen=True)
class Look:
    """Colour and hatch of a family of methods; the hatch tells families apart without colour.

    Examples
    --------
    >>> LOOKS["PARAFAC2"].hatch
    ''
    """

    colour: str
    hatch: str = ""


# Three hues of Okabe and Ito, and grey for the method the others are compared with.
LOOKS = {
    "PARAFAC2": Look("#767676"),
    "tPARAFAC2": Look("#0072B2"),
    "tCMF": Look("#E69F00", "////"),
    "NNtCMF": Look("#009E73", "\\\\\\\\"),
}


def shade(colour: str, depth: float) -> tuple[float, float, float]:
    """Mix a colour with white: depth 1 is the colour itself, depth 0 white.

    Examples
    --------
    >>> shade("#000000", 0.25)
    (0.75, 0.75, 0.75)
    """
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - depth * (1 - channel) for channel in to_rgb(colour))
    return red, green, blue


@contextmanager
def print_style() -> Iterator[None]:
    """Draw for print, whatever the user's own settings; they are back afterwards.

    Examples
    --------
    >>> import matplotlib
    >>> before = matplotlib.rcParams["font.size"]
    >>> with print_style():
    ...     matplotlib.rcParams["font.size"]
    7.0
    >>> matplotlib.rcParams["font.size"] == before
    True
    """
    from matplotlib import style

    with style.context(["default", _SETTINGS]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure of a size in cm, whose parts make room for each other.

    Examples
    --------
    >>> new_figure(COLUMN_WIDTH, 5).get_layout_engine() is not None
    True
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 2.54, height / 2.54), layout="constrained")
