"""What is kept of the data, as it is said on the command line."""

import json
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli.options import Source
from tparafac2.data import Table
from tparafac2.data.table import TABLE_DEFAULTS, TableOptions

NAMES = ["--rows", "land", "--columns", "topic", "--time", "year", "--values", "n"]
FAST = ["--starts", "1", "--max-iter", "5", "--rank", "1", "--model", "cp"]
KEPT = ["--from", "2001", "--where", "region=Asia", "--where", "n>=3", "--without-columns", "war"]


@pytest.fixture
def table(tmp_path):
    k, i, j = (grid.ravel() for grid in np.indices((5, 4, 3)))
    frame = pd.DataFrame({"year": 2000 + k, "land": i, "n": 1.0 + k + 10 * i + j})
    frame["region"] = np.array(["Africa", "Africa", "Asia", "Asia"])[i]
    frame["topic"] = np.array(["war", "peace", "trade"])[j]
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


def test_every_command_keeps_the_same(table, tmp_path):
    said = "kept 16 of 60 lines, 2 of 4 rows, 2 of 3 columns, 4 of 5 times"
    fitted = run("fit", table, *NAMES, *FAST, *KEPT, "--figures", "none", "--out", tmp_path / "out")
    assert fitted.exit_code == 0, fitted.stderr
    assert said in fitted.stderr
    assert said in " ".join(tp.load(tmp_path / "out" / "model.npz").summary().split())
    assert said in json.loads((tmp_path / "out" / "log.json").read_text())["about"]["selection"]
    compared = run("compare", table, *NAMES, *FAST, *KEPT, "--json")
    assert said in json.loads(compared.stdout)["selection"]
    told = run("info", table, *NAMES, *KEPT)
    assert "kept 16 of 60 lines" in told.stdout
    assert "numbers from 2001 to 2004" in told.stdout


def test_a_file_with_columns_to_leave_out(table, tmp_path):
    (tmp_path / "stop.txt").write_text("war\nthe\n")
    told = run("info", table, *NAMES, "--without-columns", tmp_path / "stop.txt")
    assert "kept 40 of 60 lines" in told.stdout, told.output


def test_columns_that_are_large_for_once(table):
    by = ["--top-columns", "1", "--top-by"]
    for how in ("total", "time"):
        ended = run("compare", table, *NAMES, *FAST, *by, how, "--json")
        assert ended.exit_code == 0, ended.stderr


@pytest.mark.parametrize("command", ["fit", "compare", "info"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "2003", "--to", "2001"], "--from 2003 comes after --to 2001"),
        (["--from", "soon"], "--from soon cannot be used"),
        (["--where", "region"], "--where region is no comparison"),
    ],
)
def test_what_cannot_be_is_refused_before_the_file_is_read(table, monkeypatch, command, arguments, said):
    monkeypatch.setattr("tparafac2.io.endings.require_file", None)
    ended = run(command, table, *(NAMES if command != "info" else []), *arguments)
    assert ended.exit_code == 3, ended.output
    assert said in ended.stderr


def test_names_that_are_not_there_are_told_in_flags(table):
    ended = run("info", table, "--where", "regoin=Asia")
    assert ended.exit_code == 3
    assert "did you mean 'region'?" in ended.stderr
    assert "--top-columns" in run("fit", table, *NAMES, "--top-by", "time").stderr


# Weights may be a file here, too.
@pytest.mark.parametrize("name", sorted(set(TableOptions.__annotations__) - {"weights"}))
def test_options_of_tables_are_those_of_python(name):
    """They stand in the command line once more, as its start must not wait for NumPy."""
    here, there = (get_type_hints(one)[name] for one in (Source, Table))
    assert here == there
    assert Source.__dataclass_fields__[name].default == TABLE_DEFAULTS[name]
