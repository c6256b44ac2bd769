"""Parts of the user's data: rows and hidden entries, without a look at what is not shown."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.choosing import Parts
from tparafac2.data import (
    DenseData,
    EntryWeightedData,
    HoledSparseData,
    ObservedData,
    RowWeightedData,
    take_in,
)

K, I, J = 5, 12, 8


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture
def X():
    return rng().gamma(2.0, size=(K, I, J)) + np.arange(J)


@pytest.fixture
def holed(X):
    X = X.copy()
    X[rng(1).random(X.shape) < 0.2] = np.nan
    return X


def numbers(intake):
    """All that a fit sees of the data, as bytes."""
    data = intake.data.data if isinstance(intake.data, RowWeightedData) else intake.data
    return data.values.tobytes(), data.scale, intake.order


def same(one, other):
    assert type(one.data) is type(other.data)
    np.testing.assert_allclose(one.data.values, other.data.values, rtol=1e-12, atol=1e-15)
    assert one.data.scale == pytest.approx(other.data.scale, rel=1e-12)
    assert one.order == other.order


def test_the_whole_is_what_a_fit_takes_in(holed):
    assert numbers(Parts.of(holed).whole) == numbers(take_in(holed))


def test_facts(holed):
    parts = Parts.of(holed)
    assert parts.shape == (K, I, J)
    assert parts.n_observed == np.count_nonzero(~np.isnan(holed))
    assert parts.nonnegative
    assert not Parts.of(-holed).nonnegative


def test_a_slice_never_observed_is_left_out(holed):
    holed[2] = np.nan
    parts = Parts.of(holed)
    assert parts.shape == (K - 1, I, J)
    hidden = parts.draw(rng())
    assert all(2 not in one.places.time for one in hidden)
    assert parts.without(hidden).intake.order == (0, 1, 3, 4)


@pytest.mark.parametrize(("share", "n"), [(0.1, 2), (0.05, 3), (0.2, 1)])
def test_sets_are_observed_disjoint_and_of_the_size_asked_for(holed, share, n):
    parts = Parts.of(holed)
    sets = parts.draw(rng(), share, n)
    flat = np.concatenate([np.ravel_multi_index(one.places, holed.shape) for one in sets])
    assert len(sets) == n
    assert len(set(flat)) == len(flat)
    assert [one.places.size for one in sets] == [round(share * parts.n_observed)] * n
    assert not np.isnan(holed.ravel()[flat]).any()


def test_the_same_generator_draws_the_same(holed):
    one, other = (Parts.of(holed).draw(rng(3)) for _ in range(2))
    for ours, theirs in zip(one, other):
        np.testing.assert_array_equal(ours.places, theirs.places)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 0.7))
def test_half_of_every_slice_row_and_column_stays(seed, missing):
    observed = rng(seed).random((6, 10, 7)) >= missing
    X = np.where(observed, 1.0 + rng(seed).random(observed.shape), np.nan)
    X[0], X[:, 0], X[:, :, 0] = 1.0, 1.0, 1.0  # all of them are observed somewhere
    observed = ~np.isnan(X)
    parts = Parts.of(X)
    hidden = parts.draw(rng(seed))
    left = ~np.isnan(shown_values(parts.without(hidden)))
    if parts.hides == "entries":
        for others in ((1, 2), (0, 2), (0, 1)):
            assert (2 * left.sum(axis=others) >= observed.sum(axis=others)).all()
    else:
        assert left.any(axis=(0, 1)).all()
        pairs, before = left.any(axis=2), observed.any(axis=2)
        assert (2 * pairs.sum(axis=0) >= before.sum(axis=0)).all()
        assert (2 * pairs.sum(axis=1) >= before.sum(axis=1)).all()


def shown_values(shown):
    return shown.intake.data.values.transpose(1, 0, 2) * shown.intake.data.scale


def test_what_is_shown_is_the_rest_and_what_is_held_is_hidden(holed):
    parts = Parts.of(holed)
    hidden = parts.draw(rng())
    shown = parts.without(hidden)
    expected = holed.copy()
    for one in hidden:
        expected[one.places] = np.nan
    np.testing.assert_allclose(shown_values(shown), expected, rtol=1e-12)
    for one, held in zip(hidden, shown.held):
        np.testing.assert_array_equal(held, holed[one.places])


def test_one_set_may_be_hidden_alone(X):
    parts = Parts.of(X)
    first, _ = parts.draw(rng())
    shown = parts.without([first])
    assert np.count_nonzero(np.isnan(shown_values(shown))) == first.places.size
    assert len(shown.held) == 1


@pytest.mark.parametrize("center", [None, "rows", "columns", "time"])
@pytest.mark.parametrize("scale", [None, "rows", "columns", "time"])
def test_hidden_values_have_no_part_in_what_is_shown(holed, center, scale):
    preparation = tp.Preparation(center=center, scale=scale)
    hidden = Parts.of(holed).draw(rng())
    wild = holed.copy()
    for one in hidden:
        wild[one.places] = 1e6 * rng(5).normal(size=one.places.size)
    plain, other = (Parts.of(preparation.apply(each)).without(hidden) for each in (holed, wild))
    np.testing.assert_allclose(plain.intake.data.values, other.intake.data.values, rtol=1e-6, atol=1e-9)
    if center is None and scale is None:
        assert numbers(plain.intake) == numbers(other.intake)


def test_hidden_values_are_prepared_as_what_is_shown(holed):
    parts = Parts.of(tp.Preparation(center="columns", scale="columns").apply(holed))
    hidden = parts.draw(rng())
    rest = holed.copy()
    for one in hidden:
        rest[one.places] = np.nan
    mean, spread = np.nanmean(rest, axis=(0, 1)), np.nanstd(rest, axis=(0, 1))
    shown = parts.without(hidden)
    np.testing.assert_allclose(shown_values(shown), (rest - mean) / spread, rtol=1e-9, atol=1e-12)
    for one, held in zip(hidden, shown.held):
        expected = (holed[one.places] - mean[one.places.columns]) / spread[one.places.columns]
        np.testing.assert_allclose(held, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "preparation",
    [
        tp.Preparation(center="columns", scale="columns"),
        tp.Preparation("share", center="rows", scale="time"),
        tp.Preparation(("share", "sqrt"), center="time", scale="rows"),
        tp.Preparation("clr", scale="columns"),
    ],
    ids=lambda one: one.describe(),
)
def test_rows_of_prepared_data_are_prepared_rows(holed, preparation):
    rows = np.array([7, 0, 3, 4, 10])
    same(Parts.of(preparation.apply(holed)).of_rows(rows), take_in(preparation.apply(holed[:, rows]).data))


def test_rows_that_are_all_the_same_are_not_divided(X):
    X[:, :5, 2] = 3.0
    part = Parts.of(tp.Preparation(scale="columns").apply(X)).of_rows(np.arange(5))
    np.testing.assert_allclose(part.data.values[:, :, 2] * part.data.scale, 3.0)


def test_rows_carry_labels_times_masks_and_weights(X):
    labelled = xr.DataArray(
        X,
        {"day": [0.0, 4.0, 1.0, 2.0, 9.0], "author": [f"a{i}" for i in range(I)]},
        ["day", "author", "word"],
    )
    mask = rng(2).random(X.shape) < 0.8
    weights = rng(3).random(I) + 0.5
    rows = np.array([1, 4, 5, 11, 2])
    part = Parts.of(labelled, mask=mask, weights=weights).of_rows(rows)
    alone = take_in(labelled[:, rows], mask=mask[:, rows], weights=weights[rows])
    same(part, alone)
    np.testing.assert_allclose(part.data.weights, alone.data.weights)
    assert part.labels.rows.tolist() == ["a1", "a4", "a5", "a11", "a2"]
    np.testing.assert_array_equal(part.times, alone.times)
    assert part.order == (0, 2, 3, 1, 4)


def test_a_slice_of_which_nothing_is_in_these_rows_is_kept_out(X):
    X[1, :6] = np.nan
    part = Parts.of(X).of_rows(np.arange(6))
    assert part.order == (0, 2, 3, 4)
    assert isinstance(Parts.of(X).of_rows(np.arange(6, I)).data, DenseData)


def test_columns_that_come_and_go_are_those_of_the_whole(X):
    X[2:, :, 0] = np.nan
    X[0, 1:, 1] = np.nan  # one observation: there, also where it is hidden or of other rows
    parts = Parts.of(X, bridge=False)
    seen = ~np.isnan(X).all(axis=1)
    for part in (parts.of_rows(np.arange(3, I)), parts.without(parts.draw(rng())).intake):
        np.testing.assert_array_equal(part.data.present, seen)


def test_columns_that_a_table_says_there_are():
    lines = pd.DataFrame(
        {"who": np.repeat(np.arange(10), 24), "what": np.tile(np.repeat(np.arange(6), 4), 10), "year": 2000}
    )
    lines["year"] += np.tile(np.arange(4), 60)
    lines["n"] = 1.0 + rng().random(240)
    lines = lines[~((lines.what == 5) & (lines.year > 2001))]
    table = tp.Table(lines, rows="who", columns="what", time="year", values="n", absent="columns")
    parts = Parts.of(table)
    hidden = parts.draw(rng())
    assert parts.hides == "entries"
    np.testing.assert_array_equal(parts.without(hidden).intake.data.present, table.present)
    assert not any(((one.places.columns == 5) & (one.places.time > 1)).any() for one in hidden)


def test_samples_that_were_not_taken_are_hidden_as_such(X):
    X[rng(4).random((K, I)) < 0.3] = np.nan
    X[0, 0, 0] = np.nan
    parts = Parts.of(X)
    assert parts.hides == "fibres"
    left = ~np.isnan(shown_values(parts.without(parts.draw(rng()))))
    pairs, before = left.any(axis=2), ~np.isnan(X).all(axis=2)
    assert (left == (~np.isnan(X) & pairs[:, :, None])).all()
    assert np.count_nonzero(before & ~pairs) == 2 * round(0.1 * np.count_nonzero(before))


def test_a_slice_that_was_not_observed_makes_no_fibres(X):
    X[1] = np.nan
    X[0, 0, 0] = np.nan
    assert Parts.of(X).hides == "entries"


@pytest.mark.parametrize("kind", ["rows", "entries"])
def test_errors_are_those_of_the_model_by_weight(X, kind):
    weights = rng(3).random(I if kind == "rows" else X.shape) + 0.5
    each = np.broadcast_to(weights[:, None] if kind == "rows" else weights, X.shape)
    parts = Parts.of(X, weights=weights)
    hidden = parts.draw(rng())
    shown = parts.without(hidden)
    A, B, C = rng(6).random((I, 2)), rng(7).random((K, J, 2)), rng(8).random((K, 2))
    model = np.einsum("ir,kjr,kr->kij", A, B, C)
    for one, errors in zip(hidden, shown.errors(A, B, C)):
        expected = (each / each.mean() * (X - model) ** 2)[one.places]
        np.testing.assert_allclose(errors, expected, rtol=1e-10)


def test_errors_follow_the_user_s_order_of_slices():
    t = np.array([3.0, 0.0, 2.0, 1.0, 4.0])
    patterns = np.stack([np.outer(np.ones(J), [1.0]) * (1 + when) for when in t])
    A = 1.0 + rng().random((20, 1))
    X = np.einsum("ir,kjr->kij", A, patterns)
    X[3] = np.nan
    parts = Parts.of(X, times=t)
    shown = parts.without(parts.draw(rng()))
    result = tp.CP(1, n_starts=1, random_state=0).fit_intake(shown.intake).result_
    errors = shown.errors(result.A, result.B, result.C)
    assert max(one.max() for one in errors) < 1e-8 * np.nanmean(X**2)


def test_whatever_a_fit_takes(X):
    frames = [pd.DataFrame(one, index=[f"r{i}" for i in range(I)]) for one in X]
    long = pd.DataFrame(
        [(i, j, k, X[k, i, j]) for k in range(K) for i in range(I) for j in range(J)],
        columns=["row", "column", "time", "value"],
    )
    ways = [
        X,
        list(X),
        frames,
        dict(enumerate(frames)),
        np.ma.masked_array(X, mask=False),
        tp.Table(long, rows="row", columns="column", time="time", values="value"),
        long,
        tp.Preparation().apply(X),
    ]
    hidden = Parts.of(X).draw(rng())
    expected = Parts.of(X).without(hidden)
    for given_as in ways:
        parts = Parts.of(given_as)
        same(parts.without(hidden).intake, expected.intake)
        same(parts.of_rows(np.arange(5)), take_in(X[:, :5]))
    assert Parts.of(frames).labels.rows.tolist() == [f"r{i}" for i in range(I)]


def test_the_type_carries_over(X):
    parts = Parts.of(X, dtype="float32")
    assert parts.of_rows(np.arange(4)).data.dtype == np.float32
    shown = parts.without(parts.draw(rng()))
    assert shown.intake.data.dtype == np.float32
    assert isinstance(shown.intake.data, ObservedData)


def test_rows_of_slices_of_different_widths():
    pieces = [rng(k).random((6, 3 + k)) for k in range(3)]
    parts = Parts.of(pieces)
    assert parts.n_observed == 6 * 12
    same(parts.of_rows(np.arange(4)), take_in([one[:4] for one in pieces]))
    with pytest.raises(ValueError, match="between 3 and 5 columns, so that no entries can be hidden"):
        parts.draw(rng())


# --- what is refused ----------------------------------------------------------------------------------------


def test_data_of_the_user_s_own_kind_are_refused():
    with pytest.raises(TypeError, match="X is a SparseData, of which no parts can be made: give the slices"):
        Parts.of(tp.data.SparseData.from_slices([csr_array(np.eye(4))] * 2))


def test_too_few_entries_are_refused():
    with pytest.raises(ValueError, match=r"60 entries were observed: too few to hide 2 x 10%.*Give more"):
        Parts.of(rng().random((3, 4, 5))).draw(rng())


def test_too_few_fibres_are_refused():
    X = rng().random((4, 5, 30))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="19 pairs of a row and a time were observed: too few"):
        Parts.of(X).draw(rng())


def test_rows_that_were_hardly_observed_leave_too_little():
    X = np.full((3, 200, 4), np.nan)
    X[0, :, 0] = rng().random(200)  # one entry of each row: none can be hidden
    X[1, 0], X[2, 0] = 1.0, 1.0
    with pytest.raises(ValueError, match="too few to hide"):
        Parts.of(X, mask=~np.isnan(X)).draw(rng())


@pytest.mark.parametrize(("share", "n"), [(0.0, 2), (0.3, 2), (0.1, 0), (-0.1, 2)])
def test_shares_that_cannot_be_hidden_are_refused(X, share, n):
    with pytest.raises(ValueError, match="at most half of the entries can be hidden"):
        Parts.of(X).draw(rng(), share, n)


def test_columns_that_these_rows_do_not_have_are_named(X):
    X[:, :6, 3] = np.nan
    with pytest.raises(ValueError, match=r"1 of 8 columns were not observed in any of 6 of the 12 rows: 3"):
        Parts.of(X).of_rows(np.arange(6))


# --- sparse data --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counts():
    """Two groups of rows with words of their own, most entries zero: K, I, J = 5, 24, 20."""
    random = rng(0)
    A = np.kron(np.eye(2), np.ones((12, 1))) + 0.05
    B = np.stack([np.roll(np.kron(np.eye(2), np.ones((10, 1))), k, axis=0) for k in range(5)]) + 0.05
    return random.poisson(np.einsum("ir,kjr->kij", A, 0.4 * B)).astype(float)


def sparse(X):
    return [csr_array(one) for one in X]


def sparse_table(X):
    k, i, j = np.nonzero(X)
    lines = pd.DataFrame({"row": i, "column": j, "time": k, "value": X[k, i, j]})
    return tp.Table(lines, rows="row", columns="column", time="time", values="value")


def test_sparse_facts(counts):
    parts = Parts.of(sparse(counts))
    assert parts.shape == counts.shape
    assert parts.n_observed == counts.size
    assert parts.hides == "entries"
    assert parts.nonnegative


def test_sparse_sets_are_disjoint_and_even(counts):
    sets = Parts.of(sparse(counts)).draw(rng())
    flat = np.concatenate([np.ravel_multi_index(one.places, counts.shape) for one in sets])
    assert len(set(flat)) == len(flat)
    for one in sets:
        stored = counts[one.places] != 0
        assert one.places.size == pytest.approx(0.1 * counts.size, abs=1)
        assert np.count_nonzero(stored) == round(0.1 * np.count_nonzero(counts))
        np.testing.assert_allclose(one.weights, 1.0, rtol=0.01)


@pytest.mark.parametrize("weights", [None, 0.5 + np.arange(24) % 3])
@pytest.mark.parametrize(
    ("model", "preparation"),
    [
        (tp.TParafac2, tp.Preparation()),
        (tp.CP, tp.Preparation()),
        (tp.CP, tp.Preparation(center="columns", scale="rows")),
    ],
)
def test_a_sparse_fit_is_that_of_the_dense_data(counts, model, preparation, weights):
    table = sparse_table(counts).with_slices(sparse(counts))
    lists = Parts.of(preparation.apply(table), weights=weights)
    dense = Parts.of(preparation.apply(counts), weights=weights)
    hidden = lists.draw(rng())
    one, other = lists.without(hidden), dense.without(hidden)
    assert isinstance(one.intake.data, HoledSparseData)
    assert isinstance(other.intake.data, ObservedData if weights is None else EntryWeightedData)
    for ours, theirs in zip(one.held, other.held):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.intake.coverage, other.intake.coverage)
    settings = {"n_starts": 3, "random_state": 0, "tol": 1e-12, "max_iter": 4000}
    settings |= {"smoothness": 1e-2} if model is tp.TParafac2 else {}
    fits = [model(2, **settings).fit_intake(shown.intake).result_ for shown in (one, other)]
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-7)
    for ours, theirs in zip(one.errors(*factors(fits[0])), other.errors(*factors(fits[1]))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-3)


def factors(result):
    return result.A, result.B, result.C


@pytest.mark.parametrize("center", [None, "rows", "columns", "time"])
@pytest.mark.parametrize("scale", [None, "rows", "columns", "time"])
def test_sparse_parts_are_prepared_as_dense_ones(counts, center, scale):
    preparation = tp.Preparation("log1p", center=center, scale=scale)
    table = sparse_table(counts).with_slices(sparse(counts))
    lists, dense = Parts.of(preparation.apply(table)), Parts.of(preparation.apply(counts))
    hidden = dense.draw(rng())
    one, other = lists.without(hidden), dense.without(hidden)
    assert isinstance(one.intake.data, HoledSparseData)
    for ours, theirs in zip(one.held, other.held):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert one.intake.data.scale == pytest.approx(other.intake.data.scale, rel=1e-10)
    rows = np.array([20, 3, 5, 1, 0, 17])
    same_products(lists.of_rows(rows).data, dense.of_rows(rows).data)


def same_products(one, other):
    At = rng(1).random((1, 2, one.shape[1]))
    np.testing.assert_allclose(one.project(At), other.project(At), rtol=1e-9, atol=1e-12)
    assert one.scale == pytest.approx(other.scale, rel=1e-10)


def test_hidden_numbers_leave_no_trace_in_sparse_data(counts):
    hidden = Parts.of(sparse(counts)).draw(rng())
    wild = counts.copy()
    for one in hidden:
        wild[one.places] = np.round(100 * rng(5).normal(size=one.places.size))
    plain, other = (Parts.of(sparse(each)).without(hidden).intake.data for each in (counts, wild))
    assert plain.scale == other.scale
    for ours, theirs in zip(plain.shown.blocks, other.shown.blocks, strict=True):
        assert ours.data.tobytes() == theirs.data.tobytes()
        np.testing.assert_array_equal(ours.indices, theirs.indices)


def test_large_sparse_data_hide_numbers_and_zeros_by_weight():
    random = rng(0)
    slices = [csr_array((random.random((1500, 800)) < 0.02).astype(float)) for _ in range(10)]
    parts = Parts.of(slices)
    sets = parts.draw(rng(1))
    assert sum(one.places.size for one in sets) <= 200_000
    shown = parts.without(sets)
    n_stored = sum(one.nnz for one in slices)
    zero = np.zeros((1500, 1)), np.zeros((10, 800, 1)), np.zeros((10, 1))
    for one, held, errors in zip(sets, shown.held, shown.errors(*zero)):
        assert np.count_nonzero(held) == int(0.02 * n_stored)
        assert one.weights.mean() == pytest.approx(1.0)
        assert errors.mean() == pytest.approx(n_stored / parts.n_observed, rel=1e-3)


def test_sparse_slices_of_different_widths(counts):
    slices = [csr_array(one[:, : 16 + k]) for k, one in enumerate(counts)]
    parts = Parts.of(slices)
    hidden = parts.draw(rng())
    assert all((one.places.columns < 16 + one.places.time).all() for one in hidden)
    shown = parts.without(hidden)
    for one, held in zip(hidden, shown.held):
        np.testing.assert_array_equal(held, counts[one.places])
    assert shown.intake.data.widths == (16, 17, 18, 19, 20)


def test_too_little_sparse_data_are_refused():
    with pytest.raises(ValueError, match="32 entries were observed: too few"):
        Parts.of(sparse(np.ones((2, 4, 4)))).draw(rng())


def test_sparse_slices_in_another_order_of_time(counts):
    times = [3, 0, 4, 1, 2]
    parts = Parts.of(sparse(counts), times=times)
    hidden = parts.draw(rng())
    one = parts.without(hidden).intake
    other = Parts.of(counts, times=times).without(hidden).intake
    assert one.order == other.order == (1, 3, 4, 0, 2)
    np.testing.assert_allclose(one.coverage, other.coverage)
    At, W = rng(1).random((1, 2, 24)), rng(2).random((1, 2, 5, 20))
    np.testing.assert_allclose(one.data.residual_sse(At, W), other.data.residual_sse(At, W), rtol=1e-10)
