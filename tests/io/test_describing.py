import gc
import gzip
import os
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.choosing import compare_models
from tparafac2.io.describing import describe
from tparafac2.io.samples import flights, planes


def test_every_kind_of_file(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3, 4)))
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), names=np.array(["x", "y"]))
    pd.DataFrame({"who": ["a", "b"], "n": [1, 2]}).to_csv(tmp_path / "c.csv", index=False)
    xr.Dataset({"rain": (("day", "place"), np.ones((2, 3)))}).to_netcdf(tmp_path / "d.nc", engine="h5netcdf")
    tp.synthetic.easy(0, n_times=5, n_rows=20, n_columns=20).save(tmp_path / "e.nc")
    assert describe(tmp_path / "a.npy")["contents"] == {"array": "float64, shape (2, 3, 4)"}
    assert describe(tmp_path / "b.npz")["contents"]["X"] == "float64, shape (2, 3)"
    assert list(describe(tmp_path / "c.csv")["contents"]) == ["who", "n"]
    assert describe(tmp_path / "d.nc")["kind"] == "netCDF data"
    assert set(describe(tmp_path / "e.nc")["contents"]) >= {"X", "A", "B", "C"}


def test_a_model_is_summarised(tmp_path):
    model = tp.CP(1, n_starts=1, random_state=0).fit(np.random.default_rng(0).random((3, 4, 5)))
    model.save(tmp_path / "model.npz")
    assert describe(tmp_path / "model.npz")["summary"] == model.summary()
    assert describe(tmp_path)["kind"] == "fitted model"


TABLE = "zip,land,day,n\n007,NA,2020-01-02,1.50\n042,DE,2020-03-01,NA\n042,NA,2020-01-02,2\n"
CONTENTS = {
    "zip": "numbers as values, text as labels, 2 different, for example '007', '042'",
    "land": "text, 2 different, for example 'NA', 'DE'",
    "day": "dates from 2020-01-02 to 2020-03-01, 2 different, for example '2020-01-02', '2020-03-01'",
    "n": "numbers as values, text as labels, 3 different, for example '1.50', 'NA', '2', 1 missing",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "T.CSV", "t.txt.gz"])
@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_tables_are_described_as_a_fit_reads_them(tmp_path, encoding, name, separator):
    text = TABLE.replace(",", separator).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    found = describe(tmp_path / name)
    assert found["contents"] == CONTENTS
    assert found["kind"] == f"long table of 3 lines, columns separated by '{separator}'"


def test_names_that_are_empty_or_repeated(tmp_path):
    (tmp_path / "t.csv").write_text(",a,a,b,\n1,2,3,\n4,5,6,\n")
    assert describe(tmp_path / "t.csv")["contents"] == {
        "(column 1)": "numbers from 1 to 4, 2 different",
        "a (column 2)": "numbers from 2 to 5, 2 different",
        "a (column 3)": "numbers from 3 to 6, 2 different",
        "b": "empty",
    }


def test_parquet_keeps_its_types_and_its_index(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"zip": ["007", "042"], "day": pd.to_datetime(["2020-01-02", "2021-01-02"]), "n": [1.5, np.nan]}
    )
    frame.assign(nested=[[1], [2]]).set_index("zip").to_parquet(tmp_path / "t.parquet")
    found = describe(tmp_path / "t.parquet")
    assert found["kind"] == "long table of 2 rows (Parquet)"
    assert found["contents"] == {
        "zip": "text, 2 different, for example '007', '042'",
        "day": "dates from 2020-01-02 to 2021-01-02, 2 different",
        "n": "numbers from 1.5 to 1.5, 1 different, 1 missing",
        "nested": "neither text nor numbers: it cannot be used",
    }


@pytest.mark.parametrize(("engine", "form"), [("h5netcdf", "NETCDF4"), ("scipy", "NETCDF3_64BIT")])
def test_netcdf_of_every_format(tmp_path, engine, form):
    rain = xr.Dataset({"rain": (("day", "place"), np.ones((2, 3)))}, {"day": [1.0, 2.0]})
    rain.to_netcdf(tmp_path / "r.nc", engine=engine, format=form)
    assert describe(tmp_path / "r.nc")["contents"] == {
        "rain": "float64, 2 day x 3 place",
        "day": "float64, 2 day",
    }


def test_python_objects_are_not_opened(tmp_path):
    np.savez(tmp_path / "o.npz", X=np.ones(2), names=np.array(["a", 1], dtype=object))
    np.save(tmp_path / "o.npy", np.array(["a", 1], dtype=object))
    assert describe(tmp_path / "o.npz")["contents"]["names"] == "Python objects, which are not opened"
    assert describe(tmp_path / "o.npy")["contents"] == {"array": "Python objects, which are not opened"}


@pytest.mark.parametrize("name", ["m.npz", "d.nc", "a.npz", "a.npy", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_truncated_files_end_in_a_sentence_and_are_closed(tmp_path, name, share):
    path = tmp_path / name
    _write_something(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(int(share * len(whole)), 20)])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(ValueError, match=r"damaged, incomplete or of another kind") as caught:
            describe(path)
        del caught  # its traceback would hold what was open
    assert [one for one in said if one.category is ResourceWarning] == []


def test_models_with_flipped_bytes_end_in_a_sentence_and_nothing_else(tmp_path, monkeypatch):
    printed = []
    monkeypatch.setattr("sys.unraisablehook", printed.append)
    path = tmp_path / "m.npz"
    _write_something(path)
    whole = path.read_bytes()
    for seed in range(20):
        content = bytearray(whole)
        for place in np.random.default_rng(seed).integers(len(content), size=20):
            content[place] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ValueError, match="damaged, incomplete"):
            describe(path)
    gc.collect()
    assert not printed


def _write_something(path):
    rng = np.random.default_rng(0)
    X = rng.random((3, 20, 20))
    if path.name == "m.npz":
        tp.CP(1, n_starts=1, random_state=0).fit(X).save(path)
    elif path.suffix == ".nc":
        xr.Dataset({"x": (("a", "b", "c"), X)}).to_netcdf(path, engine="h5netcdf")
    elif path.suffix == ".npz":
        np.savez(path, X=X)
    elif path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        pd.DataFrame({"x": X.ravel()}).to_parquet(path)
    else:
        lines = "".join(f"{k},{value}\n" for k, value in enumerate(X.ravel()))
        path.write_bytes(gzip.compress(("a,b\n" + lines).encode()))


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="check the path"):
        describe(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match=r"without a model\.npz"):
        describe(tmp_path)
    (tmp_path / "a.docx").write_text("")
    with pytest.raises(ValueError, match=r"does not end in \.csv"):
        describe(tmp_path / "a.docx")
    (tmp_path / "a.npz").write_text("no zip")
    with pytest.raises(ValueError, match="not what its ending says"):
        describe(tmp_path / "a.npz")
    os.mkfifo(tmp_path / "p.csv")
    with pytest.raises(OSError, match="a pipe or a device"):
        describe(tmp_path / "p.csv")


def test_lines_that_a_fit_refuses_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n\n3\n")
    with pytest.raises(ValueError, match=r"'t\.csv', line 4: there is less on it"):
        describe(tmp_path / "t.csv")


def test_models_side_by_side():
    X = tp.synthetic.easy(0, n_times=5, n_rows=20, n_columns=20).X
    models = {f"rank {r}": tp.TParafac2(r, n_starts=2, random_state=0) for r in (1, 2, 3)}
    table = compare_models(models, X)
    assert table["explained_variance"].is_monotonic_increasing
    assert table["explained_variance"].tolist() == [model.explained_variance_ for model in models.values()]
    assert (table["starts"] == 2).all()


def test_the_sample_is_what_its_provenance_says():
    table = flights()
    assert table.shape == (52, 35, 105)
    total = sum(float(piece.sum()) for piece in table.slices())
    assert 330_000 < total < 337_000  # 336,776 flights in the year, less one day
    assert str(table.labels.time[0])[:10] == "2013-01-01"


def test_planes_are_those_that_left_often():
    table = planes()
    often = sum(np.asarray(piece.sum(axis=1)).ravel() for piece in table.slices())
    assert table.shape == (12, 484, 91)
    assert often.min() == 200
    assert often.sum() == 129_609
    assert sum(str(label).startswith("JetBlue E190 ") for label in table.labels.rows) > 50
