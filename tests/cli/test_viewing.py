"""What ``tparafac2 info`` prints, and the page of a saved model, or of the folder of a fit."""

import gzip
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from commands import run as command

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode
from tparafac2.io import check_folder, write_results

info, report = partial(command, "info"), partial(command, "report")


def test_a_table_in_words_and_as_json(tmp_path):
    (tmp_path / "T.CSV").write_bytes("land;n\nNA;007\nDE;042\n".encode("utf-16"))
    run = info(tmp_path / "T.CSV")
    assert run.exit_code == ExitCode.FINE, run.stderr
    assert run.stdout.splitlines()[1:] == [
        "  land: text, 2 different, for example 'NA', 'DE'",
        "  n: numbers as values, text as labels, 2 different, for example '007', '042'",
    ]
    found = json.loads(info(tmp_path / "T.CSV", "--json").stdout)
    assert list(found["contents"]) == ["land", "n"]
    assert found["file"].endswith("T.CSV")


def test_no_control_characters_reach_the_terminal(tmp_path):
    (tmp_path / "t.csv").write_text("a\x1b[31m,b\u202e\nx\x1b]0;title\x07,y\x9b\n")
    np.savez(tmp_path / "x.npz", **{"X\x1b[31m": np.ones(2)})
    for name in ("t.csv", "x.npz"):
        for more in ([], ["--json"]):
            run = info(tmp_path / name, *more)
            assert run.exit_code == ExitCode.FINE, run.stderr
            assert all(letter.isprintable() or letter == "\n" for letter in run.stdout)


@pytest.mark.parametrize("name", ["model.npz", "t.csv.gz", "x.npz"])
def test_damaged_files(tmp_path, name):
    path = tmp_path / name
    X = np.random.default_rng(0).random((3, 20, 20))
    if name == "model.npz":
        tp.CP(1, n_starts=1, random_state=0).fit(X).save(path)
    elif name == "x.npz":
        np.savez(path, X=X)
    else:
        path.write_bytes(gzip.compress(("a,b\n" + "".join(f"{x},1\n" for x in X.ravel())).encode()))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    run = info(path)
    assert run.exit_code == ExitCode.SETTINGS
    assert "damaged" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    data = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18)
    model = tp.CP(2, n_starts=1, random_state=0).fit(data.X)
    about = {"title": "My own title", "data": "where/it/came/from.csv"}
    return write_results(model, tmp_path_factory.mktemp("fitted") / "out", about=about, figures=())


@pytest.fixture
def folder(fitted, tmp_path):
    """What was fitted, to do harm to."""
    return Path(shutil.copytree(fitted, tmp_path / "out"))


def test_the_page_of_a_folder_is_replaced_if_asked_for(folder):
    page = folder / "report.html"
    page.write_text("mine")
    refused = report(folder)
    assert refused.exit_code == 4
    assert "replace it with --overwrite" in refused.stderr
    assert page.read_text() == "mine"
    refused = report(folder, "--overwrite")
    assert refused.exit_code == 4
    assert "changed since" in refused.stderr
    assert page.read_text() == "mine"
    written = report(folder, "--overwrite", "--out", page)  # said by name
    assert (written.exit_code, written.stdout.strip()) == (0, str(page))
    assert "My own title" in page.read_text()  # what the fit noted is kept
    assert "where/it/came/from.csv" in page.read_text()
    assert report(folder, "--overwrite").exit_code == 0
    check_folder(folder, overwrite=True)  # the page is as it was written last


def test_the_page_of_a_folder_goes_where_it_is_wanted(folder, tmp_path):
    ended = report(folder, "--out", tmp_path / "page.html", "--title", "Another")
    assert ended.exit_code == 0, ended.stderr
    assert "Another" in (tmp_path / "page.html").read_text()
    assert "My own title" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("log", [None, "[", json.dumps({"about": 3}), json.dumps([])])
def test_a_log_that_is_gone_is_not_missed(folder, log):
    (folder / "log.json").unlink() if log is None else (folder / "log.json").write_text(log)
    assert report(folder, "--overwrite").exit_code == 4  # nobody knows whose page it is
    assert report(folder, "--out", folder.parent / "page.html").exit_code == 0


def test_a_folder_without_a_model_is_refused(tmp_path):
    ended = report(tmp_path)
    assert ended.exit_code == 4
    assert "is a folder without a model.npz" in ended.stderr


def test_a_missing_model_is_said_before_the_page_in_the_way(tmp_path):
    (tmp_path / "model.html").write_text("mine")
    ended = report(tmp_path / "model.npz")
    assert ended.exit_code == 4
    assert "there is no file" in ended.stderr


def test_what_is_no_model_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    ended = report(tmp_path / "x.npy")
    assert ended.exit_code == 3
    assert not (tmp_path / "x.html").exists()
