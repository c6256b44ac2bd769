"""Changes that may be sudden, in whole fits: one answer on every path, and sharper ones."""

import numpy as np
import pytest
from filled_in import filled_in
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.penalties import Parafac2, SuddenChanges
from tparafac2.synthetic import Concept, Constant, Periodic, Sudden, generate

pytestmark = pytest.mark.slow
QUICK = {"n_starts": 2, "random_state": 0, "tol": 1e-10, "max_iter": 4000}


@pytest.fixture(scope="module")
def data():
    concepts = [Concept(Sudden(4), Constant()), Concept(Sudden(9), Periodic())]
    return generate(concepts, seed=3, noise=0.5, n_times=12, n_rows=30, n_columns=20, fresh_importances=False)


def fit(X, *, mask=None, times=None, **given):
    settings = {"rank": 2, "smoothness": 3e-3, "changes": "sudden", **QUICK, **given}
    return tp.TParafac2(**settings).fit(X, mask=mask, times=times)


class Idle:
    """A penalty that asks for nothing, and so brings a fit onto the general path."""

    degree, exact = 0, True

    def value(self, x):
        return 0.0

    def prox(self, v, rho, state=None):
        return v.copy(), None


def test_a_jump_stays_sharp(data):
    """Of the way that a pattern goes, nearly all is gone where it does; smoothness smears it."""
    found = {}
    for changes in ("smooth", "sudden"):
        model = fit(data.X, changes=changes, smoothness=2e-2)
        # Which is which: by the rows.
        order = np.abs(data.A.T @ model.A_).argmax(axis=1)
        steps = np.linalg.norm(np.diff(model.result_.normalised().B[:, :, order], axis=0), axis=1)
        shares = steps / steps.sum(axis=0)
        found[changes] = np.array([shares[3, 0], shares[8, 1]])
        assert model.converged_
    assert (found["sudden"] > 0.85).all()
    assert (found["smooth"] < 0.6).all()


def test_the_objective_is_that_of_the_terms(data):
    model = fit(data.X)
    terms = model.result_.terms
    assert [type(term) for term in terms.B] == [Parafac2, SuddenChanges]
    total = np.sum((data.X - model.reconstruct()) ** 2) + terms.penalty(model.A_, model.B_, model.C_)
    assert model.objective_ == pytest.approx(total, rel=1e-9)
    assert terms.smoothness == pytest.approx(3e-3)


def test_with_the_whole_floor_it_is_smoothness(data):
    smooth = fit(data.X, changes="smooth")
    strength = smooth.result_.terms.B[1].strength
    same = tp.Parafac2(
        2,
        penalties_a=[tp.penalties.Ridge(strength)],
        penalties_b=[SuddenChanges(strength, floor=1.0)],
        penalties_c=[tp.penalties.Ridge(strength)],
        **QUICK,
    ).fit(data.X)
    assert same.objective_ == pytest.approx(smooth.objective_, rel=1e-8)


def test_the_general_path_ends_where_the_compiled_one_does(data):
    fused, general = fit(data.X), fit(data.X, penalties_b=[Idle()])
    assert general.converged_
    assert general.objective_ == pytest.approx(fused.objective_, rel=1e-6)


@pytest.mark.parametrize("further", [{}, {"rigidity": 1.0}, {"nonnegative": "both"}], ids=str)
@pytest.mark.parametrize("clock", [{}, {"times": "uneven"}, {"period": 24.0, "times": "uneven"}], ids=str)
def test_a_fit_goes_down_to_a_point_that_others_do_not_beat(data, further, clock):
    """From its own end, and from the truth, a fit comes back to the same objective."""
    given = dict(clock)
    times = np.cumsum([0, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1]) if given.pop("times", None) else None
    model = fit(data.X, times=times, **further, **given)
    assert model.converged_
    for init in ((model.A_, model.B_, model.C_), (data.A, data.B, data.C)):
        again = fit(data.X, times=times, init=init, **further, **given)
        assert again.objective_ >= model.objective_ * (1 - 1e-6)


def test_sparse_and_stacked_and_compressed_data_have_the_same_answer(data):
    X = np.where(np.quantile(data.X, 0.7) < data.X, data.X, 0.0)
    dense = fit(X, compress=False)
    for model in (fit([csr_array(one) for one in X]), fit(X, compress=True)):
        assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6)


@pytest.mark.parametrize("how", ["entries", "columns", "times"])
def test_missing_entries(data, how):
    rng, X = np.random.default_rng(0), data.X.copy()
    if how == "entries":
        X[rng.random(X.shape) < 0.2] = np.nan
    elif how == "columns":
        X[:5, :, :4] = np.nan
    else:
        X[6] = np.nan
    model = fit(X, max_iter=8000)
    if how == "entries":
        assert filled_in(model, X).objective_ == pytest.approx(model.objective_, rel=1e-5)
    terms, times = model.result_.terms, np.isfinite(X).any(axis=(1, 2))
    error = np.nansum((X - model.reconstruct()) ** 2)
    if how != "columns":  # which hold on to what was seen of them, at a price of their own
        penalty = terms.penalty(model.A_, model.B_[times], model.C_[times])
        assert model.objective_ == pytest.approx(error + penalty, rel=1e-8)


def test_columns_that_come_and_go(data):
    X = data.X.copy()
    X[:4, :, 3] = np.nan
    model = fit(X, bridge=False)
    assert not model.B_[:4, 3].any()
    assert model.converged_


def test_single_precision(data):
    model, double = fit(data.X, dtype="float32", tol=1e-6), fit(data.X)
    assert model.objective_ == pytest.approx(double.objective_, rel=1e-4)


def test_without_the_constraint(data):
    model = tp.TemporalCMF(2, 3e-3, changes="sudden", nonnegative="rows", **QUICK).fit(data.X)
    assert model.converged_
    assert isinstance(model.result_.terms.B[0], SuddenChanges)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"changes": "abrupt"}, "changes must be 'smooth' or 'sudden'; got 'abrupt'"),
        ({"changes": None}, "changes must be 'smooth' or 'sudden'; got None"),
        ({"algorithm": "paper"}, "changes is 'sudden', which the paper's algorithm does not know"),
    ],
)
def test_bad_input_is_refused(data, given, match):
    with pytest.raises(ValueError, match=match):
        fit(data.X, **given)


def test_it_is_kept_with_the_model(data, tmp_path):
    model = fit(data.X, max_iter=100)
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.changes == "sudden"
    assert again.result_.terms == model.result_.terms
    assert "sudden" in repr(again)


# --- what comes after a fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", [None, "uneven"])
def test_appended_slices_end_near_the_whole_fit(data, clock):
    times = np.cumsum([0, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1.0]) if clock else np.arange(12.0)
    short = fit(data.X[:8], times=times[:8])
    longer = short.append(data.X[8:], times=times[8:])
    lambdas = dict.fromkeys(("lambda_a", "lambda_b", "lambda_d"), short.result_.terms.A[0].strength)
    whole = fit(data.X, times=times, smoothness=None, **lambdas)
    assert longer.converged_
    assert longer.objective_ == pytest.approx(whole.objective_, rel=0.03)
    assert longer.objective_ >= whole.objective_ * (1 - 1e-6)
    steps = np.linalg.norm(np.diff(longer.result_.normalised().B, axis=0), axis=1)
    component = int(np.abs(data.A[:, 1] @ longer.A_).argmax())
    assert steps[7:, component].argmax() == 1  # the jump at 9, though it came after the fit


def test_an_appended_slice_is_at_its_best(data):
    """Nothing nearby is better, the rest of the model being as it is."""
    short = fit(data.X[:11], rigidity=0.0)
    longer = short.append(data.X[11:])
    terms, A, B, C = longer.result_.terms, longer.A_, longer.B_, longer.C_

    def objective(last, strengths):
        patterns, c = np.concatenate([B[:11], last[None]]), np.concatenate([C[:11], strengths[None]])
        error = np.sum((data.X[11] - (A * strengths) @ last.T) ** 2)
        return error + terms.penalty(A, patterns, c)

    here = objective(B[11], C[11])
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-3):
        for _ in range(20):
            aside = B[11] + size * np.abs(B).max() * rng.standard_normal(B[11].shape)
            assert objective(aside, C[11]) > here * (1 - 1e-9)


def test_forecasts_completions_and_bands(data):
    model = fit(data.X, max_iter=300)
    forecast = model.forecast(2)
    assert forecast.patterns.lower.shape == (2, 20, 2)
    X = data.X.copy()
    X[5, 3, 4] = np.nan
    holed = fit(X, max_iter=300)
    assert np.isfinite(holed.complete(X)).all()
    assert model.transform(data.X) == pytest.approx(model.A_, rel=1e-3, abs=1e-3)
    bands = model.intervals(data.X, n_resamples=20, random_state=0)
    assert bands.patterns.lower.shape == (12, 20, 2)


@pytest.mark.parametrize("lengths", [(3, 2, 2, 3, 2), (3, 3, 3), (1, 2), (6, 6)], ids=str)
def test_every_sharp_jump_is_told_however_many(lengths):
    rng, states = np.random.default_rng(0), 3.0 * np.eye(8)
    patterns = np.concatenate([[states[n]] * length for n, length in enumerate(lengths)])
    X = rng.random(30)[:, None] * patterns[:, None, :] + 0.1 * rng.standard_normal((len(patterns), 30, 8))
    model = fit(X, rank=1, smoothness=3e-2)
    jumps = [one.times for one in model.findings_ if one.kind == "sudden"]
    ends = np.cumsum(lengths)[:-1]
    assert jumps == [(end - 1, end) for end in ends]


def test_loadings_have_no_time(data):
    with pytest.raises(
        ValueError, match="SuddenChanges is about changes in time, and loadings do not change"
    ):
        fit(data.X, penalties_a=[SuddenChanges(1.0)])
