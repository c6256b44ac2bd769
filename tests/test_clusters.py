"""Work on real clusters of processes on this machine, some of which are killed."""

import os
import signal
import threading
import time

import pytest

import tparafac2 as tp
from tparafac2 import clusters
from tparafac2.choosing.workers import Workers
from tparafac2.clusters import Cluster, is_unwanted

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
QUICKLY = {"smoothness": [1e-3, 1e-2], "rigidity": float("inf"), "n_starts": 2}


@pytest.fixture
def local():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(local):
    with distributed.Client(local) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=0, n_times=5, n_rows=24, n_columns=14, n_concepts=2).X


def assert_same(ours, theirs):
    """Tables that are equal but for rounding: sums depend on where in memory arrays arrive."""
    from pandas.testing import assert_frame_equal

    tables = [table.drop(columns="seconds", errors="ignore") for table in (ours, theirs)]
    assert_frame_equal(*tables, rtol=1e-6, atol=1e-9)


def kill_soon(local, seconds):
    """Kill a worker after some time."""
    pids = [worker.pid for worker in local.workers.values()]
    timer = threading.Timer(seconds, os.kill, (pids[0], signal.SIGKILL))
    timer.start()
    return timer


@pytest.mark.xfail(reason="on a cluster the settings of a choice arrive as plain tuples")
def test_a_choice_is_the_same_on_a_cluster_that_loses_a_worker(X, local, client):
    asked = {"ranks": [1, 2, 3], **QUICKLY, "compare": False, "random_state": 0}
    here = tp.choose(X, **asked)
    timer = kill_soon(local, 1.5)
    there = tp.choose(X, **asked, client=client)
    timer.join()
    assert_same(here.table, there.table)
    assert here.model.B_.tobytes() == there.model.B_.tobytes()
    assert here.summary() == there.summary()


def test_a_comparison_is_the_same_on_a_cluster(X, client):
    models, others = (
        {f"rank {r}": tp.TParafac2(r, n_starts=2, max_iter=60, random_state=0) for r in (1, 2, 3)}
        for _ in range(2)
    )
    here = tp.compare_models(models, X)
    there = tp.compare_models(others, X, client=client)
    assert_same(here, there)
    assert models["rank 3"].B_.tobytes() == others["rank 3"].B_.tobytes()


def test_what_pieces_share_is_sent_once(client):
    cluster, shared = Cluster(client), list(range(1000))
    assert list(cluster.do(max, [(shared, [-n]) for n in range(2)])) == [shared, shared]
    assert list(cluster.do(len, [(shared,)])) == [1000]
    assert [thing for thing, _ in cluster._known.values()].count(shared) == 1


def test_an_interrupt_ends_what_workers_are_doing(client):
    cluster = Cluster(client)
    began = time.monotonic()
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    assert list(cluster.do(time.sleep, [(60,), (60,), (60,)], stop.is_set)) == [None] * 3
    assert time.monotonic() - began < 30


def until_unwanted(folder):
    import pathlib
    import time

    from tparafac2.clusters import is_unwanted

    pathlib.Path(folder, "begun").touch()
    for _ in range(600):
        if is_unwanted():
            pathlib.Path(folder, "ended").touch()
            return
        time.sleep(0.05)


def test_a_task_notices_that_it_is_not_wanted(client, tmp_path):
    until_unwanted.__module__ = "__main__"  # workers do not have this file
    future = client.submit(until_unwanted, str(tmp_path), pure=False)
    deadline = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    assert not (tmp_path / "ended").exists()
    client.cancel(future)
    while not (tmp_path / "ended").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (tmp_path / "ended").exists()
    assert not is_unwanted()


def test_ctrl_c_keeps_what_was_done(client):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Workers(1, progress=False, client=client) as workers:
            assert workers.do(pow, [(2, 3), (3, 2)]) == [8, 9]
            timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            assert workers.do(time.sleep, [(60,)]) == [None]
            assert workers.interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def test_nobody_comes_back(local, client, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    timer = threading.Timer(0.5, local.scale, (0,))
    timer.start()
    with pytest.raises(ChildProcessError, match="workers of the Dask cluster were lost"):
        list(Cluster(client).do(time.sleep, [(60,)]))
    timer.join()


def test_the_whole_cluster_is_gone(local, client):
    timer = threading.Timer(0.5, local.close)
    timer.start()
    with pytest.raises(ChildProcessError, match="workers of the Dask cluster were lost"):
        list(Cluster(client).do(time.sleep, [(60,)]))
    timer.join()


@pytest.mark.parametrize("seconds", [0.05, 0.4, 1.1])
def test_a_worker_that_dies_at_any_moment_of_a_fit(X, local, client, tmp_path, seconds):
    import numpy as np

    held = np.memmap(tmp_path / "x.bin", dtype="f8", mode="w+", shape=X.shape)
    held[...] = X
    held.flush()
    settings = {"n_starts": 3, "random_state": 0, "max_iter": 60}
    undisturbed = tp.TParafac2(2, **settings).fit(tp.Stored(held, client=client))
    timer = kill_soon(local, seconds)
    disturbed = tp.TParafac2(2, **settings).fit(tp.Stored(held, client=client))
    timer.join()
    assert disturbed.objective_ == pytest.approx(undisturbed.objective_, rel=1e-9)


def test_intervals_are_the_same_on_a_cluster_that_loses_a_worker(X, local, client):
    import numpy as np

    model = tp.TParafac2(2, n_starts=2, random_state=0).fit(X)
    here = model.intervals(X, n_resamples=20)
    timer = kill_soon(local, 0.3)
    there = model.intervals(X, n_resamples=20, client=client)
    timer.join()
    for one in ("patterns", "strengths", "loadings"):
        np.testing.assert_allclose(getattr(there, one).lower, getattr(here, one).lower, atol=1e-9)


class LateAnswer:
    """A future whose answer takes a while to arrive."""

    def __init__(self, seconds, error=None):
        self.seconds, self.error = seconds, error

    def result(self):
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return "all of it"


def test_large_answers_are_waited_for(client):
    assert clusters.result_of(client, LateAnswer(1.2)) == "all of it"


def test_a_time_out_of_the_work_itself_is_an_error(client):
    with pytest.raises(TimeoutError, match="of the work"):
        clusters.result_of(client, LateAnswer(0.6, TimeoutError("of the work")))


def test_nobody_waits_for_what_is_not_wanted(client):
    began = time.monotonic()
    assert clusters.result_of(client, LateAnswer(30.0), lambda: True) is None
    assert time.monotonic() - began < 20.0


class Ending:
    """The client of a cluster that is about to end: it knows of no workers, not even that there are none."""

    status = "running"

    def scheduler_info(self, n_workers):
        return {}


def test_a_cluster_that_is_about_to_end(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.1)
    with pytest.raises(ChildProcessError, match="were lost, and did not come back"):
        clusters.result_of(Ending(), LateAnswer(30.0))
    assert clusters.count_threads(Ending()) == 1
