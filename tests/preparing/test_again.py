"""Other rows are prepared as those of a fit were, and fitted values come back to their units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tparafac2.data import Labels
from tparafac2.preparing import Preparation, prepare_again, prepare_sparse_again, prepares, undo_beside

MODES = st.sampled_from([None, "rows", "columns", "time"])
TRANSFORMS = st.sampled_from([None, "log1p", "sqrt", "share", "clr", ("share", "sqrt"), ("sqrt", "share")])


@given(transform=TRANSFORMS, center=MODES, scale=MODES, seed=st.integers(0, 99))
def test_the_same_rows_become_the_same_and_come_back(transform, center, scale, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((3, 4, 5)) + 0.1
    X[rng.random(X.shape) < 0.1] = np.nan
    prepared = Preparation(transform, center=center, scale=scale).apply(X)
    record = prepared.as_dict()
    again = prepare_again(record, X, Labels())
    assert np.allclose(again.values, prepared.data, equal_nan=True)
    # Each row by itself, too: it has no say in what was found at the fit.
    alone = prepare_again(record, X[:, 2:3], Labels())
    assert np.allclose(alone.values, prepared.data[:, 2:3], equal_nan=True)
    back = undo_beside(record, again.adjustment, np.nan_to_num(again.values), X)
    seen = ~np.isnan(X)
    assert np.allclose(back[seen], X[seen])


@given(transform=st.sampled_from([None, "sqrt", "share"]), center=MODES, scale=MODES)
def test_sparse_slices_become_what_dense_ones_do(transform, center, scale):
    rng = np.random.default_rng(0)
    X = rng.random((3, 6, 8)) * (rng.random((3, 6, 8)) < 0.6)
    record = Preparation(transform, center=center, scale=scale).apply(X).as_dict()
    made = prepare_sparse_again(record, [csr_array(piece) for piece in X[:, 1:4]], Labels())
    dense = [piece.toarray() for piece in made.values]
    if made.correction is not None:
        dense = [made.correction.dense(piece, k) for k, piece in enumerate(made.values)]
    assert np.allclose(dense, prepare_again(record, X[:, 1:4], Labels()).values)


def test_rows_without_spread_are_named():
    record = Preparation(scale="rows").apply(np.random.default_rng(0).random((2, 3, 4))).as_dict()
    with pytest.raises(ValueError, match=r"1 of 2 rows has the same value everywhere: 'b'"):
        prepare_again(
            record, np.stack([np.eye(4)[:2], np.zeros((2, 4))]) * [[1], [0]], Labels(rows=["a", "b"])
        )


def test_a_selection_alone_prepares_nothing():
    assert not prepares(Preparation().as_dict() | {"selection": "kept 2 of 9 lines"})
    assert prepares(Preparation(center="rows").as_dict())
