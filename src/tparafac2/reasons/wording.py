"""A choice in sentences, its ranks as a table of texts, and both for notebooks."""

import math
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

from tparafac2.reasons.points import above
from tparafac2.words import PYTHON, Words

_CONTRADICTS = 5.0  # z from which data are said to contradict the constraint

_HEAD = (
    "rank",
    "error at hidden entries",
    "z of the last component",
    "other starts that agree",
    "replicable components",
    "found again at all",
    "best setting",
)
_CLEAR = 2.0  # z from which one model is said to predict better than another


def sentences(record: Mapping[str, Any], words: Words = PYTHON) -> list[str]:
    """Say what was chosen, why, how sure that is, and what else there is to consider."""
    parts = (_chosen, _why_rank, _why_settings, _why_changes, _others, _caveats)
    return [sentence for part in parts for sentence in part(record)]


class Ranks(NamedTuple):
    """A table of the ranks that were tried, each at its best setting; all in texts.

    Attributes
    ----------
    head : tuple of str
    lines : list of list of str
    chosen : int
        Which of the lines was chosen.
    """

    head: tuple[str, ...]
    lines: list[list[str]]
    chosen: int


def rank_table(record: Mapping[str, Any]) -> Ranks:
    """Write what is known of each rank, without columns of which nothing was measured."""
    ranks, tried = record["ranks"], record["tried"]
    best = {rank: i for i, rank in enumerate(tried["rank"]) if tried["best_of_rank"][i]}
    lines = []
    for place, rank in enumerate(ranks["rank"]):
        line = best[rank]
        lines.append(
            [
                str(rank),
                f"{ranks['hidden_error'][place]:.4g}",
                _written(ranks["z"][place], ".1f"),
                _written(ranks["agreement"][place], ".0%"),
                *(_of(tried[name][line], rank) for name in ("components_replicable", "components_there")),
                _setting(ranks["model"][place], ranks["smoothness"][place], ranks["rigidity"][place]),
            ]
        )
    known = [n for n in range(len(_HEAD)) if any(line[n] for line in lines)]
    head, lines = tuple(_HEAD[n] for n in known), [[line[n] for n in known] for line in lines]
    return Ranks(head, lines, ranks["rank"].index(record["chosen"]["rank"]))


def to_html(record: Mapping[str, Any]) -> str:
    """Give the sentences and the table of ranks as HTML that needs nothing from elsewhere."""
    table = rank_table(record)
    told = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(record))
    body = "".join(
        f"<tr>{_cells(line, 'th' if place == table.chosen else 'td')}</tr>"
        for place, line in enumerate(table.lines)
    )
    head = f"<thead><tr>{_cells(table.head, 'th')}</tr></thead>"
    return f"<div>{told}<table>{head}<tbody>{body}</tbody></table></div>"


def _cells(texts: Iterable[str], tag: str) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _written(value: float | None, style: str) -> str:
    return "" if value is None else format(value, style)


def _of(count: int | None, rank: int) -> str:
    return "" if count is None else f"{count} of {rank}"


def _setting(model: str, smoothness: float | None, rigidity: float) -> str:
    smooth = "" if smoothness is None else f", smoothness {smoothness:g}"
    return f"{model}{smooth}" + (f", rigidity {rigidity:g}" if math.isfinite(rigidity) else "")


def _chosen(record: Mapping[str, Any]) -> Iterator[str]:
    chosen, rank = record["chosen"], record["rank"]
    sure = "sure" if rank["sure"] else "not sure"
    asked = record["ranks_asked"]
    how = "the only rank that was tried" if len(asked) == 1 else f"the rank is {sure}"
    yield f"Chosen: {chosen['name']} ({how})."


def _why_rank(record: Mapping[str, Any]) -> Iterator[str]:
    rank, ranks = record["rank"], record["ranks"]
    if len(ranks["rank"]) < 2:
        return
    errors = dict(zip(ranks["rank"], ranks["hidden_error"]))
    shown = ", ".join(f"{n}: {error:.4g}" for n, error in errors.items())
    yield f"Error at hidden entries by rank: {shown}."
    yield from _rank_reasons(rank, ranks)
    left_out = [one for one in record["ranks_asked"] if one > ranks["rank"][-1]]
    if left_out:
        why = "" if "interrupted" in rank["doubts"] else ", since the last predicted no better"
        yield f"Rank{'s' * (len(left_out) > 1)} {_listed(left_out)} {_were(left_out)} not tried{why}."


def _rank_reasons(rank: Mapping[str, Any], ranks: Mapping[str, Any]) -> Iterator[str]:
    chosen = rank["rank"]
    there = ranks["all_there"][ranks["rank"].index(chosen)]
    found = ", and all its components are found again in other rows" if there else ""
    if chosen > ranks["rank"][0]:
        yield f"Rank {chosen} is the largest that predicts better than fewer{found}."
    elif "error" not in rank["doubts"]:
        yield f"No larger rank predicts better than rank {chosen}."
    if "nothing" in rank["doubts"]:
        yield f"Even at rank {chosen} not every component is found again in other rows: there may be nothing."
    if rank["by_error"] > chosen:
        yield (
            f"Up to rank {rank['by_error']} more components still predict better, but some of them are not "
            "found again in other rows."
        )
    if "components" in rank["doubts"]:
        yield (
            f"At rank {rank['by_components']} all components are found again, too, though it predicts no "
            "better."
        )
    if 0 < rank["replicable"] < chosen:
        yield f"If every component has to be replicable, rank {rank['replicable']} is the largest."
    elif rank["replicable"] == 0 and there is not None:
        yield "At no rank are all components replicable."
    if "starts" in rank["doubts"]:
        yield "Fewer than half of the other starts agree on the components at this rank."
    if "perhaps" in rank["doubts"]:
        z = ranks["z"][ranks["rank"].index(chosen)]
        yield f"Its last component helps, but not clearly (z = {z:.1f}); all are replicable, so it stays."
    if "edge" in rank["doubts"]:
        yield f"Rank {chosen} is the largest that was tried: try larger ones."
    if "halves" in rank["doubts"]:
        yield "Nobody looked for the components in halves of the rows."


def _why_settings(record: Mapping[str, Any]) -> Iterator[str]:
    if record["tied"] > 1:
        smoothest = "; of these the smoothest was taken" if _is_smoothest(record) else ""
        within = f"within {record['tie_band']:.1%} of the least error"
        yield f"{record['tied']} settings predict as well ({within}){smoothest}."
    if _at_the_end(record):
        yield f"A smoothness of {record['chosen']['smoothness']:g} is the largest that was tried."
    if record["paid"] > record["tie_band"]:
        yield (
            f"A smoother setting was taken, on whose components more starts agree; the error is "
            f"{record['paid']:.1%} higher for that."
        )
    if record["z"] is not None:
        yield from _why_rigidity(record["z"], record["gain"], record)


def _at_the_end(record: Mapping[str, Any]) -> bool:
    tried = {one or 0.0 for one in record["tried"]["smoothness"]}
    return len(tried) > 1 and record["chosen"]["smoothness"] == max(tried)


def _is_smoothest(record: Mapping[str, Any]) -> bool:
    tried, chosen = record["tried"], record["chosen"]
    lines = zip(tried["tied"], tried["rank"], tried["smoothness"])
    tied = {smoothness or 0.0 for tied, rank, smoothness in lines if tied and rank == chosen["rank"]}
    return len(tied) > 1 and max(tied) == chosen["smoothness"]


def _why_rigidity(z: float, gain: float, record: Mapping[str, Any]) -> Iterator[str]:
    if z >= _CONTRADICTS and gain > 0:
        bounds = _bounds(record["chosen"]["nonnegative"])
        yield (
            f"The data contradict patterns of constant sizes and angles{bounds}: letting them change lowers "
            f"the error by {gain:.1%} at entries that did not choose (z = {z:.1f})."
        )
    elif record["chosen"]["rigidity"] < math.inf:
        yield (
            f"Patterns may change their sizes and angles, which lowers the error by {gain:.2%} "
            f"(z = {z:.1f}, not enough to say that the data contradict the constraint)."
        )
    elif gain > record["tie_band"]:
        yield (
            f"Letting patterns change their sizes and angles would lower the error by {gain:.1%}, but that "
            f"is not clear enough (z = {z:.1f})."
        )
    elif z:
        yield f"Patterns of constant sizes and angles predict as well as others (z = {z:.1f})."


def _why_changes(record: Mapping[str, Any]) -> Iterator[str]:
    found = record.get("sudden")
    if not found:
        return
    gain, z = found["gain"], found["z"]
    if found["chosen"]:
        yield (
            f"Changes may be sudden, which lowers the error by {gain:.2%} at entries that did not choose "
            f"(z = {z:.1f})."
        )
    elif gain > 0:
        yield f"Sudden changes would lower the error by {gain:.2%}, but not clearly (z = {z:.1f})."
    else:
        yield f"Smooth changes predict no worse than sudden ones (z = {z:.1f})."


def _bounds(nonnegative: str | None) -> str:
    what = {"both": "rows and patterns", "rows": "rows", "patterns": "patterns"}
    return f", with {what[nonnegative]} that are not negative" if nonnegative else ""


def _others(record: Mapping[str, Any]) -> Iterator[str]:
    compared, chosen = record["compared"], record["chosen"]
    for label, error, z in zip(compared["model"], compared["hidden_error"], compared["z_behind_chosen"]):
        if label == chosen["label"]:
            continue
        apart = above(error, chosen["hidden_error"])
        how = "clearly" if abs(z) >= _CLEAR else "perhaps"
        if abs(apart) <= record["tie_band"]:
            yield f"{label} predicts as well ({apart:+.1%})."
        elif apart < 1.0:
            side = "better" if apart < 0 else "worse"
            yield f"{label} predicts {how} {side} ({apart:+.1%}, z = {abs(z):.1f})."
        else:
            yield f"{label} predicts far worse ({1.0 + apart:.3g} times the error)."


def _caveats(record: Mapping[str, Any]) -> Iterator[str]:
    if record["single_groups"]:
        yield (
            f"{record['single_groups']} of {record['groups']} groups "
            f"{'has' if record['single_groups'] == 1 else 'have'} a single row, which is in one half only."
        )
    if record["bound_by_data"]:
        yield "No entry of the data is negative, so that patterns were kept from being negative."
    if "interrupted" in record["rank"]["doubts"]:
        yield "It was interrupted: what was not measured is not known, and the choice is the best so far."
    elif record["interrupted"]:
        yield "It was interrupted after the choice: not all other models and settings were set beside it."


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return " and ".join(map(str, numbers))


def _were(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"
