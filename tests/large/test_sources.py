import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.large.sources import Indexed, mapped_file

ENTRIES = np.arange(6 * 7 * 8, dtype="f4").reshape(6, 7, 8)


@given(
    order=st.permutations([0, 1, 2]),
    cut=st.tuples(*[st.tuples(st.integers(0, 2), st.integers(3, 6))] * 3),
    offset=st.integers(0, 5000),
    rows=st.tuples(st.integers(0, 2), st.integers(3, 9)),
)
@settings(max_examples=60, deadline=None)
def test_rows_of_any_view_of_a_mapped_file(tmp_path_factory, order, cut, offset, rows):
    path = tmp_path_factory.mktemp("mapped") / "x.bin"
    whole = np.memmap(path, dtype="f4", mode="w+", offset=offset, shape=ENTRIES.shape)
    whole[...] = ENTRIES
    whole.flush()
    view = whole.transpose(order)[tuple(slice(*one) for one in cut)]
    source = mapped_file(view)
    if source is None:  # with gaps inside a row: read through the map
        source = Indexed(view)
    asked = slice(rows[0], min(rows[1], view.shape[1]))
    np.testing.assert_array_equal(source.read(asked), np.asarray(view)[:, asked])
    np.testing.assert_array_equal(source.read(asked, slice(1, 2)), np.asarray(view)[1:2, asked])
    assert source.shape == view.shape


def test_what_lies_as_in_memory_is_read_and_not_mapped(tmp_path):
    whole = np.memmap(tmp_path / "x.bin", dtype="f4", mode="w+", shape=ENTRIES.shape)
    for view in (whole, whole[2:], whole[:, 1:5], whole.transpose(1, 0, 2)):
        assert mapped_file(view) is not None
    gaps = (whole[:, :, 1:5], whole.transpose(1, 0, 2)[3:])
    for view in (*gaps, whole[::-1], np.ones((2, 3, 4)), whole[0]):
        assert mapped_file(view) is None


def test_rows_that_lie_closest_together_are_one_chunk(tmp_path):
    whole = np.memmap(tmp_path / "x.bin", dtype="f4", mode="w+", shape=ENTRIES.shape)
    assert mapped_file(whole).chunks == (6, 1, 8)
    assert mapped_file(whole.transpose(0, 2, 1)).chunks == (6, 8, 7)


def test_a_file_that_became_shorter(tmp_path):
    whole = np.memmap(tmp_path / "x.bin", dtype="f4", mode="w+", shape=ENTRIES.shape)
    source = mapped_file(whole)
    with open(tmp_path / "x.bin", "r+b") as file:
        file.truncate(40)
    with pytest.raises(OSError, match="ends before its last entry"):
        source.read(slice(0, 7))


@pytest.mark.parametrize("kind", ["zarr", "h5py", "netcdf", "dask"])
def test_rows_of_what_is_indexed(tmp_path, kind):
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(tmp_path / "x.zarr", shape=ENTRIES.shape, chunks=(2, 3, 8), dtype="f4")
        array[...] = ENTRIES
        chunks = (2, 3, 8)
    elif kind == "h5py":
        array = h5py.File(tmp_path / "x.h5", "w").create_dataset("x", data=ENTRIES, chunks=(6, 2, 4))
        chunks = (6, 2, 4)
    elif kind == "netcdf":
        held = xr.DataArray(ENTRIES, dims=("a", "b", "c"), name="x")
        held.to_netcdf(tmp_path / "x.nc", engine="h5netcdf", encoding={"x": {"chunksizes": (3, 7, 8)}})
        array = xr.open_dataset(tmp_path / "x.nc", engine="h5netcdf")["x"].variable
        chunks = (3, 7, 8)
    else:
        array = pytest.importorskip("dask.array").from_array(ENTRIES, chunks=(6, 4, 8))
        chunks = (6, 4, 8)
    source = Indexed(array)
    assert source.chunks == chunks
    np.testing.assert_array_equal(source.read(slice(2, 5)), ENTRIES[:, 2:5])
    turned = Indexed(array, (2, 0, 1))
    assert turned.shape == (8, 6, 7)
    assert turned.chunks == (chunks[2], chunks[0], chunks[1])
    np.testing.assert_array_equal(turned.read(slice(2, 5)), ENTRIES.transpose(2, 0, 1)[:, 2:5])
