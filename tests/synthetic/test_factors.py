"""Words are divided without loss, near the middle, and shared as asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.synthetic.factors import divide_words


@settings(max_examples=100)
@given(st.integers(1, 8), st.integers(0, 200), st.integers(0, 2**32))
def test_without_overlap_every_word_has_one_place(n_concepts, extra, seed):
    n_words = 6 * n_concepts + extra
    sets = divide_words(n_words, n_concepts, 0.0, np.random.default_rng(seed))
    assert len(sets) == n_concepts
    assert np.array_equal(
        np.sort(np.concatenate([part for pair in sets for part in pair])), np.arange(n_words)
    )
    assert min(part.size for pair in sets for part in pair) >= 3


@settings(max_examples=100)
@given(st.integers(2, 8), st.integers(0, 200), st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_with_overlap_only_initial_words_are_shared_and_by_all(n_concepts, extra, overlap, seed):
    n_words = 6 * n_concepts + extra
    try:
        sets = divide_words(n_words, n_concepts, overlap, np.random.default_rng(seed))
    except ValueError:
        # Only shares below one word of the largest initial set, or above all but one, are impossible.
        assert overlap * n_words < 3 * n_concepts or (1 - overlap) * n_words < 3 * n_concepts
        return
    owners = np.zeros(n_words, dtype=int)
    for pair in sets:
        owners[pair.initial] += 1
        assert min(pair.initial.size, pair.final.size) >= 3
    shared = np.flatnonzero(owners == n_concepts)
    assert set(np.unique(owners)) <= {0, 1, n_concepts}
    for pair in sets:
        assert abs(shared.size / pair.initial.size - overlap) <= 0.5 / pair.initial.size + 1e-12
        assert 0 < shared.size < pair.initial.size
        owners[pair.final] += 1
    assert set(np.unique(owners)) == {1, n_concepts}


def test_splits_vary_and_stay_near_the_middle():
    rng = np.random.default_rng(0)
    shares = [
        s.initial.size / (s.initial.size + s.final.size)
        for _ in range(100)
        for s in divide_words(99, 3, 0, rng)
    ]
    assert len(set(shares)) > 5
    assert min(shares) >= 0.4 - 1e-12
    assert max(shares) <= 0.6 + 1e-12


@pytest.mark.parametrize("overlap", [0.1, 0.2, 0.4])
def test_published_overlaps_are_exact(overlap):
    for seed in range(20):
        sets = divide_words(100, 3, overlap, np.random.default_rng(seed))
        shared = np.intersect1d(sets[0].initial, sets[1].initial)
        assert shared.size / sets[2].initial.size == pytest.approx(overlap, abs=1e-12)


def test_a_share_of_less_than_one_word_is_refused():
    with pytest.raises(ValueError, match=r"an overlap of 0.01 cannot be made with 20 words and 3 concepts"):
        divide_words(20, 3, 0.01, np.random.default_rng(0))
