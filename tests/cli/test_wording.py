"""What the library says in Python is said in flags, and what the user wrote stays as it is."""

import re

import numpy as np
import pandas as pd
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tparafac2 as tp
from tparafac2.cli.app import app
from tparafac2.cli.wording import Flags, flags_of
from tparafac2.words import Advice, Argument, Setting, said

COMMANDS = typer.main.get_command(app).commands
FIT = flags_of(COMMANDS["fit"])
PYTHON = re.compile(
    r"\w+=|\bpandas\.|\bframe\.|\btparafac2\.(?!html)|Result\.|\bwith overwrite|"
    r"\b(n_starts|n_jobs|random_state|max_iter|top_columns|feasibility_tol|coverage_)\b"
)


def test_flags_are_those_of_the_command():
    assert FIT["n_starts"] == "--starts"
    assert FIT["top_columns"] == "--top-columns"
    assert FIT["as_json"] == "--json"
    assert "file" not in FIT  # an argument
    assert "h" not in FIT
    assert flags_of(COMMANDS["forecast"])["h"] == "--steps"
    assert flags_of(None) == {}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Argument("n_starts"), "--starts"),
        (Argument("random_state"), "--seed"),
        (Argument("tol"), "tol"),  # not an option of the command
        (Setting("rows", "rr"), "--rows rr"),
        (Setting("rows", "r r"), "--rows 'r r'"),
        (Setting("rows"), "--rows"),
        (Setting("pseudocount", 0.5), "--pseudocount 0.5"),
        (Setting("tol", 0.5), "tol=0.5"),
        (Setting("rows", "\x1b"), "--rows '\\x1b'"),  # cannot be typed
        (Advice("or_none", ", or None"), ""),
        (Advice("another", "do so"), "do so"),
        ("say rows='rr'", "say rows='rr'"),
    ],
)
def test_arguments_become_flags(part, expected):
    assert said([part], Flags(FIT)) == expected


@given(st.text(), st.sampled_from(sorted(FIT)))
def test_names_of_the_user_stay_whatever_they_are(name, option):
    parts = [f"there is no {name!r} here: say ", Setting(option, name), "."]
    assert said(parts, Flags(FIT)).startswith(f"there is no {name!r} here: say {FIT[option]} ")
    assert said(parts).endswith(f" say {option}={name!r}.")


# --- sentences as users meet them ---------------------------------------------------------------------------

NAMES = ["--rows", "r", "--columns", "c", "--time", "t", "--values", "v"]


def table(**changed):
    k, i, j = (grid.ravel() for grid in np.indices((3, 2, 3)))
    columns = {"r": i, "c": j, "t": 2000 + k, "v": 1.0 + k + i * j} | changed
    return pd.DataFrame({name: pd.Series(np.asarray(column)) for name, column in columns.items()})


def as_csv(frame):
    return lambda folder: frame.to_csv(folder / "x.csv", index=False) or "x.csv"


def as_arrays(**arrays):
    return lambda folder: np.savez(folder / "x.npz", **arrays) or "x.npz"


def as_cube(*dims):
    import xarray as xr

    return lambda folder: xr.Dataset({"X": (dims, np.ones((2, 3, 4)))}).to_netcdf(folder / "x.nc") or "x.nc"


def as_model(folder):
    tp.CP(1, n_starts=1, max_iter=3).fit(np.ones((2, 3, 3))).save(folder / "x.npz")
    return "x.npz"


BY_TIME = {"X": np.arange(18.0).reshape(3, 2, 3), "time": np.array([1, 1, 2])}
CASES = {
    "no such column": (as_csv(table()), [*NAMES, "--rows", "rr"], "--rows rr is not a column"),
    "no columns named": (as_csv(table()), ["--rows", "r"], "--columns"),
    "repeated": (as_csv(pd.concat([table(), table()])), NAMES, "--duplicates sum"),
    "mean of nothing": (
        as_csv(table()),
        [*NAMES[:6], "--duplicates", "mean"],
        "--duplicates mean needs --values",
    ),
    "no columns kept": (as_csv(table()), [*NAMES, "--top-columns", "0"], "--top-columns must be"),
    "no label": (as_csv(table(r=[None, *["a"] * 17])), NAMES, "leave such lines out"),
    "no time": (as_csv(table(t=["2020-02-01", "2020-02-01", "soon"] * 6)), NAMES, "soon"),
    "other dates": (as_csv(table(t=["01/02/2020", "01/03/2020", "01/04/2020"] * 6)), NAMES, "01/02/2020"),
    "axes of a table": (
        as_csv(table()),
        [*NAMES, "--axes", "rows,columns,time"],
        "--axes rows,columns,time cannot",
    ),
    "logs of zero": (as_csv(table(v=[0.0] * 9 + [1.0] * 9)), [*NAMES, "--transform", "clr"], "--pseudocount"),
    "roots of less": (
        as_csv(table(v=[-1.0] * 18)),
        [*NAMES, "--transform", "sqrt"],
        "--transform sqrt is for",
    ),
    "nothing to add to": (as_csv(table()), [*NAMES, "--pseudocount", "1"], "--transform clr only"),
    "no spread": (as_csv(table(v=[1.0] * 18)), [*NAMES, "--scale", "rows"], "--scale rows divides"),
    "no starts": (as_csv(table()), [*NAMES, "--starts", "0"], "--starts must be at least 1"),
    "no seed": (as_csv(table()), [*NAMES, "--seed", "-1"], "--seed must be at least 0"),
    "no jobs": (as_csv(table()), [*NAMES, "--jobs", "0"], "--jobs must be a positive whole number"),
    "no iterations": (as_csv(table()), [*NAMES, "--max-iter", "0"], "--max-iter must be at least 1"),
    "no smoothness": (as_csv(table()), [*NAMES, "--smoothness", "0"], "use --model parafac2"),
    "no axes": (as_arrays(X=np.ones((2, 3, 4))), [], "--axes"),
    "several arrays": (as_arrays(Y=np.ones((2, 3, 4)), Z=np.ones((2, 3, 4))), [], "--values Y"),
    "same time twice": (as_arrays(**BY_TIME), ["--axes", "time,rows,columns", "--rank", "1"], "time"),
    "no array": (
        as_arrays(X=np.ones((2, 3, 4))),
        ["--axes", "time,rows,columns", "--rows", "who"],
        "--rows who is not",
    ),
    "dimensions": (as_cube("a", "b", "d"), [], "--rows a, --columns b, --time d"),
    "no dimension": (
        as_cube("time", "author", "word"),
        ["--rows", "autor"],
        "--rows autor is not a dimension",
    ),
    "a model": (as_model, [], "tparafac2 info"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_the_command_line_speaks_in_flags(case, tmp_path):
    write, arguments, expected = CASES[case]
    file = tmp_path / write(tmp_path)
    ended = CliRunner(env={"NO_COLOR": "1"}).invoke(
        app, ["fit", str(file), "--out", str(tmp_path / "o"), *arguments]
    )
    assert ended.exit_code == 3, ended.output
    assert expected in ended.stderr
    assert not PYTHON.search(ended.stderr.replace(str(tmp_path), "")), ended.stderr


def test_notes_of_a_fit_speak_in_flags(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(4, 8, 9)))
    fit = [
        "fit",
        str(tmp_path / "x.npy"),
        "--axes",
        "time,rows,columns",
        "--rank",
        "3",
        "--smoothness",
        "1e-3",
        "--max-iter",
        "12",
        "--figures",
        "none",
    ]
    ended = CliRunner(env={"NO_COLOR": "1"}).invoke(app, [*fit, "--out", str(tmp_path / "o")])
    assert ended.exit_code == 0, ended.output
    assert "raise --max-iter" in ended.stdout
    assert "raise --max-iter" in ended.stderr
    assert not PYTHON.search(ended.stdout), ended.stdout
    told = CliRunner().invoke(app, [*fit, "--out", str(tmp_path / "p"), "--json"]).stdout
    assert "raise --max-iter" in told


def test_a_folder_in_the_way_and_a_file_that_is_no_model(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    file = tmp_path / as_csv(table())(tmp_path)
    ended = CliRunner().invoke(app, ["fit", str(file), *NAMES, "--out", str(tmp_path / "out")])
    assert "replace it with --overwrite" in ended.stderr
    (tmp_path / "y.npz").write_bytes(b"PK")
    ended = CliRunner().invoke(app, ["report", str(tmp_path / "y.npz")])
    assert "that 'tparafac2 fit' wrote" in ended.stderr
    assert not PYTHON.search(ended.stderr)
