"""From patterns that were found on some rows to loadings of all rows, and what they leave of the data."""

from collections.abc import Sequence

import numpy as np

from tparafac2.data import BatchedFactors
from tparafac2.solver.problem import Problem
from tparafac2.solver.rows import RowBlock
from tparafac2.solver.run import Run, penalty
from tparafac2.solver.settings import Settings
from tparafac2.solver.views import view_of


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
    B = np.stack([run.B.transpose(2, 0, 1) for run in runs]).astype(problem.data.dtype)
    C = np.stack([run.C.T for run in runs])
    everyone = np.arange(len(runs))
    nowhere = np.zeros((len(runs), problem.rank, problem.data.shape[1]))
    loadings = RowBlock(nowhere, problem.a, settings, problem.precision.lift)
    view = view_of(problem.data, problem.coupled)
    W = B * C[..., None].astype(B.dtype)
    gram = np.einsum("nrkj,nskj->nkrs", B, B, optimize=True).astype(np.float64, copy=False)
    F, H = view.rows(BatchedFactors(nowhere, B, C), W, gram)
    loadings.update(everyone, H, F)
    sse = view.sse(loadings.values, W, F, H)
    loadings.carry(everyone, np.ones((len(runs), problem.rank)), np.zeros(len(runs)))
    extended = []
    for i, run in enumerate(runs):
        A = loadings.feasible(i)
        objective = float(sse[i]) + penalty(problem, A, run.B, run.C)
        extended.append(run._replace(A=A, sse=float(sse[i]), objective=objective))
    return extended
