"""Cross products of what was observed, against plain sums over a mask."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData, ObservedData
from tparafac2.data.gaps import GramsByList, GramsByWeight, find_gaps, grams_of


def masks(rng, kind, shape):
    """What was observed (I, K, J), missing in some way."""
    I, K, J = shape
    observed = np.ones(shape, dtype=bool)
    if kind == "entries":
        observed = rng.random(shape) < rng.random()
    elif kind == "samples":
        observed[rng.random((I, K)) < 0.3] = False
    elif kind == "columns":
        observed[:, rng.random((K, J)) < 0.3] = False
    elif kind == "one each":  # of every column one row was seen
        observed = np.arange(I)[:, None, None] == rng.integers(0, I, (K, J))
    return observed


def plain(observed, At, W):
    """Sums over the mask, in double precision: (n, R, R, K, J) and (n, I, R, R)."""
    At, W = At.astype(float), W.astype(float)
    columns = np.einsum("nri,nsi,ikj->nrskj", At, At, observed)
    return columns, np.einsum("nrkj,nskj,ikj->nirs", W, W, observed)


def sums(grams, At, W, dtype):
    """As `plain`, from what is tested."""
    n, R = At.shape[:2]
    first, second = np.triu_indices(R)
    packed = np.empty((n, len(first), *W.shape[2:]), dtype)
    grams.of_columns(At, packed)
    columns = np.empty((n, R, R, *W.shape[2:]), dtype)
    columns[:, first, second] = columns[:, second, first] = packed
    return columns, grams.of_rows(W)


KINDS = ["nothing", "entries", "samples", "columns", "one each"]


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from(["float64", "float32"]),
)
def test_both_ways_are_plain_sums_over_what_was_observed(seed, kind, dtype):
    rng = np.random.default_rng(seed)
    n, R, I, K, J = rng.integers(1, [8, 6, 40, 5, 40])
    observed = masks(rng, kind, (I, K, J))
    At, W = rng.standard_normal((n, R, I)), rng.standard_normal((n, R, K, J)).astype(dtype)
    expected = plain(observed, At, W)
    for grams in (find_gaps(observed), GramsByWeight(DenseData(observed.astype(dtype)))):
        for ours, there in zip(sums(grams, At, W, dtype), expected, strict=True):
            tolerance = 1e-12 if dtype == "float64" else 1e-5
            np.testing.assert_allclose(ours, there, rtol=0, atol=tolerance * max(1.0, np.abs(there).max()))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS))
def test_what_is_left_is_right_by_its_own_size(seed, kind):
    """Loadings of very different sizes: where the large ones are missing, the total must not show."""
    rng = np.random.default_rng(seed)
    n, R, I, K, J = 2, 3, 12, 3, 9
    observed = masks(rng, kind, (I, K, J))
    At = rng.standard_normal((n, R, I)) * 10.0 ** rng.integers(-9, 9, (n, 1, I))
    W = rng.standard_normal((n, R, K, J)) * 10.0 ** rng.integers(-9, 9, (n, 1, K, J))
    columns, rows = sums(find_gaps(observed), At, W, "float64")
    for ours, there, axes in zip((columns, rows), plain(observed, At, W), ((1, 2), (2, 3)), strict=True):
        size = np.sqrt(np.diagonal(there, axis1=axes[0], axis2=axes[1]))  # (..., R)
        away = np.moveaxis(np.abs(ours - there), axes, (-2, -1))
        assert np.all(away <= 1e-13 * size[..., :, None] * size[..., None, :])


def test_what_a_missing_row_leaves_of_its_component_is_not_lost_in_rounding():
    """A component that lives in one row, and a column that misses it."""
    At = np.full((1, 1, 10), 1e-3)
    At[0, 0, 3] = 1e8
    observed = np.ones((10, 1, 4), dtype=bool)
    observed[3, 0, 2] = False
    columns, _ = sums(find_gaps(observed), At, np.ones((1, 1, 1, 4)), "float64")
    np.testing.assert_allclose(columns.ravel(), [1e16, 1e16, 9e-6, 1e16], rtol=1e-14)


def test_samples_not_taken_make_one_group_for_each_time():
    rng = np.random.default_rng(0)
    observed = np.repeat(rng.random((30, 4, 1)) < 0.8, 25, axis=2)
    lists = find_gaps(observed)
    assert lists.group.tolist() == np.repeat(np.arange(4), 25).tolist()
    assert len(lists.columns.terms) == np.count_nonzero(~observed[:, :, 0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_samples_not_taken_leave_one_system_for_each_slice(dtype):
    rng = np.random.default_rng(0)
    values = rng.random((30, 4, 7)).astype(dtype)
    values[rng.random((30, 4)) < 0.3] = np.nan
    data, At = ObservedData(values), rng.standard_normal((2, 3, 30))
    assert data.seen_by_slice
    expected = np.einsum("nri,nsi,ik->nkrs", At, At, ~np.isnan(values[:, :, 0]))
    np.testing.assert_allclose(data.slice_grams(At), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_columns_that_miss_different_rows_leave_no_system_to_share(share):
    values = np.random.default_rng(0).random((30, 4, 7))
    values[np.random.default_rng(1).random(values.shape) < share] = np.nan
    data = ObservedData(values)
    assert not data.seen_by_slice
    with pytest.raises(ValueError, match="same rows"):
        data.slice_grams(np.ones((1, 1, 30)))


@pytest.mark.parametrize(
    ("share", "way"), [(0.0, GramsByList), (0.1, GramsByList), (0.5, GramsByWeight), (0.95, GramsByList)]
)
def test_lists_are_of_what_is_missing_or_of_what_is_not(share, way):
    observed = np.random.default_rng(0).random((40, 5, 20)) >= share
    grams = grams_of(observed, np.dtype("float64"))
    assert isinstance(grams, way)
    if way is GramsByList:
        assert len(grams.columns.terms) == pytest.approx(min(share, 1 - share) * observed.size, abs=300)


def test_half_missing_at_random_by_samples_is_still_a_matter_of_lists():
    observed = np.repeat(np.random.default_rng(0).random((40, 5, 1)) < 0.5, 20, axis=2)
    assert isinstance(grams_of(observed, np.dtype("float64")), GramsByList)


def test_a_start_is_what_it_is_alone():
    """More starts than are worked on at a time, and one by one."""
    rng = np.random.default_rng(0)
    observed = masks(rng, "entries", (20, 3, 700))
    At, W = rng.random((40, 4, 20)), rng.random((40, 4, 3, 700))
    grams = find_gaps(observed)
    columns, rows = sums(grams, At, W, "float64")
    for i in (0, 17, 39):
        alone = sums(grams, At[i : i + 1], W[i : i + 1], "float64")
        np.testing.assert_allclose(columns[i], alone[0][0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rows[i], alone[1][0], rtol=1e-12, atol=1e-12)


def test_several_threads_may_ask_at_once():
    rng = np.random.default_rng(0)
    values = rng.random((20, 3, 50))
    values[rng.random(values.shape) < 0.1] = np.nan
    data, At, W = ObservedData(values), rng.random((8, 3, 20)), rng.random((8, 3, 3, 50))
    with ThreadPoolExecutor(4) as pool:
        columns = list(pool.map(lambda i: data.column_grams(At[i : i + 1]), range(8)))
        rows = list(pool.map(lambda i: data.row_grams(W[i : i + 1]), range(8)))
    np.testing.assert_allclose(np.concatenate(columns), data.column_grams(At), rtol=1e-12)
    np.testing.assert_allclose(np.concatenate(rows), data.row_grams(W), rtol=1e-12)


def test_lists_take_less_than_a_mask():
    values = np.random.default_rng(0).random((50, 10, 60))
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    assert 2 * values.nbytes < ObservedData(values).nbytes < 2.2 * values.nbytes
