import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.io.comparing import compare_models
from tparafac2.io.describing import describe
from tparafac2.io.samples import flights


def test_every_kind_of_file(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3, 4)))
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), names=np.array(["x", "y"]))
    pd.DataFrame({"who": ["a", "b"], "n": [1, 2]}).to_csv(tmp_path / "c.csv", index=False)
    xr.Dataset({"rain": (("day", "place"), np.ones((2, 3)))}).to_netcdf(tmp_path / "d.nc", engine="h5netcdf")
    tp.synthetic.easy(0, shape=(20, 20, 5)).save(tmp_path / "e.nc")
    assert describe(tmp_path / "a.npy")["contents"] == {"array": "float64, shape (2, 3, 4)"}
    assert describe(tmp_path / "b.npz")["contents"]["X"] == "float64, shape (2, 3)"
    assert list(describe(tmp_path / "c.csv")["contents"]) == ["who", "n"]
    assert describe(tmp_path / "d.nc")["kind"] == "netCDF data"
    assert set(describe(tmp_path / "e.nc")["contents"]) >= {"X", "A", "B", "C"}


def test_a_model_is_summarised(tmp_path):
    model = tp.CP(1, n_starts=1, random_state=0).fit(np.random.default_rng(0).random((3, 4, 5)))
    model.save(tmp_path / "model.nc")
    assert describe(tmp_path / "model.nc")["summary"] == model.summary()
    assert describe(tmp_path)["kind"] == "fitted model"


@pytest.mark.parametrize("name", ["a.nc", "a.npz", "a.npy", "a.csv"])
def test_damaged_files_end_in_a_sentence(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x89HDF\x00\xff\xfe" if name != "a.csv" else b"")
    with pytest.raises(ValueError, match="cannot be read"):
        describe(tmp_path / name)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="check the path"):
        describe(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match=r"without a model\.nc"):
        describe(tmp_path)
    (tmp_path / "a.docx").write_text("")
    with pytest.raises(ValueError, match="of no known kind"):
        describe(tmp_path / "a.docx")


def test_models_side_by_side():
    X = tp.synthetic.easy(0, shape=(20, 20, 5)).X
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
