"""Slices of which nothing was observed: what is given back there obeys the constraints, too."""

from dataclasses import replace

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")

HOLES = {"inner": [4], "first": [0], "last": [7], "both ends": [0, 7], "three": [3, 4, 5]}


@pytest.fixture(scope="module")
def X():
    """Patterns that change much from time to time, so that a straight line cuts corners."""
    return tp.synthetic.easy(seed=0, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2).X


def without(X, gone):
    holed = X.copy()
    holed[gone] = np.nan
    return holed


def spread(B):
    """By how much the cross products differ, relative to the largest."""
    products = np.einsum("kjr,kjs->krs", B, B)
    return np.abs(products - products[0]).max() / np.abs(products).max()


@pytest.mark.parametrize("gone", HOLES.values(), ids=HOLES)
def test_patterns_only_turn_where_nothing_was_observed(X, gone):
    holed = without(X, gone)
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(holed)
    assert spread(model.B_) < 1e-12
    assert model.constraint_violations_["B"]["Parafac2"] < 1e-12
    assert np.isfinite(model.B_).all()
    assert np.isfinite(model.C_).all()
    assert model.evaluate(holed).objective == pytest.approx(model.objective_, rel=1e-10)


def test_the_pattern_there_is_the_smoothest_of_those_that_turn(X):
    """On the set, for given neighbours, which no pattern near to it comes closer to."""
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(without(X, [4]))
    before, there, after = model.B_[3:6]

    def rough(B):
        return np.sum((B - before) ** 2) + np.sum((after - B) ** 2)

    rng, least = np.random.default_rng(0), rough(there)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(20):
            turn = np.linalg.qr(np.eye(24) + size * rng.standard_normal((24, 24)))
            turned = turn.Q * np.sign(np.diagonal(turn.R)) @ there
            assert rough(turned) >= least - 1e-12
    assert least < rough(before)


@pytest.mark.parametrize(
    "given",
    [
        {"nonnegative": "patterns"},
        {"nonnegative": "both"},
        {"period": 9},
        {"bridge": False},
        {"dtype": "float32"},
    ],
    ids=str,
)
def test_whatever_else_is_asked(X, given):
    holed = without(X, [4])
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0, **given).fit(holed)
    allowed = 1e-6 if "dtype" in given else 1e-9
    assert spread(model.B_) < allowed
    assert all(far < allowed for far in model.constraint_violations_["B"].values())
    if "nonnegative" in given:
        assert (model.B_ >= 0).all()


def test_without_smoothness_they_obey_as_well(X):
    assert spread(tp.Parafac2(2, n_starts=2, random_state=0).fit(without(X, [4])).B_) < 1e-12


def test_a_line_is_kept_where_nothing_forbids_it(X):
    model = tp.TemporalCMF(2, 1e-3, n_starts=2, random_state=0).fit(without(X, [4]))
    np.testing.assert_allclose(model.B_[4], (model.B_[3] + model.B_[5]) / 2, atol=1e-12)


def test_an_appended_slice_without_observations_obeys_too(X):
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(X[:6])
    longer = model.append(without(X[6:], [0]))
    assert spread(longer.B_) < 1e-9
    assert longer.constraint_violations_["B"]["Parafac2"] < 1e-9


def test_a_violation_in_such_a_slice_is_told(X):
    result = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(without(X, [4])).result_
    bent = result.B.copy()
    bent[4] *= 1.5
    assert replace(result, B=bent).constraint_violations["B"]["Parafac2"] > 0.1
