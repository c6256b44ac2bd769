"""Sudden changes, sparsity and smooth strengths, as they are said on the command line."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli.making import read_sparsity

QUICK = ["--starts", "1", "--max-iter", "30"]
CHOSEN = [*QUICK, "--ranks", "1", "--rigidity", "inf", "--jobs", "1"]


@pytest.fixture
def data(tmp_path):
    B = np.repeat(np.array([[3.0, 3, 0, 0, 1], [0.0, 0, 3, 3, 1]]), 5, axis=0)
    noise = 0.1 * np.random.default_rng(0).standard_normal((10, 8, 5))
    np.save(tmp_path / "x.npy", np.linspace(1, 2, 8)[:, None] * B[:, None, :] + noise)
    return tmp_path / "x.npy"


def axes(*more):
    return ["--axes", "time,rows,columns", *more]


def test_a_fit_keeps_what_was_asked_for(data, tmp_path):
    words = ["--changes", "sudden", "--sparsity", "patterns=1e-3,rows=1e-4", "--smooth-strengths", "20"]
    given = ["--rank", "1", "--smoothness", "1e-2", "--rigidity", "1", *QUICK, "--figures", "none"]
    ended = run("fit", data, *axes(*words, *given), "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.output
    assert "Changes may be sudden: 1 change point found, told with the components." in ended.stdout
    assert "    sudden: between 4 and 5 (" in ended.stdout
    assert "Sparse patterns: " in ended.stdout
    assert "Strengths are smooth in time" in ended.stdout
    model = tp.load(tmp_path / "out" / "model.npz")
    assert (model.changes, model.smooth_strengths) == ("sudden", 20.0)
    assert model.sparsity == {"patterns": 1e-3, "rows": 1e-4}
    table = pd.read_csv(tmp_path / "out" / "changes.csv")
    assert table.columns.tolist() == ["component", "from", "to", "share", "cosine"]
    assert table[["component", "from", "to"]].values.tolist() == [[1, 4, 5]]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Changes may be sudden: 1 change point found, told with the components." in page
    assert "between 4 and 5" in page
    again = run("fit", data, *axes("--rank", "1", "--smoothness", "1e-2", *QUICK, "--figures", "none"),
                "--out", tmp_path / "out", "--overwrite")  # fmt: skip
    assert again.exit_code == 0, again.output
    assert not (tmp_path / "out" / "changes.csv").exists()


def test_several_kinds_of_changes_are_compared(data):
    words = ["--changes", "smooth,sudden", "--sparsity", "1e-5", "--smooth-strengths", "5"]
    given = ["--rank", "1", "--model", "tparafac2,cp", *QUICK, "--json"]
    ended = run("compare", data, *axes(*words, *given))
    assert ended.exit_code == 0, ended.output
    assert [one["model"] for one in json.loads(ended.stdout)["models"]] == [
        "tparafac2 rank 1 changes smooth",
        "tparafac2 rank 1 changes sudden",
        "cp rank 1",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "choose"])
def test_the_data_choose_how_patterns_change(data, tmp_path, command):
    words = ["--changes", "auto", "--sparsity", "1e-5", "--smooth-strengths", "5", "--smoothness", "1e-2"]
    ended = run(command, data, *axes(*words, *CHOSEN), "--out", tmp_path / "out", "--figures", "none")
    assert ended.exit_code == 0, ended.output
    model = tp.load(tmp_path / "out" / "model.npz")
    assert (model.sparsity, model.smooth_strengths) == (1e-5, 5.0)
    assert model.result_.choice["sudden"] is not None


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("fit", ["--model", "cp", "--changes", "sudden"], "--changes is for --model tparafac2 or tcmf or"),
        ("fit", ["--model", "tcmf", "--smooth-strengths", "5"], "is for --model tparafac2, and not for tcmf"),
        ("fit", ["--model", "parafac2", "--sparsity", "1e-4"], "flee to the others: use --model tparafac2"),
        ("fit", ["--smoothness", "1e-3", "--changes", "auto"], "--changes auto is for what the data choose"),
        ("fit", ["--smoothness", "1e-3", "--changes", "slow"], "slow"),
        ("fit", ["--smoothness", "1e-3", "--sparsity", "few"], "--sparsity few cannot be read"),
        ("fit", ["--smoothness", "1e-3", "--sparsity", "rows=1e-3,0.1"], "numbers by factor, each once"),
        ("fit", ["--smoothness", "1e-3", "--sparsity", "rows=1,rows=2"], "each once"),
        ("fit", ["--smoothness", "1e-3", "--sparsity", "columns=1e-3"], "factor, as patterns=1e-4,rows="),
        ("fit", ["--smoothness", "1e-3", "--sparsity=-1"], "--sparsity must be finite and at least 0"),
        ("fit", ["--smoothness", "1e-3", "--smooth-strengths", "nan"], "--smooth-strengths must be finite"),
        ("fit", ["--sparsity", "columns=1e-3"], "--sparsity can be that of patterns"),
        ("compare", ["--changes", "slow"], "--changes must be 'smooth' or 'sudden'"),
        ("compare", ["--changes", "sudden,sudden"], "--changes sudden was given twice"),
        ("compare", ["--model", "cp", "--sparsity", "1e-4"], "flee to the others: use --model tparafac2"),
    ],
)
def test_what_cannot_be_is_refused_before_the_file_is_read(tmp_path, command, words, said):
    ended = run(command, tmp_path / "x.npy", "--rank", "1", *words)
    assert ended.exit_code == (2 if said == "slow" else 3), ended.output
    assert said in " ".join(ended.stderr.split())


def test_a_model_with_smooth_strengths_is_appended_to_by_a_refit(data, tmp_path):
    given = axes(
        "--rank", "1", "--smoothness", "1e-3", "--smooth-strengths", "5", *QUICK, "--figures", "none"
    )
    assert run("fit", data, *given, "--out", tmp_path / "out").exit_code == 0
    np.save(tmp_path / "more.npy", np.load(data)[-2:])
    ended = run("append", tmp_path / "out", tmp_path / "more.npy", *axes())
    assert ended.exit_code == 3, ended.output
    assert "(--refit)" in ended.stderr


def test_numbers_stay_as_they_were_typed():
    assert read_sparsity(None) is None
    assert read_sparsity("1e-4") == 1e-4
    assert math.isnan(read_sparsity("nan"))
