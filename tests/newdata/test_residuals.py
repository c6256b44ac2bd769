"""The data of a fit, given again: found by their labels, prepared, and refused if they are others."""

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.newdata import data_of_fit

X = np.random.default_rng(0).random((4, 6, 5)) + 1.0


def labelled(values=X):
    labels = {"time": [2001, 2002, 2004, 2007], "rows": list("abcdef"), "columns": list("vwxyz")}
    return xr.DataArray(values, coords=labels, dims=["time", "rows", "columns"])


def fitted(data, **options):
    return tp.CP(1, n_starts=1, random_state=0).fit(data, **options).result_


def test_labels_bring_data_into_the_order_of_the_fit():
    given = labelled()
    other = given.isel(time=[3, 1, 0, 2], rows=slice(None, None, -1), columns=[2, 0, 1, 4, 3])
    np.testing.assert_allclose(data_of_fit(fitted(given), other), X)


def test_data_are_prepared_as_they_were_or_taken_as_prepared():
    prepared = tp.Preparation("log1p", center="columns").apply(labelled())
    result = fitted(prepared)
    np.testing.assert_allclose(data_of_fit(result, labelled()), prepared.data)
    np.testing.assert_allclose(data_of_fit(result, prepared), prepared.data)


def test_missing_entries_stay_missing():
    holes = X.copy()
    holes[2, 3, 1] = np.nan
    np.testing.assert_array_equal(data_of_fit(fitted(holes), holes), holes)


def test_columns_that_the_model_does_not_have_are_refused_or_left_out():
    result = fitted(labelled().isel(columns=slice(3)))
    with pytest.raises(ValueError, match=r"columns that the model does not have \(.*y.*\): leave these out"):
        data_of_fit(result, labelled())
    np.testing.assert_allclose(data_of_fit(result, labelled(), drop_unknown=True), X[:, :, :3])


@pytest.mark.parametrize("changed", [X + 0.1 * X**2, X[:3], X[:, :5]])
def test_other_data_are_refused(changed):
    with pytest.raises(ValueError):
        data_of_fit(fitted(X), changed)


def test_data_in_blocks_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="is read in blocks of rows, and is needed in memory here"):
        data_of_fit(fitted(X), tp.Stored(np.load(tmp_path / "x.npy", mmap_mode="r")))
