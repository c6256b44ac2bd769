"""Fits from given starts come to the minima that version 0.2 came to, and report what they minimised.

The references are in `reference.npz`, see `make_reference.py`; the objective is written down once more in
`cases.py`. A solver that takes another way has room: from starts moved by up to half of their size, version
0.2 came to the same objectives to 2e-10 of their size, and to the same components to a match of 1 - 2e-10.
"""

import math
from functools import cache

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import xarray as xr
from contract import cases
from contract.cases import EXACT, MAKERS, case, fitted, match, references

import tparafac2 as tp

CLOSE = 1e-8  # the objective, relative to its size; and 1 - the match

every_case = pytest.mark.parametrize("name", MAKERS)


@cache
def model_of(name):
    return case(name).run()


def factors(model):
    return model.A_, model.B_, model.C_


def distance(one, other):
    """Squared difference relative to the size."""
    return np.sum((one - other) ** 2) / np.sum(other**2)


def patterns(name):
    """The reference's patterns, slice by slice."""
    one = case(name)
    widths = [x.shape[1] for x in one.X]
    return np.split(references()[name]["B"], np.cumsum(widths)[:-1])


def reference(name):
    found = references()[name]
    return found["A"], patterns(name), found["C"]


# --- minima -------------------------------------------------------------------------------------------------


@every_case
def test_objective(name):
    model, found = model_of(name), references()[name]
    assert model.converged_
    assert model.objective_ == pytest.approx(float(found["objective"]), rel=CLOSE)
    assert model.explained_variance_ == pytest.approx(float(found["explained_variance"]), abs=1e-6)


@every_case
def test_factors(name):
    model = model_of(name)
    assert distance(fitted(*factors(model)), fitted(*reference(name))) < CLOSE
    if case(name).unique:
        assert 1 - match((model.A_, list(model.B_), model.C_), reference(name)) <= CLOSE


@every_case
def test_objective_is_what_the_documentation_says(name):
    model = model_of(name)
    assert model.objective_ == pytest.approx(case(name).objective(*factors(model)), rel=CLOSE)


@pytest.mark.parametrize("name", ["tparafac2 complete", "tparafac2 nonnegative both", "cp", "tcmf"])
def test_the_same_from_another_start(name):
    rng = np.random.default_rng(3)
    start = tuple(
        None if x is None else x + 0.2 * x.std() * rng.standard_normal(x.shape) for x in case(name).start
    )
    model = case(name).run(init=start)
    assert model.objective_ == pytest.approx(float(references()[name]["objective"]), rel=CLOSE)


def test_every_start_of_several():
    """A list of starts: each is run, and the best is kept."""
    one = case("tparafac2 complete")
    poor = tuple(np.random.default_rng(5).random(x.shape) for x in one.start)
    model = one.run(init=[poor, one.start])
    assert len(model.starts_) == 2
    assert model.objective_ <= references()["tparafac2 complete"]["objective"] * (1 + CLOSE)


# --- constraints --------------------------------------------------------------------------------------------

RIGID = [
    name
    for name in MAKERS
    if name.startswith("parafac2") or (name.startswith("tparafac2") and case(name).terms.rigidity == math.inf)
]
BOUNDED = {
    "tparafac2 nonnegative patterns": "BC",
    "tparafac2 nonnegative both": "ABC",
    "tparafac2 sudden": "C",
    "tparafac2 strengths at zero": "C",
    "cp bounded": "ABC",
    "tcmf nonnegative rows": "A",
}


@pytest.mark.parametrize("name", RIGID)
def test_patterns_keep_their_sizes_and_angles(name):
    B = list(model_of(name).B_)
    products = np.stack([b.T @ b for b in B])
    # Where patterns are bounded as well, both cannot be met to the last digit.
    room = 1e-6 if "nonnegative" in case(name).settings else 1e-10
    assert np.abs(products - products[0]).max() < room * np.abs(products[0]).max()


@pytest.mark.parametrize("name", BOUNDED)
def test_what_must_not_be_negative(name):
    for letter, factor in zip("ABC", factors(model_of(name))):
        if letter in BOUNDED[name]:
            assert factor.min() >= -1e-9 * np.abs(factor).max()


def test_strengths_that_would_be_negative_are_zero():
    """There are other minima near: a pattern without strength may be anything."""
    truth = cases.absent(16)
    model = tp.Parafac2(3, init=cases.near(truth), **EXACT).fit(cases.noisy(truth))
    assert model.C_.min() >= 0
    assert (model.C_ == 0).sum() >= 2
    assert (references()["tparafac2 strengths at zero"]["C"] == 0).sum() == 4
    np.testing.assert_array_equal(
        model_of("tparafac2 strengths at zero").C_ < 1e-9,
        references()["tparafac2 strengths at zero"]["C"] == 0,
    )


@pytest.mark.parametrize("name", ["cp", "cp bounded"])
def test_patterns_of_cp_do_not_change(name):
    B = model_of(name).B_
    assert np.abs(B - B[0]).max() <= 1e-12 * np.abs(B).max()


@pytest.mark.parametrize("name", ["tcmf", "tcmf nonnegative rows"])
def test_tcmf_has_no_strengths(name):
    assert (model_of(name).C_ == 1).all()


def test_sparse_factors_have_zeros():
    model = model_of("tparafac2 sparse factors")
    zeros = np.abs(references()["tparafac2 sparse factors"]["A"]) == 0
    assert zeros.any()
    np.testing.assert_array_equal(np.abs(model.A_) <= 1e-9, zeros)


# --- evaluate, reconstruct, normalised, to_dataset ----------------------------------------------------------


def evaluated(name, X):
    weights = case(name).fit.get("weights")
    return model_of(name).evaluate(X, **({} if weights is None else {"weights": weights}))


@every_case
def test_evaluate_on_the_data_of_the_fit(name):
    model, found = model_of(name), evaluated(name, case(name).X)
    assert found.objective == pytest.approx(model.objective_, rel=CLOSE)
    assert found.explained_variance == pytest.approx(model.explained_variance_, abs=CLOSE)


@pytest.mark.parametrize(
    "name", ["tparafac2 missing entries", "tparafac2 entry weights", "tparafac2 rigidity 1", "cp", "tcmf"]
)
def test_evaluate_on_other_data(name):
    one, model = case(name), model_of(name)
    X = np.where(np.random.default_rng(4).random(one.X.shape) < 0.1, np.nan, 1.2 * one.X + 0.1)
    weights = np.broadcast_to(one.fit.get("weights", 1.0), X.shape)
    seen = np.isfinite(X)
    weights = weights / weights[seen].mean()
    squares = weights * np.nan_to_num(X - np.einsum("ir,kr,kjr->kij", *(model.A_, model.C_, model.B_))) ** 2
    error, norm = squares[seen].sum(), (weights * np.nan_to_num(X) ** 2)[seen].sum()
    found = evaluated(name, X)
    assert found.squared_error == pytest.approx(error, rel=CLOSE)
    assert found.explained_variance == pytest.approx(1 - error / norm, abs=CLOSE)
    # The terms are those of the fit, whatever the norm of other data.
    own = model.evaluate(one.X, **({} if "weights" not in one.fit else {"weights": one.fit["weights"]}))
    terms = model.objective_ - own.squared_error
    assert found.objective == pytest.approx(error + terms, rel=CLOSE)


@every_case
def test_reconstruct(name):
    model = model_of(name)
    parts = model.reconstruct()
    assert len(parts) == len(model.B_)
    np.testing.assert_allclose(np.concatenate(list(parts), axis=1), fitted(*factors(model)), atol=1e-12)
    metric = tp.metrics.reconstruct(model.A_, model.B_, model.C_)
    np.testing.assert_allclose(np.concatenate(list(metric), axis=1), fitted(*factors(model)), atol=1e-12)


@every_case
def test_normalised(name):
    model = model_of(name)
    A, B, C = model.normalised()
    np.testing.assert_allclose(fitted(A, B, C), fitted(*factors(model)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(A, axis=0), 1)
    for pattern in B:
        np.testing.assert_allclose(np.linalg.norm(pattern, axis=0), 1)


@pytest.mark.parametrize("name", ["tparafac2 uneven times", "tparafac2 nonnegative both", "cp"])
def test_to_dataset(name):
    model = model_of(name)
    found = model.to_dataset()
    A, B, C = model.normalised()
    assert found.loadings.dims == ("rows", "component")
    assert found.patterns.dims == ("time", "columns", "component")
    assert found.strengths.dims == ("time", "component")
    np.testing.assert_allclose(found.loadings, A, atol=1e-12)
    np.testing.assert_allclose(found.patterns, B, atol=1e-12)
    np.testing.assert_allclose(found.strengths, C, atol=1e-12)
    np.testing.assert_array_equal(found.component, np.arange(1, C.shape[1] + 1))
    sums = np.linalg.norm(C, axis=0)
    np.testing.assert_allclose(found.share, sums / sums.sum(), atol=1e-9)


def test_to_dataset_has_the_users_labels():
    X = labelled(case("cp").X)
    model = tp.CP(3, init=case("cp").start, **EXACT).fit(**named(X))
    found = model.to_dataset()
    assert found.loadings.dims == ("who", "component")
    assert found.patterns.dims == ("year", "what", "component")
    for name in X.dims:
        np.testing.assert_array_equal(found[name], X[name])
    ours = references()["cp"]["A"]
    ours = ours / np.linalg.norm(ours, axis=0)
    cosines = np.abs(np.sum(found.loadings.values * ours, axis=0))
    np.testing.assert_allclose(cosines, 1, atol=CLOSE)


@pytest.mark.parametrize("name", ["tparafac2 rigidity 1", "parafac2 ragged", "cp bounded", "tcmf"])
def test_a_saved_model_is_the_same(name, tmp_path):
    model = model_of(name)
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert type(again) is type(model)
    for one, other in zip(factors(again), factors(model)):
        for x, y in zip(one, other):
            np.testing.assert_array_equal(x, y)
    assert again.objective_ == model.objective_
    assert evaluated(name, case(name).X).objective == pytest.approx(again.objective_, rel=CLOSE)
    if name != "parafac2 ragged":
        np.testing.assert_allclose(again.transform(case(name).X), model.transform(case(name).X), rtol=1e-9)


# --- transform ----------------------------------------------------------------------------------------------

RECTANGULAR = [name for name in MAKERS if name != "parafac2 ragged"]


def predicted(name, A):
    B = model_of(name).B_
    return np.einsum("ir,kr,kjr->kij", A, model_of(name).C_, B)


@pytest.mark.parametrize("name", RECTANGULAR)
def test_transform_of_other_rows(name):
    found = model_of(name).transform(cases.new_rows(name))
    _, B, C = reference(name)
    expected = np.einsum("ir,kr,kjr->kij", references()[name]["transform"], C, np.stack(B))
    assert distance(predicted(name, found), expected) < CLOSE


@pytest.mark.parametrize("name", RECTANGULAR)
def test_transform_of_the_rows_of_the_fit(name):
    """The weights of the rows are those of the fit only if they are said."""
    one, weights = case(name), case(name).fit.get("weights")
    found = model_of(name).transform(one.X, **({} if weights is None else {"weights": weights}))
    assert distance(found, model_of(name).A_) < 1e-7


def by_least_squares(one, model, X, strength, nonnegative):
    """Loadings row by row: the squares of what is observed, and of the loadings."""
    patterns = np.concatenate([b * c for b, c in zip(model.B_, model.C_)])
    rank = patterns.shape[1]
    found = []
    for row in np.concatenate(list(X), axis=1):
        seen = np.isfinite(row)
        left = np.concatenate([patterns[seen], math.sqrt(strength) * np.eye(rank)])
        right = np.concatenate([row[seen], np.zeros(rank)])
        solve = scipy.optimize.nnls if nonnegative else np.linalg.lstsq
        found.append(solve(left, right)[0])
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "nonnegative"),
    [
        ("tparafac2 complete", False),
        ("tparafac2 missing entries", False),
        ("tparafac2 nonnegative both", True),
        ("tparafac2 lambdas", False),
        ("parafac2", False),
        ("cp bounded", True),
        ("tcmf", False),
        ("tcmf nonnegative rows", True),
    ],
)
def test_transform_is_least_squares(name, nonnegative):
    one, model = case(name), model_of(name)
    n = 2 if one.terms.fixed else 3
    strength = one.terms.lambdas[0] if one.terms.lambdas else 0.0
    if one.terms.smoothness is not None:
        strength = one.terms.smoothness * np.sqrt(np.nansum(one.X**2)) ** (2 - 2 / n)
    rows = cases.new_rows(name)
    expected = by_least_squares(one, model, rows, strength, nonnegative)
    np.testing.assert_allclose(model.transform(rows), expected, atol=1e-6 * np.abs(expected).max())


def test_inverse_transform():
    model = model_of("tparafac2 rigidity 1")
    A = np.random.default_rng(0).random((4, 3))
    np.testing.assert_allclose(model.inverse_transform(A), predicted("tparafac2 rigidity 1", A), atol=1e-12)


# --- the same data in another form --------------------------------------------------------------------------


def labelled(X):
    K, I, J = X.shape
    coordinates = {"year": np.arange(2000, 2000 + K), "who": [f"row {i:03}" for i in range(I)]}
    coordinates["what"] = [f"column {j:03}" for j in range(J)]
    return xr.DataArray(X, coordinates, dims=("year", "who", "what"))


def named(X):
    return {"X": X, "dims": {"time": "year", "rows": "who", "columns": "what"}}


def shuffled_frames(X):
    """Rows and columns of all but the first slice in another order."""
    frames = [piece.to_pandas() for piece in labelled(X)]
    rng = np.random.default_rng(0)
    rest = [frame.iloc[rng.permutation(X.shape[1]), rng.permutation(X.shape[2])] for frame in frames[1:]]
    return dict(zip(range(2000, 2000 + len(X)), [frames[0], *rest]))


def long_table(X):
    frame = labelled(X).to_dataframe("value").reset_index().sample(frac=1, random_state=0)
    return tp.Table(frame, rows="who", columns="what", time="year", values="value", absent="missing")


FORMS = {
    "list of arrays": lambda X: {"X": list(X)},
    "sparse": lambda X: {"X": [scipy.sparse.csr_array(x) for x in X]},
    "DataArray": lambda X: named(labelled(X).transpose("who", "year", "what")),
    "frames by time": lambda X: {"X": shuffled_frames(X)},
    "table": lambda X: {"X": long_table(X)},
    "Prepared": lambda X: {"X": tp.Preparation().apply(X)},
    "Fortran order": lambda X: {"X": np.asfortranarray(X)},
    "even times": lambda X: {"X": X, "times": 10.0 + 0.5 * np.arange(len(X))},
    "all of one weight": lambda X: {"X": X, "weights": np.full(X.shape[1], 3.0)},
}
MISSING = {
    "mask": lambda X: {"X": np.nan_to_num(X, nan=9.0), "mask": np.isfinite(X)},
    "masked array": lambda X: {"X": np.ma.masked_invalid(X)},
    "table": lambda X: {"X": long_table(X).slices()},
    "table without the lines": lambda X: {"X": table_without_missing(X)},
    "weights of zero": lambda X: {"X": np.nan_to_num(X, nan=9.0), "weights": np.isfinite(X).astype(float)},
}


def table_without_missing(X):
    frame = labelled(X).to_dataframe("value").reset_index().dropna()
    return tp.Table(frame, rows="who", columns="what", time="year", values="value", absent="missing")


def same(name, given, close=CLOSE, **other):
    """Check that data in another form come to the reference."""
    one = case(name)
    settings = EXACT | one.settings | {"init": one.start} | other
    model = one.model(3, **settings).fit(**given)
    found = references()[name]
    assert model.objective_ == pytest.approx(float(found["objective"]), rel=close)
    assert 1 - match((model.A_, list(model.B_), model.C_), reference(name)) <= close
    return model


@pytest.mark.parametrize("form", FORMS)
def test_complete_data_in_another_form(form):
    same("tparafac2 complete", FORMS[form](case("tparafac2 complete").X))


@pytest.mark.parametrize("form", MISSING)
def test_missing_entries_in_another_form(form):
    same("tparafac2 missing entries", MISSING[form](case("tparafac2 missing entries").X))


@pytest.mark.parametrize("name", ["tparafac2 tall", "tparafac2 tall missing"])
def test_blocks_of_rows_on_disk(name, tmp_path):
    np.save(tmp_path / "X.npy", case(name).X)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    same(name, {"X": tp.Stored(X, memory="2MB")})


@pytest.mark.parametrize("name", ["tparafac2 tall", "tparafac2 wide"])
def test_without_compression(name):
    same(name, {"X": case(name).X}, compress=False)


def test_single_precision():
    model = same("tparafac2 lambdas", {"X": case("tparafac2 lambdas").X}, close=1e-4, dtype="float32")
    assert model.A_.dtype == np.float64


def test_weights_are_relative():
    one = case("tparafac2 row weights")
    same("tparafac2 row weights", {"X": one.X, "weights": 7.0 * one.fit["weights"]})


def test_times_in_another_unit():
    one = case("tparafac2 uneven times")
    same("tparafac2 uneven times", {"X": one.X, "times": 3.0 * one.fit["times"] - 100.0})


def test_data_in_another_unit():
    """The smoothness has no dimension."""
    one = case("tparafac2 rigidity 1")
    A, B, C = (10.0 * x for x in one.start)
    model = one.run(init=(A, B, C))
    larger = tp.TParafac2(3, **EXACT, **one.settings, init=(A, B, C)).fit(1000.0 * one.X)
    assert larger.objective_ == pytest.approx(1e6 * model.objective_, rel=CLOSE)
    assert 1 - match(factors(larger), factors(model)) <= CLOSE
