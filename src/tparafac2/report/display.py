"""What people are shown of a fit: factors in the order of time, components in sentences, and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_texts, padded
from tparafac2.result import (
    ENDINGS,
    Finding,
    Kind,
    Result,
    Severity,
    counted,
    moment_text,
    percentage,
    sentence,
    static,
    timeline,
    vanished,
    what_is_explained,
)
from tparafac2.words import PYTHON, Words

LONGEST_LABEL = 200
"""Labels are cut here: they come from strangers, and a page is to be read."""

Tone = Literal["good", "plain", "warning"]

_FIGURES = {
    Kind.EXPLAINED: "{percent}",
    Kind.EXPLAINS_NOTHING: "{percent}",
    **dict.fromkeys(ENDINGS.values(), "not converged"),
    Kind.CONVERGED: "converged",
    Kind.INTERRUPTED: "interrupted",
    Kind.ALL_VANISHED: "nothing left",
    Kind.INTERRUPTED_STARTS: "unfinished",
    Kind.ONE_START: "agreement unknown",
    Kind.STARTS: "{alike} of {others}",
    Kind.FEW_STARTS_AGREE: "only {alike} of {others}",
    Kind.LOWER_PASSED_OVER: "{lower} of {starts}",
    Kind.VANISHED: "{count} vanished",
    Kind.STATIC: "{count} static",
    Kind.MISSING: "{percent}",
    Kind.UNOBSERVED_TIMES: "not observed",
    Kind.ONLY_THERE: "{count} not replicable",
    Kind.NOT_THERE: "{count} not there",
    Kind.TRUST: "trust: {level}",
}
"""A finding in a word or number; of other kinds their name says enough."""

_TONES: dict[str, Tone] = {"high": "good", "fair": "plain", "low": "warning"}

_HERE = {
    Kind.UNDETERMINED: " They are hatched on this page.",
    Kind.MISSING: " What was not observed is hatched here, and left out of the rankings.",
}
"""What the page does about it."""


class Known(IntEnum):
    """Whether the data say what a pattern is at a time, or why they do not."""

    YES = 0
    WEAK = 1
    UNSEEN = 2


@dataclass(frozen=True, eq=False)
class Display:
    """What is shown of a result.

    Attributes
    ----------
    A, B, C : ndarray (I, R), (K, J, R), (K, R)
        Unit loadings, unit patterns (NaN where a slice has no such column), and strengths.
    rows, columns, times : list of str
        A text for every label.
    moments : ndarray (K,)
        Where the times stand on an axis.
    order : ndarray of int (K,)
        Which slices these are.
    known : ndarray of Known (K, R)
    unseen : ndarray of bool (K, J)
        Where no row of a column was observed.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((2, 1, 1)), C=np.array([[2.0], [1.0]]),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1,
    ...                 times=np.array([7.5, 3.0]))
    >>> view = look(result)
    >>> view.times, view.columns, view.C.round(2).tolist()
    (['3', '7.5'], ['column 0'], [[1.41], [2.83]])
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    C: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    times: list[str]
    moments: NDArray[np.float64]
    order: NDArray[np.intp]
    known: NDArray[np.int8]
    unseen: NDArray[np.bool_]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Entries of the patterns that the data say something about, (K, J, R)."""
        seen = (self.known == Known.YES)[:, np.newaxis, :] & ~self.unseen[:, :, np.newaxis]
        return np.asarray(seen & np.isfinite(self.B))


def look(result: Result) -> Display:
    """Give a result as it is shown; see `Display`."""
    K, I, J = result.shape
    when = timeline(result)
    order = np.argsort(when.values, kind="stable")
    moments = when.values[order]
    if not np.isfinite(moments).all():  # labels that do not say when
        moments = np.arange(K, dtype=np.float64)
    times = [moment_text(float(value), when.dated) for value in when.values]
    if result.labels.time is not None:
        times = _texts(result.labels.time, "time", K)
    A, B, C = result.normalised()
    coverage = np.ones((K, J)) if result.coverage is None else result.coverage
    unseen = np.asarray(coverage == 0)
    reason = np.where(unseen.all(axis=1, keepdims=True), Known.UNSEEN, Known.WEAK)
    known = np.where(result.undetermined_patterns, reason, Known.YES).astype(np.int8)
    return Display(
        A=A,
        B=padded(B, J)[order],
        C=C[order],
        rows=_texts(result.labels.rows, "row", I),
        columns=_texts(result.labels.columns, "column", J),
        times=[times[k] for k in order],
        moments=moments,
        order=order,
        known=known[order],
        unseen=unseen[order],
    )


def _texts(labels: NDArray[Any] | None, word: str, size: int) -> list[str]:
    if labels is None:
        return [f"{word} {i}" for i in range(size)]
    return label_texts(labels, LONGEST_LABEL)


class ComponentAccount(NamedTuple):
    """What is said of a component; its share is that of the sum of all components' strengths.

    The verdict of halves of the rows is empty where they were not asked.
    """

    share: float
    state: Literal["", "vanished", "static"]
    verdict: str = ""


def component_accounts(result: Result) -> list[ComponentAccount]:
    """Say in what state the components are, in their order.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> component_accounts(result)
    [ComponentAccount(share=1.0, state='static', verdict='')]
    """
    gone, still = vanished(result), static(result)
    accounts = []
    for r in range(result.rank):
        state: Literal["", "vanished", "static"] = "vanished" if gone[r] else "static" if still[r] else ""
        verdict = "" if result.trust is None or result.trust.verdict is None else str(result.trust.verdict[r])
        accounts.append(ComponentAccount(float(result.shares[r]), state, verdict))
    return accounts


class Fact(NamedTuple):
    """One thing to know about a fit: in a word or number, and in sentences that may go on from there."""

    tone: Tone
    figure: str
    text: str


def account(result: Result, words: Words = PYTHON) -> list[Fact]:
    """Say what everybody should know about a fit before looking at its patterns, by kinds of findings.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> for fact in account(result)[1:3]:
    ...     print(fact.figure, "|", fact.text)
    90 % | of the variation in the data (its sum of squares) is explained by 1 component.
    converged | after 7 iterations: the objective no longer changes and all constraints hold.
    """
    told = (one for one in result.findings if one.kind is not Kind.SUDDEN)  # with its component
    in_all_first = sorted(told, key=lambda finding: finding.kind is not Kind.TRUST)
    groups = groupby(in_all_first, key=lambda finding: finding.kind)
    return [_fact(kind, list(findings), words) for kind, findings in groups]


def _fact(kind: Kind, findings: Sequence[Finding], words: Words) -> Fact:
    numbers = findings[0].numbers
    share = numbers.get("share", 0.0)
    percent = percentage(share) if np.isfinite(share) else "unknown"
    figure = _FIGURES.get(kind, kind.value.replace("_", " "))
    figure = figure.format(**numbers, count=len(findings), percent=percent)
    text = " ".join(sentence(one, words) for one in findings) + _HERE.get(kind, "")
    if kind is Kind.EXPLAINED:
        what = what_is_explained(findings[0])
        components = counted(numbers["components"], "component")
        text = f"of the variation in the {what} (its sum of squares) is explained by {components}."
    elif text.casefold().startswith(figure.casefold()):  # it then goes on from there: no number is told twice
        text = text[len(figure) :].lstrip(" ,")
    return Fact(_tone(findings[0]), figure, text)


def _tone(finding: Finding) -> Tone:
    if finding.severity is Severity.WARNING:
        return "warning"
    if finding.kind is Kind.TRUST:
        return _TONES[finding.numbers["level"]]
    all_agree = finding.kind is Kind.STARTS and finding.numbers["alike"] == finding.numbers["others"]
    return "good" if all_agree or finding.kind is Kind.CONVERGED else "plain"
