"""``tparafac2 info`` and ``report``: what is in a file, and the page of a saved model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.making import (
    check_out,
    component_names,
    model_file,
    names,
    read_like,
    selection,
)
from tparafac2.cli.options import ComponentNames, Lines, Part, Saved, takes
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

INFO_EXAMPLES = """Examples:
  tparafac2 info gut/model.npz
  tparafac2 info words.csv
  tparafac2 info words.csv --where "region=Africa,Asia" --where "count>=5"
"""


@dataclass(frozen=True)
class InfoRequest(Part):
    """What was asked for on the command line."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved model, or a file with data.")]
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False


@takes(InfoRequest)
def info(request: InfoRequest) -> None:
    """Say what is in a saved model or a data file."""
    from tparafac2.io import describe

    found = describe(request.file, select=selection(request), **names(request))
    typer.echo(json.dumps(found, indent=2, default=str) if request.as_json else _as_text(found))


def _as_text(found: dict[str, Any]) -> str:
    from tparafac2.data import printable

    if "summary" in found:
        return str(found["summary"])
    lines = [f"{found['file']}: {found['kind']}"]
    lines += [found["selection"]] if "selection" in found else []
    lines += [f"  {name}: {what}" for name, what in found["contents"].items()]
    return "\n".join(map(printable, lines))


REPORT_EXAMPLES = """Examples:
  tparafac2 report gut --overwrite --title "Gut bacteria of infants"
  tparafac2 report gut --out named.html --names "Milk,Solid food"
  tparafac2 report gut/model.npz --out gut.html --title "Gut bacteria of infants"
  tparafac2 report words --data words.csv --values count --out words.html

With --data, the data of the fit, the page shows single entries beside their fit, and where the model misses
most. They are prepared as they were for the fit; give them as they are.
"""


@dataclass(frozen=True)
class ReportRequest(Lines, Saved):
    """What was asked for on the command line."""

    file: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The data of the fit, to be shown beside it."),
    ] = None  # type: ignore[assignment]
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out columns of FILE that the model does not know.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE",
            help="The page, ending in .html.",
            show_default="MODEL.html, or report.html in the folder",
        ),
    ] = None
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None
    names: ComponentNames = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page if it exists.")] = False


@takes(ReportRequest)
def report(request: ReportRequest) -> None:
    """Write the page of a saved model: one file that opens anywhere, offline."""
    from tparafac2.io.endings import require_file
    from tparafac2.io.folders import record, require_unchanged
    from tparafac2.models import load
    from tparafac2.report import write_page

    folder = request.model if request.model.is_dir() else None
    model = model_file(request.model)
    page = request.out or (folder / "report.html" if folder else model.with_suffix(".html"))
    check_out(page, (".html", ".htm"), request)
    if folder and request.out is None:
        require_unchanged(page)
    selection(request)
    if request.file is not None:
        require_file(request.file)
    fitted = load(model)
    data = None if request.file is None else _data(fitted, request)
    if request.names is not None:
        fitted = fitted.rename(component_names(request.names))
    about = _noted(folder) if folder else {}
    title = about.pop("title", None)
    options: dict[str, Any] = {"title": request.title or title, "about": about, "words": FLAGS}
    typer.echo(str(write_page(fitted, page, **options, data=data)))
    record(page)


def _data(model: Decomposition, request: ReportRequest) -> Any:
    """The data of the fit, as it had them; others are refused."""
    from tparafac2.newdata import data_of_fit

    data = read_like(model, request, silently=False)
    return data_of_fit(model.result_, data, drop_unknown=request.drop_unknown)


def _noted(folder: Path) -> dict[str, Any]:
    """What the fit noted of data and command, which the model does not know; nothing where that is gone."""
    try:
        about = json.loads((folder / "log.json").read_text(encoding="utf-8"))["about"]
        return dict(about)
    except (OSError, ValueError, TypeError, KeyError):
        return {}
