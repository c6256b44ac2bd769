"""Started at our solution, with terms that are compiled here, an independent solver does not go below it."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.penalties import L1, NonNegative, Parafac2, SuddenChanges, TemporalSmoothness, proximal

pytestmark = pytest.mark.slow

decomposition = pytest.importorskip("matcouply.decomposition")
matrices = pytest.importorskip("matcouply.coupled_matrices")
peer = pytest.importorskip("matcouply.penalties")

RANK = 2
SIZES = {"n_times": 6, "n_rows": 20, "n_columns": 15}
LAMBDA_A, LAMBDA_B, LAMBDA_D = 0.3, 5.0, 0.3
SMOOTH, SPARSE = TemporalSmoothness(20.0, 0.0), L1(4.0)


class Theirs(peer.MatrixPenalty):
    """Their loop with our prox, which is tested elsewhere, on one matrix; they halve the fit."""

    def __init__(self, term):
        super().__init__()
        self.term = term

    def factor_matrix_update(self, factor_matrix, feasibility_penalty, aux):
        rho = np.full(len(factor_matrix), 2.0 * feasibility_penalty)
        return self.term.prox(factor_matrix, rho)[0]

    def penalty(self, x):
        return self.term.value(np.asarray(x)) / 2


class TheirsInTime(peer.MatricesPenalty):
    """The same for all slices together."""

    def __init__(self, term):
        super().__init__()
        self.term = term

    def factor_matrices_update(self, factor_matrices, feasibility_penalties, auxes):
        x, _ = self.term.prox(np.stack(factor_matrices), 2.0 * np.array(feasibility_penalties, dtype=float))
        return list(x)

    def penalty(self, x):
        return self.term.value(np.stack(x)) / 2


CASES = {
    "sudden": ({"changes": "sudden"}, {}),
    "sparse rows": ({"penalties_a": [SPARSE]}, {2: [peer.L1Penalty(SPARSE.strength / 2)]}),
    "sparse patterns": ({"penalties_b": [SPARSE]}, {1: [peer.L1Penalty(SPARSE.strength / 2)]}),
    "sparse strengths": ({"penalties_c": [SPARSE]}, {0: [peer.L1Penalty(SPARSE.strength / 2)]}),
    "smooth strengths": ({"penalties_c": [SMOOTH]}, {0: [Theirs(SMOOTH)]}),
}


def of_the_peer(X, ours, more):
    """Their A is our C, their C our A, and their slices are transposed."""
    smooth = next(
        term for term in ours.result_.terms.B if isinstance(term, SuddenChanges | TemporalSmoothness)
    )
    regs = [[], [TheirsInTime(smooth)], []]
    for mode, terms in more.items():
        regs[mode] = regs[mode] + terms
    start = (None, (ours.C_.copy(), [piece.copy() for piece in ours.B_], ours.A_.copy()))
    _, (C, B, A) = decomposition.parafac2_aoadmm(
        [slice_.T for slice_ in X],
        RANK,
        init=matrices.CoupledMatrixFactorization(start),
        n_iter_max=300,
        l2_penalty=[LAMBDA_D, 0, LAMBDA_A],
        regs=regs,
        non_negative=[True, False, False],
        constant_feasibility_penalty="A",  # or rows of strengths could not be looked at together
        inner_n_iter_max=5,
        tol=None,
        absolute_tol=None,
        random_state=0,
    )
    return A, np.stack(B), np.maximum(C, 0.0)


def onto_the_set(B):
    delta = None
    for _ in range(500):
        B, delta = Parafac2().prox(B, np.ones(len(B)), delta)
    assert proximal.cross_product_spread(B) < 1e-10
    return B


@pytest.mark.parametrize("name", CASES)
def test_matcouply_does_not_go_below(name):
    X = tp.synthetic.easy(2, noise=0.4, n_concepts=2, **SIZES).X
    words, more = CASES[name]
    lambdas = {"lambda_a": LAMBDA_A, "lambda_b": LAMBDA_B, "lambda_d": LAMBDA_D}
    settings = {"n_starts": 3, "tol": 1e-11, "max_iter": 20000, "random_state": 0}
    ours = tp.TParafac2(RANK, **lambdas, **words, **settings).fit(X)
    assert ours.converged_
    terms = ours.result_.terms
    assert any(isinstance(term, NonNegative) for term in terms.C)

    def objective(A, B, C):
        return np.sum((X - np.einsum("ir,kjr,kr->kij", A, B, C)) ** 2) + terms.penalty(A, B, C)

    found = objective(ours.A_, ours.B_, ours.C_)
    assert found == pytest.approx(ours.objective_, rel=1e-8)
    plain = tp.TParafac2(RANK, **lambdas, **settings).fit(X)
    assert abs(found - plain.objective_) > 1e-4 * found, "the term must matter"
    A, B, C = of_the_peer(X, ours, more)
    there = objective(A, onto_the_set(B), C)
    assert found <= there * (1 + 1e-6)
    assert there < found * 1.2, "they must have stayed near"
