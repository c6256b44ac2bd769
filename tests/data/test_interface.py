"""Pieces of different lengths as one array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import padded


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
    st.sampled_from([(), (2,), (2, 3)]),
    st.integers(0, 2),
    st.sampled_from([np.nan, 0.0]),
)
def test_pieces_are_at_the_front_and_the_rest_is_filled(lengths, tail, more, fill):
    pieces = [np.random.default_rng(k).normal(size=(length, *tail)) for k, length in enumerate(lengths)]
    whole = padded(pieces, max(lengths) + more, fill=fill)
    assert whole.shape == (len(lengths), max(lengths) + more, *tail)
    for row, piece in zip(whole, pieces):
        np.testing.assert_array_equal(row[: len(piece)], piece)
        np.testing.assert_array_equal(row[len(piece) :], fill)
    assert padded(pieces).shape[1] == max(lengths)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_precision_stays_and_an_array_is_given_back(kind):
    assert padded([np.ones(1, kind), np.ones(2, kind)]).dtype == kind
    stack = np.ones((2, 3, 1), kind)
    assert padded(stack, 7) is stack
