import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2 import metrics

DEFINITIONS = ["stacked", "slicewise", "scaled"]
MODES = ["A", "B", "C", "AB", "AC", "BC", "ABC"]

some = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)


def random_factors(seed, rank=3, lengths=(4, 4, 4, 4, 4), rows=7):
    rng = np.random.default_rng(seed)
    patterns = [rng.standard_normal((length, rank)) for length in lengths]
    return (
        rng.standard_normal((rows, rank)),
        np.stack(patterns) if len(set(lengths)) == 1 else patterns,
        rng.uniform(0.1, 2.0, (len(lengths), rank)),
    )


def columns_at(*degrees):
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles)])


def cosine(x, y):
    return abs(x @ y) / (np.linalg.norm(x) * np.linalg.norm(y))


# --- factor match score -----------------------------------------------------------------------------------


@some
@given(
    seed=seeds, rank=st.integers(1, 5), modes=st.sampled_from(MODES), definition=st.sampled_from(DEFINITIONS)
)
def test_order_sign_and_scale_do_not_matter(seed, rank, modes, definition):
    truth, estimate = random_factors(seed, rank), random_factors(seed + 1, rank)
    rng = np.random.default_rng(seed)
    order = rng.permutation(rank)
    a, b, c = rng.choice([-1, 1], (3, rank)) * 10 ** rng.uniform(-3, 3, (3, rank))
    changed = tuple(factor[..., order] * scale for factor, scale in zip(estimate, (a, b, c), strict=True))

    before = metrics.match_components(estimate, truth, modes, definition)
    after = metrics.match_components(changed, truth, modes, definition)

    assert after.score == pytest.approx(before.score, abs=1e-12)
    np.testing.assert_allclose(after.per_component, before.per_component, atol=1e-12)
    np.testing.assert_array_equal(order[after.permutation], before.permutation)


@some
@given(
    seed=seeds,
    ranks=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    modes=st.sampled_from(MODES),
    definition=st.sampled_from(DEFINITIONS),
)
def test_score_is_symmetric_and_between_zero_and_one(seed, ranks, modes, definition):
    one, other = random_factors(seed, ranks[0]), random_factors(seed + 1, ranks[1])
    score = metrics.factor_match_score(one, other, modes, definition)
    assert 0 <= score <= min(ranks) / max(ranks)
    assert score == pytest.approx(metrics.factor_match_score(other, one, modes, definition), abs=1e-12)
    assert score == metrics.factor_match_score(one, other, modes[::-1], definition)


@some
@given(seed=seeds, rank=st.integers(1, 5), definition=st.sampled_from(DEFINITIONS))
def test_a_set_matches_itself_perfectly(seed, rank, definition):
    factors = random_factors(seed, rank)
    match = metrics.match_components(factors, factors, definition=definition)
    assert match.score == pytest.approx(1, abs=1e-12)
    assert match.score <= 1
    np.testing.assert_array_equal(match.permutation, np.arange(rank))


def test_matching_is_optimal_where_greedy_is_not():
    B, C = np.ones((2, 3, 2)), np.ones((2, 2))
    truth, estimate = columns_at(0, 45), columns_at(10, -30)
    match = metrics.match_components((estimate, B, C), (truth, B, C), modes="A")

    # Greedy would take the best pair (0 with 10 degrees) and be left with 45 against -30.
    greedy = (np.cos(np.deg2rad(10)) + np.cos(np.deg2rad(75))) / 2
    optimal = (np.cos(np.deg2rad(30)) + np.cos(np.deg2rad(35))) / 2
    assert match.score == pytest.approx(optimal)
    assert match.score > greedy + 0.2
    np.testing.assert_array_equal(match.permutation, [1, 0])


@pytest.mark.parametrize(
    ("definition", "expected"), [("stacked", 3 / 10**0.5), ("slicewise", 1.0), ("scaled", 5 / 26**0.5)]
)
def test_definitions_by_hand(definition, expected):
    """(1,0 | 0,1) against (2,0 | 0,1); times the strengths (1 | 1) against (1 | 3) it is (2,0 | 0,3)."""
    A = np.ones((2, 1))
    truth = (A, np.array([[[1.0], [0.0]], [[0.0], [1.0]]]), np.array([[1.0], [1.0]]))
    estimate = (A, np.array([[[2.0], [0.0]], [[0.0], [1.0]]]), np.array([[1.0], [3.0]]))
    assert metrics.factor_match_score(estimate, truth, "B", definition) == pytest.approx(expected)
    cosine_c = 4 / (2**0.5 * 10**0.5)
    assert metrics.factor_match_score(estimate, truth, "ABC", definition) == pytest.approx(
        expected * cosine_c
    )


def test_stacked_is_the_default():
    one, other = random_factors(0), random_factors(1)
    default, stacked, slicewise = (
        metrics.factor_match_score(one, other),
        metrics.factor_match_score(one, other, "ABC", "stacked"),
        metrics.factor_match_score(one, other, "ABC", "slicewise"),
    )
    assert default == stacked != slicewise


def test_scaled_ignores_how_strength_is_shared_between_pattern_and_strength():
    A, B, C = random_factors(3)
    shares = np.random.default_rng(0).uniform(0.1, 10, C.shape)
    moved = (A, B / shares[:, np.newaxis], C * shares)
    assert metrics.factor_match_score(moved, (A, B, C), "AB", "scaled") == pytest.approx(1, abs=1e-12)
    assert metrics.factor_match_score(moved, (A, B, C), "AB", "stacked") < 0.99


def test_slicewise_ignores_the_size_of_slices_but_counts_each_slice_alike():
    A, B, C = random_factors(3, rank=1)
    estimate = B.copy()
    estimate[0, :, 0] = [-B[0, 1, 0], B[0, 0, 0], -B[0, 3, 0], B[0, 2, 0]]  # orthogonal to the truth
    estimate[1:] *= np.array([1e-3, 1.0, 10.0, 1e3])[:, np.newaxis, np.newaxis]
    assert metrics.factor_match_score((A, estimate, C), (A, B, C), "B", "slicewise") == pytest.approx(4 / 5)


def test_parts_of_the_score_fit_together():
    truth, estimate = random_factors(0), random_factors(1)
    match = metrics.match_components(estimate, truth)
    assert list(match.per_mode) == ["A", "B", "C"]
    np.testing.assert_allclose(np.prod(list(match.per_mode.values()), axis=0), match.per_component)
    assert match.score == pytest.approx(match.per_component.mean())
    for r, s in enumerate(match.permutation):
        assert match.per_mode["A"][r] == pytest.approx(cosine(truth[0][:, r], estimate[0][:, s]))
        assert match.per_mode["B"][r] == pytest.approx(
            cosine(truth[1][..., r].ravel(), estimate[1][..., s].ravel())
        )
        assert match.per_mode["C"][r] == pytest.approx(cosine(truth[2][:, r], estimate[2][:, s]))


def test_unmatched_components_count_zero():
    A, B, C = random_factors(0, rank=4)
    few = [2, 0, 3]
    fewer = (A[:, few], B[..., few], C[:, few])

    missed = metrics.match_components(fewer, (A, B, C))
    assert missed.score == pytest.approx(3 / 4)
    np.testing.assert_array_equal(missed.permutation, [1, -1, 0, 2])
    np.testing.assert_allclose(missed.per_component, [1, 0, 1, 1])
    np.testing.assert_allclose(missed.per_mode["A"], [1, 0, 1, 1])

    superfluous = metrics.match_components((A, B, C), fewer)
    assert superfluous.score == pytest.approx(3 / 4)
    np.testing.assert_array_equal(superfluous.permutation, few)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_ragged_patterns(definition):
    truth = random_factors(0, lengths=(4, 6, 5))
    estimate = random_factors(1, lengths=(4, 6, 5))
    assert metrics.factor_match_score(truth, truth, definition=definition) == pytest.approx(1)

    def long_vector(factors, r):
        slices = [pattern[:, r] for pattern in factors[1]]
        if definition == "slicewise":
            slices = [b / np.linalg.norm(b) for b in slices]
        if definition == "scaled":
            slices = [c * b for c, b in zip(factors[2][:, r], slices, strict=True)]
        return np.concatenate(slices)

    match = metrics.match_components(estimate, truth, "B", definition)
    expected = [
        cosine(long_vector(truth, r), long_vector(estimate, s)) for r, s in enumerate(match.permutation)
    ]
    np.testing.assert_allclose(match.per_component, expected)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_equal_slices_may_come_as_list_or_array(definition):
    (A, B, C), truth = random_factors(0), random_factors(1)
    as_list = metrics.factor_match_score((A, list(B), C), truth, definition=definition)
    assert as_list == metrics.factor_match_score((A, B, C), truth, definition=definition)


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("vanished", [0, 1, 2])
def test_a_component_of_zeros_scores_zero(definition, vanished):
    truth = random_factors(0)
    estimate = tuple(factor.copy() for factor in truth)
    estimate[vanished][..., 1] = 0
    match = metrics.match_components(estimate, truth, definition=definition)
    np.testing.assert_allclose(match.per_component, [1, 0, 1], atol=1e-12)


def test_a_slice_of_zeros_only_loses_that_slice():
    A, B, C = random_factors(0, rank=1)
    silent = B.copy()
    silent[0] = 0
    score = metrics.factor_match_score((A, silent, C), (A, B, C), "B", "slicewise")
    assert score == pytest.approx((4 / 5) ** 0.5)


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_very_large_and_very_small_numbers(definition, size):
    truth, estimate = random_factors(0), random_factors(1)
    resized = tuple(size * factor for factor in estimate)
    expected = metrics.factor_match_score(estimate, truth, definition=definition)
    assert metrics.factor_match_score(resized, truth, definition=definition) == pytest.approx(expected)


def test_fitted_estimators_and_data_sets_are_read():
    A, B, C = random_factors(0)
    estimator = SimpleNamespace(A_=A, B_=B, C_=C, A="a parameter", B="another")
    data = SimpleNamespace(X=None, A=A, B=B, C=C)
    assert metrics.factor_match_score(estimator, data) == pytest.approx(1)
    assert metrics.explained_variance(metrics.reconstruct(A, B, C), estimator) == pytest.approx(1)


def test_strengths_may_be_missing_where_they_are_not_asked_for():
    A, B, C = random_factors(0)
    assert metrics.factor_match_score((A, B, None), (A, B, C), modes="AB") == pytest.approx(1)
    assert metrics.factor_match_score(SimpleNamespace(A=A, B=B), (A, B, C), modes="BA") == pytest.approx(1)
    assert metrics.factor_match_score(
        (A, B, None), (A, B, C), modes="A", definition="scaled"
    ) == pytest.approx(1)
    for modes, definition in [("ABC", "stacked"), ("AB", "scaled")]:
        with pytest.raises(ValueError, match=r'estimate.*C is None.*modes="AB"'):
            metrics.factor_match_score((A, B, None), (A, B, C), modes, definition)


def test_only_the_modes_asked_for_need_equal_shapes():
    A, B, C = random_factors(0)
    half = (A[:3], B, C)
    assert metrics.factor_match_score(half, (A, B, C), modes="BC") == pytest.approx(1)
    with pytest.raises(
        ValueError, match="estimate and truth cannot be compared in mode A: length 3 against 7"
    ):
        metrics.factor_match_score(half, (A, B, C))


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("modes", ["", "ABD", "abc", "AA", None, 3])
def test_unknown_modes_are_refused(modes):
    factors = random_factors(0)
    with pytest.raises(ValueError, match=r"modes must be some of the letters"):
        metrics.factor_match_score(factors, factors, modes)


def test_unknown_definitions_are_refused():
    factors = random_factors(0)
    with pytest.raises(ValueError, match=r"'stacked', 'slicewise', 'scaled'; got 'best'"):
        metrics.factor_match_score(factors, factors, definition="best")


@pytest.mark.parametrize(
    ("lengths", "modes", "message"),
    [
        ((4,) * 6, "B", r"mode B: length 4 \(6 times\) against 4 \(5 times\)"),
        ((4,) * 6, "C", "mode C: length 6 against 5"),
        ((3,) * 5, "B", r"mode B: length 3 \(5 times\) against 4 \(5 times\)"),
        ((4, 4, 4, 4, 5), "B", "mode B: length 4, 4, 4, 4, 5 against"),
    ],
)
def test_sets_of_other_shapes_are_refused(lengths, modes, message):
    with pytest.raises(ValueError, match=message):
        metrics.factor_match_score(random_factors(0, lengths=lengths), random_factors(0), modes)


def test_ragged_sets_that_differ_late_are_refused():
    one = random_factors(0, lengths=(4, 5, 4, 4, 4, 4, 5))
    other = random_factors(0, lengths=(4, 5, 4, 4, 4, 5, 4))
    with pytest.raises(ValueError, match=r"mode B: length 4, 5, 4, 4, 4, ... \(7 in all\)"):
        metrics.factor_match_score(one, other)


@pytest.mark.parametrize(
    ("letter", "change", "message"),
    [
        ("A", lambda A: A[:, 0], r"A of estimate must be an array \(I, R\).*got shape \(7,\)"),
        ("A", lambda A: A[:, :2], "same number of components .*got 2 in A and 3 in B"),
        ("A", lambda A: A + np.nan, "A of estimate has 21 NaN"),
        ("A", lambda A: A[:, :0], r"not empty; got shape \(7, 0\)"),
        ("A", lambda A: A + 1j, "A of estimate must be an array of real numbers"),
        ("A", lambda A: None, "A of estimate"),
        ("A", lambda A: "loadings", "A of estimate must be an array of real numbers; got str"),
        ("B", lambda B: B[0], r"B of estimate must be an array \(K, ., .\)"),
        ("B", lambda B: [], "B of estimate is an empty list"),
        ("B", lambda B: [*B[:-1], B[-1, :, :2]], "slices of B of estimate must all have the same number"),
        ("B", lambda B: [*B[:-1], B[-1] * np.inf], "slice 4 of B of estimate has 12 NaN or infinite"),
        ("B", lambda B: [*B[:-1], B[-1, 0]], "slice 4 of B of estimate must be an array"),
        ("C", lambda C: C[:-1], r"C of estimate must have a row per slice.*\(5, 3\); got \(4, 3\)"),
        ("C", lambda C: C[:, :2], r"C of estimate must have .*got \(5, 2\)"),
        ("C", lambda C: C * np.nan, "C of estimate has 15 NaN"),
    ],
)
def test_broken_factors_are_refused_by_name(letter, change, message):
    truth = random_factors(0)
    broken = dict(zip("ABC", truth, strict=True))
    broken[letter] = change(broken[letter])
    with pytest.raises(ValueError, match=message):
        metrics.factor_match_score(tuple(broken.values()), truth)


def test_things_that_are_no_factors_are_refused():
    factors = random_factors(0)
    with pytest.raises(TypeError, match=r"truth must be a tuple.*got ndarray.*call fit"):
        metrics.factor_match_score(factors, factors[0])
    with pytest.raises(ValueError, match=r"estimate must have three parts .*got 2"):
        metrics.factor_match_score(factors[:2], factors)


# --- agreement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_agreement_holds_all_pairwise_scores(definition):
    sets = [random_factors(0), random_factors(1), random_factors(2, rank=2), random_factors(3)]
    expected = [[metrics.factor_match_score(one, other, "AB", definition) for other in sets] for one in sets]
    matrix = metrics.agreement(sets, "AB", definition)
    np.testing.assert_allclose(matrix, expected, atol=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert metrics.agreement(sets[:1]).shape == (1, 1)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_what_vanished_from_both_is_no_disagreement(mode):
    whole = random_factors(0)
    rank = whole[0].shape[1]

    def without(*components):
        factors = [np.array(factor) for factor in whole]
        factors[mode][..., list(components)] = 0.0
        return tuple(factors)

    less, reordered = without(0), tuple(factor[..., ::-1] for factor in without(0))
    empty = without(*range(rank))
    matrix = metrics.agreement([whole, less, reordered, empty])
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    assert matrix[1, 2] == pytest.approx(1.0)
    assert matrix[0, 1] == pytest.approx((rank - 1) / rank)
    assert matrix[1, 3] == pytest.approx(1 / rank)
    assert matrix[0, 3] == 0.0
    assert metrics.factor_match_score(less, less) == pytest.approx((rank - 1) / rank), "not recovered"


def test_agreement_names_the_set_that_does_not_fit():
    with pytest.raises(ValueError, match=r"factor_sets\[1\] and factor_sets\[0\].* mode A"):
        metrics.agreement([random_factors(0), random_factors(0, rows=8)])
    with pytest.raises(TypeError, match=r"factor_sets\[0\] must be a tuple"):
        metrics.agreement(random_factors(0))
    with pytest.raises(ValueError, match="factor_sets is empty"):
        metrics.agreement([])


# --- degeneracy -------------------------------------------------------------------------------------------


def test_degeneracy_by_hand():
    """Components 0 and 1 are 60, 60 and 120 degrees apart; component 2 is orthogonal to 0 in A, B and C."""
    A, C = columns_at(0, 60, 90), columns_at(0, 120, 90)
    B = columns_at(0, 60, 90)[:, np.newaxis, :]  # two slices of length 1: stacked they are the same matrix
    assert metrics.degeneracy_score(A, B, C) == pytest.approx(-1 / 8)
    assert metrics.degeneracy_score(A, B, None) == pytest.approx(0, abs=1e-12)
    assert metrics.degeneracy_score(A, list(B), C) == pytest.approx(-1 / 8)


def test_degeneracy_of_one_component_is_one():
    assert metrics.degeneracy_score(*random_factors(0, rank=1)) == 1.0
    assert metrics.degeneracy_score(np.zeros((2, 1)), np.ones((2, 2, 1)), None) == 1.0


@some
@given(seed=seeds, rank=st.integers(2, 5))
def test_opposite_components_are_degenerate_and_alike_ones_are_not(seed, rank):
    A, B, C = random_factors(seed, rank, lengths=(3, 5, 4))
    first = np.zeros(rank, dtype=int)
    alike = A[:, first], [pattern[:, first] for pattern in B], C[:, first]
    assert metrics.degeneracy_score(*alike) == pytest.approx(1)
    signs = np.where(np.arange(rank) == 1, -1, 1)
    score = metrics.degeneracy_score(alike[0] * signs, *alike[1:])
    assert score == pytest.approx(-1)
    assert score >= -1
    # The sign of a single component is free in A and B together, so it must not change the score.
    flipped = A * signs, [pattern * signs for pattern in B], C
    assert metrics.degeneracy_score(*flipped) == pytest.approx(metrics.degeneracy_score(A, B, C))


def test_components_of_zeros_are_not_degenerate():
    A, B, C = columns_at(0, 0, 0), np.ones((2, 3, 3)), np.ones((2, 3))
    A[:, 2] = 0
    assert metrics.degeneracy_score(A, B, C) == 0


# --- fit --------------------------------------------------------------------------------------------------


def test_reconstruct_by_definition():
    A, B, C = random_factors(0)
    expected = np.stack([A @ np.diag(c) @ pattern.T for c, pattern in zip(C, B, strict=True)])
    reconstructed = metrics.reconstruct(A, B, C)
    assert isinstance(reconstructed, np.ndarray)
    np.testing.assert_allclose(reconstructed, expected)
    np.testing.assert_allclose(metrics.reconstruct(A, B, None), metrics.reconstruct(A, B, np.ones_like(C)))


def test_reconstruct_ragged():
    A, B, C = random_factors(0, lengths=(4, 6))
    reconstructed = metrics.reconstruct(A, B, C)
    assert [x.shape for x in reconstructed] == [(7, 4), (7, 6)]
    np.testing.assert_allclose(reconstructed[1], A @ np.diag(C[1]) @ B[1].T)


@pytest.mark.parametrize("lengths", [(4, 4, 4), (4, 6, 5)])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_explained_variance(lengths, size):
    A, B, C = random_factors(0, lengths=lengths)
    A = A * size
    X = metrics.reconstruct(A, B, C)
    assert metrics.explained_variance(X, (A, B, C)) == pytest.approx(1, abs=1e-12)
    assert metrics.explained_variance(X, (0 * A, B, C)) == 0
    assert metrics.explained_variance(X, (3 * A, B, C)) == pytest.approx(-3)
    assert metrics.explained_variance(list(X), (0.5 * A, list(B), C)) == pytest.approx(0.75)


def test_explained_variance_of_a_model_with_noise():
    A, B, C = random_factors(0)
    X = metrics.reconstruct(A, B, C) + np.random.default_rng(0).standard_normal((5, 7, 4))
    expected = 1 - np.sum((X - metrics.reconstruct(A, B, C)) ** 2) / np.sum(X**2)
    assert metrics.explained_variance(X, (A, B, C)) == pytest.approx(expected)


def test_explained_variance_refuses_data_that_do_not_fit():
    A, B, C = random_factors(0)
    X = metrics.reconstruct(A, B, C)
    with pytest.raises(ValueError, match=r"shapes \(4, 7\) \(5 times\), those of estimate \(7, 4\)"):
        metrics.explained_variance(X.transpose(0, 2, 1), (A, B, C))
    with pytest.raises(ValueError, match=r"\(4 times\).*\(5 times\)"):
        metrics.explained_variance(X[:4], (A, B, C))
    with pytest.raises(ValueError, match="all zeros"):
        metrics.explained_variance(0 * X, (A, B, C))
    X[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="X has 1 NaN"):
        metrics.explained_variance(X, (A, B, C))


# --- PARAFAC2 constraint ----------------------------------------------------------------------------------


@some
@given(seed=seeds, rank=st.integers(1, 4), size=st.sampled_from([1e-200, 1.0, 1e200]))
def test_rotated_patterns_keep_the_constraint(seed, rank, size):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((rank, rank))
    B = [size * np.linalg.qr(rng.standard_normal((length, rank)))[0] @ common for length in (5, 7, 6)]
    assert metrics.parafac2_violation(B) < 1e-12


def test_violation_by_hand():
    """Cross products I, I and 4 I have the mean 2 I, and 4 I is as far from it as the mean is long."""
    assert metrics.parafac2_violation(np.stack([np.eye(3), np.eye(3), 2 * np.eye(3)])) == pytest.approx(1)


def test_violation_sees_angles_too():
    B = np.stack([columns_at(0, 90), columns_at(0, 60)])
    # Cross products [[1, 0], [0, 1]] and [[1, .5], [.5, 1]]: both .25 off in two entries of the mean.
    expected = np.sqrt(2 * 0.25**2) / np.sqrt(2 + 2 * 0.25**2)
    assert metrics.parafac2_violation(B) == pytest.approx(expected)


def test_violation_of_zeros_is_zero():
    assert metrics.parafac2_violation(np.zeros((2, 3, 2))) == 0


def test_violation_refuses_broken_patterns():
    with pytest.raises(ValueError, match="B has 12 NaN"):
        metrics.parafac2_violation(np.full((2, 3, 2), np.nan))
    with pytest.raises(ValueError, match="same number of components; got 2, 3"):
        metrics.parafac2_violation([np.ones((3, 2)), np.ones((3, 3))])


# --- the module -------------------------------------------------------------------------------------------


def test_inputs_are_left_alone():
    truth, estimate = random_factors(0), random_factors(1)
    copies = [factor.copy() for factor in (*truth, *estimate)]
    for definition in DEFINITIONS:
        metrics.factor_match_score(estimate, truth, definition=definition)
    metrics.degeneracy_score(*truth)
    metrics.explained_variance(metrics.reconstruct(*truth), estimate)
    for factor, copy in zip((*truth, *estimate), copies, strict=True):
        np.testing.assert_array_equal(factor, copy)


def test_import_is_light():
    code = "import sys, tparafac2.metrics; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
