"""How the chosen start went: the objective, and how far its constraints were from being met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tparafac2.plots.showing import canvas
from tparafac2.plots.style import line_look, open_frame, say
from tparafac2.plots.subject import as_result
from tparafac2.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAPS = {"gap_a": "loadings", "gap_b": "patterns", "gap_c": "strengths"}
_ROUNDING = 1e-15


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
        target.set_title(_ending(result), loc="left")
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


def _ending(result: Result) -> str:
    ended = "Converged" if result.converged else "Not converged"
    return f"{ended} after {result.n_iter:,} iteration{'' if result.n_iter == 1 else 's'}"
