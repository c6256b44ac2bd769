"""Claims that hold at the paper's size: starts agree, constraints are met, smoothness pays.

Seeds are fixed, and every bound leaves room to spare. Each test takes 1 to 4 s.
"""

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.slow

LAMBDAS = {"lambda_a": 0.1, "lambda_b": 1000.0, "lambda_d": 0.1}


@pytest.mark.parametrize("seed", [3, 9])
def test_starts_agree_on_easy_data(seed):
    data = tp.synthetic.easy(seed, noise=0.5)
    asked = {**LAMBDAS, "n_starts": 20, "random_state": 0, "max_iter": 600, "tol": 1e-12}
    model = tp.TParafac2(3, **asked, compress=False).fit(data.X)
    sketched = tp.TParafac2(3, **asked).fit(data.X)
    assert sketched.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert sketched.starts_["fms_to_chosen"].nlargest(10).min() > 0.999
    table = model.starts_
    assert table["feasible"].all()
    best = np.sort(table["objective"])
    assert best[9] - best[0] < 1e-8 * best[0]
    assert table["fms_to_chosen"].nlargest(10).min() > 1 - 1e-6
    assert tp.metrics.factor_match_score(model, data) > 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_every_start_is_feasible_where_the_data_violate_the_constraint(seed):
    data = tp.synthetic.overlapping(seed, overlap=0.4)
    assert tp.metrics.parafac2_violation(data.B) > 0.1
    model = tp.TParafac2(3, **LAMBDAS, n_starts=10, random_state=0).fit(data.X)
    assert model.starts_["feasible"].all()
    assert model.starts_["converged"].all()
    assert max(model.feasibility_gaps_.values()) < 1e-5
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8


@pytest.mark.parametrize("seed", [0, 2])
def test_smoothness_finds_the_truth_in_noise(seed):
    data = tp.synthetic.easy(seed, noise=1.0)
    settings = {"n_starts": 5, "random_state": 0, "tol": 1e-6}
    smooth = tp.TParafac2(3, **LAMBDAS, **settings).fit(data.X)
    free = tp.Parafac2(3, **settings).fit(data.X)
    scores = [tp.metrics.factor_match_score(model, data) for model in (smooth, free)]
    assert scores[0] > scores[1] + 0.01


def test_loadings_that_are_not_negative_make_coupled_factorisation_unique():
    data = tp.synthetic.overlapping(0, overlap=0.2)
    settings = {"n_starts": 5, "random_state": 0, "tol": 1e-7}
    signed = tp.TemporalCMF(3, 1e-3, **settings).fit(data.X)
    bound = tp.TemporalCMF(3, 1e-3, nonnegative="rows", **settings).fit(data.X)
    # All starts find the same fit; without signs they do not find the same components.
    assert np.ptp(signed.starts_["objective"]) < 1e-5 * signed.objective_
    assert signed.starts_["fms_to_chosen"].min() < 0.95
    assert tp.metrics.factor_match_score(bound, data, modes="AB") > (
        tp.metrics.factor_match_score(signed, data, modes="AB") + 0.1
    )
