"""``tparafac2 forecast``: what comes after the last time of a saved model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.making import check_out, model_file, read_like, read_times, selection
from tparafac2.cli.options import Lines, Saved, SayJson, takes

if TYPE_CHECKING:
    from tparafac2.newdata import Forecast

EXAMPLES = """Examples:
  tparafac2 forecast words --steps 5
  tparafac2 forecast words words.csv --values count --steps 5 --out words-later.csv
  tparafac2 forecast votes --times 2020,2022,2024 --level 0.8 --out votes-later.nc --json

With FILE, the data of the fit, intervals are measured on them, and are better.
A .csv has fitted values, one line for each time, row and column; a .nc has patterns and strengths, too.
"""


@dataclass(frozen=True)
class Request(Lines, Saved):
    """What was asked for on the command line."""

    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The data of the fit, for better intervals.")
    ] = None  # type: ignore[assignment]
    steps: Annotated[int | None, typer.Option(metavar="N", help="How many steps ahead.")] = None
    times: Annotated[
        str | None, typer.Option(metavar="T1,T2", help="The times that are asked for, instead of steps.")
    ] = None
    level: Annotated[float, typer.Option(help="Share of the intervals that are to hold what comes.")] = 0.95
    season: Annotated[
        int | None, typer.Option(metavar="N", help="Steps after which strengths repeat, such as 12.")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of the draws behind the intervals.")] = 0
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where it goes, ending in .csv or .nc.", show_default="nothing is written"
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False
    as_json: SayJson = False


@takes(Request)
def forecast(request: Request) -> None:
    """Say what comes after the last time of a saved model, with intervals."""
    from tparafac2.models import load

    if request.out is not None:
        check_out(request.out, (".csv", ".nc"), request)
    selection(request)
    model = load(model_file(request.model))
    data = None if request.file is None else read_like(model, request, silently=request.as_json)
    found = model.forecast(
        request.steps,
        times=read_times(request.times),
        level=request.level,
        season=request.season,
        X=data,
        random_state=request.seed,
    )
    if request.out is not None:
        _write(found, request.out)
    typer.echo(_as_json(found, request.out) if request.as_json else _as_text(found, request.out))


def _write(found: Forecast, out: Path) -> None:
    from tparafac2.files import write_netcdf, written_whole
    from tparafac2.io.textfiles import write_csv

    with written_whole(out) as unfinished:
        if out.suffix == ".csv":
            write_csv(found.to_frame(), unfinished)
        else:
            write_netcdf(found.to_dataset(), unfinished)


def _strengths(found: Forecast) -> list[dict[str, Any]]:
    from tparafac2.data import label_text

    times = found.labels.coordinate("time", len(found.times))
    return [
        {
            "time": label_text(times[k]),
            "component": r + 1,
            **{end: float(part[k, r]) for end, part in found.strengths._asdict().items()},
        }
        for k in range(len(times))
        for r in range(found.strengths.value.shape[1])
    ]


def _as_text(found: Forecast, out: Path | None) -> str:
    lines = [f"Strengths, with intervals that are to hold {found.level:.0%} of what comes:"]
    lines += [
        f"  {one['time']}: component {one['component']} {one['value']:.4g} ({one['lower']:.4g} to "
        f"{one['upper']:.4g})"
        for one in _strengths(found)
    ]
    lines.append("Patterns stay as they were last; --out writes their intervals and those of all values.")
    return "\n".join(lines if out is None else [*lines[:-1], f"Everything is in {out}."])


def _as_json(found: Forecast, out: Path | None) -> str:
    told: dict[str, Any] = {"level": found.level, "strengths": _strengths(found)}
    return json.dumps(told if out is None else {"file": str(out), **told}, indent=2)
