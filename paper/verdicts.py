"""Which of the paper's claims hold in a table of results, and how surely."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from claims import (
    CASE_TITLES,
    CLAIMS,
    MEASURE_WORDS,
    PUBLISHED,
    Above,
    Claim,
    Expectation,
    Falls,
    GainGrows,
    Side,
)
from numpy.typing import NDArray
from paired import holm, paired_test
from plan import HEADLINE, Setting

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
"""A p-value below this is significant."""

FEWEST = 5
"""With fewer data sets no p-value can be below `ALPHA`: the smallest is 2^-n."""

_WIDTH = 100
_KEYS = ["case", "level", "dataset", "model", "lambda_b"]


class Ruling(StrEnum):
    """What became of a claim; the value is what people read."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    CONTRADICTED = "contradicted"
    TOO_FEW = "too few data sets"


@dataclass(frozen=True)
class Comparison:
    """Two sides measured on the same data sets; the claim is that the left one is higher.

    Attributes
    ----------
    setting : str
        Where, such as "noise 0.5"; the penalties are the claim's.
    compared : str
        What, such as "score: tPARAFAC2 > PARAFAC2".
    lambda_b : float or None
        The smoothness of the smooth models, None where no model has any.
    headline : bool
        Whether the verdict stands on it; those with other lambda_b are secondary.
    n : int
        Number of data sets.
    median_left, median_right, median_difference : float
        Medians of both sides, and of the differences of the pairs.
    p : float
        p-value of the claim, as tested.
    p_corrected, p_opposite : float
        p-value of the claim and of its opposite; those of secondary comparisons corrected for their number.
    """

    setting: str
    compared: str
    lambda_b: float | None
    headline: bool
    n: int
    median_left: float
    median_right: float
    median_difference: float
    p: float
    p_corrected: float
    p_opposite: float

    @property
    def significant(self) -> bool:
        """Whether the left side is significantly higher, as claimed."""
        return self.p_corrected < ALPHA

    @property
    def contradicts(self) -> bool:
        """Whether the left side is significantly lower."""
        return self.p_opposite < ALPHA

    def as_row(self) -> dict[str, Any]:
        """All of it under plain names."""
        return {**vars(self), "significant": self.significant, "contradicts": self.contradicts}


@dataclass(frozen=True)
class Verdict:
    """What a run says about one claim.

    Attributes
    ----------
    claim : Claim
        The claim.
    outcome : Ruling
        Whether it holds.
    comparisons : tuple of Comparison
        What that stands on, headline and secondary.
    note : str
        Where the run differs from the paper, why if that is known, and what else a reader must know.
    """

    claim: Claim
    outcome: Ruling
    comparisons: tuple[Comparison, ...]
    note: str

    @property
    def headline(self) -> tuple[Comparison, ...]:
        """The comparisons that the outcome stands on."""
        return tuple(one for one in self.comparisons if one.headline)

    @property
    def secondary(self) -> tuple[Comparison, ...]:
        """The comparisons with other lambda_b."""
        return tuple(one for one in self.comparisons if not one.headline)


def judge(table: pd.DataFrame, claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """Judge the paper's claims by a table of results.

    A claim holds if every comparison at the headline lambda_b (1000, fixed before any result was seen) is
    significant: p < 0.05 in a one-sided paired Wilcoxon test over the data sets. All must pass, so that they
    need no correction; the comparisons at other lambda_b are secondary, and corrected by Holm's method within
    the claim.

    Parameters
    ----------
    table : DataFrame
        One row for each setting, data set and method, with columns case, level, dataset, model, lambda_b and
        everything that was measured.
    claims : sequence of Claim
        The claims to judge.

    Returns
    -------
    list of Verdict
        In the order of the claims. A claim is left out if the table lacks its case, its models at the
        headline lambda_b, or the two levels that it compares.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [{"case": "easy", "level": 0.5, "dataset": i, "model": model, "lambda_b": lambda_b,
    ...          "fms": score + 0.01 * i}
    ...         for model, lambda_b, score in [("PARAFAC2", None, 0.7), ("tPARAFAC2", 1000, 0.8)]
    ...         for i in range(6)]
    >>> [verdict] = judge(pd.DataFrame(rows), CLAIMS[:1])
    >>> verdict.outcome.value, verdict.comparisons[0].p
    ('holds', 0.015625)
    """
    _check(table, claims)
    verdicts = (_judge_one(claim, table[table["case"] == claim.case]) for claim in claims)
    return [verdict for verdict in verdicts if verdict is not None]


def as_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """One row for each comparison, for a CSV file; ``at`` tells published and chosen penalties apart."""
    import pandas as pd

    rows = [
        {
            "claim": verdict.claim.key,
            "case": verdict.claim.case,
            "at": verdict.claim.at,
            "outcome": verdict.outcome.value,
            **one.as_row(),
        }
        for verdict in verdicts
        for one in verdict.comparisons
    ]
    judged = ["significant", "contradicts"]
    columns = ["claim", "case", "at", "outcome", *Comparison.__dataclass_fields__, *judged]
    return pd.DataFrame(rows, columns=columns)


def as_json(verdicts: Sequence[Verdict]) -> str:
    """Everything as JSON, for programs: verdicts at published penalties and, apart, at chosen ones by method.

    Examples
    --------
    >>> json.loads(as_json([]))
    {'alpha': 0.05, 'headline_lambda_b': 1000.0, 'verdicts': [], 'verdicts_at_chosen': {}}
    """
    listed: dict[str, list[dict[str, Any]]] = {PUBLISHED: []}
    for verdict in verdicts:
        one = {
            "claim": verdict.claim.key,
            "case": verdict.claim.case,
            "words": verdict.claim.words,
            "outcome": verdict.outcome.value,
            "note": verdict.note,
            "comparisons": [one.as_row() for one in verdict.comparisons],
        }
        listed.setdefault(verdict.claim.at, []).append(one)
    content = {"alpha": ALPHA, "headline_lambda_b": HEADLINE, "verdicts": listed.pop(PUBLISHED)}
    return json.dumps(content | {"verdicts_at_chosen": listed}, indent=2, allow_nan=False)


def as_text(verdicts: Sequence[Verdict]) -> str:
    """Everything for a terminal, at most 100 characters wide.

    Examples
    --------
    >>> as_text([])
    'None of the claims can be judged: their settings are not in the table.'
    """
    if not verdicts:
        return "None of the claims can be judged: their settings are not in the table."
    again = "" if len(by_penalties(verdicts)) == 1 else ", and again with what the data chose"
    lines = [
        *summary(verdicts),
        "",
        *_wrapped(
            f"Judged at lambda_b = {HEADLINE:g}{again}. A line has the medians of what is claimed to be "
            "higher and lower, with > if that is significant, < if the opposite is, ~ if neither is; the "
            f"median of the differences; p of a one-sided paired Wilcoxon test, significant below {ALPHA:g}; "
            "and the number of data sets.",
            "",
        ),
    ]
    for at, those in by_penalties(verdicts).items():
        for case, title in CASE_TITLES.items():
            told = [verdict for verdict in those if verdict.claim.case == case]
            title = title if at == PUBLISHED else f"{title}: {at}"
            if told:
                lines += ["", title, "=" * len(title)]
            for verdict in told:
                lines += ["", *_told(verdict)]
    return "\n".join(lines)


def by_penalties(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts apart by what they are judged at, the published penalties first."""
    ordered = dict.fromkeys(verdict.claim.at for verdict in verdicts)
    return {at: [verdict for verdict in verdicts if verdict.claim.at == at] for at in ordered}


def summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How many claims hold, in one line for each of the penalties they are judged at."""
    for at, those in by_penalties(verdicts).items():
        counts = Counter(verdict.outcome for verdict in those)
        told = ", ".join(f"{outcome.value} {counts[outcome]}" for outcome in Ruling if counts[outcome])
        claims = f"{len(those)} claim{'s' if len(those) > 1 else ''}"
        yield f"{claims} of the paper{'' if at == PUBLISHED else f' with {at}'}: {told}."


# --- judging ------------------------------------------------------------------------------------------------


def _check(table: pd.DataFrame, claims: Sequence[Claim]) -> None:
    measures = {side.measure for claim in claims for one in claim.expectations for side in one.sides}
    missing = [name for name in (*_KEYS, *MEASURE_WORDS) if name in {*_KEYS, *measures} - set(table.columns)]
    if missing:
        raise ValueError(
            f"The table lacks the columns {', '.join(missing)}: give the table of a run of the experiments."
        )
    repeated = table.duplicated(_KEYS)
    if repeated.any():
        first = table.loc[repeated, _KEYS].iloc[0].to_dict()
        raise ValueError(f"Two rows of the table are about the same fit, {first}: keep one of them.")


def _judge_one(claim: Claim, rows: pd.DataFrame) -> Verdict | None:
    """Judge a claim by the rows of its case; None if there is not all that it stands on."""
    groups = [list(_compare(one, claim.case, rows)) for one in claim.expectations]
    if not all(any(one.headline for one in group) for group in groups):
        return None
    comparisons = _corrected([one for group in groups for one in group])
    headline = [one for one in comparisons if one.headline]
    outcome = _outcome(headline)
    return Verdict(claim, outcome, tuple(comparisons), _note(claim, outcome, headline))


def _compare(expectation: Expectation, case: str, rows: pd.DataFrame) -> Iterator[Comparison]:
    """Make every comparison of an expectation for which there are data, the headline first."""
    smooth = any(side.smooth for side in expectation.sides)
    others = sorted(set(rows["lambda_b"].dropna()) - {HEADLINE})
    for lambda_b in [HEADLINE, *others] if smooth else [None]:
        at_lambda = rows[rows["lambda_b"].isna() | (rows["lambda_b"] == lambda_b)]
        for setting, left, right in _sides(expectation, case, at_lambda):
            pairs = _pairs(left, right)
            if len(pairs):
                yield _comparison(setting, expectation.words(case), lambda_b, pairs)


def _sides(expectation: Expectation, case: str, rows: pd.DataFrame) -> Iterator[tuple[str, Any, Any]]:
    """Give for each comparison its setting and what was measured on both sides, by data set."""
    levels = sorted(set(rows["level"]))

    def read(level: float, side: Side | float) -> Any:
        if not isinstance(side, Side):
            return side
        chosen = rows[(rows["level"] == level) & (rows["model"] == side.model)]
        return chosen.set_index("dataset")[side.measure]

    if isinstance(expectation, Above):
        for level in levels:
            yield Setting(case, level).label, read(level, expectation.left), read(level, expectation.right)
    elif len(levels) > 1:
        low, high = levels[0], levels[-1]
        names = [Setting(case, level).label for level in (low, high)]
        if isinstance(expectation, Falls):
            yield " vs ".join(names), read(low, expectation.side), read(high, expectation.side)
        else:
            yield " vs ".join(reversed(names)), _gain(expectation, high, read), _gain(expectation, low, read)


def _gain(expectation: GainGrows, level: float, read: Callable[[float, Side], Any]) -> Any:
    return read(level, expectation.left) - read(level, expectation.right)


def _pairs(left: Any, right: Any) -> NDArray[np.float64]:
    """Pair both sides by data set, (n, 2), where both are numbers."""
    import pandas as pd

    values = np.asarray(pd.DataFrame({"left": left, "right": right}), dtype=float)
    return np.asarray(values[np.isfinite(values).all(axis=1)])


def _comparison(setting: str, compared: str, lambda_b: float | None, pairs: Any) -> Comparison:
    left, right = pairs.T
    p = paired_test(left, right)
    return Comparison(
        setting=setting,
        compared=compared,
        lambda_b=None if lambda_b is None else float(lambda_b),
        headline=lambda_b in (None, HEADLINE),
        n=len(pairs),
        median_left=float(np.median(left)),
        median_right=float(np.median(right)),
        median_difference=float(np.median(left - right)),
        p=p,
        p_corrected=p,
        p_opposite=paired_test(right, left),
    )


def _corrected(comparisons: list[Comparison]) -> list[Comparison]:
    """Correct the secondary comparisons of a claim for their number, in both directions."""
    secondary = [one for one in comparisons if not one.headline]
    claimed, opposite = holm([one.p for one in secondary]), holm([one.p_opposite for one in secondary])
    corrected = [
        replace(one, p_corrected=float(p), p_opposite=float(q))
        for one, p, q in zip(secondary, claimed, opposite, strict=True)
    ]
    return [one for one in comparisons if one.headline] + corrected


def _outcome(headline: list[Comparison]) -> Ruling:
    if min(one.n for one in headline) < FEWEST:
        return Ruling.TOO_FEW
    if all(one.significant for one in headline):
        return Ruling.HOLDS
    if any(one.significant for one in headline):
        return Ruling.IN_PART
    if any(one.contradicts for one in headline):
        return Ruling.CONTRADICTED
    return Ruling.FAILS


def _note(claim: Claim, outcome: Ruling, headline: list[Comparison]) -> str:
    if outcome is Ruling.HOLDS:
        return claim.remark
    if outcome is Ruling.TOO_FEW:
        smallest = min(one.n for one in headline)
        counted = f"{smallest} data set{'' if smallest == 1 else 's'}"
        few = f"p < {ALPHA:g} needs at least {FEWEST} data sets, and a comparison has only {counted}."
        return " ".join(filter(None, [few, claim.remark]))
    neither = [one for one in headline if not one.significant and not one.contradicts]
    opposite = [one for one in headline if one.contradicts]
    parts = []
    if neither:
        parts.append(f"not significant for {_listed(neither)}")
    if opposite:
        parts.append(f"significantly the other way for {_listed(opposite)}")
    difference = f"This differs from the paper: {'; '.join(parts)}."
    return " ".join(filter(None, [difference, claim.reason, claim.remark]))


def _listed(comparisons: list[Comparison]) -> str:
    settings: dict[str, list[str]] = {}
    for one in comparisons:
        settings.setdefault(one.compared, []).append(one.setting)
    return " and ".join(f'"{compared}" at {", ".join(where)}' for compared, where in settings.items())


# --- telling ------------------------------------------------------------------------------------------------


def _told(verdict: Verdict) -> Iterator[str]:
    yield from _wrapped(f"{verdict.outcome.value.upper()}: {verdict.claim.words}", "", hanging="  ")
    compared = ""
    for one in verdict.headline:
        if one.compared != compared:
            compared = one.compared
            yield f"  {compared}"
        yield _line(one)
    if verdict.secondary:
        yield from _wrapped(_others(verdict.secondary), "  ", hanging="    ")
    if verdict.note:
        yield from _wrapped(verdict.note, "  ", hanging="  ")


def _line(one: Comparison) -> str:
    sign = ">" if one.significant else "<" if one.contradicts else "~"
    p = "p < 0.0001" if one.p < 0.0001 else f"p = {one.p:.4f}"
    medians = f"{number_text(one.median_left):>7} {sign} {number_text(one.median_right):<7}"
    return f"    {one.setting:<28}{medians}  {number_text(one.median_difference, '+'):>8}  {p}  n = {one.n}"


def number_text(value: float, sign: str = "") -> str:
    """A median for people; nothing for what is not known."""
    if value != value:
        return ""
    return f"{value:{sign}.0e}" if 0 < abs(value) < 5e-4 else f"{value:{sign}.3f}"


def _others(secondary: Sequence[Comparison]) -> str:
    """Say in one line how the other lambda_b did."""
    parts = []
    for lambda_b in sorted({one.lambda_b for one in secondary if one.lambda_b is not None}):
        mine = [one for one in secondary if one.lambda_b == lambda_b]
        reversed_ = sum(one.contradicts for one in mine)
        told = f"{sum(one.significant for one in mine)} of {len(mine)}"
        parts.append(f"{lambda_b:g}: {told}" + (f" ({reversed_} the other way)" if reversed_ else ""))
    return f"Significant at other lambda_b, after Holm's correction: {', '.join(parts)}."


def _wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    later = indent if hanging is None else hanging
    # No line begins with a per cent sign.
    lines = textwrap.wrap(
        text.replace(" %", "\N{NO-BREAK SPACE}%"), _WIDTH, initial_indent=indent, subsequent_indent=later
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
