"""How much text fits beside and below axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER = 0.62
"""Usual width of a letter, and the distance of lines below, in units of the size of type."""
_LINE = 1.05

_LEFT_OVER = 0.85
"""Labels and titles will take some of the room that axes have when they are made."""


def letters_that_fit(ax: Axes) -> int:
    """Tell how many letters of tick labels fit side by side below the axes, at least eight.

    Examples
    --------
    >>> from tparafac2.plots.showing import canvas
    >>> with canvas(None, 8.5, 5) as ax:
    ...     letters_that_fit(ax) in range(30, 45)
    True
    """
    points = ax.get_window_extent().width * 72 / ax.figure.dpi
    return max(int(_LEFT_OVER * points / (_LETTER * _type_size("x"))), 8)


def rows_that_fit(ax: Axes) -> int:
    """Tell how many lines of tick labels fit one above the other beside the axes, at least one.

    Examples
    --------
    >>> from tparafac2.plots.showing import canvas
    >>> with canvas(None, 8.5, 5) as ax:
    ...     rows_that_fit(ax) in range(12, 18)
    True
    """
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    return max(int(points / (_LINE * _type_size("y"))), 1)


def _type_size(axis: Literal["x", "y"]) -> float:
    import matplotlib
    from matplotlib.font_manager import FontProperties

    given = matplotlib.rcParams["xtick.labelsize" if axis == "x" else "ytick.labelsize"]
    return float(FontProperties(size=given).get_size_in_points())  # it can be "small" as well
