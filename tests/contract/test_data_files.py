"""What is not in a file of data is said, and no file is read until the memory is gone."""

import gzip
import shutil

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp


@pytest.fixture(params=[2, 3], ids=["format 2", "format 3"])
def zarr_format(request):
    return request.param


ASKED = {"axes": "time,rows,columns"}


def stored(path, zarr_format, **options):
    zarr = pytest.importorskip("zarr")
    X = np.random.default_rng(0).random((6, 25, 40)) + 1
    array = zarr.create_array(
        path, shape=X.shape, chunks=(6, 10, 40), dtype="f8", zarr_format=zarr_format, **options
    )
    array[...] = X
    return path / array.metadata.encode_chunk_key((0, 2, 0))  # rows 20 to 24


@pytest.mark.parametrize("fill", [np.nan, 0.0, 7.0])
@pytest.mark.parametrize("memory", [{}, {"memory": "1MB"}])
def test_entries_of_chunks_that_are_gone_are_counted(tmp_path, zarr_format, fill, memory, monkeypatch):
    monkeypatch.setattr("tparafac2.io.stored._SMALL", 0.01)  # so that it is read in blocks
    chunk = stored(tmp_path / "x.zarr", zarr_format, fill_value=fill)
    whole = tp.io.read(tmp_path / "x.zarr", **ASKED, **memory)  # without a word
    assert isinstance(whole, tp.Stored) == bool(memory)
    chunk.unlink()
    with pytest.warns(UserWarning, match=r"^1,200 of 6,000 .*'x\.zarr'") as told:
        found = tp.io.read(tmp_path / "x.zarr", **ASKED, **memory)
    assert len(told) == 1
    values = found.source.read(slice(0, 25)) if memory else found.values
    np.testing.assert_array_equal(values[:, 20:], fill)


def test_entries_of_chunks_that_are_gone_are_counted_by_name(tmp_path, zarr_format):
    pytest.importorskip("zarr")
    X = xr.DataArray(np.ones((4, 20, 5)), dims=("year", "author", "word"), name="x")
    X.to_dataset().to_zarr(
        tmp_path / "x.zarr",
        zarr_format=zarr_format,
        encoding={"x": {"chunks": (4, 10, 5)}},
        consolidated=False,
    )
    gone = [
        path for path in (tmp_path / "x.zarr" / "x").rglob("*") if path.is_file() and path.name[0] in "01"
    ]
    gone[0].unlink()
    with pytest.warns(UserWarning, match=r"^200 of 400 .*'x\.zarr'"):
        found = tp.io.read(tmp_path / "x.zarr")
    assert np.isnan(found.values).sum() == 200


def test_chunks_within_larger_ones_are_counted_as_these(tmp_path):
    chunk = stored(tmp_path / "x.zarr", 3, fill_value=0.0)
    shutil.rmtree(tmp_path / "x.zarr")
    import zarr

    array = zarr.create_array(
        tmp_path / "x.zarr", shape=(6, 25, 40), chunks=(3, 5, 40), shards=(6, 10, 40), dtype="f8"
    )
    array[...] = 1.0
    assert chunk.is_file()
    tp.io.read(tmp_path / "x.zarr", **ASKED)
    chunk.unlink()
    with pytest.warns(UserWarning, match=r"^1,200 of 6,000 "):
        tp.io.read(tmp_path / "x.zarr", **ASKED)


TABLE = "author,word,year,count\n" + "".join(
    f"a{i},w{j},{k},1\n" for k in range(3) for i in range(5) for j in range(5)
)
NAMES = {"rows": "author", "columns": "word", "time": "year", "values": "count"}


def write_text(path, text):
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("where", ["header", "first", "last"])
def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch, name, where):
    monkeypatch.setattr("tparafac2.io.textfiles._LONGEST_LINE", 1000)
    lines = TABLE.splitlines(keepends=True)
    assert tp.io.read(write_text(tmp_path / name, TABLE), **NAMES).shape == (3, 5, 5)
    place = {"header": 0, "first": 1, "last": -1}[where]
    lines[place] = "x" * 3000 + lines[place]
    path = write_text(tmp_path / name, "".join(lines))
    for read in (lambda: tp.io.read(path, **NAMES), lambda: tp.io.describe(path)):
        with pytest.raises(ValueError, match=name) as caught:
            read()
        assert "line" in str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("more", ["a1,w1,1,1\n", "\n", "a1,w1,1,1" + " " * 80 + "\n"])
def test_more_lines_than_the_memory_holds_are_refused(tmp_path, name, more):
    path = write_text(tmp_path / name, TABLE + more * 20_000)
    with pytest.raises(MemoryError) as caught:
        tp.io.read(path, **NAMES, duplicates="sum", memory="1MB")
    assert repr(name) in str(caught.value)
    assert caught.value.received > 1_000_000
    assert tp.io.read(path, **NAMES, duplicates="sum", memory="100MB").shape == (3, 5, 5)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_more_lines_than_the_machine_holds_are_refused_wherever_they_are_read(tmp_path, monkeypatch, name):
    path = write_text(tmp_path / name, TABLE + "a1,w1,1,1\n" * 20_000)
    monkeypatch.setattr("tparafac2.data.memory.physical_memory", lambda: 1_000_000)
    for read in (lambda: tp.io.read(path, **NAMES, duplicates="sum"), lambda: tp.io.describe(path)):
        with pytest.raises(MemoryError) as caught:
            read()
        assert repr(name) in str(caught.value)


def test_memory_that_is_gone_all_the_same_is_told(tmp_path, monkeypatch):
    def read_csv(*_, **__):
        raise MemoryError("Unable to allocate 1.4 GiB for an array with shape (47000000, 4)")

    path = write_text(tmp_path / "t.csv", TABLE)
    monkeypatch.setattr("pandas.read_csv", read_csv)
    with pytest.raises(MemoryError, match=r"'t\.csv'"):
        tp.io.read(path, **NAMES)
