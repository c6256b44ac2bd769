"""Data beside the fit on the pages of the command line: at once, and for a saved model."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.report import entries as room

pytestmark = pytest.mark.slow

NAMES = ["--rows", "who", "--columns", "word", "--time", "year", "--values", "n"]
FAST = [*NAMES, "--starts", "2", "--max-iter", "200", "--rank", "1", "--smoothness", "1e-3"]
FAST += ["--figures", "none"]


def entries(page):
    content = re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1]
    return json.loads(content)["entries"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    k, i, j = (grid.ravel() for grid in np.indices((5, 12, 7)))
    values = 3.0 + np.outer(np.arange(1.0, 61.0), np.arange(1.0, 8.0)).ravel() + rng.random(k.size)
    frame = pd.DataFrame({"year": 2000 + k, "who": [f"p{n}" for n in i], "word": j, "n": values})
    path = tmp_path_factory.mktemp("table") / "words.csv"
    frame.sample(frac=1.0, random_state=0).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(table, tmp_path_factory):
    """A fit to some of the columns, prepared."""
    out = tmp_path_factory.mktemp("fitted") / "out"
    prepared = ["--transform", "log1p", "--center", "columns", "--top-columns", "5"]
    ended = run("fit", table, *FAST, *prepared, "--out", out)
    assert ended.exit_code == 0, ended.stderr
    return out


def test_the_page_of_a_fit_has_its_data(fitted):
    found = entries(fitted / "report.html")
    assert (len(found["rows"]), len(found["columns"])) == (12, 5)
    assert found["misses"]


def test_the_page_of_a_saved_model_has_the_same_data_if_they_are_given(fitted, table, tmp_path):
    page = tmp_path / "page.html"
    refused = run("report", fitted, "--data", table, "--out", page)
    assert refused.exit_code == 3
    assert "has columns that the model does not have" in refused.stderr
    assert not page.exists()
    ended = run("report", fitted, "--data", table, "--values", "n", "--drop-unknown", "--out", page)
    assert ended.exit_code == 0, ended.stderr
    assert entries(page) == entries(fitted / "report.html")


def test_other_data_are_refused_with_a_sentence(fitted, table, tmp_path):
    other = pd.read_csv(table)
    other["n"] += np.arange(len(other)) % 7
    other.to_csv(tmp_path / "other.csv", index=False)
    page = ["--drop-unknown", "--out", tmp_path / "page.html"]
    refused = run("report", fitted, "--data", tmp_path / "other.csv", "--values", "n", *page)
    assert refused.exit_code == 3
    assert "not what was fitted: the model explains" in refused.stderr
    refused = run("report", fitted, "--data", table, "--values", "n", "--to", "2003", *page)
    assert refused.exit_code == 3
    assert "which has 5 times; got 4" in refused.stderr
    refused = run("report", fitted, "--data", tmp_path / "none.csv", *page)
    assert refused.exit_code == 4
    assert not (tmp_path / "page.html").exists()


def test_data_are_left_out_if_there_are_too_many_or_nobody_wants_them(table, tmp_path, monkeypatch):
    assert run("fit", table, *FAST, "--without-data", "--out", tmp_path / "a").exit_code == 0
    assert entries(tmp_path / "a" / "report.html") is None
    monkeypatch.setattr(room, "MOST_READ", 12 * 7 * 5 - 1)
    assert run("fit", table, *FAST, "--out", tmp_path / "b").exit_code == 0
    assert entries(tmp_path / "b" / "report.html") is None


def test_arrays_are_read_as_they_were_for_the_fit(tmp_path):
    X = np.random.default_rng(1).random((8, 6, 4))  # rows, columns, time
    X[2, 3, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    fit = ["--axes", "rows,columns,time", "--rank", "1", "--smoothness", "1e-3", "--figures", "none"]
    ended = run("fit", tmp_path / "x.npy", *fit, "--starts", "1", "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.stderr
    given = ["--data", tmp_path / "x.npy", "--axes", "rows,columns,time"]
    ended = run("report", tmp_path / "out", *given, "--out", tmp_path / "page.html")
    assert ended.exit_code == 0, ended.stderr
    assert entries(tmp_path / "page.html") == entries(tmp_path / "out" / "report.html")


def test_data_in_blocks_are_not_read_for_the_page(tmp_path):
    X = np.random.default_rng(0).random((4, 30, 5))
    np.save(tmp_path / "x.npy", X)
    assert not room.is_affordable(tp.Stored(np.load(tmp_path / "x.npy", mmap_mode="r")))
