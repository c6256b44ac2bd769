"""Products and errors by weight, against sums that are written out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tparafac2.data import Compressed, SliceData, Table, compress, take_in
from tparafac2.preparing import Preparation

_RNG = np.random.default_rng(0)
_X = _RNG.normal(size=(4, 6, 5)) * (_RNG.random((4, 6, 5)) < 0.7)
_ROWS = _RNG.uniform(0.2, 3.0, 6)
_AT, _W = _RNG.normal(size=(2, 3, 6)), _RNG.normal(size=(2, 3, 4, 5))


def _holed() -> np.ndarray:
    return np.where(_RNG.random(_X.shape) < 0.2, np.nan, _X)


def _entries() -> np.ndarray:
    return _RNG.uniform(0.2, 3.0, _X.shape) * (_RNG.random(_X.shape) < 0.8)


_CASES = {
    "dense": (_X, _ROWS),
    "sparse": ([csr_array(one) for one in _X], _ROWS),
    "holed": (_holed(), _ROWS),
    "entries": (_X, _entries()),
    "both": (_holed(), _entries()),
}


@pytest.mark.parametrize("case", _CASES)
def test_products_and_errors_are_sums_by_weight(case: str) -> None:
    X, weights = _CASES[case]
    intake = take_in(X, weights=weights)
    data = intake.data
    full = _X if case == "sparse" else X
    given = np.broadcast_to(weights[:, None] if weights.ndim == 1 else weights, _X.shape)
    w = np.where(np.isnan(full), 0.0, given)
    w = w / w[w > 0].mean()
    x = np.nan_to_num(full) / data.scale
    assert data.scale == pytest.approx(np.sqrt((w * np.nan_to_num(full) ** 2).sum()))
    assert data.norm_squared == pytest.approx(1.0)
    np.testing.assert_allclose(data.project(_AT), np.einsum("kij,nri->nrkj", w * x, _AT), atol=1e-14)
    np.testing.assert_allclose(data.accumulate(_W), np.einsum("kij,nrkj->nri", w * x, _W), atol=1e-14)
    model = np.einsum("nri,nrkj->nkij", _AT, _W)
    np.testing.assert_allclose(data.residual_sse(_AT, _W), (w * (x - model) ** 2).sum(axis=(1, 2, 3)))
    seen = w > 0
    np.testing.assert_allclose(intake.weighting.rows, w.sum(axis=(0, 2)) / seen.sum(axis=(0, 2)))


def test_centred_sparse_tables_are_weighted_too() -> None:
    n = 30
    lines = {"t": np.arange(n) % 4, "r": np.arange(n) % 6, "c": np.arange(n), "v": _RNG.normal(size=n)}
    table = Table(lines, rows="r", columns="c", time="t", values="v")
    prepared = Preparation(center="columns").apply(table).data
    weights = dict(zip(table.labels.rows.tolist(), _ROWS))
    sparse = take_in(prepared, weights=weights)
    dense = take_in(np.stack(prepared.slices()), weights=list(weights.values()))
    assert not hasattr(sparse.data.data, "values")  # it stays sparse
    I = len(weights)
    At, W = _AT[:, :, :I], _RNG.normal(size=(2, 3, sparse.data.shape[0], sparse.data.shape[2]))
    for of in (lambda data: data.project(At), lambda data: data.residual_sse(At, W)):
        np.testing.assert_allclose(of(sparse.data), of(dense.data), rtol=1e-10, atol=1e-13)


def _compressed(data: SliceData) -> Compressed:
    return compress(data, 2, columns=True, rows=True)


def test_columns_are_compressed_and_rows_are_not() -> None:
    wide = _compressed(take_in(_RNG.normal(size=(2, 4, 60)), weights=[1, 2, 3, 4]).data)
    assert wide.data.shape == (2, 4, 8)
    tall = _compressed(take_in(_RNG.normal(size=(2, 60, 4)), weights=np.arange(1, 61)).data)
    assert tall.data.shape == (2, 60, 4)
    assert _compressed(take_in(_RNG.normal(size=(2, 60, 4))).data).data.shape == (2, 8, 4)


def test_the_share_of_negative_squares_is_by_weight() -> None:
    squares = (_ROWS[:, None] * _X**2) / (_ROWS[:, None] * _X**2).sum()
    for weights in (_ROWS, np.broadcast_to(_ROWS[:, None], _X.shape)):
        assert take_in(_X, weights=weights).data.negative_share == pytest.approx(squares[_X < 0].sum())
