"""Missing entries are filled in, in the units and form of the data, and what was observed stays as it is."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.errors import ToldWarning

DATA = tp.synthetic.easy(seed=0, n_times=6, n_rows=24, n_columns=20, noise=0.2)
WHOLE = np.abs(DATA.X) + 0.1
HOLES = np.random.default_rng(0).random(WHOLE.shape) < 0.15
HOLED = np.where(HOLES, np.nan, WHOLE)
QUICK = {"n_starts": 2, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return tp.TParafac2(3, **QUICK).fit(HOLED)


@pytest.fixture(scope="module")
def filled(model):
    return model.complete(HOLED)


def test_only_what_is_missing_is_filled_in(model, filled):
    assert np.array_equal(filled[~HOLES], WHOLE[~HOLES])
    expected = model.inverse_transform(model.transform(HOLED))
    assert np.allclose(filled[HOLES], expected[HOLES])
    wrong = np.nanmean(HOLED) - WHOLE
    assert ((filled - WHOLE)[HOLES] ** 2).sum() < 0.5 * (wrong[HOLES] ** 2).sum()


def test_every_form_comes_back_as_it_was(model, filled):
    rows, columns = [f"r{i:02}" for i in range(24)], list("abcdefghijklmnopqrst")
    named = tp.TParafac2(3, **QUICK).fit(
        xr.DataArray(HOLED, {"time": range(6), "rows": rows, "columns": columns}, ["time", "rows", "columns"])
    )
    array = xr.DataArray(
        HOLED, {"time": range(6), "rows": rows, "columns": columns}, ["time", "rows", "columns"]
    )
    turned = array.transpose("columns", "time", "rows")[::-1].assign_attrs(unit="g")
    found = named.complete(turned)
    assert found.dims == turned.dims
    assert found.attrs == {"unit": "g"}
    assert np.allclose(found.transpose(*array.dims).sel(columns=columns), filled)
    frames = {k: array[k].to_pandas() for k in range(6)}
    frames[2] = frames[2].iloc[::-1, ::-1]
    by_time = named.complete(frames)
    assert list(by_time) == list(frames)
    for k, frame in frames.items():
        assert by_time[k].index.equals(frame.index)
        assert by_time[k].columns.equals(frame.columns)
        assert np.allclose(by_time[k].loc[rows, columns], filled[k])
    as_list = named.complete(list(frames.values()))
    assert all(isinstance(one, pd.DataFrame) for one in as_list)
    lines = array.to_dataframe("n").reset_index()
    of_table = named.complete(tp.Table(lines, rows="rows", columns="columns", time="time", values="n"))
    assert of_table.dims == ("time", "rows", "columns")
    assert list(of_table.columns.values) == columns
    assert np.allclose(of_table, filled)
    single = model.complete(list(HOLED.astype(np.float32)))
    assert isinstance(single, list)
    assert single[0].dtype == np.float32
    masked = model.complete(np.where(HOLES, -5.0, WHOLE), mask=~HOLES)
    assert np.allclose(masked, filled)
    assert np.allclose(model.complete(np.ma.array(np.nan_to_num(HOLED), mask=HOLES)), filled)
    sparse = [scipy.sparse.csr_array(x) for x in WHOLE]
    assert model.complete(sparse) is sparse
    assert np.array_equal(model.complete(WHOLE), WHOLE)


@pytest.mark.parametrize(
    "preparation",
    [
        {"transform": "sqrt"},
        {"transform": "log1p", "center": "columns", "scale": "columns"},
        {"center": "rows", "scale": "rows"},
        {"transform": "share"},
        {"transform": ("share", "sqrt")},
        {"transform": "clr"},
        {"transform": "clr", "pseudocount": 0.5},
    ],
    ids=str,
)
def test_units_are_those_of_the_data(preparation):
    rng = np.random.default_rng(3)
    A, B = rng.random((24, 2)) * 3, rng.random((20, 2)) + 0.05 * np.cumsum(rng.random((6, 20, 2)), axis=0)
    exact = 5 * np.einsum("ir,kjr->kij", A, B) + 1.0
    holed = np.where(HOLES, np.nan, exact)
    model = tp.TParafac2(3, **QUICK).fit(tp.Preparation(**preparation).apply(holed))
    found = model.complete(holed)
    assert np.array_equal(found[~HOLES], exact[~HOLES])
    typical = np.abs(exact - np.median(exact))[HOLES].mean()
    assert np.abs(found - exact)[HOLES].mean() < 0.6 * typical


def test_totals_are_those_of_what_was_observed():
    model = tp.TParafac2(3, **QUICK).fit(tp.Preparation("share").apply(WHOLE))
    filled = model.complete(HOLED)
    assert np.allclose(model.complete(1000 * HOLED), 1000 * filled)
    gone = HOLED.copy()
    gone[2, 3] = np.nan
    with pytest.warns(
        ToldWarning, match="20 entries are still missing, of rows of which nothing was observed"
    ):
        found = model.complete(gone)
    assert np.isnan(found[2, 3]).all()
    assert np.isnan(found).sum() == 20


def test_columns_that_are_not_there_stay_missing():
    gone = WHOLE.copy()
    gone[:2, :, 14:] = np.nan
    gone[4, 0, 0] = np.nan
    model = tp.TParafac2(3, bridge=False, **QUICK).fit(gone)
    with pytest.warns(
        ToldWarning, match="288 entries are still missing, at times at which the model has no such"
    ):
        found = model.complete(gone)
    assert np.isnan(found).sum() == 288
    assert np.isfinite(found[4, 0, 0])
