"""What the model makes of a column, on average over the rows of each group, in the course of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.attribute_colours import attribute_values, largest_groups
from tparafac2.plots.course_lines import column_places
from tparafac2.plots.figures import canvas
from tparafac2.plots.style import line_look, open_frame
from tparafac2.plots.subject import as_result, require_common_columns
from tparafac2.plots.time_axis import draw_time, hatch_spans, time_axis, time_stretches
from tparafac2.plots.words import labels_of, literal, picture_text
from tparafac2.result import heading, place_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_QUARTERS = 4
_ERRORS = 2.0


class _Group(NamedTuple):
    """Mean loadings (R,) of a group's rows, and the covariance (R, R) of that mean; NaN for a single row."""

    name: str
    size: int
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def group_courses(
    model: object,
    attribute: str,
    column: Any = None,
    component: int | str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean fitted course of a column for each group of rows.

    That is the mean loading of the group times strength times weight, added up over the components: what the
    model says of the average row of the group, in the units that were fitted. Shaded are two standard errors
    of that mean, by how much the rows of a group differ; how sure the fit is, is not in it.

    Parameters
    ----------
    model : fitted model or Result
    attribute : str
        What else is known of the rows. Texts make groups, of which the largest are drawn, in the colours that
        they have in other pictures; numbers are cut into quarters.
    column : label, optional
        By default that in which the groups differ most, by the variance between them.
    component : int or str, optional
        The part that a single component has in it: counted from 1, or its name. By default all together.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        Its first lines are the groups, in the order of their names.

    Examples
    --------
    >>> import numpy as np
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> model = model.with_row_attributes({"half": np.repeat(["first", "second"], 10)})
    >>> ax = tp.plots.group_courses(model, "half", column=3)
    >>> [line.get_label() for line in ax.lines[:2]]
    ['first (10)', 'second (10)']
    """
    result = as_result(model)
    require_common_columns(result, "group_courses")
    r = None if component is None else place_of(component, result)
    used = slice(None) if r is None else slice(r, r + 1)
    factors = result.normalised()
    groups = _groups(attribute_values(result, attribute), factors.A)
    if not groups:
        raise ValueError(f"nothing is known of any row by {picture_text(attribute)}: give another attribute.")
    # What a loading of 1 gives each column at each time, by component.
    parts = (np.stack(list(factors.B)) * factors.C[:, np.newaxis])[..., used]
    j = _most_different(parts, groups, used) if column is None else column_places(result, [column])[0]
    axis = time_axis(result)
    own = parts[axis.order, j]
    with canvas(ax, 12, 6) as target:
        for place, one in enumerate(groups):
            mean = own @ one.mean[used]
            error = _ERRORS * np.sqrt(np.einsum("kr,rs,ks->k", own, one.covariance[used, used], own))
            look = line_look(place) | {"marker": ""}
            target.plot(axis.positions, mean, label=literal(f"{one.name} ({one.size})"), lw=1.2, **look)
            target.fill_between(
                axis.positions, mean - error, mean + error, color=look["color"], alpha=0.15, lw=0
            )
        if result.coverage is not None:
            hatch_spans(target, time_stretches(axis), np.asarray(result.coverage[axis.order, j] == 0))
        target.axhline(0, color="0.6", lw=0.5, zorder=0)
        draw_time(target, axis)
        part = "" if r is None else f", {literal(heading(result.component_names, r))}"
        target.set_ylabel(f"{labels_of(result, 'columns', result.shape[2])[j]}, mean of the fit{part}")
        open_frame(target)
        target.legend(title=picture_text(attribute), loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return target


def _groups(values: NDArray[Any], A: NDArray[np.float64]) -> list[_Group]:
    """Groups of rows with something in common, in the order of their names, or the quarters of a number."""
    names, of = _quarters(values) if values.dtype.kind == "f" else _kinds(values)
    found = []
    for slot, name in enumerate(names):
        own = A[of == slot]
        spread = np.cov(own, rowvar=False, ddof=1) if len(own) > 1 else np.full(A.shape[1] ** 2, np.nan)
        found.append(
            _Group(name, len(own), own.mean(axis=0), spread.reshape(A.shape[1], A.shape[1]) / len(own))
        )
    return found


def _kinds(values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    shown = largest_groups(values)
    places = {group: place for place, group in enumerate(shown)}
    return [picture_text(group) for group in shown], np.array([places.get(one, -1) for one in values])


def _quarters(values: NDArray[np.float64]) -> tuple[list[str], NDArray[np.intp]]:
    known = np.isfinite(values)
    shares = np.arange(1, _QUARTERS + 1) / _QUARTERS
    ends = (
        np.unique(np.quantile(values[known], shares, method="inverted_cdf")) if known.any() else np.empty(0)
    )
    starts = (
        [f"from {values[known].min():g}", *(f"above {end:g}" for end in ends[:-1])] if known.any() else []
    )
    of = np.where(known, np.searchsorted(ends, values), -1)
    return [f"{start} to {end:g}" for start, end in zip(starts, ends)], of


def _most_different(parts: NDArray[np.float64], groups: list[_Group], used: slice) -> int:
    """The column with the largest variance between groups, over all times."""
    counts = np.array([one.size for one in groups], dtype=np.float64)
    means = np.stack([one.mean[used] for one in groups])
    shares = counts / counts.sum()
    apart = (means - shares @ means) * np.sqrt(shares)[:, np.newaxis]
    return int(np.argmax(np.nansum((parts @ apart.T) ** 2, axis=(0, 2))))
