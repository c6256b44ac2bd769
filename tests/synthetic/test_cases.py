"""The three published cases are what they claim to be."""

import numpy as np
import pytest

from tparafac2.synthetic import (
    Constant,
    Decreasing,
    Gradual,
    Incremental,
    Periodic,
    Reoccurring,
    Sudden,
    Weakened,
    almost_zero,
    easy,
    overlapping,
)

SEEDS = range(25)
SIZES = {"n_times": 20, "n_rows": 15, "n_columns": 60}


def cross_products(B):
    return np.einsum("kjr,kjs->krs", B, B)


def constraint_gap(B):
    gram = cross_products(B)
    return np.abs(gram - gram[0]).max() / np.abs(gram[0]).max()


def moment(drift):
    return drift.half_period if isinstance(drift, Reoccurring) else drift.start


@pytest.mark.parametrize("case", [easy, almost_zero, overlapping])
def test_published_size_and_name(case):
    data = case(0)
    assert data.X.shape == (20, 150, 100)
    assert data.C.shape == (20, 3)
    assert (data.case, data.seed, data.noise) == (case.__name__, 0, 0.5)
    assert (data.C > 0).all()


def test_easy_uses_all_its_drifts_and_strengths_and_no_others():
    concepts = [c for seed in SEEDS for c in easy(seed, **SIZES).concepts]
    assert {type(c.drift) for c in concepts} == {Sudden, Gradual, Reoccurring}
    assert {type(c.strength) for c in concepts} == {Constant, Periodic, Decreasing}
    moments = {moment(c.drift) for c in concepts}
    assert min(moments) >= 2
    assert max(moments) <= 18
    assert len(moments) > 10
    assert all(5 <= c.strength.level <= 19 for c in concepts)


def test_easy_satisfies_the_constraint_and_stays_well_above_zero():
    for seed in SEEDS:
        data = easy(seed, **SIZES)
        assert constraint_gap(data.B) < 1e-12
        assert data.C.min() >= 1


@pytest.mark.parametrize("n_weak", [1, 2, 3])
def test_almost_zero_is_easy_but_for_its_weak_slices(n_weak):
    lengths = set()
    for seed in SEEDS:
        data, base = almost_zero(seed, n_weak, **SIZES), easy(seed, **SIZES)
        weak = data.C == 0.01
        assert weak.any(axis=0).sum() == n_weak
        assert [isinstance(c.strength, Weakened) for c in data.concepts] == weak.any(axis=0).tolist()
        for column in weak[:, weak.any(axis=0)].T:
            slices = np.flatnonzero(column)
            assert slices[-1] - slices[0] + 1 == slices.size
            lengths.add(slices.size)
        assert np.array_equal(data.C[~weak], base.C[~weak])
        assert np.array_equal(data.A, base.A)
        assert np.array_equal(data.B, base.B)
        assert constraint_gap(data.B) < 1e-12
    assert lengths == {4, 5, 6}


@pytest.mark.parametrize("overlap", [0.1, 0.2, 0.4])
def test_overlapping_shares_words_first_and_none_last(overlap):
    for seed in range(10):
        data = overlapping(seed, overlap, n_times=20, n_rows=15, n_columns=100)
        active = data.B > 0
        assert active[0].all(axis=1).sum() / active[0].sum(axis=0) == pytest.approx(overlap, abs=1e-12)
        assert active[-1].sum(axis=1).max() == 1
        assert {type(c.drift) for c in data.concepts} == {Incremental}
        assert data.C.min() >= 1


def test_overlapping_violates_both_halves_of_the_constraint():
    for seed in range(10):
        B = overlapping(seed, 0.2, **SIZES).B
        norms = np.linalg.norm(B, axis=1)
        cosines = cross_products(B / norms[:, None, :])
        assert (np.ptp(norms, axis=0) > 0.1 * norms[0]).all()
        assert (cosines[0] > 0.02).all()
        np.testing.assert_allclose(cosines[-1], np.eye(3), atol=1e-12)


@pytest.mark.parametrize("case", [easy, almost_zero, overlapping])
def test_truth_depends_on_the_seed_and_not_on_the_noise(case):
    one, other = case(3, noise=0.25, **SIZES), case(3, noise=1.0, **SIZES)
    assert one.concepts == other.concepts
    assert all(np.array_equal(a, b) for a, b in zip(one.factors, other.factors))
    assert case(3, noise=0.25, **SIZES).X.tobytes() == one.X.tobytes()
    assert not np.array_equal(case(4, **SIZES).A, one.A)


@pytest.mark.parametrize("n_times", [2, 3, 4, 5, 7, 50, 200])
def test_cases_fit_series_of_any_length(n_times):
    sizes = {"n_times": n_times, "n_rows": 8, "n_columns": 40}
    for seed in range(10):
        assert easy(seed, **sizes).C.min() >= 1
        weak = almost_zero(seed, **sizes).C == 0.01
        assert max(1, 0.2 * n_times - 1) <= weak.sum() <= max(1, 0.3 * n_times + 1)
        active = overlapping(seed, 0.3, **sizes).B > 0
        assert active[0].all(axis=1).any()
        assert active[-1].sum(axis=1).max() == 1


def test_other_numbers_of_concepts():
    assert easy(0, n_times=10, n_rows=5, n_columns=30, n_concepts=5).A.shape == (5, 5)
    assert easy(0, n_times=10, n_rows=5, n_columns=30, n_concepts=1).B.shape == (10, 30, 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: almost_zero(0, n_weak=4), ValueError, "n_weak=4 of 3 concepts cannot be weak"),
        (lambda: almost_zero(0, n_weak=0), ValueError, "n_weak must be at least 1, got 0"),
        (lambda: easy(0, n_concepts=0), ValueError, "n_concepts must be at least 1"),
        (lambda: easy(0, n_concepts=2.0), TypeError, "n_concepts must be a whole number"),
        (lambda: easy(0, n_times=20, n_rows=150, n_columns=17), ValueError, "at least 18 columns"),
        (lambda: easy(0, n_times=20, n_rows=2, n_columns=100), ValueError, "at least 3 rows"),
        (lambda: easy(0, noise=-1), ValueError, "noise"),
        (lambda: easy("zero"), TypeError, "seed must be a whole number, got 'zero'"),
        (lambda: overlapping(0, overlap=1.0), ValueError, "must be below 1"),
        (lambda: overlapping(0, overlap=-0.2), ValueError, "overlap"),
        (lambda: overlapping(0, n_concepts=1), ValueError, "needs at least 2 concepts"),
    ],
)
def test_impossible_cases_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
