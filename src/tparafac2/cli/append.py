"""``tparafac2 append``: a saved model goes on with further times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tparafac2.cli.fit import Found, deliver, figure_kinds
from tparafac2.cli.making import command_line, inputs, model_file, read_like, read_times, selection
from tparafac2.cli.options import Lines, Overwrite, Saved, SayJson, takes

EXAMPLES = """Examples:
  tparafac2 append words words-2025.csv --values count --out words-2025
  tparafac2 append gut/model.npz months.npy --axes time,rows,columns --times 25,26
  tparafac2 append votes all-votes.csv --values agreement --refit

Loadings, and all that the model says of earlier times, stay; with --refit everything is fitted again, from
where the model ended, and FILE has all data. The model prepares the data as it did those of the fit. Columns
of a table are called as in the fit, unless --rows, --columns and --time say otherwise. An array has at
least two times; a table may have one.
"""


@dataclass(frozen=True)
class Request(Lines, Saved):
    """What was asked for on the command line."""

    times: Annotated[
        str | None,
        typer.Option(metavar="T1,T2", help="When the slices were taken, where the file does not say so."),
    ] = None
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit everything again, from where the model ended.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where everything goes.", show_default="MODEL-appended"),
    ] = None
    overwrite: Overwrite = False
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="png, pdf, svg; several with commas; none.")
    ] = "png"
    as_json: SayJson = False


@takes(Request)
def append(request: Request) -> None:
    """Go on with further times: write the folder of a saved model that has them, too."""
    from tparafac2.io import check_folder
    from tparafac2.io.endings import require_file
    from tparafac2.models import load

    figures = figure_kinds(request.figures)
    selection(request)
    require_file(request.file)
    file = model_file(request.model)
    base = file.parent if request.model.is_dir() else file.with_suffix("")
    out = request.out or base.with_name(f"{base.name}-appended")
    check_folder(out, overwrite=request.overwrite, inputs=inputs(request))
    model = load(file)
    data = read_like(model, request, silently=request.as_json)
    longer = model.append(data, read_times(request.times), refit=request.refit)
    about = {
        "title": f"Patterns in {base.name} and {request.file.name}",
        "data": f"{request.model} and {request.file}",
        "command": command_line(),
    }
    deliver(Found(longer, about), out, figures, request)
