"""Sparse data with missing entries give what the same dense data give."""

import numpy as np
import pytest
import scipy.sparse

from tparafac2.data import (
    Correction,
    HoledSparseData,
    PartlyObserved,
    Places,
    SliceData,
    SparseData,
    is_complete,
)

K, I, J, R, N = 4, 9, 7, 3, 2
each_kind = pytest.mark.parametrize("corrected", [False, True])


def made(corrected=False, widths=(J,) * K, dtype="float64", seed=0, roots=None):
    """Sparse data without some entries, the entries, and the corrected dense slices, which know them all."""
    rng = np.random.default_rng(seed)
    X = rng.random((K, I, J)) * (rng.random((K, I, J)) < 0.4)
    for k, width in enumerate(widths):
        X[k, :, width:] = 0.0
    inside = np.arange(J) < np.array(widths)[:, None, None]
    places = Places(*np.nonzero(inside & (rng.random(X.shape) < 0.2)))
    zeroed = X.copy()
    zeroed[places] = 0.0
    slices = [scipy.sparse.csr_array(piece[:, :width]) for piece, width in zip(zeroed, widths)]
    centred = Correction.centring(slices, "rows").divided(1.0 + rng.random(I), "rows")
    correction = centred if corrected else None
    data = SparseData.from_slices(slices, correction=correction, dtype=dtype)
    dense = zeroed
    if correction is not None:
        dense = np.stack([correction.dense(scipy.sparse.csr_array(one), k) for k, one in enumerate(zeroed)])
    dense[places] = np.nan
    return HoledSparseData.without(data, places, roots), places, dense


def factors(seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((N, R, I)), rng.random((N, R, K, J))


def check(data, seen, whole, weights=1.0, tolerance=1e-10):
    """All products and sums, beside those over what was seen (K, I, J), entry by entry."""
    At, W = factors()
    inside = np.broadcast_to(np.arange(J) < np.array(data.widths or [J] * K)[:, None], (K, J))
    W *= inside
    counts = seen * np.broadcast_to(weights, I)[:, None]
    weighted = counts * np.where(seen, whole, 0.0)
    first, second = np.triu_indices(R)
    grams = np.einsum("nri,nsi,kij->nrskj", At, At, counts)[:, first, second]
    expected = [
        (data.project(At) * inside, np.einsum("kij,nri->nrkj", weighted, At) * inside),
        (data.accumulate(W), np.einsum("kij,nrkj->nri", weighted, W)),
        (data.column_grams(At) * inside, grams * inside),
        (data.row_grams(W), np.einsum("nrkj,nskj,kij->nirs", W, W, counts)),
        (
            data.residual_sse(At, W),
            (counts * (np.where(seen, whole, 0.0) - np.einsum("nri,nrkj->nkij", At, W)) ** 2).sum((1, 2, 3)),
        ),
    ]
    for ours, theirs in expected:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@each_kind
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_are_over_what_was_observed(corrected, dtype):
    data, _, dense = made(corrected, dtype=dtype)
    assert data.project(factors()[0]).dtype == dtype
    check(data, ~np.isnan(dense), dense / data.scale, tolerance=1e-10 if dtype == "float64" else 1e-4)


@each_kind
def test_errors_of_a_perfect_fit_are_rounding(corrected):
    data, _, dense = made(corrected)
    # Every row is a component of its own, and a little off.
    At = np.eye(I)[None]
    W = (np.nan_to_num(dense) / data.scale).transpose(1, 0, 2)[None] + 1e-10
    assert 0.0 <= data.residual_sse(At, W)[0] < 1e-14


@each_kind
def test_facts(corrected):
    data, _, dense = made(corrected)
    assert isinstance(data, SliceData)
    assert data.shape == (K, I, J)
    assert data.scale == pytest.approx(np.sqrt(np.nansum(dense**2)), rel=1e-12)
    assert data.norm_squared == pytest.approx(1.0, rel=1e-12)
    assert isinstance(data, PartlyObserved)
    assert not is_complete(data)
    np.testing.assert_allclose(data.coverage, (~np.isnan(dense)).mean(axis=1))
    assert data.nbytes > data.shown.nbytes


def test_slices_of_different_widths():
    data, _, dense = made(widths=(7, 5, 6, 7))
    assert data.widths == (7, 5, 6, 7)
    check(data, ~np.isnan(dense), dense / data.scale)


@each_kind
def test_rows_may_have_weights(corrected):
    weights = np.linspace(0.5, 1.5, I)
    data, _, dense = made(corrected, roots=np.sqrt(weights))
    # The data within are those of the rows times the roots of their weights.
    check(data, ~np.isnan(dense), dense / data.scale / np.sqrt(weights)[:, None], weights)
