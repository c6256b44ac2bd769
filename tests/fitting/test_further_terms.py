"""Fits with each of the further terms: they end, the terms hold, and what follows a fit knows of them."""

import functools
import math

import numpy as np
import pytest
from filled_in import filled_in
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.penalties import (
    L1,
    Box,
    GeneralisedRidge,
    NormBall,
    Simplex,
    TotalVariation,
    Unimodal,
    is_set,
    laplacian,
)

pytestmark = pytest.mark.slow

COLUMNS = 18
CHAIN = laplacian([(j, j + 1) for j in range(COLUMNS - 1)], COLUMNS)
TERMS = {
    "L1": L1(1.0),
    "Box": Box(0.0, 1.5),
    "Simplex": Simplex(6.0),
    "NormBall": NormBall(2.0),
    "Unimodal": Unimodal(nonnegative=True),
    "TotalVariation": TotalVariation(0.5),
    "GeneralisedRidge": GeneralisedRidge(CHAIN, 0.5),
}
SAID = {
    "Box": "have entries from 0 up to 1.5",
    "Simplex": "are shares: not negative, with the sum 6 in every component",
    "NormBall": "have a norm of at most 2 in every component",
    "Unimodal": "have one peak in every component, and cannot be negative",
    "TotalVariation": "change by few steps (total variation, strength 0.5)",
    "GeneralisedRidge": "are alike where a matrix joins them (strength 0.5)",
}
CASES = [(name, "b") for name in TERMS]
CASES += [(name, mode) for mode in "ac" for name in TERMS if name != "GeneralisedRidge"]
OF = {"a": "A", "b": "B", "c": "C"}
SETTINGS = {"n_starts": 2, "random_state": 0, "max_iter": 4000}


@functools.cache
def data():
    """Peaks that move, so that every term is one that patterns could have."""
    rng = np.random.default_rng(0)
    K, I = 6, 14
    places, centres = np.arange(COLUMNS), np.linspace([3.0, 13.0], [6.0, 10.0], K)
    B = np.exp(-((places[None, :, None] - centres[:, None, :]) ** 2) / 8)
    A, C = rng.random((I, 2)), rng.uniform(1, 2, (K, 2))
    X = np.einsum("ir,kjr,kr->kij", A, B, C)
    return np.abs(X + 0.05 * rng.standard_normal(X.shape))


def made(mode, *terms, **settings):
    """A model with terms on one factor; the PARAFAC2 constraint beside a set would take its time."""
    kind = tp.TemporalCMF if mode == "b" else tp.TParafac2
    return kind(2, 1e-3, **{f"penalties_{mode}": list(terms)}, **(SETTINGS | settings))


@functools.cache
def fitted(name, mode):
    return made(mode, TERMS[name]).fit(data())


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_a_fit_ends_where_its_term_holds(name, mode):
    model, term = fitted(name, mode), TERMS[name]
    assert model.converged_
    factor = getattr(model, f"{OF[mode]}_")
    if is_set(term):
        assert model.constraint_violations_[OF[mode]][name] <= 1e-14
        assert term.violation(factor) <= 1e-14
    else:
        free = made(mode).fit(data())
        assert term.value(factor) < term.value(getattr(free, f"{OF[mode]}_"))
    terms = model.result_.terms
    error = np.sum((data() - model.reconstruct()) ** 2)
    assert model.objective_ == pytest.approx(error + terms.penalty(model.A_, model.B_, model.C_), rel=1e-9)


@pytest.mark.parametrize("name", TERMS)
def test_no_feasible_point_nearby_is_better(name):
    model, term = fitted(name, "b"), TERMS[name]
    terms, X, rng = model.result_.terms, data(), np.random.default_rng(0)

    def objective(A, B, C):
        return np.sum((X - np.einsum("ir,kjr,kr->kij", A, B, C)) ** 2) + terms.penalty(A, B, C)

    here = objective(model.A_, model.B_, model.C_)
    for size in (1e-2, 1e-3):
        for _ in range(15):
            A, B = (f * (1 + size * rng.standard_normal(f.shape)) for f in (model.A_, model.B_))
            B = B + size * rng.standard_normal(B.shape)
            if is_set(term):
                B = term.prox(B, np.ones(len(B)))[0]
            assert objective(A, B, model.C_) > here * (1 - 1e-6)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_terms_are_told_and_kept(name, mode, tmp_path):
    model = fitted(name, mode)
    words = {"a": "Loadings", "b": "Patterns", "c": "Strengths"}[mode]
    if name == "L1":
        assert f"Sparse {words.lower()}: " in model.summary()
    else:
        assert f"{words} {SAID[name]}." in model.summary()
        finding = next(one for one in model.findings_ if one.kind == "further_term")
        assert (finding.numbers["factor"], finding.numbers["term"]) == (words.lower(), name)
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.summary() == model.summary()
    assert not again.result_.terms.lost
    kept = again.get_params()[f"penalties_{mode}"][0]
    assert type(kept) is type(TERMS[name])
    factor = getattr(model, f"{OF[mode]}_")
    assert kept.value(factor) == TERMS[name].value(factor)
    assert again.result_.terms.penalty(again.A_, again.B_, again.C_) == pytest.approx(
        model.result_.terms.penalty(model.A_, model.B_, model.C_), rel=1e-12
    )


@pytest.mark.parametrize("name", TERMS)
def test_scikit_learn_can_clone_a_model(name):
    from sklearn.base import clone

    model = tp.TParafac2(2, penalties_b=[TERMS[name]])
    again = clone(model)
    assert repr(again) == repr(model)
    term = again.get_params()["penalties_b"][0]
    x = np.random.default_rng(0).random((3, COLUMNS, 2))
    assert term.value(x) == TERMS[name].value(x)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_the_rows_of_the_fit_are_transformed_to_their_loadings(name, mode):
    model = fitted(name, mode)
    if mode == "a" and name not in ("L1", "Box"):
        with pytest.raises(ValueError, match=f"loadings of all rows together .{name}.*fit all rows again"):
            model.transform(data())
        return
    np.testing.assert_allclose(model.transform(data()), model.A_, atol=1e-4 * np.abs(model.A_).max())


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_times_are_appended_under_the_same_terms(name, mode):
    model = made(mode, TERMS[name], n_starts=1, tol=1e-6).fit(data()[:4])
    if mode == "c" and name not in ("L1", "Box"):
        with pytest.raises(ValueError, match=f"{name}.*fit all data again"):
            model.append(data()[4:])
        return
    longer = model.append(data()[4:])
    assert longer.C_.shape[0] == 6
    assert math.isfinite(longer.objective_)
    if is_set(TERMS[name]):
        assert longer.constraint_violations_[OF[mode]][name] <= 1e-9


def test_columns_that_come_with_further_times_have_no_place_among_those_of_the_fit():
    import pandas as pd

    frames = [pd.DataFrame(piece).add_prefix("at ") for piece in data()]
    model = made("b", TotalVariation(0.5), n_starts=1, tol=1e-5).fit(frames[:4])
    with pytest.raises(ValueError, match=r"columns that were in the fit together \(TotalVariation\)"):
        model.append([frame.assign(new=1.0) for frame in frames[4:]])


@pytest.mark.parametrize("name", TERMS)
def test_missing_and_sparse_data_have_the_same_minimum(name):
    rng = np.random.default_rng(1)
    X = data()
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    begin = fitted(name, "b")
    init = (begin.A_, begin.B_, begin.C_)
    model = made("b", TERMS[name], init=init).fit(holed)
    assert filled_in(model, holed).objective_ == pytest.approx(model.objective_, rel=1e-4)
    thin = np.where(X > 0.3, X, 0.0)
    dense, sparse = (
        made("b", TERMS[name], init=init).fit(given) for given in (thin, [csr_array(piece) for piece in thin])
    )
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)


def test_rows_that_belong_together_are_not_drawn_anew():
    model = fitted("TotalVariation", "a")
    with pytest.raises(ValueError, match=r"loadings of all rows together \(TotalVariation\).*residuals"):
        model.intervals(data(), n_resamples=20)


def test_a_component_that_vanished_does_not_break_its_set():
    model = tp.TParafac2(2, 0.3, penalties_b=[Simplex(30.0)], n_starts=1, max_iter=300, random_state=0)
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(data())
    assert model.constraint_violations_["B"]["Simplex"] <= 1e-14


def test_the_one_knob_is_that_of_the_model():
    assert fitted("GeneralisedRidge", "b").result_.smoothness == pytest.approx(1e-3)
