"""Template, style, scripts and numbers put together into one file that may load nothing from elsewhere."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tparafac2.files import written_whole
from tparafac2.report.payload import as_script_text

_ENDINGS = (".html", ".htm")
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


def assembled(title: str, content: Any) -> str:
    """Give the whole page as text of ASCII; its script finds the content as JSON."""
    style = _part("page.css")
    script = "\n".join(_part(name) for name in _SCRIPTS)
    # Only this very style and script may run or load: whatever else got in would be dead.
    policy = (
        f"default-src 'none'; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"POLICY": policy, "TITLE": _in_ascii(title), "STYLE": style, "SCRIPT": script}
    parts["DATA"] = as_script_text(content)
    # In one pass: what is put in is not looked at again.
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda place: parts[place[1]], _part("page.html"))


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Refuse a path that no page can be written to.

    Examples
    --------
    >>> checked_target("page.txt")
    Traceback (most recent call last):
    ValueError: the page is written to a file ending in .html; got 'page.txt'.
    """
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


def write_text(target: Path, text: str) -> None:
    """Write a page, which is then complete or not there at all."""
    with written_whole(target) as unfinished:
        unfinished.write_bytes(text.encode("ascii"))


def _part(name: str) -> str:
    return files("tparafac2.report").joinpath(name).read_text(encoding="ascii")


def _fingerprint(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode('ascii')).digest()).decode('ascii')}'"


def _in_ascii(text: str) -> str:
    # Also half of a surrogate pair, which no encoding has, must not stop the page.
    return escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")
