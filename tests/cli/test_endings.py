"""Ctrl-C and SIGTERM: what is said, what is written, and what is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli.errors import Terminated, terminable
from tparafac2.starts.progress import Progress

pytestmark = pytest.mark.slow

AXES = ["--axes", "time,rows,columns", "--rank", "2", "--smoothness", "1e-3", "--starts", "2"]
BARE = ["--figures", "none"]


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "x.npy", tp.synthetic.easy(seed=1, n_times=5, n_rows=12, n_columns=14, n_concepts=2).X)
    return tmp_path / "x.npy"


@pytest.fixture
def press(monkeypatch):
    """Press Ctrl-C in the third iteration of the fits with these numbers, counted from 0."""

    def at(*fits):
        begun = iter(range(100))
        fit = [-1]

        def iteration(self, batch, entry):
            if entry.iteration == 1:
                fit[0] = next(begun)
            if entry.iteration == 3 and fit[0] in fits:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(Progress, "iteration", iteration)

    return at


def test_an_interrupted_fit_says_so_and_gives_the_best_so_far(file, tmp_path, press):
    press(0)
    ended = run("fit", file, *AXES, *BARE, "--out", tmp_path / "out")
    assert ended.exit_code == 130
    assert f"interrupted: '{tmp_path / 'out'}' has the best that was found so far." in ended.stderr
    assert tp.load(tmp_path / "out" / "model.npz").status_ == "interrupted"


def test_json_of_an_interrupted_fit_is_one_document(file, tmp_path, press):
    press(0)
    ended = run("fit", file, *AXES, *BARE, "--out", tmp_path / "out", "--json")
    assert ended.exit_code == 130
    assert json.loads(ended.stdout)["status"] == "interrupted"


def test_an_interrupted_fit_replaces_nothing(file, tmp_path, press):
    again = ("fit", file, *AXES, *BARE, "--out", tmp_path / "out", "--overwrite", "--json")
    assert run(*again).exit_code == 0
    before = (tmp_path / "out" / "model.npz").read_bytes()
    press(0)
    ended = run(*again)
    assert ended.exit_code == 130
    assert "nothing was written" in ended.stderr
    assert json.loads(ended.stdout)["exit_code"] == 130
    assert (tmp_path / "out" / "model.npz").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "x.npy"]


def test_ctrl_c_counts_although_the_chosen_start_had_converged(file, tmp_path, monkeypatch):
    """Starts end at different times: one may be at its end before the user loses patience with the others."""
    ends = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(np.load(file)).starts_["n_iter"]
    assert ends.min() + 2 < ends.max()

    def iteration(self, batch, entry):
        if entry.iteration == ends.min() + 1:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "iteration", iteration)
    ended = run("fit", file, *AXES, *BARE, "--out", tmp_path / "out")
    assert tp.load(tmp_path / "out" / "model.npz").converged_
    assert ended.exit_code == 130
    assert "interrupted" in ended.stderr


def test_compare_ends_after_the_current_model(file, press):
    press(1)
    ended = run("compare", file, *AXES[:2], "--starts", "2", "--rank", "1", "--rank", "2", "--rank", "3")
    assert ended.exit_code == 130
    assert "interrupted: 1 of 3 models were fitted." in ended.stderr
    assert "tparafac2 rank 1" in ended.stdout
    assert "rank 2" not in ended.stdout
    assert "rank 3" not in ended.stdout


def test_half_a_comparison_replaces_nothing(file, tmp_path, press):
    asked = ["compare", file, *AXES[:2], "--starts", "2", "--rank", "1,2", "--out", tmp_path / "out"]
    press(1)
    ended = run(*asked)
    assert ended.exit_code == 130
    kept = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert kept == ["1-tparafac2-rank-1.npz", "comparison.csv", "log.json"]
    press(1)
    ended = run(*asked, "--overwrite")
    assert ended.exit_code == 130
    assert "nothing was written" in ended.stderr


def test_compare_without_a_finished_model_has_no_table(file, press):
    press(0)
    ended = run("compare", file, *AXES, "--json")
    assert ended.exit_code == 130
    assert json.loads(ended.stdout) == {
        "error": "interrupted before the first of the models was fitted.",
        "exit_code": 130,
    }


def test_compare_shows_what_is_finished_if_ctrl_c_comes_between_fits(file, monkeypatch):
    fit = tp.TParafac2.fit

    def impatient(self, X, **given):
        if self.rank == 2:
            raise KeyboardInterrupt
        return fit(self, X, **given)

    monkeypatch.setattr(tp.TParafac2, "fit", impatient)
    ended = run("compare", file, *AXES[:2], "--starts", "2", "--rank", "1", "--rank", "2")
    assert ended.exit_code == 130
    assert "tparafac2 rank 1" in ended.stdout


# --- SIGTERM ------------------------------------------------------------------------------------------------


def test_sigterm_is_raised_and_then_as_before():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), terminable():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_sigterm_does_not_disturb_the_cleaning_up():
    with terminable():
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)


def test_whoever_ignores_sigterm_goes_on_doing_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with terminable():
            signal.raise_signal(signal.SIGTERM)
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_sigterm_while_writing_leaves_nothing(file, tmp_path, monkeypatch):
    seen = []

    def write_page(*given, **about):
        seen.extend(path.name for path in tmp_path.iterdir())
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("tparafac2.report.write_page", write_page)
    ended = run("fit", file, *AXES, *BARE, "--out", tmp_path / "out", "--json")
    assert ended.exit_code == 143
    assert "Error: terminated." in ended.stderr
    assert json.loads(ended.stdout) == {"error": "terminated.", "exit_code": 143}
    assert len(seen) == 2  # there was something to clean up
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_compare_ends_at_once_with_sigterm(file, monkeypatch):
    monkeypatch.setattr(tp.TParafac2, "fit", lambda self, X, **given: signal.raise_signal(signal.SIGTERM))
    ended = run("compare", file, *AXES)
    assert (ended.exit_code, ended.stdout) == (143, "")


def children(process: int) -> list[int]:
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    except OSError:
        return []
    return [one for text in lists for child in text.split() for one in (int(child), *children(int(child)))]


def at_work(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes")
def test_sigterm_ends_the_workers_too(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20, 60, 60)))
    long = ["--starts", "40", "--max-iter", "1000000", "--jobs", "2", *BARE]
    process = subprocess.Popen(
        [sys.executable, "-m", "tparafac2", "fit", "x.npy", *AXES[:2], *long],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    workers: list[int] = []
    try:
        patience = time.monotonic() + 30
        while len(workers) < 3 and time.monotonic() < patience:  # two, and one that watches over resources
            workers = children(process.pid)
            time.sleep(0.05)
        time.sleep(0.5)
        workers = children(process.pid)
        process.terminate()
        _, said = process.communicate(timeout=15)
        time.sleep(0.5)
        assert len(workers) >= 3
        assert (process.returncode, said) == (143, "Error: terminated.\n")
        assert [worker for worker in workers if at_work(worker)] == []
        assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]
    finally:
        process.kill()
        for worker in filter(at_work, workers):
            os.kill(worker, signal.SIGKILL)
