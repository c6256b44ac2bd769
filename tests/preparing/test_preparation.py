"""What is done to data before a fit, and undone after it."""

import json
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tparafac2 as tp
from tparafac2.data import SparseData, Table, memory, take_in
from tparafac2.io import Preparation, undo

MODES = (None, "rows", "columns", "time")
AXIS = {"time": 0, "rows": 1, "columns": 2}
SHAPE = (3, 4, 5)

_counts = arrays(np.float64, SHAPE, elements=st.integers(0, 50).map(float))
_holes = arrays(np.bool_, SHAPE)


def _random(seed=0, holes=0.2):
    rng = np.random.default_rng(seed)
    X = rng.poisson(3.0, SHAPE).astype(float)
    X[rng.random(SHAPE) < holes] = np.nan
    return X


def _over(mode):
    return tuple(axis for axis in range(3) if axis != AXIS[mode])


def _applied(preparation, X):
    try:
        return preparation.apply(X)
    except ValueError as error:
        if "the same value everywhere" not in str(error):
            raise
        return None


# --- the way there and back ---------------------------------------------------------------------------------


@given(
    X=_counts,
    holes=_holes,
    transform=st.sampled_from([None, "log1p", "sqrt"]),
    center=st.sampled_from(MODES),
    scale=st.sampled_from(MODES),
    size=st.sampled_from([1e-160, 1.0, 1e160]),
)
@settings(max_examples=150)
def test_undo_gives_the_data_back(X, holes, transform, center, scale, size):
    X = np.where(holes, np.nan, X)
    X = X if transform == "log1p" else X * size
    prepared = _applied(Preparation(transform, None, center, scale), X)
    assume(prepared is not None)
    np.testing.assert_array_equal(np.isnan(prepared.data), holes)
    tolerance = 1e-9 * (np.nanmax(X) if not holes.all() else 1.0)
    np.testing.assert_allclose(prepared.undo(prepared.data), X, rtol=1e-9, atol=tolerance)


@given(X=_counts, holes=_holes)
@settings(max_examples=60)
def test_shares_sum_to_one(X, holes):
    X = np.where(holes, np.nan, X)
    prepared = Preparation("share").apply(X)
    shares = prepared.data.values
    np.testing.assert_array_equal(np.isnan(shares), holes)
    totals, sums = np.nansum(X, axis=2), np.nansum(shares, axis=2)
    np.testing.assert_allclose(sums[totals > 0], 1.0)
    assert (sums[totals == 0] == 0).all()
    assert prepared.n_empty == np.count_nonzero((totals == 0) & ~holes.all(axis=2))
    np.testing.assert_allclose(prepared.undo(shares), shares)


@given(X=_counts, holes=_holes, pseudocount=st.floats(0.01, 2))
@settings(max_examples=60)
def test_log_ratios_are_centred_and_go_back_to_shares(X, holes, pseudocount):
    X = np.where(holes, np.nan, X)
    prepared = Preparation("clr", pseudocount).apply(X)
    ratios = prepared.data.values
    np.testing.assert_array_equal(np.isnan(ratios), holes)
    np.testing.assert_allclose(np.nansum(ratios, axis=2), 0.0, atol=1e-12)
    expected = Preparation("share").apply(X + pseudocount).data.values
    np.testing.assert_allclose(prepared.undo(ratios), expected)


def test_log_ratios_do_not_depend_on_totals():
    X = _random(holes=0) + 1
    once, twice = (Preparation("clr").apply(data).data for data in (X, 10 * X))
    np.testing.assert_allclose(once, twice, atol=1e-14)


@pytest.mark.parametrize("mode", MODES[1:])
def test_center_and_scale_name_a_mode(mode):
    X = _random()
    centred = Preparation(center=mode).apply(X).data.values
    np.testing.assert_allclose(np.nanmean(centred, axis=_over(mode)), 0, atol=1e-14)
    prepared = Preparation(center=mode, scale=mode).apply(X)
    np.testing.assert_allclose(np.nanstd(prepared.data.values, axis=_over(mode)), 1)
    np.testing.assert_allclose(prepared.centers, np.nanmean(X, axis=_over(mode)))
    np.testing.assert_allclose(prepared.scales, np.nanstd(X, axis=_over(mode)))


def test_order_is_transform_center_scale():
    X = _random()
    logs = np.log1p(X)
    centred = logs - np.nanmean(logs, axis=(0, 1), keepdims=True)
    expected = centred / np.nanstd(centred, axis=(0, 2), keepdims=True)
    found = Preparation("log1p", None, "columns", "rows").apply(X).data
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("transform", "pseudocount"), [("log1p", None), ("sqrt", None), ("share", None), ("clr", 1)]
)
def test_fitted_values_are_never_negative_after_undo(transform, pseudocount):
    X = _random(holes=0) + 1
    prepared = Preparation(transform, pseudocount, "rows").apply(X)
    back = prepared.undo(np.random.default_rng(1).normal(size=SHAPE, scale=10))
    assert (back >= 0).all()
    assert np.isfinite(back).all()


def test_several_transforms_are_done_and_undone_in_order():
    X = _random() + 1
    both = Preparation(["share", "sqrt"]).apply(X)
    one_by_one = Preparation("sqrt").apply(Preparation("share").apply(X).data)
    np.testing.assert_array_equal(both.data, one_by_one.data)
    np.testing.assert_allclose(
        undo(json.loads(json.dumps(both.as_dict())), both.data), X / np.nansum(X, axis=2, keepdims=True)
    )
    assert both.preparation == Preparation(("share", "sqrt"))
    assert (
        both.describe() == "shares of the columns within each row and time; then square root of every value."
    )
    with pytest.raises(ValueError, match="'sqrt' is for values that are not negative"):
        Preparation(["clr", "sqrt"]).apply(X)


def test_the_record_is_enough():
    prepared = Preparation("log1p", None, "rows", "columns").apply(_random())
    record = json.loads(json.dumps(prepared.as_dict()))
    np.testing.assert_array_equal(undo(record, prepared.data), prepared.undo(prepared.data))
    assert Preparation("clr", 0.5).as_dict() == {
        "transform": "clr",
        "pseudocount": 0.5,
        "center": None,
        "scale": None,
    }


def test_data_are_not_changed():
    X = _random()
    before = X.copy()
    for preparation in (Preparation(), Preparation("share"), Preparation("clr", 1, "rows", "columns")):
        prepared = preparation.apply(X)
        prepared.data.values[:] = 7
        np.testing.assert_array_equal(X, before)


def test_fit_in_other_units_and_back():
    rng = np.random.default_rng(0)
    logs = np.einsum("ir,jr,kr->kij", *(rng.random((n, 1)) + 0.5 for n in (6, 5, 4)))
    X = xr.DataArray(np.expm1(logs), dims=("year", "author", "word"), coords={"year": [3, 1, 2, 9]})
    prepared = Preparation("log1p").apply(X)
    model = tp.CP(rank=1, n_starts=2, random_state=0, tol=1e-12).fit(prepared.data)
    np.testing.assert_allclose(prepared.undo(model.reconstruct()), X, rtol=1e-4)


# --- labels and kinds of data -------------------------------------------------------------------------------


def test_labelled_array_keeps_its_labels():
    dims = ("word", "year", "author")
    coords = {"word": list("vwxyz"), "year": [3, 1, 2], "author": list("abcd")}
    X = xr.DataArray(_random().transpose(2, 0, 1), coords, dims, name="counts")
    found = Preparation("sqrt").apply(X).data
    assert (found.name, found.dims) == ("counts", ("year", "author", "word"))
    xr.testing.assert_allclose(found, np.sqrt(X).transpose("year", "author", "word"))
    odd = X.rename(word="j", year="k", author="i")
    with pytest.raises(ValueError, match="say which are rows, columns and time"):
        Preparation("sqrt").apply(odd)
    named = Preparation("sqrt").apply(odd, dims={"rows": "i", "columns": "j", "time": "k"}).data
    assert named.dims == ("time", "rows", "columns")
    assert take_in(named).labels.rows.tolist() == list("abcd")


def _table(n=40, **options):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "who": rng.integers(12, size=n),
            "what": rng.integers(15, size=n),
            "when": rng.integers(5, size=n),
            "n": rng.integers(1, 9, size=n),
        }
    )
    options = {"duplicates": "sum", **options}
    return Table(frame, rows="who", columns="what", time="when", values="n", **options)


def _dense(table):
    return np.array([getattr(piece, "toarray", lambda piece=piece: piece)() for piece in table.slices()])


@pytest.mark.parametrize("transform", [None, "log1p", "sqrt", "share", ("share", "sqrt"), ("log1p", "share")])
def test_sparse_table_stays_sparse(transform):
    table = _table()
    assert not isinstance(table.slices()[0], np.ndarray)
    prepared = Preparation(transform).apply(table)
    assert not isinstance(prepared.data.slices()[0], np.ndarray)
    expected = Preparation(transform).apply(_dense(table))
    np.testing.assert_allclose(_dense(prepared.data), expected.data)
    assert prepared.n_empty == expected.n_empty
    assert take_in(prepared.data).labels.names == table.labels.names


def test_sparse_table_is_made_dense_for_log_ratios(monkeypatch):
    table, preparation = _table(), Preparation("clr", 0.5)
    prepared = preparation.apply(table)
    np.testing.assert_allclose(_dense(prepared.data), preparation.apply(_dense(table)).data)
    assert prepared.data.labels is table.labels
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="Sparse slices stay sparse"):
        preparation.apply(table)


@pytest.mark.parametrize("transform", [None, ("share", "log1p")])
@pytest.mark.parametrize("scale", MODES)
@pytest.mark.parametrize("center", MODES)
def test_sparse_table_is_centred_and_scaled_as_a_dense_one(center, scale, transform):
    table = _table()
    prepared = Preparation(transform, None, center, scale).apply(table)
    expected = Preparation(transform, None, center, scale).apply(_dense(table))
    np.testing.assert_allclose(_dense(prepared.data), expected.data, rtol=1e-10, atol=1e-12)
    for name in ("centers", "scales"):
        found, wanted = getattr(prepared, name), getattr(expected, name)
        assert (found is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-10)
    sparse, dense = take_in(prepared.data).data, take_in(expected.data).data
    assert isinstance(sparse, SparseData)
    assert sparse.scale == pytest.approx(dense.scale, rel=1e-12)
    At = np.random.default_rng(0).normal(size=(1, 2, sparse.shape[1]))
    np.testing.assert_allclose(sparse.project(At), dense.project(At), rtol=1e-9, atol=1e-12)


def test_centred_sparse_slices_are_put_in_order_with_their_means():
    prepared = Preparation(center="time").apply(_table())
    K = prepared.data.shape[0]
    backwards = take_in(prepared.data, times=-np.arange(K)).data
    At = np.ones((1, 1, backwards.shape[1]))
    forwards = take_in(prepared.data).data.project(At)
    np.testing.assert_allclose(backwards.project(At), forwards[:, :, ::-1], atol=1e-14)


def test_sparse_columns_without_spread_are_refused():
    slices = [s * 0 for s in _table().slices()]
    with pytest.raises(ValueError, match="have the same value everywhere"):
        Preparation(scale="columns").apply(_table().with_slices(slices))


def test_centring_sparse_slices_makes_nothing_of_the_size_of_the_data():
    rng = np.random.default_rng(0)
    I, J, K, n = 2000, 5000, 4, 20_000
    frame = pd.DataFrame(
        {"r": [*range(I), *rng.integers(I, size=n)], "c": rng.integers(J, size=I + n),
         "t": [*range(K), *rng.integers(K, size=I + n - K)]}
    )  # fmt: skip
    table = Table(frame, rows="r", columns="c", time="t", duplicates="sum")
    tracemalloc.start()
    data = take_in(Preparation("log1p", center="columns", scale="rows").apply(table).data).data
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(data, SparseData)
    assert peak < 0.1 * 8 * np.prod(data.shape)


def test_fitted_values_of_a_centred_sparse_table_are_those_of_a_dense_one():
    table, preparation = _table(), Preparation("log1p", center="rows", scale="time")
    settings = {"rank": 2, "n_starts": 1, "max_iter": 50, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fifty iterations are few
        sparse = tp.CP(**settings).fit(preparation.apply(table))
        dense = tp.CP(**settings).fit(preparation.apply(_dense(table)))
    assert sparse.result_.objective == pytest.approx(dense.result_.objective, rel=1e-8)
    np.testing.assert_allclose(
        sparse.result_.fitted_values(), dense.result_.fitted_values(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("absent", ["missing", "columns"])
def test_what_a_table_misses_stays_missing(absent):
    table = _table(absent=absent)
    prepared = Preparation("clr", 1.0, "columns").apply(table).data
    np.testing.assert_array_equal(np.isnan(_dense(prepared)), np.isnan(_dense(table)))
    assert prepared.present is table.present
    assert prepared.describe() == table.describe()


def test_nothing_to_do_leaves_a_table_as_it_is():
    table = _table()
    prepared = Preparation().apply(table)
    assert prepared.data is table
    assert prepared.describe() == ""


def test_prepared_table_is_fitted():
    model = tp.CP(rank=1, n_starts=1, random_state=0).fit(Preparation("sqrt").apply(_table(400)).data)
    assert model.result_.labels.names == {"rows": "who", "columns": "what", "time": "when"}


def test_masked_and_whole_numbers():
    X = np.ma.masked_equal(np.arange(24).reshape(2, 3, 4), 5)
    found = Preparation("sqrt").apply(X).data.values
    assert np.isnan(found[0, 1, 1])
    assert np.isnan(found).sum() == 1
    assert found[1, 2, 3] == np.sqrt(23)


# --- what is said and refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preparation", "said"),
    [
        (Preparation("sqrt"), "square root of every value."),
        (
            Preparation("clr", 0.5, "rows", "columns"),
            "centred log-ratios of the columns within each row and time (0.5 added to every value); then the "
            "mean of each row was taken off; then each column was divided by its standard deviation.",
        ),
        (Preparation(scale="time"), "each time was divided by its standard deviation."),
    ],
)
def test_what_is_done_is_said(preparation, said):
    assert preparation.describe() == said
    assert preparation.apply(_random(holes=0)).describe() == said


def test_empty_fibres_are_told():
    X = np.ones((2, 2, 2))
    X[0, 1] = 0
    assert "At 1 pairs of a row and a time all values are zero" in Preparation("share").apply(X).describe()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"transform": "log"},
            "transform must be one of 'log1p', 'sqrt', 'share', 'clr', or None; got 'log'",
        ),
        ({"center": "row"}, "center must be one of 'rows', 'columns', 'time', or None; got 'row'"),
        ({"scale": True}, "scale must be one of"),
        ({"pseudocount": 1}, "for transform='clr' only"),
        ({"transform": "clr", "pseudocount": 0}, "above zero; got 0"),
        ({"transform": "clr", "pseudocount": np.nan}, "above zero; got nan"),
        ({"transform": "clr", "pseudocount": np.inf}, "above zero; got inf"),
        ({"transform": "clr", "pseudocount": True}, "above zero; got True"),
        ({"transform": "clr", "pseudocount": "1"}, "above zero; got '1'"),
    ],
)
def test_wrong_choices_are_refused(wrong, said):
    with pytest.raises(ValueError) as caught:
        Preparation(**wrong)
    assert said in str(caught.value)


@pytest.mark.parametrize("transform", ["log1p", "sqrt", "share", "clr"])
def test_negative_values_are_counted(transform):
    X = _random(holes=0) + 1
    X[0, 0, :3] = [-1, -2.5, np.nan]
    with pytest.raises(ValueError, match=r"2 of 59 are; the smallest is -2.5"):
        Preparation(transform).apply(X)


def test_negative_values_of_a_sparse_table_are_refused():
    table = _table()
    with pytest.raises(ValueError, match="not negative"):
        Preparation("log1p").apply(table.with_slices([-piece for piece in table.slices()]))


def test_zeros_need_a_pseudocount():
    X = np.ones(SHAPE)
    X[0, 0, 0], X[1, 1, 1] = 0, np.nan
    with pytest.raises(ValueError, match=r"1 of 59 values are zero: give pseudocount="):
        Preparation("clr").apply(X)


@pytest.mark.parametrize("center", [None, "rows", "columns", "time"])
def test_what_does_not_vary_is_named(center):
    X = _random(holes=0)
    X[:, :, 1] = 0.1
    X[:, :, 3] = 0.7
    X = xr.DataArray(X, {"word": list("vwxyz")}, ("year", "author", "word"))
    preparation = Preparation(center=center, scale="columns")
    if center in (None, "columns"):
        with pytest.raises(ValueError, match="2 of 5 columns have the same value everywhere: 'w', 'y'"):
            preparation.apply(X)
    else:  # taking off means of rows or times makes them vary
        assert np.isfinite(preparation.apply(X).data).all()


def test_equal_log_ratios_do_not_vary():
    X = np.full((2, 3, 7), 0.3)
    with pytest.raises(
        ValueError, match="7 of 7 columns have the same value everywhere: 0, 1, 2, 3, 4 and 2 more"
    ):
        Preparation("clr", 0.1, scale="columns").apply(X)


def test_row_that_was_never_observed_is_left_to_the_fit():
    X = _random(holes=0)
    X[:, 2] = np.nan
    prepared = Preparation(center="rows", scale="rows").apply(X)
    assert (prepared.centers[2], prepared.scales[2]) == (0, 1)
    assert np.isnan(prepared.data.values[:, 2]).all()


@pytest.mark.parametrize(
    ("X", "error", "said"),
    [
        ([[1.0]], TypeError, "X is a list"),
        (np.ones((2, 3)), ValueError, "three are needed"),
        (np.ones((2, 2, 2), dtype=complex), TypeError, "complex"),
        (np.full((2, 2, 2), np.inf), ValueError, "8 of 8 values are infinite"),
        (xr.Dataset(), TypeError, "choose one of its arrays"),
    ],
)
def test_what_cannot_be_prepared_is_refused(X, error, said):
    with pytest.raises(error) as caught:
        Preparation("sqrt").apply(X)
    assert said in str(caught.value)


def test_dims_are_for_labelled_arrays():
    with pytest.raises(ValueError, match="dims names the dimensions"):
        Preparation().apply(np.ones(SHAPE), dims={"time": "year"})


def test_fitted_values_must_belong_to_the_data():
    prepared = Preparation(center="rows").apply(_random())
    with pytest.raises(ValueError, match="do not belong to data with 4 rows"):
        prepared.undo(np.ones((3, 5, 5)))
    with pytest.raises(ValueError, match="three dimensions"):
        prepared.undo(np.ones(4))
