"""Figures: whether a new one shows itself, and how it is saved.

It shows itself where the user works with pyplot or in a notebook. A file is complete or not there at all, and
has the same bytes every time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tparafac2.files import written_whole
from tparafac2.plots.style import new_figure, print_style, require_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TALLEST = 30.0
"""In cm; a list of a thousand rows would else be too large to be drawn at all."""

_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)

# A date would make the bytes of every run differ. Heat maps are pixels in the others, too: make them fine.
_FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 200},
    ".pdf": {"dpi": 600, "metadata": {"CreationDate": None}},
    ".svg": {"dpi": 600, "metadata": {"Date": None}},
}


@contextmanager
def off_screen() -> Iterator[None]:
    """Make figures that are only for files, also in a notebook."""
    token = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(token)


def figure_for_the_user(width: float, height: float) -> Figure:
    """Make an empty figure of a size in cm, which pyplot knows of if the user has loaded it.

    In a notebook it then appears below the cell, in a script with ``plt.show()``. Elsewhere pyplot, which
    looks for a display and keeps every figure alive, is left alone.
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


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> Path:
    """Write a picture as PNG (200 dpi), PDF or SVG.

    Parameters
    ----------
    figure : matplotlib Figure or Axes
        Of Axes the whole figure is written.
    path : path
        In an existing folder; its ending says which format. A file of that name is replaced.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from tparafac2.plots import pattern_heatmap
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pattern_heatmap([[1.0, 2.0]]), Path(folder) / "pattern.png").name
    'pattern.png'
    """
    target = Path(path)
    settings = _FORMATS.get(target.suffix.lower())
    if settings is None:
        known = ", ".join(_FORMATS)
        raise ValueError(f"the name of a picture must end in one of {known}; got {target.name!r}.")
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first."
        )
    whole = _figure_of(figure)
    with written_whole(target) as unfinished, print_style():
        whole.savefig(unfinished, format=target.suffix[1:].lower(), **settings)
    return target


def _figure_of(given: Any) -> Figure:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    found = given
    while isinstance(found, Artist) and not isinstance(found, Figure):  # axes may be in a part of a figure
        found = found.figure
    if not isinstance(found, Figure):
        raise TypeError(f"a matplotlib Figure or Axes is needed to save; got {type(given).__name__}.")
    return found
