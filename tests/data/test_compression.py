import numpy as np
import pytest
from scipy import sparse

from tparafac2.data import Correction, DenseData, SparseData, compress, compressed_shape


def _data(K: int, I: int, J: int, dtype: type = np.float64) -> DenseData:
    return DenseData.from_slices(np.random.default_rng(0).normal(size=(K, I, J)), dtype=dtype)


def _low_rank(K: int, I: int, J: int, rank: int) -> DenseData:
    rng = np.random.default_rng(1)
    return DenseData.from_slices(rng.normal(size=(K, I, rank)) @ rng.normal(size=(rank, J)))


def _assert_orthonormal(Q: np.ndarray) -> None:
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)


@pytest.mark.parametrize("make", [_data, lambda *shape: _low_rank(*shape, 2)])
@pytest.mark.parametrize("rank", [1, 3, 8])
def test_column_basis_holds_all_of_the_data(make, rank: int) -> None:
    data = make(4, 6, 90)
    small = compress(data, rank, columns=True, rows=True)
    Q = small.column_basis
    assert Q is not None
    assert small.row_basis is None
    _assert_orthonormal(Q)
    np.testing.assert_allclose(data.values @ Q @ Q.T, data.values, atol=1e-12)
    np.testing.assert_allclose(small.data.values, data.values @ Q, atol=1e-12)
    assert small.data.scale == data.scale
    assert small.data.norm_squared == pytest.approx(data.norm_squared, abs=1e-12)


@pytest.mark.parametrize("make", [_data, lambda *shape: _low_rank(*shape, 2)])
@pytest.mark.parametrize("rank", [1, 3, 30])
def test_row_basis_holds_all_of_the_data(make, rank: int) -> None:
    data = make(4, 90, 6)
    small = compress(data, rank, columns=True, rows=True)
    Q = small.row_basis
    assert Q is not None
    assert small.column_basis is None
    _assert_orthonormal(Q)
    flat = data.values.reshape(90, -1)
    np.testing.assert_allclose(Q @ (Q.T @ flat), flat, atol=1e-12)
    np.testing.assert_allclose(small.data.values.reshape(Q.shape[1], -1), Q.T @ flat, atol=1e-12)


def test_products_equal_those_of_the_original() -> None:
    rng = np.random.default_rng(2)
    data = _data(4, 6, 90)
    small = compress(data, 3, columns=True, rows=False)
    A, B = rng.normal(size=(6, 3)), rng.normal(size=(4, small.data.shape[2], 3))
    At, W_small = A.T[None], B.transpose(2, 0, 1)[None]
    W = small.expand_patterns(B).transpose(2, 0, 1)[None]
    np.testing.assert_allclose(small.data.accumulate(W_small), data.accumulate(W), atol=1e-12)
    np.testing.assert_allclose(small.data.residual_sse(At, W_small), data.residual_sse(At, W), rtol=1e-12)
    G_small = small.data.project(At)[0].transpose(1, 2, 0)
    np.testing.assert_allclose(
        small.expand_patterns(G_small), data.project(At)[0].transpose(1, 2, 0), atol=1e-12
    )


def test_row_products_equal_those_of_the_original() -> None:
    rng = np.random.default_rng(3)
    data = _data(4, 90, 6)
    small = compress(data, 3, columns=False, rows=True)
    A, W = rng.normal(size=(small.data.shape[1], 3)), rng.normal(size=(1, 3, 4, 6))
    At_small, At = A.T[None], small.expand_loadings(A).T[None]
    np.testing.assert_allclose(small.data.project(At_small), data.project(At), atol=1e-12)
    np.testing.assert_allclose(
        small.expand_loadings(small.data.accumulate(W)[0].T), data.accumulate(W)[0].T, atol=1e-12
    )
    np.testing.assert_allclose(small.data.residual_sse(At_small, W), data.residual_sse(At, W), rtol=1e-12)


def test_padding_leaves_room_for_the_patterns_of_every_slice() -> None:
    assert compress(_data(4, 6, 90), 3, columns=True, rows=True).data.shape == (4, 6, 24)
    assert compress(_data(4, 6, 90), 8, columns=True, rows=True).data.shape == (4, 6, 32)
    padded = compress(_low_rank(4, 6, 90, 2), 3, columns=True, rows=True)
    assert padded.data.shape == (4, 6, 12)
    np.testing.assert_allclose(padded.data.values[:, :, 2:], 0.0, atol=1e-15)
    assert compress(_low_rank(4, 90, 6, 2), 3, columns=True, rows=True).data.shape[1] == 8


def test_dependent_rows_are_dropped_but_small_ones_are_kept() -> None:
    X = np.random.default_rng(4).normal(size=(2, 5, 60))
    X[1] = X[0]
    assert compress(DenseData.from_slices(X), 1, columns=True, rows=False).data.shape[2] == 5
    X[1, 0] += 1e-9 * np.random.default_rng(5).normal(size=60)
    assert compress(DenseData.from_slices(X), 1, columns=True, rows=False).data.shape[2] == 6


def test_what_lies_in_the_basis_survives_the_round_trip() -> None:
    rng = np.random.default_rng(6)
    wide, tall = _data(4, 6, 90), _data(4, 90, 6)
    columns = compress(wide, 3, columns=True, rows=True)
    rows = compress(tall, 3, columns=True, rows=True)
    B, A = rng.normal(size=(4, columns.data.shape[2], 3)), rng.normal(size=(rows.data.shape[1], 3))
    np.testing.assert_allclose(columns.compress_patterns(columns.expand_patterns(B)), B, atol=1e-12)
    np.testing.assert_allclose(rows.compress_loadings(rows.expand_loadings(A)), A, atol=1e-12)
    outside = rng.normal(size=(4, 90, 3))
    assert columns.column_basis is not None
    outside -= columns.column_basis @ (columns.column_basis.T @ outside)
    np.testing.assert_allclose(columns.compress_patterns(outside), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "rank", "columns", "rows"),
    [
        ((4, 6, 39), 3, True, True),  # 24 of 39 columns: not short enough
        ((4, 6, 90), 14, True, True),  # 4 x 14 of 90 columns: the padding is too long
        ((4, 6, 90), 3, False, True),
        ((4, 90, 6), 3, True, False),
    ],
)
def test_nothing_is_done_where_it_does_not_pay_or_is_not_allowed(shape, rank, columns, rows) -> None:
    data = _data(*shape)
    same = compress(data, rank, columns=columns, rows=rows)
    assert same.data is data
    assert same.row_basis is None
    assert same.column_basis is None
    B = np.ones((4, shape[2], rank))
    A = np.ones((shape[1], rank))
    assert same.expand_patterns(B) is same.compress_patterns(B) is B
    assert same.expand_loadings(A) is same.compress_loadings(A) is A


def test_unequal_widths_keep_their_columns() -> None:
    rng = np.random.default_rng(7)
    data = DenseData.from_slices([rng.normal(size=(3, 80)), rng.normal(size=(3, 90))])
    assert compress(data, 2, columns=True, rows=True).data is data


def test_unequal_widths_stay_recorded_when_rows_are_compressed() -> None:
    rng = np.random.default_rng(8)
    data = DenseData.from_slices([rng.normal(size=(90, 3)), rng.normal(size=(90, 4))])
    small = compress(data, 2, columns=True, rows=True).data
    assert small.widths == (3, 4)
    assert np.all(small.values[:, 0, 3] == 0.0)


def test_float32_stays_float32_on_an_accurate_basis() -> None:
    small = compress(_data(4, 6, 90, np.float32), 3, columns=True, rows=True)
    assert small.data.dtype == np.float32
    assert small.column_basis is not None
    _assert_orthonormal(small.column_basis)
    assert small.expand_patterns(np.ones((4, 24, 3), np.float32)).dtype == np.float32


def test_compressing_twice_gives_the_same_bytes() -> None:
    first, second = (compress(_low_rank(4, 6, 90, 2), 8, columns=True, rows=True) for _ in range(2))
    assert first.column_basis is not None
    assert second.column_basis is not None
    assert first.column_basis.tobytes() == second.column_basis.tobytes()


def test_rank_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="rank must be at least 1; got 0"):
        compress(_data(2, 2, 2), 0, columns=True, rows=True)


def _sparse_slices(K: int, I: int, J: int) -> list[sparse.csr_array]:
    rng = np.random.default_rng(2)
    return [sparse.random_array((I, J), density=0.05, rng=rng, format="csr") * 10.0**k for k in range(K)]


def test_sparse_slices_of_few_rows_have_coordinates_too() -> None:
    slices = _sparse_slices(4, 6, 900)
    slices[1] = sparse.diags_array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]) @ slices[1]  # a row of zeros
    data = SparseData.from_slices(slices)
    small = compress(data, 3, columns=True, rows=True)
    assert small.data.shape == (4, 6, 23)
    assert compressed_shape(data, 3, columns=True, rows=True) == (4, 6, 24)
    Q = (small.column_basis @ np.eye(23)[None])[0]
    _assert_orthonormal(Q)
    X = np.stack([piece.toarray() for piece in slices]) / data.scale
    np.testing.assert_allclose(small.data.values.transpose(1, 0, 2) @ Q.T, X, atol=1e-12)
    B = np.random.default_rng(0).normal(size=(4, 900, 2))
    np.testing.assert_allclose(small.compress_patterns(B), Q.T @ B, atol=1e-12)
    assert small.data.scale == data.scale


@pytest.mark.parametrize(
    ("slices", "rank", "correction"),
    [
        (_sparse_slices(4, 6, 30), 3, None),  # too many rows
        (_sparse_slices(4, 6, 900), 7, None),  # needs directions in which the data are zero
        ([sparse.csr_array(np.ones((6, 900)))] * 4, 1, None),  # all rows are one, and four are needed
        (_sparse_slices(2, 6, 900), 2, Correction(u=np.ones((2, 6)), v=np.ones((2, 900)))),
    ],
)
def test_other_sparse_slices_are_left_as_they_are(slices, rank, correction) -> None:
    data = SparseData.from_slices(slices, correction=correction)
    assert compress(data, rank, columns=True, rows=True).data is data


def test_sparse_rows_that_are_nearly_dependent_are_left_as_they_are() -> None:
    slices = _sparse_slices(3, 4, 900)
    slices[2] = slices[1] + 1e-5 * abs(slices[1]).max() * sparse.random_array((4, 900), density=0.05, rng=1)
    data = SparseData.from_slices(slices)
    assert compress(data, 2, columns=True, rows=True).data is data
