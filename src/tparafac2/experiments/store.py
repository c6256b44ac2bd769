"""A folder of records: what is written stays as it is, and nothing foreign gets in unnoticed."""

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tparafac2.experiments.plan import Protocol, Task
from tparafac2.experiments.records import Record, RecordError, from_text, to_text
from tparafac2.files import UNFINISHED, written_whole
from tparafac2.synthetic.recipe import Size

CONTENT = "tparafac2 experiments"
FORMAT = 1
_MINUTE = 60.0


class Call(NamedTuple):
    """What one call of a run did, if it came to its end."""

    command: str
    fits: int
    seconds: float
    workers: str


class Store:
    """The records of one protocol in one folder.

    ``protocol.json`` says what made them, and ``records`` holds them: one file per data set and method,
    written at one stroke and never again.

    Parameters
    ----------
    folder : Path
        Made if it is not there. An existing one must be empty, or made by the same protocol.
    protocol : Protocol

    Raises
    ------
    ValueError
        If the folder belongs to something else; nothing in it is changed.
    OSError
        If it cannot be written to.
    """

    def __init__(self, folder: Path, protocol: Protocol) -> None:
        self.folder = folder
        self.protocol = protocol
        self._records = folder / "records"
        self._open()

    def _open(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} is a file: give the path of a folder for the results.")
        note = self.folder / "protocol.json"
        # Looked for before the note: another run that begins now writes its note before all else.
        occupied = self.folder.exists() and any(_visible(self.folder))
        begun = any(self._records.rglob("*.json"))
        if note.exists() and begun:
            _require_same(note, self.protocol)
        elif note.exists():
            _protocol(note)  # ours, but nothing came of it: other settings may take its place
        elif occupied:
            raise ValueError(
                f"the folder {self.folder} is not empty, and there is no {note.name} in it: these "
                "experiments did not make it. Give a new or an empty folder."
            )
        self._calls()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (note.exists() and begun):
            content = {"content": CONTENT, "format": FORMAT, "protocol": self.protocol.as_json()}
            with written_whole(note) as unfinished:
                unfinished.write_text(json.dumps(content, indent=1) + "\n")
        self._records.mkdir(exist_ok=True)
        _require_writable(self._records)
        self._sweep()

    def read(self) -> dict[Task, Record]:
        """All records.

        Raises
        ------
        ValueError
            If a file is damaged, foreign or in the wrong place; its name is in the message.
        """
        paths = (path for path in self._records.rglob("*.json") if UNFINISHED not in path.name)
        return dict(self._checked(path) for path in sorted(paths))

    def add(self, task: Task, record: Record) -> None:
        """Write a record, for good. If another process was faster its record stays: they are equal."""
        path = self._records / task.path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with written_whole(path, keep=True) as unfinished:
                unfinished.write_text(to_text(record))
        except FileExistsError:
            self._checked(path)

    def note(self, call: Call) -> list[Call]:
        """Add a call to the log of those that did any work, and give all of them."""
        calls = self._calls()
        if call.fits:
            calls.append(call)
            with written_whole(self.folder / "calls.json") as unfinished:
                unfinished.write_text(json.dumps([one._asdict() for one in calls], indent=1) + "\n")
        return calls

    def _calls(self) -> list[Call]:
        log = self.folder / "calls.json"
        if not log.exists():
            return []
        try:
            return [Call(**one) for one in json.loads(log.read_text(encoding="utf-8"))]
        except (TypeError, ValueError) as problem:
            raise ValueError(
                f"{log} cannot be read ({problem}). Nothing was changed. Move it away: it only tells how "
                "long earlier calls took."
            ) from None

    def _checked(self, path: Path) -> tuple[Task, Record]:
        try:
            task, record = from_text(path.read_text(encoding="utf-8"), self.protocol)
            if path != self._records / task.path:
                raise RecordError(f"it is the record of another task ({task})")
        except (RecordError, UnicodeDecodeError) as problem:
            raise ValueError(
                f"{path} cannot be used: {problem}. Nothing was changed. Move the file away, "
                "and its task will be done again."
            ) from None
        return task, record

    def _sweep(self) -> None:
        """Remove what killed processes left unfinished; what is younger may belong to one that lives."""
        for path in self._records.rglob(f".*{UNFINISHED}*"):
            with suppress(FileNotFoundError):  # its process lives, or another sweeps, too
                if time.time() - path.stat().st_mtime > _MINUTE:
                    path.unlink()


def read_protocol(folder: Path) -> Protocol:
    """What made the records in a folder."""
    note = folder / "protocol.json"
    if not note.is_file():
        raise FileNotFoundError(f"there is no {note}: {folder} is not a folder of results.")
    return _protocol(note)


def _protocol(note: Path) -> Protocol:
    try:
        content: Any = json.loads(note.read_text(encoding="utf-8"))
        if content["content"] != CONTENT or content["format"] != FORMAT:
            raise ValueError("it is not of these experiments, or in another format")
        facts = dict(content["protocol"])
        return Protocol(size=Size(*(facts.pop(name) for name in Size._fields)), **facts)
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(
            f"{note} cannot be used ({problem}), so it is not known what made the results in {note.parent}. "
            "Nothing was changed. Give another folder."
        ) from None


def _require_same(note: Path, protocol: Protocol) -> None:
    found, asked = _protocol(note).as_json(), protocol.as_json()
    differences = [
        f"{name} {found[name]} there, {asked[name]} now" for name in asked if found[name] != asked[name]
    ]
    if differences:
        raise ValueError(
            f"the results in {note.parent} were made by other settings, as {note} says: "
            f"{'; '.join(differences)}. Give another folder, or the same settings to go on there."
        )


def _require_writable(folder: Path) -> None:
    """Find out now, not after hours of work; other runs may be asking the same."""
    probe = folder / f".{secrets.token_hex(8)}{UNFINISHED}"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), str(folder)) from error


def _visible(folder: Path) -> Iterator[str]:
    return (name for name in os.listdir(folder) if not name.startswith("."))
