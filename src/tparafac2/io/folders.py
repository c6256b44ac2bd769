"""A folder of results that is complete or not there at all, and never takes the place of anything else."""

import csv
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tparafac2.errors import InTheWay
from tparafac2.words import Argument

_FILES = (
    "model.nc",
    "log.json",
    "report.html",
    "loadings.csv",
    "patterns.csv",
    "strengths.csv",
    "starts.csv",
    "distinctive.csv",
    "associations.csv",
    "components.csv",
    "moves.csv",
    "contrasts.csv",
    "changes.csv",
    "choice.csv",
    "choice_components.csv",
)
_PREFIX = ".unfinished-"
COMPARISON = "comparison.csv"
"""The table of a comparison, whose column `file` names the models beside it."""

MODELS = "models"
"""Where other models are kept beside the one of a folder."""

_WITHIN = {
    "figures": re.compile(r"(strengths|convergence|choice|(pattern|movers|loadings)-\d+)\.(png|pdf|svg)"),
    MODELS: re.compile(r"\d+-.+\.nc"),
}
"""What there may be in a folder of ours within the folder."""


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuse a folder that cannot be written or must not be replaced, before any work; else say where it is.

    A link to a folder stands for the folder that it leads to.

    Examples
    --------
    >>> check_folder("no/such/place", overwrite=False)
    Traceback (most recent call last):
    FileNotFoundError: there is no folder 'no/such' to make 'place' in: make it first.
    """
    given = Path(folder)
    target = given.resolve()
    said = repr(str(given))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(given.parent)!r} to make {given.name!r} in: make it first."
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"the folder {str(given.parent)!r} may not be written to: choose another.")
    if not target.exists():
        _finish_replacement(target)
    if not target.exists():
        return target
    if not target.is_dir():
        raise FileExistsError(f"{said} is a file: give the name of a folder.")
    if os.path.ismount(target):
        raise FileExistsError(
            f"{said} is a disk of its own and cannot be replaced as a whole: give a folder in it, "
            f"for example {str(given / 'results')!r}."
        )
    if not any(target.iterdir()):
        return target
    if not overwrite:
        raise InTheWay(
            f"the folder {said} exists: choose another, or replace it with ", Argument("overwrite"), "."
        )
    if (other := _foreign(target)) is not None:
        raise FileExistsError(
            f"the folder {said} holds {other!r}, which this package did not write, so it is not "
            "replaced: choose another folder."
        )
    return target


@contextmanager
def folder_written_whole(target: Path) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `target` only if all went well.

    An older folder is put aside first, and back if anything goes wrong. If the process is killed in between,
    `check_folder` puts things right when this place is to be written to again.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with folder_written_whole(Path(place) / "out") as unfinished:
    ...         _ = (unfinished / "note.txt").write_text("done")
    ...     [path.name for path in (Path(place) / "out").iterdir()]
    ['note.txt']
    """
    try:
        place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=target.parent))
        new, old = _inside(place, target)
        try:
            new.mkdir()
            old.parent.mkdir()
            yield new
            if target.exists():
                os.rename(target, old)
            os.rename(new, target)
        finally:
            if old.exists() and not target.exists():
                os.rename(old, target)
            shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        if error.errno is None:
            raise
        # The user knows nothing of the unfinished folder.
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


def _inside(place: Path, target: Path) -> tuple[Path, Path]:
    """Where the new folder is made, and where the old one is put aside, under its own name to be found by."""
    return place / "new", place / "old" / target.name


def _finish_replacement(target: Path) -> None:
    """If a process was killed when the old folder was aside and the new one complete, take the last step."""
    for place in target.parent.glob(f"{_PREFIX}*"):
        new, old = _inside(place, target)
        if os.path.isdir(new) and os.path.isdir(old):  # unlike pathlib's, these are silent about permissions
            os.rename(new, target)
            shutil.rmtree(place, ignore_errors=True)
            warnings.warn(
                f"A process was killed while it replaced {str(target)!r}: what it had found is there now.",
                UserWarning,
                stacklevel=3,
            )
            return


def _foreign(folder: Path) -> str | None:
    """Name something in a folder that is not ours, if there is anything."""
    ours = {*_FILES, *_WITHIN, COMPARISON, *_compared(folder / COMPARISON)}
    for path in sorted(folder.iterdir()):
        if path.name not in ours or path.is_symlink() or path.is_dir() != (path.name in _WITHIN):
            return path.name
        for inner in sorted(path.iterdir()) if path.is_dir() else ():
            if not inner.is_file() or not _WITHIN[path.name].fullmatch(inner.name):
                return f"{path.name}/{inner.name}"
    return None


def _compared(table: Path) -> list[str]:
    """Files of models that a comparison wrote beside its table."""
    try:
        with table.open(encoding="utf-8", newline="") as file:
            names = [line.get("file") or "" for line in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError, csv.Error):
        return []
    return [name for name in names if name.endswith(".nc")]
