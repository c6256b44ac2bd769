"""The processes that share the work hear no Ctrl-C, and end when they are told to or left alone."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tparafac2.starts.processes import in_processes, stop_workers

pytestmark = pytest.mark.slow


def ignores_ctrl_c(piece):
    return piece, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("ordered", [True, False])
def test_results_come_back_from_processes_that_ignore_ctrl_c(ordered):
    pieces = [(piece,) for piece in range(6)]
    found = list(in_processes(ignores_ctrl_c, pieces, 2, ordered=ordered))
    assert (found if ordered else sorted(found)) == [(piece, True) for piece in range(6)]


@pytest.mark.skipif(sys.platform == "win32", reason="no signal masks")
def test_a_ctrl_c_while_processes_begin_is_not_lost():
    heard = []
    before = signal.signal(signal.SIGINT, lambda signum, frame: heard.append(signum))

    def pieces():
        """Joblib asks for the first piece when it is about to begin the processes."""
        os.kill(os.getpid(), signal.SIGINT)
        yield from ((piece,) for piece in range(4))

    try:
        found = [piece for piece, _ in in_processes(ignores_ctrl_c, pieces(), 2)]
    finally:
        signal.signal(signal.SIGINT, before)
    assert found == [0, 1, 2, 3]
    assert heard == [signal.SIGINT]


def test_workers_are_stopped_in_the_middle_of_their_work():
    from joblib.externals.loky import get_reusable_executor

    work = get_reusable_executor(max_workers=1, reuse=True).submit(time.sleep, 60)
    while not work.running():
        time.sleep(0.01)
    began = time.monotonic()
    stop_workers()
    assert work.exception(timeout=10) is not None
    assert time.monotonic() - began < 20
    stop_workers()  # there are none: nothing happens


SCRIPT = textwrap.dedent("""
    import os, sys, time
    from tparafac2.starts.processes import in_processes

    def work(ballast):
        os.write(1, b"at work\\n")
        time.sleep(600)

    # More than a pipe holds: whoever is killed in the middle of it leaves half a message.
    results = in_processes(work, [(bytes(300_000),)] * 4, 2)
    os.write(1, b"begun\\n")
    list(results)
""")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("moment", ["begun", "at work"])
def test_whoever_is_killed_leaves_no_processes(moment):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    all_gone = threading.Event()

    def listen():
        """Until the last process that could write has gone."""
        for line in process.stdout:
            if line.decode().strip() == moment:
                process.kill()
        all_gone.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        assert process.wait(timeout=120) == -signal.SIGKILL
        assert all_gone.wait(timeout=30)
    finally:
        if not all_gone.is_set():
            os.killpg(process.pid, signal.SIGKILL)
