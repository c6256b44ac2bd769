"""What a fit reports is what its factors and the data give, computed once more without the solver."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.data import Correction, SparseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, Static, TemporalSmoothness

pytestmark = pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")

K, I, J = 7, 12, 18


@dataclass(frozen=True)
class Sparse:
    """A penalty of one's own: strength * sum of absolute values."""

    strength: float
    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True

    def value(self, x):
        return float(self.strength * np.abs(x).sum())

    def prox(self, v, rho, state=None):
        step = (self.strength / rho).reshape(-1, *[1] * (v.ndim - 1))
        return (np.sign(v) * np.maximum(np.abs(v) - step, 0)).astype(v.dtype), None


@dataclass(frozen=True)
class Box:
    """A set of one's own that does not say how far away a point is."""

    size: float
    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True

    def value(self, x):
        return 0.0 if (np.abs(x) <= self.size * (1 + 1e-9)).all() else np.inf

    def prox(self, v, rho, state=None):
        return np.clip(v, -self.size, self.size).astype(v.dtype), None


MODELS = {
    "TParafac2": tp.TParafac2(2, 1e-3),
    "Parafac2": tp.Parafac2(2),
    "tCMF": tp.TemporalCMF(2, 1e-3),
    "NNtCMF": tp.TemporalCMF(2, 1e-3, nonnegative="rows"),
    "CP": tp.CP(2),
}


@pytest.fixture(scope="module")
def X():
    return 30.0 * tp.synthetic.easy(seed=1, noise=0.3, n_times=K, n_rows=I, n_columns=J, n_concepts=2).X


def holed(X):
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    X[4] = np.nan
    return X


def sparse(X):
    return [scipy.sparse.csr_array(np.where(piece > np.median(X), piece, 0)) for piece in X]


def made(name, algorithm, **parameters):
    base = {**MODELS[name].get_params(), "n_starts": 2, "max_iter": 30, "random_state": 0}
    return MODELS[name].__class__(**base | {"algorithm": algorithm, **parameters})


def in_time(name, algorithm):
    known = MODELS[name].get_params()
    return made(name, algorithm, **({"period": 40.0} if "period" in known else {}))


# How to fit, and to which data; `fit` gets what the last part says.
CASES = {
    "dense": lambda name, how, X: (made(name, how), X, {}),
    "missing": lambda name, how, X: (made(name, how), holed(X), {}),
    "sparse": lambda name, how, X: (made(name, how), sparse(X), {}),
    "uneven": lambda name, how, X: (in_time(name, how), X, {"times": [0, 1, 9, 4, 5, 30, 11]}),
    "uneven, missing": lambda name, how, X: (
        in_time(name, how),
        holed(X),
        {"times": [0, 1, 9, 4, 5, 30, 11]},
    ),
    "compressed": lambda name, how, X: (made(name, how, compress=True), X[:, :, :1].repeat(300, axis=2), {}),
    "float32": lambda name, how, X: (made(name, how, dtype="float32"), X, {}),
    "own penalty": lambda name, how, X: (made(name, how, penalties_b=[Sparse(0.1)]), X, {}),
    "own set": lambda name, how, X: (made(name, how, penalties_a=[Box(1.5)]), X, {}),
    "prepared": lambda name, how, X: (
        made(name, how),
        tp.Preparation("log1p", center="columns").apply(np.abs(X)),
        {},
    ),
}


def assert_evaluates(model, X, tolerance=1e-9, **further):
    found = model.evaluate(X, **further)
    assert found.objective == pytest.approx(model.objective_, rel=tolerance)
    assert found.explained_variance == pytest.approx(model.explained_variance_, rel=tolerance)
    assert found.constraint_violations == model.constraint_violations_
    return found


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", MODELS)
def test_the_fit_reports_what_its_factors_give(X, name, case, algorithm):
    model, data, further = CASES[case](name, algorithm, X)
    model.fit(data, **further)
    found = assert_evaluates(model, data, 1e-5 if case == "float32" else 1e-9)
    assert found.squared_error < found.objective or not model.result_.terms.smoothness
    worst = [far for mode in found.constraint_violations.values() for far in mode.values()]
    assert max(worst, default=0.0) < 1e-6


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
def test_slices_of_unequal_widths(X, algorithm):
    pieces = [piece[:, : 10 + k] for k, piece in enumerate(X)]
    model = made("Parafac2", algorithm, lambda_a=1.0, lambda_b=2.0, lambda_d=3.0)
    assert_evaluates(model.fit(pieces), pieces)
    slices = sparse(X)
    narrow = [piece[:, : 10 + k] for k, piece in enumerate(slices)]
    assert_evaluates(model.fit(narrow), narrow)


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
@pytest.mark.parametrize("name", MODELS)
def test_columns_that_come_and_go(X, name, algorithm):
    X = np.array(X)
    X[:3, :, 5] = np.nan
    X[2, :, 6] = X[0, 3, 3] = np.nan
    model = made(name, algorithm, bridge=False)
    if algorithm == "paper" and name not in ("Parafac2", "CP"):
        with pytest.raises(ValueError, match="are not for the smoothness of algorithm='paper'"):
            model.fit(X)
        return
    model.fit(X)
    np.testing.assert_array_equal(model.result_.present, ~np.isnan(X).all(axis=1))
    assert_evaluates(model, X)
    assert_evaluates(made(name, algorithm).fit(X), X)


def test_columns_of_a_table_that_come_and_go(X):
    frame = pd.DataFrame(
        [(k, i, j, X[k, i, j]) for k in range(K) for i in range(I) for j in range(J) if j + k != 9],
        columns=["year", "row", "word", "value"],
    )
    table = tp.Table(frame, rows="row", columns="word", time="year", values="value", absent="columns")
    model = made("TParafac2", "fast").fit(table)
    assert not model.result_.present.all()
    assert_evaluates(model, table)


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
def test_every_kind_of_data_that_a_fit_accepts(X, algorithm):
    model = made("TParafac2", algorithm)
    mask = np.random.default_rng(1).random(X.shape) < 0.8
    assert_evaluates(model.fit(X, mask=mask), X, mask=mask)
    frames = [pd.DataFrame(piece, columns=[f"word {j}" for j in range(J)]) for piece in X]
    assert_evaluates(model.fit(frames), [frames[0], *(frame[frame.columns[::-1]] for frame in frames[1:])])
    dims = {"time": "when", "rows": "who", "columns": "what"}
    named = xr.DataArray(X, dims=["when", "who", "what"], coords={"when": [1, 2, 4, 8, 16, 32, 64]})
    assert_evaluates(model.fit(named, dims=dims), named.transpose("what", "who", "when"), dims=dims)
    slices = sparse(X)
    centred = SparseData.from_slices(slices, correction=Correction.centring(slices, "columns"))
    assert_evaluates(model.fit(centred), centred)


def test_the_wrong_data_are_refused_with_a_sentence(X):
    model = made("TParafac2", "fast").fit(X)
    wrong = r"X has 6 times, 12 rows and 18 columns, but the model was fitted to 7 times, 12 rows and 18 col"
    with pytest.raises(ValueError, match=wrong):
        model.evaluate(X[1:])
    with pytest.raises(ValueError, match=r"18 to 19 columns, but the model was fitted to .* 18 col"):
        model.evaluate([np.ones((I, J + (k > 2))) for k in range(K)])
    with pytest.raises(ValueError, match="every entry of X is missing"):
        model.evaluate(np.full(X.shape, np.nan))
    prepared = tp.Preparation("sqrt").apply(np.abs(X))
    with pytest.raises(ValueError, match=r"another preparation \(none\) than X \(square root"):
        model.evaluate(prepared)
    with pytest.raises(ValueError, match=r"preparation \(square root of every value\) than X \(none\)"):
        made("TParafac2", "fast").fit(prepared).evaluate(X)
    named = xr.DataArray(X, dims=["time", "rows", "columns"], coords={"rows": [f"r{i}" for i in range(I)]})
    with pytest.raises(ValueError, match=r"other labels of the rows .*r11 where the model has r0"):
        made("TParafac2", "fast").fit(named).evaluate(named[:, ::-1])


def test_other_data_of_the_same_shape_have_an_error_of_their_own(X):
    model = made("TParafac2", "fast").fit(X)
    other = X + 1.0
    found = model.evaluate(other)
    assert found.squared_error == pytest.approx(np.sum((other - model.reconstruct()) ** 2))
    assert found.objective - found.squared_error == pytest.approx(
        model.objective_ - (1 - model.explained_variance_) * np.sum(X**2)
    )


def test_the_objective_is_the_one_of_the_paper(X):
    model = tp.TParafac2(
        2, lambda_a=0.5, lambda_b=3.0, lambda_d=2.0, algorithm="paper", n_starts=1, random_state=0, max_iter=9
    ).fit(X)
    A, B, C = model.A_, model.B_, model.C_
    fit = sum(np.sum((X[k] - A @ np.diag(C[k]) @ B[k].T) ** 2) for k in range(K))
    penalty = 0.5 * np.sum(A**2) + 2.0 * np.sum(C**2) + 3.0 * np.sum((B[1:] - B[:-1]) ** 2)
    found = model.evaluate(X)
    assert found.squared_error == pytest.approx(fit, rel=1e-12)
    assert found.objective == pytest.approx(fit + penalty, rel=1e-12)


def test_factors_that_were_tampered_with_do_not_evaluate_to_what_is_reported(X):
    result = made("TParafac2", "fast").fit(X).result_
    spoilt = replace(result, B=result.B * (1 + 1e-6), C=-result.C)
    assert spoilt.evaluate(X).objective != pytest.approx(result.objective, rel=1e-9)
    assert spoilt.constraint_violations["C"]["NonNegative"] == 1.0
    bent = np.array(result.B)
    bent[3] *= 1.1
    assert replace(result, B=bent).constraint_violations["B"]["Parafac2"] > 0.01
    static = made("CP", "fast").fit(X).result_
    assert static.constraint_violations["B"]["Static"] < 1e-15
    moved = replace(static, B=static.B + np.arange(K)[:, None, None])
    assert moved.constraint_violations["B"]["Static"] > 0.1


def test_a_set_of_ones_own_that_is_violated_tells_the_distance(X):
    result = made("tCMF", "fast", penalties_a=[Box(0.25)]).fit(X).result_
    assert replace(result, A=np.full((I, 2), 0.5)).constraint_violations["A"] == {"Box": 0.5}


# --- what was minimised, and how --------------------------------------------------------------------------


def test_every_term_is_remembered_with_all_its_parameters(X):
    times = [0, 1, 9, 4, 5, 30, 11]
    model = tp.TParafac2(
        2, lambda_a=0.5, lambda_b=3.0, lambda_d=2.0, epsilon=1e-5, period=40.0, penalties_a=[Ridge(1.0)]
    )
    model.set_params(n_starts=2, max_iter=5, random_state=0).fit(X, times=times)
    terms, clock = model.result_.terms, model.result_.clock
    assert (Ridge(0.5), Ridge(1.0)) == terms.A
    typical = np.median([1, 3, 1, 4, 2, 19])
    weights = tuple(typical / np.array([1.0, 3.0, 1.0, 4.0, 2.0, 19.0]))
    assert (Parafac2(), TemporalSmoothness(3.0, 1e-5, weights, typical / 10)) == terms.B
    assert (Ridge(2.0), NonNegative()) == terms.C
    assert terms.scale == pytest.approx(np.linalg.norm(X))
    assert not terms.fixed_strengths
    assert clock.order == (0, 1, 3, 4, 2, 6, 5)
    assert clock.gaps.tolist() == [1, 3, 1, 4, 2, 19, 10]
    assert clock.period == 40.0


@pytest.mark.parametrize("name", ["TParafac2", "tCMF", "NNtCMF"])
def test_the_one_knob_is_known_also_where_lambdas_were_given(X, name):
    model = made(name, "fast", smoothness=3e-3, max_iter=2).fit(X)
    assert model.result_.smoothness == pytest.approx(3e-3, rel=1e-12)
    modes = {"lambda_a": "A", "lambda_b": "B", "lambda_d": "C"}
    terms = model.result_.terms
    given = {}
    for i, (parameter, mode) in enumerate(modes.items()):
        strengths = [term.strength for term in terms.modes[mode] if hasattr(term, "strength")]
        if strengths:
            given[parameter] = strengths[0] * [2.0, 0.5, 1.0][i]
    again = made(name, "fast", smoothness=None, max_iter=2, **given).fit(X)
    assert again.result_.smoothness == pytest.approx(3e-3, rel=1e-12)


@pytest.mark.parametrize("name", ["Parafac2", "CP"])
def test_models_without_smoothness_have_no_such_knob(X, name):
    model = made(name, "fast", lambda_a=1.0, lambda_b=2.0, lambda_d=3.0, max_iter=2).fit(X)
    assert model.result_.smoothness is None
    assert model.result_.terms.B[0] in (Parafac2(), Static())


def test_the_method_is_remembered(X):
    method = made("TParafac2", "paper", tol=1e-7).fit(X).result_.method
    assert (method.algorithm, method.dtype) == ("paper", "float64")
    assert (method.n_starts, method.init, method.seed) == (2, "uniform", 0)
    assert (method.settings["tol"], method.settings["absorb"]) == (1e-7, False)
    assert (method.compressed_rows, method.compressed_columns) == (None, None)
    wide = np.repeat(X, 20, axis=2)
    method = made("TParafac2", "fast", random_state=np.random.default_rng(0)).fit(wide).result_.method
    assert (method.compressed_columns, method.seed) == (18, None)
    assert made("CP", "fast", dtype="float32").fit(X).result_.method.settings["tol"] == 1e-5


def test_all_of_it_is_in_the_file(X, tmp_path):
    X = np.array(X)
    X[:3, :, 5] = np.nan
    model = made("TParafac2", "fast", bridge=False).fit(X, times=[0, 1, 9, 4, 5, 30, 11])
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    for name in ("terms", "method", "version", "smoothness", "constraint_violations"):
        assert getattr(again.result_, name) == getattr(model.result_, name)
    assert again.result_.version == tp.__version__
    np.testing.assert_array_equal(again.result_.present, model.result_.present)
    assert again.evaluate(X) == model.evaluate(X)


def test_of_a_penalty_of_ones_own_a_file_has_the_name_and_says_so(X, tmp_path):
    model = made("TParafac2", "fast", penalties_b=[Sparse(0.1)]).fit(X)
    assert model.result_.terms.B[-1] == Sparse(0.1)
    model.save(tmp_path / "model.npz")
    with pytest.warns(UserWarning, match=r"penalties_b\[0\]"):
        model = tp.load(tmp_path / "model.npz")
    model.save(tmp_path / "again.npz")  # what was read can be written again
    model = tp.load(tmp_path / "again.npz")
    assert model.result_.terms.lost == ("Sparse(strength=0.1)",)
    with pytest.raises(ValueError, match=r"Sparse\(strength=0.1\) is not one of this package"):
        model.result_.terms.B[-1].value(model.B_)
    found = model.evaluate(X)
    assert found.objective is None
    assert found.explained_variance == pytest.approx(model.explained_variance_, rel=1e-9)
    assert found.constraint_violations["C"] == {"NonNegative": 0.0}


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_units_do_not_matter(X, size):
    model = made("TParafac2", "fast").fit(size * X)
    assert_evaluates(model, size * X)
    assert model.result_.smoothness == pytest.approx(1e-3, rel=1e-9)
