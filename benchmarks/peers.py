"""The other programs, called so that they do the same work."""

import warnings

import numpy as np


def matcouply_tparafac2(X, rank, lambdas, iterations, seed=0):
    """tPARAFAC2 by matcouply: its slices are X_k', its A is our C, its C our A, its fit term is halved."""
    from matcouply.decomposition import parafac2_aoadmm
    from matcouply.penalties import TemporalSmoothnessPenalty

    lambda_a, lambda_b, lambda_d = lambdas
    smooth = [TemporalSmoothnessPenalty(lambda_b / 2)] if lambda_b else []
    _, (C, B, A) = parafac2_aoadmm(
        [x.T.copy() for x in X],
        rank,
        n_iter_max=iterations,
        non_negative=[True, False, False],
        l2_penalty=[lambda_d, 0, lambda_a],
        regs=[[], smooth, []],
        tol=None,
        absolute_tol=None,
        inner_n_iter_max=5,
        random_state=seed,
    )
    return np.asarray(A), np.stack(B), np.asarray(C)


def tensorly_parafac2(X, rank, iterations, seed=0):
    """PARAFAC2 by tensorly's alternating least squares."""
    from tensorly.decomposition import parafac2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parafac2(
            [x.T.copy() for x in X],
            rank,
            n_iter_max=iterations,
            init="random",
            tol=0,
            nn_modes=[0],
            n_iter_parafac=1,
            linesearch=False,
            random_state=seed,
        )
