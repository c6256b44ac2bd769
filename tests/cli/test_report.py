"""The page of a saved model, or of the folder of a fit."""

import json
from functools import partial

import commands
import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.io import write_results

pytestmark = pytest.mark.slow


run = partial(commands.run, "report")


@pytest.fixture
def folder(tmp_path):
    data = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18)
    model = tp.CP(2, n_starts=1, random_state=0).fit(data.X)
    about = {"title": "My own title", "data": "where/it/came/from.csv"}
    return write_results(model, tmp_path / "out", about=about, figures=())


def test_the_page_of_a_folder_is_replaced_if_asked_for(folder):
    page = folder / "report.html"
    page.write_text("mine")
    refused = run(folder)
    assert refused.exit_code == 4
    assert "replace it with --overwrite" in refused.stderr
    assert page.read_text() == "mine"
    written = run(folder, "--overwrite")
    assert (written.exit_code, written.stdout.strip()) == (0, str(page))
    assert "My own title" in page.read_text()  # what the fit noted is kept
    assert "where/it/came/from.csv" in page.read_text()


def test_the_page_of_a_folder_goes_where_it_is_wanted(folder, tmp_path):
    ended = run(folder, "--out", tmp_path / "page.html", "--title", "Another")
    assert ended.exit_code == 0, ended.stderr
    assert "Another" in (tmp_path / "page.html").read_text()
    assert "My own title" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("log", [None, "[", json.dumps({"about": 3}), json.dumps([])])
def test_a_log_that_is_gone_is_not_missed(folder, log):
    (folder / "log.json").unlink() if log is None else (folder / "log.json").write_text(log)
    assert run(folder, "--overwrite").exit_code == 0


def test_a_folder_without_a_model_is_refused(tmp_path):
    ended = run(tmp_path)
    assert ended.exit_code == 4
    assert "is a folder without a model.nc" in ended.stderr


def test_a_missing_model_is_said_before_the_page_in_the_way(tmp_path):
    (tmp_path / "model.html").write_text("mine")
    ended = run(tmp_path / "model.nc")
    assert ended.exit_code == 4
    assert "there is no file" in ended.stderr


def test_what_is_no_model_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    ended = run(tmp_path / "x.npy")
    assert ended.exit_code == 3
    assert not (tmp_path / "x.html").exists()
