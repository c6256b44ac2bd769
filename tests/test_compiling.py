"""Compiled code needs no place on disk."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tparafac2

pytestmark = pytest.mark.slow

PACKAGE = Path(tparafac2.__file__).parent
SOLVES = """
import numpy as np
import tparafac2.data.missing_kernels
from tparafac2.solver.row_kernels import Asked, solve_block
X = np.zeros((1, 2, 1))
solve_block(np.eye(2).reshape(1, 1, 2, 2), np.array([[[3.0], [4.0]]]), X, Asked(0.0, 0.0, 0.0, False))
print(X.round(6).ravel())
"""


@pytest.fixture
def nowhere(tmp_path):
    """Copy the package to where nothing can be kept, and no home either: not even root can write there."""
    shutil.copytree(PACKAGE, tmp_path / "tparafac2", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "file").write_text("in the way of a folder")
    for folder in ("solver", "data"):
        (tmp_path / "tparafac2" / folder / "__pycache__").write_text("in the way of a folder")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), str(tmp_path / "file" / "folder"))
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return kept | places | {"PYTHONPATH": str(tmp_path)}


def run(env, *words):
    return subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=False)


def test_without_a_place_to_keep_code_it_is_compiled_in_memory_with_one_notice(nowhere):
    ran = run(nowhere, "-c", SOLVES)
    assert ran.stdout == "[3. 4.]\n"
    assert ran.stderr.count("set NUMBA_CACHE_DIR") == 1


def test_commands_run_without_a_place_to_keep_code(nowhere, tmp_path):
    np.save(tmp_path / "data.npy", np.ones((3, 4, 5)))
    ran = run(nowhere, "-m", "tparafac2", "info", str(tmp_path / "data.npy"))
    assert (ran.returncode, ran.stderr.count("Warning:"), "(3, 4, 5)" in ran.stdout) == (0, 1, True), ran


def test_a_folder_named_in_the_environment_keeps_code(nowhere, tmp_path):
    ran = run(nowhere | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}, "-c", SOLVES)
    assert (ran.stdout, ran.stderr) == ("[3. 4.]\n", "")
    assert list((tmp_path / "kept").rglob("*solve_block*.nbi"))
