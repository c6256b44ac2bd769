from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from paired import holm, paired_test
from scipy.stats import rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests

PROBABILITIES = arrays(float, st.integers(1, 12), elements=st.floats(0, 1))
# Few different values, so that zeros and ties are common.
COARSE = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9)


def p_by_trying_all_signs(differences):
    differences = differences[differences != 0]
    ranks = rankdata(np.abs(differences))
    observed = ranks[differences > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))]
    return np.mean(np.array(sums) >= observed)


@given(COARSE)
@settings(max_examples=60)
def test_p_is_exact_with_zeros_and_ties(pairs):
    better, worse = np.array(pairs, dtype=float).T
    assert paired_test(better, worse) == pytest.approx(p_by_trying_all_signs(better - worse), rel=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=40)
def test_p_is_that_of_scipy_where_scipy_is_exact(seed, n):
    better, worse = np.random.default_rng(seed).normal(0.2, 1, (2, n))
    expected = wilcoxon(better, worse, alternative="greater", method="exact").pvalue
    assert paired_test(better, worse) == pytest.approx(expected, rel=1e-9)


@given(COARSE, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_p_does_not_depend_on_the_order_of_data_sets(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    assert paired_test(*np.array(pairs).T) == paired_test(*np.array(shuffled).T)


@given(COARSE)
@settings(max_examples=40)
def test_the_two_directions_share_no_more_than_the_observed_sum(pairs):
    better, worse = np.array(pairs).T
    forward, backward = paired_test(better, worse), paired_test(worse, better)
    assert 0 < forward <= 1
    assert forward + backward >= 1 - 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 20, 200])
def test_the_smallest_p_is_all_signs_alike(n):
    assert paired_test(np.arange(1, n + 1), np.zeros(n)) == pytest.approx(2.0**-n, rel=1e-12)
    assert paired_test(np.zeros(n), np.arange(1, n + 1)) == 1.0


def test_many_pairs_give_the_normal_approximation_which_is_close_to_the_exact_p():
    rng = np.random.default_rng(0)
    many = rng.normal(0.12, 1, 201)
    exact = wilcoxon(many, alternative="greater", method="exact").pvalue
    approximate = paired_test(many, np.zeros(201))
    assert approximate != exact
    assert approximate == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_no_difference_is_no_evidence(n):
    assert paired_test(np.full(n, 0.7), np.full(n, 0.7)) == 1.0


@pytest.mark.parametrize(
    ("better", "worse", "message"),
    [
        ([1.0, 2.0], [1.0], "equal length"),
        ([[1.0]], [[2.0]], "equal length"),
        ([1.0, np.nan], [1.0, 2.0], "NaN or infinite"),
        ([1.0, 2.0], [np.inf, 2.0], "NaN or infinite"),
    ],
)
def test_bad_pairs_are_refused(better, worse, message):
    with pytest.raises(ValueError, match=message):
        paired_test(better, worse)


@given(PROBABILITIES)
@settings(max_examples=8)  # statsmodels takes a tenth of a second each time
@pytest.mark.slow
def test_holm_is_that_of_statsmodels(p_values):
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], rtol=1e-12)


@given(PROBABILITIES)
def test_holm_keeps_the_order_and_never_helps(p_values):
    corrected = holm(p_values)
    assert (corrected >= p_values).all()
    assert (corrected <= 1).all()
    assert (np.diff(corrected[np.argsort(p_values, kind="stable")]) >= 0).all()


def test_holm_leaves_its_input_alone():
    p_values = np.array([0.04, 0.01])
    holm(p_values)
    assert p_values.tolist() == [0.04, 0.01]


def test_holm_of_nothing_is_nothing():
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("p_values", [[0.1, np.nan], [-0.1], [1.1], [[0.1]], 0.1])
def test_holm_refuses_what_is_no_list_of_probabilities(p_values):
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm(p_values)
