"""What the page of a comparison shows: candidates, their components, and which of them are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tparafac2 import __version__
from tparafac2.data import listed
from tparafac2.report.payload import as_texts, finite, marks
from tparafac2.result import AGREEMENT, Kinship, Result, counted, kinship, notes, portraits, size_text
from tparafac2.words import PYTHON, Words

_TOGETHER = {
    "same": "stay",
    "parts": "fall into parts",
    "changed": "change",
    "another": "go into others",
    "none": "go",
}
_ALONE = {
    "same": "stays",
    "parts": "falls into parts",
    "changed": "changes",
    "another": "goes into another",
    "none": "goes",
}

Measures = Mapping[str, Mapping[str, Any]]
"""What was measured of each candidate, by its label and by the name of the column of `compare_models`."""


class Layout(NamedTuple):
    """How the components of all candidates are drawn.

    Attributes
    ----------
    places : list of list of int
        Of each candidate's components from top to bottom: where their relatives are beside them.
    lines : list of list of int
        Which line each belongs to: components that are matched from candidate to candidate.
    """

    places: list[list[int]]
    lines: list[list[int]]


def side_by_side(
    results: Mapping[str, Result],
    measured: Measures,
    *,
    title: str,
    about: Mapping[str, Any],
    words: Words = PYTHON,
) -> dict[str, Any]:
    """Collect all that the page of a comparison shows, as JSON knows it."""
    between = [kinship(one, other) for one, other in pairwise(results.values())]
    layout = laid_out([result.rank for result in results.values()], between)
    short = short_labels(list(results))
    first = next(iter(results.values()))
    candidates = [
        {
            "label": label,
            "short": short[n],
            "measures": {name: finite(one) for name, one in measured.get(label, {}).items()},
            "notes": list(notes(result.findings, words)),
            "components": _components(result, layout.places[n], layout.lines[n]),
        }
        for n, (label, result) in enumerate(results.items())
    ]
    return {
        "title": title,
        "subtitle": f"{counted(len(results), 'model')} of {size_text(first).rpartition(', ')[0]}"
        + _in_common(next(iter(results)), short[0]),
        "sentences": [*_found(results, measured, short), *_kin(between, short)],
        "about": as_texts(about),
        "names": dict(first.labels.names),
        "candidates": candidates,
        "between": [_relations(one) for one in between],
        "version": __version__,
    }


def _components(result: Result, order: Sequence[int], lines: Sequence[int]) -> list[dict[str, Any]]:
    trust = {} if result.trust is None else result.trust.by_component
    found = []
    for r, one in enumerate(portraits(result)):
        stations = [{"time": at.time, "columns": marks(at.columns)} for at in one.stations]
        found.append(
            {
                "name": one.name,
                "share": finite(one.share),
                "rows": marks(one.rows),
                "stations": stations,
                "strong": one.strong,
                "sure": list(one.sure),
                "place": list(order).index(r),
                "line": lines[r],
                **{name: finite(array[r].item()) for name, array in trust.items()},
            }
        )
    return found


def _relations(found: Kinship) -> dict[str, Any]:
    R, S = found.likeness.shape
    links = [{**link._asdict(), "likeness": finite(link.likeness)} for link in found.links]
    fates, origins = [found.fate(r) for r in range(R)], [found.origin(s) for s in range(S)]
    return {"links": links, "fates": fates, "origins": origins}


# --- where components are drawn, and what they are called ---------------------------------------------------


def laid_out(ranks: Sequence[int], between: Sequence[Kinship]) -> Layout:
    """Put components beside their relatives, and number the lines that pairs of them make.

    Examples
    --------
    >>> laid_out([2], [])
    Layout(places=[[0, 1]], lines=[[0, 1]])
    """
    places, lines = [list(range(ranks[0]))], [list(range(ranks[0]))]
    known = ranks[0]
    for found in between:
        before = {r: place for place, r in enumerate(places[-1])}
        pairs = {link.other: link.one for link in found.links if link.matched}
        own = []
        for s in range(found.likeness.shape[1]):
            if s in pairs:
                own.append(lines[-1][pairs[s]])
            else:
                own.append(known)
                known += 1
        lines.append(own)
        heights = [_height(found, s, before) for s in range(len(own))]
        places.append(sorted(range(len(own)), key=lambda s: (heights[s], s)))
    return Layout(places, lines)


def _height(found: Kinship, s: int, before: Mapping[int, int]) -> float:
    """Where the relatives of a component are, on average; the pair counts most. At the end if it has none."""
    weights = {link.one: (link.likeness * (1 + link.matched)) ** 2 for link in found.links if link.other == s}
    total = sum(weights.values())
    return sum(before[r] * one for r, one in weights.items()) / total if total else np.inf


def short_labels(labels: Sequence[str]) -> list[str]:
    """Leave out what all labels begin and end with, in whole words; a number keeps the word before it.

    Examples
    --------
    >>> short_labels(["tcmf rank 2 smoothness 0.1", "tcmf rank 3 smoothness 0.1"])
    ['rank 2', 'rank 3']
    """
    if len(labels) < 2:
        return list(labels)
    texts = [label.split() for label in labels]
    begin = _common(texts)
    while begin and not all(_is_word(text[begin]) for text in texts if len(text) > begin):
        begin -= 1
    end = _common([text[begin:][::-1] for text in texts])
    while end and not _is_word(texts[0][-end]):
        end -= 1
    short = [" ".join(text[begin : len(text) - end]) for text in texts]
    return short if all(short) and len(set(short)) == len(set(labels)) else list(labels)


def _in_common(label: str, short: str) -> str:
    """What was left out of all labels."""
    begin, _, end = label.partition(short)
    words = [*begin.split(), *end.split()]
    return f"; all {' '.join(words)}" if words else ""


def _is_word(text: str) -> bool:
    return re.match(r"[^\W\d]", text) is not None


def _common(texts: Sequence[Sequence[str]]) -> int:
    """How many words all texts begin with."""
    count = 0
    for some in zip(*texts):
        if len(set(some)) > 1:
            break
        count += 1
    return count


# --- in sentences -------------------------------------------------------------------------------------------


def _found(results: Mapping[str, Result], measured: Measures, short: Sequence[str]) -> list[str]:
    """What hidden entries, halves of the rows and starts say, as far as they were asked."""
    told = []
    ranks = [result.rank for result in results.values()]
    if len(errors := _known(results, measured, "hidden_error")) > 1:
        best = min(errors, key=lambda n: errors[n])
        told.append(f"Hidden entries are best predicted by {short[best]} (error {errors[best]:.3g}).")
    for name, what in (("components_there", "found again"), ("components_replicable", "replicable")):
        if counts := _known(results, measured, name):
            whole = [short[n] for n, count in counts.items() if count == ranks[n]]
            told.append(
                f"All components are {what} in other rows: {listed(whole, len(whole))}."
                if whole
                else f"Of no model all components are {what} in other rows."
            )
    agreement = _known(results, measured, "agreement")
    if apart := [short[n] for n, share in agreement.items() if share < AGREEMENT]:
        told.append(f"Starts end at different components: {listed(apart, len(apart))}.")
    return told


def _known(results: Mapping[str, Result], measured: Measures, name: str) -> dict[int, float]:
    """Finite numbers of a measure, by the place of the candidate."""
    values = [measured.get(label, {}).get(name) for label in results]
    return {n: float(one) for n, one in enumerate(values) if one is not None and np.isfinite(one)}


def _kin(between: Sequence[Kinship], short: Sequence[str]) -> list[str]:
    """What becomes of components from each candidate to the next."""
    told = []
    for (one, other), found in zip(pairwise(short), between):
        R, S = found.likeness.shape
        fates = [found.fate(r) for r in range(R)]
        said = [
            f"{fates.count(fate)} {_ALONE[fate] if fates.count(fate) == 1 else _TOGETHER[fate]}"
            for fate in dict.fromkeys(fates)
        ]
        new = [found.origin(s) for s in range(S)].count("none")
        said += [f"{new} {'is' if new == 1 else 'are'} new"] if new else []
        told.append(f"From {one} to {other}: {', '.join(said)}.")
    return told
