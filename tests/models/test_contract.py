"""What every model promises about its results."""

import functools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.data import take_in
from tparafac2.penalties import NonNegative, Ridge, TemporalSmoothness

SETTINGS = {"n_starts": 3, "random_state": 0, "tol": 1e-7}
MODELS = {
    "TParafac2": tp.TParafac2(2, 1e-3, **SETTINGS),
    "TParafac2 lambdas": tp.TParafac2(2, lambda_a=0.1, lambda_b=1000.0, lambda_d=0.1, **SETTINGS),
    "Parafac2": tp.Parafac2(2, **SETTINGS),
    "Parafac2 ridge": tp.Parafac2(2, lambda_a=0.3, lambda_b=0.1, lambda_d=0.2, **SETTINGS),
    "TemporalCMF": tp.TemporalCMF(2, 1e-3, **SETTINGS),
    "NNtCMF": tp.TemporalCMF(2, lambda_a=0.5, lambda_b=20.0, nonnegative="rows", **SETTINGS),
    "CP": tp.CP(2, **SETTINGS),
    "CP ridge": tp.CP(2, nonnegative_strengths=True, lambda_a=0.3, lambda_b=0.1, lambda_d=0.2, **SETTINGS),
}
STARTS = {
    "start": "i",
    "objective": "f",
    "explained_variance": "f",
    "n_iter": "i",
    "seconds": "f",
    "converged": "b",
    "feasible": "b",
    "degenerate": "b",
    "vanished": "i",
    "chosen": "b",
    "fms_to_chosen": "f",
}
SHAPE = (8, 20, 24)  # K, I, J
R = 2


@pytest.fixture(scope="module")
def fit_of(small_data):
    """Give the fitted model of a name; each is fitted once."""
    return functools.cache(lambda name: MODELS[name].fit(small_data.X))


@pytest.fixture(params=MODELS)
def fitted(request, fit_of):
    return fit_of(request.param)


def penalty(model, X):
    """Write the norm penalties of a model out, from the words of its documentation."""
    norm = np.linalg.norm(X)
    kind = type(model).__name__
    lambdas = [getattr(model, name) for name in ("lambda_a", "lambda_b", "lambda_d") if hasattr(model, name)]
    if None in lambdas:
        smoothness = getattr(model, "smoothness", None)
        n = len(lambdas)
        lambdas = [0.0] * n if smoothness is None else [smoothness * norm ** (2 - 2 / n)] * n
    A, B, C = model.A_, model.B_, model.C_
    if kind in ("TParafac2", "TemporalCMF"):
        on_b = np.sum(np.diff(B, axis=0) ** 2) + 1e-6 * np.sum(B**2)
    else:
        on_b = np.sum(B[0] ** 2) if kind == "CP" else np.sum(B**2)
    values = [np.sum(A**2), on_b, np.sum(C**2)]
    return sum(weight * value for weight, value in zip(lambdas, values))


# --- factors ------------------------------------------------------------------------------------------------


def test_shapes_and_types(fitted):
    K, I, J = SHAPE
    assert (fitted.A_.shape, fitted.B_.shape, fitted.C_.shape) == ((I, R), (K, J, R), (K, R))
    assert all(factor.dtype == np.float64 for factor in (fitted.A_, fitted.B_, fitted.C_))
    assert all(np.isfinite(factor).all() for factor in (fitted.A_, fitted.B_, fitted.C_))


@pytest.mark.parametrize("name", ["TParafac2", "TParafac2 lambdas", "Parafac2", "Parafac2 ridge", "CP ridge"])
def test_strengths_are_not_negative(name, fit_of):
    assert (fit_of(name).C_ >= 0).all()


def test_strengths_may_be_negative_where_nothing_is_asked(fit_of):
    assert (fit_of("CP").C_ < 0).any()


@pytest.mark.parametrize("name", ["TemporalCMF", "NNtCMF"])
def test_strengths_are_fixed(name, fit_of):
    assert (fit_of(name).C_ == 1.0).all()


def test_loadings_are_not_negative_where_asked(fit_of):
    assert (fit_of("NNtCMF").A_ >= 0).all()
    assert (fit_of("NNtCMF").A_ == 0).any()  # the constraint is at work
    assert (fit_of("TemporalCMF").A_ < 0).any()


@pytest.mark.parametrize("name", ["TParafac2", "TParafac2 lambdas", "Parafac2", "Parafac2 ridge"])
def test_patterns_meet_the_parafac2_constraint(name, fit_of):
    assert tp.metrics.parafac2_violation(fit_of(name).B_) < 1e-8


@pytest.mark.parametrize("name", ["CP", "CP ridge"])
def test_patterns_of_cp_do_not_change(name, fit_of):
    first, *others = fit_of(name).B_
    assert all((pattern == first).all() for pattern in others)


def test_components_are_ordered_by_size_and_have_settled_signs(fitted):
    sizes = np.linalg.norm(fitted.A_, axis=0) * np.linalg.norm(fitted.B_, axis=(0, 1))
    sizes *= np.linalg.norm(fitted.C_, axis=0)
    assert (np.diff(sizes) <= 1e-12 * sizes[0]).all()
    assert (fitted.A_.sum(axis=0) >= 0).all()


# --- numbers ------------------------------------------------------------------------------------------------


def test_objective_is_the_one_in_the_documentation(fitted, small_data):
    sse = np.sum((small_data.X - fitted.reconstruct()) ** 2)
    assert fitted.objective_ == pytest.approx(sse + penalty(fitted, small_data.X), rel=1e-10)


def test_explained_variance(fitted, small_data):
    sse = np.sum((small_data.X - fitted.reconstruct()) ** 2)
    assert fitted.explained_variance_ == pytest.approx(1 - sse / np.sum(small_data.X**2), abs=1e-12)
    assert fitted.explained_variance_ == pytest.approx(tp.metrics.explained_variance(small_data.X, fitted))
    assert 0.3 < fitted.explained_variance_ < 1


def test_reconstruct(fitted):
    by_hand = np.stack([fitted.A_ @ np.diag(c) @ B.T for c, B in zip(fitted.C_, fitted.B_)])
    np.testing.assert_allclose(fitted.reconstruct(), by_hand, rtol=1e-12, atol=1e-12 * np.abs(by_hand).max())


def test_normalised_factors_describe_the_same_data(fitted):
    A, B, C = fitted.normalised()
    np.testing.assert_allclose(np.linalg.norm(A, axis=0), 1)
    np.testing.assert_allclose(np.linalg.norm(B, axis=1), 1)
    again = tp.metrics.reconstruct(A, B, C)
    np.testing.assert_allclose(again, fitted.reconstruct(), atol=1e-10 * np.abs(again).max())


def test_all_ended_well(fitted):
    assert fitted.converged_ is True
    assert fitted.status_ == "converged"
    assert set(fitted.feasibility_gaps_) == {"A", "B", "C"}
    assert all(0 <= gap < 1e-5 for gap in fitted.feasibility_gaps_.values())
    assert isinstance(fitted.notes_, tuple)
    assert isinstance(fitted.n_iter_, int)


# --- tables -------------------------------------------------------------------------------------------------


def test_starts_table(fitted):
    table = fitted.starts_
    assert isinstance(table, pd.DataFrame)
    assert len(table) == 3
    assert set(STARTS) | {"status"} == set(table.columns)
    assert all(table[name].dtype.kind == kind for name, kind in STARTS.items())
    assert table["start"].tolist() == [0, 1, 2]
    assert set(table["status"]) == {"converged"}
    assert table["chosen"].sum() == 1


def test_the_chosen_start_is_the_best_and_the_one_given_back(fitted):
    table = fitted.starts_
    chosen = table[table["chosen"]].iloc[0]
    assert chosen["objective"] == table.loc[~table["degenerate"], "objective"].min() == fitted.objective_
    assert chosen["explained_variance"] == fitted.explained_variance_
    assert chosen["n_iter"] == fitted.n_iter_
    assert chosen["fms_to_chosen"] == pytest.approx(1)
    assert table["fms_to_chosen"].between(0, 1 + 1e-12).all()


def test_trace_table(fitted):
    trace = fitted.trace_
    assert isinstance(trace, pd.DataFrame)
    assert list(trace.columns) == ["iteration", "seconds", "objective", "gap_a", "gap_b", "gap_c"]
    assert trace["iteration"].tolist() == list(range(1, fitted.n_iter_ + 1))
    assert (trace["seconds"].diff().iloc[1:] >= 0).all()
    assert (trace[["gap_a", "gap_b", "gap_c"]] >= 0).all(axis=None)
    gaps = trace[["gap_a", "gap_b", "gap_c"]].iloc[-1].tolist()
    assert gaps == list(fitted.feasibility_gaps_.values())


def test_the_trace_ends_at_the_objective(fitted):
    # Not exactly: the last point is projected onto the constraints, and the objective evaluated there.
    assert fitted.trace_["objective"].iloc[-1] == pytest.approx(fitted.objective_, rel=1e-5)


def test_summary_and_html(fitted):
    assert f"{fitted.explained_variance_:.4f}" in fitted.summary()
    assert fitted.summary().startswith(type(fitted).__name__)
    assert f"{fitted.explained_variance_:.4f}" in fitted._repr_html_()


# --- labels -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labelled(small_data):
    K, I, J = small_data.X.shape
    years = np.array([f"{2000 + k}-01-01" for k in range(K)], dtype="datetime64[ns]")
    coords = {
        "year": years,
        "author": [f"author {i}" for i in range(I)],
        "word": [f"word {j}" for j in range(J)],
    }
    return xr.DataArray(small_data.X, coords, ("year", "author", "word"))


def test_labels_come_back(labelled):
    ds = tp.TParafac2(R, **SETTINGS).fit(labelled.transpose("word", "year", "author")).to_dataset()
    assert ds.loadings.dims == ("author", "component")
    assert ds.patterns.dims == ("year", "word", "component")
    assert ds.strengths.dims == ("year", "component")
    for name in ("year", "author", "word"):
        assert (ds[name].values == labelled[name].values).all()
    assert ds.component.values.tolist() == [1, 2]


def test_labels_do_not_change_the_factors(labelled, small_data):
    plain = tp.TParafac2(R, **SETTINGS).fit(small_data.X)
    turned = tp.TParafac2(R, **SETTINGS).fit(labelled.transpose("word", "year", "author"), times="even")
    assert plain.B_.tobytes() == turned.B_.tobytes()
    renamed = labelled.rename(year="p", author="q", word="r")
    dims = {"time": "p", "rows": "q", "columns": "r"}
    told = tp.TParafac2(R, **SETTINGS).fit(renamed, dims=dims, times="even")
    assert plain.B_.tobytes() == told.B_.tobytes()
    assert told.to_dataset().loadings.dims == ("q", "component")


def test_labels_of_data_frames_come_back(small_data):
    rows, columns = [f"r{i}" for i in range(20)], [f"c{j}" for j in range(24)]
    frames = [pd.DataFrame(piece, index=rows, columns=columns) for piece in small_data.X]
    ds = tp.CP(R, **SETTINGS).fit(frames).to_dataset()
    assert ds.loadings["rows"].values.tolist() == rows
    assert ds.patterns["columns"].values.tolist() == columns
    assert ds.patterns["time"].values.tolist() == list(range(8))


def test_data_that_were_taken_in_give_the_same_fit_without_warnings(small_data):
    model = tp.TParafac2(2, 1e-3, n_starts=2, max_iter=3, random_state=0)
    taken = model.fit_intake(take_in(small_data.X), {"center": "rows"}).result_
    with pytest.warns(tp.ConvergenceWarning):
        given = model.fit(small_data.X).result_
    np.testing.assert_array_equal(taken.B, given.B)
    assert taken.objective == given.objective
    assert taken.preparation == {"center": "rows"}


def test_labels_appear_in_the_summary(labelled):
    text = tp.TParafac2(R, **SETTINGS).fit(labelled).summary()
    assert "20 author x 24 word x 8 year" in text
    assert "2000-01-01: word " in text


# --- files --------------------------------------------------------------------------------------------------


def assert_same_result(ours, theirs):
    for name in ("A_", "C_"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()
    assert isinstance(ours.B_, list) == isinstance(theirs.B_, list)
    assert all(mine.tobytes() == other.tobytes() for mine, other in zip(ours.B_, theirs.B_, strict=True))
    for name in ("objective_", "explained_variance_", "status_", "notes_", "n_iter_", "converged_"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_a_loaded_model_is_the_saved_one_and_can_be_fitted_again(fitted, small_data, tmp_path):
    fitted.save(tmp_path / "model.npz")
    loaded = tp.load(tmp_path / "model.npz")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert_same_result(loaded, fitted)
    assert loaded.starts_.equals(fitted.starts_)
    assert loaded.trace_.equals(fitted.trace_)
    assert loaded.summary() == fitted.summary()
    assert_same_result(loaded.fit(small_data.X), fitted)


@pytest.mark.slow
def test_labels_and_penalties_survive_the_file(labelled, tmp_path):
    terms = {"penalties_b": [NonNegative()], "penalties_c": (TemporalSmoothness(0.5), Ridge(0.1))}
    model = tp.TParafac2(R, max_iter=20, n_starts=1, random_state=0, **terms)
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(labelled)
    model.save(tmp_path / "model.npz")
    loaded = tp.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    assert loaded.to_dataset().identical(model.to_dataset())


def test_ragged_patterns_survive_the_file(small_data, tmp_path):
    slices = [piece[:, : 24 - k] for k, piece in enumerate(small_data.X)]
    model = tp.Parafac2(R, **SETTINGS).fit(slices)
    model.save(tmp_path / "model.npz")
    assert_same_result(tp.load(tmp_path / "model.npz"), model)


def test_what_a_file_cannot_keep_is_named(small_data, tmp_path):
    model = tp.CP(R, n_starts=1, random_state=np.random.default_rng(0), tol=1e-3).fit(small_data.X)
    model.save(tmp_path / "model.npz")
    with pytest.warns(UserWarning, match="random_state could not be kept"):
        loaded = tp.load(tmp_path / "model.npz")
    assert loaded.random_state is None
    assert_same_result(loaded, model)


def test_a_file_of_an_unknown_model_is_refused(small_data, tmp_path):
    class Parafac3(tp.Parafac2):
        pass

    Parafac3(R, **SETTINGS).fit(small_data.X).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="holds a 'Parafac3', which this version does not know"):
        tp.load(tmp_path / "model.npz")
