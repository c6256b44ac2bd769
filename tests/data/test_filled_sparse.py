"""Sparse data with missing entries give what the same dense data give."""

import numpy as np
import pytest
import scipy.sparse

from tparafac2.data import (
    BatchedFactors,
    Correction,
    FilledSparseData,
    Places,
    RowWeightedData,
    SliceData,
    SparseData,
    is_complete,
)
from tparafac2.data.interface import follows_model

K, I, J, R, N = 4, 9, 7, 3, 2
each_kind = pytest.mark.parametrize("corrected", [False, True])


def made(corrected=False, widths=(J,) * K, dtype="float64", seed=0):
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
    return FilledSparseData.without(data, places), places, dense


def factors(seed=1):
    rng = np.random.default_rng(seed)
    return BatchedFactors(rng.random((N, R, I)), rng.random((N, R, K, J)), rng.random((N, R, K)))


def filled(data, places, dense, start, model):
    """The dense slices in the solver's units, with the model of one start at the places."""
    whole = dense / data.scale
    fitted = np.einsum("ri,rkj,rk->kij", model.At[start], model.B[start], model.C[start])
    whole[places] = fitted[places]
    return whole


@each_kind
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_are_those_of_data_filled_by_the_model(corrected, dtype):
    data, places, dense = made(corrected, dtype=dtype)
    model = factors()
    G = data.project(model.At, model)
    W = model.B * model.C[..., None]
    F = data.accumulate(W, model)
    tolerance = {"rtol": 1e-10} if dtype == "float64" else {"rtol": 1e-4}
    assert G.dtype == F.dtype == dtype
    for start in range(N):
        whole = filled(data, places, dense, start, model)
        np.testing.assert_allclose(G[start], np.einsum("kij,ri->rkj", whole, model.At[start]), **tolerance)
        np.testing.assert_allclose(F[start], np.einsum("kij,rkj->ri", whole, W[start]), **tolerance)


@each_kind
def test_before_there_is_a_model_missing_entries_are_zero(corrected):
    data, _, dense = made(corrected)
    whole, model = np.nan_to_num(dense) / data.scale, factors()
    G, F = np.einsum("kij,nri->nrkj", whole, model.At), np.einsum("kij,nrkj->nri", whole, model.B)
    np.testing.assert_allclose(data.project(model.At), G, rtol=1e-10)
    np.testing.assert_allclose(data.accumulate(model.B), F, rtol=1e-10)


@each_kind
def test_errors_are_summed_over_what_was_observed(corrected):
    data, _, dense = made(corrected)
    model = factors()
    W = model.B * model.C[..., None]
    fitted = np.einsum("nri,nrkj->nkij", model.At, W)
    expected = np.nansum((dense / data.scale - fitted) ** 2, axis=(1, 2, 3))
    np.testing.assert_allclose(data.residual_sse(model.At, W), expected, rtol=1e-10)


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
    assert follows_model(data)
    assert not is_complete(data)
    np.testing.assert_allclose(data.coverage, (~np.isnan(dense)).mean(axis=1))
    assert data.nbytes > data.shown.nbytes


def test_slices_of_different_widths():
    data, places, dense = made(widths=(7, 5, 6, 7))
    assert data.widths == (7, 5, 6, 7)
    model = factors()
    B = model.B.copy()
    B[:, :, 1, 5:], B[:, :, 2, 6:] = 0.0, 0.0
    model = model._replace(B=B)
    G = data.project(model.At, model)
    for start in range(N):
        whole = filled(data, places, dense, start, model)
        np.testing.assert_allclose(G[start], np.einsum("kij,ri->rkj", whole, model.At[start]), rtol=1e-10)


def test_rows_may_have_weights():
    data, places, dense = made()
    weights = np.linspace(0.5, 1.5, I)
    weighted = RowWeightedData(data, weights)
    assert follows_model(weighted)
    assert not is_complete(weighted)
    model = factors()
    W = model.B * model.C[..., None]
    roots = np.sqrt(weights)
    G, F = weighted.project(model.At, model), weighted.accumulate(W, model)
    for start in range(N):
        # The data within are those of the rows times the roots of their weights.
        whole = dense / data.scale / roots[:, None]
        fitted = np.einsum("ri,rkj->kij", model.At[start], W[start])
        whole[places] = fitted[places]
        whole *= weights[:, None]
        np.testing.assert_allclose(G[start], np.einsum("kij,ri->rkj", whole, model.At[start]), rtol=1e-10)
        np.testing.assert_allclose(F[start], np.einsum("kij,rkj->ri", whole, W[start]), rtol=1e-10)
