"""``tparafac2 choose``: rank, smoothness and rigidity from the data, with all that was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.fit import Found, as_json_values, choice_as_dict, figure_kinds, finish, write
from tparafac2.cli.making import check_source, cluster, command_line, inputs, load, make_choice, make_search
from tparafac2.cli.options import CHOICE, Choosing, DaskFits, Overwrite, Several, flat, several, takes
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.choosing import Choice

EXAMPLES = """Examples:
  tparafac2 choose words.csv --rows author --columns word --time year --values count --transform log1p
  tparafac2 choose infants.npz --axes rows,columns,time --groups babies.csv:delivery --ranks 1-5 --out gut
  tparafac2 choose data.nc --ranks 2,3 --smoothness 1e-3,1e-2 --rigidity inf --json
  tparafac2 choose votes.csv --changes auto

With --out, the folder is that of 'tparafac2 fit', which chooses in the same way.
"""

_COMPARED = [
    "model",
    "smoothness",
    "rigidity",
    "hidden_error",
    "z_behind_chosen",
    "agreement",
    "replicability",
    "components_there",
    "components_replicable",
]


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
            help="Values to try: inf lets nothing give way.",
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
    if request.keep and request.out is None:
        raise ValueError("--keep needs --out: say where the models go.")
    check_source(request)
    if request.out is not None:
        check_folder(request.out, overwrite=request.overwrite, inputs=inputs(request))
    with cluster(request.dask) as client:
        loaded = load(request, silently=request.as_json)
        choice = make_choice(request, asked, loaded, client)
    typer.echo(_as_json(choice, loaded.about) if request.as_json else _as_text(choice))
    if request.out is not None:
        about = {"title": f"Patterns in {request.file.name}", **loaded.about, "command": command_line()}
        found = Found(choice.model, about, choice.models)
        folder = write(found, request.out, figures, overwrite=request.overwrite)
        if not request.as_json:
            typer.echo(f"\nEverything is in {folder}: open {folder / 'report.html'}")
    finish(choice.model, "this is the best that was found so far.")


def _as_text(choice: Choice) -> str:
    """What was chosen, for people."""
    import pandas as pd

    from tparafac2.reasons import rank_table

    ranks = rank_table(choice.record)
    compared = choice.compared[_COMPARED].rename(columns=lambda name: name.replace("_", " "))
    parts = [choice.summary(FLAGS), _lines(pd.DataFrame(ranks.lines, columns=ranks.head))]
    if len(compared) > 1:
        parts += [f"Models of rank {choice.model.rank}:", _lines(compared)]
    parts.append("\n".join(_trust(choice)))
    return "\n\n".join(parts)


def _trust(choice: Choice) -> list[str]:
    """How far to trust the model that was chosen: in all, and what to beware of."""
    from tparafac2.result import Kind, notes, sentence

    found = choice.model.result_.findings
    in_all = [sentence(one, FLAGS) for one in found if one.kind is Kind.TRUST]
    return in_all + [f"Note: {note}" for note in notes(found, FLAGS)]


def _lines(table: pd.DataFrame) -> str:
    return str(table.to_string(index=False, na_rep="-", float_format=lambda number: f"{number:.4g}"))


def _as_json(choice: Choice, about: Mapping[str, Any]) -> str:
    """What was chosen, for machines."""
    tables = {
        name: table.to_dict(orient="records")
        for name, table in (
            ("ranks", choice.ranks),
            ("compared", choice.compared),
            ("tried", choice.table),
            ("components", choice.components),
        )
    }
    return json.dumps({**about, **choice_as_dict(choice.model), **as_json_values(tables)}, indent=2)
