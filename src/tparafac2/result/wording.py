"""Findings as sentences, in the words of the place where they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tparafac2.data import label_text
from tparafac2.result.choices import DOUBTS
from tparafac2.result.findings import ALIKE
from tparafac2.result.kinds import ENDINGS, Finding, Kind, Severity
from tparafac2.result.naming import called
from tparafac2.result.trust import Trust
from tparafac2.words import PYTHON, Advice, Words, tell

_SHOWN_TIMES = 3
_SHOWN_PAIRS = 2
_WORTH_TELLING = 0.005

_SENTENCES = {
    Kind.EXPLAINED: "{components} {verb} {percent} of the variation in the {what} (its sum of squares).",
    Kind.EXPLAINS_NOTHING: "{percent} of the variation in the {what} is explained: that is no better than "
    "saying nothing.",
    Kind.CONVERGED: "Converged after {iterations}: the objective no longer changes and all constraints hold.",
    Kind.NOT_CONVERGED: "Not converged after {iterations}: raise {max_iter}.",
    Kind.MAX_ITER: "Stopped at {max_iter} ({iterations}) while the objective was still changing: raise "
    "{max_iter}{or_loosen_tol}.",
    Kind.INFEASIBLE: "Stopped at {max_iter} ({iterations}) with a constraint not yet met"
    "{to_feasibility_tol}: raise {max_iter}, or choose a lower rank; the data may violate the "
    "PARAFAC2 constraint strongly.",
    Kind.INTERRUPTED: "Interrupted by the user after {iterations}: the factors are the best found so far, "
    "not a minimum.",
    Kind.NOT_FINITE: "Broke down after {iterations}: numbers became infinite. Check the data for extreme "
    "outliers, or lower the rank.",
    Kind.ALL_VANISHED: "All components vanished: the penalties outweigh the data. Lower {smoothness}"
    "{or_lambdas} by a factor of ten or more.",
    Kind.NO_SOUND_START: "No start was sound ({reasons}); the best is given back.",
    Kind.INTERRUPTED_STARTS: "Interrupted by the user when {finished} of {starts} starts had come to their "
    "end.",
    Kind.ONE_START: "Only one start was made, so nothing tells whether another would have found the same: "
    "use several ({n_starts}).",
    Kind.STARTS: "{alike} of {others} other starts ended with these components (match of {threshold} or "
    "better) and {same_objective} with this objective{least_alike}{in_all}.",
    Kind.FEW_STARTS_AGREE: "Only {alike} of {others} other starts ended with these components (match of "
    "{threshold} or better) and {same_objective} with this objective{least_alike}{in_all}: do not build on "
    "details before more starts agree (raise {n_starts}, or try a lower rank).",
    Kind.LOWER_PASSED_OVER: "{lower} of {starts} starts had a lower objective when they reached {max_iter}: "
    "raise {max_iter} to see where they end.",
    Kind.SMOOTHNESS: "Smoothness {value} {origin}, not chosen by the data{choose}.",
    Kind.NOT_UNIQUE: "Without further constraints the components are not unique: only their span is "
    "determined.",
    Kind.DEGENERATE: "Components {component} and {other} are alike and nearly cancel each other: do not "
    "interpret them. Lower the rank{or_penalise}.",
    Kind.PROPORTIONAL: "The strengths of components {component} and {other} are nearly proportional (cosine "
    "{cosine:.4f}){others}: only strengths that change differently tell components apart, so that they may "
    "be mixed with each other, even if starts and halves of the rows agree. {what_helps}.",
    Kind.SAME_ROWS: "Components {component} and {other} have nearly the same rows (cosine {cosine:.2f}): "
    "they may be one, whose pattern changes. Try a lower rank.",
    Kind.VANISHED: "Component {component} vanished: the smoothness is too strong or the rank too high.",
    Kind.CONSTANT: "The model keeps all patterns constant in time; only strengths change.",
    Kind.STATIC: "Component {component} is static: its pattern does not change in time{held}.",
    Kind.MAY_JUMP: "Changes may be sudden: {jumps}.",
    Kind.SUDDEN: "Component {component} changes suddenly between {first} and {last}: {percent} of all its "
    "change (patterns before and after it are alike by {cosine:.2f}).",
    Kind.GIVES_WAY: "Sizes and angles of the patterns may give way ({rigidity} {value:.3g}), and do "
    "so by {percent} of the patterns' size.",
    Kind.NONNEGATIVE: "{what} cannot be negative.",
    Kind.SPARSE: "Sparse {factor}: {percent} of the entries are zero{nearly_zero}.",
    Kind.SMOOTH_STRENGTHS: "Strengths are smooth in time{weighed}.",
    Kind.FURTHER_TERM: "{what} {do}.",
    Kind.COULD_BE_NONNEGATIVE: "The data are nowhere negative, but {percent} of the patterns' sum of "
    "squares is: patterns that are not negative either ({nonnegative}) are parts that cannot cancel.",
    Kind.NEGATIVE_DATA: "Patterns are not negative, but {percent} of the data's sum of squares is, as "
    "that of centred data: what lies below zero is left to negative loadings. Let patterns be "
    "negative, too, or do not centre.",
    Kind.UNDETERMINED: "Component {component} has almost no strength at {count} of {of} times: its pattern "
    "there is not determined by the data.",
    Kind.COMPLETE: "No entry of the data was missing.",
    Kind.MISSING: "{percent} of the entries were missing and played no part{empty_pairs}.",
    Kind.UNOBSERVED_TIMES: "Nothing was observed at {count} of {of} times: patterns and strengths there are "
    "interpolated in time.",
    Kind.FEW_ROWS: "At {count} of {of} times only few of the {rows} rows were observed ({told}): do not read "
    "much into strengths and patterns there.",
    Kind.BRIDGED: "{columns} columns were not observed at all at some times ({pairs} pairs of column and "
    "time): no data speak for their weights there, only the nearest times at which they were, and the model. "
    "Use {no_bridge} if they did not exist then.",
    Kind.WEIGHTED: "Weighted {how}: rows count {least:.3g} to {most:.3g} times as much as entries do in the "
    "mean.",
    Kind.UNEVEN_WEIGHTS: "{rows} of {of} rows have {percent} of the weight: the others hardly matter. Even "
    "out the weights (their square roots, say) if that is not meant.",
    Kind.UNEVEN_TIMES: "Times are uneven: neighbours are {least:.4g} to {most:.4g}{unit} apart.",
    Kind.PERIODIC: "Time is periodic, {period:.6g}{unit}: the last is followed by the first.",
    Kind.ONLY_THERE: "Component {component} is less replicable: similarity between {by} of the rows "
    "{similarity} (below {threshold:.2g}).",
    Kind.NOT_THERE: "Component {component} is not found again: similarity between {by} of the rows "
    "{similarity}, {alone} after the part it shares with others. Lower the rank, or do not interpret it.",
    Kind.DEPENDS_ON_SETTING: "Component {component} depends on the setting: its shape is alike by only "
    "{alike} among settings as good as the chosen one. Do not interpret what changes.",
    Kind.CONSTRAINT_CONTRADICTED: "The PARAFAC2 constraint does not fit these data: relaxing it lowers the "
    "error by {percent} (by chance at most {chance}){held}.",
    Kind.RANK_UNSURE: "The rank, {rank}, is not sure: {why}.",
    Kind.INTERVALS: "Bands of {percent} from {resamples}{draws}{centre}{interruption}.",
    Kind.UNSTABLE: "Component {component} was not found again in {percent} of the data drawn anew: it has no "
    "bands, and should not be interpreted in detail.",
    Kind.TRUST: "Trust: {level}{most}, because {reasons}{unmeasured}.",
    Kind.RAGGED: "The times have {least} to {most} columns, each its own: a column need not be the same "
    "thing at another time.",
    Kind.APPENDED: "The last {count} of {of} times were appended to a fit: loadings are those of the fit, "
    "and explain {percent} of the variation at these times ({percent_before} at those of the fit)"
    "{fit_again}.",
}

_ADVICE = {
    name: Advice(name, text)
    for name, text in {
        "or_loosen_tol": " or loosen tol",
        "to_feasibility_tol": " to feasibility_tol",
        "choose": ": tp.choose(X) chooses it",
        "or_penalise": ", or use norm penalties or smoothness",
        "or_lambdas": " (or the lambdas)",
        "no_bridge": "bridge=False",
        "nonnegative": "nonnegative='patterns'",
        "what_helps": "Read them together, or use non-negative patterns (nonnegative='patterns') if the data "
        "allow it; more smoothness does not help",
        "unmeasured": "replicability was not measured (tp.choose does)",
        "let_give_way": ": give a rigidity",
    }.items()
}
_FURTHER = {
    "Simplex": "are shares: not negative, with the sum {total:g} in every component",
    "NormBall": "have a norm of at most {radius:g} in every component",
    "Unimodal": "have one peak in every component",
    "TotalVariation": "change by few steps (total variation, strength {strength:g})",
    "GeneralisedRidge": "are alike where a matrix joins them (strength {strength:g})",
}
_REASONS = {
    "not_converged": "did not converge",
    "infeasible": "did not meet their constraints",
    "degenerate": "are degenerate (two components cancel each other)",
    "not_finite": "broke down",
}


def sentence(finding: Finding, words: Words = PYTHON) -> str:
    """Say what was found.

    Parameters
    ----------
    finding : Finding
    words : Words
        What arguments are called.

    Examples
    --------
    >>> sentence(Finding(Kind.LOWER_PASSED_OVER, numbers={"lower": 2, "starts": 10}))
    '2 of 10 starts had a lower objective when they reached max_iter: raise max_iter to see where they end.'
    """
    more = _DETAILS.get(finding.kind)
    details = more(finding) if more else {}
    basic = {"count": len(finding.times)}
    told = {**_ADVICE, **basic, **finding.numbers, **_components(finding), **details}
    return tell(_SENTENCES[finding.kind], told, words)


def _components(finding: Finding) -> dict[str, str]:
    """The components that it is about, by number and name."""
    numbers = {"component": finding.component, "other": finding.numbers.get("other")}
    return {role: called(finding.names, n - 1) for role, n in numbers.items() if n is not None}


def notes(findings: Iterable[Finding], words: Words = PYTHON) -> tuple[str, ...]:
    """Say all that is more than information.

    Examples
    --------
    >>> notes([Finding(Kind.COMPLETE), Finding(Kind.STATIC, Severity.NOTE, component=1)])
    ('Component 1 is static: its pattern does not change in time.',)
    """
    return tuple(sentence(one, words) for one in findings if one.severity is not Severity.INFO)


def counted(number: int, word: str) -> str:
    """Count things.

    Examples
    --------
    >>> counted(1, "component"), counted(12000, "component")
    ('1 component', '12,000 components')
    """
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def percentage(share: float) -> str:
    """Write a share as a percentage, of which 100 and 0 are exact.

    Examples
    --------
    >>> percentage(0.1234), percentage(0.99999), percentage(float("nan"))
    ('12.3 %', 'more than 99.9 %', 'an unknown part')
    """
    if not np.isfinite(share):
        return "an unknown part"
    percent = f"{100 * share:.3g}"
    return "more than 99.9 %" if percent == "100" and share < 1 else f"{percent} %"


def _explained(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    percent = percentage(numbers["share"])
    return {
        "components": counted(numbers["components"], "component"),
        "verb": "explains" if numbers["components"] == 1 else "explain",
        "percent": percent[:1].upper() + percent[1:] if finding.kind is Kind.EXPLAINS_NOTHING else percent,
        "what": what_is_explained(finding),
    }


def what_is_explained(finding: Finding) -> str:
    """Say of which data a share is explained.

    Examples
    --------
    >>> what_is_explained(Finding(Kind.EXPLAINED, numbers={"observed_share": 1.0, "weighted": True}))
    'weighted data'
    """
    observed = "" if finding.numbers["observed_share"] == 1 else "observed "
    return f"{observed}{'weighted ' if finding.numbers.get('weighted') else ''}data"


_WEIGHTED_BY = {
    "rows": "by row",
    "entries": "by entry",
}


def _weighted(finding: Finding) -> dict[str, Any]:
    return {"how": _WEIGHTED_BY.get(finding.numbers["by"], "by row")}


def _uneven(finding: Finding) -> dict[str, Any]:
    return {"percent": percentage(finding.numbers["share"])}


def _iterations(finding: Finding) -> dict[str, Any]:
    return {"iterations": counted(finding.numbers["iterations"], "iteration")}


def _reasons(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    told = [
        f"{numbers[name]} of {numbers['starts']} {text}" for name, text in _REASONS.items() if numbers[name]
    ]
    return {"reasons": "; ".join(told)}


def _agreement(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    differ = numbers["alike"] < numbers["others"] and np.isfinite(numbers["least"])
    least = f" (the least alike matches by {numbers['least']:.2f})" if differ else ""
    counts = [f"{numbers[name]} {name}" for name in ("converged", "degenerate") if name in numbers]
    return {
        "threshold": ALIKE,
        "least_alike": least,
        "in_all": f"; of all, {', '.join(counts)}" if counts else "",
    }


def _missing(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    pairs = f"; {numbers['empty']:,} of {numbers['of']:,} pairs of time and column were not observed at all"
    return {
        "percent": percentage(numbers["share"]).capitalize(),
        "empty_pairs": pairs if numbers["empty"] else "",
    }


def _few_rows(finding: Finding) -> dict[str, Any]:
    pairs = list(zip(finding.numbers["seen"], finding.times))
    told = ", ".join(f"{rows} at {label_text(label)}" for rows, label in pairs[:_SHOWN_TIMES])
    return {"told": told + ", ..." * (len(pairs) > _SHOWN_TIMES)}


_ORIGINS = {"default": "is the default", "given": "was given", "lambdas": "was given by the lambdas"}


def _smoothness(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    # Models of other kinds are compared, and not chosen.
    advised = numbers["origin"] == "default" and numbers["model"] == "TParafac2"
    details = {"value": f"{numbers['smoothness']:.3g}", "origin": _ORIGINS[numbers["origin"]]}
    return details if advised else details | {"choose": ""}


def _static(finding: Finding) -> dict[str, Any]:
    smoothness = finding.numbers.get("smoothness")
    return {"held": "" if smoothness is None else f" at this smoothness ({smoothness:.3g})"}


def _sudden(finding: Finding) -> dict[str, Any]:
    first, last = map(label_text, finding.times)
    return {"first": first, "last": last, **_percent(finding)}


def _jumps(finding: Finding) -> dict[str, Any]:
    count = finding.numbers["found"]
    return {
        "jumps": f"{counted(count, 'change point')} found, told with the components"
        if count
        else "no change point found"
    }


def _sparse(finding: Finding) -> dict[str, Any]:
    nearly, exactly = finding.numbers["nearly"], finding.numbers["share"]
    more = f", and {percentage(nearly)} below a thousandth of the largest"
    return {"nearly_zero": more if nearly - exactly > _WORTH_TELLING else "", **_percent(finding)}


def _smooth_strengths(finding: Finding) -> dict[str, Any]:
    weight = finding.numbers.get("weight")
    told = f" (their changes cost {weight:.3g} times as much as their squares)"
    return {"weighed": "" if weight is None else told}


def _unit(finding: Finding) -> dict[str, Any]:
    return {"unit": " days" if finding.numbers["dated"] else ""}


def _percent(finding: Finding) -> dict[str, Any]:
    return {"percent": percentage(finding.numbers["share"])}


def _appended(finding: Finding) -> dict[str, Any]:
    numbers, worse = finding.numbers, finding.severity is not Severity.INFO
    left = f"; what is left of an entry is {numbers['ratio']:.2g} times as much (squared): fit all data again"
    return {
        "percent": percentage(numbers["share"]),
        "percent_before": percentage(numbers["before"]),
        "fit_again": left if worse else "",
    }


def _pairs(finding: Finding) -> dict[str, Any]:
    further = [
        f"{called(finding.names, r - 1)} and {called(finding.names, s - 1)} ({cosine:.4f})"
        for r, s, cosine in finding.numbers["pairs"][1:]
    ]
    shown = ", ".join(further[:_SHOWN_PAIRS]) + ", ..." * (len(further) > _SHOWN_PAIRS)
    done = {"what_helps": "Read them together"} if finding.numbers["parts"] else {}
    return {"others": f", as are those of {shown}" if further else "", **done}


def _bounded(finding: Finding) -> dict[str, Any]:
    """Which factors, in a sentence."""
    which = [name for name in ("patterns", "rows") if finding.numbers[name]]
    return {"what": " and ".join(which).capitalize()}


def jumped(findings: Iterable[Finding], r: int) -> str:
    """Say in a clause when a component, counted from 0, changes suddenly; nothing, if it does not.

    Examples
    --------
    >>> found = [Finding(Kind.SUDDEN, component=1, times=(1989, 1990), numbers={"share": 0.43})]
    >>> jumped(found, 0), jumped(found, 1)
    ('between 1989 and 1990 (43 % of its change)', '')
    """
    own = [_sudden(one) for one in findings if one.kind is Kind.SUDDEN and one.component == r + 1]
    told = "between {first} and {last} ({percent} of its change)"
    return ", ".join(told.format_map(one) for one in own)


def trusted(trust: Trust | None, r: int) -> str:
    """Say in a clause or two what was measured of a component, counted from 0; nothing, if nothing was.

    Examples
    --------
    >>> trusted(Trust(replicability=[0.97], verdict=["replicable"], stability=[0.7], by="folds"), 0)
    'replicable (0.97 between folds of the rows), depends on the setting (0.70)'
    """
    measured = {} if trust is None else {name: array[r] for name, array in trust.by_component.items()}
    parts = [str(measured["verdict"])] if "verdict" in measured else []
    if "replicability" in measured:
        by = "halves" if trust is None or trust.by is None else trust.by
        likeness = f"{_alike(measured['replicability'])} between {by} of the rows"
        parts = [f"{parts[0]} ({likeness})"] if parts else [likeness]
    if trust is not None and "stability" in measured:
        moves = "depends on the setting" if measured["stability"] < trust.threshold else "stable"
        parts.append(f"{moves} ({_alike(measured['stability'])})")
    return ", ".join(parts)


def _alike(likeness: float) -> str:
    """Two digits, rounded down: 0.899 is not 0.9, from which on a component is replicable.

    Examples
    --------
    >>> _alike(0.8999), _alike(0.97), _alike(1.0)
    ('0.89', '0.97', '1.00')
    """
    return f"{math.floor(100 * likeness + 1e-9) / 100:.2f}" if math.isfinite(likeness) else "nan"


def _halves(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    return {
        "similarity": _alike(numbers.get("replicability", math.nan)),
        "alone": _alike(numbers.get("alone", math.nan)),
    }


def _setting(finding: Finding) -> dict[str, Any]:
    return {"alike": _alike(finding.numbers.get("stability", math.nan))}


def _constraint(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    return {
        "percent": percentage(numbers["gain"]),
        "chance": percentage(numbers["null"]),
        "held": _ADVICE["let_give_way"] if numbers["held"] else "; this fit relaxes it",
    }


_CLAUSES = {
    **dict.fromkeys((kind.value for kind in ENDINGS.values()), "it did not converge"),
    Kind.INTERRUPTED: "it was interrupted",
    Kind.NOT_FINITE: "it broke down",
    Kind.ALL_VANISHED: "nothing is left",
    Kind.EXPLAINS_NOTHING: "it explains nothing",
    Kind.ONE_START: "only one start was made",
    Kind.FEW_STARTS_AGREE: "few starts agree",
    Kind.NOT_UNIQUE: "only the span of the components is determined",
    Kind.DEGENERATE: "two components cancel each other",
    Kind.PROPORTIONAL: "strengths are nearly proportional",
    Kind.SAME_ROWS: "components have the same rows",
    Kind.VANISHED: "{count} of {components} components vanished",
    Kind.UNDETERMINED: "{count} of {components} patterns are not determined at some times",
    Kind.ONLY_THERE: "{count} of {components} components are there, but not replicable",
    Kind.NOT_THERE: "{count} of {components} components are not there",
    Kind.DEPENDS_ON_SETTING: "{count} of {components} components depend on the setting",
    Kind.CONSTRAINT_CONTRADICTED: "the data contradict the constraint",
    Kind.RANK_UNSURE: "the rank is not sure",
    Kind.UNSTABLE: "{count} not found again in data drawn anew",
}


def _doubts(finding: Finding) -> dict[str, Any]:
    return {"why": "; ".join(DOUBTS[doubt] for doubt in finding.numbers["doubts"])}


def _reasons_of_trust(finding: Finding) -> dict[str, Any]:
    """What speaks for it and, after a but, what speaks against it; all of this where trust is low."""
    numbers = finding.numbers
    against = [
        _CLAUSES[kind].format(count=count, components=numbers["components"])
        for kind, count in numbers["because"]
    ]
    speaks = []
    if numbers.get("replicable"):
        speaks.append(f"{numbers['replicable']} of {numbers['components']} components are replicable")
    if "others" in numbers:
        speaks.append(f"{numbers['alike']} of {numbers['others']} other starts agree")
    measured = numbers["measured"]
    reasons = "" if numbers["level"] == "low" else " and ".join(speaks)
    if reasons and (against or not measured):
        reasons += ", but "
    reasons += "; ".join(against) + "; " * bool(against and not measured)
    if not reasons and measured:
        reasons = "nothing speaks against it"
    return {
        "most": " at most" if numbers["level"] == "fair" and not measured else "",
        "reasons": reasons,
        "unmeasured": "" if measured else _ADVICE["unmeasured"],
    }


def _bands(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    units = f"{numbers['groups']} groups of rows" if numbers["groups"] else "rows"
    drawn = f"{units} drawn anew, and residuals with random signs for the loadings"
    if numbers["over"] == "residuals":
        drawn = "the same rows, residuals with random signs"
    factor = numbers["undersmoothing"]
    less = f", around a fit {factor:g} times less smooth, since smoothness draws neighbours together"
    return {
        "percent": percentage(numbers["level"]),
        "resamples": counted(numbers["n_resamples"], "refit"),
        "draws": f" to {drawn}",
        "centre": less if factor != 1 else "",
        "interruption": " (interrupted by the user)" if numbers["interrupted"] else "",
    }


def _further(finding: Finding) -> dict[str, Any]:
    numbers = finding.numbers
    term = str(numbers["term"])
    if term == "Box":
        ends = {"from": numbers.get("lower"), "up to": numbers.get("upper")}
        told = (f"{word} {bound:g}" for word, bound in ends.items() if bound is not None)
        do = f"have entries {' '.join(told)}"
    else:
        do = _FURTHER.get(term, "have a term of their own ({term})").format_map(numbers)
    if numbers.get("nonnegative"):
        do += ", and cannot be negative"
    return {"what": str(numbers["factor"]).capitalize(), "do": do}


_DETAILS: dict[Kind, Callable[[Finding], dict[str, Any]]] = {
    Kind.EXPLAINED: _explained,
    Kind.EXPLAINS_NOTHING: _explained,
    Kind.CONVERGED: _iterations,
    Kind.NOT_CONVERGED: _iterations,
    Kind.MAX_ITER: _iterations,
    Kind.INFEASIBLE: _iterations,
    Kind.INTERRUPTED: _iterations,
    Kind.NOT_FINITE: _iterations,
    Kind.NO_SOUND_START: _reasons,
    Kind.STARTS: _agreement,
    Kind.FEW_STARTS_AGREE: _agreement,
    Kind.SMOOTHNESS: _smoothness,
    Kind.PROPORTIONAL: _pairs,
    Kind.MAY_JUMP: _jumps,
    Kind.STATIC: _static,
    Kind.SUDDEN: _sudden,
    Kind.GIVES_WAY: _percent,
    Kind.NONNEGATIVE: _bounded,
    Kind.SPARSE: _sparse,
    Kind.SMOOTH_STRENGTHS: _smooth_strengths,
    Kind.FURTHER_TERM: _further,
    Kind.COULD_BE_NONNEGATIVE: _percent,
    Kind.NEGATIVE_DATA: _percent,
    Kind.MISSING: _missing,
    Kind.FEW_ROWS: _few_rows,
    Kind.WEIGHTED: _weighted,
    Kind.UNEVEN_WEIGHTS: _uneven,
    Kind.UNEVEN_TIMES: _unit,
    Kind.PERIODIC: _unit,
    Kind.APPENDED: _appended,
    Kind.ONLY_THERE: _halves,
    Kind.NOT_THERE: _halves,
    Kind.DEPENDS_ON_SETTING: _setting,
    Kind.CONSTRAINT_CONTRADICTED: _constraint,
    Kind.RANK_UNSURE: _doubts,
    Kind.INTERVALS: _bands,
    Kind.UNSTABLE: _percent,
    Kind.TRUST: _reasons_of_trust,
}
