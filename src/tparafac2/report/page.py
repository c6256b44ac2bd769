"""The page: template, style, scripts and numbers put together into one file."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tparafac2.files import written_whole
from tparafac2.models import MODELS, Decomposition
from tparafac2.plots.subject import as_result
from tparafac2.report.payload import as_script_text, payload
from tparafac2.result import Result
from tparafac2.words import PYTHON, Words

_SCRIPTS = (
    "data.js",
    "dom.js",
    "moves.js",
    "address.js",
    "charts.js",
    "stream.js",
    "bars.js",
    "downloads.js",
    "cards.js",
    "multiples.js",
    "movers.js",
    "groups.js",
    "rows.js",
    "rowmap.js",
    "entries.js",
    "search.js",
    "explorer.js",
    "choice.js",
    "page.js",
)
_ENDINGS = (".html", ".htm")
_TITLE = "Patterns that change in time"


def write_page(
    fitted: Decomposition | Result,
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
    target = _checked_target(path)
    text = page_text(result, title, about, words, data)
    with written_whole(target) as unfinished:
        unfinished.write_bytes(text.encode("ascii"))
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
    return _page(shown_title, as_script_text(content))


def _checked_target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise ValueError(f"the page is written to a file ending in .html; got {str(target)!r}.")
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {str(target.parent)!r} to write {target.name!r} in: make it first."
        )
    if target.is_dir():
        raise ValueError(f"{str(target)!r} is a folder: give the path of a file.")
    return target


def _call_text(result: Result) -> str:
    """The model as its user wrote it: with the parameters that are not the usual ones."""
    kind = MODELS.get(result.model)
    if kind is None:
        return result.model
    known = kind._parameter_names()
    given = {name: value for name, value in result.parameters.items() if name in known}
    return repr(kind(**given)) if "rank" in given else result.model


def _page(title: str, data: str) -> str:
    style = _template("page.css")
    script = "\n".join(_template(name) for name in _SCRIPTS)
    # Only this very style and script may run or load: whatever else got in would be dead.
    policy = (
        f"default-src 'none'; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"POLICY": policy, "TITLE": _in_ascii(title), "STYLE": style, "SCRIPT": script, "DATA": data}
    # In one pass: what is put in is not looked at again.
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda place: parts[place[1]], _template("page.html"))


def _template(name: str) -> str:
    return files("tparafac2.report").joinpath(name).read_text(encoding="ascii")


def _fingerprint(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode('ascii')).digest()).decode('ascii')}'"


def _in_ascii(text: str) -> str:
    # Also half of a surrogate pair, which no encoding has, must not stop the page.
    return escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")
