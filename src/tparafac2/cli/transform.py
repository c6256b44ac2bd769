"""``tparafac2 transform``: loadings of rows that a model has not seen."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tparafac2.cli.making import check_out, load_new
from tparafac2.cli.options import NewData, SayJson, takes

EXAMPLES = """Examples:
  tparafac2 transform gut/model.npz new.csv --rows infant --columns genus --time month --values count
  tparafac2 transform gut new.nc --out loadings.csv
  tparafac2 transform words authors.csv --rows author --columns word --time year --drop-unknown --json

The table is like loadings.csv of the fit. The data are prepared as those of the fit were; give them as they
are.
"""


@dataclass(frozen=True)
class Request(NewData):
    """What was asked for on the command line."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE", help="Write the loadings here, ending in .csv.", show_default="to the terminal"
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the table if it exists.")] = False
    as_json: SayJson = False


@takes(Request)
def transform(request: Request) -> None:
    """Give the loadings of rows that a model has not seen."""
    if request.out is not None:
        check_out(request.out, (".csv",), request)
    from tparafac2.files import written_whole
    from tparafac2.io.new_rows import loadings_table, row_labels
    from tparafac2.io.textfiles import write_csv

    model, data, options = load_new(request, silently=request.as_json)
    table = loadings_table(model.result_, model.transform(data, **options), row_labels(data))
    if request.out is not None:
        with written_whole(request.out) as unfinished:
            write_csv(table, unfinished)
    if request.as_json:
        typer.echo(_as_json(table, request.out))
    elif request.out is None:
        text = io.StringIO()
        write_csv(table, text)
        typer.echo(text.getvalue(), nl=False)
    else:
        n, R = table.iloc[:, 0].nunique(), model.result_.rank
        typer.echo(f"Loadings of {n} {'row' if n == 1 else 'rows'} on {R} components are in {request.out}.")


def _as_json(table: Any, out: Path | None) -> str:
    lines = json.loads(table.to_json(orient="records", date_format="iso"))
    return json.dumps({"out": None if out is None else str(out), "loadings": lines}, indent=2)
