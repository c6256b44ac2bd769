"""The account of a fit on its page: what was found, each in a word and in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from tparafac2.result import Finding, Kind, Result, Severity, sentence
from tparafac2.words import PYTHON, Words

Tone = Literal["good", "plain", "warning"]

_FIGURES = {
    Kind.EXPLAINED: "{percent:.1f} %",
    Kind.EXPLAINS_NOTHING: "{percent:.1f} %",
    Kind.ALL_VANISHED: "nothing left",
    Kind.INTERRUPTED: "interrupted",
    Kind.NO_SOUND_START: "no sound start",
    Kind.INTERRUPTED_STARTS: "{finished} of {starts}",
    Kind.ONE_START: "1 start",
    Kind.STARTS: "{alike} of {starts}",
    Kind.FEW_STARTS_AGREE: "{alike} of {starts}",
    Kind.LOWER_PASSED_OVER: "{lower} lower",
    Kind.NOT_UNIQUE: "not unique",
    Kind.DEGENERATE: "degenerate",
    Kind.VANISHED: "{count} vanished",
    Kind.CONSTANT: "constant",
    Kind.STATIC: "{count} static",
    Kind.UNDETERMINED: "undetermined",
    Kind.COMPLETE: "complete",
    Kind.MISSING: "{percent:.3g} %",
    Kind.UNOBSERVED_TIMES: "not observed",
    Kind.FEW_ROWS: "few rows",
    Kind.BRIDGED: "bridged",
    Kind.UNEVEN_TIMES: "uneven times",
    Kind.PERIODIC: "periodic",
    Kind.RAGGED: "ragged",
}
_ENDED = {True: "converged", False: "not converged"}

_HERE = {
    Kind.UNDETERMINED: " They are hatched on this page.",
    Kind.MISSING: " What was not observed is hatched here, and left out of the rankings.",
}
"""What the page does about it."""


class Fact(NamedTuple):
    """One thing to know about a fit.

    Attributes
    ----------
    tone : "good", "plain" or "warning"
        Whether it is to reassure, to inform or to be taken care of.
    figure : str
        The fact in a word or a number.
    text : str
        The fact in sentences.

    Examples
    --------
    >>> Fact("good", "95 %", "1 component explains 95 % of the variation.").figure
    '95 %'
    """

    tone: Tone
    figure: str
    text: str


def account(result: Result, words: Words = PYTHON) -> list[Fact]:
    """Say what everybody should know about a fit before looking at its patterns.

    Parameters
    ----------
    result : Result
    words : Words
        What arguments are called.

    Returns
    -------
    list of Fact
        One for each kind of finding.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> for fact in account(result)[:2]:
    ...     print(fact.figure, "|", fact.text)
    90.0 % | 1 component explains 90 % of the variation in the data (its sum of squares).
    converged | Converged after 7 iterations: the objective no longer changes and all constraints hold.
    """
    groups = groupby(result.findings, key=lambda finding: finding.kind)
    return [_fact(kind, list(findings), words) for kind, findings in groups]


def _fact(kind: Kind, findings: Sequence[Finding], words: Words) -> Fact:
    numbers = findings[0].numbers
    text = " ".join(sentence(one, words) for one in findings) + _HERE.get(kind, "")
    figure = _FIGURES.get(kind, _ENDED[kind is Kind.CONVERGED]).format(
        **numbers, count=len(findings), percent=100 * numbers.get("share", 0.0)
    )
    known = np.isfinite(numbers.get("share", 0.0))
    return Fact(_tone(findings[0]), figure if known else "unknown", text)


def _tone(finding: Finding) -> Tone:
    if finding.severity is Severity.WARNING:
        return "warning"
    all_agree = finding.kind is Kind.STARTS and finding.numbers["alike"] == finding.numbers["starts"]
    return "good" if all_agree or finding.kind is Kind.CONVERGED else "plain"
