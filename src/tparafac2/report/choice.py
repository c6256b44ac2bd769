"""Why these settings, as the page shows it: in sentences, in facts, as points of charts, and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tparafac2.reasons import panels, rank_table, sentences
from tparafac2.words import PYTHON, Words

_HIDDEN = {"fibres": "fibres (all columns of a row at a time)"}


def choice_account(record: Mapping[str, Any], words: Words = PYTHON) -> dict[str, Any]:
    """Collect what the page shows of a choice, as JSON knows it: infinite and unknown numbers are null."""
    found = panels(record)
    content = {
        "sentences": sentences(record, words),
        "facts": _facts(record),
        "rank": record["chosen"]["rank"],
        "threshold": record["threshold"],
        "tie": record["tie_band"],
        "band": found.band,
        "settings": [one._asdict() for one in found.settings],
        "ranks": [one._asdict() for one in found.ranks],
        "components": [one._asdict() for one in found.components],
        "models": [one._asdict() for one in found.models],
        "table": rank_table(record)._asdict(),
    }
    return {name: _finite(value) for name, value in content.items()}


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the constraint costs, and how everything was measured."""
    hidden = (
        f"{100 * record['share']:.2g}%",
        f"of the {_HIDDEN.get(record['hides'], record['hides'])} were hidden from the fits, "
        f"{_times(record['n_masks'])}; the error is that of their prediction, relative to their squares.",
    )
    halved = (
        _times(record["n_splits"]),
        "the rows were halved: a component is replicable if both halves have it, with a likeness (cosine) of "
        f"at least {record['threshold']:g}.",
    )
    return [*_constraint(record["z"], record["gain"]), hidden, *([halved] if record["components"] else [])]


def _constraint(z: float | None, gain: float | None) -> list[tuple[str, str]]:
    if z is None or gain is None:
        return []
    change = f"letting them change {'lowers' if gain > 0 else 'raises'} the error by {abs(gain):.2%}"
    return [(f"z = {z:.1f}", f"against constant sizes and angles of the patterns: {change}.")]


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        # Seven digits are more than any screen shows.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
