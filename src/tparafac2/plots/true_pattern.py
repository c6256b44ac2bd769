"""One component's pattern beside the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.metrics import MatchScore, match_components
from tparafac2.plots.hatching import HATCHED
from tparafac2.plots.heat_maps import (
    add_colour_bar,
    colour_range,
    columns_to_show,
    draw_map,
    label_columns,
)
from tparafac2.plots.showing import canvas
from tparafac2.plots.subject import Course, as_result, count, course_of, place_of
from tparafac2.plots.time_axis import draw_time, time_axis
from tparafac2.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP = 1.8
_MOST_COLUMNS = 15
_ROW_HEIGHT = 0.31


def truth(
    model: object, true: Any, component: int = 1, *, n_columns: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the pattern of one component below the true one that it matches best.

    Components are matched one to one. Both patterns have length 1 at every time and one colour scale; the
    estimate has the sign of the truth. The columns are the largest of the truth. Hatched is what the data do
    not determine.

    Parameters
    ----------
    model : fitted model or Result
    true : SyntheticData, tuple (A, B, C), or object with these attributes, such as a Result
        The components that made the data. In a tuple C may be None.
    component : int
        Of the model, counted from 1.
    n_columns : int, optional
        How many columns to show; by default those that matter, but no more than 15.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``, with a colour bar.

    Returns
    -------
    matplotlib Axes
        The heat maps are the first two meshes of its ``collections``: the truth, and the estimate.

    Raises
    ------
    ValueError
        If there are fewer true components and none is left for this one, or they are of another size.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24, n_concepts=2)
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> ax = tp.plots.truth(model, data, 1)
    >>> ax.get_title("left"), ax.texts[0].get_text()
    ('True component 2', 'Component 1 (cosine 0.99)')
    """
    result = as_result(model)
    r = place_of(component, result)
    wanted = None if n_columns is None else count("n_columns", n_columns)
    match = match_components(result, true, modes=_modes(result, true))
    t = _partner(match, r)
    axis = time_axis(result)
    upper = course_of(_as_known(true), t, axis)
    lower = _turned(course_of(result, r, axis), upper)
    shown = columns_to_show(result, upper, wanted, _MOST_COLUMNS)
    tops = 0.0, len(shown) + _GAP
    reach, extend = colour_range(np.concatenate([upper.weights[:, shown], lower.weights[:, shown]]))
    with canvas(ax, 13, 2.0 + _ROW_HEIGHT * 2 * (min(len(shown), 40) + _GAP)) as target:
        hatched = [
            draw_map(target, axis, course, shown, reach, top) for course, top in zip((upper, lower), tops)
        ]
        target.set_title(f"True component {t + 1}", loc="left", fontweight="bold")
        _name_lower(target, tops[1], f"Component {r + 1} (cosine {match.per_mode['B'][t]:.2f})")
        draw_time(target, axis, rug=True)
        label_columns(target, result, shown, tops)
        if any(hatched):
            target.set_xlabel(f"{axis.name}\n{HATCHED}")
        if ax is None:
            add_colour_bar(target, extend)
    return target


def _modes(result: Result, true: Any) -> str:
    """Strengths say nothing where they are not known, or fixed to one."""
    unknown = isinstance(true, tuple | list) and true[-1] is None
    return "AB" if unknown or bool((result.C == 1).all()) else "ABC"


def _partner(match: MatchScore, r: int) -> int:
    partners = np.flatnonzero(match.permutation == r)
    if not len(partners):
        raise ValueError(
            f"no true component is left for component {r + 1}: the others match all "
            f"{len(match.permutation)} of them better. Choose another component."
        )
    return int(partners[0])


def _as_known(true: Any) -> Result:
    A, B, C = true if isinstance(true, tuple | list) else (getattr(true, letter) for letter in "ABC")
    strengths = np.ones((len(B), np.shape(A)[1])) if C is None else C
    facts: dict[str, Any] = {"explained_variance": 1.0, "status": "", "converged": True, "n_iter": 0}
    return Result(model="truth", A=A, B=B, C=strengths, objective=0.0, **facts)


def _turned(course: Course, other: Course) -> Course:
    """Give a course the sign in which it is most like the other one."""
    alike = float(np.nansum(course.known * other.known))
    return course._replace(weights=-course.weights) if alike < 0 else course


def _name_lower(ax: Axes, top: float, text: str) -> None:
    """Write the name of the lower heat map above it, on white."""
    ax.axhspan(top - _GAP, top, color="white", lw=0)
    ax.text(0, top - 0.35, text, transform=ax.get_yaxis_transform(), fontweight="bold", va="bottom")
