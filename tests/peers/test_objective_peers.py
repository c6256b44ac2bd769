"""Our objective is never above that of an independent implementation, both measured by one function."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.penalties import proximal

pytestmark = pytest.mark.slow

decomposition = pytest.importorskip("matcouply.decomposition")
matrices = pytest.importorskip("matcouply.coupled_matrices")
peer_penalties = pytest.importorskip("matcouply.penalties")

RANK = 3
SIZES = {"n_times": 4, "n_rows": 20, "n_columns": 18}
LAMBDA_A, LAMBDA_B, LAMBDA_D = 0.1, 10.0, 0.1
STARTS = 2
PEER_ITERATIONS = 500


def evaluate(X, A, B, C):
    """The paper's objective at the nearest feasible point with the best scales, for factors of any origin."""
    C = np.maximum(C, 0.0)
    B = onto_parafac2(np.asarray(B))
    changes = np.sum(np.diff(B, axis=0) ** 2, axis=(0, 1))
    costs = np.array([LAMBDA_A * np.sum(A**2, axis=0), LAMBDA_B * changes, LAMBDA_D * np.sum(C**2, axis=0)])
    # Scale moves freely between the modes: at its best all three cost the same, their geometric mean.
    penalty = 3.0 * np.sum(np.cbrt(np.prod(costs, axis=0)))
    return np.sum((X - np.einsum("ir,kjr,kr->kij", A, B, C)) ** 2) + penalty


def onto_parafac2(B):
    weights = np.ones(len(B))
    delta = proximal.mean_cross_product_root(B, weights)
    slices = B
    for _ in range(1000):
        projected, delta = proximal.parafac2_sweep(B, weights, delta)
        if np.linalg.norm(projected - slices) <= 1e-14 * np.linalg.norm(B):
            break
        slices = projected
    assert proximal.cross_product_spread(projected) < 1e-10
    return projected


def of_the_peer(X, seed, init="random", patterns=False):
    """Its slices are transposed, its A is our C, its C our A, and it halves the fit (but not the ridge)."""
    _, (C, B, A) = decomposition.parafac2_aoadmm(
        [slice_.T for slice_ in X],
        RANK,
        n_iter_max=PEER_ITERATIONS,
        l2_penalty=[LAMBDA_D, 0, LAMBDA_A],
        regs=[[], [peer_penalties.TemporalSmoothnessPenalty(LAMBDA_B / 2)], []],
        non_negative=[True, patterns, False],
        init=init,
        inner_n_iter_max=5,
        tol=None,
        absolute_tol=None,
        random_state=seed,
    )
    return A, np.stack(B), C


@pytest.mark.parametrize("seed", [1, 2])
def test_best_of_some_starts_is_never_above_matcouply(seed):
    X = tp.synthetic.easy(seed, noise=0.5, **SIZES).X
    lambdas = {"lambda_a": LAMBDA_A, "lambda_b": LAMBDA_B, "lambda_d": LAMBDA_D}
    ours = tp.TParafac2(RANK, **lambdas, n_starts=STARTS, tol=1e-10, random_state=0).fit(X)
    found = evaluate(X, ours.A_, ours.B_, ours.C_)
    assert found == pytest.approx(ours.objective_, rel=1e-4)  # epsilon and the stop rule lie between the two
    assert ours.objective_ - np.sum((X - ours.reconstruct()) ** 2) > 0.01 * found, "smoothing must matter"
    theirs = min(evaluate(X, *of_the_peer(X, start)) for start in range(STARTS))
    assert found <= theirs * (1 + 1e-9)


def test_matcouply_does_not_go_below_patterns_that_are_not_negative():
    """Started at our solution: both constraints hold, and no feasible point near it is better."""
    X = np.abs(tp.synthetic.easy(1, noise=0.5, **SIZES).X)
    lambdas = {"lambda_a": LAMBDA_A, "lambda_b": LAMBDA_B, "lambda_d": LAMBDA_D}
    settings = {"n_starts": STARTS, "tol": 1e-11, "random_state": 0}
    ours = tp.TParafac2(RANK, **lambdas, nonnegative="patterns", **settings).fit(X)
    assert (ours.B_ >= 0).all()
    assert proximal.cross_product_spread(ours.B_) < 1e-10
    init = (None, (ours.C_.copy(), [piece.copy() for piece in ours.B_], ours.A_.copy()))
    A, B, C = of_the_peer(X, 0, init=matrices.CoupledMatrixFactorization(init), patterns=True)
    for _ in range(200):
        B = np.maximum(onto_parafac2(B), 0.0)
    found, theirs = (evaluate(X, *factors) for factors in ((ours.A_, ours.B_, ours.C_), (A, B, C)))
    assert found <= theirs * (1 + 1e-9)


def test_data_without_noise_are_recovered():
    data = tp.synthetic.easy(3, noise=0.0, n_times=8, n_rows=30, n_columns=20)
    model = tp.Parafac2(RANK, n_starts=5, random_state=0).fit(data.X)
    assert model.converged_
    assert tp.metrics.factor_match_score(model, data) > 0.999
    assert model.explained_variance_ > 1 - 1e-9
