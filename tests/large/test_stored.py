import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.data.memory import physical_memory
from tparafac2.large import read_memory
from tparafac2.large import stored as room
from tparafac2.large.stored import is_large, is_stored


@given(st.floats(1, 9e5), st.sampled_from(["MB", "mb", " GB", "MiB", "GiB", "TB"]))
def test_sizes(number, unit):
    factor = {"mb": 1e6, "gb": 1e9, "tb": 1e12, "mib": 2**20, "gib": 2**30}[unit.strip().lower()]
    assert read_memory(f"{number:.3f}{unit}") == int(round(number, 3) * factor)


@pytest.mark.parametrize(
    "asked", ["", "8", "GB", "-1GB", "8XB", "1e3GB", 0, True, 1000, "nanGB", "8 G B", [8]]
)
def test_sizes_that_are_none(asked):
    with pytest.raises(ValueError, match="memory must be a size of at least 1 MB, such as '8GB'"):
        read_memory(asked)


def test_half_of_the_machine_unless_said():
    assert read_memory(None) == physical_memory() // 2


@given(rows=st.integers(1, 5000), memory=st.integers(1, 64))
def test_blocks_are_all_rows_once(rows, memory):
    stored = tp.Stored(np.broadcast_to(np.float32(1), (5, rows, 20)), memory=f"{memory}MB")
    edges = stored.edges()
    assert [edge.start for edge in edges] == [0, *(edge.stop for edge in edges[:-1])]
    assert edges[-1].stop == rows
    assert max(edge.stop - edge.start for edge in edges) * 5 * 20 * 8 <= memory * 1e6 / 16


def test_blocks_are_whole_chunks(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "x.zarr", shape=(5, 1000, 20), chunks=(5, 70, 20), dtype="f4")
    edges = tp.Stored(array, memory="2MB").edges()
    assert {edge.start % 70 for edge in edges} == {0}
    assert len(edges) > 5


def test_chunks_of_too_many_rows(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "x.zarr", shape=(5, 9000, 20), chunks=(1, 9000, 20), dtype="f4")
    sentence = (
        r"chunks of \(1, 9000, 20\) .* read 58 times in every pass.* few rows in a chunk, for example "
        r"\(5, 156, 20\), as tparafac2.io.store_by_rows does, or give more memory"
    )
    with pytest.raises(ValueError, match=sentence):
        tp.Stored(array, memory="2MB").edges()
    assert len(tp.Stored(array, memory="1GB").edges()) == 1


def test_a_row_larger_than_memory():
    stored = tp.Stored(np.broadcast_to(1.0, (1000, 10, 1000)), memory="8MB")
    with pytest.raises(
        MemoryError, match=r"one row of X .* takes 8\.0 MB, and memory is 8\.0 MB: keep fewer"
    ):
        stored.edges()


def test_what_is_stored(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = np.ones((3, 4, 5))
    array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, dtype="f8")
    xr.DataArray(X, dims=("time", "rows", "columns"), name="x").to_netcdf(
        tmp_path / "x.nc", engine="h5netcdf"
    )
    lazy = xr.open_dataset(tmp_path / "x.nc", engine="h5netcdf")["x"]
    mapped = np.memmap(tmp_path / "x.bin", dtype="f8", mode="w+", shape=X.shape)
    wrapped = xr.DataArray(mapped, dims=("time", "rows", "columns"))
    assert all(map(is_stored, (array, lazy, mapped, mapped[1:], wrapped)))
    assert not any(map(is_stored, (X, lazy.load(), xr.DataArray(X), [X], None, "x", np.ma.array(X))))


def test_what_is_small_is_read_at_once(tmp_path, monkeypatch):
    mapped = np.memmap(tmp_path / "x.bin", dtype="f4", mode="w+", shape=(3, 4, 5))
    assert not is_large(mapped)
    monkeypatch.setattr(room, "physical_memory", lambda: 1000)
    assert is_large(mapped)
    assert not is_large(np.ones((3, 4, 5)))


def test_what_is_none(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    with pytest.raises(TypeError, match=r"several arrays; choose one of them"):
        tp.Stored(group)
    with pytest.raises(TypeError, match="choose one of its arrays"):
        tp.Stored(xr.Dataset())
    with pytest.raises(TypeError, match=r"X is a list; give a numpy\.memmap"):
        tp.Stored([1, 2])
    with pytest.raises(ValueError, match="three are needed"):
        tp.Stored(np.ones((3, 4)))
    with pytest.raises(TypeError, match="complex"):
        tp.Stored(np.ones((3, 4, 5), dtype=complex))


@pytest.mark.parametrize("n_rows", [1, 37, 500])
def test_a_sample_of_rows(tmp_path, n_rows):
    X = np.memmap(tmp_path / "x.bin", dtype="f4", mode="w+", shape=(3, 400, 50))
    X[...] = np.arange(X.size).reshape(X.shape)
    found = tp.Stored(X, memory="1MB").sample(n_rows)
    chosen = found["rows"].values
    assert len(chosen) == min(n_rows, 400)
    assert (np.diff(chosen) > 0).all()
    np.testing.assert_array_equal(found.values, X[:, chosen])


def test_a_sample_keeps_labels():
    X = xr.DataArray(np.ones((2, 6, 3)), dims=("year", "who", "word"), coords={"who": list("abcdef")})
    found = tp.Stored(X, {"rows": "who", "columns": "word", "time": "year"}).sample(2, random_state=3)
    assert found.sizes == {"year": 2, "who": 2, "word": 3}
    assert set(found["who"].values) < set("abcdef")


@pytest.mark.parametrize("n_rows", [0, -3, 1.5, True, "5"])
def test_samples_of_no_size(n_rows):
    with pytest.raises(ValueError, match="n_rows must be a whole number of at least 1"):
        tp.Stored(np.ones((2, 3, 4))).sample(n_rows)


def test_a_sample_larger_than_memory():
    with pytest.raises(MemoryError, match="A sample of 900 rows needs"):
        tp.Stored(np.broadcast_to(1.0, (5, 1000, 100)), memory="2MB").sample(900)
