"""Which component of one result is which of another."""

import numpy as np
import pytest
from hand_made import hand_made
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.result.kinship import LINKED, SAME, Link, fate_of, kinship


def result(A, B=None, C=None):
    R = A.shape[1]
    B = np.ones((3, 4, R)) if B is None else B
    return hand_made(A=A, B=B, C=np.ones((3, R)) if C is None else C)


def pairs(found, matched=True):
    return [(one.one, one.other) for one in found.links if one.matched is matched]


def test_components_are_found_again_in_any_order_and_size():
    one = hand_made(I=9, J=7, R=4)
    turn = [2, 0, 3, 1]
    other = hand_made(A=5 * one.A[:, turn], B=one.B[:, :, turn] / 3, C=one.C[:, turn])
    found = kinship(one, other)
    assert pairs(found) == [(0, 1), (1, 3), (2, 0), (3, 2)]
    assert [found.fate(r) for r in range(4)] == [found.origin(r) for r in range(4)] == ["same"] * 4
    np.testing.assert_allclose(found.held, 1.0)


def test_signs_belong_to_the_whole_component():
    one = hand_made()
    turned = hand_made(A=-one.A, B=-one.B, C=one.C)
    np.testing.assert_allclose(kinship(one, turned).likeness, kinship(one, one).likeness)
    opposite = hand_made(A=-one.A, B=one.B, C=one.C)
    assert kinship(one, opposite).links == ()


def test_a_component_in_two_parts_is_linked_with_both_and_matched_with_one():
    A = np.eye(6)
    found = kinship(result(A[:, :1] + A[:, 1:2]), result(A[:, :3]))
    assert len(pairs(found)) == len(pairs(found, matched=False)) == 1
    assert found.fate(0) == "parts"
    assert sorted(found.origin(s) for s in range(2)) == ["another", "changed"]
    assert found.origin(2) == "none"
    np.testing.assert_allclose(found.held, [1.0])
    np.testing.assert_allclose(found.held_other, [0.5, 0.5, 0.0], atol=1e-12)


def test_what_has_vanished_is_like_nothing():
    A = np.eye(6)[:, :2].copy()
    A[:, 1] = 0.0
    found = kinship(result(A), result(np.eye(6)[:, :2]))
    assert pairs(found) == [(0, 0)]
    assert found.fate(1) == "none"


def test_slices_of_different_widths():
    rng = np.random.default_rng(0)
    B = [rng.random((J, 2)) for J in (3, 5, 4)]
    one = hand_made(B=B)
    other = hand_made(B=[piece[:, ::-1] for piece in B], A=one.A[:, ::-1], C=one.C[:, ::-1])
    assert pairs(kinship(one, other)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("likeness", "held", "fate"),
    [
        ([SAME], 1.0, "same"),
        ([0.8, 0.5], 0.9, "parts"),
        ([0.8, 0.5], 0.7, "changed"),
        ([0.8], 0.9, "changed"),
        ([], 0.9, "none"),
        ([None, 0.7], 0.5, "another"),
    ],
)
def test_fates(likeness, held, fate):
    links = [Link(0, s, like, s == 0) for s, like in enumerate(likeness) if like is not None]
    assert fate_of(links, held) == fate


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_it_is_the_same_from_both_sides(R, S, seed):
    rng = np.random.default_rng(seed)
    one, other = (result(rng.normal(size=(5, n)), rng.normal(size=(3, 4, n))) for n in (R, S))
    there, back = kinship(one, other), kinship(other, one)
    np.testing.assert_allclose(there.likeness, back.likeness.T, atol=1e-12)
    np.testing.assert_allclose(there.held, back.held_other, atol=1e-9)
    assert (there.held >= there.likeness.max(axis=1) ** 2 - 1e-9).all()
    assert all(link.likeness >= LINKED for link in there.links)
    for places in zip(*pairs(there)):
        assert len(set(places)) == len(places)
