"""The memory that a fit is said to need is what it needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import gc, re, sys, warnings
import numpy as np, scipy.sparse as sp, tparafac2 as tp
from tparafac2.models import fitting

warnings.simplefilter("ignore")
kind, said = sys.argv[1], []
fitting.require_memory = lambda needed, *rest: said.append(needed)


def now(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])


def make(shape):
    rng = np.random.default_rng(0)
    if kind == "sparse":
        return [sp.random_array(shape[1:], density=0.02, rng=rng) for _ in range(shape[0])]
    X = rng.random(shape)
    if kind in ("exact", "em"):
        X[rng.random(shape) < 0.1] = np.nan
    return X


def fit(X, rank=3, n_starts=2):
    more = {"missing": kind} if kind in ("exact", "em") else {}
    more["dtype"] = "float32" if kind == "float32" else "float64"
    tp.TParafac2(rank, n_starts=n_starts, max_iter=3, random_state=0, **more).fit(X)


sizes = [(16, 150, 1500), (16, 200, 2000), (20, 250, 2500)]
if kind == "compressed":
    sizes = [(10, 40, 10000), (10, 50, 15000), (10, 60, 20000)]
for shape, more in zip(sizes, ({"n_starts": 6}, {"rank": 5}, {})):
    fit(make((4, 30, 20)), **more)
    X = make(shape)
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")
    before = now("VmRSS")
    fit(X, **more)
    print(said[-1] / (now("VmHWM") - before))
"""


def peak_can_be_reset():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


@pytest.mark.skipif(not peak_can_be_reset(), reason="the system does not let peaks of memory be measured")
@pytest.mark.parametrize("kind", ["dense", "float32", "compressed", "exact", "em", "sparse"])
def test_the_estimate_is_within_a_fifth_of_the_measured_peak(kind):
    # Arrays of their own, given back when they are freed: otherwise rests of the last fit are used again.
    own = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", MEASURE, kind]
    ran = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    ratios = [float(line) for line in ran.stdout.split()]
    assert len(ratios) == 3
    assert ratios == [pytest.approx(1, abs=0.2)] * 3
