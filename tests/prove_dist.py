"""Prove the wheel and the sdist: each alone, in an empty environment, fits the sample data and makes a page.

    python tests/prove_dist.py dist constraints.txt

Nothing of the checkout is in sight there: neither as the folder of work nor on the path of modules.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

NEEDED = (
    "tparafac2/py.typed",
    "tparafac2/io/samples/flights.csv.gz",
    "tparafac2/io/samples/planes.csv.gz",
    "tparafac2/io/samples/PROVENANCE.txt",
    "tparafac2/report/page.html",
    "tparafac2/report/page.css",
    "tparafac2/report/page.js",
)
LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


def names(package: Path) -> list[str]:
    """List what is in a wheel or an sdist."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return wheel.namelist()
    with tarfile.open(package) as sdist:
        return sdist.getnames()


def check_contents(package: Path) -> None:
    """Refuse a package without the files that are not modules, or with what the machine left behind."""
    held = names(package)
    missing = [name for name in NEEDED if not any(one.endswith(name) for one in held)]
    litter = [one for one in held if "__pycache__" in one or one.endswith((".pyc", ".nbi", ".nbc"))]
    if missing or litter:
        raise SystemExit(f"{package.name} lacks {missing} and should not hold {litter}.")


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command, and end with its output where it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")


def prove(package: Path, constraints: Path) -> None:
    """Install the package alone, and let it fit the sample data."""
    check_contents(package)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder).resolve()
        venv.create(empty / "venv", with_pip=True, symlinks=True)
        programs = empty / "venv" / ("Scripts" if os.name == "nt" else "bin")
        pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
        pinned = ("-c", constraints, "--no-compile")
        run(*pip, *pinned, "hatchling", cwd=empty)
        run(*pip, *pinned, "--no-build-isolation", package, cwd=empty)
        installed = time.monotonic()
        run(programs / "tparafac2", "demo", "--out", empty / "demo", cwd=empty)
        page = empty / "demo" / "report.html"
        if not page.is_file() or "</html>" not in page.read_text(encoding="utf-8"):
            raise SystemExit(f"{package.name}: the demo wrote no page.")
        size = page.stat().st_size / 1e6
    print(
        f"{package.name}: installed in {installed - begun:.0f} s, "
        f"a page of {size:.1f} MB after another {time.monotonic() - installed:.0f} s."
    )


if __name__ == "__main__":
    folder, constraints = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    packages = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if len(packages) != 2:
        raise SystemExit(f"{folder} should hold a wheel and an sdist; got {[one.name for one in packages]}.")
    for package in packages:
        prove(package, constraints)
