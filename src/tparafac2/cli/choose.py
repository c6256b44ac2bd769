"""``tparafac2 choose``: rank, smoothness and rigidity from the data, with all that was measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tparafac2.cli.fit import Found, choice_as_dict, figure_kinds, finish, write
from tparafac2.cli.making import check_source, cluster, command_line, inputs, load, make_choice, make_search
from tparafac2.cli.options import CHOICE, Choosing, DaskFits, Overwrite, Several, flat, several, takes

EXAMPLES = """Examples:
  tparafac2 choose words.csv --rows author --columns word --time year --values count --transform log1p
  tparafac2 choose infants.npz --axes rows,columns,time --stratify babies.csv:delivery --ranks 1-5 --out gut
  tparafac2 choose data.nc --ranks 2,3 --smoothness 1e-3,1e-2 --rigidity inf --json
  tparafac2 choose votes.csv --changes auto

With --out, the folder is that of 'tparafac2 fit', which chooses in the same way.
"""


@dataclass(frozen=True)
class Request(Choosing):
    """What was asked for on the command line."""

    smoothness: Annotated[
        list[Several] | None,
        CHOICE(parser=several(float), metavar="X,...", help="Values to try.", show_default="1e-4 to 1e-1"),
    ] = None
    rigidity: Annotated[
        list[Several] | None,
        CHOICE(
            parser=several(float),
            metavar="X,...",
            help="Values to try: inf relaxes nothing.",
            show_default="inf, 100, 10, 1, 0.1, 0",
        ),
    ] = None  # type: ignore[assignment]
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where everything goes.", show_default="nothing is written"),
    ] = None
    dask: DaskFits = None
    overwrite: Overwrite = False
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="png, pdf, svg; several with commas; none.")
    ] = "png"
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON, with the tables.")] = False


@takes(Request)
def choose(request: Request) -> None:
    """Let the data choose rank, smoothness and rigidity, and say why and how sure that is."""
    from tparafac2.io import check_folder

    figures = figure_kinds(request.figures)
    values = {name: flat(getattr(request, name)) or None for name in ("smoothness", "rigidity")}
    asked = make_search(request, ranks=request.ranks, **values)
    check_source(request)
    if request.out is not None:
        check_folder(request.out, overwrite=request.overwrite, inputs=inputs(request))
    with cluster(request.dask) as client:
        loaded = load(request, silently=request.as_json)
        choice = make_choice(request, asked, loaded, client)
    as_json = json.dumps({**loaded.about, **choice_as_dict(choice.model)}, indent=2)
    typer.echo(as_json if request.as_json else choice.summary())
    if request.out is not None:
        about = {"title": f"Patterns in {request.file.name}", **loaded.about, "command": command_line()}
        folder = write(Found(choice.model, about), request.out, figures, overwrite=request.overwrite)
        if not request.as_json:
            typer.echo(f"\nEverything is in {folder}: open {folder / 'report.html'}")
    finish(choice.model, "this is the best that was found so far.")
