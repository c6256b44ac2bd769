"""Whether a new figure shows itself: it does where the user works with pyplot or in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tparafac2.plots.style import new_figure, print_style, require_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TALLEST = 30.0
"""In cm; a list of a thousand rows would else be too large to be drawn at all."""

_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """Make figures that are only for files, also in a notebook.

    Examples
    --------
    >>> with off_screen():
    ...     hasattr(figure_for_the_user(8, 5), "number")  # pyplot numbers the figures that it knows of
    False
    """
    token = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(token)


def figure_for_the_user(width: float, height: float) -> Figure:
    """Make an empty figure of a size in cm, which pyplot knows of if the user has loaded it.

    In a notebook it then appears below the cell, in a script with ``plt.show()``. Elsewhere pyplot, which
    looks for a display and keeps every figure alive, is left alone.

    Examples
    --------
    >>> figure_for_the_user(8, 5).get_layout_engine() is not None
    True
    """
    if _off_screen.get() or not ("matplotlib.pyplot" in sys.modules or _in_a_notebook()):
        with print_style():
            return new_figure(width, height)
    from matplotlib import pyplot

    # Not within our style: what pyplot sets for notebooks with its first figure would be gone afterwards.
    size = width / 2.54, height / 2.54
    return pyplot.figure(figsize=size, layout="constrained", facecolor="white")


@contextmanager
def canvas(ax: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """Give the user's Axes with their own settings, or new ones in the style for print, of a size in cm.

    Nothing is taller than a page.

    Examples
    --------
    >>> with canvas(None, 8, 5) as ax:
    ...     line, = ax.plot([1, 2])
    >>> line.axes is ax
    True
    """
    require_axes(ax)
    if ax is None:
        figure = figure_for_the_user(width, min(height, _TALLEST))
        with print_style():
            yield figure.add_subplot()
    else:
        yield ax


def _in_a_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
