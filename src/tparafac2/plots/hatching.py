"""What the data do not determine is there to be seen, but hatched and faded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.time_axis import Stretches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHED = "pale, hatched: not determined by the data"

_HATCH = "//////"
_LINES = "0.55"
_FADED = (1.0, 1.0, 1.0, 0.6)
_MOST_EDGES = 5000


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Find the first and the last place of every unbroken run.

    Examples
    --------
    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    firsts, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    return [(int(first), int(end) - 1) for first, end in zip(firsts, ends)]


def hatch_cells(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_], top: float = 0.0) -> None:
    """Hatch cells of a heat map whose rows are one unit high.

    Parameters
    ----------
    ax : matplotlib Axes
    stretches : Stretches
    vague : ndarray of bool (K, n)
        For every slice, in the order of time, and every row: whether to hatch.
    top : float
        Where the first row begins.

    Notes
    -----
    Thousands of small boxes are only faded.

    Examples
    --------
    >>> from tparafac2.plots.style import new_figure
    >>> ax = new_figure(8, 5).add_subplot()
    >>> stretches = Stretches(np.array([0.0, 1.0, 2.0]), np.array([0, 1]))
    >>> hatch_cells(ax, stretches, np.array([[False, False], [True, True]]))
    >>> [path.get_extents().extents.tolist() for path in ax.collections[0].get_paths()]
    [[1.0, 0.0, 2.0, 2.0]]
    """
    if not vague.any():
        return
    from matplotlib.collections import PolyCollection

    whole = np.asarray(vague.all(axis=1))
    if np.count_nonzero(np.diff(vague & ~whole[:, np.newaxis], axis=0)) > _MOST_EDGES:
        _fade(ax, stretches, vague, top)
        return
    boxes = [_box(stretches.span(*run), top, top + vague.shape[1]) for run in runs(whole)]
    for row, flags in enumerate((vague & ~whole[:, np.newaxis]).T):
        boxes += [_box(stretches.span(*run), top + row, top + row + 1) for run in runs(flags)]
    ax.add_collection(
        PolyCollection(boxes, facecolor=_FADED, edgecolor=_LINES, hatch=_HATCH, linewidth=0),
        autolim=False,
    )


def hatch_spans(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_]) -> None:
    """Hatch the background at some slices, given in the order of time.

    Examples
    --------
    >>> from tparafac2.plots.style import new_figure
    >>> ax = new_figure(8, 5).add_subplot()
    >>> hatch_spans(ax, Stretches(np.array([0.0, 1.0, 2.0]), np.array([0, 1])), np.array([False, True]))
    >>> len(ax.patches)
    1
    """
    for run in runs(vague):
        left, right = stretches.span(*run)
        ax.axvspan(left, right, facecolor="none", edgecolor="0.75", hatch=_HATCH, linewidth=0, zorder=0)


def _fade(ax: Axes, stretches: Stretches, vague: NDArray[np.bool_], top: float) -> None:
    """Fade all cells at once: so many boxes would take minutes, and each would be too small for a hatch."""
    from matplotlib.colors import ListedColormap

    flags = stretches.filled(np.where(vague, 1.0, np.nan))
    rows = top + np.arange(vague.shape[1] + 1)
    ax.pcolormesh(
        stretches.edges, rows, np.ma.masked_invalid(flags), cmap=ListedColormap([_FADED]), rasterized=True
    )


def _box(span: tuple[float, float], top: float, bottom: float) -> list[tuple[float, float]]:
    left, right = span
    return [(left, top), (right, top), (right, bottom), (left, bottom)]
