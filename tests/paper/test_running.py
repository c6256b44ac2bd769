import copy
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from plan import Plan
from records import Store
from running import Cluster, Local, run, workers

pytestmark = pytest.mark.slow


class Few(Plan):
    """The first tasks of a plan: all there is to see is seen on these."""

    def tasks(self):
        return islice(super().tasks(), 8)


WHOLE = Plan(
    cases=("easy",), datasets=1, starts=2, n_times=6, n_rows=24, n_columns=18, max_iter=100, coarse=True
)
PLAN = Few(**vars(WHOLE))
TASKS = list(PLAN.tasks())


def silent(progress):
    pass


def without_times(records):
    kept = copy.deepcopy(records)
    for record in kept.values():
        del record["fit"]["seconds"]
    return kept


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("reference") / "out", PLAN.protocol)
    run(PLAN, store, Local(1), silent)
    return without_times(store.read())


class Stumbling:
    """Does the first few tasks, then dies."""

    def __init__(self, steps):
        self.steps = steps

    def do(self, tasks, protocol):
        for number, done in enumerate(Local(1).do(tasks, protocol)):
            if number == self.steps:
                raise KeyboardInterrupt
            yield done


def test_every_task_has_a_record(reference):
    assert set(reference) == set(TASKS)


def test_what_was_done_is_kept_and_not_done_again(tmp_path, reference):
    store = Store(tmp_path / "out", PLAN.protocol)
    with pytest.raises(KeyboardInterrupt):
        run(PLAN, store, Stumbling(5), silent)
    written = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.json")}
    assert len(store.read()) == 5
    seen = []
    assert run(PLAN, store, Local(1), seen.append) == len(TASKS) - 5
    assert [(one.done, one.total) for one in seen] == [(n, len(TASKS)) for n in range(5, len(TASKS) + 1)]
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert without_times(store.read()) == reference
    assert run(PLAN, store, Stumbling(0), silent) == 0


def test_processes_give_the_same_records(tmp_path, reference):
    store = Store(tmp_path / "out", PLAN.protocol)
    run(PLAN, store, Local(2), silent)
    assert without_times(store.read()) == reference


def test_a_run_killed_in_the_middle_goes_on(tmp_path, reference):
    folder = tmp_path / "out"
    code = (
        "from pathlib import Path\n"
        "from plan import Plan\n"
        "from records import Store\n"
        "from running import Local, run\n"
        f"plan = {WHOLE!r}\n"
        f"run(plan, Store(Path({str(folder)!r}), plan.protocol), Local(1), lambda progress: None)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2] / "paper")
    deadline = time.monotonic() + 120
    while len(list(folder.rglob("records/**/*.json"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    store = Store(folder, WHOLE.protocol)
    kept = store.read()
    assert 1 <= len(kept) < len(list(WHOLE.tasks()))
    missing = [task for task in TASKS if task not in kept]  # some, unless this process was asleep for long
    assert run(PLAN, store, Local(1), silent) == len(missing)
    found = without_times(store.read())
    assert {task: found[task] for task in TASKS} == reference


def test_half_a_fit_is_no_result(tmp_path, monkeypatch):
    store = Store(tmp_path / "out", PLAN.protocol)
    monkeypatch.setattr("tparafac2.starts.processes.Interrupt.requested", True, raising=False)
    monkeypatch.setattr("tparafac2.starts.processes.Interrupt.__init__", lambda self: None)
    monkeypatch.setattr("tparafac2.starts.processes.Interrupt.__enter__", lambda self: self)
    monkeypatch.setattr("tparafac2.starts.processes.Interrupt.__exit__", lambda self, *error: None)
    with pytest.raises(KeyboardInterrupt):
        run(PLAN, store, Local(1), silent)
    assert store.read() == {}


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_records(tmp_path, reference):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "out", PLAN.protocol)
    killed = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:

        def kill_one(progress):
            if progress.done == 1:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        run(PLAN, store, Cluster(cluster.scheduler_address), kill_one)
    assert killed
    found = without_times(store.read())
    assert set(found) == set(TASKS)
    for task, record in found.items():
        expected = reference[task]
        assert record["fit"]["objective"] == pytest.approx(expected["fit"]["objective"], rel=1e-9)
        assert record["scores"]["stacked"]["score"] == pytest.approx(
            expected["scores"]["stacked"]["score"], abs=1e-6
        )
        assert [start["kept"] for start in record["starts"]] == [
            start["kept"] for start in expected["starts"]
        ]


def test_nobody_at_the_address_is_said(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("tparafac2.clusters.PATIENCE", 0.5)
    with pytest.raises(ValueError, match="no Dask scheduler answers at 'tcp://127"):
        list(Cluster("tcp://127.0.0.1:1").do(TASKS, PLAN.protocol))


def test_dask_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"tparafac2\[cluster\]"):
        workers(dask="local")


@pytest.mark.parametrize("jobs", [0, True, 1.5, "2"])
def test_the_number_of_processes_is_checked(jobs):
    with pytest.raises(ValueError, match="jobs must be"):
        Local(jobs)


def test_another_version_on_a_worker_is_noticed(monkeypatch):
    monkeypatch.setattr("measure.__version__", "99.0")
    with pytest.raises(RuntimeError, match="install the same version"):
        next(Local(1).do(TASKS, PLAN.protocol))


def test_a_killed_process_ends_in_a_sentence_and_loses_nothing(tmp_path):
    store = Store(tmp_path / "out", PLAN.protocol)

    def kill_a_worker(progress):
        if progress.done == 2:
            import psutil

            workers = [
                p for p in psutil.Process().children(recursive=True) if "popen_loky" in " ".join(p.cmdline())
            ]
            workers[0].kill()

    with pytest.raises(ChildProcessError, match="goes on from there"):
        run(WHOLE, store, Local(2), kill_a_worker)  # enough tasks that some are left for the one killed
    assert len(store.read()) >= 2
