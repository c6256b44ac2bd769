"""Likeness of components between parts of the rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.choosing.likeness import aligned, cross_likeness, likeness


def units(rng, length, rank):
    vectors = rng.standard_normal((length, rank))
    return vectors / np.linalg.norm(vectors, axis=0)


@given(st.integers(0, 1000), st.integers(1, 6))
def test_order_and_sign_of_the_components_do_not_matter(seed, rank):
    rng = np.random.default_rng(seed)
    model = units(rng, 40, rank)
    mixed = model[:, rng.permutation(rank)] * rng.choice([-1.0, 1.0], rank)
    found = likeness([cross_likeness(aligned(mixed, model), model)])
    np.testing.assert_allclose(found.own, 1.0)
    assert (found.chance < 1).all()


@given(st.integers(0, 1000), st.integers(1, 5))
def test_likeness_lies_between_nothing_and_one(seed, rank):
    rng = np.random.default_rng(seed)
    model, one, other = (units(rng, 10, rank) for _ in range(3))
    found = likeness([cross_likeness(aligned(one, model), aligned(other, model))])
    for values in found:
        assert ((values >= 0) & (values <= 1)).all()


def test_chance_is_how_alike_different_components_are():
    crossed = np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.3], [0.4, 0.1, 0.6]])
    found = likeness([crossed])
    np.testing.assert_array_equal(found.own, [0.9, 0.7, 0.6])
    np.testing.assert_array_equal(found.chance, [0.8, 0.8, 0.4])


def test_a_single_component_has_no_chance_to_be_mistaken():
    assert likeness([np.array([[0.8]])]).chance.tolist() == [0.0]


def test_the_median_over_splits_is_taken():
    splits = [np.array([[own, 0.1], [0.1, 0.9]]) for own in (0.1, 0.8, 0.9)]
    assert likeness(splits).own.tolist() == [0.8, 0.9]
