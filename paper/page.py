"""The page of a run: what was done, what came out, and which of the paper's claims hold."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
from claims import PUBLISHED, claims_at
from plan import CHOSEN, FLEXIBLE, HARD, HEADLINE, Plan, level_name

_CAPTIONS = {
    "easy": "Recovery of the true factors by noise level.",
    "almost_zero": "Recovery where one or two concepts nearly vanish for 4 to 6 times.",
    "overlapping": "Recovery by the share of words that all concepts have at first.",
    "overlapping-unit": "All methods in unit form, and the flexible one with them. True patterns change "
    "sizes here, so that scores are higher than above; in the other cases the form makes no difference.",
}
_SCORES = ["fms", "fms_slicewise", "fms_scaled", "fms_a", "fms_b", "fms_c", "fms_unit", "weak_patterns"]


def summary(verdicts: pd.DataFrame) -> list[str]:
    """Say in one line for each of the penalties how many claims hold."""
    lines = []
    for at, outcomes in verdicts.drop_duplicates(["at", "claim"]).groupby("at", sort=False)["outcome"]:
        counts = ", ".join(f"{name} {count}" for name, count in outcomes.value_counts().items())
        lines.append(f"{len(outcomes)} claims{'' if at == PUBLISHED else f' with {at}'}: {counts}.")
    return lines


def write_page(
    plan: Plan, table: pd.DataFrame, verdicts: pd.DataFrame, rotations: pd.DataFrame, shown: dict[str, int]
) -> str:
    """Give the page in Markdown; `shown` has the number of the example data set of a case."""
    times, rows, columns = plan.size
    methods = table.groupby("method", sort=False)
    agreement = methods[["objective_spread", "agreement"]].median()
    counts = methods[["starts", "kept", "hit_max_iter", "degenerate"]].sum()
    parts = [
        "# The paper's experiments",
        f"{plan.datasets} data sets of {rows} x {columns} x {times} for each of "
        f"{table.groupby(['case', 'level']).ngroups} settings, {table['method'].nunique()} methods, "
        f"{plan.starts} starts each, the same for every method. A start that reaches {plan.max_iter} "
        "iterations, does not meet its constraints or is degenerate is discarded; of the others the one "
        "with the lowest objective is scored against the truth by the factor match score (FMS). "
        f"{len(table):,} fits, {table['seconds'].sum() / 60:.1f} minutes of "
        "computing.",
        "## Verdicts",
        f"A claim holds if all its comparisons at lambda_B = {HEADLINE:g}, fixed beforehand, have p < 0.05 "
        "in a one-sided paired Wilcoxon test over the data sets. Medians have > between them where that is "
        "so, < where the opposite is significant, ~ where neither is. Comparisons at other lambda_B are "
        "secondary, and corrected by Holm's method. All are in verdicts.csv.",
        "Claims about tPARAFAC2 are judged again with settings that each data set chooses: the smoothness "
        f"({HARD}), or smoothness and rigidity ({FLEXIBLE}) that best predict data held out from the fit. "
        "The rank is given, as for all methods; the truth is not used.",
        "\n".join(f"- {line}" for line in summary(verdicts)),
        *(part for at in (PUBLISHED, HARD, FLEXIBLE) for part in _verdicts(verdicts, at)),
        "## The data",
        _picture("drifts", "Four kinds of concept drift: which words a concept has over time."),
        _picture("strengths", "Four ways in which the strength of a concept changes in time."),
        *(part for case in plan.cases for part in _case(case, table, shown)),
        "## What the data chose",
        "Median and range over the data sets, beside what the published penalties amount to. An infinite "
        "rigidity is the PARAFAC2 constraint; smaller ones relax it.",
        _markdown(_chosen(table)),
        "## Uniqueness",
        "If a model is unique, starts that end at the same objective end at the same factors. Medians over "
        "all data sets, for the better half of the starts: the relative spread of the objective, and the "
        "score of their factors with the chosen ones.",
        _markdown(agreement.reset_index()),
        "The exact proof: for any rotation Q, A Q and B_k Q describe the data as well as A and B_k. A tCMF "
        "solution keeps its objective, while its factors become others; in tPARAFAC2 the strengths, and in "
        "NNtCMF the signs, forbid it. One data set (overlap 20 %), the same random rotations for all "
        "models: relative change of the objective; lowest FMS with the unrotated solution; FMS with the "
        "truth, before and after; most negative loading after rotation, relative to the largest.",
        _markdown(rotations),
        "## Starts and time",
        "Sums over all data sets; medians of iterations, and of seconds per fit of all starts on one core.",
        _markdown(counts.join(methods[["iterations", "seconds"]].median()).reset_index()),
    ]
    return "\n\n".join(parts) + "\n"


def _verdicts(verdicts: pd.DataFrame, at: str) -> Iterator[str]:
    lines, notes = [], []
    for claim in claims_at(at):
        own = verdicts[(verdicts["at"] == at) & (verdicts["claim"] == claim.key)]
        if own.empty:
            continue
        outcome = own["outcome"].iloc[0]
        medians = "; ".join(
            f"{_text(one.median_left)} {'>' if one.significant else '<' if one.contradicts else '~'} "
            f"{_text(one.median_right)} ({one.setting})"
            for one in own[own["headline"]].itertuples()
        )
        secondary = own[~own["headline"]].groupby("lambda_b")["significant"].agg(["sum", "size"])
        others = "; ".join(f"{lambda_b:g}: {k} of {n}" for lambda_b, k, n in secondary.itertuples())
        lines.append((claim.words, outcome, medians, others))
        if told := f"{claim.reason if outcome != 'holds' else ''} {claim.remark}".strip():
            notes.append(f"- *{claim.words}* {told}")
    if lines:
        yield f"### {'Published penalties' if at == PUBLISHED else at}"
        yield _markdown(pd.DataFrame(lines, columns=["claim", "verdict", "medians", "other lambda_B"]))
        yield "\n".join(notes)


def _case(case: str, table: pd.DataFrame, shown: dict[str, int]) -> Iterator[str]:
    yield f"## {case.replace('_', ' ').capitalize()}"
    yield from (_picture(name, words) for name, words in _CAPTIONS.items() if name.startswith(case))
    yield (
        "Medians over the data sets: the score (stacked, as in the paper, and by two other definitions), "
        "the cosines of each factor, the score in unit form (patterns of length 1 at each time and "
        "strengths all of their size, in every model and the truth alike), and the cosine of patterns while"
        " a concept is weak. The flexible model is scored in unit form alone, since its patterns change "
        "their sizes."
    )
    medians = _by_setting(table[table["case"] == case])[_SCORES].median()
    yield _markdown(medians.dropna(axis=1, how="all").reset_index())
    if case in shown:
        yield _picture(
            f"example-{case}",
            f"Patterns of data set {shown[case]}, the one on which tPARAFAC2 gains as much over PARAFAC2 as "
            "in the median. A line above a map marks times at which a concept has almost no strength.",
        )


def _by_setting(rows: pd.DataFrame) -> Any:
    names = [level_name(*one) for one in zip(rows["case"], rows["level"])]
    return rows.assign(setting=names).groupby(["setting", "method"], sort=False)


def _chosen(table: pd.DataFrame) -> pd.DataFrame:
    """Median and range of smoothness and rigidity, and how often the constraint was kept."""
    groups = _by_setting(table[table["method"].isin([*CHOSEN, f"tPARAFAC2 {HEADLINE:g}"])])
    found = groups[["smoothness", "rigidity"]].agg(["median", "min", "max"])
    found.columns = [" ".join(names) for names in found.columns]
    kept = groups["rigidity"].agg(lambda chosen: f"{(chosen == math.inf).sum()} of {chosen.count()}")
    return found.assign(constraint_kept=kept).reset_index()


def _picture(name: str, caption: str) -> str:
    return f"![{caption}](figures/{name}.png)\n\n*{caption}*"


def _markdown(frame: pd.DataFrame) -> str:
    head = [name.replace("_", " ") if name.islower() else name for name in frame.columns]
    lines = [head, ["---"] * len(head), *frame.map(_text).to_numpy()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: Any) -> str:
    """Give a text as it is and a number for people; nothing for what is not known."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return "" if math.isnan(value) else f"{value:.0e}" if 0 < abs(value) < 5e-4 else f"{value:.3f}"
