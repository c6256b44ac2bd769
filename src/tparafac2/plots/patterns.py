"""One pattern as a heat map: how a component's columns come and go in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tparafac2.plots.showing import figure_for_the_user
from tparafac2.plots.style import COLUMN_WIDTH, DIVERGING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


def pattern_heatmap(
    pattern: ArrayLike,
    ax: Axes | None = None,
    *,
    limit: float | None = None,
    times: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
) -> Axes:
    """Draw a pattern with time from left to right, columns from top to bottom and white for zero.

    Parameters
    ----------
    pattern : array of shape (K, J)
        One component: the weight of every column at every time, for example ``model.B_[:, :, 0]``.
        NaN is left blank.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.
    limit : float, optional
        The absolute value with the deepest colour, by default the largest one. Give the same limit to heat
        maps that are to be compared.
    times, columns : sequence, optional
        Labels; by default numbers counted from 1.

    Returns
    -------
    matplotlib Axes
        With the heat map as its only image, for example for a colour bar.

    Examples
    --------
    >>> import numpy as np
    >>> ax = pattern_heatmap(np.eye(5, 8) - 0.5)
    >>> ax.images[0].get_clim()
    (-0.5, 0.5)
    >>> ax.figure.savefig("pattern.png")  # doctest: +SKIP
    """
    values = _check_pattern(pattern)
    for name, labels, size in (("times", times, values.shape[0]), ("columns", columns, values.shape[1])):
        if labels is not None and len(labels) != size:
            raise ValueError(
                f"{name} must have one label for each of the pattern's {size} {name}, got {len(labels)}."
            )
    reach = _largest(values) if limit is None else check_limit(limit)
    if ax is None:
        ax = figure_for_the_user(COLUMN_WIDTH, 0.75 * COLUMN_WIDTH).add_subplot()
    ax.imshow(values.T, cmap=DIVERGING, vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest")
    _label(ax.xaxis, "Time", values.shape[0], times)
    _label(ax.yaxis, "Column", values.shape[1], columns)
    return ax


def _check_pattern(pattern: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(pattern, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"pattern must be an array (times, columns), one component, got shape {values.shape}; "
            "give for example B[:, :, 0]."
        )
    if np.isinf(values).any():
        raise ValueError("pattern has infinite values; NaN marks what is not known.")
    return values


def check_limit(limit: float) -> float:
    """Refuse what cannot be the value with the deepest colour.

    Examples
    --------
    >>> check_limit(2)
    2.0
    """
    if not (math.isfinite(limit) and limit > 0):
        raise ValueError(f"limit must be a finite number above 0, got {limit!r}.")
    return float(limit)


def _largest(values: NDArray[np.float64]) -> float:
    sizes = np.abs(values[~np.isnan(values)])
    return float(sizes.max(initial=0.0)) or 1.0


def _label(axis: Axis, name: str, size: int, labels: Sequence[object] | None) -> None:
    places = _round_numbers(size)
    axis.set_ticks(
        [place - 1 for place in places],
        [str(place if labels is None else labels[place - 1]) for place in places],
    )
    axis.set_label_text(name)


def _round_numbers(size: int) -> list[int]:
    """Choose at most six numbers from 1 to ``size``: 1 and multiples of a round step, or every few."""
    step = next(
        factor * 10**power for power in range(20) for factor in (1, 2, 5) if factor * 10**power * 5 >= size
    )
    return list(range(1, size + 1, step)) if step < 5 else [1, *range(step, size + 1, step)]
