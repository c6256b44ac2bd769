"""The page of a fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tparafac2.plots.subject import as_result
from tparafac2.report.assembly import assembled, checked_target, write_text
from tparafac2.report.payload import payload
from tparafac2.result import Result
from tparafac2.words import PYTHON, Words

_TITLE = "Patterns that change in time"


def write_page(
    fitted: object,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    words: Words = PYTHON,
    data: Any = None,
) -> Path:
    """Write a fit as one HTML file that opens offline: an account of the fit, and a way to explore it.

    The file loads nothing from elsewhere and is forbidden to. Labels, notes and `about` are shown as text,
    whatever they contain. It appears complete or not at all: a failed write leaves an older file as it was.

    Parameters
    ----------
    fitted : fitted model or Result
    path : path
        In an existing folder, ending in ".html". An older file is replaced.
    title : str, optional
    about : mapping, optional
        Further facts by name, shown under "What was done": the source of the data, preparations, a command.
    words : Words
        What arguments are called; the command line has words of its own.
    data : array, DataArray, Table or Prepared, optional
        The data that the model was fitted to, prepared as they were then: the page then shows single entries
        beside their fit, and where the model misses most.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    TypeError
        If `fitted` is neither a model nor a Result.
    ValueError
        If the model is not fitted, the path is not one to write a page to, or the data are of another shape.

    Examples
    --------
    >>> import tempfile
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_page(model, Path(folder) / "report.html", about={"source": "synthetic"})
    ...     page.name, "synthetic" in page.read_text()
    ('report.html', True)
    """
    result = as_result(fitted)
    target = checked_target(path)
    write_text(target, page_text(result, title, about, words, data))
    return target


def page_text(
    result: Result,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    words: Words = PYTHON,
    data: Any = None,
) -> str:
    """The whole page as text of ASCII; see `write_page`."""
    facts = {"fitted with": _call_text(result), **(about or {})}
    shown_title = _TITLE if title is None else str(title)
    content = payload(result, title=shown_title, about=facts, words=words, data=data)
    return assembled(shown_title, content)


def _call_text(result: Result) -> str:
    """The call of the fit with all that was set in it, the usual as well: versions may differ in that."""
    nothing = (type(None), tuple)
    given = [
        f"{name}={one!r:.60}"
        for name, one in result.parameters.items()
        if not (isinstance(one, nothing) and not one)
    ]
    return f"{result.model}({', '.join(given)})" if given else result.model
