"""Options that say what the data are and how they are prepared, for every command that reads data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.io import Preparation, Prepared, Selection

_DATA = "Data"
_KEPT = "What is kept"
_PREPARATION = "Preparation"


@dataclass(frozen=True)
class Part:
    """Which data are meant, and what is kept of them."""

    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Long table (.csv, .tsv, .parquet), .nc, .npz or .npy.")
    ]
    rows: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with the rows.", rich_help_panel=_DATA)
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column with the columns, which evolve.", rich_help_panel=_DATA),
    ] = None
    time: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with the times.", rich_help_panel=_DATA)
    ] = None
    values: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column with the values; lines are counted without it.",
            rich_help_panel=_DATA,
        ),
    ] = None
    axes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="Order of the axes of an array: rows,columns,time.", rich_help_panel=_DATA
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="First time that is kept, such as 1990.", rich_help_panel=_KEPT
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="TIME", help="Last time that is kept, such as 2020-06.", rich_help_panel=_KEPT
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Keep lines for which this holds: region=Africa,Asia or region!=Asia or count>=5 (also > < "
            "<=), with any column of the table; of an array labels, with a dimension. May be repeated.",
            rich_help_panel=_KEPT,
        ),
    ] = None
    without_columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B or FILE",
            help="Columns to leave out; or a text file with one on each line, such as stop words.",
            rich_help_panel=_KEPT,
        ),
    ] = None


@dataclass(frozen=True)
class Source(Part):
    """What was said of the data on the command line."""

    absent: Annotated[
        Literal["zero", "missing", "columns", "rows"],
        typer.Option(
            help="Combinations that are not in the table: zero; missing; (columns) zero, but a column "
            "without any line at some time is not there then; (rows) zero, but a row without any line at "
            "some time was not observed then.",
            rich_help_panel=_DATA,
        ),
    ] = "zero"
    duplicates: Annotated[
        Literal["error", "sum", "mean"],
        typer.Option(help="Several lines for one place.", rich_help_panel=_DATA),
    ] = "error"
    top_columns: Annotated[
        int | None, typer.Option(metavar="N", help="Keep the N largest columns.", rich_help_panel=_KEPT)
    ] = None
    top_by: Annotated[
        Literal["total", "time"],
        typer.Option(help="Largest in total, or at the time when they are largest.", rich_help_panel=_KEPT),
    ] = "total"
    transform: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="log1p, sqrt, share or clr (these two across columns); several, in order, with commas: "
            "share,sqrt.",
            rich_help_panel=_PREPARATION,
        ),
    ] = None
    pseudocount: Annotated[
        float | None, typer.Option(metavar="X", help="Added before clr.", rich_help_panel=_PREPARATION)
    ] = None
    center: Annotated[
        Literal["rows", "columns", "time"] | None,
        typer.Option(help="Subtract the mean of each.", rich_help_panel=_PREPARATION),
    ] = None
    scale: Annotated[
        Literal["rows", "columns", "time"] | None,
        typer.Option(help="Divide by the standard deviation of each.", rich_help_panel=_PREPARATION),
    ] = None


class Loaded(NamedTuple):
    """Data ready for a fit, and what there is to say of them."""

    prepared: Prepared
    about: dict[str, Any]


def check_source(source: Source) -> None:
    """Refuse preparations that there are not, and a file that cannot be one with data, before it is read."""
    from tparafac2.data.table import require_top
    from tparafac2.io.endings import require_file

    _preparation(source)
    selection(source)
    require_top(source.top_columns, source.top_by)
    require_file(source.file)


def load(source: Source) -> Loaded:
    """Read and prepare the data of a command."""
    from tparafac2 import io
    from tparafac2.data import Table

    preparation = _preparation(source)
    data = io.read(
        source.file,
        rows=source.rows,
        columns=source.columns,
        time=source.time,
        values=source.values,
        axes=source.axes,
        select=selection(source),
        absent=source.absent,
        duplicates=source.duplicates,
        top_columns=source.top_columns,
        top_by=source.top_by,
    )
    prepared = preparation.apply(data)
    about: dict[str, Any] = {"data": str(source.file)}
    if isinstance(data, Table):
        about["table"] = data.describe(FLAGS)
    if prepared.selection:
        about["selection"] = prepared.selection
    if prepared.describe():
        about["preparation"] = prepared.describe()
    return Loaded(prepared, about)


def announce(loaded: Loaded) -> None:
    """Say before the fit what was kept and what was assumed."""
    for name in ("selection", "table"):
        if name in loaded.about:
            typer.echo(loaded.about[name], err=True)


def selection(part: Part) -> Selection:
    """What is to be kept; refused if that cannot be, before anything is read."""
    from tparafac2.io import Selection

    given = part.without_columns
    left_out: Path | tuple[str, ...] = ()
    if given is not None:
        names = tuple(name.strip() for name in next(csv.reader([given], skipinitialspace=True), []))
        left_out = Path(given) if Path(given).is_file() else names
    return Selection(part.since, part.until, tuple(part.where or ()), left_out)


def _preparation(source: Source) -> Preparation:
    from tparafac2.io import Preparation

    steps = [] if source.transform is None else source.transform.split(",")
    return Preparation(
        steps[0] if len(steps) == 1 else steps or None,  # type: ignore[arg-type]
        source.pseudocount,
        source.center,
        source.scale,
    )
