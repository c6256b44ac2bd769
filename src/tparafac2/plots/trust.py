"""Whether a fit can be trusted: how its iterations went, and whether its starts agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.figures import canvas
from tparafac2.plots.style import line_look, open_frame, say
from tparafac2.plots.subject import as_result
from tparafac2.result import SAME_OBJECTIVE, Result, count_alike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAPS = {"gap_a": "loadings", "gap_b": "patterns", "gap_c": "strengths"}
_ROUNDING = 1e-15
_NEEDED = ("objective", "fms_to_chosen")
_BAND = "#DDEBF4"


def convergence(model: object, *, ax: Axes | None = None) -> Axes:
    """Draw objective and feasibility gaps of the chosen start by iteration, on one logarithmic scale.

    The objective is shown by how far, as a share, it is above the lowest value it reached. A gap is how far
    a factor is from its constraints, relative to its size; it has to end below the dotted line.

    Parameters
    ----------
    model : fitted model or Result
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        The first of its lines is the objective.

    Raises
    ------
    ValueError
        If there is no record of the iterations.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> [line.get_label() for line in tp.plots.convergence(model).lines]
    ['objective above its lowest', 'gap of the patterns', 'largest gap allowed']
    """
    result = as_result(model)
    objective = _excess(result)
    iterations = result.trace.get("iteration", np.arange(1, len(objective) + 1))
    gaps = {word: _positive(result.trace[name]) for name, word in _GAPS.items() if name in result.trace}
    with canvas(ax, 12, 6.5) as target:
        target.plot(iterations, objective, label="objective above its lowest", lw=1.2, color="black")
        for place, (word, gap) in enumerate(gaps.items()):
            if np.isfinite(gap).any():
                target.plot(
                    iterations, gap, label=f"gap of the {word}", lw=1.0, color=line_look(place)["color"]
                )
        if any(np.isfinite(line.get_ydata()).any() for line in target.lines):
            target.set_yscale("log")
            _draw_tolerance(target, result)
            target.legend(loc="upper right", frameon=False)
        else:
            say(target, "The objective did not change.")
        target.set_xlabel("Iteration")
        target.set_ylabel("Share")
        ended = "Converged" if result.converged else "Not converged"
        plural = "" if result.n_iter == 1 else "s"
        target.set_title(f"{ended} after {result.n_iter:,} iteration{plural}", loc="left")
        open_frame(target)
    return target


def _excess(result: Result) -> NDArray[np.float64]:
    """How far the objective is above its lowest value, relative to this one; NaN at the lowest."""
    objective = np.asarray(result.trace.get("objective", ()), dtype=np.float64)
    if not len(objective):
        raise ValueError(
            "this result has no record of its iterations (an empty trace): fit the model, or load one that "
            "was saved after a fit."
        )
    lowest = float(np.fmin.reduce(objective))
    with np.errstate(invalid="ignore"):  # a fit that broke down has infinities
        return _positive((objective - lowest) / (abs(lowest) or 1.0))


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a logarithmic scale can show; the rest, and what is rounding only, is left out."""
    return np.where(np.isfinite(values) & (values > _ROUNDING), values, np.nan)


def _draw_tolerance(ax: Axes, result: Result) -> None:
    allowed = result.parameters.get("feasibility_tol")
    if len(ax.lines) > 1 and isinstance(allowed, float) and allowed > 0:
        ax.axhline(allowed, color="0.5", lw=0.8, ls=":", label="largest gap allowed")


def agreement(model: object, *, ax: Axes | None = None) -> Axes:
    """Draw a point for each start: how much worse its objective is, and how alike its components are.

    Across is the objective relative to that of the chosen start (linear within the coloured band, in which
    objectives count as the same, and logarithmic outside), upwards the factor match score with the chosen
    start. A fit can be trusted if many starts are in the upper end of the band. Starts lower on the left (a
    better objective) were passed over because they are not sound.

    Parameters
    ----------
    model : fitted model or Result
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        With one collection of points for each kind of start, and at last a ring around the chosen one.

    Raises
    ------
    ValueError
        If there is no account of the starts.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=4, random_state=0).fit(data.X)
    >>> tp.plots.agreement(model).get_title("left")
    '3 of 3 other starts found these components'
    """
    result = as_result(model)
    points = _points(result)
    others = len(points.excess) - 1
    found = f"{count_alike(result.starts)} of {others} other starts found these components"
    with canvas(ax, 10, 7) as target:
        target.axvspan(-SAME_OBJECTIVE, SAME_OBJECTIVE, color=_BAND, lw=0, zorder=0)
        for label, members, look in _kinds(result, points):
            if members.any():
                target.scatter(points.excess[members], points.likeness[members], label=label, **look)
        _scale(target, points)
        target.set_xlabel("Objective above that of the chosen start (share)")
        target.set_ylabel("Likeness to the chosen start (factor match score)")
        target.set_title(found if others else "Only one start was made", loc="left")
        target.legend(loc="lower left", frameon=False)
        open_frame(target)
    return target


class _Points(NamedTuple):
    """Relative objective above the chosen one, and factor match score with it, of every start."""

    excess: NDArray[np.float64]
    likeness: NDArray[np.float64]
    chosen: NDArray[np.bool_]


def _points(result: Result) -> _Points:
    if any(name not in result.starts for name in _NEEDED):
        raise ValueError(
            "this result has no account of its starts (an empty table starts): fit the model, or load one "
            "that was saved after a fit."
        )
    objective, likeness = (np.asarray(result.starts[name], dtype=np.float64) for name in _NEEDED)
    n = len(objective)
    chosen = np.asarray(result.starts.get("chosen", np.arange(n) == np.argmin(objective)), dtype=bool)
    reference = float(objective[chosen][0])
    with np.errstate(invalid="ignore"):  # starts that broke down have no objective
        excess = (objective - reference) / (abs(reference) or 1.0)
    return _Points(np.where(np.isfinite(likeness), excess, np.nan), likeness, chosen)


def _kinds(result: Result, points: _Points) -> list[tuple[str, NDArray[np.bool_], dict[str, Any]]]:
    """The kinds of starts, how they are called and drawn; one that is not sound is never filled."""
    n = len(points.excess)
    yes, no = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    degenerate = np.asarray(result.starts.get("degenerate", no), dtype=bool)
    ended = np.asarray(result.starts.get("converged", yes), dtype=bool)
    ended = ended & np.asarray(result.starts.get("feasible", yes), dtype=bool)
    blue, red = "#0072B2", "#D55E00"
    return [
        ("sound", ended & ~degenerate, {"s": 22, "color": blue, "alpha": 0.5, "lw": 0}),
        ("not converged", ~ended & ~degenerate, {"s": 20, "facecolor": "none", "edgecolor": blue, "lw": 0.8}),
        ("degenerate", degenerate, {"s": 20, "marker": "x", "color": red, "lw": 1.0}),
        ("chosen", points.chosen, {"s": 80, "facecolor": "none", "edgecolor": "black", "lw": 1.0}),
    ]


def _scale(ax: Axes, points: _Points) -> None:
    ax.set_xscale("symlog", linthresh=SAME_OBJECTIVE, linscale=0.6)
    finite = points.excess[np.isfinite(points.excess)]
    least, most = finite.min(initial=0.0), finite.max(initial=0.0)
    ax.set_xlim(min(3 * least, -2 * SAME_OBJECTIVE), max(3 * most, 100 * SAME_OBJECTIVE))
    ax.set_ylim(0, 1.04)
