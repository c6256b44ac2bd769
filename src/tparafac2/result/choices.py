"""What a result remembers of a choice: a table of ranks, at most three sentences, and points to draw."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

Record = Mapping[str, Any]

_HEAD = ("rank", "error", "gain", "by chance", "z", "folds", "halves", "starts", "setting")

DOUBTS = {
    "more": "a larger rank predicts better, but not all of its components are found again",
    "draws": "draws of the folds disagree",
    "components": "not all of its components are found again in other rows",
    "unknown": "its components were not looked for in other rows",
    "starts": "fewer than half of the starts agree",
    "nothing": "one component predicts no better than it does without anything in common",
    "few_rows": "what its last component gains rests on fewer than five rows",
    "edge": "it is the largest that was tried",
    "interrupted": "it was interrupted",
}
"""What speaks against a rank."""


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


def rank_table(record: Record) -> Ranks:
    """Write what is known of each rank, without columns of which nothing was measured."""
    lines = [_rank_texts(record, line) for line in _lines(record["ranks"])]
    known = [n for n in range(len(_HEAD)) if any(line[n] for line in lines)]
    head = tuple(_HEAD[n] for n in known)
    place = record["ranks"]["rank"].index(record["chosen"]["rank"])
    return Ranks(head, [[line[n] for n in known] for line in lines], place)


def table_text(record: Record) -> str:
    """The table of ranks in columns; the chosen rank is marked."""
    table = rank_table(record)
    rows = [("", *table.head)]
    rows += [("*" if n == table.chosen else "", *line) for n, line in enumerate(table.lines)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    last = len(widths) - 1
    padded = [
        [cell if n == last else cell.rjust(width) for n, (cell, width) in enumerate(zip(row, widths))]
        for row in rows
    ]
    return "\n".join("  ".join(row) for row in padded)


def sentences(record: Record) -> list[str]:
    """What was chosen and how sure that is; why the setting; the runner-up and what to beware of."""
    parts = (_rank_sentence, _setting_sentence, _runner_up, _caveat)
    return [sentence for part in parts if (sentence := part(record))]


def to_html(record: Record) -> str:
    """Give the sentences and the table of ranks as HTML that needs nothing from elsewhere."""
    table = rank_table(record)
    text = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(record))
    body = "".join(
        f"<tr>{_cells(line, 'th' if place == table.chosen else 'td')}</tr>"
        for place, line in enumerate(table.lines)
    )
    head = f"<thead><tr>{_cells(table.head, 'th')}</tr></thead>"
    return f"<div>{text}<table>{head}<tbody>{body}</tbody></table></div>"


def _cells(texts: Sequence[str], tag: str) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _rank_texts(record: Record, line: Record) -> list[str]:
    own = [one for one in _lines(record["components"]) if one["rank"] == line["rank"]]
    return [
        str(line["rank"]),
        f"{line['error']:.4g}",
        _text(line["gain"], ".1%"),
        _text(line["null"], ".1%"),
        _text(line["z"], ".1f"),
        *(" ".join(_text(one[name], ".2f") for one in own) for name in ("folds", "halves")),
        _text(line["agreement"], ".0%"),
        _setting_text(line),
    ]


def _text(value: float | None, style: str) -> str:
    return "" if value is None else format(value, style)


def _setting_text(line: Record) -> str:
    smooth = "" if line["smoothness"] is None else f", smoothness {line['smoothness']:g}"
    rigid = f", rigidity {line['rigidity']:g}" if math.isfinite(line["rigidity"]) else ""
    return f"{line['model']}{smooth}{rigid}"


def _rank_sentence(record: Record) -> str:
    chosen, asked = record["chosen"], record["ranks_asked"]
    if len(asked) == 1:
        return f"Chosen: {chosen['name']} (the only rank that was tried)."
    draws = record["draws"]
    how = "sure" if record["sure"] else "not sure: " + "; ".join(DOUBTS[one] for one in record["doubts"])
    best = record["supported"]
    return (
        f"Chosen: {chosen['name']} ({how}). Rank {best} is the largest that gains more than by chance, in "
        f"{draws.count(best)} of {len(draws)} draws of the folds."
    )


def _setting_sentence(record: Record) -> str:
    found = record["relaxed"]
    if found is None or found["gain"] is None:
        return ""
    gain, null = f"{found['gain']:.2%}", found["null"]
    by_chance = "" if null is None else f" (by chance at most {null:.2%}; z = {found['z']:.1f})"
    if found["chosen"]:
        return (
            f"The PARAFAC2 constraint does not fit these data: relaxing it lowers the error by "
            f"{gain}{by_chance}."
        )
    if found["gain"] > 0:
        return (
            f"Relaxing the PARAFAC2 constraint would lower the error by {gain}, no more than by "
            f"chance{by_chance}."
        )
    return "The PARAFAC2 constraint fits these data: relaxing it does not lower the error."


def _runner_up(record: Record) -> str:
    """The rank to consider beside the chosen one."""
    ranks = _lines(record["ranks"])
    chosen = record["chosen"]["rank"]
    error = {line["rank"]: line["error"] for line in ranks}
    larger = [line["rank"] for line in ranks if line["rank"] > chosen]
    better = [line["rank"] for line in ranks if line["supported"] and line["rank"] > chosen]
    if better:
        rank = min(better, key=lambda one: error[one])
        lost = _not_found(record, rank)
        return f"Runner-up: rank {rank} predicts {-above(error[rank], error[chosen]):.1%} better{lost}."
    below = [line["rank"] for line in ranks if line["rank"] < chosen]
    rank = min(larger[:1] + below[-1:], key=lambda one: error[one], default=None)
    if rank is None or not error[chosen] > 0:
        return ""
    return f"Runner-up: rank {rank} predicts {error[rank] / error[chosen] - 1:.1%} worse."


def _not_found(record: Record, rank: int) -> str:
    own = [line for line in _lines(record["components"]) if line["rank"] == rank]
    count = sum(line["verdict"] == "not there" for line in own)
    return f", but {count} of its components {'is' if count == 1 else 'are'} not found again" if count else ""


def _caveat(record: Record) -> str:
    found = []
    if record["left_out"]:
        found.append(f"{record['left_out']} rows have too few entries and were left out")
    if record["sampled"]:
        found.append(f"a sample of {record['sampled']:,} rows chose")
    if record["bound_by_data"]:
        found.append("no entry is negative, so that patterns were kept non-negative")
    if sudden := record["sudden"]:
        how = "lower" if sudden["gain"] > 0 else "raise"
        chosen = "and were chosen" if sudden["chosen"] else "no more than by chance"
        found.append(f"sudden changes {how} the error by {abs(sudden['gain']):.2%}, {chosen}")
    if not found:
        return ""
    text = "; ".join(found)
    return text[0].upper() + text[1:] + "."


# --- points to draw -----------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """A smoothness and rigidity that were tried at the chosen rank; excess is above the chosen error."""

    smoothness: float
    rigidity: float
    error: float
    excess: float
    tied: bool
    chosen: bool


class RankPoint(NamedTuple):
    """A rank at its best setting; gain is over one rank less, null what it has to exceed."""

    rank: int
    error: float
    gain: float | None
    z: float | None
    null: float | None
    agreement: float | None
    model: str
    smoothness: float | None
    rigidity: float
    chosen: bool


class ComponentPoint(NamedTuple):
    """Similarity of a component between parts of the rows, whole and of what it has alone."""

    rank: int
    component: int
    similarity: float
    alone: float
    verdict: str
    chosen: bool


class ModelPoint(NamedTuple):
    """A kind of model at the chosen rank; its error is above (or below) that of the chosen one by a share."""

    model: str
    excess: float
    z: float
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


def panels(record: Record) -> Panels:
    """Give the points of a record, without panels that have nothing to compare."""
    settings, ranks = tuple(_settings(record)), tuple(_ranks(record))
    models = sorted(_models(record), key=lambda one: one.excess)
    return Panels(
        settings if len({one.smoothness for one in settings}) > 1 else (),
        record["tie_band"],
        ranks if len(ranks) > 1 else (),
        tuple(sorted(_components(record))),
        tuple(models) if len(models) > 1 else (),
    )


def _settings(record: Record) -> list[Setting]:
    chosen = record["chosen"]
    lines = [
        line
        for line in _lines(record["tried"])
        if all(line[name] == chosen[name] for name in ("rank", "nonnegative", "changes"))
        and line["smoothness"] is not None
        and math.isfinite(line["error"])
    ]
    # Of the same kind: a relaxed constraint has to gain more than by chance, and may be lower for nothing.
    relaxed = math.isfinite(chosen["rigidity"])
    alike = [line["error"] for line in lines if math.isfinite(line["rigidity"]) == relaxed]
    least = min(alike, default=0.0)
    points = [
        Setting(
            line["smoothness"],
            line["rigidity"],
            line["error"],
            above(line["error"], least),
            line["tied"],
            line["chosen"],
        )
        for line in lines
        if math.isfinite(above(line["error"], least))
    ]
    return sorted(points, key=lambda one: (-one.rigidity, one.smoothness))


def _ranks(record: Record) -> Iterator[RankPoint]:
    names = set(RankPoint._fields) - {"chosen"}
    for line in _lines(record["ranks"]):
        if math.isfinite(line["error"]):
            own = {name: line[name] for name in names}
            yield RankPoint(**own, chosen=line["rank"] == record["chosen"]["rank"])


def _components(record: Record) -> Iterator[ComponentPoint]:
    by = record["by"]
    for line in _lines(record["components"]):
        if line[by] is not None:
            chosen = line["rank"] == record["chosen"]["rank"]
            found = line[by], line[f"{by}_alone"], line["verdict"]
            yield ComponentPoint(line["rank"], line["component"], *found, chosen)


def _models(record: Record) -> Iterator[ModelPoint]:
    for line in _lines(record["compared"]):
        if math.isfinite(line["excess"]):
            yield ModelPoint(line["model"], line["excess"], line["z_behind_chosen"], line["chosen"])


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
