"""``tparafac2 append`` and ``forecast``: from a saved model to a longer one, and to what comes next."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode

YEARS = np.arange(2000, 2012)


@pytest.fixture(scope="module")
def table():
    X = np.abs(tp.synthetic.easy(seed=0, noise=0.2, n_times=12, n_rows=12, n_columns=18).X)
    places = [place.ravel() for place in np.meshgrid(YEARS, range(12), range(18), indexing="ij")]
    lines = {"year": places[0], "author": [f"a{i}" for i in places[1]], "word": [f"w{j}" for j in places[2]]}
    return pd.DataFrame({**lines, "count": X.ravel()})


@pytest.fixture(scope="module")
def saved(table, tmp_path_factory):
    """A folder with a model up to 2009, and the tables that come after it."""
    place = tmp_path_factory.mktemp("saved")
    known = table[table.year < 2010]
    data = tp.Table(known, rows="author", columns="word", time="year", values="count")
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(tp.Preparation("sqrt").apply(data))
    model.save(place / "model.npz")
    known.to_csv(place / "known.csv", index=False)
    table[table.year == 2010].to_csv(place / "next.csv", index=False)
    table.to_csv(place / "all.csv", index=False)
    return place


def test_further_times_are_appended(saved, tmp_path):
    done = run("append", saved, saved / "next.csv", "--values", "count", "--out", tmp_path / "longer",
               "--figures", "none", "--json")  # fmt: skip
    assert done.exit_code == ExitCode.FINE, done.stderr
    told = json.loads(done.stdout)
    assert any(one["kind"] == "appended" for one in told["findings"])
    assert "lines" not in done.stderr
    longer, model = tp.load(told["model"]), tp.load(saved / "model.npz")
    assert longer.result_.labels.time.tolist() == list(range(2000, 2011))
    np.testing.assert_array_equal(longer.B_[:10], model.B_)
    assert (tmp_path / "longer" / "report.html").exists()
    again = run("append", saved, saved / "next.csv", "--values", "count", "--out", tmp_path / "longer")
    assert again.exit_code == ExitCode.FILES


def test_how_the_file_was_read_is_said(saved, tmp_path):
    given = [saved, saved / "next.csv", "--out", tmp_path / "out", "--figures", "none"]
    assert "216 lines give 1 times ('year')" in run("append", *given, "--values", "count").stderr
    assert "216 lines were counted" in run("append", *given, "--overwrite").stderr
    known = run("forecast", saved, saved / "known.csv", "--values", "count", "--steps", "1")
    assert "2,160 lines give 10 times ('year')" in known.stderr


def test_rows_that_the_model_does_not_have(saved, table, tmp_path):
    table[table.year == 2010].replace({"author": "a1"}, "b1").to_csv(tmp_path / "other.csv", index=False)
    done = run("append", saved, tmp_path / "other.csv", "--values", "count", "--out", tmp_path / "out")
    assert "1 rows that the model does not have ('b1'): leave them out, or fit all data again." in done.stderr


@pytest.mark.slow
def test_everything_is_fitted_again(saved, tmp_path):
    done = run("append", saved / "model.npz", saved / "all.csv", "--values", "count", "--refit",
               "--out", tmp_path / "out", "--figures", "none")  # fmt: skip
    assert done.exit_code == ExitCode.FINE, done.stderr
    assert tp.load(tmp_path / "out" / "model.npz").B_.shape == (12, 18, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["known.csv", "--values", "count"], ExitCode.SETTINGS, "is in the model already"),
        (["nothing.csv"], ExitCode.FILES, "there is no file"),
        (["next.csv", "--values", "count", "--refit"], ExitCode.SETTINGS, "--refit needs all data"),
        (["next.csv", "--values", "count", "--times", "2011"], ExitCode.SETTINGS, "--times says 2011, but X"),
        (["next.csv", "--values", "count", "--times", "1999"], ExitCode.SETTINGS, "lies before the last"),
    ],
)
def test_what_cannot_be_appended(saved, tmp_path, arguments, code, sentence):
    done = run("append", saved, saved / arguments[0], *arguments[1:], "--out", tmp_path / "out")
    assert done.exit_code == code
    assert sentence in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ending", [".csv", ".nc"])
def test_forecasts_are_told_and_written(saved, tmp_path, ending):
    out = tmp_path / f"later{ending}"
    given = [saved, saved / "known.csv", "--values", "count"]
    done = run("forecast", *given, "--steps", "2", "--out", out, "--json")
    assert done.exit_code == ExitCode.FINE, done.stderr
    told = json.loads(done.stdout)
    assert [one["time"] for one in told["strengths"]] == ["2010", "2010", "2011", "2011"]
    assert all(one["lower"] <= one["value"] <= one["upper"] for one in told["strengths"])
    if ending == ".csv":
        frame = pd.read_csv(out)
        assert list(frame.columns) == ["year", "author", "word", "value", "lower", "upper"]
        assert len(frame) == 2 * 12 * 18
    assert run("forecast", saved, "--steps", "2", "--out", out).exit_code == ExitCode.FILES
    assert run("forecast", saved, "--steps", "1", "--out", out, "--overwrite").exit_code == ExitCode.FINE


def test_forecasts_in_words(saved):
    done = run("forecast", saved, "--times", "2010,2015")
    assert done.exit_code == ExitCode.FINE, done.stderr
    assert "2015: component 2" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--steps", "0"], "--steps must be a whole number"),
        ([], "a forecast needs --steps"),
        (["--steps", "2", "--level", "2"], "--level must be between 0 and 1"),
        (["--steps", "2", "--out", "x.txt"], "must end in .csv or .nc"),
        (["--steps", "2", "--season", "9"], "--season is 9 steps"),
        (["--times", "1990"], "lies before"),
    ],
)
def test_what_cannot_be_forecast(saved, arguments, sentence):
    done = run("forecast", saved, *arguments)
    assert done.exit_code == ExitCode.SETTINGS
    assert sentence in done.stderr
