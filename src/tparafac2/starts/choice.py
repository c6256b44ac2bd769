"""The choice among runs, and how far they agree."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import agreement_with, degeneracy_score
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
    alike = partial(likeness, fixed_strengths=fixed_strengths)
    ended = [run for run in runs if not run.sketched]
    found = dict(zip(map(id, ended), alike(chosen, ended)))
    rough = [run for run in runs if run.sketched]
    begun = [run for run in ended if run.rough is not None]
    # What a rough end has in common with one that was polished, and that one with the chosen one.
    common = [np.minimum(alike(one.rough, rough), found[id(one)]) for one in begun if one.rough is not None]
    found |= dict(zip(map(id, rough), np.max(common, axis=0) if common else alike(chosen, rough)))
    return np.array([found[id(run)] for run in runs])


def likeness(run: Run, others: Sequence[Run], *, fixed_strengths: bool) -> NDArray[np.float64]:
    """How much the ends of other runs look like that of one, as match scores; NaN where one broke down."""
    sound = np.array([np.isfinite(other.objective) for other in others], dtype=bool)
    found = np.full(len(others), np.nan)
    if np.isfinite(run.objective) and sound.any():
        factors = [(other.A, other.B, other.C) for other, whole in zip(others, sound) if whole]
        found[sound] = agreement_with((run.A, run.B, run.C), factors, "AB" if fixed_strengths else "ABC")
    return found
