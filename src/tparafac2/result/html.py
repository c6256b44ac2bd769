"""A result as a small table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tparafac2.data import printable
from tparafac2.result.record import Result
from tparafac2.result.summary import component_facts, end_labels, further_notes, headline, size_text


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
    head = (
        "component",
        "share",
        f"strength, {first}",
        f"strength, {last}",
        f"columns, {first}",
        f"columns, {last}",
    )
    components = [
        (
            f"{one.component}",
            f"{one.share:.0%}",
            f"{one.first:.4g}",
            f"{one.last:.4g}",
            one.first_columns,
            one.last_columns,
        )
        for one in component_facts(result)
    ]
    facts = "".join(
        f"<tr><th>{escape(name)}</th>{_cells([text], 'td')}</tr>" for name, text in headline(result)
    )
    body = "".join(f"<tr>{_cells(line, 'td')}</tr>" for line in components)
    notes = "".join(f"<li>{escape(note)}</li>" for note in further_notes(result))
    return (
        f"<div><strong>{escape(printable(result.model))}</strong>: {escape(size_text(result))}"
        f"<table>{facts}</table>"
        f"<table><thead><tr>{_cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + "</div>"
    )


def _cells(texts: Iterable[str], tag: str) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
