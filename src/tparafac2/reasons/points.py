"""The evidence for a choice as points to draw: by smoothness, by rank, by component and by model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """A smoothness and rigidity that were tried at the chosen rank.

    Attributes
    ----------
    smoothness, rigidity : float
    error : float
        At the hidden entries that choose, relative to their own squares.
    excess : float
        By which share it is above the least error of the settings that are as good as the chosen one.
    tied, chosen : bool
        Whether it predicts as well as the chosen one, or is the chosen one.
    """

    smoothness: float
    rigidity: float
    error: float
    excess: float
    tied: bool
    chosen: bool


class RankPoint(NamedTuple):
    """A rank at its best setting; z says how clearly its last component helped, None if unknown."""

    rank: int
    error: float
    z: float | None
    agreement: float | None
    model: str
    smoothness: float | None
    rigidity: float
    chosen: bool


class ComponentPoint(NamedTuple):
    """A component of a rank at its best setting: how alike it is in halves of the rows, and by chance."""

    rank: int
    component: int
    replicability: float
    chance: float
    verdict: str
    chosen: bool


class ModelPoint(NamedTuple):
    """A kind of model at the chosen rank; its error is above (or below) that of the chosen one by a share.

    `there` of its components are found again in other rows; None if nobody looked.
    """

    model: str
    excess: float
    z: float
    there: int | None
    chosen: bool


class Panels(NamedTuple):
    """All that is drawn of a choice; what has nothing to compare is empty.

    Attributes
    ----------
    settings : tuple of Setting
        The hard ones first, each rigidity from little to much smoothness.
    band : float
        The excess up to which settings are as good.
    ranks : tuple of RankPoint
    components : tuple of ComponentPoint
    models : tuple of ModelPoint
        The least error first.
    """

    settings: tuple[Setting, ...]
    band: float
    ranks: tuple[RankPoint, ...]
    components: tuple[ComponentPoint, ...]
    models: tuple[ModelPoint, ...]


def panels(record: Mapping[str, Any]) -> Panels:
    """Give the points of a record, without what has no finite error and panels with nothing to compare."""
    settings = _settings(record)
    ranks, models = _ranks(record), _models(record)
    return Panels(
        settings if len({one.smoothness for one in settings}) > 1 else (),
        max([record["tie_band"], *(one.excess for one in settings if one.tied)]),
        ranks if len(ranks) > 1 else (),
        _components(record),
        models if len(models) > 1 else (),
    )


def _settings(record: Mapping[str, Any]) -> tuple[Setting, ...]:
    chosen = record["chosen"]
    lines = [
        line
        for line in _lines(record["tried"])
        if line["rank"] == chosen["rank"]
        and line["nonnegative"] == chosen["nonnegative"]
        and line.get("changes") == chosen.get("changes")  # not in older files
        and line["smoothness"] is not None
    ]
    flexible = math.isfinite(chosen["rigidity"])
    alike = [line for line in lines if line["tied"] and math.isfinite(line["rigidity"]) == flexible]
    least = min((line["choosing_error"] for line in alike), default=chosen["hidden_error"])
    points = [
        Setting(
            line["smoothness"],
            line["rigidity"],
            line["choosing_error"],
            above(line["choosing_error"], least),
            line["tied"],
            line["chosen"],
        )
        for line in lines
        if math.isfinite(above(line["choosing_error"], least))
    ]
    return tuple(sorted(points, key=lambda one: (-one.rigidity, one.smoothness)))


def _ranks(record: Mapping[str, Any]) -> tuple[RankPoint, ...]:
    return tuple(
        RankPoint(
            line["rank"],
            line["hidden_error"],
            line["z"],
            line["agreement"],
            line["model"],
            line["smoothness"],
            line["rigidity"],
            line["rank"] == record["chosen"]["rank"],
        )
        for line in _lines(record["ranks"])
        if math.isfinite(line["hidden_error"])
    )


def _components(record: Mapping[str, Any]) -> tuple[ComponentPoint, ...]:
    best = {(line["rank"], line["model"]) for line in _lines(record["ranks"])}
    points = [
        ComponentPoint(
            line["rank"],
            line["component"],
            line["replicability"],
            line["chance"],
            line["verdict"],
            line["rank"] == record["chosen"]["rank"],
        )
        for line in _lines(record["components"])
        if (line["rank"], line["model"]) in best
    ]
    return tuple(sorted(points))


def _models(record: Mapping[str, Any]) -> tuple[ModelPoint, ...]:
    least = record["chosen"]["hidden_error"]
    return tuple(
        ModelPoint(
            line["model"],
            above(line["hidden_error"], least),
            line["z_behind_chosen"],
            line["components_there"],
            line["chosen"],
        )
        for line in _lines(record["compared"])
        if math.isfinite(above(line["hidden_error"], least))
    )


def above(error: float, least: float) -> float:
    """By which share an error is above another, also where there is none at all.

    Examples
    --------
    >>> above(0.5, 0.4).__round__(3), above(0.0, 0.0), above(0.1, 0.0)
    (0.25, 0.0, inf)
    """
    if least == 0:
        return math.inf if error > 0 else 0.0
    return error / least - 1.0


def _lines(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, line)) for line in zip(*columns.values())]
