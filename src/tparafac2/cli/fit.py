"""``tparafac2 fit``: from a file to a folder with the patterns in it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.errors import ExitCode, say
from tparafac2.cli.modelling import Fitting, ModelName, make_model
from tparafac2.cli.options import takes
from tparafac2.cli.source import Source, announce, check_source, load
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.models.estimators import Decomposition

EXAMPLES = """Examples:
  tparafac2 fit words.csv --rows author --columns word --time year --values count --transform log1p --rank 3
  tparafac2 fit infants.npz --axes rows,columns,time --transform clr --pseudocount 0.5 --rank 3 --out gut
  tparafac2 fit votes.csv --rows land --columns issue --time year --from 1990 --where "region=Africa,Asia"
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
    from tparafac2.io import check_folder, require_figure_kinds

    kinds = () if request.figures == "none" else tuple(request.figures.split(","))
    require_figure_kinds(kinds)
    model = make_model(request.model, request.rank, request.smoothness, request)
    check_source(request)
    out = request.out or request.file.with_name(f"{request.file.name.split('.')[0]}-rank{request.rank}")
    check_folder(out, overwrite=request.overwrite)
    loaded = load(request)
    if not request.as_json:
        announce(loaded)
    model.fit(loaded.prepared)
    about = {
        "title": f"Patterns in {request.file.name}",
        **loaded.about,
        "command": shlex.join(["tparafac2", *sys.argv[1:]]),
    }
    deliver(model, out, about, figures=kinds, overwrite=request.overwrite, as_json=request.as_json)


def deliver(
    model: Decomposition,
    out: Path,
    about: Mapping[str, Any],
    *,
    figures: Sequence[str] = ("png",),
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write what was found, and say so; half a fit never takes the place of a whole one."""
    from tparafac2.io import write_results
    from tparafac2.io.comparing import was_interrupted
    from tparafac2.result import Kind, sentence

    interrupted = was_interrupted(model)
    if interrupted and out.exists() and any(out.iterdir()):
        raise KeyboardInterrupt(f"interrupted: nothing was written, and {str(out)!r} is as it was.")
    folder = write_results(model, out, about=about, figures=figures, overwrite=overwrite, words=FLAGS)
    typer.echo(_as_json(model, folder, about) if as_json else _as_text(model, folder))
    if interrupted:
        say(f"interrupted: {str(folder)!r} has the best that was found so far.")
        raise typer.Exit(ExitCode.INTERRUPTED)
    gone = [finding for finding in model.findings_ if finding.kind is Kind.ALL_VANISHED]
    if gone:
        say(sentence(gone[0], FLAGS))
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _as_text(model: Decomposition, folder: Path) -> str:
    """What came out, for people."""
    return f"{model.summary(FLAGS)}\n\nEverything is in {folder}: open {folder / 'report.html'}"


def _as_json(model: Decomposition, folder: Path, about: Mapping[str, Any]) -> str:
    """What came out, for machines."""
    from tparafac2.result import notes

    result = model.result_
    found = {
        "folder": str(folder),
        "page": str(folder / "report.html"),
        "model": str(folder / "model.nc"),
        **{name: about[name] for name in ("data", "selection", "table", "preparation") if about.get(name)},
        "explained_variance": result.explained_variance,
        "objective": result.objective,
        "converged": result.converged,
        "status": result.status,
        "iterations": result.n_iter,
        "observed_share": result.observed_share,
        "notes": notes(result.findings, FLAGS),
        "findings": [finding.as_dict() for finding in result.findings],
    }
    return json.dumps(found, indent=2)
