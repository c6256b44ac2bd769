import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import (
    Correction,
    DenseData,
    SliceData,
    SparseData,
    compress,
    take_in,
    teamwork,
)

SIZES = st.integers(1, 6)
FORMATS = ["csr", "csc", "coo", "lil"]


def _filled(seed: int, shape: tuple[int, ...], share: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < share)
    X.flat[0] = 1.0
    return X


def _sparse(X: np.ndarray, form: str = "csr") -> list[scipy.sparse.sparray]:
    return [scipy.sparse.coo_array(piece).asformat(form) for piece in X]


def _factors(seed: int, n: int, R: int, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed + 1)
    K, I, J = shape
    return rng.normal(size=(n, R, I)), rng.normal(size=(n, R, K, J))


# Tall shapes, so that slices are joined in blocks, and wide ones.
SHAPES = st.one_of(st.tuples(SIZES, SIZES, SIZES), st.tuples(SIZES, st.integers(20, 60), st.integers(1, 3)))


@given(
    seed=st.integers(0, 1000),
    n=SIZES,
    R=SIZES,
    shape=SHAPES,
    share=st.sampled_from([0.02, 0.3, 1.0]),
    form=st.sampled_from(FORMATS),
)
@settings(max_examples=60)
def test_everything_equals_the_dense_data(
    seed: int, n: int, R: int, shape: tuple[int, int, int], share: float, form: str
) -> None:
    X = _filled(seed, shape, share)
    At, W = _factors(seed, n, R, shape)
    dense, sparse = DenseData.from_slices(X), SparseData.from_slices(_sparse(X, form))
    assert sparse.shape == dense.shape
    assert sparse.scale == pytest.approx(dense.scale, rel=1e-15)
    assert sparse.norm_squared == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(sparse.project(At), dense.project(At), atol=1e-13)
    np.testing.assert_allclose(sparse.accumulate(W), dense.accumulate(W), atol=1e-13)
    np.testing.assert_allclose(sparse.residual_sse(At, W), dense.residual_sse(At, W), rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "share", "blocks"),
    [((6, 400, 5), 0.1, 1), ((6, 400, 5), 0.45, 3), ((6, 400, 100), 0.001, 2), ((6, 8, 40), 0.1, 6)],
)
def test_slices_of_many_and_empty_rows_are_joined(
    shape: tuple[int, int, int], share: float, blocks: int
) -> None:
    X = _filled(0, shape, share)
    data, dense = SparseData.from_slices(_sparse(X)), DenseData.from_slices(X)
    At, W = _factors(0, 2, 3, shape)
    assert len(data.blocks) == blocks
    np.testing.assert_allclose(data.project(At), dense.project(At), atol=1e-13)
    np.testing.assert_allclose(data.accumulate(W), dense.accumulate(W), atol=1e-13)


def test_sparse_data_are_slice_data() -> None:
    data = SparseData.from_slices(_sparse(_filled(0, (4, 5, 6))))
    assert isinstance(data, SliceData)


def test_out_is_filled_and_returned() -> None:
    data = SparseData.from_slices(_sparse(_filled(1, (4, 5, 6))))
    At, W = _factors(1, 2, 3, data.shape)
    G, S = np.full((3, 3, 4, 6), np.nan), np.full((2, 3, 5), np.nan)
    assert data.project(At, out=G[:2]).base is G
    assert data.accumulate(W, out=S) is S
    np.testing.assert_array_equal(G[:2], data.project(At))
    np.testing.assert_array_equal(S, data.accumulate(W))


@pytest.mark.parametrize(
    "out", [np.empty((2, 3, 6, 4)), np.empty((2, 3, 4, 6), np.float32), np.empty((2, 3, 6, 4)).swapaxes(2, 3)]
)
def test_out_that_cannot_be_filled_in_place_is_refused(out: np.ndarray) -> None:
    data = SparseData.from_slices(_sparse(_filled(1, (4, 5, 6))))
    with pytest.raises(ValueError, match="out must be"):
        data.project(np.ones((2, 3, 5)), out=out)


def test_factors_of_another_shape_are_refused() -> None:
    data = SparseData.from_slices(_sparse(_filled(1, (4, 5, 6))))
    At, W = _factors(1, 2, 3, data.shape)
    with pytest.raises(ValueError, match=r"At must have shape \(n, R, 5\)"):
        data.project(At[..., :4])
    with pytest.raises(ValueError, match=r"W must have shape \(n, R, 4, 6\)"):
        data.accumulate(W.swapaxes(2, 3))
    with pytest.raises(ValueError, match="W must have shape"):
        data.residual_sse(At, W[0])


def test_residual_of_an_exact_fit_is_rounding() -> None:
    rng = np.random.default_rng(2)
    At, W = rng.normal(size=(1, 2, 8)), rng.normal(size=(1, 2, 5, 7))
    At[:, :, 3:], W[..., 4:] = 0.0, 0.0
    noise = rng.normal(size=(5, 8, 7)) * (rng.random((5, 8, 7)) < 0.5)
    X = np.einsum("ri,rkj->kij", At[0], W[0])
    X += 1e-10 * noise * (X != 0)
    data, dense = SparseData.from_slices(_sparse(X), scale=1.0), DenseData.from_slices(X, scale=1.0)
    assert 1e-21 < dense.residual_sse(At, W)[0] < 1e-17
    assert 0.0 <= data.residual_sse(At, W)[0] < 1e-15 * dense.norm_squared
    exact = SparseData.from_slices(_sparse(np.round(8 * X)), scale=1.0)
    assert exact.residual_sse(np.round(At) * 0, np.round(W))[0] == np.sum(np.round(8 * X) ** 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_residual_of_a_start_that_ran_away_is_infinite(bad: float) -> None:
    data = SparseData.from_slices(_sparse(_filled(0, (4, 5, 6))))
    At, W = _factors(0, 2, 3, data.shape)
    W[1, 0, 0, 0] = bad
    assert np.isfinite(data.residual_sse(At, W)).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_scales_have_unit_norm(size: float, dtype: type) -> None:
    X = size * _filled(5, (3, 4, 5))
    data = SparseData.from_slices(_sparse(X), dtype=dtype)
    assert data.scale == pytest.approx(size * np.linalg.norm(X / size), rel=1e-14)
    assert data.norm_squared == pytest.approx(1.0, abs=10 * float(np.finfo(dtype).eps))
    assert data.dtype == dtype
    G = data.project(np.eye(4)[None])[0]
    np.testing.assert_allclose(G.swapaxes(0, 1), X / data.scale, rtol=2 * np.finfo(dtype).eps)


def test_float32_products_stay_float32() -> None:
    X = _filled(6, (4, 5, 6))
    At, W = _factors(6, 2, 3, X.shape)
    data = SparseData.from_slices(_sparse(X), dtype=np.float32)
    assert data.project(At).dtype == data.accumulate(W).dtype == np.float32
    assert data.residual_sse(At, W.astype(np.float32)).dtype == np.float64
    np.testing.assert_allclose(data.project(At), SparseData.from_slices(_sparse(X)).project(At), atol=1e-5)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, np.float64])
def test_numbers_of_every_type_are_converted(dtype: type) -> None:
    X = (np.arange(60).reshape(3, 4, 5) % 7 - (3 if np.issubdtype(dtype, np.signedinteger) else 0)).astype(
        dtype
    )
    data, dense = take_in(_sparse(X)).data, take_in(X).data
    assert data.dtype == np.float64
    assert data.scale == pytest.approx(dense.scale, rel=1e-15)
    At = np.eye(4)[None]
    np.testing.assert_allclose(data.project(At), dense.project(At), rtol=1e-14)


def test_unequal_widths_are_padded() -> None:
    pieces = [_filled(k, (9, width)) for k, width in enumerate((3, 5, 1))]
    dense = DenseData.from_slices(pieces)
    At, W = _factors(0, 2, 3, dense.shape)
    for form in FORMATS:
        data = SparseData.from_slices([scipy.sparse.coo_array(p).asformat(form) for p in pieces])
        assert data.widths == (3, 5, 1)
        assert data.shape == (3, 9, 5)
        np.testing.assert_allclose(data.project(At), dense.project(At), atol=1e-14)
        np.testing.assert_allclose(data.accumulate(W), dense.accumulate(W), atol=1e-14)


def test_index_arrays_are_shared_and_the_values_copied_once() -> None:
    piece = scipy.sparse.random_array((300, 400), density=0.3, rng=0, format="csc")
    copies = [(array, array.copy()) for array in (piece.data, piece.indices, piece.indptr)]
    tracemalloc.start()
    data = SparseData.from_slices([piece])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(data.blocks[0].indices, piece.indices)
    assert not np.shares_memory(data.blocks[0].data, piece.data)
    assert peak < 3 * piece.data.nbytes
    for now, before in copies:
        np.testing.assert_array_equal(now, before)
    with pytest.raises(ValueError, match="read-only"):
        data.blocks[0].data[0] = 5.0


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("shape", [(3000, 2000), (2000, 3000)])
def test_slices_come_in_with_one_copy_of_their_values_and_none_of_their_indices(
    shape: tuple[int, int], form: str
) -> None:
    slices = [scipy.sparse.random_array(shape, density=0.02, rng=k, format=form) for k in range(20)]
    take_in(slices[:1])
    tracemalloc.start()
    data = take_in(slices).data
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(data, SparseData)
    for block, piece in zip(data.blocks, slices, strict=True):
        assert block.indices.dtype == block.indptr.dtype == np.int32
        assert np.shares_memory(block.indices, piece.indices)
    # The rest is of one slice at a time.
    assert peak < 1.2 * sum(piece.data.nbytes for piece in slices)


def test_long_indices_become_short_where_they_fit() -> None:
    piece = scipy.sparse.random_array((30, 40), density=0.3, rng=0, format="csr")
    piece.indices, piece.indptr = piece.indices.astype(np.int64), piece.indptr.astype(np.int64)
    (block,) = SparseData.from_slices([piece]).blocks
    assert block.indices.dtype == block.indptr.dtype == np.int32
    assert piece.indices.dtype == np.int64


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_the_same_bytes_for_any_number_of_threads(form: str, dtype: type) -> None:
    X = _filled(3, (7, 60, 50))
    data = SparseData.from_slices(_sparse(X, form), dtype=dtype)
    At, W = _factors(3, 2, 3, X.shape)
    alone = data.project(At), data.accumulate(W)
    for threads in (2, 3, 5):
        with teamwork(threads):
            together = data.project(At), data.accumulate(W)
        for one, other in zip(alone, together, strict=True):
            assert one.tobytes() == other.tobytes()
    eps = 200 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(alone[0], np.einsum("nri,kij->nrkj", At, X / data.scale), atol=eps)
    np.testing.assert_allclose(alone[1], np.einsum("nrkj,kij->nri", W, X / data.scale), atol=eps)


@pytest.mark.parametrize("centred", [False, True])
def test_nothing_of_the_size_of_a_slice_is_made(centred: bool) -> None:
    I, J, K = 4000, 5000, 3  # a dense slice would be 160 MB
    rng = np.random.default_rng(0)
    slices = [scipy.sparse.random_array((I, J), density=5e-4, rng=rng, format="csr") for _ in range(K)]
    At, W = rng.normal(size=(2, 2, I)), rng.normal(size=(2, 2, K, J))
    tracemalloc.start()
    correction = Correction.centring(slices, "rows").scaling(slices, "columns") if centred else None
    data = SparseData.from_slices(slices, correction=correction)
    data.project(At)
    data.accumulate(W)
    assert np.isfinite(data.residual_sse(At, W)).all()
    assert data.norm_squared == pytest.approx(1.0, abs=1e-12)
    assert compress(data, 2, columns=True, rows=True).data is data
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_data_make_the_round_trip_to_another_process() -> None:
    data = SparseData.from_slices(_sparse(_filled(0, (4, 5, 6))))
    again = pickle.loads(pickle.dumps(data))  # noqa: S301
    At = np.ones((1, 2, 5))
    np.testing.assert_array_equal(again.project(At), data.project(At))


def test_memory_is_that_of_the_stored_numbers() -> None:
    slices = [scipy.sparse.random_array((100, 1000), density=0.01, rng=k, format="csc") for k in range(3)]
    assert SparseData.from_slices(slices).nbytes == 3 * (1000 * (8 + 4) + 1001 * 4)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_slices_without_a_usable_norm_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        SparseData.from_slices([scipy.sparse.csr_array(np.full((2, 2), bad))])


# --- the door -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_format_comes_through_the_door(form: str, family: str) -> None:
    X = _filled(3, (3, 4, 5))
    slices = tuple(getattr(scipy.sparse, f"{form}_{family}")(piece) for piece in X)
    data, labels = take_in(slices)[:2]
    assert isinstance(data, SparseData)
    assert labels.rows is labels.columns is labels.time is None
    np.testing.assert_allclose(data.project(np.eye(4)[None])[0].swapaxes(0, 1), X / np.linalg.norm(X))


def test_stored_zeros_and_duplicates_do_not_count_and_stay_with_the_user() -> None:
    piece = scipy.sparse.csr_array(([1.0, 2.0, 0.0], [1, 1, 2], [0, 2, 3]), shape=(2, 3))
    data = take_in([piece]).data
    assert data.scale == 3.0
    assert data.blocks[0].nnz == 1
    np.testing.assert_array_equal(piece.data, [1.0, 2.0, 0.0])


SPOILT = _filled(4, (3, 4, 5), 1.0)
SPOILT[1, 2, 3] = SPOILT[2, 0, 0] = SPOILT[2, 0, 1] = np.nan
INFINITE = _filled(4, (3, 4, 5), 1.0)
INFINITE[2, 1, 0] = -np.inf


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (
            _sparse(SPOILT),
            r"3 missing values \(NaN\), the first in slice 1, row 2, column 3 .*1 in that.*dense",
        ),
        (_sparse(INFINITE), "1 infinite values, the first in slice 2, row 1, column 0 .*1 in that slice"),
        (_sparse(np.zeros((2, 3, 4))), "every entry of X is zero"),
        (
            [*_sparse(np.ones((2, 3, 4))), *_sparse(np.ones((1, 5, 4)))],
            "slice 2 has 5 rows, but slice 0 has 3",
        ),
        ([scipy.sparse.csr_array((3, 0))], "slice 0 is empty"),
        ([scipy.sparse.coo_array(np.ones(3))], "slice 0 has 1 dimension"),
        (_sparse(np.full((9, 9, 9), 1e308)), "too large.*divide X by"),
        (_sparse(np.full((2, 2, 2), 1e-320)), "too small.*divide X by"),
    ],
)
def test_unusable_sparse_slices_are_refused(X: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        take_in(X)


def test_names_of_dimensions_are_refused_for_sparse_slices() -> None:
    with pytest.raises(ValueError, match=r"dims names the dimensions of an xarray\.DataArray"):
        take_in(_sparse(np.ones((2, 3, 4))), dims={"rows": "author"})
    with pytest.raises(ValueError, match="dims and mask are not for SparseData"):
        take_in(SparseData.from_slices(_sparse(np.ones((2, 3, 4)))), dims={"rows": "author"})


def test_sparse_data_made_before_pass_as_they_are() -> None:
    data = SparseData.from_slices(_sparse(_filled(0, (4, 5, 6))), dtype=np.float32)
    assert take_in(data).data is data
    assert take_in(data, dtype="float32").data is data
    with pytest.raises(ValueError, match="X is held as float32, but dtype is 'float64'"):
        take_in(data, dtype="float64")
