"""``tparafac2 report``: the page of a saved model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tparafac2.cli.options import takes

EXAMPLES = """Example:
  tparafac2 report gut/model.nc --out gut.html --title "Gut bacteria of infants"
"""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model, ending in .nc.")]
    out: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="The page, ending in .html.", show_default="MODEL.html"),
    ] = None
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page if it exists.")] = False


@takes(Request)
def report(request: Request) -> None:
    """Write the page of a saved model: one file that opens anywhere, offline."""
    from tparafac2.models import load
    from tparafac2.report import write_page

    page = request.out or request.model.with_suffix(".html")
    if page.exists() and not request.overwrite:
        raise FileExistsError(f"{str(page)!r} exists: choose another name, or replace it with --overwrite.")
    typer.echo(str(write_page(load(request.model), page, title=request.title)))
