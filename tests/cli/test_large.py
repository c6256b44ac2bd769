"""Commands on arrays that are read in blocks of rows."""

import json

import numpy as np
import pytest
from commands import run

import tparafac2 as tp

zarr = pytest.importorskip("zarr")
ASKED = ["--axes", "time,rows,columns", "--rank", "2", "--smoothness", "1e-3", "--starts", "2", "--seed", "0"]
BRIEFLY = ["--figures", "none", "--json"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    X = tp.synthetic.easy(seed=0, n_times=5, n_rows=1500, n_columns=14, n_concepts=2).X
    path = tmp_path_factory.mktemp("data") / "big.zarr"
    array = zarr.create_array(path, shape=X.shape, chunks=(5, 100, 14), dtype="f8")
    array[...] = X
    return path


@pytest.mark.slow
def test_a_fit_in_blocks_is_that_in_memory(store, tmp_path):
    told = []
    for name, more in (("whole", []), ("blocks", ["--memory", "2MB"])):
        ended = run("fit", store, *ASKED, *BRIEFLY, *more, "--out", tmp_path / name)
        assert ended.exit_code == 0, ended.stderr
        told.append(json.loads(ended.stdout))
    assert told[1]["objective"] == pytest.approx(told[0]["objective"], rel=1e-7)
    models = [tp.load(tmp_path / name / "model.npz") for name in ("whole", "blocks")]
    assert (models[0].result_.method.passes, models[1].result_.method.passes > 4) == (None, True)
    assert (tmp_path / "blocks" / "report.html").exists()


@pytest.mark.slow
def test_preparations_are_done_while_reading(store, tmp_path):
    asked = ["--memory", "2MB", "--center", "columns", "--transform", "sqrt"]
    positive = zarr.open_array(store, mode="r")[...] ** 2
    array = zarr.create_array(tmp_path / "p.zarr", shape=positive.shape, chunks=(5, 100, 14), dtype="f8")
    array[...] = positive
    ended = run("fit", tmp_path / "p.zarr", *ASKED, *BRIEFLY, *asked, "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.stderr
    whole = tp.Preparation("sqrt", center="columns").apply(positive)
    model = tp.TParafac2(2, smoothness=1e-3, n_starts=2, random_state=0).fit(whole)
    assert json.loads(ended.stdout)["objective"] == pytest.approx(model.objective_, rel=1e-7)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--memory", "much"], "--memory must be a size of at least 1 MB, such as '8GB'"),
    ],
)
def test_what_is_refused(store, tmp_path, more, sentence):
    ended = run("fit", store, *ASKED, *more, "--out", tmp_path / "out")
    assert ended.exit_code not in (0, 1)
    assert sentence in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


def test_what_is_there(store):
    ended = run("info", store)
    assert (ended.exit_code, "Zarr store" in ended.stdout) == (0, True)


def test_a_store_of_which_a_chunk_is_broken(store, tmp_path):
    import shutil

    broken = tmp_path / "broken.zarr"
    shutil.copytree(store, broken)
    chunk = max((file for file in (broken / "c").rglob("*") if file.is_file()), key=str)
    chunk.write_bytes(chunk.read_bytes()[:20])
    ended = run("fit", broken, *ASKED, "--memory", "2MB", "--out", tmp_path / "out")
    assert ended.exit_code not in (0, 1)
    assert "of 'broken.zarr' could not be read in pass 1" in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_spoilt_entry_is_named_with_its_block(store, tmp_path):
    spoilt = zarr.create_array(tmp_path / "s.zarr", shape=(5, 1500, 14), chunks=(5, 100, 14), dtype="f8")
    spoilt[...] = zarr.open_array(store, mode="r")[...]
    spoilt[2, 1234, 3] = np.inf
    ended = run("fit", tmp_path / "s.zarr", *ASKED, "--memory", "2MB", "--out", tmp_path / "out")
    assert ended.exit_code not in (0, 1)
    assert "row 1234, column 3" in " ".join(ended.stderr.split())


@pytest.mark.slow
def test_intervals_are_not_for_blocks(store, tmp_path):
    ended = run(
        "fit", store, *ASKED, *BRIEFLY, "--memory", "2MB", "--intervals", "20", "--out", tmp_path / "o"
    )
    assert ended.exit_code == 0
    assert "Warning: no intervals: intervals come of many fits to data in memory" in ended.stderr
    assert (tmp_path / "o" / "model.npz").exists()
