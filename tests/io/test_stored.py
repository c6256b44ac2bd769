"""Arrays in files and stores that are larger than the memory that may be used."""

import sys

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.io import Selection, describe, read

zarr = pytest.importorskip("zarr")
SHAPE = (6, 500, 40)
LITTLE = {"memory": "1MB"}  # of which the array takes more than a quarter


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).random(SHAPE).astype("f4")


@pytest.fixture(scope="module")
def named(X):
    coords = {"year": range(2000, 2006), "author": [f"a{i:03}" for i in range(500)]}
    return xr.DataArray(X, dims=("year", "author", "word"), coords=coords, name="x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, X, named):
    folder = tmp_path_factory.mktemp("stores")
    np.save(folder / "x.npy", X)
    named.to_netcdf(folder / "x.nc", engine="h5netcdf")
    plain = zarr.create_array(folder / "plain.zarr", shape=SHAPE, chunks=(6, 50, 40), dtype="f4")
    plain[...] = X
    group = zarr.open_group(folder / "named.zarr", mode="w")
    for name, values, dims in (
        ("x", X, ["year", "author", "word"]),
        ("year", np.arange(2000, 2006), ["year"]),
        ("grid", np.array(1), []),
    ):
        group.create_array(name, data=values, dimension_names=dims, chunks=(6, 50, 40)[: values.ndim])
    nameless = zarr.open_group(folder / "nameless.zarr", mode="w")
    for name in ("x", "y"):
        nameless.create_array(name, data=X, chunks=(6, 50, 40))
    return folder


ASKED = {
    "x.npy": {"axes": "time,rows,columns"},
    "x.nc": {},
    "plain.zarr": {"axes": "time,rows,columns"},
    "named.zarr": {},
    "nameless.zarr": {"axes": "time,rows,columns", "values": "y"},
}


@pytest.mark.parametrize("name", ASKED)
def test_the_same_array_at_once_and_in_blocks(folder, name, X):
    whole = read(folder / name, **ASKED[name])
    assert isinstance(whole, xr.DataArray)
    np.testing.assert_array_equal(whole.values, X)
    stored = read(folder / name, **ASKED[name], **LITTLE)
    assert isinstance(stored, tp.Stored)
    assert (stored.shape, stored.budget, len(stored.edges()) > 1) == (SHAPE, 1_000_000, True)
    np.testing.assert_array_equal(stored.source.read(slice(90, 130)), X[:, 90:130])


@pytest.mark.parametrize("name", ["x.nc", "named.zarr"])
def test_labels_are_kept(folder, name):
    stored = read(folder / name, **LITTLE)
    assert stored.labels.time.tolist() == list(range(2000, 2006))
    assert stored.labels.names == {"rows": "author", "columns": "word", "time": "year"}


def test_dimensions_that_are_said(folder):
    asked = {"rows": "word", "columns": "author", "time": "year"}
    assert read(folder / "x.nc", **asked, **LITTLE).shape == (6, 40, 500)


def test_axes_in_another_order(folder, X):
    stored = read(folder / "plain.zarr", axes="columns,time,rows", **LITTLE)
    np.testing.assert_array_equal(stored.source.read(slice(0, 3)), X.transpose(1, 2, 0)[:, :3])


@pytest.mark.parametrize("name", ["x.nc", "named.zarr"])
def test_a_selection_is_not_loaded(folder, name, X):
    stored = read(folder / name, select=Selection(since="2002"), **LITTLE)
    assert stored.shape == (4, 500, 40)
    np.testing.assert_array_equal(stored.source.read(slice(7, 9)), X[2:, 7:9])
    assert tp.Preparation().apply(stored).selection == "kept 4 of 6 times (since 2002)"


def test_nothing_to_select_by(folder):
    select = Selection(where="author=a001")
    with pytest.raises(ValueError, match=r"'plain\.zarr' has no labels to select by"):
        read(folder / "plain.zarr", select=select, **ASKED["plain.zarr"], **LITTLE)


def test_columns_cannot_be_counted_without_reading_all(folder):
    with pytest.raises(ValueError, match=r"top_columns.* is not read at once"):
        read(folder / "x.nc", top_columns=5, **LITTLE)


def test_names_for_what_has_none(folder):
    with pytest.raises(ValueError, match=r"have no names: say by axes= what they are.* leave out rows="):
        read(folder / "plain.zarr", rows="author")


def test_an_array_that_is_not_there(folder):
    with pytest.raises(ValueError, match=r"has no array 'z'\. It has 'x' \(6, 500, 40\)"):
        read(folder / "nameless.zarr", values="z", axes="time,rows,columns")


def test_several_arrays(folder):
    with pytest.raises(ValueError, match="say which is meant"):
        read(folder / "nameless.zarr", axes="time,rows,columns")


def test_a_folder_that_is_no_store(tmp_path):
    (tmp_path / "x.zarr").mkdir()
    with pytest.raises(ValueError, match=r"no Zarr store, or not all of it is there"):
        read(tmp_path / "x.zarr")


def test_a_store_whose_description_is_broken(tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match=r"'x\.zarr'"):
        read(tmp_path / "x.zarr")


def test_zarr_that_is_not_installed(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'tparafac2\[zarr\]', or save the data as \.nc"):
        read(folder / "plain.zarr", axes="time,rows,columns")


def test_long_tables_are_no_arrays(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("a,b,t\n1,2,3\n")
    with pytest.raises(ValueError, match=r"client.*'x\.csv' is a long table.*read and fitted where you are"):
        read(file, rows="a", columns="b", time="t", client=1.0)


def test_what_is_in_a_store(folder):
    found = describe(folder / "named.zarr")
    assert found["kind"] == "Zarr store"
    assert found["contents"]["x"].startswith("float32, 6 year x 500 author x 40 word, in chunks of (")
    assert describe(folder / "plain.zarr")["contents"] == {
        "plain": "float32, shape (6, 500, 40), in chunks of (6, 50, 40)"
    }


def test_what_is_left_of_a_large_store(folder, monkeypatch):
    monkeypatch.setattr("tparafac2.large.stored.physical_memory", lambda: 300_000)
    found = describe(folder / "named.zarr", select=Selection(since="2004"), values="x")
    assert found["selection"] == "kept 2 of 6 times (since 2004)"
    assert found["contents"]["x"] == "float32, 2 year x 500 author x 40 word"
    plain = describe(folder / "plain.zarr", axes="time,rows,columns")
    assert plain["contents"] == {"plain": "float32, shape (6, 500, 40)"}
