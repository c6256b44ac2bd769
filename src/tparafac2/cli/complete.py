"""``tparafac2 complete``: data without holes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tparafac2.cli.making import check_out, load_new
from tparafac2.cli.options import NewData, SayJson, takes

EXAMPLES = """Examples:
  tparafac2 complete votes/model.npz votes.nc --out whole.nc
  tparafac2 complete gut babies.csv --rows infant --columns genus --time month --values count \\
    --absent missing --out whole.csv

What was observed is never changed. The data are prepared as those of the fit were, and what is filled in is
in their units again; give them as they are.
"""


@dataclass(frozen=True)
class Request(NewData):
    """What was asked for on the command line."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the data go: a long table (.csv), or an array (.nc). Needed."
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False
    as_json: SayJson = False


@takes(Request)
def complete(request: Request) -> None:
    """Fill in missing entries by a model, in the units of the data."""
    if request.out is None:
        raise typer.BadParameter("say where the data go, such as --out whole.csv.", param_hint="'--out'")
    out = check_out(request.out, (".csv", ".nc"), request)
    import numpy as np

    from tparafac2.io.new_rows import write_completed
    from tparafac2.newdata.completing import holes_of

    model, data, options = load_new(request, silently=request.as_json)
    completed = model.complete(data, **options)
    holes = holes_of(model.result_, data, **options)
    left = np.isnan(completed.values)
    filled = holes.entries & ~left
    write_completed(completed, filled, out)
    told = {
        "out": str(out),
        "entries": int(completed.size),
        "filled": int(filled.sum()),
        "missing": int(left.sum()),
        "absent_times": int(holes.times.sum()),
        "filled_at_absent_times": int(filled[holes.times].sum()),
    }
    typer.echo(json.dumps(told, indent=2) if request.as_json else _sentence(told))


def _sentence(told: dict[str, Any]) -> str:
    n = told["absent_times"]
    there = "1 time that is" if n == 1 else f"{n:,} times that are"
    also = f", {told['filled_at_absent_times']:,} of them at {there} not in the data" if n else ""
    filled = f"{told['filled']:,} of {told['entries']:,} entries were filled in{also}."
    return f"{filled} Everything is in {told['out']}."
