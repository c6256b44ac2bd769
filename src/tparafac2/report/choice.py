"""Why these settings, as the page shows it: in sentences, in facts, as points of charts, and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tparafac2.result import choice_panels, choice_sentences, rank_table


def choice_account(record: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what the page shows of a choice, as JSON knows it: infinite and unknown numbers are null."""
    found = choice_panels(record)
    content = {
        "sentences": choice_sentences(record),
        "facts": _facts(record),
        "rank": record["chosen"]["rank"],
        "threshold": record["threshold"],
        "tie": record["tie_band"],
        "band": found.band,
        "by": record["by"],
        "settings": [one._asdict() for one in found.settings],
        "ranks": [one._asdict() for one in found.ranks],
        "components": [one._asdict() for one in found.components],
        "models": [one._asdict() for one in found.models],
        "table": rank_table(record)._asdict(),
    }
    return {name: _finite(value) for name, value in content.items()}


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How everything was measured."""
    folds = (
        f"{record['n_folds']} folds",
        "of the rows: a held-out row gets its loadings from one half of its entries and predicts the other "
        f"half; drawn {len(record['draws'])} times.",
    )
    chance = (
        "by chance",
        "is what a gain has to exceed: so much is gained on surrogate data, the smaller model and its "
        "residuals, each row shifted in time and columns.",
    )
    similar = (
        record["by"],
        f"of the rows: a component is replicable from a similarity (cosine) of {record['threshold']:g}.",
    )
    return [folds, chance, *([similar] if record["components"] else [])]


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        # Seven digits are more than any screen shows.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
