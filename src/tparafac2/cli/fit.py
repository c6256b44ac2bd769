"""``tparafac2 fit``: from a file to a folder with the patterns in it."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tparafac2.cli.modelling import Fitting, ModelName, make_model
from tparafac2.cli.options import takes
from tparafac2.cli.source import Source, load

if TYPE_CHECKING:
    from tparafac2.models.estimators import Decomposition

EXAMPLES = """Examples:
  tparafac2 fit words.csv --rows author --columns word --time year --values count --transform log1p --rank 3
  tparafac2 fit infants.npz --axes rows,columns,time --transform clr --pseudocount 0.5 --rank 3 --out gut
  tparafac2 fit data.nc --rank 4 --model parafac2 --starts 20

The folder has the page report.html, the model (model.nc), tables (CSV) and figures.
"""


@dataclass(frozen=True)
class Request(Fitting, Source):
    """What was asked for on the command line."""

    rank: Annotated[int, typer.Option(help="Number of components.", rich_help_panel="Fit")] = 3
    smoothness: Annotated[
        float | None,
        typer.Option(
            help="How smoothly patterns change, 1e-5 to 3e-2.", show_default="1e-3", rich_help_panel="Fit"
        ),
    ] = None
    model: Annotated[ModelName, typer.Option(help="The model.", rich_help_panel="Fit")] = "tparafac2"
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where everything goes.", show_default="FILE-rankN")
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder if it exists.")] = False
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="png, pdf, svg; several with commas; none.")
    ] = "png"
    as_json: Annotated[bool, typer.Option("--json", help="Say what came out as JSON.")] = False


@takes(Request)
def fit(request: Request) -> None:
    """Fit a model to a table or array, and write a folder with all that was found."""
    from tparafac2.io import check_folder, require_figure_kinds, write_results

    kinds = () if request.figures == "none" else tuple(request.figures.split(","))
    require_figure_kinds(kinds)
    out = request.out or request.file.with_name(f"{request.file.name.split('.')[0]}-rank{request.rank}")
    check_folder(out, overwrite=request.overwrite)
    model = make_model(request.model, request.rank, request.smoothness, request)
    loaded = load(request)
    if not request.as_json and "table" in loaded.about:
        typer.echo(loaded.about["table"], err=True)
    model.fit(loaded.prepared.data)
    about = {
        "title": f"Patterns in {request.file.name}",
        **loaded.about,
        "command": shlex.join(["tparafac2", *sys.argv[1:]]),
    }
    folder = write_results(model, out, about=about, figures=kinds, overwrite=request.overwrite)
    typer.echo(as_json(model, folder) if request.as_json else as_text(model, folder))


def as_text(model: Decomposition, folder: Path) -> str:
    """What came out, for people."""
    return f"{model.summary()}\n\nEverything is in {folder}: open {folder / 'report.html'}"


def as_json(model: Decomposition, folder: Path) -> str:
    """What came out, for machines."""
    result = model.result_
    found = {
        "folder": str(folder),
        "page": str(folder / "report.html"),
        "model": str(folder / "model.nc"),
        "explained_variance": result.explained_variance,
        "objective": result.objective,
        "converged": result.converged,
        "status": result.status,
        "iterations": result.n_iter,
        "observed_share": result.observed_share,
        "notes": list(result.notes),
    }
    return json.dumps(found, indent=2)
