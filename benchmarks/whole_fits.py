"""Whole default fits, from data to result: version 0.1, out of this repository's history, against this one.

Every measurement is a process of its own, in turn: a busy machine is then busy for all of them.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

import numpy as np
from objective import objective
from peers import matcouply_tparafac2

import tparafac2 as tp

ROOT = Path(__file__).parents[1]
VERSION_0_1 = "a154abd"
SMOOTHNESS = 1e-3
SEED = 0

SIZES = [  # name, rows, columns, times, rank, repeats, aim on two cores
    ("150 x 100 x 20, R = 3", 150, 100, 20, 3, 7, "3x"),
    ("1000 x 500 x 20, R = 5", 1000, 500, 20, 5, 3, ""),
    ("50 x 20000 x 20, R = 5", 50, 20_000, 20, 5, 3, ""),
    ("60 x 100 x 500, R = 4", 60, 100, 500, 4, 3, ""),
    ("flights, 35 x 105 x 52, R = 4", 35, 105, 52, 4, 5, "4x"),
    ("text, 198 x 1500 x 77, R = 6", 198, 1500, 77, 6, 1, "5x"),
    ("400 x 5000 x 60, R = 8", 400, 5000, 60, 8, 1, ""),
]

FIT = """
import json, sys, time, warnings
import numpy as np
import tparafac2 as tp
warnings.simplefilter("ignore")
X = np.load(sys.argv[1])
rank, repeats, jobs, asked = map(json.loads, sys.argv[2:])
tp.TParafac2(rank, max_iter=300, **asked).fit(X[:4, :40, :30])  # compiled before the clock starts
seconds = []
for _ in range(repeats):
    began = time.perf_counter()
    model = tp.TParafac2(rank, n_jobs=jobs, **asked).fit(X)
    seconds.append(time.perf_counter() - began)
print(json.dumps({"seconds": min(seconds), "objective": model.objective_, "iterations": int(model.n_iter_),
                  "together": int(model.starts_["n_iter"].sum())}))
"""


def data_of(name, I, J, K, rank):
    """What is fitted: flights of the package, counts like a corpus, or the paper's easy case."""
    if name.startswith("flights"):
        slices = tp.io.samples.flights().slices()
        return np.sqrt(np.stack([np.asarray(one.todense()) for one in slices]).astype(float))
    if name.startswith("text"):
        from run import corpus

        return corpus()
    return tp.synthetic.easy(SEED, n_times=K, n_rows=I, n_columns=J, n_concepts=rank).X


def old_source(folder):
    """Version 0.1 as it was, without its environment: the packages are those of today."""
    packed = subprocess.run(
        ["git", "archive", VERSION_0_1, "src"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder) / "src"


def fitted(source, file, rank, repeats, jobs, **more):
    """Seconds, objective and iterations of a fit in a process of its own."""
    asked = {"smoothness": SMOOTHNESS, "random_state": SEED, **more}
    command = [sys.executable, "-c", FIT, str(file), *map(json.dumps, (rank, repeats, jobs, asked))]
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def whole_fits(quick, report):
    """Rows of the table of whole fits."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        old, new, file = old_source(folder), ROOT / "src", Path(folder) / "X.npy"
        for name, I, J, K, rank, repeats, aim in SIZES[: 1 if quick else None]:
            X = data_of(name, I, J, K, rank)
            np.save(file, X)
            before = fitted(old, file, rank, repeats, 1)
            one, two = (fitted(new, file, rank, repeats, jobs) for jobs in (1, 2))
            higher = one["objective"] / before["objective"] - 1
            rows.append(
                [
                    name,
                    f"{before['seconds']:.2f}",
                    f"{one['seconds']:.2f} ({before['seconds'] / one['seconds']:.1f}x)",
                    f"{two['seconds']:.2f} (**{before['seconds'] / two['seconds']:.1f}x**)",
                    aim,
                    f"{higher:+.0e}",
                    f"{before['together']} / {one['together']}",
                    peer(X, rank, one["objective"], two["seconds"]),
                ]
            )
            report(rows[-1])
    header = [
        "data",
        "0.1, s",
        "one core, s",
        "two cores, s",
        "aim",
        "objective, relative to 0.1",
        "iterations of all starts, 0.1 / now",
        "matcouply, one start",
    ]
    return header, rows


def peer(X, rank, target, ours):
    """How far matcouply is from our objective after ten times as long as our fit took, or 20 to 60 s."""
    weights = (SMOOTHNESS * np.linalg.norm(X) ** (4 / 3),) * 3
    matcouply_tparafac2(X[:2, :9, :8], 2, weights, 1)  # imported before the clock starts
    began = time.perf_counter()
    matcouply_tparafac2(X, rank, weights, 2)
    each = (time.perf_counter() - began) / 2
    iterations = max(2, int(min(max(20.0, 10 * ours), 60.0) / each))
    if iterations < 10:
        return f"{each:.0f} s an iteration"
    began = time.perf_counter()
    factors = matcouply_tparafac2(X, rank, weights, iterations)
    seconds = time.perf_counter() - began
    above = objective(X, *factors, weights) / target - 1
    where = f"{100 * above:.2g} % above" if above > 1e-6 else "the same objective"
    return f"{where} after {seconds:.0f} s ({iterations} iterations)"


def beside_plain(quick, report):
    """Rows of the table of other models beside the plain one: whole fits on two cores."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file, holed, sampled = (Path(folder) / f"{name}.npy" for name in ("X", "holed", "sampled"))
        for name, I, J, K, rank, repeats, _ in [SIZES[i] for i in ((0,) if quick else (0, 3, 4))]:
            X = data_of(name, I, J, K, rank)
            rng = np.random.default_rng(SEED)
            np.save(file, X)
            np.save(holed, np.where(rng.random(X.shape) < 0.1, np.nan, X))
            np.save(sampled, np.where(rng.random((*X.shape[:2], 1)) < 0.1, np.nan, X))
            asked = [
                (file, {}),
                (file, {"nonnegative": "patterns"}),
                (file, {"nonnegative": "both"}),
                (file, {"rigidity": 1.0}),
                (holed, {}),
                (sampled, {}),
            ]
            seconds = [
                fitted(ROOT / "src", data, rank, repeats, 2, **more)["seconds"] for data, more in asked
            ]
            plain = seconds[0]
            rows.append(
                [name, f"{plain:.2f}", *(f"{other:.2f} ({other / plain:.1f}x)" for other in seconds[1:])]
            )
            report(rows[-1])
    header = [
        "data",
        "plain, s",
        "non-negative patterns",
        "and rows (no sketch)",
        "rigidity 1 (with its path)",
        "a tenth of the entries missing",
        "a tenth of the samples missing",
    ]
    return header, rows
