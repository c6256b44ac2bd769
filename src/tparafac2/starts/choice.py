"""The choice among runs, and how far they agree."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import agreement, degeneracy_score
from tparafac2.result import faults
from tparafac2.solver import Run, Settings

_DEGENERATE = -0.85


class Choice(NamedTuple):
    """The chosen run, and a table with one row for each run."""

    chosen: int
    table: dict[str, NDArray[Any]]


def choose(runs: Sequence[Run], settings: Settings, *, fixed_strengths: bool) -> Choice:
    """Take the lowest objective among the sound runs, or among all if none is sound.

    Runs that ended on a sketch of the data stand back where others were polished.
    """
    table = account(runs, settings, fixed_strengths=fixed_strengths)
    order = _in_order(table)
    chosen = next((i for i in order if not runs[i].sketched), order[0])
    table["chosen"] = np.arange(len(runs)) == chosen
    table["fms_to_chosen"] = _likeness_to(runs, runs[chosen], fixed_strengths)
    return Choice(chosen, table)


def ranked(runs: Sequence[Run], settings: Settings, *, fixed_strengths: bool) -> list[int]:
    """All runs from the best to the worst: the sound ones first, lower objectives before higher ones."""
    return _in_order(account(runs, settings, fixed_strengths=fixed_strengths))


def _in_order(table: dict[str, NDArray[Any]]) -> list[int]:
    unsound = np.any(list(faults(table).values()), axis=0)
    return [int(i) for i in np.lexsort((table["objective"], unsound))]


def account(runs: Sequence[Run], settings: Settings, *, fixed_strengths: bool) -> dict[str, NDArray[Any]]:
    """What is told of every run, whichever is chosen."""
    objective = np.array([run.objective for run in runs])
    degeneracy = np.array([_degeneracy(run, fixed_strengths) for run in runs])
    table = {
        "start": np.arange(len(runs)),
        "objective": objective,
        "sse": np.array([run.sse for run in runs]),
        "n_iter": np.array([run.n_iter for run in runs]),
        "seconds": np.array([run.trace.rows[-1, 1] if run.n_iter else 0.0 for run in runs]),
        "status": np.array([run.status.value for run in runs]),
        "converged": np.array([run.status.converged for run in runs]),
        "feasible": np.array([max(run.gaps) < settings.feasibility_tol for run in runs]),
        "degenerate": degeneracy < _DEGENERATE,
        "vanished": np.array([len(run.vanished) for run in runs]),
    }
    if any(run.sketched or run.rough is not None for run in runs):
        table["rough_objective"] = np.array([(run.rough or run).objective for run in runs])
        table["polished"] = np.array([not run.sketched for run in runs])
    return table


def _degeneracy(run: Run, fixed_strengths: bool) -> float:
    if not np.isfinite(run.objective) or not np.isfinite(run.B).all():
        return 1.0
    return degeneracy_score(run.A, run.B, None if fixed_strengths else run.C)


def _likeness_to(runs: Sequence[Run], chosen: Run, fixed_strengths: bool) -> NDArray[np.float64]:
    """How much each run looks like the chosen one.

    A run that ended on a sketch is like those that were polished from where it ended, too.
    """
    alike = partial(likeness_of, fixed_strengths=fixed_strengths)
    polished = [(run.rough, alike(run, chosen)) for run in runs if run.rough is not None]
    return np.array(
        [
            max((min(alike(run, rough), like) for rough, like in polished), default=alike(run, chosen))
            if run.sketched
            else alike(run, chosen)
            for run in runs
        ]
    )


def likeness_of(run: Run, other: Run, *, fixed_strengths: bool) -> float:
    """How much the ends of two runs look alike, as a factor match score; NaN where one broke down."""
    if not (np.isfinite(run.objective) and np.isfinite(other.objective)):
        return math.nan
    modes = "AB" if fixed_strengths else "ABC"
    return float(agreement([(run.A, run.B, run.C), (other.A, other.B, other.C)], modes)[0, 1])
