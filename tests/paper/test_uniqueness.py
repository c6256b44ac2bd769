from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan import HEADLINE, RIDGE
from uniqueness import Weights, objective, rotate, rotation_evidence

from tparafac2 import TemporalCMF, TParafac2
from tparafac2.synthetic import overlapping


@pytest.fixture(scope="module")
def data():
    return overlapping(seed=0, overlap=0.2, n_times=8, n_rows=30, n_columns=24)


@pytest.fixture(scope="module")
def rows(data):
    return {row.model: row for row in rotation_evidence(data, seed=0, n_rotations=40, n_starts=3)}


def draw(seed, rank):
    rng = np.random.default_rng(seed)
    X, A, B = rng.normal(size=(4, 6, 5)), rng.normal(size=(6, rank)), rng.normal(size=(4, 5, rank))
    Q = np.linalg.qr(rng.normal(size=(rank, rank)))[0]
    return X, A, B, Q


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=40)
def test_the_objective_of_tcmf_cannot_see_a_rotation(seed, rank):
    X, A, B, Q = draw(seed, rank)
    weights, ones = Weights(0.1, 1000.0, 0.0), np.ones((4, rank))
    before, after = objective(X, A, B, ones, weights), objective(X, *rotate(A, B, Q), ones, weights)
    assert after == pytest.approx(before, rel=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=40)
def test_with_strengths_it_can(seed, rank):
    X, A, B, Q = draw(seed, rank)
    weights, C = Weights(0.1, 1.0, 0.1), np.random.default_rng(seed).uniform(0.5, 2, (4, rank))
    before, after = objective(X, A, B, C, weights), objective(X, *rotate(A, B, Q), C, weights)
    assert abs(after - before) > 1e-6 * before


def test_an_objective_is_the_one_its_model_minimises(data):
    common = {"rank": 3, "lambda_a": RIDGE, "lambda_b": HEADLINE, "n_starts": 2, "random_state": 0}
    smooth = TParafac2(**common, lambda_d=RIDGE).fit(data.X)
    coupled = TemporalCMF(**common).fit(data.X)
    for model, weight in ((smooth, RIDGE), (coupled, 0.0)):
        weights = Weights(RIDGE, HEADLINE, weight)
        assert objective(data.X, model.A_, model.B_, model.C_, weights) == pytest.approx(
            model.objective_, rel=1e-9
        )


@pytest.mark.parametrize("Q", [np.ones((2, 2)), np.eye(3), np.eye(2)[:1], 2 * np.eye(2)])
def test_only_rotations_rotate(Q):
    with pytest.raises(ValueError, match="orthogonal 2 x 2"):
        rotate(np.ones((5, 2)), np.ones((3, 4, 2)), Q)


def test_tcmf_is_not_unique(rows):
    row = rows["tCMF"]
    assert row.largest_change < 1e-12
    assert row.lowest_match < 0.7
    assert row.truth_highest - row.truth_lowest > 0.2
    assert row.smallest_change_refitted is None
    assert row.most_negative_loading is None


def test_nonnegative_loadings_forbid_every_rotation(rows):
    row = rows["NNtCMF"]
    assert row.largest_change < 1e-12
    assert row.most_negative_loading < -0.05
    assert row.truth > row.truth_highest


def test_strengths_forbid_every_rotation(rows):
    row = rows["tPARAFAC2"]
    assert row.smallest_change > 0.05
    assert 0.01 < row.smallest_change_refitted < row.smallest_change
    assert row.most_negative_loading is None


def test_scores_are_ordered(rows):
    assert list(rows) == ["tCMF", "NNtCMF", "tPARAFAC2"]
    for row in rows.values():
        assert 0 < row.truth_lowest <= row.truth_highest <= 1
        assert 0 <= row.smallest_change <= row.largest_change


def test_the_same_seed_gives_the_same_evidence(data, rows):
    assert rotation_evidence(data, seed=0, n_rotations=40, n_starts=3) == list(rows.values())


def test_rows_cannot_be_changed(rows):
    with pytest.raises(FrozenInstanceError):
        rows["tCMF"].truth = 1.0


def test_no_rotation_is_refused(data):
    with pytest.raises(ValueError, match="at least one rotation"):
        rotation_evidence(data, seed=0, n_rotations=0)
