"""A constraint that gives way: between patterns that only turn and patterns held by smoothness alone."""

import numpy as np
import pytest
from filled_in import filled_in
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.penalties import SoftParafac2

pytestmark = pytest.mark.slow

QUICK = {"n_starts": 3, "random_state": 0}


def fitted(X, rigidity, smoothness=3e-3, fit=None, **more):
    return tp.TParafac2(3, smoothness, rigidity=rigidity, **(QUICK | more)).fit(X, **(fit or {}))


@pytest.fixture(scope="module")
def broken():
    """Patterns that change their sizes and angles."""
    return tp.synthetic.overlapping(seed=1, overlap=0.4, n_times=10, n_rows=60, n_columns=40)


@pytest.fixture(scope="module")
def soft(broken):
    return fitted(broken.X, 1.0)


def test_it_approaches_the_constraint_like_one_over_the_rigidity(broken):
    hard = fitted(broken.X, np.inf, tol=1e-11)
    products = [
        rigidity * (hard.objective_ - fitted(broken.X, rigidity, tol=1e-11, n_starts=1).objective_)
        for rigidity in (1e4, 1e5)
    ]
    assert min(products) > 0
    assert products[0] == pytest.approx(products[1], rel=0.05)


def test_the_less_rigid_the_lower_the_objective(broken, soft):
    objectives = [fitted(broken.X, rigidity).objective_ for rigidity in (np.inf, 100.0, 10.0)]
    objectives += [soft.objective_, fitted(broken.X, 0.0).objective_]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_patterns_that_change_their_sizes_and_angles_are_found(seed):
    data = tp.synthetic.overlapping(seed=seed, overlap=0.4)
    hard, soft = (fitted(data.X, rigidity) for rigidity in (np.inf, 1.0))
    scores = [tp.metrics.factor_match_score(model, data) for model in (hard, soft)]
    assert scores[1] > max(0.93, scores[0])


def test_places_that_loadings_were_mixed_to_lead_back(broken, soft):
    assert len(soft.starts_) == 3
    assert (soft.starts_.fms_to_chosen > 0.99).all()
    assert soft.converged_


def test_the_objective_is_that_of_its_terms(broken, soft):
    told = soft.evaluate(broken.X)
    assert told.objective == pytest.approx(soft.objective_, rel=1e-12)
    terms = soft.result_.terms
    assert (terms.rigidity, terms.smoothness) == (pytest.approx(1.0), pytest.approx(3e-3))
    assert fitted(broken.X, 0.0, n_starts=1, max_iter=20).result_.terms.rigidity == 0.0
    assert soft.feasibility_gaps_["B"] == 0.0


def test_how_far_patterns_are_from_turning_only(broken, soft):
    result = soft.result_
    assert 0.01 < result.departure < 0.5
    assert any("may give way (rigidity 1)" in str(tp.result.sentence(f)) for f in soft.findings_)
    hard = fitted(broken.X, np.inf).result_
    assert hard.departure is None
    np.testing.assert_allclose(hard.Delta.T @ hard.Delta, hard.B[4].T @ hard.B[4], rtol=1e-6, atol=1e-9)
    assert tp.CP(2, **QUICK).fit(broken.X).result_.Delta is None


def test_it_comes_back_from_a_file(broken, soft, tmp_path):
    soft.save(tmp_path / "soft.npz")
    again = tp.load(tmp_path / "soft.npz")
    assert again.rigidity == 1.0
    assert again.result_.terms == soft.result_.terms
    assert again.result_.departure == soft.result_.departure
    np.testing.assert_array_equal(again.result_.Delta, soft.result_.Delta)


def test_sparse_dense_and_compressed_are_the_same():
    data = tp.synthetic.overlapping(seed=0, n_times=4, n_rows=12, n_columns=200)
    X = np.where(np.quantile(data.X, 0.7) < data.X, data.X, 0.0)
    dense = fitted(X, 1.0, compress=False)
    others = [fitted(X, 1.0, compress=True), fitted([csr_array(piece) for piece in X], 1.0)]
    assert others[0].result_.method.compressed_columns is not None
    for other in others:
        assert other.objective_ == pytest.approx(dense.objective_, rel=1e-6)


def test_missing_entries_and_uneven_periodic_times(broken):
    rng = np.random.default_rng(0)
    X = np.where(rng.random(broken.X.shape) < 0.2, np.nan, broken.X)
    times = {"times": np.cumsum(rng.uniform(0.5, 2.0, len(X)))}
    model = fitted(X, 1.0, fit=times, period=30.0, tol=1e-10)
    assert filled_in(model, X, **times).objective_ == pytest.approx(model.objective_, rel=1e-5)
    assert model.evaluate(X).objective == pytest.approx(model.objective_, rel=1e-12)
    (term,) = [term for term in model.result_.terms.B if isinstance(term, SoftParafac2)]
    assert np.ptp(term.weights) > 0.5


def test_an_interruption_on_the_way_gives_the_best_so_far(broken, monkeypatch):
    from tparafac2.fitting import one_fit

    calls = []

    def run_starts(problem, starts, *given, **more):
        runs = original(problem, starts, *given, **more)
        calls.append(len(starts))
        return runs if len(calls) < 2 else [run._replace(status=tp.solver.Status.INTERRUPTED) for run in runs]

    original = one_fit.run_starts
    monkeypatch.setattr(one_fit, "run_starts", run_starts)
    model = fitted(broken.X, 1.0)
    assert calls == [3, 1]
    assert model.status_ == "interrupted"
    assert model.evaluate(broken.X).objective == pytest.approx(model.objective_, rel=1e-12)


def test_given_factors_begin_at_the_end_of_the_way(broken, soft):
    again = fitted(broken.X, 1.0, init=(soft.A_, soft.B_, soft.C_))
    assert again.n_iter_ < soft.n_iter_
    assert again.objective_ == pytest.approx(soft.objective_, rel=1e-7)
