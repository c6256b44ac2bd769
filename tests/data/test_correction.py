import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import Correction, DenseData, SparseData

SIZES = st.integers(2, 7)
MODES = ["rows", "columns"]


def _filled(seed: int, shape: tuple[int, ...], share: float = 0.4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < share)
    X.flat[0] = 1.0
    return X


def _sparse(X: list[np.ndarray] | np.ndarray) -> list[scipy.sparse.sparray]:
    return [scipy.sparse.csr_array(piece) for piece in X]


def _means(X: np.ndarray, mode: str, over: str) -> np.ndarray:
    axes = {"rows": (2,), "columns": (1,)}[mode] + ((0,) if over == "all" else ())
    return X.mean(axis=axes, keepdims=True)


def _spread(X: np.ndarray, mode: str, by: str) -> np.ndarray:
    axes = {"rows": (0, 2), "columns": (0, 1)}[mode]
    size = (
        X.std(axis=axes, keepdims=True)
        if by == "deviation"
        else np.sqrt((X**2).sum(axis=axes, keepdims=True))
    )
    return np.where(size > 1e-7 * np.abs(X).max(), size, 1.0)


def _assert_same_data(sparse: SparseData, X: np.ndarray, seed: int, tol: float = 1e-12) -> None:
    rng = np.random.default_rng(seed)
    dense = DenseData.from_slices(X)
    K, I, J = dense.shape
    At, W = rng.normal(size=(2, 3, I)), rng.normal(size=(2, 3, K, J))
    assert sparse.scale == pytest.approx(dense.scale, rel=tol)
    assert sparse.norm_squared == pytest.approx(1.0, abs=tol)
    np.testing.assert_allclose(sparse.project(At), dense.project(At), atol=tol)
    np.testing.assert_allclose(sparse.accumulate(W), dense.accumulate(W), atol=tol)
    np.testing.assert_allclose(sparse.residual_sse(At, W), dense.residual_sse(At, W), rtol=tol)


@given(
    seed=st.integers(0, 1000),
    shape=st.one_of(st.tuples(SIZES, SIZES, SIZES), st.tuples(SIZES, st.integers(20, 50), st.integers(2, 3))),
    centre=st.sampled_from(MODES),
    over=st.sampled_from(["slice", "all"]),
    scale=st.sampled_from(MODES),
    by=st.sampled_from(["deviation", "norm"]),
    size=st.sampled_from([1e-140, 1.0, 1e140]),
)
@settings(max_examples=80)
def test_centred_and_scaled_data_equal_the_dense_ones(
    seed: int, shape: tuple[int, int, int], centre: str, over: str, scale: str, by: str, size: float
) -> None:
    X = size * _filled(seed, shape)
    slices = _sparse(X)
    centred = X - _means(X, centre, over)
    correction = Correction.centring(slices, centre, over=over)
    _assert_same_data(SparseData.from_slices(slices, correction=correction), centred, seed)
    divided = centred / _spread(centred, scale, by)
    correction = correction.scaling(slices, scale, by=by)
    # Rows of nearly equal numbers lose digits of their spread.
    _assert_same_data(SparseData.from_slices(slices, correction=correction), divided, seed, 1e-8)


@given(
    seed=st.integers(0, 1000), shape=st.tuples(SIZES, SIZES, SIZES), by=st.sampled_from(["deviation", "norm"])
)
@settings(max_examples=30)
def test_rows_and_columns_can_be_scaled_in_turn(seed: int, shape: tuple[int, int, int], by: str) -> None:
    X = _filled(seed, shape)
    slices = _sparse(X)
    correction = Correction().scaling(slices, "rows", by=by).scaling(slices, "columns", by=by)
    assert correction.u is correction.v is None
    once = X / _spread(X, "rows", by)
    twice = once / _spread(once, "columns", by)
    _assert_same_data(SparseData.from_slices(slices, correction=correction), twice, seed, 1e-8)


@given(seed=st.integers(0, 1000), shape=st.tuples(SIZES, SIZES, SIZES))
@settings(max_examples=30)
def test_any_rank_one_table_can_be_taken_off(seed: int, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(seed)
    X = _filled(seed, shape)
    K, I, J = shape
    rows, columns, u, v = (rng.normal(size=size) for size in (I, J, (K, I), (K, J)))
    corrected = X * rows[:, None] * columns - u[:, :, None] * v[:, None, :]
    correction = Correction(rows, columns, u, v)
    _assert_same_data(SparseData.from_slices(_sparse(X), correction=correction), corrected, seed)


@pytest.mark.parametrize("mode", MODES)
def test_padding_is_not_corrected(mode: str) -> None:
    pieces = [_filled(k, (6, width)) for k, width in enumerate((3, 5))]
    slices = _sparse(pieces)
    axis = {"rows": 1, "columns": 0}[mode]
    correction = Correction.centring(slices, mode)
    data = SparseData.from_slices(slices, correction=correction)
    assert data.widths == (3, 5)
    padded = np.zeros((2, 6, 5))
    for k, piece in enumerate(pieces):
        padded[k, :, : piece.shape[1]] = piece - piece.mean(axis=axis, keepdims=True)
    _assert_same_data(data, padded, 0)
    deviations = np.sqrt((padded**2).sum(axis=(0, 2)) / 8) if mode == "rows" else None
    if deviations is not None:
        np.testing.assert_allclose(1 / correction.scaling(slices, "rows").rows, deviations, rtol=1e-12)
    everywhere = Correction(u=np.ones((2, 6)), v=np.ones((2, 5)))
    assert not np.any(SparseData.from_slices(slices, correction=everywhere).v[0, 3:])


def test_rows_without_spread_are_not_divided() -> None:
    X = np.array([[[0.1] * 7, [0.0] * 7, [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]]])
    assert 0.0 < np.std(X[0, 0]) < 1e-15
    factors = Correction().scaling(_sparse(X), "rows").rows
    np.testing.assert_allclose(factors, [1.0, 1.0, 1 / np.std(X[0, 2])])
    slices = _sparse(X)
    factors = Correction.centring(slices, "rows").scaling(slices, "rows", by="norm").rows
    np.testing.assert_allclose(factors[:2], 1.0)


@pytest.mark.parametrize("size", [1e-250, 1e250])
@pytest.mark.parametrize("mode", MODES)
def test_means_of_any_size(mode: str, size: float) -> None:
    X = size * _filled(0, (3, 6, 7))
    slices = _sparse(X)
    data = SparseData.from_slices(slices, correction=Correction.centring(slices, mode))
    _assert_same_data(data, X - _means(X, mode, "slice"), 0)


@pytest.mark.parametrize("size", [1e-250, 1e250])
def test_spreads_of_any_size(size: float) -> None:
    X = _filled(0, (3, 6, 7), 0.8)
    slices = _sparse(size * X)
    for by in ("deviation", "norm"):
        factors = Correction().scaling(slices, "rows", by=by).rows
        np.testing.assert_allclose(factors * size, 1 / _spread(X, "rows", by).ravel(), rtol=1e-10)


def test_centred_data_are_told_from_rounding() -> None:
    rng = np.random.default_rng(0)
    X = 1.0 + 1e-4 * rng.normal(size=(3, 6, 7))
    slices = _sparse(X)
    data = SparseData.from_slices(slices, correction=Correction(u=np.ones((3, 6)), v=np.ones((3, 7))))
    assert data.scale == pytest.approx(np.linalg.norm(X - 1.0), rel=1e-6)
    assert data.norm_squared == pytest.approx(1.0, abs=1e-6)


def test_float32_corrections_are_held_in_float32() -> None:
    X = _filled(0, (3, 6, 7))
    slices = _sparse(X)
    data = SparseData.from_slices(slices, correction=Correction.centring(slices, "rows"), dtype=np.float32)
    At, W = np.ones((1, 2, 6)), np.ones((1, 2, 3, 7))
    assert data.u.dtype == data.project(At).dtype == data.accumulate(W).dtype == np.float32
    exact = DenseData.from_slices(X - X.mean(axis=2, keepdims=True))
    np.testing.assert_allclose(data.project(At), exact.project(At), atol=1e-5)


def test_the_slices_are_not_changed() -> None:
    piece = scipy.sparse.csr_array(([1.0, 2.0, 0.0], [1, 1, 2], [0, 2, 3]), shape=(2, 3))
    correction = Correction.centring([piece], "rows").scaling([piece], "rows", by="norm")
    np.testing.assert_allclose(correction.u[0], [1.0 / np.sqrt(6.0), 0.0])
    np.testing.assert_array_equal(piece.data, [1.0, 2.0, 0.0])


SLICES = _sparse(_filled(0, (2, 3, 4)))


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        (Correction(rows=np.ones(4)), r"rows must have shape \(3,\).*got \(4,\)"),
        (Correction(columns=np.ones(3)), r"columns must have shape \(4,\)"),
        (Correction(u=np.ones((2, 3))), "give both u .* or neither"),
        (Correction(u=np.ones((2, 4)), v=np.ones((2, 4))), r"u must have shape \(2, 3\)"),
        (Correction(rows=np.array([1.0, np.nan, 1.0])), "rows holds NaN"),
    ],
)
def test_corrections_that_do_not_fit_are_refused(correction: Correction, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SparseData.from_slices(SLICES, correction=correction)


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="mode must be 'rows' or 'columns' or 'time'; got 'depth'"):
        Correction.centring(SLICES, "depth")
    with pytest.raises(ValueError, match="over must be 'slice' or 'all'"):
        Correction.centring(SLICES, "rows", over="everything")
    with pytest.raises(ValueError, match="by must be 'deviation' or 'norm'"):
        Correction().scaling(SLICES, "rows", by="range")
    with pytest.raises(ValueError, match="different numbers of columns"):
        Correction.centring(_sparse([np.eye(3), np.ones((3, 4))]), "columns", over="all")


def test_nothing_left_is_refused() -> None:
    slices = _sparse(np.full((2, 3, 4), 0.1))
    with pytest.raises(ValueError, match="nothing is left of the slices after the correction"):
        SparseData.from_slices(slices, correction=Correction.centring(slices, "rows"))
