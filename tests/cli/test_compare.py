"""Several models side by side: what was assumed is said, and what cannot be is refused before any work."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp

NAMES = ["--rows", "who", "--columns", "word", "--time", "year", "--values", "n"]
QUICK = ["--starts", "2", "--max-iter", "50"]
FAST = [*QUICK]


@pytest.fixture
def table(tmp_path):
    k, i, j = (grid.ravel() for grid in np.indices((4, 5, 6)))
    frame = pd.DataFrame({"year": 2000 + k, "who": i, "word": j, "n": 1.0 + k * i + j})
    frame.iloc[:-7].to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


@pytest.fixture
def no_work(monkeypatch):
    """Fail if anything is fitted."""

    def fit(self, X, **given):
        raise RuntimeError(f"{self} was fitted")

    for model in (tp.TParafac2, tp.Parafac2, tp.TemporalCMF, tp.CP):
        monkeypatch.setattr(model, "fit", fit)


@pytest.fixture
def no_reading(monkeypatch):
    def read(*given, **more):
        raise RuntimeError("the file was read")

    monkeypatch.setattr("tparafac2.io.read", read)


def test_what_was_assumed_is_said(table, tmp_path):
    ended = run("compare", table, *NAMES, *FAST, "--rank", "1")
    assert ended.exit_code == 0, ended.stderr
    assert "7 of 120 combinations are not in the table and were taken as zero" in ended.stderr
    listed = json.loads(
        run("compare", table, *NAMES, *FAST, "--rank", "1", "--transform", "sqrt", "--json").stdout
    )
    assert "7 of 120 combinations" in listed["table"]
    assert "square root" in listed["preparation"]
    assert [line["model"] for line in listed["models"]] == ["tparafac2 rank 1"]
    plain = ["--rank", "1", "--smoothness", "1e-3", "--figures", "none", "--json"]
    fitted = run("fit", table, *NAMES, *QUICK, *plain)
    assert "7 of 120 combinations" in json.loads(fitted.stdout)["table"]
    assert json.loads(fitted.stdout)["data"] == str(table)


def test_notes_are_told_beside_the_table(table):
    asked = ["compare", table, *NAMES, *FAST, "--rank", "2", "--model", "tcmf"]
    note = "Without further constraints the components are not unique: only their span is determined."
    assert run(*asked).stdout.splitlines()[-1] == f"tcmf rank 2: {note}"
    (line,) = json.loads(run(*asked, "--json").stdout)["models"]
    assert note in line["notes"]


def test_smoothness_is_for_the_smooth_models_beside_others(table):
    both = ["--model", "cp", "--model", "tparafac2", "--smoothness", "1e-3", "--smoothness", "1e-2"]
    ended = run("compare", table, *NAMES, *FAST, "--rank", "1", *both, "--period", "9", "--json")
    assert ended.exit_code == 0, ended.stderr
    assert [line["model"] for line in json.loads(ended.stdout)["models"]] == [
        "cp rank 1",
        "tparafac2 rank 1 smoothness 0.001",
        "tparafac2 rank 1 smoothness 0.01",
    ]


@pytest.mark.usefixtures("no_work", "no_reading")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "cp", "--smoothness", "1e-3"], "cp is not: leave them out"),
        (["--model", "cp", "--model", "parafac2", "--period", "24"], "cp is not: leave them out"),
        (["--rank", "1", "--rank", "1"], "--rank 1 was given twice"),
        (["--model", "cp", "--model", "tcmf", "--model", "cp"], "--model cp was given twice"),
        (["--smoothness", "0.001", "--smoothness", "1e-3"], "--smoothness 0.001 was given twice"),
        (["--model", "cp", "--model", "zebra"], "there is no model 'zebra'"),
        (["--rank", "1", "--rank", "0"], "--rank must be at least 1"),
        (["--smoothness", "1e-3", "--smoothness", "-1"], "--smoothness must be finite and not negative"),
    ],
)
def test_settings_are_refused_before_the_file_is_read(table, arguments, said):
    ended = run("compare", table, *NAMES, *arguments)
    assert ended.exit_code == 3, ended.output
    assert said in ended.stderr


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "arguments", [["--rank", "1", "--rank", "9"], ["--model", "cp", "--model", "tcmf", "--rank", "6"]]
)
def test_ranks_that_are_too_high_are_refused_before_the_first_fit(table, arguments):
    ended = run("compare", table, *NAMES, *arguments)
    assert ended.exit_code == 3, ended.output
    assert "is larger than the slices allow (5 rows x 6 columns)" in ended.stderr


def test_values_that_differ_a_little_are_two(table):
    near = ["--smoothness", "1e-3", "--smoothness", "1.0000001e-3"]
    ended = run("compare", table, *NAMES, *FAST, "--rank", "1", *near, "--json")
    assert len(json.loads(ended.stdout)["models"]) == 2


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--rank", "0"),
        ("--smoothness", "-1"),
        ("--smoothness", "nan"),
        ("--starts", "0"),
        ("--seed", "-1"),
        ("--period", "0"),
        ("--max-iter", "0"),
        ("--jobs", "0"),
        ("--jobs", "-1000"),
        ("--transform", "cube"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_every_setting_is_checked_before_the_file_is_read(table, tmp_path, command, option, value):
    ended = run(command, table, *NAMES, option, value)
    assert ended.exit_code == 3, ended.output
    assert option in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_processes_are_counted_from_the_cores(table, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    ended = run("fit", table, *NAMES, "--jobs", "-5")
    assert ended.exit_code == 3
    assert "--jobs -5 leaves no process on this machine, which has 2 cores" in ended.stderr
    assert run("compare", table, *NAMES, *FAST, "--rank", "1", "--jobs", "-2").exit_code == 0


def test_a_missing_file_comes_before_its_folder(tmp_path):
    ended = run("fit", tmp_path / "nodir" / "y.csv", *NAMES)
    assert ended.exit_code == 4
    assert ended.stderr == f"Error: there is no file '{tmp_path / 'nodir' / 'y.csv'}': check the path.\n"


def test_several_values_of_one_option(table):
    commas = run("compare", table, *NAMES, *FAST, "--rank", "1,2", "--smoothness", "1e-3, 1e-2", "--json")
    assert commas.exit_code == 0, commas.stderr
    repeated = [part for rank in ("1", "2") for part in ("--rank", rank)]
    repeated += ["--smoothness", "1e-3", "--smoothness", "1e-2"]
    other = run("compare", table, *NAMES, *FAST, *repeated, "--json")
    names = [[line["model"] for line in json.loads(one.stdout)["models"]] for one in (commas, other)]
    assert names[0] == names[1]
    assert len(names[0]) == 4
    both = ["--rank", "1,2", "--rank", "3", "--model", "cp,tcmf"]
    mixed = run("compare", table, *NAMES, *FAST, *both, "--json")
    assert len(json.loads(mixed.stdout)["models"]) == 6


@pytest.mark.usefixtures("no_work", "no_reading")
@pytest.mark.parametrize(
    ("given", "said"), [("2,x", "whole numbers"), ("2,,3", "whole numbers"), ("1.5", "whole numbers")]
)
def test_values_that_cannot_be_read_are_wrong_usage(table, given, said):
    ended = run("compare", table, *NAMES, "--rank", given)
    assert ended.exit_code == 2, ended.output
    assert said in ended.stderr
    assert run("compare", table, *NAMES, "--rank", "2,3,2").exit_code == 3


def test_models_are_kept_in_a_folder(table, tmp_path):
    asked = ["compare", table, *NAMES, *FAST, "--rank", "1,2", "--transform", "sqrt"]
    asked += ["--out", tmp_path / "out"]
    ended = run(*asked)
    assert ended.exit_code == 0, ended.stderr
    files = ["1-tparafac2-rank-1.npz", "2-tparafac2-rank-2.npz", "comparison.csv", "log.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == files
    kept = pd.read_csv(tmp_path / "out" / "comparison.csv")
    assert kept["file"].to_list() == files[:2]
    model = tp.load(tmp_path / "out" / "2-tparafac2-rank-2.npz")
    assert model.result_.preparation["transform"] == "sqrt"
    again = run(*asked)
    assert again.exit_code == 4
    assert "--overwrite" in again.stderr
    assert json.loads(run(*asked, "--overwrite", "--json").stdout)["models"]


def test_nothing_found_by_any_model_is_an_exit_code_of_its_own(table, tmp_path):
    asked = ["compare", table, *NAMES, *FAST, "--rank", "1"]
    nothing = run(*asked, "--smoothness", "1e6,1e7", "--out", tmp_path / "out")
    assert nothing.exit_code == 5, nothing.output
    assert "Error: all components of every model vanished" in nothing.stderr
    assert "smoothness 1000000.0: All components vanished" in nothing.stdout  # what to do is said, too
    assert (tmp_path / "out" / "comparison.csv").exists()
    some = run(*asked, "--smoothness", "1e-3,1e6")
    assert some.exit_code == 0, some.output


@pytest.mark.usefixtures("no_work", "no_reading")
def test_a_folder_in_the_way_is_told_before_any_work(table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    asked = ["compare", table, *NAMES, "--out", tmp_path / "out", "--overwrite"]
    assert "thesis.tex" in run(*asked).stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fit", "-1 for all of them. What comes out does not depend on it"),
        ("compare", "Models that are fitted at once"),
    ],
)
def test_help_says_what_jobs_do(command, said):
    assert said in " ".join(run(command, "--help").stdout.replace("│", " ").split())


def test_models_are_compared_by_weight(table, tmp_path):
    pd.DataFrame({"who": range(5), "weight": range(1, 6)}).to_csv(tmp_path / "sizes.csv", index=False)
    ended = run(
        "compare",
        table,
        *NAMES,
        *FAST,
        "--rank",
        "1,2",
        "--weights",
        tmp_path / "sizes.csv",
        "--out",
        tmp_path / "out",
    )
    assert ended.exit_code == 0, ended.stderr
    assert (
        "weighted by row, from" in json.loads((tmp_path / "out" / "log.json").read_text())["about"]["weights"]
    )
    for file in (tmp_path / "out").glob("*.npz"):
        np.testing.assert_allclose(tp.load(file).result_.row_weights, np.arange(1, 6) / 3)


@pytest.fixture
def larger(tmp_path):
    X = tp.synthetic.easy(seed=1, noise=0.2, n_times=4, n_rows=16, n_columns=12, n_concepts=2).X
    np.save(tmp_path / "x.npy", X)
    return [tmp_path / "x.npy", "--axes", "time,rows,columns", *QUICK]


def test_several_bounds_and_rigidities(larger):
    asked = ["--rank", "2", "--nonnegative", "none,rows", "--rigidity", "inf,1", "--model", "tparafac2,cp"]
    found = json.loads(run("compare", *larger, *asked, "--json").stdout)["models"]
    assert [line["model"] for line in found] == [
        "tparafac2 rank 2 rigidity inf nonnegative none",
        "tparafac2 rank 2 rigidity inf nonnegative rows",
        "tparafac2 rank 2 rigidity 1.0 nonnegative none",
        "tparafac2 rank 2 rigidity 1.0 nonnegative rows",
        "cp rank 2 nonnegative none",
        "cp rank 2 nonnegative rows",
    ]


def test_a_setting_that_some_models_cannot_use_is_said_of_the_others(table):
    listed = run(
        "compare",
        table,
        *NAMES,
        *FAST,
        "--rank",
        "1",
        "--model",
        "tparafac2,cp",
        "--changes",
        "sudden",
        "--json",
    )
    assert listed.exit_code == 0, listed.stderr
    names = [one["model"] for one in json.loads(listed.stdout)["models"]]
    assert names == ["tparafac2 rank 1 changes sudden", "cp rank 1"]
