"""Ctrl-C gives the best so far; a second one means it."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from tparafac2.starts.interrupt import Interrupt

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


SCRIPT = textwrap.dedent("""
    import os, signal, sys, threading, time
    import numpy as np
    import tparafac2 as tp
    from tparafac2.starts import batch_size

    n_jobs, warm, delay = int(sys.argv[1]), sys.argv[2] == "warm", float(sys.argv[3])
    X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=18).X
    options = dict(rank=5, random_state=0, n_jobs=n_jobs, n_starts=26, tol=0.0, feasibility_tol=1e-300)
    if warm:
        tp.TParafac2(max_iter=1, **options).fit(X)

    def press_ctrl_c():
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            time.sleep(0.005)
        time.sleep(delay)
        os.killpg(0, signal.SIGINT)

    threading.Thread(target=press_ctrl_c, daemon=True).start()
    model = tp.TParafac2(max_iter=10**7, **options).fit(X)
    assert all(np.isfinite(factor).all() for factor in (model.A_, model.B_, model.C_))
    assert (model.C_ >= 0).all()
    assert model.explained_variance_ < 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print(model.status_)
""")


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups")
@pytest.mark.parametrize(
    ("n_jobs", "workers", "delay"),
    [(1, "warm", 0.3), (2, "warm", 0.3), (2, "cold", 0.02), (2, "cold", 0.8)],
    ids=["alone", "workers at work", "before there are workers", "while workers start"],
)
def test_ctrl_c_during_a_fit_gives_the_best_so_far(n_jobs, workers, delay, tmp_path):
    """On a terminal Ctrl-C reaches the whole process group, workers too."""
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as to_out, err.open("w") as to_err:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore::UserWarning", "-c", SCRIPT, str(n_jobs), workers, str(delay)],
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
    assert code == 0, err.read_text()[-2000:]
    assert out.read_text().startswith("interrupted")
    assert "Traceback" not in err.read_text()
