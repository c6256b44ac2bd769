"""The choice among runs, and how far they agree."""

from collections.abc import Sequence
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
    """Take the lowest objective among the sound runs, or among all if none is sound."""
    objective = np.array([run.objective for run in runs])
    degeneracy = np.array([_degeneracy(run, fixed_strengths) for run in runs])
    table: dict[str, NDArray[Any]] = {
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
    sound = ~np.any(list(faults(table).values()), axis=0)
    candidates = np.flatnonzero(sound) if sound.any() else np.arange(len(runs))
    chosen = int(candidates[np.argmin(objective[candidates])])
    table["chosen"] = np.arange(len(runs)) == chosen
    table["fms_to_chosen"] = _agreement(runs, chosen, "AB" if fixed_strengths else "ABC")
    return Choice(chosen, table)


def _degeneracy(run: Run, fixed_strengths: bool) -> float:
    if not np.isfinite(run.objective) or not np.isfinite(run.B).all():
        return 1.0
    return degeneracy_score(run.A, run.B, None if fixed_strengths else run.C)


def _agreement(runs: Sequence[Run], chosen: int, modes: str) -> NDArray[np.float64]:
    """How much each run looks like the chosen one; NaN for runs that broke down."""
    best = runs[chosen]
    if not np.isfinite(best.objective):
        return np.full(len(runs), np.nan)
    return np.array(
        [
            agreement([(run.A, run.B, run.C), (best.A, best.B, best.C)], modes)[0, 1]
            if np.isfinite(run.objective)
            else np.nan
            for run in runs
        ]
    )
