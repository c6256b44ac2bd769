"""How much of every slice the model leaves unexplained."""

import numpy as np
import pytest
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.data import Labels, Table
from tparafac2.metrics import explained_variance
from tparafac2.plots import residuals
from tparafac2.result import Result

rng = np.random.default_rng(0)
A, B, C = rng.random((5, 2)), rng.random((4, 3, 2)), rng.random((4, 2))
MODEL = np.einsum("ir,kjr,kr->kij", A, B, C)
X = MODEL + 0.1 * rng.standard_normal(MODEL.shape)
NAMES = {"time": "year", "rows": "author", "columns": "word"}


def a_result(**changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(**{"model": "M", "A": A, "B": B, "C": C, **facts, **changes})


def shares(ax):
    return ax.lines[0].get_ydata()


def expected(data):
    return np.nansum((data - MODEL) ** 2, axis=(1, 2)) / np.nansum(data**2, axis=(1, 2))


def test_shares_are_those_of_the_slices():
    ax = residuals(a_result(), X)
    np.testing.assert_allclose(shares(ax), expected(X))
    overall = 1 - explained_variance(X, (A, B, C))
    assert ax.get_title("left") == f"{overall:.3g} over all slices (dotted)"
    np.testing.assert_allclose(ax.lines[1].get_ydata(), overall)


def test_shares_are_in_the_order_of_time():
    np.testing.assert_allclose(shares(residuals(a_result(times=[3.0, 2.0, 1.0, 0.0]), X)), expected(X)[::-1])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_size_does_not_matter(size):
    np.testing.assert_allclose(shares(residuals(a_result(C=size * C), size * X)), expected(X))


def test_missing_entries_are_left_out():
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_allclose(shares(residuals(a_result(), holes)), expected(holes))
    masked = np.ma.masked_array(X, np.isnan(holes))
    np.testing.assert_allclose(shares(residuals(a_result(), masked)), expected(holes))


@pytest.mark.filterwarnings("error")
def test_slices_without_data_are_hatched():
    holes = X.copy()
    holes[2] = np.nan
    ax = residuals(a_result(), holes)
    assert np.isnan(shares(ax)).tolist() == [False, False, True, False]
    assert len(ax.patches) == 1
    assert "nothing to explain" in ax.get_xlabel()


def test_a_fit_that_broke_down_explains_nothing():
    broken = C.copy()
    broken[1] = np.nan
    assert np.isnan(shares(residuals(a_result(C=broken), X))[1])


@pytest.mark.parametrize(
    "form",
    [
        list(X),
        [scipy.sparse.csr_array(x) for x in X],
        xr.DataArray(X.transpose(1, 2, 0), dims=("author", "word", "year")),
    ],
    ids=["list", "sparse", "labelled"],
)
def test_data_come_in_all_forms(form):
    result = a_result(labels=Labels(names=NAMES))
    np.testing.assert_allclose(shares(residuals(result, form)), expected(X))


def test_data_can_be_a_long_table():
    year, author, word = np.indices(X.shape)
    lines = {"year": year.ravel(), "author": author.ravel(), "word": word.ravel(), "value": X.ravel()}
    table = Table(lines, rows="author", columns="word", time="year", values="value")
    np.testing.assert_allclose(shares(residuals(a_result(), table)), expected(X))


def test_slices_can_have_columns_of_their_own():
    pieces = [x[:, :width] for x, width in zip(X, (3, 2, 3, 1))]
    patterns = [b[:width] for b, width in zip(B, (3, 2, 3, 1))]
    assert len(shares(residuals(a_result(B=patterns), pieces))) == 4


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (X[:3], ValueError, r"X has 3 slices of shape \(5, 3\), but the model was fitted to 4 of shape"),
        (X.transpose(1, 2, 0), ValueError, "give the same data"),
        (xr.DataArray(X, dims=("a", "b", "c")), ValueError, "dimensions a, b, c, .* time, rows, columns"),
        (None, TypeError, "X must be the data that the model was fitted to; got NoneType"),
        ("data.csv", TypeError, "got str"),
    ],
)
def test_other_data_are_refused(other, error, message):
    with pytest.raises(error, match=message):
        residuals(a_result(), other)


def test_prepared_data_are_taken_and_raw_ones_refused():
    X = np.random.default_rng(0).random((4, 6, 5)) + 1
    prepared = tp.Preparation("log1p", center="columns").apply(X)
    model = tp.CP(rank=1, n_starts=1, random_state=0).fit(prepared)
    shares = [residuals(model, data).lines[0].get_ydata() for data in (prepared, prepared.data)]
    np.testing.assert_array_equal(*shares)
    with pytest.raises(ValueError, match="give the data prepared as they were for the fit"):
        residuals(model, X)


def test_centred_sparse_slices_are_held_against_the_model_as_dense_ones_are():
    pieces = [scipy.sparse.csr_array(np.where(piece > 0.3, piece, 0.0)) for piece in X]
    places = [(k, i, j) for k in range(4) for i in range(5) for j in range(3)]
    lines = dict(zip(("t", "r", "c"), zip(*places)))
    table = Table(lines, rows="r", columns="c", time="t").with_slices(pieces)
    centred = tp.io.Preparation(center="columns").apply(table)
    dense = tp.io.Preparation(center="columns").apply(np.stack([piece.toarray() for piece in pieces]))
    assert centred.data.correction is not None
    np.testing.assert_allclose(shares(residuals(a_result(), centred)), expected(dense.data.values))
