"""Entries that are exactly zero, and strengths that are smooth, in whole fits on the compiled path."""

import numpy as np
import pytest
from filled_in import filled_in

import tparafac2 as tp
from tparafac2.penalties import L1, NonNegative, Ridge, TemporalSmoothness

pytestmark = pytest.mark.slow
QUICK = {"n_starts": 2, "random_state": 0, "tol": 1e-10, "max_iter": 6000}


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=1, noise=0.5, n_times=10, n_rows=30, n_columns=24, n_concepts=2)


class Idle:
    """A penalty that asks for nothing, and so brings a factor onto the general path."""

    degree, exact = 0, True

    def value(self, x):
        return 0.0

    def prox(self, v, rho, state=None):
        return v.copy(), None


def fit(X, **given):
    return tp.TParafac2(**{"rank": 2, "smoothness": 1e-3, **QUICK, **given}).fit(X)


def total(model, X):
    terms, factors = model.result_.terms, (model.A_, model.B_, model.C_)
    return np.sum((X - model.reconstruct()) ** 2) + terms.penalty(*factors)


KNOBS = (4, 4, 4), (16, 4, 1), (16, 1, 4)
FACTORS = {"penalties_a": "A_", "penalties_b": "B_", "penalties_c": "C_"}


@pytest.mark.parametrize("where", FACTORS)
@pytest.mark.parametrize("rigidity", [1.0, np.inf])
def test_both_paths_end_at_the_same_objective(data, where, rigidity):
    strength = 0.002 * np.linalg.norm(data.X) ** (5 / 3)
    fused = fit(data.X, **{where: [L1(strength)]}, rigidity=rigidity)
    general = fit(data.X, **{where: [L1(strength), Idle()]}, rigidity=rigidity)
    assert fused.converged_
    assert fused.objective_ == pytest.approx(total(fused, data.X), rel=1e-8)
    assert fused.objective_ <= general.objective_ * (1 + 1e-5)


@pytest.mark.parametrize("where", ["penalties_a", "penalties_b"])
@pytest.mark.parametrize("nonnegative", [None, "both"])
def test_entries_are_exactly_zero(data, where, nonnegative):
    strength = 0.02 * np.linalg.norm(data.X) ** (5 / 3)
    plain = fit(data.X, rigidity=1.0, nonnegative=nonnegative)
    sparse = fit(data.X, **{where: [L1(strength)]}, rigidity=1.0, nonnegative=nonnegative)
    factor = FACTORS[where]
    zeros = [float(np.mean(getattr(model, factor) == 0)) for model in (plain, sparse)]
    assert zeros[1] > max(0.1, zeros[0] + 0.05)
    assert sparse.converged_


def test_terms_of_degree_one_no_longer_leave_one_knob(data):
    """Only the product of the lambdas matters without them; with them, that of the other two factors."""
    strength = 0.01 * np.linalg.norm(data.X) ** (5 / 3)

    def objectives(terms):
        lambdas = [dict(zip(("lambda_a", "lambda_b", "lambda_d"), one)) for one in KNOBS]
        return [fit(data.X, smoothness=None, penalties_b=terms, **one).objective_ for one in lambdas]

    plain, sparse = objectives([]), objectives([L1(strength)])
    assert plain[1:] == pytest.approx(plain[:1] * 2, rel=1e-7)
    assert sparse[1] == pytest.approx(sparse[0], rel=1e-7)
    assert sparse[2] != pytest.approx(sparse[0], rel=1e-5)


@pytest.mark.parametrize("period", [None, 10.0])
def test_smooth_strengths_are_solved_together(data, period):
    weight = 300.0 * fit(data.X).result_.terms.C[0].strength
    times = np.arange(10.0)
    given = {"penalties_c": [TemporalSmoothness(weight, 0.0)], "period": period}
    models = []
    for more in ([], [Idle()]):
        asked = {**given, "penalties_c": given["penalties_c"] + more}
        settings = {"rank": 2, "smoothness": 1e-3, **QUICK, **asked}
        models.append(tp.TParafac2(**settings).fit(data.X, times=times))
    fused, general = models
    assert fused.converged_
    assert (fused.C_ >= 0).all()
    assert fused.objective_ == pytest.approx(total(fused, data.X), rel=1e-8)
    assert fused.objective_ <= general.objective_ * (1 + 1e-6)
    plain = fit(data.X)
    rough = [np.sum(np.diff(m.C_, axis=0) ** 2) / np.sum(m.C_**2) for m in (plain, fused)]
    assert rough[1] < 0.5 * rough[0]


def test_strengths_of_either_sign_can_be_smooth_and_few(data):
    terms = [Ridge(0.1), TemporalSmoothness(5.0), L1(1.0)]
    norm = [Ridge(0.1)]
    model = tp.CP(2, penalties_a=norm, penalties_b=norm, penalties_c=terms, **QUICK).fit(data.X)
    assert model.converged_
    assert model.objective_ == pytest.approx(total(model, data.X), rel=1e-8)


def test_missing_entries_and_single_precision(data):
    X = data.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    strength = 0.005 * np.linalg.norm(data.X) ** (5 / 3)
    given = {"rigidity": 1.0, "penalties_a": [L1(strength)], "penalties_b": [L1(strength)]}
    model = fit(X, **given)
    assert filled_in(model, X).objective_ == pytest.approx(model.objective_, rel=1e-4)
    single = fit(data.X, dtype="float32", tol=1e-6, **given)
    assert single.objective_ == pytest.approx(fit(data.X, **given).objective_, rel=1e-3)


def test_a_bound_on_the_strengths_stays(data):
    model = fit(data.X, penalties_c=[L1(5.0), TemporalSmoothness(10.0)])
    assert (model.C_ >= 0).all()
    assert any(isinstance(term, NonNegative) for term in model.result_.terms.C)
