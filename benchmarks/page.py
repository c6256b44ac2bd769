"""How large a page is and how soon it can be used: version 0.1, out of the history, against this one.

Every page is opened in a browser without a window, three times; the least time counts. The weights are random
walks with steps of a fiftieth of their spread, which is rough: smooth patterns make smaller pages.
"""

import os
import runpy
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from shutil import which

from whole_fits import ROOT, old_source

SIZES = [(50, 100, 20, 3), (500, 1000, 50, 5), (1000, 5000, 200, 8)]  # rows, columns, times, rank
REPEATS = 3

WRITE = """
import sys
import numpy as np
from tparafac2.data import Labels
from tparafac2.report import write_page
from tparafac2.result import Result
I, J, K, R = map(int, sys.argv[2:])
rng = np.random.default_rng(0)
B = np.cumsum(rng.standard_normal((K, J, R)), axis=0) * 0.02 + rng.standard_normal((1, J, R))
A, C = rng.standard_normal((I, R)), rng.uniform(1, 2, (K, R))
labels = Labels(rows=[f"row {i}" for i in range(I)], columns=[f"column {j}" for j in range(J)])
result = Result(model="TParafac2", A=A, B=B, C=C, labels=labels, objective=1.0, explained_variance=0.9,
                status="Converged.", converged=True, n_iter=9)
write_page(result, sys.argv[1])
"""
WATCH = """new MutationObserver((_, watch) => {
  if (document.documentElement.dataset.ready) { window.readyAt = performance.now(); watch.disconnect(); }
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });"""
ANOTHER = """(() => {
  const began = performance.now();
  document.querySelectorAll("#components input")[1].click();
  document.body.offsetHeight;
  return performance.now() - began;
})()"""


def written(source, file, size):
    """Write a page of random patterns with the package at this place; its size in MB."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-W", "ignore", "-c", WRITE, str(file), *map(str, size)]
    subprocess.run(command, env=environment, check=True)
    return file.stat().st_size / 1e6


def driver():
    """What drives the browser of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    return runpy.run_path(str(ROOT / "tests" / "browser" / "conftest.py"))


def opened(new_tab, file):
    """Seconds until the page can be used, and until it has shown another component."""
    times = []
    for _ in range(REPEATS):
        tab = new_tab()
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        tab.open(file).until("window.readyAt !== undefined", seconds=60)
        times.append((tab.run("window.readyAt") / 1000, tab.run(ANOTHER) / 1000))
        tab.close()
    return [min(one) for one in zip(*times)]


def main():
    drive = driver()
    program = next(filter(None, map(which, drive["NAMES"])))
    print("| rows x columns x times, rank | | page, MB | ready, s | another component, s |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        browser = drive["Chromium"](program, Path(folder))
        old = old_source(folder)
        for size in SIZES:
            for name, source in (("0.1", old), ("now", ROOT / "src")):
                file = Path(folder) / "page.html"
                megabytes = written(source, file, size)
                ready, another = opened(partial(drive["Tab"], browser), file)
                I, J, K, R = size
                row = f"{I} x {J} x {K}, {R} | {name} | {megabytes:.2f} | {ready:.2f} | {another:.2f}"
                print(f"| {row} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
