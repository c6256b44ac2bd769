"""What is expected of numbers near the ends of their range, and is still to come."""

import numpy as np
import pytest
import scipy.sparse

import tparafac2 as tp


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=0, noise=0.1, n_times=6, n_rows=20, n_columns=18, n_concepts=2).X


@pytest.mark.xfail(
    strict=True,
    reason="evaluate squares large numbers of sparse data",
    raises=AssertionError,
)
def test_evaluate_agrees_with_the_fit_of_large_sparse_data(X):
    slices = [scipy.sparse.csr_array(np.where(piece > 1.0, 1e150 * piece, 0.0)) for piece in X]
    model = tp.TParafac2(2, 1e-3, n_starts=1, random_state=0).fit(slices)
    found = model.evaluate(slices)
    assert found.objective == pytest.approx(model.objective_, rel=1e-6)
    assert found.explained_variance == pytest.approx(model.explained_variance_, abs=1e-6)


@pytest.mark.parametrize("rigidity", [np.inf, 1.0])
def test_sparsity_goes_with_next_to_no_smoothness(X, rigidity):
    model = tp.TParafac2(
        2, 1e-300, sparsity=1e-3, rigidity=rigidity, n_starts=2, max_iter=50, random_state=0
    ).fit(X)
    assert all(np.isfinite(factor).all() for factor in (model.A_, model.B_, model.C_))
    assert model.evaluate(X).objective == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.xfail(
    strict=True,
    reason="a rigidity that vanishes beside the smoothness breaks a decomposition",
    raises=(RuntimeWarning, ValueError),
)
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 1e140])
def test_next_to_no_rigidity_is_fitted_or_refused(scale, rank):
    """LinAlgError is a ValueError, too, but names no argument."""
    X = scale * np.random.default_rng(0).random((4, 6, 4))
    model = tp.TParafac2(rank, 1e-300, rigidity=1e-10, n_starts=1, random_state=0)
    try:
        model.fit(X)
    except ValueError as error:
        if getattr(error, "argument", None) not in ("smoothness", "rigidity"):
            raise
    else:
        assert model.evaluate(X).objective == pytest.approx(model.objective_, rel=1e-6)
