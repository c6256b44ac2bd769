"""What must not change the answer."""

import functools

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.starts import batch_size

pytestmark = pytest.mark.slow

EXACT = {"tol": 1e-12, "feasibility_tol": 1e-7}
MODELS = {
    "TParafac2": lambda **more: tp.TParafac2(2, 1e-3, **(EXACT | more)),
    "Parafac2": lambda **more: tp.Parafac2(2, **(EXACT | more)),
    "TemporalCMF": lambda **more: tp.TemporalCMF(2, 1e-3, **(EXACT | more)),
    "NNtCMF": lambda **more: tp.TemporalCMF(2, 1e-3, nonnegative="rows", **(EXACT | more)),
    "CP": lambda **more: tp.CP(2, **(EXACT | more)),
}
each_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def data():
    """Concepts so clear that all starts of all models end in one minimum."""
    return tp.synthetic.easy(seed=1, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2)


@pytest.fixture(scope="module")
def plain(data):
    """Fit a model to the data as they are; each is fitted once. `near` begins at the truth."""

    @functools.cache
    def fit(name, **settings):
        near = {"init": start_from(data)} if settings.pop("near", False) else {}
        return MODELS[name](**near, **settings).fit(data.X)

    return fit


def factors(model):
    return model.A_, np.asarray(model.B_), model.C_


def assert_same_bytes(ours, theirs):
    assert all(mine.tobytes() == other.tobytes() for mine, other in zip(factors(ours), factors(theirs)))
    assert ours.objective_ == theirs.objective_


def assert_close(ours, theirs, *, tol=1e-5, objective=1e-9):
    """Compare the objective more closely than the factors: it is flat at the minimum."""
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=objective)
    for mine, other in zip(factors(ours), factors(theirs)):
        np.testing.assert_allclose(mine, other, rtol=0, atol=tol * np.abs(other).max())


def start_from(data):
    return data.A, data.B, data.C


# --- scale and units ----------------------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize("factor", [1e-3, 1e150, 1e-150])
def test_the_unit_of_the_data_does_not_matter(name, factor, data, plain):
    settings = {"n_starts": 1, "random_state": 0, "tol": 1e-9}
    usual, scaled = plain(name, **settings), MODELS[name](**settings).fit(data.X * factor)
    assert scaled.objective_ / factor / factor == pytest.approx(usual.objective_, rel=1e-9)
    assert scaled.explained_variance_ == pytest.approx(usual.explained_variance_, abs=1e-9)
    for mine, other in zip(scaled.normalised(), usual.normalised()):
        np.testing.assert_allclose(mine / np.abs(mine).max(), other / np.abs(other).max(), rtol=0, atol=1e-5)
    assert scaled.notes_ == usual.notes_


@pytest.mark.parametrize("lambdas", [(10.0, 10.0, 0.1), (0.1, 10.0, 10.0), (1e-3, 1e-3, 1e7)])
@pytest.mark.parametrize("seed", [0, 1])
def test_only_the_product_of_the_lambdas_matters(lambdas, seed):
    X = tp.synthetic.easy(seed, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2).X

    def fit(a, b, d):
        given = {"lambda_a": a, "lambda_b": b, "lambda_d": d}
        return tp.TParafac2(2, **given, n_starts=3, random_state=0, max_iter=600, **EXACT).fit(X)

    ours, theirs = fit(*lambdas), fit(0.1, 1000.0, 0.1)
    assert ours.starts_["objective"].tolist() == pytest.approx(theirs.starts_["objective"].tolist(), rel=1e-9)
    model = theirs.reconstruct()
    np.testing.assert_allclose(ours.reconstruct(), model, rtol=0, atol=1e-5 * np.abs(model).max())


def test_smoothness_is_the_lambdas_in_other_words(data):
    norm = np.linalg.norm(data.X)
    settings = {"n_starts": 2, "random_state": 0, **EXACT}
    one = tp.TParafac2(2, 1e-3, **settings).fit(data.X)
    weight = 1e-3 * norm ** (4 / 3)
    three = tp.TParafac2(2, lambda_a=weight, lambda_b=weight, lambda_d=weight, **settings).fit(data.X)
    assert_close(three, one)
    one = tp.TemporalCMF(2, 1e-3, nonnegative="rows", **settings).fit(data.X)
    two = tp.TemporalCMF(2, lambda_a=1e-3 * norm, lambda_b=1e-3 * norm, nonnegative="rows", **settings).fit(
        data.X
    )
    assert_close(two, one)


def test_smoothness_not_given_is_the_documented_one(data):
    settings = {"n_starts": 1, "random_state": 0}
    assert_same_bytes(tp.TParafac2(2, **settings).fit(data.X), tp.TParafac2(2, 3e-3, **settings).fit(data.X))
    assert_same_bytes(
        tp.TemporalCMF(2, **settings).fit(data.X), tp.TemporalCMF(2, 3e-3, **settings).fit(data.X)
    )


@pytest.mark.parametrize("make", [tp.TParafac2, tp.Parafac2, tp.CP])
def test_all_lambdas_zero_is_no_penalty(make, data):
    zeros = {"lambda_a": 0, "lambda_b": 0, "lambda_d": 0.0}
    model = make(2, n_starts=1, random_state=0, **zeros).fit(data.X)
    assert model.objective_ == pytest.approx(np.sum((data.X - model.reconstruct()) ** 2), rel=1e-10)


# --- order --------------------------------------------------------------------------------------------------

ORDERS = {
    "rows": (lambda X, p: X[:, p], lambda A, B, C, p: (A[p], B, C)),
    "columns": (lambda X, p: X[:, :, p], lambda A, B, C, p: (A, B[:, p], C)),
    "reversed time": (lambda X, p: X[::-1], lambda A, B, C, p: (A, B[::-1], C[::-1])),
}


@each_model
@pytest.mark.parametrize("order", ORDERS)
def test_order_does_not_matter(name, order, data, plain):
    of_data, of_factors = ORDERS[order]
    p = np.random.default_rng(5).permutation({"rows": 20, "columns": 24, "reversed time": 8}[order])
    usual = plain(name, near=True, tol=1e-9)
    moved = MODELS[name](init=of_factors(*start_from(data), p), tol=1e-9).fit(of_data(data.X, p))
    assert moved.objective_ == pytest.approx(usual.objective_, rel=1e-9)
    for mine, other in zip(factors(moved), of_factors(*factors(usual), p)):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-5 * np.abs(other).max())


@each_model
def test_the_order_of_time_matters_only_where_it_is_asked_about(name, data, plain):
    p = np.random.default_rng(1).permutation(8)
    moved = MODELS[name](init=(data.A, data.B[p], data.C[p]), tol=1e-9).fit(data.X[p])
    same = moved.objective_ == pytest.approx(plain(name, near=True, tol=1e-9).objective_, rel=1e-7)
    assert same == (name in ("Parafac2", "CP"))


# --- form of the input --------------------------------------------------------------------------------------

FORMS = {
    "list": list,
    "tuple": tuple,
    "nested lists": lambda X: X.tolist(),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": lambda X: np.broadcast_to(X, X.shape),
    "masked array without masked entries": np.ma.masked_array,
}


@pytest.mark.parametrize("name", ["TParafac2", "CP"])
@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_data_does_not_matter(name, form, data, plain):
    settings = {"n_starts": 1, "random_state": 0, "tol": 1e-3}
    assert_same_bytes(MODELS[name](**settings).fit(FORMS[form](data.X)), plain(name, **settings))


@each_model
def test_memory_order_matters_to_rounding_only(name, data, plain):
    settings = {"n_starts": 1, "random_state": 0, "tol": 1e-9}
    assert_close(MODELS[name](**settings).fit(np.asfortranarray(data.X)), plain(name, **settings))


@pytest.mark.parametrize("kind", ["int64", "uint8", "int16", "float32"])
def test_numbers_of_any_type_are_taken_as_they_are(kind, data):
    counts = np.clip(np.round(data.X), 0, 200)
    settings = {"n_starts": 2, "random_state": 0, "tol": 1e-4}
    ours, theirs = (MODELS["TParafac2"](**settings).fit(X) for X in (counts.astype(kind), counts))
    assert_same_bytes(ours, theirs)


def test_truth_values_count_as_zero_and_one(data):
    X = np.median(data.X) < data.X
    settings = {"n_starts": 2, "random_state": 0, "tol": 1e-4}
    assert_same_bytes(*(MODELS["TParafac2"](**settings).fit(form) for form in (X, X.astype(float))))


# --- machine and settings -----------------------------------------------------------------------------------


def test_number_of_processes_does_not_matter(data):
    # Slow (4 s): processes have to start. 36 starts are two batches, so that there is something to share.
    assert batch_size(data.X.shape, 3) < 36

    def fit(n_jobs):
        return tp.TParafac2(3, n_starts=36, max_iter=60, tol=1e-3, random_state=0, n_jobs=n_jobs).fit(data.X)

    one, two = fit(1), fit(2)
    assert_same_bytes(one, two)
    assert one.starts_.drop(columns="seconds").equals(two.starts_.drop(columns="seconds"))


WELL_POSED = {
    "TParafac2": {},
    "Parafac2": {},
    "TemporalCMF": {},
    "CP": {"lambda_a": 1e-3, "lambda_b": 1e-3, "lambda_d": 1e-3},
}


def long_data(kind):
    """Give data of norm one that are worth compressing."""
    if kind == "few directions":
        # The rows of all slices span 3 directions, fewer than K R = 8: the basis must be padded.
        rng = np.random.default_rng(2)
        X = rng.normal(size=(4, 6, 3)) @ rng.normal(size=(3, 200))
    else:
        shape = {"wide": (4, 6, 200), "tall": (3, 60, 12)}[kind]
        sizes = dict(zip(("n_times", "n_rows", "n_columns"), shape))
        X = tp.synthetic.easy(seed=1, noise=0.3, n_concepts=2, **sizes).X
    return X / np.linalg.norm(X)


@pytest.mark.parametrize("kind", ["wide", "few directions", "tall"])
@pytest.mark.parametrize("name", WELL_POSED)
def test_compression_does_not_change_the_minimum(name, kind):
    X = long_data(kind)
    settings = {"n_starts": 3, "random_state": 0, "tol": 1e-10, **WELL_POSED[name]}
    small, large = (MODELS[name](compress=compress, **settings).fit(X) for compress in (True, False))
    assert small.reconstruct().shape == large.reconstruct().shape == X.shape
    assert small.objective_ == pytest.approx(large.objective_, rel=1e-7)


def test_compressed_objective_is_that_of_the_data_themselves():
    X = long_data("wide")
    model = tp.Parafac2(2, n_starts=2, random_state=0, tol=1e-6).fit(X)
    assert model.objective_ == pytest.approx(np.sum((X - model.reconstruct()) ** 2), rel=1e-10)
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8


@each_model
def test_single_precision_is_close_to_double(name, plain):
    settings = {"near": True, "tol": 1e-5, "feasibility_tol": 1e-4}
    single, double = (plain(name, dtype=dtype, **settings) for dtype in ("float32", "float64"))
    assert_close(single, double, tol=4e-2, objective=1e-3)
    assert single.A_.dtype == double.A_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("float32"), "float32"])
def test_single_precision_by_any_name(dtype, data):
    settings = {"n_starts": 1, "random_state": 0, "tol": 1e-4}
    assert_same_bytes(
        tp.CP(2, dtype=dtype, **settings).fit(data.X), tp.CP(2, dtype="float32", **settings).fit(data.X)
    )


# --- seeds --------------------------------------------------------------------------------------------------


@each_model
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(name, data):
    def fit(seed):
        return MODELS[name](n_starts=2, random_state=seed, tol=1e-3).fit(data.X)

    assert_same_bytes(fit(7), fit(7))
    assert fit(7).B_.tobytes() != fit(8).B_.tobytes()


def test_without_a_seed_every_fit_is_another(data):
    model = tp.TParafac2(2, n_starts=1, tol=1e-3)
    assert model.fit(data.X).B_.tobytes() != model.fit(data.X).B_.tobytes()


def test_starts_differ_from_each_other(data):
    table = tp.TParafac2(2, n_starts=4, random_state=0, tol=1e-4).fit(data.X).starts_
    assert table["objective"].nunique() == 4


@each_model
def test_a_start_does_not_depend_on_how_many_there_are(name, plain):
    one, three = (plain(name, n_starts=n, random_state=4).starts_ for n in (1, 3))
    assert one["objective"][0] == pytest.approx(three["objective"][0], rel=1e-9)


def test_seed_sequences_are_not_used_up(data):
    seed = np.random.SeedSequence(3)
    model = tp.CP(2, n_starts=2, random_state=seed, tol=1e-4)
    first = model.fit(data.X).B_.tobytes()
    assert model.fit(data.X).B_.tobytes() == first
    assert seed.n_children_spawned == 0
    assert tp.CP(2, n_starts=2, random_state=3, tol=1e-4).fit(data.X).B_.tobytes() == first


def test_generators_go_on(data):
    def fit(random_state):
        return tp.CP(2, n_starts=2, random_state=random_state, tol=1e-4).fit(data.X).B_.tobytes()

    rng = np.random.default_rng(3)
    first, second = fit(rng), fit(rng)
    assert first != second
    assert fit(np.random.default_rng(3)) == first


def test_global_random_state_is_neither_used_nor_changed(data):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    first = tp.CP(2, n_starts=2, random_state=0, tol=1e-4).fit(data.X).B_.tobytes()
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert tp.CP(2, n_starts=2, random_state=0, tol=1e-4).fit(data.X).B_.tobytes() == first


# --- given starts -------------------------------------------------------------------------------------------


@each_model
def test_given_factors_are_where_the_fit_begins(name, data, plain):
    best = plain(name, n_starts=3, random_state=4)
    again = MODELS[name](init=factors(best)).fit(data.X)
    assert len(again.starts_) == 1
    assert again.n_iter_ < best.n_iter_
    # Not closer: the constraint is met again only after some iterations.
    assert again.trace_["objective"].iloc[0] == pytest.approx(best.objective_, rel=1e-3)
    assert_close(again, best)


def test_several_given_starts(data):
    rng = np.random.default_rng(0)
    poor = (rng.random((20, 2)), rng.random((8, 24, 2)), rng.random((8, 2)))
    model = tp.TParafac2(2, init=[poor, start_from(data)], n_starts=7, max_iter=300).fit(data.X)
    assert len(model.starts_) == 2


def test_strengths_may_be_left_out_of_given_factors(data):
    ones = np.ones_like(data.C)
    ours, theirs = (
        tp.TemporalCMF(2, init=(data.A, data.B, strengths)).fit(data.X) for strengths in (None, ones)
    )
    assert_same_bytes(ours, theirs)


@each_model
def test_a_start_from_singular_vectors(name, plain):
    settings = {"init": "svd", "n_starts": 1, "tol": 1e-6, "feasibility_tol": 1e-5}
    ours, theirs = (plain(name, random_state=seed, **settings) for seed in (0, 1))
    assert_same_bytes(ours, theirs)  # nothing is drawn
    assert ours.explained_variance_ > 0.3
