import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import ObservedData
from tparafac2.data.incomplete import first_fill


def draw(seed, share, dtype="float64"):
    rng = np.random.default_rng(seed)
    n, R, I, K, J = rng.integers(1, 6, 5)
    values = rng.standard_normal((I, K, J)).astype(dtype)
    mask = rng.random(values.shape) >= share
    holed = np.where(mask, values, np.nan).astype(dtype)
    At = rng.standard_normal((n, R, I))
    B = rng.standard_normal((n, R, K, J)).astype(dtype)
    return holed, mask, At, B


def check(actual, expected, dtype):
    tolerance = 1e-10 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


CASES = given(
    seed=st.integers(0, 2**32 - 1),
    share=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    dtype=st.sampled_from(["float64", "float32"]),
)


@settings(max_examples=40)
@CASES
def test_products_are_sums_over_what_was_observed(seed, share, dtype):
    holed, mask, At, B = draw(seed, share, dtype)
    data = ObservedData(holed)
    zeroed = np.where(mask, holed, 0.0).astype(float)
    first, second = np.triu_indices(At.shape[1])
    check(data.project(At), np.einsum("nri,ikj->nrkj", At, zeroed), dtype)
    check(data.accumulate(B), np.einsum("nrkj,ikj->nri", B.astype(float), zeroed), dtype)
    grams = np.einsum("nri,nsi,ikj->nrskj", At, At, mask)[:, first, second]
    check(data.column_grams(At), grams, dtype)
    check(data.row_grams(B), np.einsum("nrkj,nskj,ikj->nirs", *(B.astype(float),) * 2, mask), dtype)


@settings(max_examples=40)
@CASES
def test_errors_are_summed_over_what_was_observed(seed, share, dtype):
    holed, mask, At, B = draw(seed, share, dtype)
    model = np.einsum("nri,nrkj->nikj", At, B.astype(float))
    expected = (np.where(mask, np.nan_to_num(holed) - model, 0.0) ** 2).sum(axis=(1, 2, 3))
    check(ObservedData(holed).residual_sse(At, B), expected, dtype)


def test_facts():
    values = np.full((2, 3, 4), 2.0)
    values[0, 0] = np.nan
    data = ObservedData(values, scale=7.0)
    assert data.shape == (3, 2, 4)
    assert data.observed_share == pytest.approx(20 / 24)
    assert data.norm_squared == pytest.approx(80.0)
    assert not data.values.flags.writeable


def test_the_first_guess_follows_rows_and_columns():
    rng = np.random.default_rng(0)
    grid = np.add.outer(rng.normal(0, 3, 30), rng.normal(0, 3, (6, 10)))
    holed = np.where(rng.random(grid.shape) < 0.3, np.nan, grid + 0.01 * rng.standard_normal(grid.shape))
    filled = first_fill(holed)
    missing = np.isnan(holed)
    assert np.abs(filled - grid)[missing].max() < 0.1
    np.testing.assert_array_equal(filled[~missing], holed[~missing])
    slice_means = np.nanmean(holed, axis=(0, 2))[None, :, None]
    assert np.abs(filled - grid)[missing].mean() < 0.01 * np.abs(slice_means - grid)[missing].mean()


def test_the_first_guess_knows_what_to_do_with_columns_and_slices_nobody_saw():
    grid = np.add.outer(np.arange(5.0), np.arange(12.0).reshape(3, 4))
    grid[:, 1, 2] = np.nan
    grid[:, 2] = np.nan
    filled = first_fill(grid)
    assert np.isfinite(filled).all()
    # Column 2 was seen at the first time only, where it is 2.
    np.testing.assert_allclose(filled[:, 1, 2], np.arange(5.0) + 2, atol=1e-6)
