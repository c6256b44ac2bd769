"""With --overwrite nothing is lost but what an earlier run wrote, and never what is read."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from commands import run

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode

WORDS = ["--rows", "author", "--columns", "word", "--time", "year"]
NAMES = [*WORDS, "--values", "n"]
FAST = ["--rank", "1", "--starts", "1", "--max-iter", "30", "--smoothness", "1e-3"]
FIT = [*FAST, "--figures", "none"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder of results, and data beside it."""
    place = tmp_path_factory.mktemp("written")
    X = np.abs(tp.synthetic.easy(seed=0, noise=0.2, n_times=5, n_rows=12, n_columns=18).X)
    labels = {"year": range(2000, 2005), "author": list("abcdefghijkl"), "word": [f"w{j}" for j in range(18)]}
    array = xr.DataArray(X, labels, ("year", "author", "word"), name="n")
    array.to_netcdf(place / "words.nc")
    array.to_dataframe().reset_index().to_csv(place / "words.csv", index=False)
    model = tp.TParafac2(1, 1e-3, n_starts=1, random_state=0).fit(array)
    tp.io.write_results(model, place / "mine", figures=())
    return place


@pytest.fixture
def place(written, tmp_path, monkeypatch):
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    (tmp_path / "alias").symlink_to("mine")
    (tmp_path / "link.csv").symlink_to("mine/patterns.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


PATTERNS = ["--rows", "component", "--columns", "word", "--time", "year", "--values", "weight"]
GROUPS = "alias/loadings.csv:component"
READ_AND_REPLACED = [
    ["fit", "mine/patterns.csv", *PATTERNS, *FIT, "--out", "mine"],
    ["fit", "link.csv", *PATTERNS, *FIT, "--out", "mine"],
    ["fit", "mine/patterns.csv", *PATTERNS, *FIT, "--out", "alias"],
    ["fit", "alias/patterns.csv", *PATTERNS, *FIT, "--out", "../{name}/mine"],
    ["fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--weights", "mine/loadings.csv"],
    ["fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--row-attributes", "mine/loadings.csv"],
    ["fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--without-columns", "mine/starts.csv"],
    ["fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--intervals", "20", "--groups", GROUPS],
    ["choose", "words.csv", *NAMES, "--out", "mine", "--groups", "mine/loadings.csv:author"],
    ["compare", "link.csv", *PATTERNS, *FAST, "--out", "mine"],
    ["append", "mine", "words.csv", *NAMES, "--out", "mine"],
    ["append", "mine/model.npz", "words.csv", *NAMES, "--out", "alias"],
    ["complete", "mine", "words.nc", "--out", "words.nc"],
    ["transform", "mine", "words.csv", *NAMES, "--out", "words.csv"],
    ["transform", "mine", "words.csv", *NAMES, "--weights", "link.csv", "--out", "mine/patterns.csv"],
    ["forecast", "mine", "link.csv", *PATTERNS, "--steps", "1", "--out", "mine/patterns.csv"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", READ_AND_REPLACED, ids=lambda arguments: arguments[0])
def test_what_is_read_is_never_replaced(place, arguments):
    before = contents(place)
    ended = run(*[one.format(name=place.name) for one in arguments], "--overwrite")
    assert ended.exit_code == ExitCode.FILES, ended.stderr
    assert "is read" in ended.stderr
    assert contents(place) == before


AGAIN = [
    ["fit", "words.csv", *NAMES, *FIT, "--out", "out"],
    ["compare", "words.csv", *NAMES, *FAST, "--out", "out"],
    ["append", "short.npz", "words.nc", "--refit", "--figures", "none", "--out", "out"],
]


@pytest.mark.parametrize("arguments", AGAIN, ids=lambda arguments: arguments[0])
def test_a_folder_is_replaced_again_and_again_until_it_is_changed(place, arguments):
    if "short.npz" in arguments:
        shorter = xr.load_dataarray("words.nc")[:4]
        tp.TParafac2(1, 1e-3, n_starts=1, random_state=0).fit(shorter).save("short.npz")
    for _ in range(2):
        ended = run(*arguments, "--overwrite")
        assert ended.exit_code == ExitCode.FINE, ended.stderr
    for change in (lambda: Path("out/notes.txt").write_text("mine"), lambda: edit(Path("out/log.json"))):
        change()
        before = contents(place)
        ended = run(*arguments, "--overwrite")
        assert ended.exit_code == ExitCode.FILES
        assert "--overwrite does not replace it" in ended.stderr
        assert contents(place) == before
        Path("out/notes.txt").unlink()


def edit(path):
    path.write_text(path.read_text().replace("tparafac2", "Tparafac2", 1))
    Path("out/notes.txt").touch()


def test_a_page_with_another_title_is_replaced_with_its_folder(place):
    assert run("report", "mine", "--title", "Another", "--overwrite").exit_code == ExitCode.FINE
    assert run("fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--overwrite").exit_code == ExitCode.FINE


def test_a_table_that_somebody_completed_is_not_lost(place):
    table = pd.read_csv("mine/loadings.csv").assign(born=1900)
    table.to_csv("mine/loadings.csv", index=False)
    ended = run("fit", "words.csv", *NAMES, *FIT, "--out", "mine", "--overwrite")
    assert ended.exit_code == ExitCode.FILES
    assert "'loadings.csv', which was changed" in ended.stderr
    assert pd.read_csv("mine/loadings.csv").equals(table)
