"""From patterns that were found on some rows to loadings of all rows, and what they leave of the data."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.solver.problem import Problem
from tparafac2.solver.rows import RowBlock
from tparafac2.solver.run import Run, penalty
from tparafac2.solver.settings import Settings
from tparafac2.solver.views import View, view_of


def extend(problem: Problem, runs: Sequence[Run], settings: Settings) -> list[Run]:
    """The runs with the loadings that go best with their patterns and strengths, judged on the data.

    Parameters
    ----------
    problem : Problem
        Of the data themselves.
    runs : sequence of Run
        With the patterns and strengths of these data, and loadings of others.
    settings : Settings
    """
    everyone = np.arange(len(runs))
    view, loadings, W, F, H = _ask(problem, [(run.B, run.C) for run in runs], settings)
    loadings.update(everyone, H, F)
    sse = view.sse(loadings.values, W, F, H)
    loadings.carry(everyone, np.ones((len(runs), problem.rank)), np.zeros(len(runs)))
    extended = []
    for i, run in enumerate(runs):
        A = loadings.feasible(i)
        objective = float(sse[i]) + penalty(problem, A, run.B, run.C)
        extended.append(run._replace(A=A, sse=float(sse[i]), objective=objective))
    return extended


_SETTLED = 1e-11  # change of all loadings in a round, relative to their size
_ROUNDS = 500
_INNER = 10


def best_rows(problem: Problem, B: FloatArray, C: FloatArray, settings: Settings) -> NDArray[np.float64]:
    """The minimiser of the objective in the loadings (I, R), with patterns and strengths as they are.

    Where there are terms beside ridge and non-negativity, rounds are repeated until nothing changes any more.

    Parameters
    ----------
    problem : Problem
        Of data that do not follow the model.
    B, C : ndarrays (K, J, R), (K, R)
        In the solver's units.
    settings : Settings
    """
    settings = replace(settings, inner=_INNER, inner_tol=0.0)
    _, loadings, _, F, H = _ask(problem, [(B, C)], settings)
    everyone, as_they_are, at_rest = np.arange(1), np.ones((1, problem.rank)), np.zeros(1)
    for _ in range(_ROUNDS):
        before = loadings.values.copy()
        loadings.update(everyone, H, F)
        loadings.carry(everyone, as_they_are, at_rest)
        change = np.linalg.norm(loadings.values - before)
        settled = _SETTLED * np.linalg.norm(loadings.values)
        if loadings.row_wise or (change <= settled and loadings.gaps(everyone)[0] <= _SETTLED):
            break
    return loadings.feasible(0).astype(np.float64, copy=False)


def _ask(
    problem: Problem, given: Sequence[tuple[FloatArray, FloatArray]], settings: Settings
) -> tuple[View, RowBlock, FloatArray, FloatArray, FloatArray]:
    """What is asked of the loadings by given patterns and strengths: right-hand sides and systems."""
    B = np.stack([patterns.transpose(2, 0, 1) for patterns, _ in given]).astype(problem.data.dtype)
    C = np.stack([strengths.T for _, strengths in given])
    nowhere = np.zeros((len(given), problem.rank, problem.data.shape[1]))
    loadings = RowBlock(nowhere, problem.a, settings, problem.precision.lift)
    view = view_of(problem.data, problem.coupled)
    W = B * C[..., None].astype(B.dtype)
    gram = np.einsum("nrkj,nskj->nkrs", B, B, optimize=True).astype(np.float64, copy=False)
    F, H = view.rows(C, W, gram)
    return view, loadings, W, F, H
