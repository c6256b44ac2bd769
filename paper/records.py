"""One record per data set and method: what was measured, as a JSON text that checks itself, in a folder.

What is written stays as it is, and nothing foreign gets in unnoticed.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from plan import ALL_METHODS, LEVELS, Method, Protocol, Setting, Task

from tparafac2.files import UNFINISHED, written_whole
from tparafac2.synthetic.recipe import Size

if TYPE_CHECKING:
    import pandas as pd

CONTENT = "tparafac2 experiment record"
FOLDER_CONTENT = "tparafac2 experiments"
FORMAT = 2
_MINUTE = 60.0

Record = dict[str, Any]


class RecordError(ValueError):
    """A text that is not a record of the task it should be of."""


def describe(task: Task) -> dict[str, Any]:
    """The task as a record names it."""
    return {
        "case": task.setting.case,
        "level": float(task.setting.level),
        "dataset": task.dataset,
        "model": task.method.model,
        "lambda_b": task.method.lambda_b,
    }


def head(task: Task, protocol: Protocol) -> Record:
    """What every record begins with: what it is, and of what."""
    return {
        "content": CONTENT,
        "format": FORMAT,
        "protocol": protocol.fingerprint,
        "version": protocol.version,
        "task": describe(task),
        "seeds": {"data": protocol.data_seed(task.dataset), "starts": protocol.start_seed(task.dataset)},
    }


def to_text(record: Record) -> str:
    """A record as JSON. Numbers that are not finite become null, which every reader knows."""
    return json.dumps(_plain(record), indent=1, allow_nan=False) + "\n"


def from_text(text: str, protocol: Protocol) -> tuple[Task, Record]:
    """Read a record; raise RecordError if it is damaged, foreign, or made by another protocol.

    Examples
    --------
    >>> from plan import Plan
    >>> from_text('{"content": "tparafac2 exp', Plan().protocol)
    Traceback (most recent call last):
    records.RecordError: it is damaged or cut off ...
    """
    try:
        record = json.loads(text)
    except ValueError as error:
        raise RecordError(f"it is damaged or cut off ({error})") from None
    if not isinstance(record, dict) or record.get("content") != CONTENT:
        raise RecordError("it is not a record of these experiments")
    if record.get("format") != FORMAT:
        raise RecordError(f"it has format {record.get('format')!r}, and this version reads format {FORMAT}")
    if record.get("protocol") != protocol.fingerprint:
        raise RecordError(f"it was made by other settings or by another version ({record.get('version')})")
    try:
        named = record["task"]
        method = Method(named["model"], named["lambda_b"])
        task = Task(Setting(named["case"], named["level"]), named["dataset"], method)
        known = task.setting.level in LEVELS[task.setting.case] and method in ALL_METHODS
        _require_sensible(row(record))  # everything the table needs is there
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise RecordError(f"it lacks {error}") from None
    if not known:
        raise RecordError(f"it is of an unknown task, {named}")
    return task, record


def _require_sensible(found: dict[str, Any]) -> None:
    """Refuse numbers that no fit gives."""
    for name in ("fms", "fms_slicewise", "fms_scaled", "fms_unit"):
        if not isinstance(found[name], float) or not 0.0 <= found[name] <= 1.0 + 1e-9:
            raise ValueError(f"a sensible {name}: it has {found[name]!r}")
    if not found["starts"]:
        raise ValueError("starts")


def row(record: Record) -> dict[str, Any]:
    """A record as one row of the table."""
    task, fit = record["task"], record["fit"]
    stacked, unit = record["scores"]["stacked"], record["scores"]["unit"]
    lambda_b = math.nan if task["lambda_b"] is None else task["lambda_b"]
    starts = record["starts"]
    return {
        **{name: task[name] for name in ("case", "level", "dataset", "model")},
        "lambda_b": lambda_b,
        "method": Method(task["model"], task["lambda_b"]).label,
        "fms": stacked["score"],
        "fms_slicewise": record["scores"]["slicewise"]["score"],
        "fms_scaled": record["scores"]["scaled"]["score"],
        "fms_a": float(np.mean(stacked["A"])),
        "fms_b": float(np.mean(stacked["B"])),
        "fms_c": float(np.mean(stacked["C"])) if "C" in stacked else math.nan,
        "fms_unit": unit["score"],
        "fms_unit_c": float(np.mean(unit["C"])),
        "weak_patterns": math.nan if record["weak_patterns"] is None else record["weak_patterns"],
        **{name: fit[name] for name in ("objective", "explained_variance", "iterations", "seconds")},
        **_settings(fit["smoothness"], record["chosen"]),
        "starts": len(starts),
        "kept": sum(start["kept"] for start in starts),
        "hit_max_iter": sum(start["status"] in ("max_iter", "infeasible") for start in starts),
        "infeasible": sum(not start["feasible"] for start in starts),
        "degenerate": sum(start["degenerate"] for start in starts),
        "broken": sum(start["status"] == "not_finite" for start in starts),
        **_agreement(starts),
    }


def tabulate(records: Iterable[Record]) -> pd.DataFrame:
    """All records as a table, one row each, in the order of the experiments."""
    import pandas as pd

    table = pd.DataFrame([row(record) for record in records])
    if table.empty:
        return table
    cases, methods = list(LEVELS), [method.label for method in ALL_METHODS]
    places = {
        "case": table["case"].map(cases.index),
        "level": table["level"],
        "dataset": table["dataset"],
        "method": table["method"].map(methods.index),
    }
    order = pd.DataFrame(places).sort_values(list(places)).index
    return table.loc[order].reset_index(drop=True)


def _settings(smoothness: float | None, chosen: dict[str, Any] | None) -> dict[str, float]:
    """What the data chose, or what the given penalties amount to; rigidity only where it was chosen."""
    if chosen is None:
        return {"smoothness": math.nan if smoothness is None else smoothness, "rigidity": math.nan}
    rigidity = math.inf if chosen["rigidity"] is None else chosen["rigidity"]
    return {"smoothness": chosen["smoothness"], "rigidity": rigidity}


def _agreement(starts: list[dict[str, Any]]) -> dict[str, float]:
    """How far the better half of the kept starts agree with the chosen one, in objective and in factors."""
    kept = sorted((start for start in starts if start["kept"]), key=lambda start: start["objective"])
    best = kept[: max(2, math.ceil(len(kept) / 2))]
    if len(best) < 2:
        return {"objective_spread": math.nan, "agreement": math.nan}
    low, high = best[0]["objective"], best[-1]["objective"]
    others = [start["fms_to_chosen"] for start in best if not start["chosen"]]
    return {"objective_spread": (high - low) / low, "agreement": float(np.median(others))}


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and dicts as JSON knows them."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


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
        occupied = self.folder.exists() and any(name[0] != "." for name in os.listdir(self.folder))
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
            content = {"content": FOLDER_CONTENT, "format": FORMAT, "protocol": self.protocol.as_json()}
            with written_whole(note) as unfinished:
                unfinished.write_text(json.dumps(content, indent=1) + "\n")
        self._records.mkdir(exist_ok=True)
        _require_writable(self._records)
        self._sweep()

    def read(self) -> dict[Task, Record]:
        """All records; a file that is damaged, foreign or in the wrong place is refused by its name."""
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


def _protocol(note: Path) -> Protocol:
    try:
        content: Any = json.loads(note.read_text(encoding="utf-8"))
        if content["content"] != FOLDER_CONTENT or content["format"] != FORMAT:
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
