"""A folder of results that is complete or not there at all, and never takes the place of anything else.

Its log records every file that was written. Only these are replaced, and only while they are as they were
written.
"""

import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tparafac2.errors import InTheWay
from tparafac2.files import written_whole
from tparafac2.words import Argument

LOG = "log.json"
_PREFIX = ".unfinished-"


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool, inputs: Iterable[Path] = ()) -> Path:
    """Refuse a folder that cannot be written or must not be replaced, before any work; else say where it is.

    A link to a folder stands for the folder that it leads to. Nothing of the `inputs` may lie in it.

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
    require_apart(target, inputs)
    if not overwrite:
        raise InTheWay(
            f"the folder {said} exists: choose another, or replace it with ", Argument("overwrite"), "."
        )
    _require_unchanged(given)
    return target


def require_apart(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse to replace a file or folder that is read, or that has in it what is read.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     (Path(place) / "votes.csv").touch()
    ...     require_apart(Path(place), [Path(place) / "votes.csv"])
    Traceback (most recent call last):
    tparafac2.errors.InTheWay: 'votes.csv' is read, and would be replaced: choose another place for ...
    """
    for one in inputs:
        real = one.resolve()
        if target.exists() and any(place.samefile(target) for place in (real, *real.parents)):
            raise InTheWay(
                f"{one.name!r} is read, and would be replaced: choose another place for what is written."
            )


@contextmanager
def folder_written_whole(
    folder: str | os.PathLike[str], log: Mapping[str, Any], *, overwrite: bool = False
) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `folder` only if all went well, with a log.

    An older folder is put aside first, and back if anything goes wrong. If the process is killed in between,
    `check_folder` puts things right when this place is to be written to again.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with folder_written_whole(Path(place) / "out", {"about": "a note"}) as unfinished:
    ...         _ = (unfinished / "note.txt").write_text("done")
    ...     sorted(path.name for path in (Path(place) / "out").iterdir())
    ['log.json', 'note.txt']
    """
    target = check_folder(folder, overwrite=overwrite)
    try:
        place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=target.parent))
        new, old = _inside(place, target)
        try:
            new.mkdir()
            old.parent.mkdir()
            yield new
            files = {name: _fingerprint(path) for name, path in _content(new) if path.is_file()}
            (new / LOG).write_bytes(_sealed({**log, "files": files}))
            check_folder(folder, overwrite=overwrite)  # somebody may have written there meanwhile
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


def require_unchanged(file: Path) -> None:
    """Refuse to replace a file in a folder of results that is not as it was written there."""
    if os.path.lexists(file):
        _require_written(file.parent, file.name, _recorded(file.parent))


def record(file: Path) -> None:
    """Note in the log of a folder that one of the files in it was written anew; elsewhere do nothing."""
    log = file.parent / LOG
    if file.name in _recorded(file.parent):
        content = json.loads(log.read_bytes())
        content["files"][file.name] = _fingerprint(file)
        with written_whole(log) as unfinished:
            unfinished.write_bytes(_sealed(content))


def _require_unchanged(folder: Path) -> None:
    """Refuse to replace a folder with anything in it that is not as its log records it."""
    written = _recorded(folder)
    if (folder / LOG).exists():  # first: it tells what became of the others
        _require_written(folder, LOG, written)
    for name, _ in _content(folder):
        _require_written(folder, name, written)


def _require_written(folder: Path, name: str, written: Mapping[str, Any]) -> None:
    path = folder / name
    plain = path.is_file() and not path.is_symlink()
    if plain and name in written and _fingerprint(path) == written[name]:
        return
    if path.is_dir() and not path.is_symlink() and any(one.startswith(f"{name}/") for one in written):
        return
    why = "was changed since tparafac2 wrote it" if name in written else "tparafac2 has no record of writing"
    raise InTheWay(
        f"the folder {str(folder)!r} holds {name!r}, which {why}, so ",
        Argument("overwrite"),
        " does not replace it: move it elsewhere, or choose another folder.",
    )


def _content(folder: Path, within: str = "") -> Iterator[tuple[str, Path]]:
    """Everything in a folder by its name there, what is on top first."""
    paths = sorted(folder.iterdir())
    yield from ((within + path.name, path) for path in paths)
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            yield from _content(path, f"{within}{path.name}/")


def _recorded(folder: Path) -> dict[str, Any]:
    """Files that the log of a folder records, and the log; none if that is not as it was written."""
    log = folder / LOG
    try:
        if log.is_file() and (text := log.read_bytes()) == _sealed(content := json.loads(text)):
            return {**content["files"], LOG: _fingerprint(log)}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # somebody else's
        pass
    return {}


def _sealed(log: Mapping[str, Any]) -> bytes:
    """A log as text, with a checksum of all else in it."""
    rest = {name: one for name, one in log.items() if name != "checksum"}
    checksum = hashlib.sha256(_as_json(rest)).hexdigest()
    return _as_json({**rest, "checksum": checksum})


def _as_json(log: Mapping[str, Any]) -> bytes:
    return (json.dumps(log, indent=1, default=str) + "\n").encode("ascii")


def _fingerprint(file: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
