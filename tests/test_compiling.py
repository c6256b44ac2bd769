"""Compiled code needs no place on disk."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import tparafac2
from tparafac2 import compiling

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


def root(x):
    if x < 0.0:
        raise ValueError("no root of " + str(int(x)))
    return np.sqrt(x)


def caller_of(one_root):
    """Compile a caller that is not kept on disk, so that it is compiled every time."""

    @numba.njit
    def sum_of_roots(x):
        total = 0.0
        for i in range(len(x)):
            total += one_root(x[i])
        return total

    return sum_of_roots


@pytest.mark.parametrize("known", [True, False])
def test_parts_do_what_they_say_also_where_numba_is_another(monkeypatch, known):
    if not known:
        monkeypatch.setattr(compiling, "_part_compiler", lambda: None)
    sum_of_roots = caller_of(compiling.part(root, {}))
    assert sum_of_roots(np.array([4.0, 9.0])) == 5.0
    with pytest.raises(ValueError, match="no root of -3"):
        sum_of_roots(np.array([4.0, -3.0]))


def test_parts_have_no_machine_code_of_their_own():
    part = compiling.part(root, {})
    part.compile((numba.float64,))
    (compiled,) = part.overloads.values()
    assert not compiled.library._codegen._engine.is_symbol_defined(compiled.fndesc.llvm_func_name)


def double(x):
    return 2.0 * x


def test_what_is_kept_is_not_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    call = compiling.Call(compiling.kernel(double, {}), (1.0,))
    assert call.is_missing()
    call.compile()
    assert not call.is_missing()
    assert not compiling.Call(compiling.kernel(double, {}), (1.0,)).is_missing()
    assert compiling.Call(compiling.kernel(double, {}), (1,)).is_missing()


def test_what_cannot_be_kept_is_not_missing():
    assert not compiling.Call(numba.njit(double), (1.0,)).is_missing()


def writes(path):
    return f"open({str(path)!r}, 'w').close()"


def test_a_helper_has_done_its_work_afterwards(tmp_path):
    with compiling.helped(writes(tmp_path / "done")):
        pass
    assert (tmp_path / "done").exists()


def test_a_helper_that_fails_or_cannot_start_does_no_harm(monkeypatch, tmp_path):
    with compiling.helped("raise SystemExit(3)"):
        pass
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python-that-is-not-there"))
    with compiling.helped("pass"):
        pass


@pytest.mark.parametrize("reason", ["one of many", "one processor", "another program"])
def test_there_is_no_helper_where_it_would_be_in_the_way(monkeypatch, tmp_path, reason):
    if reason == "one of many":
        monkeypatch.setattr(compiling.multiprocessing.current_process(), "_name", "LokyProcess-1")
    elif reason == "one processor":
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", "/usr/bin/photograph-editor")
    with compiling.helped(writes(tmp_path / "done")):
        pass
    assert not (tmp_path / "done").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="processes end in other ways there")
def test_a_helper_ends_with_the_process_it_helps(tmp_path):
    lasting = f"import os, time; open({str(tmp_path / 'id')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    helped = f"import time\nfrom tparafac2.compiling import helped\nwith helped({lasting!r}): time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", helped])
    helper = int(wait_for(lambda: (tmp_path / "id").exists() and (tmp_path / "id").read_text()))
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: not is_running(helper))


def wait_for(condition):
    for _ in range(3000):
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("waited for nothing")


def is_running(process):
    """Whether it runs; one that has ended and that nobody asked for is a zombie where nobody collects it."""
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return status.stdout.strip()[:1] not in ("", "Z")


def test_only_a_terminal_is_told_of_compilation_and_once(monkeypatch):
    for terminal in (False, True):
        stream = io.StringIO()
        stream.isatty = lambda answer=terminal: answer
        monkeypatch.setattr(sys, "stderr", stream)
        compiling.tell_of_compilation.cache_clear()
        compiling.tell_of_compilation()
        compiling.tell_of_compilation()
        assert stream.getvalue().count("only once") == terminal
