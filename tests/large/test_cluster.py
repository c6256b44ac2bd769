"""Real clusters of processes on this machine; one of their workers is killed."""

import os
import signal
import tracemalloc

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2 import clusters
from tparafac2.clusters import connected
from tparafac2.large import Stored, take_stored
from tparafac2.large import cluster as room

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
SETTINGS = {"smoothness": 1e-3, "n_starts": 3, "random_state": 0}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="module")
def in_memory(X):
    return tp.TParafac2(3, **SETTINGS).fit(X)


def kept(X, folder):
    held = np.memmap(folder / "x.bin", dtype="f8", mode="w+", shape=X.shape)
    held[...] = X
    held.flush()
    return held


def test_a_dask_array_is_fitted_where_it_is(X, client, in_memory):
    lazy = da.from_array(X, chunks=(4, 90, 40))
    model = tp.TParafac2(3, **SETTINGS).fit(lazy)
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-12)
    assert model.n_iter_ == in_memory.n_iter_
    assert model.result_.method.passes > 10


def test_workers_read_their_rows_themselves(X, client, tmp_path, in_memory):
    stored = Stored(kept(X, tmp_path), client=client)
    model = tp.TParafac2(3, **SETTINGS).fit(stored)
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_prepared_and_missing(X, client, share):
    X = np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)
    preparation = tp.Preparation(center="columns", scale="rows")
    model = tp.TParafac2(3, **SETTINGS).fit(preparation.apply(da.from_array(X, chunks=(9, 50, 40))))
    memory = tp.TParafac2(3, **SETTINGS).fit(preparation.apply(X))
    assert model.objective_ == pytest.approx(memory.objective_, rel=1e-7)


class KillAfter:
    """Kill a worker when some passes were made."""

    def __init__(self, cluster, passes):
        self.cluster, self.left = cluster, passes

    def __call__(self):
        self.left -= 1
        if self.left == 0:
            os.kill(next(iter(self.cluster.workers.values())).pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "dask"])
def test_a_worker_that_dies_changes_nothing(X, cluster, client, tmp_path, kind):
    given = kept(X, tmp_path) if kind == "file" else da.from_array(X, chunks=(9, 50, 40))
    model = tp.TParafac2(3, **SETTINGS)
    undisturbed = model.fit_intake(take_stored(Stored(given, client=client))).result_
    intake = take_stored(Stored(given, client=client))
    # The fit follows the reads by a function of its own: kill from inside one of the passes.
    run, kill = type(intake.data.blocks)._once, KillAfter(cluster, 6)

    def killing(self, *asked):
        kill()
        return run(self, *asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room.OnWorkers, "_once", killing)
        disturbed = tp.TParafac2(3, **SETTINGS).fit_intake(intake).result_
    assert kill.left < 0
    # Sums depend in their last digit on where in memory arrays arrive.
    assert disturbed.objective == pytest.approx(undisturbed.objective, rel=1e-12)
    np.testing.assert_allclose(disturbed.A, undisturbed.A, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(disturbed.B, undisturbed.B, rtol=1e-8, atol=1e-10)


def test_no_more_data_on_the_client_than_its_part(client, tmp_path):
    held = np.memmap(tmp_path / "x.bin", dtype="f8", mode="w+", shape=(10, 20_000, 30))
    held[...] = np.random.default_rng(0).standard_normal(held.shape)
    held.flush()
    stored = Stored(held, client=client)
    tracemalloc.start()
    data = take_stored(stored).data
    data.project(np.ones((1, 2, 20_000)))
    data.accumulate(np.ones((1, 2, 10, 30)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < held.nbytes / 8
    assert data.nbytes == 0


def test_infinite_values_are_found_by_the_workers(X, client):
    X = X.copy()
    X[3, 200, 5] = np.inf
    with pytest.raises(
        ValueError, match=r"infinite values in block \d+ of \d+ .* slice 3, row 200, column 5"
    ):
        tp.TParafac2(3).fit(da.from_array(X, chunks=(9, 50, 40)))


def test_a_file_that_workers_cannot_read(X, client, tmp_path):
    stored = Stored(kept(X, tmp_path), client=client)
    (tmp_path / "x.bin").unlink()
    with pytest.raises(OSError, match=r"x\.bin"):
        take_stored(stored)


def test_rows_that_nobody_can_compute_again(X, client):
    futures = client.scatter([X[:, :200], X[:, 200:]], hash=False)
    parts = [da.from_delayed(one, (9, 200, 40), float) for one in futures]
    lazy = da.concatenate(parts, axis=1)
    intake = take_stored(Stored(lazy, client=client))
    client.cancel(futures, force=True)
    for block in intake.data.blocks.blocks:
        client.cancel(block, force=True)
    with pytest.raises(ChildProcessError, match="nobody can compute again: keep the data where all workers"):
        intake.data.project(np.ones((1, 1, 400)))


def test_a_cluster_without_enough_memory(client, tmp_path):
    (tmp_path / "x.bin").touch()
    os.truncate(tmp_path / "x.bin", 8 * 100 * 10_000_000 * 100)  # sparse: it takes no room
    held = np.memmap(tmp_path / "x.bin", dtype="f8", mode="r", shape=(100, 10_000_000, 100))
    sentence = (
        r"the 2 workers of the cluster have .* GB of memory together, and 'x\.bin' takes about 1,200\.0 GB"
    )
    with pytest.raises(MemoryError, match=sentence):
        take_stored(Stored(held, client=client))


def test_a_cluster_without_workers(X):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as nobody,
        distributed.Client(nobody) as client,
        pytest.raises(ValueError, match="has no workers"),
    ):
        take_stored(Stored(da.from_array(X), client=client))


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    with (
        pytest.raises(ValueError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'tparafac2\[cluster\]'"), connected("local"):
        pass


def test_starts_are_shared_by_the_workers(X, client, tmp_path, monkeypatch):
    from tparafac2.starts import batches

    sent = []
    do = batches.Cluster.do
    monkeypatch.setattr(batches, "batch_size", lambda shape, rank: 1)
    monkeypatch.setattr(batches.Cluster, "do", lambda *given: sent.append(len(given[2])) or do(*given))
    here = tp.TParafac2(3, **SETTINGS).fit(Stored(kept(X, tmp_path)))
    assert sent == []
    there = tp.TParafac2(3, **SETTINGS).fit(Stored(kept(X, tmp_path), client=client))
    assert sent == [3]
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
    assert there.starts_.rough_objective.to_numpy() == pytest.approx(
        here.starts_.rough_objective.to_numpy(), rel=1e-12
    )


def test_an_interruption_before_any_worker_is_done(X, client, tmp_path, monkeypatch):
    from tparafac2.starts import batches

    monkeypatch.setattr(batches, "batch_size", lambda shape, rank: 1)
    monkeypatch.setattr(batches.Cluster, "do", lambda self, work, pieces, stop: iter([None] * len(pieces)))
    model = tp.TParafac2(3, **SETTINGS).fit(Stored(kept(X, tmp_path), client=client))
    assert (len(model.starts_), model.status_) == (1, "interrupted")
    assert np.isfinite(model.objective_)
