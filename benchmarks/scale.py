"""Data larger than memory: written to disk in blocks, and fitted within a part of their size.

    python benchmarks/scale.py dense --gigabytes 40 --memory 8GB

Every fit is a process of its own, whose memory is capped where the system allows it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

K, J, RANK = 50, 1000, 5
SMOOTHNESS = 1e-3
SEED = 0
NOISE = 0.5  # norm of the noise over that of the signal

FIT = """
import json, resource, sys, time, warnings
import numpy as np, zarr
import tparafac2 as tp
warnings.simplefilter("ignore")
path, memory, rank, smoothness, seed = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:6])
X = zarr.open_array(path, mode="r")
tp.TParafac2(2, max_iter=20, n_starts=2).fit(np.random.default_rng(0).random((4, 30, 20)))  # compiled
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
data = tp.Stored(X, memory=memory) if memory != "all" else X[...]
model = tp.TParafac2(rank, smoothness=smoothness, random_state=seed).fit(data)
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "passes": model.result_.method.passes, "objective": model.objective_,
    "explained": model.explained_variance_, "iterations": int(model.n_iter_),
    "converged": bool(model.converged_),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "base": base * 1024}))
"""


def truth(rng):
    """Patterns that turn slowly, and strengths, of a model."""
    first, second = (np.linalg.qr(rng.standard_normal((J, RANK)))[0] for _ in range(2))
    angles = np.linspace(0.0, np.pi / 3, K)
    B = np.stack([np.linalg.qr(np.cos(a) * first + np.sin(a) * second)[0] for a in angles])
    C = 1.0 + 0.5 * np.sin(np.linspace(0, 6, K)[:, None] + np.arange(RANK))
    return B, C


def write(path, rows, block):
    """A Zarr store of float32, block by block; chunks are whole blocks of rows."""
    import zarr

    rng = np.random.default_rng(SEED)
    B, C = truth(rng)
    W = (B * C[:, None, :]).transpose(2, 0, 1).reshape(RANK, K * J).astype("f4")
    store = zarr.create_array(path, shape=(K, rows, J), chunks=(K, block, J), dtype="f4", compressors=None)
    sigma = np.float32(NOISE * np.sqrt(RANK * 1.1 / J))
    for first in range(0, rows, block):
        last = min(first + block, rows)
        A = rng.standard_normal((last - first, RANK)).astype("f4")
        values = (A @ W).reshape(last - first, K, J)
        values += sigma * rng.standard_normal(values.shape, dtype="f4")
        store[:, first:last] = values.transpose(1, 0, 2)


def reading(path):
    """Seconds that it takes to read all of a store once, one chunk after the other, and nothing else."""
    import zarr

    store = zarr.open_array(path, mode="r")
    began = time.perf_counter()
    for first in range(0, store.shape[1], store.chunks[1]):
        store[:, first : first + store.chunks[1]]
    return time.perf_counter() - began


ONE_PASS = """
import json, sys, time
import numpy as np, zarr
import tparafac2 as tp
from tparafac2.large import take_stored
path, memory, rank = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
class AsTheyAre:
    def part(self, rows):
        return np.asarray
began = time.perf_counter()
data = take_stored(tp.Stored(zarr.open_array(path, mode="r"), memory=memory)).data
looked = time.perf_counter() - began
K, I, J = data.shape
W = np.random.default_rng(0).random((1, rank, K, J))
began = time.perf_counter()
data.sweep(W, AsTheyAre())
print(json.dumps({"look": looked, "sweep": time.perf_counter() - began}))
"""


def fitted(path, memory, cap=None, script=FIT):
    """A fit in a process of its own, which gets no more address space than `cap` bytes."""
    command = [sys.executable, "-c", script, str(path), memory, *map(json.dumps, (RANK, SMOOTHNESS, SEED))]
    limit = None if cap is None else (lambda: resource.setrlimit(resource.RLIMIT_AS, (cap, cap)))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def dense(gigabytes, memory, folder, block=100, fit=True):
    """Write, read, work through once, and fit; print what it took."""
    rows = int(gigabytes * 1e9 / (4 * K * J) / block) * block
    path = Path(folder) / "dense.zarr"
    began = time.perf_counter()
    write(path, rows, block)
    print(
        f"{gigabytes} GB: {rows} rows x {J} columns x {K} times, float32; "
        f"written in {time.perf_counter() - began:.0f} s",
        flush=True,
    )
    once = reading(path)
    print(f"read once: {once:.1f} s, {gigabytes * 1e3 / once:.0f} MB/s", flush=True)
    cap = int(float(memory.removesuffix("GB")) * 1e9)
    one = fitted(path, memory, cap, ONE_PASS)
    print(
        f"one look: {one['look']:.1f} s, {one['look'] / once:.2f} x reading once; one pass with both "
        f"products: {one['sweep']:.1f} s, {one['sweep'] / once:.2f} x",
        flush=True,
    )
    if not fit:
        return None
    found = fitted(path, memory, cap)
    print(json.dumps(found))
    print(
        f"{found['passes']} passes and all starts: {found['seconds']:.0f} s; "
        f"peak {found['peak'] / 1e9:.2f} GB ({found['base'] / 1e9:.2f} before)",
        flush=True,
    )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("dense", "control", "pass"))
    parser.add_argument("--gigabytes", type=float, default=40)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--folder", default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        found = dense(asked.gigabytes, asked.memory, folder, fit=asked.what != "pass")
        if asked.what == "control":
            whole = fitted(Path(folder) / "dense.zarr", "all")
            print(json.dumps(whole), f"objective {found['objective'] / whole['objective'] - 1:+.0e}")
