"""Ctrl-C gives the best so far, also of other processes that share the work; these end with the first one."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tparafac2.starts.processes import Interrupt, in_processes, stop_workers

pytestmark = pytest.mark.slow


class TestInterrupt:
    def test_the_first_is_noted_and_the_second_raised(self):
        with Interrupt() as interrupt:
            assert not interrupt.requested
            signal.raise_signal(signal.SIGINT)
            assert interrupt.requested
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)

    def test_afterwards_all_is_as_before(self):
        before = signal.getsignal(signal.SIGINT)
        with Interrupt():
            assert signal.getsignal(signal.SIGINT) != before
        assert signal.getsignal(signal.SIGINT) == before
        with pytest.raises(ZeroDivisionError), Interrupt():
            raise ZeroDivisionError
        assert signal.getsignal(signal.SIGINT) == before

    def test_other_actions_follow(self):
        done = []
        with Interrupt() as interrupt:
            interrupt.on_request(lambda: done.append(1))
            interrupt.on_request(lambda: done.append(2))
            assert done == []
            signal.raise_signal(signal.SIGINT)
        assert done == [1, 2]

    def test_an_action_that_comes_too_late_is_done_at_once(self):
        """The user may be quicker than the workers that are to be told."""
        done = []
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGINT)
            interrupt.on_request(lambda: done.append(1))
        assert done == [1]

    def test_outside_the_main_thread_nothing_changes(self):
        before = signal.getsignal(signal.SIGINT)
        seen = []

        def work():
            with Interrupt() as interrupt:
                seen.extend([interrupt.requested, signal.getsignal(signal.SIGINT) == before])

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == [False, True]

    def test_who_ignores_it_goes_on_to_do_so(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with Interrupt():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


INTERRUPTED = textwrap.dedent("""
    import os, signal, sys, threading, time
    import numpy as np
    import tparafac2 as tp
    from tparafac2.starts.processes import stop_workers

    X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=18).X
    options = dict(rank=5, random_state=0, n_starts=26, tol=0.0, feasibility_tol=1e-300)

    def press_ctrl_c(delay):
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            time.sleep(0.005)
        time.sleep(delay)
        os.killpg(0, signal.SIGINT)

    def interrupted(n_jobs, delay):
        threading.Thread(target=press_ctrl_c, args=(delay,), daemon=True).start()
        model = tp.TParafac2(max_iter=10**7, n_jobs=n_jobs, **options).fit(X)
        assert all(np.isfinite(factor).all() for factor in (model.A_, model.B_, model.C_))
        assert (model.C_ >= 0).all()
        assert model.explained_variance_ < 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        return model.status_

    tp.TParafac2(max_iter=1, **options).fit(X)
    print("alone:", interrupted(1, 0.3), flush=True)
    print("before there are workers:", interrupted(2, 0.02), flush=True)
    stop_workers()
    print("while workers start:", interrupted(2, 0.8), flush=True)
    tp.TParafac2(max_iter=1, n_jobs=2, **options).fit(X)
    print("workers at work:", interrupted(2, 0.3), flush=True)
""")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How fits ended that were interrupted at different moments, one after the other in one process."""
    out, err = (tmp_path_factory.mktemp("interrupted") / name for name in ("out", "err"))
    with out.open("w") as to_out, err.open("w") as to_err:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore::UserWarning", "-c", INTERRUPTED],
            stdout=to_out,
            stderr=to_err,
            start_new_session=True,  # a group of its own: not the one that runs the tests
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            code = process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            code = "it went on"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = out.read_text()
    assert code == 0, said + err.read_text()[-2000:]
    assert "Traceback" not in err.read_text()
    return dict(line.split(": ") for line in said.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups")
@pytest.mark.parametrize(
    "moment", ["alone", "before there are workers", "while workers start", "workers at work"]
)
def test_ctrl_c_during_a_fit_gives_the_best_so_far(moment, ended):
    """On a terminal Ctrl-C reaches the whole process group, workers too."""
    assert ended[moment] == "interrupted"


def ignores_ctrl_c(piece):
    return piece, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_results_come_back_from_processes_that_ignore_ctrl_c():
    pieces = [(piece,) for piece in range(6)]
    found = list(in_processes(ignores_ctrl_c, pieces, 2))
    assert found == [(piece, True) for piece in range(6)]


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
        with process.stdout:
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
