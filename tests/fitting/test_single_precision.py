"""Data held in single precision: the fit is that of double precision, also where systems are singular."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import tparafac2 as tp

pytestmark = pytest.mark.slow

MODELS = {
    "TParafac2": tp.TParafac2,
    "Parafac2": tp.Parafac2,
    "TemporalCMF": tp.TemporalCMF,
    "NNtCMF": lambda rank, **more: tp.TemporalCMF(rank, nonnegative="rows", **more),
    "CP": tp.CP,
}


def low_rank(rank):
    rng = np.random.default_rng(0)
    return np.einsum("ir,jr,kr->kij", *(rng.random((size, rank)) + 0.1 for size in (6, 5, 4)))


def with_zeros(X):
    X = X.copy()
    X[:, 2], X[:, :, 3], X[1] = 0, 0, 0
    return X


def with_gaps(X):
    return np.where(np.random.default_rng(3).random(X.shape) < 0.15, np.nan, X)


EXACTLY_LOW_RANK = {
    "ones": (np.ones((4, 6, 5)), {}),
    "rank 1": (low_rank(1), {}),
    "rank 2": (low_rank(2), {}),
    "with zeros": (with_zeros(low_rank(2)), {}),
    "ones with gaps": (with_gaps(np.ones((4, 6, 5))), {}),
    "rank 1 with gaps": (with_gaps(low_rank(1)), {}),
    "sparse": ([sparse.csr_array(piece) for piece in with_zeros(np.ones((4, 6, 5)))], {}),
}


def explained(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        return model.fit(X).explained_variance_


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", EXACTLY_LOW_RANK)
def test_more_components_than_there_are_fit_as_well_as_in_double_precision(data, model, algorithm):
    X, more = EXACTLY_LOW_RANK[data]
    more = more | {"algorithm": algorithm, "n_starts": 1, "random_state": 0, "max_iter": 20}
    for rank in (2, 4):
        single, double = (
            explained(MODELS[model](rank, dtype=dtype, **more), X) for dtype in ("float32", "float64")
        )
        assert single == pytest.approx(double, abs=1e-4), rank


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_without_any_penalty_patterns_of_absent_components_do_not_break_the_fit(rank):
    model = tp.TemporalCMF(rank, lambda_a=0, lambda_b=0, dtype="float32", n_starts=3, random_state=0)
    assert explained(model, low_rank(1)) == pytest.approx(1, abs=1e-4)


def test_an_exact_fit_in_single_precision_is_seen_to_have_converged():
    model = tp.CP(3, algorithm="paper", dtype="float32", n_starts=5, random_state=0).fit(np.ones((4, 6, 5)))
    assert (model.converged_, model.explained_variance_) == (True, pytest.approx(1, abs=1e-6))
