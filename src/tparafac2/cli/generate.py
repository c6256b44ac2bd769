"""``tparafac2 generate``: a synthetic data set and its truth, in a file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tparafac2.cli.options import takes

if TYPE_CHECKING:
    from tparafac2.synthetic import SyntheticData

EXAMPLES = """Examples:
  tparafac2 generate easy data.nc --noise 0.25
  tparafac2 generate almost-zero weak.npz --seed 7 --weak 2 --times 12

Then, in Python:
  data = xarray.load_dataset("data.nc")
  model = tparafac2.TParafac2(rank=3).fit(data["X"])
  tparafac2.metrics.factor_match_score(model, (data.A, data.B, data.C))
"""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    case: Annotated[
        Literal["easy", "almost-zero", "overlapping"],
        typer.Argument(metavar="CASE", help="Which of the three."),
    ]
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Ending in .nc (netCDF, with all that is known) or .npz.")
    ]
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 0
    noise: Annotated[float, typer.Option(help="Norm of the noise / norm of the signal.")] = 0.5
    weak: Annotated[
        int | None, typer.Option(show_default="1", help="almost-zero: how many concepts nearly vanish.")
    ] = None
    overlap: Annotated[
        float | None, typer.Option(show_default="0.2", help="overlapping: share of first words in common.")
    ] = None
    times: Annotated[int, typer.Option(help="Number of times.")] = 20
    rows: Annotated[int, typer.Option(help="Number of rows.")] = 150
    columns: Annotated[int, typer.Option(help="Number of columns.")] = 100
    concepts: Annotated[int, typer.Option(help="Number of concepts.")] = 3
    held: Annotated[
        bool, typer.Option("--held", help="Hold the importances of words, instead of drawing them anew.")
    ] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was written as JSON.")] = False


@takes(Request)
def generate(request: Request) -> None:
    """Write a synthetic data set, with the truth behind it, to a file.

    easy: concepts that change at once or back and forth.

    almost-zero: as easy, but some concepts nearly vanish for a while.

    overlapping: concepts that begin with words in common and slowly part.
    """
    _refuse_options_of_other_cases(request)
    from tparafac2.synthetic.files import check_target

    target = check_target(request.file)
    if target.exists() and not request.overwrite:
        raise FileExistsError(f"{str(target)!r} exists: choose another name, or replace it with --overwrite.")
    data = _make(request)
    data.save(target)
    typer.echo(_as_json(data, target) if request.as_json else _as_text(data, target))


def _refuse_options_of_other_cases(request: Request) -> None:
    for case, option, value in (
        ("almost-zero", "--weak", request.weak),
        ("overlapping", "--overlap", request.overlap),
    ):
        if value is not None and request.case != case:
            raise typer.BadParameter(
                f"this belongs to the case {case}, not to {request.case}: leave it out, or choose that case.",
                param_hint=repr(option),
            )


def _make(request: Request) -> SyntheticData:
    from tparafac2 import synthetic

    own = {"n_weak": request.weak, "overlap": request.overlap}
    make: Callable[..., SyntheticData] = getattr(synthetic, request.case.replace("-", "_"))
    return make(
        request.seed,
        noise=request.noise,
        n_times=request.times,
        n_rows=request.rows,
        n_columns=request.columns,
        n_concepts=request.concepts,
        fresh_importances=not request.held,
        **{name: value for name, value in own.items() if value is not None},
    )


def _as_text(data: SyntheticData, target: Path) -> str:
    times, rows, columns = data.recipe.size
    rank = len(data.concepts)
    fit = ["tparafac2", "fit", str(target), "--rank", str(rank), "--smoothness", "1e-3"]
    if target.suffix == ".npz":  # arrays without names for their axes
        fit += ["--axes", "time,rows,columns"]
    lines = (
        f"Wrote {str(target)!r} ({_size_text(target)}): {data.case.replace('_', '-')}, "
        f"seed {data.seed}, noise {data.noise:g}.",
        f"  X        {times} times x {rows} rows x {columns} columns",
        f"  A, B, C  the truth: {rank} {'concept' if rank == 1 else 'concepts'}",
        f"Fit it:  {shlex.join(fit)}",
    )
    return "\n".join(lines)


def _size_text(file: Path) -> str:
    size = file.stat().st_size
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def _as_json(data: SyntheticData, target: Path) -> str:
    from tparafac2.synthetic.files import facts

    known = facts(data)
    written = {"file": str(target), "bytes": target.stat().st_size, **known}
    return json.dumps(written | {"recipe": json.loads(str(known["recipe"]))}, indent=2)
