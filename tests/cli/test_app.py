"""The command line as a whole: help, version, and how lightly it starts."""

import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import tparafac2
from tparafac2.cli.app import app
from tparafac2.cli.errors import ExitCode

pytestmark = pytest.mark.slow

PLAIN = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
RUNNER = CliRunner(env=PLAIN)
HEAVY = ("numpy", "numba", "scipy", "pandas", "xarray", "matplotlib", "joblib", "h5py")


def in_a_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tparafac2", *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=os.environ | PLAIN | environment
    )


def test_version() -> None:
    run = in_a_process("--version")
    assert (run.returncode, run.stdout, run.stderr) == (0, f"tparafac2 {tparafac2.__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(option: str) -> None:
    run = in_a_process(option)
    assert run.returncode == 0
    assert run.stderr == ""
    assert "Find patterns that change in time." in run.stdout
    assert "forecast" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "\x1b" not in run.stdout


def test_help_lists_the_exit_codes() -> None:
    listed = re.findall(r"^\s*(\d+)  \w", RUNNER.invoke(app, ["--help"]).stdout, flags=re.MULTILINE)
    assert [int(code) for code in listed] == list(ExitCode)


def test_alone_it_shows_its_help() -> None:
    run = RUNNER.invoke(app, [])
    assert run.exit_code == ExitCode.USAGE
    assert "Exit codes:" in run.output
    assert "Commands" in run.output


def test_completion_is_not_offered() -> None:
    assert "completion" not in RUNNER.invoke(app, ["--help"]).stdout


@pytest.mark.parametrize("arguments", [["frobnicate"], ["--frobnicate"], ["fit"], ["transform", "folder"]])
def test_wrong_usage(arguments: list[str]) -> None:
    run = RUNNER.invoke(app, arguments)
    assert run.exit_code == ExitCode.USAGE
    assert run.stdout == ""
    assert "--help" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fit", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from tparafac2.cli.app import app
try:
    app({arguments!r})
except SystemExit as ended:
    print("ended with", ended.code)
print("loaded:", *[name for name in {HEAVY!r} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | PLAIN)
    assert run.stdout.splitlines()[-2:] == ["ended with 0", "loaded:"]
