"""The page of a run: what was done, what came out, and whether the paper's claims hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tparafac2.experiments.blocks import Block, Heading, Picture, Table, Text
from tparafac2.experiments.claims import CASE_TITLES
from tparafac2.experiments.examples import Example
from tparafac2.experiments.plan import Plan
from tparafac2.experiments.settings import HEADLINE, METHODS, Setting
from tparafac2.experiments.store import Call
from tparafac2.experiments.uniqueness import RotationRow
from tparafac2.experiments.verdicts import Comparison, Verdict

if TYPE_CHECKING:
    import pandas as pd


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

_SCORES = {
    "fms": "stacked (the paper's)",
    "fms_slicewise": "slicewise",
    "fms_scaled": "scaled",
    "fms_a": "A",
    "fms_b": "B",
    "fms_c": "C",
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
        *_uniqueness(findings),
        *_bookkeeping(findings.table),
    ]


def _what_was_done(plan: Plan, table: pd.DataFrame, calls: Sequence[Call]) -> Iterator[Block]:
    times, rows, columns = plan.size
    computing = table["seconds"].sum() / 60
    yield Text(
        f"{plan.datasets} data sets of {rows} x {columns} x {times} for each of {len(plan.settings)} "
        f"settings, {len(METHODS)} methods, {plan.starts} starts each, the same for every method. A start "
        f"that reaches {plan.max_iter} iterations, does not meet its constraints or is degenerate is "
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
    rows = ((v.claim.words, v.outcome.value, _medians(v.headline)) for v in verdicts)
    yield Table(("claim", "verdict", "medians"), tuple(rows))


def _medians(comparisons: Sequence[Comparison]) -> str:
    return "; ".join(
        f"{_number(one.median_left)} vs {_number(one.median_right)} ({one.setting})" for one in comparisons
    )


def _case(case: str, findings: Findings) -> Iterator[Block]:
    yield Heading(2, CASE_TITLES[case])
    yield Picture(f"figures/{case}.png", _CAPTIONS[case])
    yield Text("Medians of the score over the data sets, and of the cosine of each factor:")
    yield _medians_table(findings.table[findings.table["case"] == case], case)
    for example in findings.examples:
        if example.setting.case == case:
            yield Picture(
                f"figures/example-{case}.png",
                f"Patterns of data set {example.dataset} ({example.setting.label}), the one on which "
                "tPARAFAC2 gains as much over PARAFAC2 as in the median; one colour scale for all. Times "
                "at which a concept has almost no strength are marked by a line above the map.",
            )
    for verdict in findings.verdicts:
        if verdict.claim.case == case:
            yield from _verdict(verdict)


def _medians_table(table: pd.DataFrame, case: str) -> Table:
    grouped = table.groupby(["level", "method"], sort=False)[list(_SCORES)].median()
    rows = tuple(
        (Setting(case, level).label, method, *(_number(value) for value in medians))
        for (level, method), medians in zip(grouped.index, grouped.to_numpy())
    )
    return Table(("setting", "method", *_SCORES.values()), rows)


def _verdict(verdict: Verdict) -> Iterator[Block]:
    yield Heading(3, f"{verdict.outcome.value.capitalize()}: {verdict.claim.words}")
    rows = tuple(
        (
            one.compared,
            one.setting,
            "" if one.lambda_b is None else f"{one.lambda_b:g}{'' if one.headline else ' (secondary)'}",
            f"{_number(one.median_left)} vs {_number(one.median_right)}",
            _probability(one.p_corrected),
            "yes" if one.significant else "opposite" if one.contradicts else "no",
        )
        for one in verdict.comparisons
    )
    yield Table(("compared", "setting", "lambda_B", "medians", "p", "significant"), rows)
    if verdict.note:
        yield Text(verdict.note)


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
    head = (
        "model",
        "change of the objective",
        "FMS with the unrotated, lowest",
        "FMS with the truth",
        "after rotation",
        "most negative loading",
    )
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


def _number(value: float) -> str:
    if value != value:
        return ""
    return f"{value:.0e}" if 0 < abs(value) < 5e-4 else f"{value:.3f}"


def _probability(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"
