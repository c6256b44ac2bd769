"""What there is to know about a fit, as data: computed once, from the result alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import cancelling_pair
from tparafac2.penalties import Paced, Quadratic, asks_for, is_temporal, size_weight, softens
from tparafac2.result.judging import judged
from tparafac2.result.jumps import jumps
from tparafac2.result.kinds import ENDINGS, Finding, Kind, Severity
from tparafac2.result.moments import gaps, time_order, timeline
from tparafac2.result.parameters import GIVEN_FACTORS
from tparafac2.result.record import Result, unit_columns
from tparafac2.result.terms import LostTerm, Terms

STATIC = 1e-6
"""A pattern whose squared changes are this small a part of its square does not change."""

SAME_OBJECTIVE = 1e-6
"""Starts whose objectives differ by less than this, relatively, count as agreeing."""

SAME_ROUGH_OBJECTIVE = 1e-4
"""The same for starts that were run on a sketch of the data, where they stop earlier."""

ALIKE = 0.99
"""Starts whose components match those of the chosen one at least so well agree with it."""

AGREEMENT = 0.5
"""Share of the other starts that have to agree with the chosen one."""

_EVEN = 1e-6
_NEGATIVE = 0.01
"""Share of a sum of squares that is below zero, from which on that is worth a word."""

_FEW_ROWS, _MOST_WEIGHT = 0.1, 0.9
"""Where so few rows have so much of the weight, the others hardly matter."""

_ROWS_PER_COMPONENT = 2
"""Fewer rows than this at some time cannot tell the components apart with any certainty."""

_PROPORTIONAL, _PROPORTIONAL_PARTS = 0.985, 0.99
_SAME_ROWS = 0.98
"""Cosine of their strengths from which on two components may be mixed; non-negative patterns stand more."""

_NEARLY_ZERO = 1e-3
"""Of the largest entry of a component: what is less is as good as zero, where constraints allow no zeros."""

_FACTORS = {"A": "loadings", "B": "patterns", "C": "strengths"}

_LESS, _LARGER = 0.05, 1.25
"""So much less explained of appended times than of those of the fit, and so many times larger squares of what
is left of an entry, ask for another fit."""


def find(result: Result) -> tuple[Finding, ...]:
    """Find out what there is to know about a fit.

    Parameters
    ----------
    result : Result
        Also one from an older file: nothing else is needed.

    Examples
    --------
    >>> result = Result(model="TParafac2", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> [str(finding.kind) for finding in find(result)]
    ['explained', 'converged', 'static', 'complete', 'trust']
    """
    seen = _Seen(result)
    parts = (_explained, _ending, _starts, _smoothness, _components, _observed, _weighted, _time, _appended)
    found = [finding for part in parts for finding in part(seen)]
    every = (*found, *judged(result, found))
    names = result.component_names
    return tuple(replace(one, names=names) for one in every) if names else every


def vanished(result: Result) -> NDArray[np.bool_]:
    """Tell which components are zero in some factor, (R,).

    Examples
    --------
    >>> result = Result(model="CP", A=np.array([[1.0, 0.0]]), B=np.ones((2, 3, 2)), C=np.ones((2, 2)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> vanished(result).tolist()
    [False, True]
    """
    alive = [np.any(factor, axis=0) for factor in (result.A, result.C)]
    alive.append(np.any([np.any(piece, axis=0) for piece in result.B], axis=0))
    return np.asarray(~np.all(alive, axis=0))


def static(result: Result) -> NDArray[np.bool_]:
    """Tell which components have a pattern that does not change in time, (R,).

    Examples
    --------
    >>> B = np.array([[[1.0, 1.0]], [[1.0, 2.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 2)), B=B, C=np.ones((2, 2)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> static(result).tolist()
    [True, False]
    """
    if isinstance(result.B, list) or len(result.C) < 2:
        return np.zeros(result.rank, dtype=bool)
    squares, changes = np.zeros(result.rank), np.zeros(result.rank)
    before = None
    with np.errstate(invalid="ignore", over="ignore"):  # a fit that went wrong may hold infinities
        for k in time_order(result):
            pattern = result.B[k]
            squares += np.einsum("jr,jr->r", pattern, pattern)
            if before is not None:
                change = pattern - before
                changes += np.einsum("jr,jr->r", change, change)
            before = pattern
    return np.asarray((changes <= STATIC * squares) & ~vanished(result))


def chosen_start(starts: Mapping[str, NDArray[Any]]) -> int:
    """Place of the start that was kept; the lowest, if the account does not say.

    Examples
    --------
    >>> chosen_start({"objective": np.array([3.0, np.nan, 2.0])})
    2
    """
    chosen = np.flatnonzero(starts.get("chosen", np.zeros(0)))
    if len(chosen):
        return int(chosen[0])
    objective = starts["objective"].astype(np.float64)
    return int(np.argmin(np.where(np.isnan(objective), np.inf, objective)))


def likeness(starts: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """How well the components of each start match those of the chosen one; 1 is the same, NaN broke down.

    Examples
    --------
    >>> likeness({"objective": np.array([1.0, 2.0]), "fms_to_chosen": np.array([1.0, 0.4])})
    array([1. , 0.4])
    """
    return np.asarray(starts["fms_to_chosen"].astype(np.float64))


def faults(starts: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
    """Which starts are not sound, by what is wrong with them; nothing, if the account does not say.

    Examples
    --------
    >>> said = {"converged": [True], "feasible": [True], "degenerate": [True], "status": ["converged"]}
    >>> {name: mask.tolist() for name, mask in faults({k: np.array(v) for k, v in said.items()}).items()}
    {'not_converged': [False], 'infeasible': [False], 'degenerate': [True], 'not_finite': [False]}
    """
    if not {"converged", "feasible", "degenerate", "status"} <= set(starts):
        return {}
    return {
        "not_converged": ~starts["converged"],
        "infeasible": ~starts["feasible"],
        "degenerate": starts["degenerate"],
        "not_finite": np.asarray(starts["status"] == "not_finite"),
    }


def count_alike(starts: Mapping[str, NDArray[Any]]) -> int:
    """How many other starts ended with the components of the chosen one.

    Examples
    --------
    >>> count_alike({"objective": np.array([1.0, 1.0]), "fms_to_chosen": np.array([1.0, 0.995])})
    1
    """
    return int(np.count_nonzero(np.delete(likeness(starts), chosen_start(starts)) >= ALIKE))


def share_alike(starts: Mapping[str, NDArray[Any]]) -> float | None:
    """Share of the other starts that ended with the components of the chosen one; None if there is no other.

    Examples
    --------
    >>> share_alike({"objective": np.array([1.0, 1.0, 1.2]), "fms_to_chosen": np.array([1.0, 0.995, 0.4])})
    0.5
    """
    others = len(starts["objective"]) - 1
    return count_alike(starts) / others if others > 0 else None


def count_same_objective(starts: Mapping[str, NDArray[Any]]) -> int:
    """How many other starts ended with the objective of the chosen one.

    Examples
    --------
    >>> count_same_objective({"objective": np.array([1.0, 1.0 + 1e-9, 1.1])})
    1
    """
    rough = "rough_objective" in starts
    objective = starts["rough_objective" if rough else "objective"].astype(np.float64)
    chosen, apart = chosen_start(starts), SAME_ROUGH_OBJECTIVE if rough else SAME_OBJECTIVE
    same = np.isclose(np.delete(objective, chosen), objective[chosen], rtol=apart, atol=0.0)
    return int(np.count_nonzero(same))


class _Seen:
    """A result, and what several findings ask of it."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.labels = result.labels.coordinate("time", len(result.C))
        self.order = time_order(result)

    def times(self, flags: NDArray[np.bool_]) -> tuple[Any, ...]:
        """Labels of the times that are flagged, in the order of time."""
        return tuple(self.labels[self.places(flags)])

    def places(self, flags: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Places of the slices that are flagged, in the order of time."""
        return np.asarray(self.order[flags[self.order]])

    @cached_property
    def unobserved(self) -> NDArray[np.bool_]:
        coverage = self.result.coverage
        return np.zeros(len(self.labels), bool) if coverage is None else np.asarray(~coverage.any(axis=1))

    @cached_property
    def unique(self) -> bool:
        """Whether components are determined, and not only their span."""
        return self.result.terms.is_unique


def _explained(seen: _Seen) -> Iterator[Finding]:
    result = seen.result
    share = result.explained_variance
    numbers = {"share": share, "components": result.rank, "observed_share": result.observed_share}
    if result.row_weights is not None:
        numbers["weighted"] = True
    if share > 0 and math.isfinite(share):
        yield Finding(Kind.EXPLAINED, numbers=numbers)
    else:
        yield Finding(Kind.EXPLAINS_NOTHING, Severity.WARNING, numbers=numbers)


def _ending(seen: _Seen) -> Iterator[Finding]:
    result = seen.result
    kind = Kind.CONVERGED if result.converged else ENDINGS.get(result.status, Kind.NOT_CONVERGED)
    severity = Severity.INFO if kind is Kind.CONVERGED else Severity.WARNING
    found = faults(result.starts)
    sound = not found or not np.all(np.any(list(found.values()), axis=0))
    if not sound and kind is not Kind.INTERRUPTED:
        counts = {name: int(np.count_nonzero(mask)) for name, mask in found.items()}
        told = {"starts": len(result.starts["objective"])} | counts
        yield Finding(Kind.NO_SOUND_START, Severity.WARNING, numbers=told)
    yield Finding(kind, severity, numbers={"iterations": result.n_iter})


def _starts(seen: _Seen) -> Iterator[Finding]:
    starts = seen.result.starts
    if not {"fms_to_chosen", "objective"} <= set(starts) or not len(starts["objective"]):
        return
    count = len(starts["objective"])
    status = starts.get("status", np.full(count, ""))
    finished = int(np.count_nonzero(status != "interrupted"))
    asked = max(count, _asked_starts(seen.result.parameters))
    if finished < asked:
        yield Finding(Kind.INTERRUPTED_STARTS, Severity.NOTE, numbers={"finished": finished, "starts": asked})
    if count == 1:
        yield Finding(Kind.ONE_START)
        return
    yield _agreement(seen, count)
    objective = starts["objective"].astype(np.float64)
    lower = objective < objective[chosen_start(starts)] * (1 - SAME_OBJECTIVE)
    lower &= np.isin(status, ("max_iter", "infeasible"))
    if lower.any():
        numbers = {"lower": int(np.count_nonzero(lower)), "starts": count}
        yield Finding(Kind.LOWER_PASSED_OVER, Severity.NOTE, numbers=numbers)


def _smoothness(seen: _Seen) -> Iterator[Finding]:
    """Where the smoothness comes from, if not from the data; a choice tells of itself."""
    result, given = seen.result, seen.result.parameters
    known = "smoothness" in given and result.appended is None  # appended data change the norm it relates to
    if result.smoothness is None or result.choice is not None or not known:
        return
    lambdas = any(name.startswith("lambda_") and value is not None for name, value in given.items())
    numbers = {
        "smoothness": result.smoothness,
        "origin": "lambdas" if lambdas else "default" if given["smoothness"] is None else "given",
        "model": result.model,
    }
    yield Finding(Kind.SMOOTHNESS, numbers=numbers)


def _agreement(seen: _Seen, count: int) -> Finding:
    starts = seen.result.starts
    alike, relative = count_alike(starts), likeness(starts)
    numbers: dict[str, Any] = {
        "starts": count,
        "others": count - 1,
        "alike": alike,
        "same_objective": count_same_objective(starts),
        "least": float(np.nanmin(relative)) if np.isfinite(relative).any() else math.nan,
    }
    for name in ("converged", "degenerate"):
        if name in starts:
            numbers[name] = int(np.count_nonzero(starts[name]))
    found = faults(starts)
    chosen = chosen_start(starts)
    sound = not found or not np.any(list(found.values()), axis=0)[chosen]
    sound = sound and bool(relative[chosen] >= ALIKE)  # else all of it vanished or broke down
    if seen.unique and sound and alike < AGREEMENT * (count - 1):
        return Finding(Kind.FEW_STARTS_AGREE, Severity.WARNING, numbers=numbers)
    return Finding(Kind.STARTS, numbers=numbers)


def _asked_starts(given: Mapping[str, Any]) -> int:
    init = given.get("init", GIVEN_FACTORS)
    if isinstance(init, list):
        return len(init)
    drawn = isinstance(init, str) and init != GIVEN_FACTORS
    return int(given.get("n_starts", 1)) if drawn else 1


def _components(seen: _Seen) -> Iterator[Finding]:
    result = seen.result
    if result.rank > 1 and not seen.unique:
        yield Finding(Kind.NOT_UNIQUE, Severity.NOTE)
    degenerate = result.starts.get("degenerate", np.zeros(0))
    if "objective" in result.starts and len(degenerate) and degenerate[chosen_start(result.starts)]:
        score, first, second = cancelling_pair(result.A, result.B, result.C)
        numbers = {"other": second + 1, "score": score}
        yield Finding(Kind.DEGENERATE, Severity.WARNING, component=first + 1, numbers=numbers)
    yield from _proportional(seen)
    yield from _same_rows(result)
    gone = vanished(result)
    for r in np.flatnonzero(gone):
        yield Finding(Kind.VANISHED, Severity.WARNING, component=int(r) + 1)
    if result.constant:
        yield Finding(Kind.CONSTANT)
    else:
        smoothness = result.smoothness
        numbers = {} if smoothness is None else {"smoothness": smoothness}
        for r in np.flatnonzero(static(result)):
            yield Finding(Kind.STATIC, Severity.NOTE, component=int(r) + 1, numbers=numbers)
    yield from _changes(seen)
    yield from _constraints(result)
    weak = result.undetermined_patterns & ~seen.unobserved[:, np.newaxis] & ~gone
    for r in np.flatnonzero(weak.any(axis=0)):
        yield Finding(
            Kind.UNDETERMINED,
            Severity.WARNING,
            component=int(r) + 1,
            times=seen.times(weak[:, r]),
            numbers={"of": len(weak)},
        )


def _proportional(seen: _Seen) -> Iterator[Finding]:
    """Pairs of components that their strengths do not tell apart, the most proportional first."""
    result = seen.result
    C = result.normalised().C[~seen.unobserved]
    if result.terms.fixed_strengths or len(C) < 2 or not np.isfinite(C).all():
        return
    unit, _ = unit_columns(C)
    cosines = np.triu(np.abs(unit.T @ unit), 1)
    parts = asks_for(result.terms.B, "nonnegative")
    alike = np.argwhere(cosines >= (_PROPORTIONAL_PARTS if parts else _PROPORTIONAL))
    pairs = sorted(((float(cosines[r, s]), int(r) + 1, int(s) + 1) for r, s in alike), reverse=True)
    if pairs:
        cosine, first, second = pairs[0]
        told = tuple((r, s, cosine) for cosine, r, s in pairs)
        numbers = {"other": second, "cosine": cosine, "parts": parts, "pairs": told}
        yield Finding(Kind.PROPORTIONAL, Severity.NOTE, component=first, numbers=numbers)


def _changes(seen: _Seen) -> Iterator[Finding]:
    """Whether patterns may change suddenly, and where they do."""
    if not any(isinstance(term, Paced) for term in seen.result.terms.B):
        return
    found = jumps(seen.result)
    yield Finding(Kind.MAY_JUMP, numbers={"found": len(found)})
    for one in found:
        times = tuple(seen.labels[[one.before, one.after]])
        numbers = {"share": one.share, "cosine": one.cosine}
        yield Finding(Kind.SUDDEN, component=one.component + 1, times=times, numbers=numbers)


def _sparse(result: Result, terms: Terms) -> Iterator[Finding]:
    """Factors that are to have few entries other than zero, and how few these are."""
    alive = ~vanished(result)
    for mode, those in terms.modes.items():
        weights = [weight for term in those if (weight := size_weight(term)) is not None]
        if not any(weights) or (mode == "C" and terms.fixed_strengths):
            continue
        pieces = result.B if mode == "B" else [result.A if mode == "A" else result.C]
        sizes = np.abs(np.concatenate([np.asarray(piece)[:, alive] for piece in pieces]))
        if mode == "B" and result.present is not None:  # the others are zero because they are not there
            sizes = sizes[np.ravel(result.present)]
        small = sizes <= _NEARLY_ZERO * sizes.max(axis=0, initial=0.0)
        shares = [float(np.mean(flags)) if flags.size else math.nan for flags in (sizes == 0, small)]
        numbers = {"factor": _FACTORS[mode], "strength": float(sum(weights))}
        yield Finding(Kind.SPARSE, numbers=numbers | dict(zip(("share", "nearly"), shares)))


def _smooth_strengths(terms: Terms) -> Iterator[Finding]:
    """Strengths that are smooth in time, by the weight of their changes beside that of their squares."""
    if terms.fixed_strengths:
        return
    squared = [term for term in terms.C if isinstance(term, Quadratic)]
    changes = sum(getattr(term, "strength", 0.0) for term in squared if is_temporal(term))
    if changes:
        norm = sum(getattr(term, "strength", 0.0) for term in squared if not is_temporal(term))
        numbers = {"strength": float(changes)} | ({"weight": float(changes / norm)} if norm else {})
        yield Finding(Kind.SMOOTH_STRENGTHS, numbers=numbers)


def _same_rows(result: Result) -> Iterator[Finding]:
    """Pairs of components that have the same rows: one component would do, with a pattern that changes."""
    if result.constant or not np.isfinite(result.A).all():
        return
    unit, _ = unit_columns(result.A)
    for r, s in np.argwhere(np.triu(np.abs(unit.T @ unit), 1) >= _SAME_ROWS):
        numbers = {"other": int(s) + 1, "cosine": float(unit[:, r] @ unit[:, s])}
        yield Finding(Kind.SAME_ROWS, Severity.NOTE, component=int(r) + 1, numbers=numbers)


def _further_terms(terms: Terms) -> Iterator[Finding]:
    """What was asked of the factors beyond norms, smoothness and the constraints that models are made of."""
    for mode, those in terms.modes.items():
        for term in those:
            known = isinstance(term, Quadratic) or softens(term) or hasattr(term, "constraint")
            told = size_weight(term) is not None or (mode == "B" and isinstance(term, Paced))
            if known or told or (mode == "C" and terms.fixed_strengths):
                continue
            given = ((name, getattr(term, name)) for name in getattr(term, "__dataclass_fields__", ()))
            numbers = {name: value for name, value in given if _is_finite(value)}
            kind = term.text if isinstance(term, LostTerm) else type(term).__name__
            yield Finding(Kind.FURTHER_TERM, numbers={"factor": _FACTORS[mode], "term": kind, **numbers})


def _is_finite(value: Any) -> bool:
    return isinstance(value, bool | int | float) and math.isfinite(value)


def _constraints(result: Result) -> Iterator[Finding]:
    """Whether the constraints on the patterns suit the data."""
    if not all(np.isfinite(piece).all() for piece in result.B):
        return
    rigidity, departure = result.terms.rigidity, result.departure
    if rigidity is not None and departure is not None:
        yield Finding(Kind.GIVES_WAY, numbers={"value": rigidity, "share": departure})
    modes = {"patterns": result.terms.B, "rows": result.terms.A}
    bounded = {name: asks_for(terms, "nonnegative") for name, terms in modes.items()}
    if any(bounded.values()):
        yield Finding(Kind.NONNEGATIVE, numbers=bounded)
    yield from _sparse(result, result.terms)
    yield from _smooth_strengths(result.terms)
    yield from _further_terms(result.terms)
    if result.negative_share is None:
        return
    squares = [(float(np.sum(np.minimum(piece, 0.0) ** 2)), float(np.sum(piece**2))) for piece in result.B]
    negative, total = np.sum(squares, axis=0)
    if bounded["patterns"]:
        if result.negative_share > _NEGATIVE:
            numbers = {"share": result.negative_share}
            yield Finding(Kind.NEGATIVE_DATA, Severity.NOTE, numbers=numbers)
    elif result.negative_share == 0 and negative > _NEGATIVE * total:
        yield Finding(Kind.COULD_BE_NONNEGATIVE, numbers={"share": negative / total})


def _observed(seen: _Seen) -> Iterator[Finding]:
    result = seen.result
    coverage = np.ones((1, 1)) if result.coverage is None else result.coverage
    empty = coverage == 0
    if result.observed_share == 1 and not empty.any():
        yield Finding(Kind.COMPLETE)
        return
    numbers = {"share": 1 - result.observed_share, "empty": int(np.count_nonzero(empty)), "of": empty.size}
    yield Finding(Kind.MISSING, numbers=numbers)
    if result.coverage is None:
        return
    K, n_rows, _ = result.shape
    if seen.unobserved.any():
        yield Finding(
            Kind.UNOBSERVED_TIMES, Severity.NOTE, times=seen.times(seen.unobserved), numbers={"of": K}
        )
    rows = np.rint(coverage.max(axis=1) * n_rows).astype(int)
    few = (rows > 0) & (rows < _ROWS_PER_COMPONENT * result.rank) & (rows < n_rows)
    if few.any():
        numbers = {"of": K, "rows": n_rows, "seen": tuple(rows[seen.places(few)].tolist())}
        yield Finding(Kind.FEW_ROWS, Severity.WARNING, times=seen.times(few), numbers=numbers)
    # The pattern of a column that was not there is zero.
    bridged = empty & ~seen.unobserved[:, np.newaxis]
    for flags, pattern in zip(bridged, result.B):
        flags[: len(pattern)] &= np.any(pattern, axis=1)
        flags[len(pattern) :] = False
    if bridged.any():
        numbers = {"columns": int(bridged.any(axis=0).sum()), "pairs": int(bridged.sum())}
        yield Finding(Kind.BRIDGED, Severity.NOTE, times=seen.times(bridged.any(axis=1)), numbers=numbers)


def _weighted(seen: _Seen) -> Iterator[Finding]:
    weights = seen.result.row_weights
    if weights is None:
        return
    by = (seen.result.weighting or {}).get("by", "rows")
    numbers = {"least": float(weights.min()), "most": float(weights.max())}
    yield Finding(Kind.WEIGHTED, numbers={"by": by, **numbers})
    largest = np.sort(weights)[::-1][: max(1, int(_FEW_ROWS * len(weights)))]
    share = float(largest.sum() / max(weights.sum(), 1e-300))
    if share > _MOST_WEIGHT and len(largest) < len(weights):
        numbers = {"rows": len(largest), "of": len(weights), "share": share}
        yield Finding(Kind.UNEVEN_WEIGHTS, Severity.NOTE, numbers=numbers)


def _time(seen: _Seen) -> Iterator[Finding]:
    result = seen.result
    when = timeline(result)
    between = gaps(when.values, result.period)
    # Without times the fit took them as even, whatever the labels say.
    if result.times is not None and len(between) and np.ptp(between) > _EVEN * between.max():
        numbers = {"least": float(between.min()), "most": float(between.max()), "dated": when.dated}
        yield Finding(Kind.UNEVEN_TIMES, numbers=numbers)
    if result.period is not None:
        yield Finding(Kind.PERIODIC, numbers={"period": result.period, "dated": when.dated})
    if len(set(result.widths)) > 1:
        yield Finding(Kind.RAGGED, numbers={"least": min(result.widths), "most": max(result.widths)})


def _appended(seen: _Seen) -> Iterator[Finding]:
    """How much the loadings of the fit explain of what came after it."""
    kept = seen.result.appended
    if kept is None:
        return
    count, square, error = len(kept["squares"]), sum(kept["squares"]), sum(kept["errors"])
    last = np.arange(len(seen.labels)) >= len(seen.labels) - count
    whole = seen.result.terms.scale**2
    left, rest = (1.0 - seen.result.explained_variance) * whole - error, whole - square
    share = 1.0 - error / square if square > 0 else math.nan
    before = 1.0 - left / rest if rest > 0 else math.nan
    coverage = np.ones((len(last), 1)) if seen.result.coverage is None else seen.result.coverage
    entries = coverage[last].sum(), coverage[~last].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.divide(error * entries[1], left * entries[0]))
    # Weaker times are explained less by as good a model: what is left of each entry has to be more, too.
    worse = before - share > _LESS and ratio > _LARGER
    severity = Severity.NOTE if worse else Severity.INFO
    numbers = {"share": share, "before": before, "ratio": ratio, "of": len(seen.labels)}
    yield Finding(Kind.APPENDED, severity, times=seen.times(last), numbers=numbers)
