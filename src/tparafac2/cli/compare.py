"""``tparafac2 compare``: several models or settings on the same data, one table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tparafac2.cli.modelling import MODEL_NAMES, Fitting, make_model
from tparafac2.cli.options import takes
from tparafac2.cli.source import Source, load

if TYPE_CHECKING:
    from tparafac2.models.estimators import Decomposition

EXAMPLES = """Examples:
  tparafac2 compare words.csv --rows author --columns word --time year --rank 2 --rank 3 --rank 4
  tparafac2 compare data.nc --model tparafac2 --model parafac2 --model cp
  tparafac2 compare data.nc --smoothness 1e-4 --smoothness 1e-3 --smoothness 1e-2 --json
"""


@dataclass(frozen=True)
class Request(Fitting, Source):
    """What was asked for on the command line."""

    rank: Annotated[list[int] | None, typer.Option(help="Once or several times.", show_default="3")] = None
    smoothness: Annotated[
        list[float] | None, typer.Option(help="Once or several times.", show_default="1e-3")
    ] = None
    model: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(MODEL_NAMES)}; once or several times.", show_default="tparafac2"),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False


@takes(Request)
def compare(request: Request) -> None:
    """Fit several models or settings to the same data, and set them side by side."""
    from tparafac2.io.comparing import compare_models

    models = dict(_models(request))
    loaded = load(request)
    table = compare_models(models, loaded.prepared.data)
    if request.as_json:
        typer.echo(json.dumps(json.loads(table.to_json(orient="records")), indent=2))
    else:
        typer.echo(table.to_string(index=False, float_format=lambda number: f"{number:.4g}"))


def _models(request: Request) -> Iterator[tuple[str, Decomposition]]:
    for name in request.model or ["tparafac2"]:
        if name not in MODEL_NAMES:
            raise ValueError(f"there is no model {name!r}: the models are {', '.join(MODEL_NAMES)}.")
        smooth = name not in ("parafac2", "cp")
        for rank in request.rank or [3]:
            knobs: list[float | None] = [None]
            if smooth and request.smoothness:
                knobs = [*request.smoothness]
            for smoothness in knobs:
                label = f"{name} rank {rank}" + (f" smoothness {smoothness:g}" if smoothness else "")
                yield label, make_model(name, rank, smoothness, request)
