"""A sketch keeps what matters of the rows, and knows what it left out."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import DenseData, SparseData, sketch, sketched_rows


def low_rank(rank=3, shape=(4, 60, 7), noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    K, I, J = shape
    X = np.einsum("ir,kjr->kij", rng.normal(size=(I, rank)), rng.normal(size=(K, J, rank)))
    return X + noise * rng.normal(size=shape)


@given(seed=st.integers(0, 10**6), rank=st.integers(1, 4), noise=st.sampled_from([0.0, 0.1, 1.0]))
def test_errors_on_the_sketch_and_what_it_left_out_are_errors_on_the_data(seed, rank, noise):
    data = DenseData.from_slices(low_rank(rank, noise=noise, seed=seed))
    found = sketch(data, rank)
    rng = np.random.default_rng(seed)
    small = found.compressed.data
    A, W = rng.normal(size=(small.shape[1], rank)), rng.normal(size=(1, rank, 4, 7))
    on_sketch = small.residual_sse(np.ascontiguousarray(A.T)[None], W)[0]
    whole = found.compressed.expand_loadings(A)
    on_data = data.residual_sse(np.ascontiguousarray(whole.T)[None], W)[0]
    assert on_sketch + found.left_out == pytest.approx(on_data, rel=1e-10)


def test_nothing_is_left_out_of_data_with_few_directions():
    found = sketch(DenseData.from_slices(low_rank(3)), 3)
    assert found.left_out < 1e-12
    basis = found.compressed.row_basis
    np.testing.assert_allclose(basis.T @ basis, np.eye(13), atol=1e-12)


def test_it_finds_nearly_what_the_best_directions_keep():
    X = low_rank(3, shape=(5, 80, 30), noise=1.0)
    data = DenseData.from_slices(X)
    found = sketch(data, 3)
    flat = data.values.reshape(80, -1)
    kept = np.sort(np.linalg.eigvalsh(flat @ flat.T))[::-1]
    assert kept[13:].sum() <= found.left_out <= 1.1 * kept[13:].sum()
    assert found.left_out < kept[3:].sum()


def test_sparse_data_have_the_sketch_of_the_same_dense_ones():
    X = low_rank(2, shape=(3, 60, 9))
    dense, thin = DenseData.from_slices(X), SparseData.from_slices([scipy.sparse.csr_array(x) for x in X])
    ours, theirs = sketch(thin, 2).compressed.data, sketch(dense, 2).compressed.data
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-12)
    assert ours.scale == theirs.scale


def test_no_sketch_where_it_would_not_be_smaller():
    assert sketched_rows(DenseData(np.ones((26, 1, 3))), 3) == 13
    assert sketch(DenseData(np.ones((25, 1, 3))), 3) is None
    few = scipy.sparse.random_array((200, 50), density=0.01, rng=np.random.default_rng(0))
    assert sketch(SparseData.from_slices([few]), 2) is None


def test_it_is_the_same_every_time():
    data = DenseData.from_slices(low_rank(noise=0.5))
    first, second = (sketch(data, 3).compressed.data.values for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_single_precision_stays_single():
    data = DenseData.from_slices(low_rank(noise=0.5), dtype=np.float32)
    found = sketch(data, 3)
    assert found.compressed.data.dtype == np.float32
    assert found.compressed.row_basis.dtype == np.float64
