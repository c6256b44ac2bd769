"""scikit-learn's conventions, which its own checks skip for three-dimensional data."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import tparafac2 as tp
from tparafac2.penalties import NonNegative, Ridge

QUICK = {"n_starts": 2, "random_state": 0, "tol": 1e-4}
MODELS = {
    "TParafac2": lambda **more: tp.TParafac2(2, **(QUICK | more)),
    "Parafac2": lambda **more: tp.Parafac2(2, **(QUICK | more)),
    "TemporalCMF": lambda **more: tp.TemporalCMF(2, **(QUICK | more)),
    "NNtCMF": lambda **more: tp.TemporalCMF(2, nonnegative="rows", **(QUICK | more)),
    "CP": lambda **more: tp.CP(2, **(QUICK | more)),
}

each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def factors(model):
    return model.A_.tobytes(), np.asarray(model.B_).tobytes(), model.C_.tobytes()


def vary(value):
    """Give another value of the same parameter: it is only stored, not used."""
    return ("other", value)


# --- parameters ---------------------------------------------------------------------------------------------


@each_model
def test_every_parameter_is_stored_as_given_and_under_its_name(make):
    names = make().get_params()
    given = {name: vary(value) for name, value in names.items()}
    model = type(make())(**given)
    assert model.get_params() == given
    assert all(getattr(model, name) is value for name, value in given.items())


@each_model
def test_set_params_changes_what_it_names_and_gives_the_model_back(make):
    model = make()
    before = model.get_params()
    assert model.set_params(rank=5, tol=1e-3) is model
    assert model.get_params() == before | {"rank": 5, "tol": 1e-3}
    assert model.set_params() is model


@each_model
def test_set_params_refuses_an_unknown_name_and_lists_the_known(make):
    model = make()
    with pytest.raises(ValueError, match="no parameter 'ranks'") as error:
        model.set_params(ranks=3)
    assert "rank" in str(error.value).split("it has")[1]
    assert not hasattr(model, "ranks")


@pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")
@each_model
def test_clone_has_the_parameters_and_not_the_result(make, small_data):
    terms = [NonNegative()]
    model = make(penalties_a=terms, tol=1e-3).fit(small_data.X)
    twin = clone(model)
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    assert twin.penalties_a is not terms
    with pytest.raises(tp.NotFittedError):
        twin.A_  # noqa: B018


def test_clone_takes_generators_and_given_factors(small_data):
    init = (small_data.A, small_data.B, small_data.C)
    twin = clone(tp.TParafac2(2, init=init, random_state=np.random.default_rng(3)))
    assert all(np.array_equal(mine, given) for mine, given in zip(twin.init, init))
    assert twin.random_state.integers(2**60) == np.random.default_rng(3).integers(2**60)


def test_repr_shows_what_differs_from_the_default():
    assert repr(tp.TParafac2(3)) == "TParafac2(rank=3)"
    assert repr(tp.TParafac2(3, smoothness=0.01, n_jobs=-1)) == "TParafac2(rank=3, smoothness=0.01)"
    assert repr(tp.CP(2, tol=1e-8)) == "CP(rank=2)"
    assert repr(tp.Parafac2(2, penalties_b=[Ridge(1.0)])) == (
        "Parafac2(rank=2, penalties_b=[Ridge(strength=1.0)])"
    )


def test_repr_can_be_typed_in_again():
    model = tp.TemporalCMF(3, lambda_a=0.1, lambda_b=10.0, nonnegative="rows", dtype="float32")
    again = eval(repr(model), {"TemporalCMF": tp.TemporalCMF})
    assert again.get_params() == model.get_params()


def test_repr_of_given_factors_is_short(small_data):
    model = tp.TParafac2(2, init=(small_data.A, small_data.B, small_data.C))
    assert len(repr(model)) < 120


def test_a_parameter_named_by_position_is_the_rank_or_the_smoothness():
    assert tp.TParafac2(3, 0.01).smoothness == 0.01
    with pytest.raises(TypeError):
        tp.TParafac2(3, 0.01, 0.1)


# --- fit ----------------------------------------------------------------------------------------------------


@each_model
def test_fit_gives_the_model_back_and_changes_neither_data_nor_parameters(make, small_data):
    X = small_data.X.copy()
    init = tuple(factor.copy() for factor in (small_data.A, small_data.B, small_data.C))
    for given in ("uniform", init):
        model = make(init=given)
        stored = model.get_params()
        frozen = copy.deepcopy(stored)
        assert model.fit(X) is model
        assert X.tobytes() == small_data.X.tobytes()
        assert all(model.get_params()[name] is value for name, value in stored.items())
        assert all(
            mine.tobytes() == other.tobytes()
            for mine, other in zip(init, (small_data.A, small_data.B, small_data.C))
        )
        assert {**stored, "init": None} == {**frozen, "init": None}


@each_model
def test_fit_does_not_touch_its_input_even_as_a_list(make, small_data):
    slices = [piece.copy() for piece in small_data.X]
    make().fit(slices)
    assert all(mine.tobytes() == given.tobytes() for mine, given in zip(slices, small_data.X))


@each_model
def test_fitting_twice_gives_the_same_bytes(make, small_data):
    model = make().fit(small_data.X)
    first = factors(model)
    assert factors(model.fit(small_data.X)) == first
    assert factors(make().fit(small_data.X)) == first


@each_model
def test_a_new_fit_forgets_the_old_one(make, small_data):
    other = tp.synthetic.easy(1, 0.1, n_times=5, n_rows=15, n_columns=14, n_concepts=2)
    model = make().fit(small_data.X)
    model.fit(other.X)
    fresh = make().fit(other.X)
    assert factors(model) == factors(fresh)
    assert model.reconstruct().shape == other.X.shape
    assert set(vars(model)) == set(vars(fresh))
    assert model.starts_.drop(columns="seconds").equals(fresh.starts_.drop(columns="seconds"))


def test_a_parameter_changed_after_the_fit_is_not_part_of_its_record(small_data):
    model = tp.CP(2, **QUICK).fit(small_data.X)
    model.set_params(rank=1)
    assert model.result_.parameters["rank"] == 2
    assert model.A_.shape[1] == 2
    assert model.fit(small_data.X).A_.shape[1] == 1


@each_model
def test_y_is_ignored(make, small_data):
    assert factors(make().fit(small_data.X, np.arange(3))) == factors(make().fit(small_data.X))


def test_last_step_of_a_pipeline(small_data):
    steps = [("half", FunctionTransformer(lambda X: X / 2)), ("model", MODELS["TParafac2"]())]
    pipeline = Pipeline(steps)
    pipeline.set_params(model__rank=1)
    pipeline.fit(small_data.X)
    assert pipeline["model"].A_.shape == (20, 1)
    check_is_fitted(pipeline["model"])
    assert factors(pipeline["model"]) == factors(tp.TParafac2(1, **QUICK).fit(small_data.X / 2))
    with pytest.raises(tp.NotFittedError):
        clone(pipeline)["model"].A_  # noqa: B018


# --- before the fit -----------------------------------------------------------------------------------------

RESULTS = [
    "A_",
    "B_",
    "C_",
    "objective_",
    "explained_variance_",
    "feasibility_gaps_",
    "constraint_violations_",
    "converged_",
    "n_iter_",
    "status_",
    "notes_",
    "starts_",
    "trace_",
    "result_",
]
CALLS = {
    "reconstruct": lambda model, folder: model.reconstruct(),
    "normalised": lambda model, folder: model.normalised(),
    "to_dataset": lambda model, folder: model.to_dataset(),
    "summary": lambda model, folder: model.summary(),
    "save": lambda model, folder: model.save(folder / "model.npz"),
}


@each_model
@pytest.mark.parametrize("name", RESULTS)
def test_results_before_the_fit_are_refused_by_name(make, name):
    model = make()
    with pytest.raises(tp.NotFittedError, match=f"This {type(model).__name__} is not fitted yet: call fit"):
        getattr(model, name)
    assert not hasattr(model, name)


@pytest.mark.parametrize("name", RESULTS)
def test_the_error_names_what_was_asked_for(name):
    with pytest.raises(tp.NotFittedError, match=rf"\b{name}\b"):
        getattr(tp.CP(2), name)


@each_model
@pytest.mark.parametrize("name", CALLS)
def test_calls_before_the_fit_are_refused(make, name, tmp_path):
    with pytest.raises(tp.NotFittedError, match="is not fitted yet: call fit"):
        CALLS[name](make(), tmp_path)
    assert not list(tmp_path.iterdir())


@each_model
def test_check_is_fitted_knows(make, small_data):
    model = make()
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(small_data.X))


def test_a_failed_first_fit_leaves_the_model_unfitted(small_data):
    model = tp.CP(2)
    with pytest.raises(ValueError):
        model.fit(small_data.X * np.nan)
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(model)


def test_other_missing_attributes_are_plain_errors():
    with pytest.raises(AttributeError, match="TParafac2 has no attribute 'predict'") as error:
        tp.TParafac2(2).predict  # noqa: B018
    assert not isinstance(error.value, tp.NotFittedError)


# --- copies and pictures ------------------------------------------------------------------------------------

COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),  # noqa: S301 - what joblib does with models
}


@each_model
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES.keys())
def test_copies_are_as_good_as_the_original(make, duplicate, small_data):
    unfitted = duplicate(make(tol=1e-3))
    assert unfitted.get_params() == make(tol=1e-3).get_params()
    with pytest.raises(tp.NotFittedError):
        unfitted.A_  # noqa: B018
    model = make().fit(small_data.X)
    twin = duplicate(model)
    assert factors(twin) == factors(model)
    assert twin.summary() == model.summary()
    assert twin.starts_.equals(model.starts_)
    assert factors(twin.fit(small_data.X)) == factors(model)


def test_a_deep_copy_shares_nothing(small_data):
    model = MODELS["TParafac2"]().fit(small_data.X)
    twin = copy.deepcopy(model)
    assert not any(np.shares_memory(getattr(twin, name), getattr(model, name)) for name in ("A_", "B_", "C_"))


@each_model
def test_html_before_and_after_the_fit(make, small_data):
    model = make()
    before = model._repr_html_()
    assert f"<pre>{type(model).__name__}(rank=2" in before
    model.fit(small_data.X)
    after = model._repr_html_()
    assert "Converged" in after
    assert "component" in after
    assert "20 rows x 24 columns x 8 time" in after


def test_html_escapes_parameters():
    assert "<script>" not in tp.CP(2, init="<script>")._repr_html_()
