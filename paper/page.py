"""The page of a run: what was done, what came out, and whether the paper's claims hold.

A page is a list of blocks, written as Markdown or as one HTML file that opens anywhere.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from claims import CASE_TITLES, PUBLISHED
from figures.example import Example
from figures.scores import UNIT_FORM
from plan import CHOSEN, FLEXIBLE, HARD, HEADLINE, Plan, Setting
from records import Call
from uniqueness import RotationRow
from verdicts import Comparison, Verdict, by_penalties, number_text, summary

if TYPE_CHECKING:
    import pandas as pd


class Heading(NamedTuple):
    """A title; level 1 is the page's own."""

    level: int
    text: str


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Code(NamedTuple):
    """Lines to be typed."""

    text: str


class Table(NamedTuple):
    """Texts in rows and columns."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Picture(NamedTuple):
    """A PNG file, named relative to the page, and what is to be seen on it."""

    path: str
    caption: str


Block = Heading | Text | Code | Table | Picture


class Findings(NamedTuple):
    """All that a run found."""

    table: pd.DataFrame
    calls: Sequence[Call]
    verdicts: Sequence[Verdict]
    examples: Sequence[Example]
    rotations: Sequence[RotationRow]


_CAPTIONS = {
    "easy": "Easy case: recovery of the true factors by noise level. The numbers in the legend are lambda_B.",
    "almost_zero": "Almost zero strength: recovery where one or two concepts nearly vanish for 4 to 6 times.",
    "overlapping": "Overlapping concepts: recovery by the share of words that all concepts have at first.",
}

_UNIT_CAPTION = (
    "Overlapping concepts, all methods in unit form, and the flexible one with them. True patterns change "
    "their sizes here, which is why scores are higher than above; in the other cases the form makes no "
    "difference."
)

_SCORES = {
    "fms": "stacked (the paper's)",
    "fms_slicewise": "slicewise",
    "fms_scaled": "scaled",
    "fms_a": "A",
    "fms_b": "B",
    "fms_c": "C",
    "fms_unit": "unit form",
}


def write_page(plan: Plan, findings: Findings) -> list[Block]:
    """The page, block by block."""
    return [
        Heading(1, "The paper's experiments"),
        *_what_was_done(plan, findings.table, findings.calls),
        *_overview(findings.verdicts),
        Heading(2, "The data"),
        Picture("figures/drifts.png", "Four kinds of concept drift: which words a concept has over time."),
        Picture("figures/strengths.png", "Four ways in which the strength of a concept changes in time."),
        *(block for case in plan.cases for block in _case(case, findings)),
        *(_what_was_chosen(plan, findings.table) if plan.chosen else ()),
        *_uniqueness(findings),
        *_bookkeeping(findings.table),
    ]


def _what_was_done(plan: Plan, table: pd.DataFrame, calls: Sequence[Call]) -> Iterator[Block]:
    times, rows, columns = plan.size
    computing = table["seconds"].sum() / 60
    yield Text(
        f"{plan.datasets} data sets of {rows} x {columns} x {times} for each of {len(plan.settings)} "
        f"settings, {len(plan.methods)} methods, {plan.starts} starts each, the same for every method. A "
        f"start that reaches {plan.max_iter} iterations, does not meet its constraints or is degenerate is "
        "discarded; of the others the one with the lowest objective is scored against the truth by the "
        "factor match score (FMS)."
    )
    yield Text(
        f"tparafac2 {plan.protocol.version}; {len(table):,} fits, {computing:.0f} minutes of computing. "
        "Calls that came to their end:"
    )
    lines = ((call.command, f"{call.fits:,}", f"{call.seconds / 60:.1f}", call.workers) for call in calls)
    yield Table(("command", "fits", "minutes", "with"), tuple(lines))


def _overview(verdicts: Sequence[Verdict]) -> Iterator[Block]:
    yield Heading(2, "Verdicts")
    yield Text(
        f"Each claim is judged at lambda_B = {HEADLINE:g}, fixed beforehand, by one-sided paired Wilcoxon "
        "tests over the data sets; it holds if all of them have p < 0.05. Details are below, case "
        "by case, and in verdicts.csv."
    )
    apart = by_penalties(verdicts)
    yield _verdict_table(apart.pop(PUBLISHED, []))
    if not apart:
        return
    yield Heading(2, "Verdicts with what the data chose")
    yield Text(
        "The claims about tPARAFAC2 once more, by the same tests. Instead of published penalties each data "
        "set chooses its own: the smoothness (tPARAFAC2, chosen), or smoothness and rigidity (flexible "
        "tPARAFAC2, chosen) that best predict entries hidden from the fit. The rank is given, as for "
        "all methods; the truth is not looked at. The other models stay as they were."
    )
    for (at, those), counted in zip(apart.items(), summary([v for these in apart.values() for v in these])):
        yield Heading(3, at)
        yield Text(counted)
        yield _verdict_table(those)


def _verdict_table(verdicts: Sequence[Verdict]) -> Table:
    medians = ("; ".join(f"{_both(one)} ({one.setting})" for one in v.headline) for v in verdicts)
    rows = ((v.claim.words, v.outcome.value, told) for v, told in zip(verdicts, medians))
    return Table(("claim", "verdict", "medians"), tuple(rows))


def _both(one: Comparison) -> str:
    return f"{number_text(one.median_left)} vs {number_text(one.median_right)}"


def _case(case: str, findings: Findings) -> Iterator[Block]:
    yield Heading(2, CASE_TITLES[case])
    yield Picture(f"figures/{case}.png", _CAPTIONS[case])
    if case == "overlapping" and FLEXIBLE.model in set(findings.table["model"]):
        yield Picture(f"figures/{UNIT_FORM}.png", _UNIT_CAPTION)
    yield Text(
        "Medians of the score over the data sets, and of the cosine of each factor. In unit form patterns "
        "have length 1 at each time, and strengths all of their size, in every model and the truth alike. "
        "The flexible model is scored in this form alone, since its patterns change their sizes: compare it "
        "with others by the last column."
    )
    yield _medians_table(findings.table[findings.table["case"] == case], case)
    for example in findings.examples:
        if example.setting.case == case:
            yield Picture(
                f"figures/example-{case}.png",
                f"Patterns of data set {example.dataset} ({example.setting.label}), the one on which "
                "tPARAFAC2 gains as much over PARAFAC2 as in the median; one colour scale for all. Times "
                "at which a concept has almost no strength are marked by a line above the map.",
            )
    for at, verdicts in by_penalties(findings.verdicts).items():
        told = [verdict for verdict in verdicts if verdict.claim.case == case]
        if told and at != PUBLISHED:
            yield Heading(3, f"{CASE_TITLES[case]}: verdicts for {at}")
        for verdict in told:
            yield from _verdict(verdict)


def _medians_table(table: pd.DataFrame, case: str) -> Table:
    grouped = table.groupby(["level", "method"], sort=False)[list(_SCORES)].median()
    rows = tuple(
        (Setting(case, level).label, method, *(number_text(value) for value in medians))
        for (level, method), medians in zip(grouped.index, grouped.to_numpy())
    )
    return Table(("setting", "method", *_SCORES.values()), rows)


def _verdict(verdict: Verdict) -> Iterator[Block]:
    level = 3 if verdict.claim.is_published else 4
    yield Heading(level, f"{verdict.outcome.value.capitalize()}: {verdict.claim.words}")
    rows = tuple(
        (
            one.compared,
            one.setting,
            "" if one.lambda_b is None else f"{one.lambda_b:g}{'' if one.headline else ' (secondary)'}",
            _both(one),
            _probability(one.p_corrected),
            "yes" if one.significant else "opposite" if one.contradicts else "no",
        )
        for one in verdict.comparisons
    )
    yield Table(("compared", "setting", "lambda_B", "medians", "p", "significant"), rows)
    if verdict.note:
        yield Text(verdict.note)


def _what_was_chosen(plan: Plan, table: pd.DataFrame) -> Iterator[Block]:
    yield Heading(2, "What the data chose")
    yield Text(
        "Median and range over the data sets of each setting. An infinite rigidity is the PARAFAC2 "
        "constraint; smaller ones let sizes and angles of the patterns give way. The last column has what "
        f"the published penalties amount to at lambda_B = {HEADLINE:g}. What each data set chose is in "
        "results.csv."
    )
    rows = []
    for setting in plan.settings:
        own = table[(table["case"] == setting.case) & (table["level"] == setting.level)]
        hard, flexible = (own[own["method"] == method.label] for method in CHOSEN)
        published = own[(own["model"] == "tPARAFAC2") & (own["lambda_b"] == HEADLINE)]
        columns = hard["smoothness"], flexible["smoothness"], flexible["rigidity"], published["smoothness"]
        kept = f"{int(flexible['rigidity'].eq(math.inf).sum())} of {len(flexible)}"
        told = [_median_and_range(column) for column in columns]
        rows.append((setting.label, *told[:3], kept, told[3]))
    head = [f"{HARD.label}: smoothness", f"{FLEXIBLE.label}: smoothness", "rigidity", "constraint kept"]
    yield Table(("setting", *head, "published: smoothness"), tuple(rows))


def _median_and_range(values: pd.Series[float]) -> str:
    return f"{values.median():.2g} ({values.min():.2g} to {values.max():.2g})"


def _uniqueness(findings: Findings) -> Iterator[Block]:
    yield Heading(2, "Uniqueness")
    yield Text(
        "If a model is unique, starts that end at the same objective end at the same factors. Median over "
        "all data sets of: the relative spread of the objective over the better half of the starts, and the "
        "median score of their factors with the chosen ones."
    )
    grouped = findings.table.groupby("method", sort=False)[["objective_spread", "agreement"]].median()
    rows = ((method, f"{spread:.0e}", f"{fms:.3f}") for method, spread, fms in grouped.itertuples())
    yield Table(("method", "spread of objectives", "agreement of factors (FMS)"), tuple(rows))
    if findings.rotations:
        yield Text(
            "The exact proof: for any rotation Q, A Q and B_k Q describe the data as well as A and B_k. A "
            "tCMF solution keeps its objective, whatever the rotation, while its factors become others; in "
            "tPARAFAC2 the strengths, and in NNtCMF the signs, forbid it. One data set, the "
            "same random rotations for all models:"
        )
        yield _rotation_table(findings.rotations)


def _rotation_table(rotations: Sequence[RotationRow]) -> Table:
    head: tuple[str, ...] = ("model", "change of the objective", "FMS with the unrotated, lowest")
    head += ("FMS with the truth", "after rotation", "most negative loading")
    rows = (
        (
            row.model,
            f"{row.smallest_change:.0e} to {row.largest_change:.0e}",
            f"{row.lowest_match:.2f}",
            f"{row.truth:.2f}",
            f"{row.truth_lowest:.2f} to {row.truth_highest:.2f}",
            "" if row.most_negative_loading is None else f"{row.most_negative_loading:.2f} of the largest",
        )
        for row in rotations
    )
    return Table(head, tuple(rows))


def _bookkeeping(table: pd.DataFrame) -> Iterator[Block]:
    yield Heading(2, "Starts and time")
    yield Text("Sums over all data sets; seconds are per fit of all starts, in one process with one thread.")
    counts = ["starts", "kept", "hit_max_iter", "infeasible", "degenerate", "broken"]
    grouped = table.groupby("method", sort=False)
    sums, medians = grouped[counts].sum(), grouped[["iterations", "seconds"]].median()
    rows = tuple(
        (
            method,
            *(f"{count:,}" for count in sums.loc[method]),
            f"{medians.loc[method, 'iterations']:.0f}",
            f"{medians.loc[method, 'seconds']:.2f}",
        )
        for method in sums.index
    )
    head = ("method", "starts", "kept", "hit the limit", "infeasible", "degenerate", "broke down")
    yield Table((*head, "iterations (median)", "seconds (median)"), rows)


def _probability(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def to_markdown(blocks: Sequence[Block]) -> str:
    """The page as Markdown, pictures by reference.

    Examples
    --------
    >>> to_markdown([Heading(1, "Scores"), Table(("method", "score"), (("A|B", "0.9"),))])
    '# Scores\\n\\n| method | score |\\n|---|---|\\n| A\\\\|B | 0.9 |\\n'
    """
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def to_html(blocks: Sequence[Block], folder: Path) -> str:
    """The page as one HTML file, pictures inside; their paths begin in the folder."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block, folder) for block in blocks)
    return _PAGE.format(title=escape(title), style=_STYLE, body=body)


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Code(text):
            return "\n".join(f"    {line}" for line in text.splitlines())
        case Picture(path, caption):
            return f"![{caption}]({path})\n\n*{caption}*"
        case Table(head, rows):
            lines = [head, *rows]
            texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
            return "\n".join([texts[0], "|" + "---|" * len(head), *texts[1:]])


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Picture(path, caption):
            image = base64.b64encode((folder / path).read_bytes()).decode()
            return (
                f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{image}">'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )
        case Table(head, rows):
            return (
                f'<div class="table"><table><thead>{_row(head, "th")}</thead><tbody>'
                f"{''.join(_row(row, 'td') for row in rows)}</tbody></table></div>"
            )


def _row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
figure { margin: 1.5rem 0; }
img { max-width: 100%; background: white; }
figcaption { font-size: .9rem; opacity: .8; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
pre { overflow-x: auto; padding: .75rem; background: #8882; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
