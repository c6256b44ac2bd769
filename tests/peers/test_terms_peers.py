"""Started at our solution, with the same terms, an independent implementation does not go below it."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.penalties import (
    L1,
    Box,
    GeneralisedRidge,
    NormBall,
    Simplex,
    TotalVariation,
    Unimodal,
    is_set,
    laplacian,
)

pytestmark = pytest.mark.slow

decomposition = pytest.importorskip("matcouply.decomposition")
matrices = pytest.importorskip("matcouply.coupled_matrices")
peer = pytest.importorskip("matcouply.penalties")

RANK = 2
SIZES = {"n_times": 5, "n_rows": 20, "n_columns": 18}
LAMBDA_A, LAMBDA_B = 0.1, 5.0
CHAIN = laplacian([(j, j + 1) for j in range(17)], 18)


class LeastVariation(peer.MatrixPenalty):
    """Theirs asks for a package of another licence: their loop, with our prox, which is tested elsewhere."""

    def __init__(self, strength):
        super().__init__()
        self.term = TotalVariation(strength)

    def factor_matrix_update(self, factor_matrix, feasibility_penalty, aux):
        return self.term.prox(factor_matrix[None], np.array([feasibility_penalty]))[0][0]

    def penalty(self, x):
        return self.term.value(np.stack(x))


# They halve the fit, so that their weights are half of ours.
CASES = {
    "L1": (L1(2.0), lambda: peer.L1Penalty(1.0)),
    "box": (Box(0.0, 0.6), lambda: peer.Box(0.0, 0.6)),
    "simplex": (Simplex(1.0), peer.UnitSimplex),
    "ball": (NormBall(1.0), lambda: peer.L2Ball(1.0)),
    "one peak": (Unimodal(), peer.Unimodality),
    "total variation": (TotalVariation(2.0), lambda: LeastVariation(1.0)),
    "generalised ridge": (
        GeneralisedRidge(CHAIN, 2.0),
        lambda: peer.GeneralizedL2Penalty(CHAIN.toarray()),
    ),
}


def of_the_peer(X, ours, term):
    """Their A is our C, which is fixed to one; their C our A; their slices are transposed."""
    start = (None, (np.ones((len(X), RANK)), [piece.copy() for piece in ours.B_], ours.A_.copy()))
    _, (_, B, A) = decomposition.cmf_aoadmm(
        [slice_.T for slice_ in X],
        RANK,
        init=matrices.CoupledMatrixFactorization(start),
        n_iter_max=400,
        l2_penalty=[0, 0, LAMBDA_A],
        regs=[[], [peer.TemporalSmoothnessPenalty(LAMBDA_B / 2), term], []],
        update_A=False,
        inner_n_iter_max=5,
        tol=None,
        absolute_tol=None,
        random_state=0,
    )
    return A, np.stack(B)


@pytest.mark.parametrize("name", CASES)
def test_matcouply_does_not_go_below(name):
    X = np.abs(tp.synthetic.easy(1, noise=0.3, n_concepts=2, **SIZES).X)
    term, theirs = CASES[name]
    lambdas = {"lambda_a": LAMBDA_A, "lambda_b": LAMBDA_B}
    ours = tp.TemporalCMF(
        RANK, **lambdas, penalties_b=[term], n_starts=2, tol=1e-10, max_iter=10000, random_state=0
    ).fit(X)
    assert ours.converged_
    terms, ones = ours.result_.terms, np.ones((len(X), RANK))

    def objective(A, B):
        return np.sum((X - np.einsum("ir,kjr->kij", A, B)) ** 2) + terms.penalty(A, B, ones)

    found = objective(ours.A_, ours.B_)
    assert found == pytest.approx(ours.objective_, rel=1e-9)
    free = tp.TemporalCMF(RANK, **lambdas, n_starts=2, random_state=0).fit(X)
    assert found > free.objective_ * (1 + 1e-4), "the term must matter"
    A, B = of_the_peer(X, ours, theirs())
    if is_set(term):
        assert term.violation(ours.B_) < 1e-14
        B = term.prox(B, np.ones(len(B)))[0]
    there = objective(A, B)
    assert found <= there * (1 + 1e-7)
    assert there < found * 1.2, "they must have stayed near"
