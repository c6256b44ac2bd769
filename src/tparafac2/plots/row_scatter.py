"""Rows by their loadings in two components, coloured by what else is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.attribute_colours import attribute_colours, draw_key
from tparafac2.plots.figures import canvas
from tparafac2.plots.style import open_frame
from tparafac2.plots.subject import as_result, count
from tparafac2.plots.words import labels_of, literal
from tparafac2.result import heading, leaders, of_rows, place_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLAIN = "#0072B2"
_LETTER, _LINE = 0.022, 0.05
"""Room that a label takes, in parts of the picture: width of a letter, and height."""


def scatter(
    model: object,
    components: tuple[Any, Any] = (1, 2),
    *,
    attribute: str | None = None,
    n_labels: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw a point for each row: its loadings in two components.

    They are those of the normalised factors: the loadings of a component have length 1.

    Parameters
    ----------
    model : fitted model or Result
    components : two numbers, from 1, or names
        Across and upwards.
    attribute : str, optional
        What else is known of the rows, to colour them by, with a key.
    n_labels : int
        How many rows to name at most: the most distinctive ones of both components whose names do not
        cover each other; 0 for none.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        With one of its ``collections`` for each kind of marker.

    Examples
    --------
    >>> import numpy as np
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> model = model.with_row_attributes({"half": np.repeat(["first", "second"], 10)})
    >>> ax = tp.plots.scatter(model, (1, 2), attribute="half")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['first', 'second']
    """
    result = as_result(model)
    if isinstance(components, str) or not hasattr(components, "__len__") or len(components) != 2:
        raise ValueError(f"components must be two, such as (1, 2); got {components!r:.60}.")
    places = [place_of(component, result) for component in components]
    most = 0 if n_labels == 0 else count("n_labels", n_labels)
    colours = None if attribute is None else attribute_colours(result, attribute)
    across, upwards = np.nan_to_num(result.normalised().A[:, places]).T
    with canvas(ax, 11, 8.5) as target:
        markers = np.array(colours.markers if colours else ["o"] * len(across))
        for marker in dict.fromkeys(markers.tolist()):
            own = np.flatnonzero(markers == marker)
            colour = [colours.rows[i] for i in own] if colours else _PLAIN
            target.scatter(across[own], upwards[own], s=14, marker=marker, c=colour, alpha=0.8, lw=0)
        labels = labels_of(result, "rows", len(across))
        for i in _named(np.stack([across, upwards], axis=1), of_rows(result)[:, places], labels, most):
            where = (across[i], upwards[i])
            target.annotate(labels[i], where, textcoords="offset points", xytext=(3, 2))
        for line in (target.axhline, target.axvline):
            line(0, color="0.6", lw=0.5, zorder=0)
        names = [literal(heading(result.component_names, r)) for r in places]
        target.set_xlabel(f"Loading in {names[0][:1].lower()}{names[0][1:]}")
        target.set_ylabel(f"Loading in {names[1][:1].lower()}{names[1][1:]}")
        open_frame(target)
        if colours:
            draw_key(target, colours)
    return target


def _named(
    points: NDArray[np.float64], scores: NDArray[np.float64], labels: list[str], most: int
) -> list[int]:
    """Rows to be named, the most distinctive first, without those whose names would cover another."""
    peaks = scores.max(axis=0)
    order = leaders((scores / np.where(peaks > 0, peaks, 1.0)).max(axis=1), len(labels))
    span = np.ptp(points, axis=0)
    places = (points - points.min(axis=0)) / np.where(span > 0, span, 1.0)
    named: list[int] = []
    for i in order if most else ():
        apart = [
            abs(places[i, 1] - places[k, 1]) >= _LINE
            or places[i, 0] >= places[k, 0] + _LETTER * len(labels[k])
            or places[k, 0] >= places[i, 0] + _LETTER * len(labels[i])
            for k in named
        ]
        if all(apart):
            named.append(int(i))
        if len(named) == most:
            break
    return named
