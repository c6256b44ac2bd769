"""Pieces of products, shared among threads or not: the same bytes."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import DenseData, dense, teamwork
from tparafac2.data.teamwork import in_pieces


@given(length=st.integers(1, 100), size=st.integers(1, 100), threads=st.integers(1, 3))
def test_pieces_cover_everything_once(length, size, threads):
    done = []
    with teamwork(threads):
        in_pieces(lambda piece: done.extend(range(length)[piece]), length, size)
    assert sorted(done) == list(range(length))


def test_two_threads_are_at_work():
    meet = threading.Barrier(2, timeout=30)
    with teamwork(2):
        in_pieces(lambda piece: meet.wait(), 2, 1)  # one alone would wait in vain


def test_afterwards_nobody_helps():
    names = set()
    with teamwork(2):
        pass
    in_pieces(lambda piece: names.add(threading.current_thread().name), 4, 1)
    assert names == {threading.current_thread().name}


def test_what_fails_in_a_piece_fails():
    def work(piece):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), teamwork(2):
        in_pieces(work, 4, 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_have_the_same_bytes_for_any_number_of_threads(dtype, monkeypatch):
    monkeypatch.setattr(dense, "_SHARED_ENTRIES", 1)
    rng = np.random.default_rng(0)
    data = DenseData.from_slices(rng.random((5, 37, 41)), dtype=dtype)
    At, W = rng.random((2, 3, 37)), rng.random((2, 3, 5, 41))
    alone = data.project(At), data.accumulate(W)
    for threads in (2, 3):
        with teamwork(threads):
            shared = data.project(At), data.accumulate(W)
        for ours, theirs in zip(shared, alone, strict=True):
            assert ours.tobytes() == theirs.tobytes()
    monkeypatch.setattr(dense, "_SHARED_ENTRIES", 10**9)
    np.testing.assert_allclose(data.project(At), alone[0], rtol=1e-5)
