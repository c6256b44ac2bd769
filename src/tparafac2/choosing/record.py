"""Everything that was measured, in plain values, as it is kept with the model."""

from collections.abc import Mapping, Sequence
from typing import Any

from tparafac2.choosing import rules
from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.procedure import Procedure
from tparafac2.choosing.rules import Similarity


def make_record(
    found: Procedure,
    rank: int,
    hard: Candidate | None,
    relaxed: Mapping[str, Any] | None,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """All of it; `about` has what else is known, by name."""
    known, setting = found.known, found.known.settled(rank)
    draws = found.by_draw
    doubts = _doubts(found, rank, about)
    others = about["compared"]
    return {
        **about,
        "chosen": _plain(found, setting),
        "hard": None if hard is None else _plain(found, hard),
        "relaxed": relaxed,
        "sure": not doubts,
        "doubts": doubts,
        "supported": found.supported,
        "draws": draws,
        "tie_band": rules.TIE_BAND,
        "by": "folds" if found.by_folds else "halves",
        "ranks": _columns([_rank_line(found, one) for one in sorted(known.setting)]),
        "tried": _columns([_tried_line(found, one, setting) for one in known.scores.errors]),
        "components": _columns(
            [line for one in sorted(known.setting) for line in _component_lines(found, one, about)]
        ),
        "compared": _columns(
            [_compared_line(found, one, setting) for one in ([setting, *others] if others else [])]
        ),
        "left_out": int((known.scores.squares == 0).sum()),
    }


def _doubts(found: Procedure, rank: int, about: Mapping[str, Any]) -> list[str]:
    """What speaks against the rank, by name."""
    known, setting = found.known, found.known.settled(rank)
    draws, whole = found.by_draw, known.whole.get(setting)
    before = [one for one in found.chain if one < rank]
    null = known.threshold(None, known.setting[1]) if rank == 1 else None
    agreeing = None if whole is None else whole.agreeing
    nothing = null is not None and known.scores.error(known.setting[1]) >= 1.0 - null
    signs = {
        "more": found.supported > rank,
        "draws": draws.count(found.supported) < rules.MOST_DRAWS * len(draws),
        "components": not found.there(rank),
        "unknown": found.similarity(rank) is None,
        "starts": agreeing is not None and agreeing < rules.AGREEMENT,
        "nothing": nothing,
        "few_rows": bool(before) and rules.rows_behind(_gains(found, before[-1], rank)) < rules.FEW_ROWS,
        "edge": len(about["ranks_asked"]) > 1 and rank == max(known.setting) == max(about["ranks_asked"]),
        "interrupted": bool(about["interrupted"]),
    }
    return [name for name, speaks in signs.items() if speaks] if len(about["ranks_asked"]) > 1 else []


def _gains(found: Procedure, fewer: int, more: int) -> Any:
    return found.known.scores.gains(found.known.setting[fewer], found.known.setting[more])


def _plain(found: Procedure, one: Candidate) -> dict[str, Any]:
    error = found.known.scores.error(one)
    return {**one._asdict(), "label": one.label, "name": one.name, "error": error}


def _rank_line(found: Procedure, rank: int) -> dict[str, Any]:
    known = found.known
    setting = known.setting[rank]
    lower = [one for one in known.setting if one < rank]
    before = None if not lower else known.setting[max(lower)]
    hard = found.best_hard(rank)
    whole, final = known.whole.get(known.settled(rank)), known.settled(rank)
    null = None if before is None else known.threshold(before, setting)
    base = [one for one in found.chain if one < rank]
    tested = None if not base else known.threshold(known.setting[base[-1]], setting)
    return {
        "rank": rank,
        "error": known.scores.error(setting),
        "gain": None if before is None else known.scores.gain(before, setting),
        "z": None if before is None else known.scores.z(before, setting),
        "rows": None if before is None else rules.rows_behind(known.scores.gains(before, setting)),
        "null": tested if null is None else null,
        "supported": rank in found.chain,
        "agreement": None if whole is None else whole.agreeing,
        "model": final.label,
        "smoothness": final.smoothness,
        "rigidity": final.rigidity,
        "hard_smoothness": None if hard is None else hard.smoothness,
    }


def _tried_line(found: Procedure, one: Candidate, chosen: Candidate) -> dict[str, Any]:
    scores = found.known.scores
    own = found.known.settled(one.rank) if one.rank in found.known.setting else one
    return {
        "model": one.label,
        "rank": one.rank,
        "smoothness": one.smoothness,
        "rigidity": one.rigidity,
        "nonnegative": one.nonnegative,
        "changes": one.changes,
        "error": scores.error(one, [min(scores.errors[one])]),
        "tied": scores.gain(own, one) >= -rules.TIE_BAND,
        "best_of_rank": one == own,
        "chosen": one == chosen,
    }


def _component_lines(found: Procedure, rank: int, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    setting = found.known.settled(rank)
    deciding = found.similarity(rank)
    folds = rules.median_of(found.known.folds.get(setting, []))
    halves = rules.median_of(found.known.halves.get(setting, []))
    verdict = None if deciding is None else rules.verdicts(deciding, about["threshold"])
    if folds is None and halves is None:
        return []
    return [
        {
            "model": setting.label,
            "rank": rank,
            "component": r + 1,
            "folds": _at(folds, r)[0],
            "folds_alone": _at(folds, r)[1],
            "halves": _at(halves, r)[0],
            "halves_alone": _at(halves, r)[1],
            "verdict": None if verdict is None else verdict[r],
        }
        for r in range(rank)
    ]


def _at(found: Similarity | None, r: int) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (float(found.whole[r]), float(found.alone[r]))


def _compared_line(found: Procedure, one: Candidate, chosen: Candidate) -> dict[str, Any]:
    scores = found.known.scores
    return {
        "model": one.label,
        "smoothness": one.smoothness,
        "rigidity": one.rigidity,
        "error": scores.error(one, [0]) if 0 in scores.errors[one] else scores.error(one),
        "excess": 0.0 if one == chosen else -scores.gain(chosen, one),
        "z_behind_chosen": 0.0 if one == chosen else scores.z(one, chosen),
        "chosen": one == chosen,
    }


def _columns(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [line[name] for line in lines] for name in lines[0]} if lines else {}
