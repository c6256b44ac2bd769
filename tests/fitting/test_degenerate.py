"""Odd data that are still data: no NaN, no noise from NumPy, and a word to the user."""

import warnings

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.slow

QUICK = {"n_starts": 2, "random_state": 0}
MODELS = {
    "TParafac2": lambda rank, **more: tp.TParafac2(rank, **(QUICK | more)),
    "Parafac2": lambda rank, **more: tp.Parafac2(rank, **(QUICK | more)),
    "TemporalCMF": lambda rank, **more: tp.TemporalCMF(rank, **(QUICK | more)),
    "NNtCMF": lambda rank, **more: tp.TemporalCMF(rank, nonnegative="rows", **(QUICK | more)),
    "CP": lambda rank, **more: tp.CP(rank, **(QUICK | more)),
    "CP, C >= 0": lambda rank, **more: tp.CP(rank, nonnegative_strengths=True, **(QUICK | more)),
}
X = tp.synthetic.easy(seed=1, noise=0.1, n_times=6, n_rows=12, n_columns=14, n_concepts=2).X
CLEAN = tp.synthetic.easy(seed=1, noise=0.0, n_times=6, n_rows=12, n_columns=14, n_concepts=2)
SPIKE = np.arange(X.size).reshape(X.shape) == 37


def with_zero_slices(*slices):
    Y = X.copy()
    Y[list(slices)] = 0
    return Y


def static_data(rank):
    """Data whose patterns do not change at all."""
    rng = np.random.default_rng(0)
    shapes = ((9, rank), (8, rank), (7, rank))
    return np.einsum("ir,jr,kr->kij", *(rng.random(shape) + 0.1 for shape in shapes))


def fit(model, Y):
    """Fit with every complaint of NumPy an error, and look at the result in all ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        model.fit(Y)
        model.summary()
        model._repr_html_()
        model.normalised()
        model.to_dataset()
    return model


# --- the data -----------------------------------------------------------------------------------------------

LEGAL = {
    "two slices": (X[:2], 2),
    "one component": (X, 1),
    "one row": (X[:, :1], 1),
    "one column": (X[:, :, :1], 1),
    "two numbers": (X[:2, :1, :1], 1),
    "one slice of zeros": (with_zero_slices(2), 2),
    "zeros at both ends": (with_zero_slices(0, -1), 2),
    "all slices but one of zeros": (with_zero_slices(*range(1, 6)), 2),
    "rows of zeros": (np.concatenate([X, 0 * X], axis=1), 2),
    "columns of zeros": (np.concatenate([X, 0 * X], axis=2), 2),
    "columns twice": (np.concatenate([X, X], axis=2), 2),
    "rows twice": (np.repeat(X, 2, axis=1), 2),
    "the same slice again and again": (np.repeat(X[:1], 5, axis=0), 2),
    "constant slices": (np.ones((5, 6, 7)) * np.arange(1, 6)[:, None, None], 1),
    "constant slices, rank too high": (np.ones((5, 6, 7)), 2),
    "one number and zeros": (1.0 * SPIKE, 2),
    "an outlier": (X + 1e8 * SPIKE, 2),
    "negative": (-X, 2),
    "rank too high": (CLEAN.X, 4),
    "the highest rank": (X[:, :4, :5], 4),
    "nothing but noise": (np.random.default_rng(0).standard_normal((6, 12, 14)), 3),
    "tiny": (X * 1e-150, 2),
    "huge": (X * 1e150, 2),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("case", LEGAL)
def test_legal_data_give_finite_and_feasible_results(name, case):
    Y, rank = LEGAL[case]
    model = fit(MODELS[name](rank, max_iter=80), Y)
    assert all(np.isfinite(factor).all() for factor in (model.A_, model.B_, model.C_))
    assert np.isfinite(model.objective_)
    assert -1e-9 <= model.explained_variance_ <= 1
    assert np.isfinite(model.starts_[["objective", "fms_to_chosen", "explained_variance"]]).all(axis=None)
    assert np.isfinite(model.trace_).all(axis=None)
    if name in ("TParafac2", "Parafac2"):
        assert tp.metrics.parafac2_violation(model.B_) < 1e-8
    assert name in ("CP", "NNtCMF", "TemporalCMF") or (model.C_ >= 0).all()


@pytest.mark.parametrize("name", ["TParafac2", "Parafac2", "TemporalCMF"])
def test_the_algorithm_of_the_paper_takes_huge_data(name):
    model = fit(MODELS[name](2, algorithm="paper", max_iter=15), X * 1e150)
    assert "not_finite" not in set(model.starts_["status"])
    assert model.explained_variance_ > 0.5


# --- exact fits ---------------------------------------------------------------------------------------------


def test_noise_free_data_are_fitted_exactly():
    model = fit(tp.Parafac2(2, **QUICK), CLEAN.X)
    assert model.converged_
    assert model.objective_ < 1e-10 * np.sum(CLEAN.X**2)
    assert tp.metrics.factor_match_score(model, CLEAN) > 1 - 1e-6


def test_noise_free_data_with_more_components_than_they_need():
    model = fit(tp.Parafac2(4, **QUICK), CLEAN.X)
    assert model.converged_
    assert model.objective_ < 1e-10 * np.sum(CLEAN.X**2)


@pytest.mark.parametrize("model", [tp.CP(2, **QUICK), tp.CP(2, nonnegative_strengths=True, **QUICK)])
def test_noise_free_static_data_are_fitted_exactly_by_cp(model):
    fit(model, static_data(2))
    assert model.converged_
    assert model.objective_ < 1e-10 * np.sum(static_data(2) ** 2)


def test_a_single_slice_is_enough_without_smoothness():
    slices = np.random.default_rng(0).standard_normal((1, 6, 5))
    singular = np.linalg.svd(slices[0], compute_uv=False)
    for kind in (tp.Parafac2, tp.CP):
        model = fit(kind(2, **QUICK), slices)
        assert model.objective_ == pytest.approx(np.sum(singular[2:] ** 2), rel=1e-6)


# --- ragged slices ------------------------------------------------------------------------------------------

RAGGED = [piece[:, : 14 - 2 * (k % 3)] for k, piece in enumerate(X)]
PADDED = np.stack([np.pad(piece, ((0, 0), (0, 14 - piece.shape[1]))) for piece in RAGGED])


def test_ragged_slices_give_ragged_patterns():
    model = fit(tp.Parafac2(2, **QUICK), RAGGED)
    assert isinstance(model.B_, list)
    assert [piece.shape for piece in model.B_] == [(piece.shape[1], 2) for piece in RAGGED]
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8
    sse = sum(np.sum((piece - found) ** 2) for piece, found in zip(RAGGED, model.reconstruct(), strict=True))
    assert model.objective_ == pytest.approx(sse, rel=1e-9)
    assert model.to_dataset().width.values.tolist() == [piece.shape[1] for piece in RAGGED]


@pytest.mark.parametrize("lambdas", [{}, {"lambda_a": 0.1, "lambda_b": 0.1, "lambda_d": 0.1}])
def test_ragged_slices_are_as_good_as_padded_ones(lambdas):
    settings = {**QUICK, "tol": 1e-12, **lambdas}
    ragged, padded = fit(tp.Parafac2(2, **settings), RAGGED), fit(tp.Parafac2(2, **settings), PADDED)
    assert ragged.objective_ == pytest.approx(padded.objective_, rel=1e-8)
    np.testing.assert_allclose(ragged.A_, padded.A_, rtol=0, atol=1e-4 * np.abs(padded.A_).max())
    assert padded.B_.shape == (6, 14, 2)


def test_slices_as_narrow_as_the_rank():
    slices = [*RAGGED[:5], X[5][:, :2]]
    model = fit(tp.Parafac2(2, **QUICK), slices)
    assert model.B_[5].shape == (2, 2)
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8


def test_ragged_starts_may_be_given():
    first = fit(tp.Parafac2(2, **QUICK), RAGGED)
    again = fit(tp.Parafac2(2, init=(first.A_, first.B_, first.C_)), RAGGED)
    assert again.objective_ == pytest.approx(first.objective_, rel=1e-6)
    assert len(again.starts_) == 1


# --- words to the user --------------------------------------------------------------------------------------


def test_a_static_component_is_reported():
    model = fit(tp.TParafac2(2, smoothness=1e-3, **QUICK), static_data(2))
    assert model.converged_
    assert [note for note in model.notes_ if "static" in note] == [
        "Component 1 is static: its pattern does not change in time at this smoothness (0.001).",
        "Component 2 is static: its pattern does not change in time at this smoothness (0.001).",
    ]
    assert "Component 1 is static" in model.summary()


def test_a_changing_component_is_not_called_static():
    B = CLEAN.B.copy()
    B[:, :, 0] = B[0, :, 0]
    Y = np.einsum("ir,kjr,kr->kij", CLEAN.A, B, CLEAN.C)
    model = fit(tp.TParafac2(2, 1e-4, **QUICK), Y)
    (note,) = [note for note in model.notes_ if "static" in note]
    r = int(note.split()[1]) - 1
    changes = np.sum(np.diff(model.B_, axis=0) ** 2, axis=(0, 1)) / np.sum(model.B_**2, axis=(0, 1))
    assert changes[r] < 1e-6 < 1e-2 < changes[1 - r]


def test_a_slice_without_strength_is_reported():
    model = fit(tp.TParafac2(2, **QUICK), with_zero_slices(2))
    assert len(model.notes_) == 2
    assert all("almost no strength at 1 of 6 times" in note for note in model.notes_)
    assert (model.C_[2] < 1e-3 * model.C_.max(axis=0)).all()


def test_negative_strength_is_not_called_weak():
    model = fit(tp.CP(2, **QUICK), static_data(2) - static_data(2).mean(axis=0))
    size = np.abs(model.C_) / np.abs(model.C_).max(axis=0)
    assert (model.C_ < 0).any()
    assert size.min() > 1e-3
    assert model.notes_ == ()


def test_patterns_that_cannot_change_are_determined_even_without_strength():
    model = fit(tp.CP(2, nonnegative_strengths=True, **QUICK), with_zero_slices(2))
    assert not any("pattern there is not determined" in note for note in model.notes_)


@pytest.mark.parametrize("name", ["TParafac2", "TemporalCMF", "NNtCMF"])
def test_all_components_vanish_under_far_too_much_smoothness(name):
    model = MODELS[name](2, smoothness=1e10)
    with pytest.warns(tp.ConvergenceWarning, match="All components vanished.* Lower smoothness"):
        model.fit(X)
    assert not model.converged_
    assert model.status_ == "vanished"
    assert model.objective_ == pytest.approx(np.sum(X**2))
    assert model.explained_variance_ == pytest.approx(0, abs=1e-12)
    assert not model.A_.any()
    assert not model.B_.any()
    assert set(model.starts_["status"]) == {"vanished"}
    assert (model.starts_["vanished"] == 2).all()
    assert sum(note.startswith("Component") and "vanished" in note for note in model.notes_) == 2


def test_a_component_too_many_vanishes_and_is_reported():
    model = fit(tp.TParafac2(2, **QUICK), np.ones((5, 6, 7)))
    assert model.converged_
    assert model.explained_variance_ == pytest.approx(1, abs=1e-4)
    assert model.notes_[0].startswith("Component 2 vanished: ")
    assert not model.A_[:, 1].any()
    assert not model.C_[:, 1].any()
    assert model.starts_["vanished"][model.starts_["chosen"]].item() == 1


def test_strong_smoothness_does_not_lose_a_better_minimum():
    Y = tp.synthetic.easy(seed=1, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2).X
    weaker = fit(tp.TParafac2(2, 0.3, n_starts=6, random_state=0), Y)
    warm = fit(tp.TParafac2(2, 1.0, init=(weaker.A_, weaker.B_, weaker.C_)), Y)
    cold = fit(tp.TParafac2(2, 1.0, n_starts=6, random_state=0), Y)
    assert cold.objective_ <= warm.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("model", ["TParafac2", "Parafac2", "CP, C >= 0"])
@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_the_algorithm_of_the_paper_where_penalties_outweigh_the_data(model, size):
    weight = 1e6 * (size * np.linalg.norm(X)) ** (4 / 3)
    lambdas = dict.fromkeys(("lambda_a", "lambda_b", "lambda_d"), weight)
    model = MODELS[model](2, **lambdas, n_starts=1, algorithm="paper", max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        model.fit(size * X)
    assert all(np.isfinite(found).all() for found in (model.objective_, model.A_, model.B_, model.C_))


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
@pytest.mark.parametrize("model", ["TParafac2", "Parafac2", "NNtCMF", "CP"])
@pytest.mark.parametrize(
    "sizes",
    [(1e200,) * 3, (1e-200,) * 3, (1e-300, 1e300, 1.0), (1.0, 1e200, 1e-200), (5e-324,) * 3],
)
def test_a_given_start_of_any_size_leads_to_the_data(model, sizes, algorithm):
    K, I, J = X.shape
    rng = np.random.default_rng(0)
    factors = (rng.random(shape) + 0.5 for shape in ((I, 2), (K, J, 2), (K, 2)))
    init = tuple(size * factor for size, factor in zip(sizes, factors))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        fitted = MODELS[model](2, init=init, algorithm=algorithm, max_iter=80).fit(X)
    assert all(np.isfinite(factor).all() for factor in (fitted.A_, fitted.B_, fitted.C_))
    assert fitted.explained_variance_ > 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("model", "weights"),
    [
        ("CP", {"lambda_a": 1.0, "lambda_b": 1e-300, "lambda_d": 1.0}),
        ("Parafac2", {"lambda_a": 1.0, "lambda_b": 1.0, "lambda_d": 1e-300}),
        ("TParafac2", {"smoothness": 1e-3, "epsilon": 0.0}),
        ("NNtCMF", {"smoothness": 1e-3, "epsilon": 0.0}),
    ],
)
def test_scale_does_not_flee_to_a_factor_that_costs_next_to_nothing(model, weights, dtype):
    holed = static_data(2)
    holed[0, 0, 0] = holed[2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        fitted = MODELS[model](2, **weights, dtype=dtype, max_iter=60).fit(holed)
    assert all(np.isfinite(factor).all() for factor in (fitted.A_, fitted.B_, fitted.C_))
