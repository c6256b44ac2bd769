"""A page as a list of blocks, written as Markdown or as one HTML file that opens anywhere."""

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple


class Heading(NamedTuple):
    """A title; level 1 is the page's own."""

    level: int
    text: str


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Code(NamedTuple):
    """Lines to be typed."""

    text: str


class Table(NamedTuple):
    """Texts in rows and columns."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Picture(NamedTuple):
    """A PNG file, named relative to the page, and what is to be seen on it."""

    path: str
    caption: str


Block = Heading | Text | Code | Table | Picture


def to_markdown(blocks: Sequence[Block]) -> str:
    """The page as Markdown, pictures by reference.

    Examples
    --------
    >>> to_markdown([Heading(1, "Scores"), Table(("method", "score"), (("A|B", "0.9"),))])
    '# Scores\\n\\n| method | score |\\n|---|---|\\n| A\\\\|B | 0.9 |\\n'
    """
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def to_html(blocks: Sequence[Block], folder: Path) -> str:
    """The page as one HTML file, pictures inside.

    Parameters
    ----------
    blocks : sequence of blocks
    folder : Path
        Where the pictures' paths begin.
    """
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block, folder) for block in blocks)
    return _PAGE.format(title=escape(title), style=_STYLE, body=body)


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Code(text):
            return "\n".join(f"    {line}" for line in text.splitlines())
        case Picture(path, caption):
            return f"![{caption}]({path})\n\n*{caption}*"
        case Table(head, rows):
            lines = [head, *rows]
            texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
            return "\n".join([texts[0], "|" + "---|" * len(head), *texts[1:]])


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Picture(path, caption):
            image = base64.b64encode((folder / path).read_bytes()).decode()
            return (
                f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{image}">'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )
        case Table(head, rows):
            return (
                f'<div class="table"><table><thead>{_row(head, "th")}</thead><tbody>'
                f"{''.join(_row(row, 'td') for row in rows)}</tbody></table></div>"
            )


def _row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
figure { margin: 1.5rem 0; }
img { max-width: 100%; background: white; }
figcaption { font-size: .9rem; opacity: .8; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
pre { overflow-x: auto; padding: .75rem; background: #8882; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
