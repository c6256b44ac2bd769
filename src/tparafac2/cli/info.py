"""``tparafac2 info``: what is in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tparafac2.cli.options import takes
from tparafac2.cli.source import Part, selection

EXAMPLES = """Examples:
  tparafac2 info gut/model.nc
  tparafac2 info words.csv
  tparafac2 info words.csv --where "region=Africa,Asia" --where "count>=5"
"""


@dataclass(frozen=True)
class Request(Part):
    """What was asked for on the command line."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved model, or a file with data.")]
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False


@takes(Request)
def info(request: Request) -> None:
    """Say what is in a saved model or a data file."""
    from tparafac2.io import describe

    names = {name: getattr(request, name) for name in ("rows", "columns", "time", "values", "axes")}
    found = describe(request.file, select=selection(request), **names)
    typer.echo(json.dumps(found, indent=2, default=str) if request.as_json else _as_text(found))


def _as_text(found: dict[str, Any]) -> str:
    from tparafac2.data import printable

    if "summary" in found:
        return str(found["summary"])
    lines = [f"{found['file']}: {found['kind']}"]
    lines += [found["selection"]] if "selection" in found else []
    lines += [f"  {name}: {what}" for name, what in found["contents"].items()]
    return "\n".join(map(printable, lines))
