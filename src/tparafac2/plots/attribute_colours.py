"""Colours for what else is known of the rows: one for each group, or a scale for numbers, with a key."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import listed, shown
from tparafac2.errors import InvalidValue
from tparafac2.plots.style import NOTHING, line_look
from tparafac2.plots.words import literal, picture_text
from tparafac2.result import Result
from tparafac2.words import Argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALE = "viridis"
_MOST_GROUPS = 7
_OTHERS, _MISSING = "others", "not known"
_GREY, _DARK = NOTHING, "#8C8C8C"


class Colours(NamedTuple):
    """How the rows are coloured.

    Attributes
    ----------
    rows : list of colours (I,)
    markers : list of str (I,)
        Groups have a marker of their own, too.
    key : dict of str to (colour, marker)
        What each means; empty for numbers.
    span : tuple (least, most), optional
        Of numbers.
    name : str
    """

    rows: list[Any]
    markers: list[str]
    key: dict[str, tuple[Any, str]]
    span: tuple[float, float] | None
    name: str


def attribute_values(result: Result, attribute: Any) -> NDArray[Any]:
    """What is known of the rows by this name, or an error that says what is."""
    known = result.labels.attributes
    if attribute not in known:
        has = f"the rows have {listed(map(shown, known))}" if known else "nothing else is known of the rows"
        raise InvalidValue(
            Argument("attribute"), f" must be one of the rows' attributes: {has}; got {attribute!r:.60}."
        )
    return known[attribute]


def largest_groups(values: NDArray[Any]) -> list[str]:
    """Groups that have a look of their own, in every picture the same: the largest, in the order of names."""
    counts = Counter(one for one in values if one is not None)
    most = [group for group, _ in counts.most_common()]
    return sorted(most if len(most) <= _MOST_GROUPS else most[: _MOST_GROUPS - 1])


def attribute_colours(result: Result, attribute: Any) -> Colours:
    """Colour the rows by one of their attributes; beyond seven groups the smaller ones are others."""
    values, name = attribute_values(result, attribute), picture_text(attribute)
    if values.dtype.kind == "f":
        return _by_number(values, name)
    looks = {group: line_look(place) for place, group in enumerate(largest_groups(values))}
    key = {group: (look["color"], look["marker"]) for group, look in looks.items()}
    own = [_MISSING if one is None else one if one in key else _OTHERS for one in values]
    rest = {_OTHERS: (_DARK, "."), _MISSING: (_GREY, ".")}
    every = key | {group: look for group, look in rest.items() if group in own and group not in key}
    return Colours(
        rows=[every[group][0] for group in own],
        markers=[every[group][1] for group in own],
        key={literal(picture_text(group)): look for group, look in every.items()},
        span=None,
        name=name,
    )


def _by_number(values: NDArray[np.float64], name: str) -> Colours:
    import matplotlib

    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    shares = (values - least) / ((most - least) or 1.0)
    scale = matplotlib.colormaps[_SCALE]
    rows = [scale(share) if np.isfinite(share) else _GREY for share in shares]
    return Colours(rows, ["o"] * len(values), {}, (least, most), name)


def draw_key(ax: Axes, colours: Colours) -> None:
    """Say beside a picture what its colours mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    if colours.span is not None:
        scale = ScalarMappable(Normalize(*colours.span), _SCALE)
        ax.figure.colorbar(scale, ax=ax, label=colours.name, pad=0.02, aspect=30)
        return
    marks = [
        Line2D([], [], ls="none", ms=4, marker=marker, color=colour)
        for colour, marker in colours.key.values()
    ]
    ax.legend(
        marks, list(colours.key), title=colours.name, loc="upper left", bbox_to_anchor=(1, 1), frameon=False
    )
