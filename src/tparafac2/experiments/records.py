"""One record per data set and method: what was measured, as a JSON text that checks itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.experiments.plan import Protocol, Task
from tparafac2.experiments.settings import LEVELS, METHODS, Method, Setting

if TYPE_CHECKING:
    import pandas as pd

CONTENT = "tparafac2 experiment record"
FORMAT = 1

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
    """Read a record.

    Parameters
    ----------
    text : str
    protocol : Protocol
        The one it must have been made by.

    Returns
    -------
    task : Task
    record : dict

    Raises
    ------
    RecordError
        If it is damaged, foreign, or made by another protocol.

    Examples
    --------
    >>> from tparafac2.experiments.plan import Plan
    >>> from_text('{"content": "tparafac2 exp', Plan().protocol)
    Traceback (most recent call last):
    tparafac2.experiments.records.RecordError: it is damaged or cut off ...
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
        known = task.setting.level in LEVELS[task.setting.case] and method in METHODS
        _require_sensible(row(record))  # everything the table needs is there
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise RecordError(f"it lacks {error}") from None
    if not known:
        raise RecordError(f"it is of an unknown task, {named}")
    return task, record


def _require_sensible(found: dict[str, Any]) -> None:
    """Refuse numbers that no fit gives."""
    for name in ("fms", "fms_slicewise", "fms_scaled"):
        if not isinstance(found[name], float) or not 0.0 <= found[name] <= 1.0 + 1e-9:
            raise ValueError(f"a sensible {name}: it has {found[name]!r}")
    if not found["starts"]:
        raise ValueError("starts")


def row(record: Record) -> dict[str, Any]:
    """A record as one row of the table."""
    task, fit, stacked = record["task"], record["fit"], record["scores"]["stacked"]
    lambda_b = math.nan if task["lambda_b"] is None else task["lambda_b"]
    starts = record["starts"]
    return {
        "case": task["case"],
        "level": task["level"],
        "dataset": task["dataset"],
        "model": task["model"],
        "lambda_b": lambda_b,
        "method": Method(task["model"], task["lambda_b"]).label,
        "fms": stacked["score"],
        "fms_slicewise": record["scores"]["slicewise"]["score"],
        "fms_scaled": record["scores"]["scaled"]["score"],
        "fms_a": float(np.mean(stacked["A"])),
        "fms_b": float(np.mean(stacked["B"])),
        "fms_c": float(np.mean(stacked["C"])) if "C" in stacked else math.nan,
        "weak_patterns": math.nan if record["weak_patterns"] is None else record["weak_patterns"],
        "objective": fit["objective"],
        "explained_variance": fit["explained_variance"],
        "iterations": fit["iterations"],
        "seconds": fit["seconds"],
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
    cases, methods = list(LEVELS), [method.label for method in METHODS]
    places = {
        "case": table["case"].map(cases.index),
        "level": table["level"],
        "dataset": table["dataset"],
        "method": table["method"].map(methods.index),
    }
    order = pd.DataFrame(places).sort_values(list(places)).index
    return table.loc[order].reset_index(drop=True)


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
