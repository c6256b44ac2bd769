"""Make errors in a copy of the package, one at a time, and tell which the tests notice.

    python tests/mutations/run.py tests/mutations/visible.toml --tests tests/contract tests/solver
    python tests/mutations/run.py tests/mutations/visible.toml --tests tests/solver --only gaps-upside-down

Every error is a text that occurs exactly once in a file of the package, and another in its place. All paths
of tests are first run without an error: they have to pass, and the quickest come first from then on. Kernels
are compiled anew for the file that was changed, and for no other: the copy has always the same place, times
of change, and compiled code.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "tparafac2"
FEWEST_SECONDS = 60


class Workshop:
    """A copy of the package in a temporary folder, with compiled code of its own."""

    def __init__(self, folder):
        self.source, self.cache, self.clean = folder / "src", folder / "cache", folder / "clean"
        self.cache.mkdir()
        shutil.copytree(ROOT / "src" / PACKAGE, self.source / PACKAGE)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(self.source),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "NUMBA_CACHE_DIR": str(self.cache),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }

    def keep_cache(self):
        """What is compiled by now is that of the package without an error."""
        shutil.copytree(self.cache, self.clean)

    def change(self, mutation):
        """Put the error in."""
        path = self.source / PACKAGE / mutation["file"]
        text = path.read_text()
        path.write_text(text.replace(mutation["old"], mutation["new"]))

    def repair(self, mutation):
        """Take the error out; the time of change, too, or its kernels would be compiled once more."""
        original = ROOT / "src" / PACKAGE / mutation["file"]
        shutil.copy2(original, self.source / PACKAGE / mutation["file"])
        shutil.rmtree(self.cache)
        shutil.copytree(self.clean, self.cache)

    def run(self, tests, limit, jobs):
        """What failed first among the tests of a path (None: nothing), and the seconds that it took."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider"]
        command += ["-n", str(jobs), tests]
        began = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=self.environment, timeout=limit, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return f"{tests}: not done after {limit:.0f} s", limit
        seconds = time.monotonic() - began
        if done.returncode == 0:
            return None, seconds
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return failed[1] if failed else f"{tests}: pytest ended with {done.returncode}", seconds


def refuse_stale(mutations):
    """Every text has to occur exactly once in its file."""
    for mutation in mutations:
        path = ROOT / "src" / PACKAGE / mutation["file"]
        count = path.read_text().count(mutation["old"]) if path.exists() else 0
        if count != 1:
            raise SystemExit(
                f"{mutation['name']}: its text occurs {count} times in {mutation['file']}. Move it to where "
                f"the code is now, so that it stands for the same error: {mutation['wrong']}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("mutations", type=Path, help="a TOML file")
    parser.add_argument("--tests", nargs="+", required=True, help="paths of tests, each run by itself")
    parser.add_argument("--only", nargs="+", help="names of mutations")
    parser.add_argument("--jobs", type=int, default=0, help="processes for each path")
    asked = parser.parse_args()
    mutations = tomllib.loads(asked.mutations.read_text())["mutation"]
    if asked.only:
        mutations = [one for one in mutations if one["name"] in asked.only]
    refuse_stale(mutations)
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(Path(folder))
        took = {}
        for tests in asked.tests:
            shop.run(tests, 3600, asked.jobs)  # which compiles
            failed, took[tests] = shop.run(tests, 3600, asked.jobs)
            if failed:
                raise SystemExit(f"{failed} fails without any error: repair it first.")
            print(f"{took[tests]:6.1f} s  {tests}", flush=True)
        shop.keep_cache()
        for mutation in mutations:
            shop.change(mutation)
            killer = None
            for tests in sorted(asked.tests, key=took.__getitem__):
                killer, _ = shop.run(tests, FEWEST_SECONDS + 10 * took[tests], asked.jobs)
                if killer:
                    break
            shop.repair(mutation)
            print(f"{mutation['name']}: " + (f"killed by {killer}" if killer else "SURVIVED"), flush=True)
            survived += [] if killer else [mutation["name"]]
    print(f"{len(mutations) - len(survived)} of {len(mutations)} killed")
    raise SystemExit(bool(survived))


if __name__ == "__main__":
    main()
