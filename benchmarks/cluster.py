"""What a Dask cluster costs: the same fit of a file, read in blocks here, or kept by workers on this machine.

    python benchmarks/cluster.py --rows 20000 --iterations 40 --workers 1,2,4 --repeats 3

Workers have one thread each. The least of the times of some repeats is told.
"""

import argparse
import json
import os
import tempfile
import time
import warnings
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy is imported
    os.environ.setdefault(threads, "1")

import numpy as np  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

import tparafac2 as tp  # noqa: E402

K, J, RANK = 30, 200, 5


def write(path, rows):
    """Data of a model that drifts, with noise."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, mode="w+", dtype="f8", shape=(K, rows, J))
    A, first, second = (rng.standard_normal((n, RANK)) for n in (rows, J, J))
    for k in range(K):
        B = np.linalg.qr(np.cos(k / K) * first + np.sin(k / K) * second)[0]
        X[k] = (A * (1.0 + 0.5 * np.sin(k / 5 + np.arange(RANK)))) @ B.T
        X[k] += 0.1 * rng.standard_normal((rows, J))
    X.flush()


def fitted(path, iterations, n_jobs, client=None):
    """Seconds of a fit, its objective, and how often it worked on all data."""
    X = np.load(path, mmap_mode="r")
    settings = {"smoothness": 1e-3, "n_starts": 3, "random_state": 0, "max_iter": iterations}
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tp.TParafac2(RANK, **settings, n_jobs=n_jobs).fit(tp.Stored(X, client=client))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "objective": model.objective_, "passes": model.result_.method.passes}


def best(repeats, *asked):
    """The fastest of some."""
    return min((fitted(*asked) for _ in range(repeats)), key=lambda one: one["seconds"])


def main():
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        write(path, asked.rows)
        fitted(path, 1, 1)  # compiled, and the file read once
        for n_jobs in (1, 2):
            print(
                json.dumps({"n_jobs": n_jobs, **best(asked.repeats, path, asked.iterations, n_jobs)}),
                flush=True,
            )
        for workers in map(int, asked.workers.split(",")):
            with (
                LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster) as client,
            ):
                fitted(path, 1, 1, client)
                found = best(asked.repeats, path, asked.iterations, 1, client)
            print(json.dumps({"workers": workers, **found}), flush=True)


if __name__ == "__main__":
    main()
