"""A result in a few lines, for the terminal and for notebooks: how the fit ended, and its components."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text, printable
from tparafac2.result.distinctive import By, of_columns, of_rows, require_by
from tparafac2.result.kinds import ENDINGS, Kind
from tparafac2.result.moments import time_order
from tparafac2.result.naming import called
from tparafac2.result.record import Result
from tparafac2.result.wording import jumped, notes, sentence, trusted
from tparafac2.words import PYTHON, Words

_SHOWN = 3

_ROWS = {
    "status": tuple(ENDINGS.values()),
    "starts": (Kind.ONE_START, Kind.STARTS, Kind.FEW_STARTS_AGREE),
    "smoothness": (Kind.SMOOTHNESS,),
    "constraints": (Kind.GIVES_WAY, Kind.NONNEGATIVE, Kind.COULD_BE_NONNEGATIVE),
    "changes": (Kind.MAY_JUMP,),
    "further terms": (Kind.SPARSE, Kind.SMOOTH_STRENGTHS, Kind.FURTHER_TERM),
    "missing entries": (Kind.MISSING,),
    "weights": (Kind.WEIGHTED,),
    "time": (Kind.UNEVEN_TIMES, Kind.PERIODIC),
    "appended": (Kind.APPENDED,),
    "intervals": (Kind.INTERVALS,),
    "in all": (Kind.TRUST,),
}
"""Findings that have a line of their own among the facts about the whole fit."""


class ComponentFacts(NamedTuple):
    """What is said of one component.

    Attributes
    ----------
    component : int
        Its number, from 1.
    share : float
        Its part of the sum of all components' strengths.
    rows : str
        The rows that matter most, with their normalised loadings.
    first, last : float
        Its strength at the first and the last time.
    first_columns, last_columns : str
        The columns that matter most at these times, with their weights in the normalised pattern.
    trust : str
        What was measured of how far to trust it; empty if nothing was.
    sudden : str
        When its pattern changes suddenly; empty if it does not, or may not.

    Examples
    --------
    >>> ComponentFacts(1, 1.0, "Ann 0.70", 2.0, 3.0, "a 0.90", "b 0.80").share
    1.0
    """

    component: int
    share: float
    rows: str
    first: float
    last: float
    first_columns: str
    last_columns: str
    trust: str = ""
    sudden: str = ""


def summary(result: Result, words: Words = PYTHON, *, by: By = "weight") -> str:
    """Describe a result for the terminal.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> print(summary(result).splitlines()[0])
    CP: 4 rows x 3 columns x 2 times, 1 component
    """
    facts = headline(result, words)
    width = max(len(name) for name, _ in facts)
    lines = [f"{printable(result.model)}: {size_text(result)}"]
    lines += [f"  {name:<{width}}  {text}" for name, text in facts]
    first, last = end_labels(result)
    rows = printable(result.labels.names["rows"])
    for one in component_facts(result, by):
        size = f"{one.share:.0%} of strength, {one.first:.4g} -> {one.last:.4g}"
        which = called(result.component_names, one.component - 1)
        lines += [
            f"  component {which}: {', '.join(filter(None, (size, one.trust)))}",
            f"    {rows}: {one.rows}",
            f"    {first}: {one.first_columns}",
            f"    {last}: {one.last_columns}",
            *([f"    sudden: {one.sudden}"] if one.sudden else []),
        ]
    lines += [f"  note: {note}" for note in further_notes(result, words)]
    return "\n".join(lines)


def size_text(result: Result) -> str:
    """Say how large data and model are.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> size_text(result)
    '4 rows x 3 columns x 2 times, 1 component'
    """
    K, I, J = result.shape
    names = {mode: printable(name) for mode, name in result.labels.names.items()}
    columns = f"up to {J}" if len(set(result.widths)) > 1 else f"{J}"
    components = "1 component" if result.rank == 1 else f"{result.rank} components"
    times = "times" if names["time"] == "time" else names["time"]
    return f"{I} {names['rows']} x {columns} {names['columns']} x {K} {times}, {components}"


def headline(result: Result, words: Words = PYTHON) -> list[tuple[str, str]]:
    """Give the facts about the whole fit, each with its name.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> headline(result)[2]
    ('status', 'Converged after 7 iterations: the objective no longer changes and all constraints hold.')
    """
    told = {name: " ".join(_said(result, kinds, words)) for name, kinds in _ROWS.items()}
    if result.intervals is None and (result.appended or {}).get("bands_left_out"):
        told["intervals"] = (
            "Those of the fit are not of the appended times, and were left out: ask for them again, with all "
            "data."
        )
    gaps = (f"{mode} {gap:.1e}" for mode, gap in result.feasibility_gaps.items())
    facts = {
        "explained variance": f"{result.explained_variance:.4f}",
        "objective": f"{result.objective:.8g}",
        "status": told.pop("status"),
        "feasibility gaps": ", ".join(gaps),
        "starts": told.pop("starts"),
        "preparation": _preparation_text(result),
        **told,
    }
    return [(name, text) for name, text in facts.items() if text]


def further_notes(result: Result, words: Words = PYTHON) -> tuple[str, ...]:
    """Say what the headline does not, but the user should read.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="Mine", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="max_iter", converged=False, n_iter=7)
    >>> further_notes(result)
    ('Component 1 is static: its pattern does not change in time.',)
    """
    told = {kind for kinds in _ROWS.values() for kind in kinds}
    return notes((one for one in result.findings if one.kind not in told), words)


def _said(result: Result, kinds: tuple[Kind, ...], words: Words) -> list[str]:
    return [sentence(one, words) for one in result.findings if one.kind in kinds]


def component_facts(result: Result, by: By = "weight") -> list[ComponentFacts]:
    """Say how strong every component is and which rows and columns make it, at the first and the last time.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[[3.0], [4.0], [0.0]], [[0.0], [0.0], [2.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=B, C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> component_facts(result)[0].first_columns
    'column 1 0.80, column 0 0.60'
    """
    require_by(by)
    normalised = result.normalised()
    rows = np.abs(normalised.A) if by == "weight" else of_rows(result)
    labels = result.labels.columns
    ends = time_order(result)[[0, -1]]
    first, last = (_seen(result, k, normalised.B[k]) for k in ends)
    sizes = (np.abs(first), np.abs(last)) if by == "weight" else of_columns(result)[ends]
    strengths = normalised.C[ends]
    return [
        ComponentFacts(
            component=r + 1,
            share=float(result.shares[r]),
            rows=_largest("row", normalised.A[:, r], rows[:, r], result.labels.rows),
            first=float(strengths[0, r]),
            last=float(strengths[1, r]),
            first_columns=_largest("column", first[:, r], sizes[0][:, r], labels),
            last_columns=_largest("column", last[:, r], sizes[1][:, r], labels),
            trust=trusted(result.trust, r),
            sudden=jumped(result.findings, r),
        )
        for r in range(result.rank)
    ]


def _seen(result: Result, k: int, pattern: Any) -> Any:
    """A pattern without the columns that were not observed at that time."""
    if result.coverage is None:
        return pattern
    return np.where(result.coverage[k][:, None] > 0, pattern, 0.0)


def end_labels(result: Result) -> tuple[str, str]:
    """Name the first and the last time.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import Labels
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 labels=Labels(time=np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")))
    >>> end_labels(result)
    ('2020-01-01', '2021-01-01')
    """
    if result.labels.time is None:
        return "first", "last"
    name = printable(result.labels.names["time"])
    # A date speaks for itself; a number needs to be told what it counts.
    unit = "" if name == "time" or result.labels.time.dtype.kind not in "iuf" else f"{name} "
    first, last = (label_text(one) for one in result.labels.time[time_order(result)[[0, -1]]])
    return f"{unit}{first}", f"{unit}{last}"


def _largest(
    what: str, weights: NDArray[np.float64], sizes: NDArray[np.float64], labels: NDArray[Any] | None
) -> str:
    largest = [j for j in np.argsort(-sizes, kind="stable")[:_SHOWN] if sizes[j] > 0]
    names = [f"{what} {j}" if labels is None else label_text(labels[j]) for j in largest]
    return ", ".join(f"{name} {weights[j]:.2f}" for name, j in zip(names, largest)) or "none"


def _preparation_text(result: Result) -> str:
    if result.preparation is None:
        return ""
    from tparafac2.preparing import describe_record

    return describe_record(result.preparation)


def to_html(result: Result) -> str:
    """Give a result as HTML that needs nothing from elsewhere; all texts are escaped.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="1 < 2", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> "<strong>1 &lt; 2</strong>" in to_html(result)
    True
    """
    first, last = end_labels(result)
    names = result.component_names
    head = ["component", "share", printable(result.labels.names["rows"])]
    head += [f"{what}, {when}" for what in ("strength", "columns") for when in (first, last)]
    every = component_facts(result)
    further = {
        "trust": result.trust is not None,
        "sudden changes": any(one.sudden for one in every),
    }
    head += [name for name, shown in further.items() if shown]
    components = [
        (
            called(names, one.component - 1),
            f"{one.share:.0%}",
            one.rows,
            f"{one.first:.4g}",
            f"{one.last:.4g}",
            one.first_columns,
            one.last_columns,
            *(text for text, shown in zip((one.trust, one.sudden), further.values()) if shown),
        )
        for one in every
    ]
    facts = "".join(
        f"<tr><th>{escape(name)}</th>{_cells([text], 'td')}</tr>" for name, text in headline(result)
    )
    body = "".join(f"<tr>{_cells(line, 'td')}</tr>" for line in components)
    items = "".join(f"<li>{escape(note)}</li>" for note in further_notes(result))
    return (
        f"<div><strong>{escape(printable(result.model))}</strong>: {escape(size_text(result))}"
        f"<table>{facts}</table>"
        f"<table><thead><tr>{_cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{items}</ul>" if items else "")
        + "</div>"
    )


def _cells(texts: Iterable[object], tag: str) -> str:
    return "".join(f"<{tag}>{escape(str(text))}</{tag}>" for text in texts)
