import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import commands
import pytest

pytestmark = pytest.mark.slow
SMALL = shlex.split(
    "--quick --case almost-zero --datasets 1 --starts 1 --times 6 --rows 24 --columns 18 --jobs 1"
)


run = partial(commands.run, "paper")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """One run, which takes a while: where it is, and what was said."""
    out = tmp_path_factory.mktemp("paper") / "out"
    return out, run(*SMALL, "--out", out)


@pytest.fixture
def out(first, tmp_path):
    """The folder of that run, to do harm to."""
    return Path(shutil.copytree(first[0], tmp_path / "out"))


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_paper_in_one_command(first):
    out, result = first
    assert result.exit_code == 0
    assert "TOO FEW DATA SETS: tPARAFAC2" in result.stdout
    assert str(out / "index.html") in result.stdout
    assert (out / "figures" / "almost_zero.pdf").exists()


def test_again_for_machines(out, monkeypatch):
    monkeypatch.setattr("tparafac2.experiments.reproduction._draw", lambda folder, findings: None)
    told = json.loads(run(*SMALL, "--out", out, "--json").stdout)
    assert told["outcomes"] == {"too few data sets": len(told["verdicts"])}
    chosen = {at: {"too few data sets": len(those)} for at, those in told["verdicts_at_chosen"].items()}
    assert told["outcomes_at_chosen"] == chosen
    assert list(chosen) == ["tPARAFAC2, chosen", "flexible tPARAFAC2, chosen"]


def test_without_what_the_data_choose_only_the_papers_methods_are_told(out, monkeypatch):
    monkeypatch.setattr("tparafac2.experiments.reproduction._draw", lambda folder, findings: None)
    monkeypatch.setattr("tparafac2.experiments.page.to_html", lambda blocks, folder: "")
    said = run(*SMALL, "--out", out, "--without-chosen").stdout
    assert "3 claims of the paper: too few data sets 3." in said
    written = (out / "results.csv").read_text() + (out / "README.md").read_text()
    assert "--without-chosen" not in said
    assert not any(words in said + written for words in (", chosen", "data chose"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--case", "esay"], "did you mean 'easy'?"),
        (["--datasets", "0"], "datasets must be from 1"),
        (["--columns", "10"], "need at least 18 columns"),
        (["--jobs", "0"], "jobs must be a positive whole number"),
        (["--seed", "-1"], "seed must be from 0"),
    ],
)
def test_bad_settings_end_in_a_sentence_before_anything_is_made(tmp_path, arguments, said):
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 3
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_settings_is_refused(out):
    before = contents(out)
    result = run(*SMALL, "--seed", "5", "--out", out)
    assert result.exit_code == 3
    assert "seed 0 there, 5 now" in result.stderr
    assert str(out / "protocol.json") in result.stderr
    assert contents(out) == before


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = run(*SMALL, "--out", tmp_path)
    assert result.exit_code == 3
    assert "is not empty" in result.stderr


def test_a_damaged_record_is_named(out):
    record = out / "records" / "almost_zero-1" / "0000" / "PARAFAC2.json"
    record.write_text(record.read_text()[:100])
    result = run(*SMALL, "--out", out)
    assert result.exit_code == 3
    assert str(record) in result.stderr
    assert len(record.read_text()) == 100


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    out = tmp_path / "out"
    many = shlex.split("--datasets 20 --starts 2 --times 6 --rows 24 --columns 27 --jobs 2")
    process = subprocess.Popen(
        [sys.executable, "-m", "tparafac2", "paper", *many, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(out.rglob("records/**/[!.]*.json"))) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in told
    assert "Traceback" not in told
