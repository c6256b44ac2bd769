"""``tparafac2 generate``: what it writes and says, and what it refuses before any work."""

import inspect
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from tparafac2 import load, synthetic
from tparafac2.cli import generate
from tparafac2.cli.app import app

pytestmark = pytest.mark.slow

PLAIN = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
RUNNER = CliRunner(env=PLAIN)
SMALL = ["--times", "8", "--rows", "12", "--columns", "40", "--concepts", "2"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str):
    return RUNNER.invoke(app, ["generate", *arguments])


def in_a_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tparafac2", "generate", *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=os.environ | PLAIN | environment
    )


def holds(path: str, data: synthetic.SyntheticData) -> bool:
    back = np.load(path) if path.endswith(".npz") else xr.load_dataset(path)
    return all(np.array_equal(back[name], getattr(data, name)) for name in "XABC")


# --- what it writes -----------------------------------------------------------------------------------------

SHAPED = {"n_times": 8, "n_rows": 12, "n_columns": 40, "n_concepts": 2}


@pytest.mark.parametrize("name", ["data.nc", "data.npz"])
@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        (["easy"], synthetic.easy(0, **SHAPED)),
        (["easy", "--seed", "7", "--noise", "0.25"], synthetic.easy(7, 0.25, **SHAPED)),
        (["easy", "--held"], synthetic.easy(0, fresh_importances=False, **SHAPED)),
        (["almost-zero"], synthetic.almost_zero(0, **SHAPED)),
        (["almost-zero", "--weak", "2", "--noise", "0"], synthetic.almost_zero(0, 2, 0.0, **SHAPED)),
        (["overlapping"], synthetic.overlapping(0, **SHAPED)),
        (["overlapping", "--overlap", "0.4"], synthetic.overlapping(0, 0.4, **SHAPED)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_file_holds_what_was_asked_for(arguments, data, name) -> None:
    ended = run(arguments[0], name, *arguments[1:], *SMALL)
    assert ended.exit_code == 0, ended.output
    assert holds(name, data)
    assert os.listdir() == [name]


def test_from_nothing_to_a_file_and_its_words_although_the_terminal_cannot_show_its_name() -> None:
    ended = in_a_process("almost-zero", "日本.nc", "--weak", "2", PYTHONIOENCODING="cp1252")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert holds("日本.nc", synthetic.almost_zero(0, 2))
    assert os.listdir() == ["日本.nc"]
    assert ended.stdout.splitlines() == [
        r"Wrote '\u65e5\u672c.nc' (2.5 MB): almost-zero, seed 0, noise 0.5.",
        "  X        20 times x 150 rows x 100 columns",
        "  A, B, C  the truth: 3 concepts",
        r"Fit it:  tparafac2 fit '\u65e5\u672c.nc' --rank 3 --smoothness 1e-3",
    ]


def test_words_of_a_small_file() -> None:
    said = run("easy", "data.npz", "--times", "4", "--rows", "4", "--columns", "9", "--concepts", "1").stdout
    assert " kB): easy" in said
    assert "1 concept\n" in said
    fit = "tparafac2 fit data.npz --rank 1 --smoothness 1e-3 --axes time,rows,columns"
    assert said.endswith(f"Fit it:  {fit}\n")


@pytest.mark.parametrize("name", ["data.nc", "my data.npz"])
def test_what_it_says_about_fitting_is_true(name) -> None:
    sizes = ["--times", "4", "--rows", "8", "--columns", "9"]
    said = run("easy", name, *sizes, "--concepts", "1").stdout.splitlines()[-1]
    command = shlex.split(said.removeprefix("Fit it:  "))
    command += ["--starts", "1", "--max-iter", "5", "--figures", "none", "--out", "found"]
    assert RUNNER.invoke(app, command[1:]).exit_code == 0
    assert load("found/model.nc").result_.shape == (4, 8, 9)


def test_json_for_machines() -> None:
    ended = run("overlapping", "data.nc", "--json", "--seed", "3", *SMALL)
    told = json.loads(ended.stdout)
    assert told["file"] == "data.nc"
    assert told["bytes"] == Path("data.nc").stat().st_size
    assert (told["case"], told["seed"], told["noise"], told["overlap"]) == ("overlapping", 3, 0.5, 0.2)
    assert told["recipe"]["size"] == {"n_times": 8, "n_rows": 12, "n_columns": 40}
    attributes = xr.load_dataset("data.nc").attrs
    assert (told["python"], told["command"]) == (attributes["python"], attributes["command"])


@pytest.mark.parametrize(
    "data",
    [
        synthetic.easy(2**65, 1e-7, **SHAPED),
        synthetic.almost_zero(1, 2, fresh_importances=False, **SHAPED),
        synthetic.overlapping(2, 1 / 3, 2 / 3, **SHAPED),
    ],
    ids=lambda data: data.case,
)
def test_the_command_in_a_file_makes_the_same_data(data) -> None:
    program, *arguments = shlex.split(data.to_dataset().attrs["command"])
    assert program == "tparafac2"
    assert RUNNER.invoke(app, arguments).exit_code == 0
    assert holds("data.nc", data)


# --- help ---------------------------------------------------------------------------------------------------


def test_the_examples_in_the_help_run() -> None:
    shown = run("--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    lines = [line.strip() for line in shown.splitlines()]
    commands = [line for line in lines if line.startswith("tparafac2 generate ")]
    assert len(commands) == 2
    for command in commands:
        assert RUNNER.invoke(app, shlex.split(command)[1:]).exit_code == 0
    start = lines.index("Then, in Python:") + 1
    load, fit, score = lines[start : start + 3]
    names: dict = {}
    exec(f"import tparafac2, xarray\n{load}\n{fit.replace('rank=3', 'rank=3, n_starts=3')}", names)
    assert eval(score, names) > 0.9


def test_the_defaults_are_those_of_the_generator() -> None:
    defaults = inspect.signature(generate.generate).parameters
    for name, case, argument in (
        ("noise", synthetic.easy, "noise"),
        ("concepts", synthetic.easy, "n_concepts"),
    ):
        assert defaults[name].default == inspect.signature(case).parameters[argument].default
    assert tuple(defaults[name].default for name in ("times", "rows", "columns")) == (20, 150, 100)
    shown = " ".join(run("--help").stdout.replace("│", " ").split())
    weak = inspect.signature(synthetic.almost_zero).parameters["n_weak"].default
    overlap = inspect.signature(synthetic.overlapping).parameters["overlap"].default
    assert f"nearly vanish. [default: ({weak})]" in shown
    assert f"words in common. [default: ({overlap})]" in shown


# --- what it refuses, before any work -----------------------------------------------------------------------


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr(synthetic.dataset, "build_factors", work)


REFUSED = [
    (["easy", "data.nc", "--weak", "1"], 2, "'--weak'"),
    (["overlapping", "data.nc", "--weak", "1"], 2, "'--weak'"),
    (["easy", "data.nc", "--overlap", "0"], 2, "'--overlap'"),
    (["almost-zero", "data.nc", "--overlap", "0.2"], 2, "'--overlap'"),
    (["hard", "data.nc"], 2, "'easy', 'almost-zero', 'overlapping'"),
    (["easy", "data.nc", "--rows", "150x100"], 2, "unable to parse string as an integer"),
    (["easy", "data.nc", "--columns", "0"], 3, "--columns must be at least 1"),
    (["easy", "data.nc", "--noise", "much"], 2, "'--noise'"),
    (["easy", "data.nc", "--noise", "-1"], 3, "noise must be a finite number between 0 and 1e+06, got -1.0."),
    (["easy", "data.nc", "--noise", "nan"], 3, "noise must be a finite number"),
    (["easy", "data.nc", "--seed", "-1"], 3, "seed must be at least 0, got -1."),
    (["easy", "data.nc", "--concepts", "0"], 3, "--concepts must be at least 1, got 0."),
    (["easy", "data.nc", "--columns", "17"], 3, "3 concepts need at least 18 columns"),
    (["easy", "data.nc", "--rows", "2"], 3, "need at least 3 rows"),
    (["easy", "data.nc", "--times", "1"], 3, "need at least 2 times, got 1."),
    (["easy", "data.nc", "--rows", "1000000", "--columns", "10000000"], 3, "GB of memory"),
    (["almost-zero", "data.nc", "--weak", "4"], 3, "--weak 4 of 3 concepts"),
    (["almost-zero", "data.nc", "--weak", "0"], 3, "--weak must be at least 1, got 0."),
    (["overlapping", "data.nc", "--overlap", "1"], 3, "must be below 1, got 1.0."),
    (["easy", "data.csv"], 3, "ending in .nc (netCDF) or .npz (NumPy); got 'data.csv'."),
    (["easy", "nowhere/data.nc"], 4, "there is no folder 'nowhere' to save 'data.nc' in: make it first."),
]


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize(("arguments", "code", "words"), REFUSED, ids=lambda value: str(value)[:50])
def test_refusals(arguments, code, words) -> None:
    ended = run(*arguments)
    assert ended.exit_code == code, ended.output
    assert ended.stdout == ""
    said = " ".join(ended.stderr.replace("│", " ").split())
    assert words in said
    assert "Traceback" not in said
    assert os.listdir() == []


def test_the_case_an_option_belongs_to_is_named() -> None:
    said = " ".join(run("easy", "data.nc", "--weak", "1").stderr.replace("│", " ").split())
    assert "belongs to the case almost-zero, not to easy: leave it out, or choose that case." in said


@pytest.mark.usefixtures("_no_work")
def test_an_existing_file_is_not_replaced() -> None:
    Path("data.nc").write_bytes(b"of value")
    ended = run("easy", "data.nc", *SMALL)
    assert ended.exit_code == 4
    assert ended.stderr == "Error: 'data.nc' exists: choose another name, or replace it with --overwrite.\n"
    assert Path("data.nc").read_bytes() == b"of value"


def test_an_existing_file_is_replaced_if_asked_for() -> None:
    Path("data.nc").write_bytes(b"of no value")
    assert run("easy", "data.nc", "--overwrite", *SMALL).exit_code == 0
    assert holds("data.nc", synthetic.easy(0, **SHAPED))


@pytest.mark.usefixtures("_no_work")
def test_a_folder_in_the_way_is_refused_even_so() -> None:
    Path("data.nc").mkdir()
    ended = run("easy", "data.nc", "--overwrite", *SMALL)
    assert (ended.exit_code, ended.stderr) == (4, "Error: 'data.nc' is a folder: give the path of a file.\n")


@pytest.mark.usefixtures("_no_work")
def test_an_unwritable_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    ended = run("easy", "data.nc")
    assert ended.exit_code == 4
    assert "the folder '.' may not be written to" in ended.stderr


# --- when it goes wrong half-way ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "Error: interrupted.\n"),
        (OSError(28, "No space left on device", "x.tmp"), 4, "there is no space left for 'data.nc'"),
    ],
)
def test_a_failed_write_leaves_nothing(monkeypatch: pytest.MonkeyPatch, failure, code, words) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    ended = run("easy", "data.nc", *SMALL)
    assert ended.exit_code == code
    assert words in ended.stderr
    assert os.listdir() == []


def test_a_refusal_in_a_process_of_its_own() -> None:
    ended = in_a_process("easy", "data.nc", "--times", "2", "--rows", "2", "--columns", "2")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith("Error: 3 concepts need at least 3 rows (authors), one each, got 2; ")
    assert ended.stderr.count("\n") == 1
