"""What is expected of pictures, tables, pages and folders of results, and is still to come."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp

# --- columns with long labels -------------------------------------------------------------------------------

LONG = [f"beginofalonglabel{j:02}endofthatverylonglabel" for j in range(12)]


@pytest.fixture(scope="module")
def with_long_labels():
    """A fit of columns with long labels, and the same with their places as labels."""
    X = tp.synthetic.easy(seed=0, noise=0.1, n_times=6, n_rows=20, n_columns=12, n_concepts=2).X
    coordinates = {"time": 2000 + np.arange(6), "rows": np.arange(20), "columns": LONG}
    given = xr.DataArray(X, coordinates, ("time", "rows", "columns"))
    kinds = pd.DataFrame({"half": ["first", "second"] * 10}, index=np.arange(20))
    return [
        tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(one, row_attributes=kinds)
        for one in (given, given.assign_coords(columns=np.arange(12)))
    ]


DRAWN = {
    "courses": lambda model, column: tp.plots.courses(model, 1, columns=[column]),
    "group_courses": lambda model, column: tp.plots.group_courses(model, "half", column=column),
}


@pytest.mark.xfail(
    strict=True,
    reason="a long label finds another column with the same ends",
    raises=AssertionError,
)
@pytest.mark.parametrize("picture", DRAWN)
def test_a_picture_shows_the_column_that_a_long_label_names(with_long_labels, picture):
    long, short = with_long_labels
    wanted, drawn = (DRAWN[picture](model, column) for model, column in ((short, 5), (long, LONG[5])))
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), wanted.lines[0].get_ydata())


# --- when a column moved ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moving():
    """One component in which a word comes and another goes, from 2003 to 2017 with the most in the middle."""
    rng = np.random.default_rng(0)
    way = 1 / (1 + np.exp(-(np.arange(20) - 9.5) / 1.5))
    B = np.column_stack([way, 1 - way, np.full((20, 4), 0.5)])
    X = np.einsum("i,kj->kij", rng.uniform(1.0, 2.0, 30), B)
    X += 0.01 * rng.standard_normal(X.shape)
    coordinates = {"time": 2000 + np.arange(20), "rows": np.arange(30), "columns": list("abcdef")}
    given = xr.DataArray(X, coordinates, ("time", "rows", "columns"))
    model = tp.TParafac2(1, 1e-4, n_starts=1, random_state=0).fit(given)
    model.intervals(given, n_resamples=20, loadings=False, n_jobs=1, progress=False)
    return model


@pytest.mark.xfail(
    strict=True, reason="figure and table say otherwise when a column moved", raises=AssertionError
)
@pytest.mark.slow
def test_a_column_moved_at_the_same_times_in_figure_and_table(moving, tmp_path):
    table = pd.read_csv(tp.io.write_results(moving, tmp_path / "out", figures=()) / "moves.csv")
    ax = tp.plots.movers(moving, 1, n=1)
    columns = [label.get_text() for label in ax.get_yticklabels()]
    times = [text.get_text() for text in ax.texts if "→" in text.get_text()]
    assert columns == ["a", "b"]
    for column, move, when in zip(columns, ("rise", "fall"), times):
        line = table[(table["column"] == column) & (table["move"] == move)].iloc[0]
        assert when == f"{line['from']} → {line['to']}"


# --- pages --------------------------------------------------------------------------------------------------


@pytest.mark.xfail(
    strict=True, reason="the page of numbers above 1e38 beside the data", raises=RuntimeWarning
)
def test_a_page_shows_large_numbers_beside_their_fit(tmp_path):
    X = 1e150 * tp.synthetic.easy(seed=0, noise=0.1, n_times=6, n_rows=20, n_columns=18, n_concepts=2).X
    model = tp.TParafac2(2, 1e-3, n_starts=1, random_state=0).fit(X)
    page = tp.report.write_page(model, tmp_path / "report.html", data=X)
    assert page.stat().st_size > 1000


@pytest.mark.xfail(strict=True, reason="a page does not take the dict that was fitted", raises=ValueError)
def test_a_page_takes_the_data_as_the_fit_did(tmp_path):
    X = tp.synthetic.easy(seed=0, noise=0.1, n_times=6, n_rows=20, n_columns=18, n_concepts=2).X
    given = {2000 + k: pd.DataFrame(piece) for k, piece in enumerate(X)}
    model = tp.TParafac2(2, 1e-3, n_starts=1, random_state=0).fit(given)
    page = tp.report.write_page(model, tmp_path / "report.html", data=given)
    array = tp.report.write_page(model, tmp_path / "array.html", data=X)
    assert page.read_text() == array.read_text()


# --- folders of results -------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import tparafac2 as tp

class Fatal:
    def __str__(self):
        os.kill(os.getpid(), signal.SIGKILL)

model, folder = tp.load(sys.argv[1]), sys.argv[2]
tp.io.write_results(model, folder, figures=(), about={"title": Fatal()})
"""


@pytest.mark.xfail(
    strict=True, reason="what a killed process was writing stays for ever", raises=AssertionError
)
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_the_next_run_removes_what_a_killed_one_left(tmp_path):
    X = np.random.default_rng(0).random((5, 6, 4))
    model = tp.CP(1, n_starts=1, random_state=0).fit(X)
    saved, place = tmp_path / "model.npz", tmp_path / "place"
    place.mkdir()
    model.save(saved)
    run = [sys.executable, "-c", KILLED, str(saved), str(place / "out")]
    ended = subprocess.run(run, env=os.environ, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (place / "out").exists()
    tp.io.write_results(model, place / "out", figures=())
    assert os.listdir(place) == ["out"]


# --- names of components on the command line ----------------------------------------------------------------


@pytest.mark.xfail(strict=True, reason="a name of several lines ends in a traceback", raises=AssertionError)
@pytest.mark.slow
def test_names_of_several_lines_are_taken_or_refused(tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).random((5, 6, 4)))
    arguments = ["fit", "data.npy", "--rank", "2", "--out", "out", "--names", "first\nline,second"]
    run = [sys.executable, "-m", "tparafac2", *arguments]
    ended = subprocess.run(run, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
    assert "Traceback" not in ended.stderr
    assert (ended.returncode == 0) == (tmp_path / "out").is_dir()
