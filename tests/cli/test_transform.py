"""Loadings of new rows, and data without holes, from a saved model and a file."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from commands import run as command

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode
from tparafac2.io import read, write_results

transform, complete = partial(command, "transform"), partial(command, "complete")
MISSING = ["--absent", "missing"]
NAMES = ["--rows", "author", "--columns", "word", "--time", "year", "--values", "n"]
DIMS = ("year", "author", "word")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of 16 of 20 authors, and a file with those that it has not seen."""
    place = tmp_path_factory.mktemp("words")
    X = np.abs(tp.synthetic.easy(seed=0, n_times=4, n_rows=20, n_columns=20).X)
    labels = {
        "year": [2000, 2001, 2003, 2004],
        "author": [f"=a{i:02}" for i in range(20)],
        "word": list("abcdefghijklmnopqrst"),
    }
    array = xr.DataArray(X, labels, DIMS)
    holed = array.where(np.random.default_rng(0).random(X.shape) < 0.9)
    sqrt = tp.Preparation("sqrt")
    model = tp.TParafac2(2, n_starts=1, random_state=0).fit(sqrt.apply(array[:, :16]))
    write_results(model, place / "fit", figures=())
    holed[:, 16:].to_dataframe("n").reset_index().dropna().to_csv(place / "new.csv", index=False)
    holed[:, 16:].to_netcdf(place / "new.nc")
    holed.to_netcdf(place / "all.nc")
    return place


def test_loadings_are_those_of_python_on_the_scale_of_the_table(folder):
    run = transform(
        folder / "fit" / "model.npz",
        folder / "new.csv",
        *NAMES,
        "--absent",
        "missing",
        "--out",
        folder / "l.csv",
    )
    assert run.exit_code == ExitCode.FINE, run.output
    assert run.stdout.startswith("Loadings of 4 rows on 2 components are in ")
    model = tp.load(folder / "fit" / "model.npz")
    found = pd.read_csv(folder / "l.csv")
    assert list(found.columns) == list(pd.read_csv(folder / "fit" / "loadings.csv").columns)
    expected = model.transform(read(folder / "new.nc")) / np.linalg.norm(model.A_, axis=0)
    assert np.allclose(found.loading, expected.ravel())
    assert found.author[0] == "'=a16"  # so that no spreadsheet runs it
    in_terminal = transform(folder / "fit", folder / "new.nc")
    assert in_terminal.stdout == (folder / "l.csv").read_text()


def test_loadings_as_json(folder):
    run = transform(folder / "fit", folder / "new.nc", "--json")
    found = json.loads(run.stdout)
    assert run.exit_code == ExitCode.FINE
    assert found["out"] is None
    assert found["loadings"][0].keys() == {"author", "component", "loading"}
    assert len(found["loadings"]) == 8


def test_what_the_model_does_not_know(folder, tmp_path):
    lines = pd.read_csv(folder / "new.csv")
    more = pd.concat([lines, lines[:1].assign(word="zebra")])
    more.to_csv(tmp_path / "more.csv", index=False)
    run = transform(folder / "fit", tmp_path / "more.csv", *NAMES, *MISSING)
    assert run.exit_code == ExitCode.SETTINGS
    assert (
        "X has 1 column that the model does not know: 'zebra'. Leave them out, or say --drop-unknown."
        in run.stderr
    )
    dropped = transform(folder / "fit", tmp_path / "more.csv", *NAMES, *MISSING, "--drop-unknown")
    assert dropped.exit_code == ExitCode.FINE
    assert dropped.stdout == transform(folder / "fit", folder / "new.nc").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nowhere.nc", "new.nc"], ExitCode.FILES, "there is no file"),
        (["fit", "nowhere.nc"], ExitCode.FILES, "there is no file"),
        (["fit", "new.csv"], ExitCode.SETTINGS, "is a long table: say by --rows, --columns and --time"),
        (["fit", "new.nc", "--out", "x.txt"], ExitCode.SETTINGS, "--out must end in .csv"),
        (["fit", "new.nc", "--out", "new.csv"], ExitCode.FILES, "exists: choose another name, or replace it"),
        (["fit", "new.nc", "--out", "no/x.csv"], ExitCode.FILES, "there is no folder"),
    ],
)
def test_what_cannot_be(folder, arguments, code, sentence, monkeypatch):
    monkeypatch.chdir(folder)
    run = transform(*arguments)
    assert run.exit_code == code, run.output
    assert sentence in run.stderr
    assert run.stdout == ""


def test_completed_arrays(folder, tmp_path):
    out = tmp_path / "whole.nc"
    run = complete(folder / "fit", folder / "all.nc", "--out", out, "--json")
    assert run.exit_code == ExitCode.FINE, run.output
    told, given = json.loads(run.stdout), xr.load_dataarray(folder / "all.nc")
    holes = given.isnull()
    assert told["filled"] == int(holes.sum())
    assert told["missing"] == 0
    with xr.open_dataset(out) as found:
        assert np.array_equal(found.filled.values.astype(bool), holes)
        assert found.completed.where(~holes).equals(given.rename("completed"))
        assert found.completed.notnull().all()
        assert list(found.author.values) == list(given.author.values)
    assert read(out, values="completed").shape == (4, 20, 20)


def test_completed_tables(folder, tmp_path):
    out = tmp_path / "whole.csv"
    arguments = [folder / "fit", folder / "new.csv", *NAMES, *MISSING, "--out", out]
    run = complete(*arguments)
    assert run.exit_code == ExitCode.FINE, run.output
    found, given = pd.read_csv(out), pd.read_csv(folder / "new.csv")
    assert list(found.columns) == [*DIMS, "value", "filled"]
    assert len(found) == 4 * 4 * 20
    assert (~found.filled).sum() == len(given)
    assert f"{found.filled.sum()} of 320 entries were filled in." in run.stdout
    assert complete(*arguments).exit_code == ExitCode.FILES  # it exists
    assert complete(*arguments, "--overwrite").exit_code == ExitCode.FINE
    assert read(out, rows="author", columns="word", time="year", values="value").shape == (4, 4, 20)


def test_times_that_a_table_lacks_are_filled_and_told(folder, tmp_path):
    lines, some, out = pd.read_csv(folder / "new.csv"), tmp_path / "some.csv", tmp_path / "whole.csv"
    lines[lines.year < 2003].to_csv(some, index=False)
    run = complete(folder / "fit", some, *NAMES, "--out", out)
    assert run.exit_code == ExitCode.FINE, run.output
    assert run.stderr.count("X has no line of 2 of the 4 times of the model: 2003, 2004.") == 1
    assert "160 of 320 entries were filled in, 160 of them at 2 times that are not in the data." in run.stdout
    assert set(pd.read_csv(out).query("filled").year) == {2003, 2004}
    lines[lines.year == 2003].to_csv(some, index=False)
    alone = transform(folder / "fit", some, *NAMES, *MISSING, "--json")
    assert alone.exit_code == ExitCode.FINE, alone.output
    assert "3 of the 4 times" in alone.stderr
    assert len(json.loads(alone.stdout)["loadings"]) == 8


def test_completion_needs_a_place(folder, tmp_path):
    assert complete(folder / "fit", folder / "all.nc").exit_code == ExitCode.USAGE
    assert (
        complete(folder / "fit", folder / "all.nc", "--out", tmp_path / "x.npz").exit_code
        == ExitCode.SETTINGS
    )
