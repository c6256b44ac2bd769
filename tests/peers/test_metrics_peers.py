"""The stacked score is what TensorLy-Viz computes if B's slices are stacked into one factor matrix."""

import numpy as np
import pytest
from tlviz import factor_tools

from tparafac2 import metrics

TOLERANCE = 1e-10
each_case = pytest.mark.parametrize(("seed", "rank"), [(s, r) for s in range(5) for r in (1, 2, 3, 5, 8)])


def random_factors(rng, rank):
    return rng.standard_normal((9, rank)), rng.standard_normal((4, 6, rank)), rng.random((4, rank))


def as_cp_tensor(factors):
    A, B, C = factors
    return None, [A, B.reshape(-1, B.shape[-1]), C]


def two_sets(seed, rank, other_rank=None):
    rng = np.random.default_rng(seed)
    return random_factors(rng, other_rank or rank), random_factors(rng, rank)


@each_case
def test_factor_match_score(seed, rank):
    estimate, truth = two_sets(seed, rank)
    expected, permutation = factor_tools.factor_match_score(
        as_cp_tensor(truth), as_cp_tensor(estimate), consider_weights=False, return_permutation=True
    )
    match = metrics.match_components(estimate, truth)
    assert match.score == pytest.approx(expected, abs=TOLERANCE)
    np.testing.assert_array_equal(match.permutation, permutation)


@each_case
def test_factor_match_score_of_close_estimates(seed, rank):
    noise, truth = two_sets(seed, rank)
    order = np.random.default_rng(seed).permutation(rank)
    estimate = tuple(f[..., order] + 0.2 * n for f, n in zip(truth, noise, strict=True))
    expected = factor_tools.factor_match_score(
        as_cp_tensor(truth), as_cp_tensor(estimate), consider_weights=False
    )
    assert expected > 0.8
    assert metrics.factor_match_score(estimate, truth) == pytest.approx(expected, abs=TOLERANCE)


@each_case
@pytest.mark.parametrize(("modes", "skipped"), [("BC", 0), ("AC", 1), ("AB", 2)])
def test_factor_match_score_without_one_mode(seed, rank, modes, skipped):
    estimate, truth = two_sets(seed, rank)
    expected = factor_tools.factor_match_score(
        as_cp_tensor(truth), as_cp_tensor(estimate), consider_weights=False, skip_mode=skipped
    )
    assert metrics.factor_match_score(estimate, truth, modes) == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("rank", "other_rank"), [(2, 4), (4, 2), (3, 5)])
def test_factor_match_score_of_other_ranks_counts_unmatched_components(seed, rank, other_rank):
    """The peer takes the mean over matched components only; here unmatched ones count 0."""
    estimate, truth = two_sets(seed, rank, other_rank)
    matched_only = factor_tools.factor_match_score(
        as_cp_tensor(truth), as_cp_tensor(estimate), consider_weights=False
    )
    share = min(rank, other_rank) / max(rank, other_rank)
    score = metrics.factor_match_score(estimate, truth)
    assert score == pytest.approx(share * matched_only, abs=TOLERANCE)


@each_case
def test_degeneracy_score(seed, rank):
    _, factors = two_sets(seed, rank)
    expected = factor_tools.degeneracy_score(as_cp_tensor(factors))
    assert metrics.degeneracy_score(*factors) == pytest.approx(expected, abs=TOLERANCE)
