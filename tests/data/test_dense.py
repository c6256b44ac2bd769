import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData, SliceData

SIZES = st.integers(1, 6)


def _problem(seed: int, n: int, R: int, shape: tuple[int, int, int]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    K, I, J = shape
    return rng.normal(size=shape), rng.normal(size=(n, R, I)), rng.normal(size=(n, R, K, J))


@given(seed=st.integers(0, 1000), n=SIZES, R=SIZES, shape=st.tuples(SIZES, SIZES, SIZES))
@settings(max_examples=50)
def test_products_equal_einsum(seed: int, n: int, R: int, shape: tuple[int, int, int]) -> None:
    X, At, W = _problem(seed, n, R, shape)
    data = DenseData.from_slices(X)
    held = X / data.scale
    np.testing.assert_allclose(data.project(At), np.einsum("kij,nri->nrkj", held, At), atol=1e-13)
    np.testing.assert_allclose(data.accumulate(W), np.einsum("kij,nrkj->nri", held, W), atol=1e-13)
    difference = held - np.einsum("nri,nrkj->nkij", At, W)
    np.testing.assert_allclose(data.residual_sse(At, W), np.sum(difference**2, axis=(1, 2, 3)), rtol=1e-12)
    assert data.norm_squared == pytest.approx(1.0, abs=1e-14)


def test_dense_data_is_slice_data() -> None:
    X, _, _ = _problem(0, 2, 3, (4, 5, 6))
    data = DenseData.from_slices(X)
    assert isinstance(data, SliceData)


def test_out_is_filled_and_returned() -> None:
    X, At, W = _problem(1, 2, 3, (4, 5, 6))
    data = DenseData.from_slices(X)
    G, S = np.empty((2, 3, 4, 6)), np.empty((2, 3, 5))
    assert data.project(At, out=G) is G
    assert data.accumulate(W, out=S) is S
    np.testing.assert_array_equal(G, data.project(At))
    np.testing.assert_array_equal(S, data.accumulate(W))


@pytest.mark.parametrize(
    "out", [np.empty((2, 3, 6, 4)), np.empty((2, 3, 4, 6), np.float32), np.empty((2, 3, 6, 4)).swapaxes(2, 3)]
)
def test_out_that_cannot_be_filled_in_place_is_refused(out: np.ndarray) -> None:
    X, At, _ = _problem(1, 2, 3, (4, 5, 6))
    with pytest.raises(ValueError, match="out must be"):
        DenseData.from_slices(X).project(At, out=out)


def test_factors_of_another_shape_are_refused() -> None:
    X, At, W = _problem(1, 2, 3, (4, 5, 6))
    data = DenseData.from_slices(X)
    with pytest.raises(ValueError, match=r"At must have shape \(n, R, 5\)"):
        data.project(At[..., :4])
    with pytest.raises(ValueError, match=r"W must have shape \(n, R, 4, 6\)"):
        data.accumulate(W.swapaxes(2, 3))
    with pytest.raises(ValueError, match="W must have shape"):
        data.residual_sse(At, W[0])


def test_residual_does_not_cancel() -> None:
    rng = np.random.default_rng(2)
    At, W = rng.normal(size=(1, 2, 8)), rng.normal(size=(1, 2, 5, 7))
    noise = rng.normal(size=(8, 5, 7))
    noise *= 1e-10 / np.linalg.norm(noise)
    data = DenseData(np.einsum("ri,rkj->ikj", At[0], W[0]) + noise)
    assert data.residual_sse(At, W)[0] == pytest.approx(1e-20, rel=1e-3)


def test_residual_over_many_tiles_uses_little_memory() -> None:
    rng = np.random.default_rng(3)
    At, W = rng.normal(size=(2, 1, 40)), rng.normal(size=(2, 1, 3, 30_000))
    data = DenseData(rng.normal(size=(40, 3, 30_000)))
    tracemalloc.start()
    sse = data.residual_sse(At, W)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6 < data.values.nbytes
    for start in range(2):
        model = At[start, 0][:, None, None] * W[start, 0]
        assert sse[start] == pytest.approx(np.sum((data.values - model) ** 2), rel=1e-12)


def test_building_makes_one_copy() -> None:
    X = np.random.default_rng(4).normal(size=(20, 100, 500))
    tracemalloc.start()
    DenseData.from_slices(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_scales_have_unit_norm(size: float, dtype: type) -> None:
    X = size * np.random.default_rng(5).normal(size=(3, 4, 5))
    data = DenseData.from_slices(X, dtype=dtype)
    assert data.scale == pytest.approx(size * np.linalg.norm(X / size), rel=1e-14)
    assert data.norm_squared == pytest.approx(1.0, abs=10 * float(np.finfo(dtype).eps))
    assert data.dtype == dtype
    np.testing.assert_allclose(data.values.swapaxes(0, 1), X / data.scale, rtol=2 * np.finfo(dtype).eps)


def test_float32_products_stay_float32() -> None:
    X, At, W = _problem(6, 2, 3, (4, 5, 6))
    data = DenseData.from_slices(X, dtype=np.float32)
    assert data.project(At).dtype == data.accumulate(W).dtype == np.float32
    assert data.residual_sse(At.astype(np.float32), W.astype(np.float32)).dtype == np.float64
    np.testing.assert_allclose(data.project(At), DenseData.from_slices(X).project(At), atol=1e-5)


def test_residual_of_float32_is_computed_in_float64() -> None:
    X, At, W = (array.astype(np.float32) for array in _problem(7, 2, 3, (4, 5, 6)))
    data = DenseData.from_slices(X, dtype=np.float32)
    model = np.einsum("nri,nrkj->nikj", At.astype(np.float64), W.astype(np.float64))
    exact = np.sum((data.values.astype(np.float64) - model) ** 2, axis=(1, 2, 3))
    np.testing.assert_allclose(data.residual_sse(At, W), exact, rtol=1e-13)


def test_unequal_widths_are_padded_with_zeros() -> None:
    data = DenseData.from_slices([np.ones((2, 3)), np.ones((2, 5))])
    assert data.shape == (2, 2, 5)
    assert data.widths == (3, 5)
    assert np.all(data.values[:, 0, 3:] == 0.0)
    assert data.scale == 4.0


def test_data_cannot_be_written_to() -> None:
    source = np.ones((2, 3, 4))
    data = DenseData(source)
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0, 0] = 5.0
    source[0, 0, 0] = 2.0  # the caller's own array is left as it was


@pytest.mark.parametrize(
    "values",
    [np.ones((2, 3)), np.ones((2, 3, 4), order="F"), np.ones((2, 3, 4), int), np.ones((2, 3, 4), ">f8")],
)
def test_values_of_another_kind_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ValueError, match="from_slices"):
        DenseData(values)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_slices_without_a_usable_norm_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        DenseData.from_slices([np.full((2, 2), bad)])
