"""Arrays that are written so that all of a row lies together."""

import shutil

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.io import by_rows, store_by_rows


def labelled(shape=(3, 50, 4), dims=("year", "who", "word")):
    X = np.random.default_rng(0).random(shape)
    return xr.DataArray(
        X, dims=dims, coords={"year": [2000, 2001, 2003], "who": [f"w{i}" for i in range(50)]}
    )


def test_labels_come_along(tmp_path):
    X = labelled()
    file = store_by_rows(X, tmp_path / "x.nc", dims={"rows": "who", "columns": "word", "time": "year"})
    read = tp.io.read(file)
    np.testing.assert_array_equal(read.values, X.values)
    assert read["time"].values.tolist() == [2000, 2001, 2003]
    assert read["rows"].values.tolist()[:2] == ["w0", "w1"]


def test_all_of_a_row_lies_together(tmp_path):
    file = store_by_rows(np.ones((3, 50, 4), dtype="f4"), tmp_path / "x.nc")
    with h5py.File(file) as held:
        assert (held["X"].shape, held["X"].chunks, held["X"].dtype) == ((50, 3, 4), None, np.float32)


@settings(max_examples=15)
@given(times=st.integers(1, 7), size=st.integers(1, 60))
def test_in_pieces_of_any_size(tmp_path_factory, times, size):
    X = np.random.default_rng(times).random((7, size, 5))
    file = tmp_path_factory.mktemp("pieces") / "x.nc"
    xr.Dataset().to_netcdf(file, engine="h5netcdf")
    by_rows._write(tp.Stored(X), file, times)
    with h5py.File(file) as held:
        np.testing.assert_array_equal(held["X"][...].transpose(1, 0, 2), X)


def test_what_chunks_forbid_is_fitted_afterwards(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = tp.synthetic.easy(seed=0, n_times=5, n_rows=4000, n_columns=20, n_concepts=2).X
    array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(1, 4000, 20), dtype="f8")
    array[...] = X
    model = tp.TParafac2(2, n_starts=1, random_state=0)
    with pytest.raises(ValueError, match="store_by_rows"):
        model.fit(tp.Stored(array, memory="4MB"))
    file = store_by_rows(array, tmp_path / "x.nc", memory="4MB")
    stored = tp.io.read(file, memory="4MB")
    in_blocks = model.fit(stored).objective_
    assert in_blocks == pytest.approx(model.fit(X).objective_, rel=1e-6)


def test_another_ending(tmp_path):
    with pytest.raises(ValueError, match=r"'x\.zarr' does not end in \.nc"):
        store_by_rows(np.ones((2, 3, 4)), tmp_path / "x.zarr")


def test_nothing_is_written_over(tmp_path):
    file = tmp_path / "x.nc"
    file.write_text("mine")
    with pytest.raises(OSError, match="exists already: overwrite=True replaces it"):
        store_by_rows(np.ones((2, 3, 4)), file)
    assert file.read_text() == "mine"
    store_by_rows(np.ones((2, 3, 4)), file, overwrite=True)
    assert tp.io.read(file).shape == (2, 3, 4)


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match=r"would take .* and the disk has .* left"):
        store_by_rows(np.ones((2, 3, 400)), tmp_path / "x.nc")
    assert not list(tmp_path.iterdir())
