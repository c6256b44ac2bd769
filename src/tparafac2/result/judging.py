"""How far to trust a fit: what was measured of its components, and one judgement from all that was found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tparafac2.result.intervals import Intervals
from tparafac2.result.kinds import ENDINGS, Finding, Kind, Severity
from tparafac2.result.record import Result
from tparafac2.result.trust import Trust

_LOW = (
    *(set(ENDINGS.values()) - {Kind.CONVERGED}),
    Kind.EXPLAINS_NOTHING,
    Kind.FEW_STARTS_AGREE,
    Kind.NOT_UNIQUE,
    Kind.DEGENERATE,
    Kind.NOT_THERE,
)
"""With any of these the components should not be built upon."""

_FAIR = (
    Kind.ONE_START,
    Kind.PROPORTIONAL,
    Kind.SAME_ROWS,
    Kind.VANISHED,
    Kind.UNDETERMINED,
    Kind.ONLY_THERE,
    Kind.DEPENDS_ON_SETTING,
    Kind.CONSTRAINT_CONTRADICTED,
    Kind.RANK_UNSURE,
    Kind.UNSTABLE,
)
"""With any of these some part of a fit should not."""


def judged(result: Result, found: Sequence[Finding]) -> Iterator[Finding]:
    """Find what `Result.trust` says of the components, and how far to trust the whole.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 trust=Trust(replicability=[0.5], alone=[0.4], verdict=["not there"]))
    >>> [str(finding.kind) for finding in judged(result, [])]
    ['not_there', 'trust']
    """
    trust = result.trust or Trust()
    measured = [
        *_replicability(trust),
        *_stability(trust),
        *_constraint(result, trust),
        *_choice(result.choice or {}),
        *_intervals(result.intervals),
    ]
    yield from measured
    yield _in_all(result.rank, trust, [*found, *measured])


def _replicability(trust: Trust) -> Iterator[Finding]:
    told = {
        "there": (Kind.ONLY_THERE, Severity.NOTE),
        "not there": (Kind.NOT_THERE, Severity.WARNING),
    }
    for r, verdict in enumerate([] if trust.verdict is None else trust.verdict.tolist()):
        if verdict in told:
            kind, severity = told[verdict]
            numbers = _numbers(trust, r) | {"threshold": trust.threshold, "by": trust.by or "halves"}
            yield Finding(kind, severity, component=r + 1, numbers=numbers)


def _numbers(trust: Trust, r: int) -> dict[str, float]:
    return {name: float(array[r]) for name, array in trust.by_component.items() if name != "verdict"}


def _stability(trust: Trust) -> Iterator[Finding]:
    for r, likeness in enumerate([] if trust.stability is None else trust.stability.tolist()):
        if likeness < trust.threshold:
            numbers = {"stability": likeness}
            yield Finding(Kind.DEPENDS_ON_SETTING, Severity.WARNING, component=r + 1, numbers=numbers)


def _constraint(result: Result, trust: Trust) -> Iterator[Finding]:
    if trust.gain is None or trust.null is None or not trust.gain > trust.null:
        return
    # Where the constraint is relaxed already, that is the reason and nothing to act upon.
    held = result.terms.rigidity in (None, math.inf)
    numbers: dict[str, Any] = {"gain": trust.gain, "null": trust.null, "z": trust.z or 0.0, "held": held}
    yield Finding(Kind.CONSTRAINT_CONTRADICTED, Severity.WARNING if held else Severity.INFO, numbers=numbers)


def _choice(record: Mapping[str, Any]) -> Iterator[Finding]:
    """What was in doubt when the data chose."""
    if len(record.get("ranks_asked", ())) > 1 and not record["sure"]:
        numbers = {"rank": record["chosen"]["rank"], "doubts": tuple(record["doubts"])}
        yield Finding(Kind.RANK_UNSURE, Severity.NOTE, numbers=numbers)


def _intervals(bands: Intervals | None) -> Iterator[Finding]:
    """What bands there are, and which components have none."""
    if bands is None:
        return
    names = ("level", "over", "n_resamples", "undersmoothing", "interrupted")
    numbers = {name: getattr(bands, name) for name in names}
    severity = Severity.NOTE if bands.interrupted else Severity.INFO
    yield Finding(Kind.INTERVALS, severity, numbers=numbers | {"groups": bands.groups or 0})
    for r in bands.unstable.nonzero()[0]:
        numbers = {"share": float(bands.unmatched[r])}
        yield Finding(Kind.UNSTABLE, Severity.WARNING, component=int(r) + 1, numbers=numbers)


def _in_all(rank: int, trust: Trust, found: Iterable[Finding]) -> Finding:
    """One judgement, no better than the worst it rests on; it is no warning, since what it rests on is."""
    found = list(found)
    asking = [one.kind for one in found if one.severity is not Severity.INFO or one.kind is Kind.ONE_START]
    counts = Counter(kind for kind in asking if kind in (*_LOW, *_FAIR))
    measured = trust.verdict is not None
    level = "low" if any(kind in counts for kind in _LOW) else "high"
    if level == "high" and (counts or not measured):
        level = "fair"
    numbers: dict[str, Any] = {"level": level, "components": rank, "measured": measured}
    numbers["because"] = tuple((kind.value, count) for kind, count in counts.items())
    if measured:
        numbers["replicable"] = trust.verdict.tolist().count("replicable")  # type: ignore[union-attr]
    for one in found:
        if one.kind is Kind.STARTS:
            numbers |= {name: one.numbers[name] for name in ("alike", "others")}
    return Finding(Kind.TRUST, numbers=numbers)
