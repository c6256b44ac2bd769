"""Options of commands, gathered in dataclasses: which data are meant, and how models are fitted to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import typer

ModelName = Literal["tparafac2", "parafac2", "tcmf", "nntcmf", "cp"]
MODEL_NAMES: tuple[str, ...] = get_args(ModelName)
SMOOTH = ("tparafac2", "tcmf", "nntcmf")
ABLE = {"rigidity": ("tparafac2",), "changes": SMOOTH, "smooth_strengths": ("tparafac2",)}
"""Models that can use a setting."""

FITTING = partial(typer.Option, rich_help_panel="Fit")
CHOICE = partial(typer.Option, rich_help_panel="Choice")
_DATA = partial(typer.Option, rich_help_panel="Data")
_KEPT = partial(typer.Option, rich_help_panel="What is kept")
_PREPARATION = partial(typer.Option, rich_help_panel="Preparation")

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the folder if it exists.")]
SayJson = Annotated[bool, typer.Option("--json", help="Say what came out as JSON.")]
ComponentNames = Annotated[
    str | None,
    typer.Option(
        "--names", metavar="A,B,...", help="What the components are called, in their order, with commas."
    ),
]

Options = TypeVar("Options")
_MOST_RANKS = 100


def takes(options: Callable[..., Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Turn a function of one dataclass into a command with an option for each of its fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Greeting:
    ...     name: str
    ...     times: Annotated[int, typer.Option(help="How often.")] = 1
    >>> @takes(Greeting)
    ... def greet(greeting: Greeting) -> None:
    ...     typer.echo(f"Hello {greeting.name}! " * greeting.times)
    >>> list(inspect.signature(greet).parameters)
    ['name', 'times']
    >>> greet(name="Ann", times=2)
    Hello Ann! Hello Ann!
    """

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: object) -> None:
            command(options(**given))

        # typer reads the options of a command from its signature. Each class resolves its own names.
        hints = get_type_hints(options, include_extras=True)
        signature = inspect.signature(options)
        parameters = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items()]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate


class Several(tuple[Any, ...]):
    """Values of one option, with commas between them."""


def flat(given: Iterable[Several] | None) -> list[Any]:
    """All values of an option that may be repeated."""
    return [value for values in given or () for value in values]


def several(kind: Callable[[str], Any]) -> Callable[[str | Several], Several]:
    """Make a parser of values with commas between them; the option may be repeated besides.

    Examples
    --------
    >>> several(int)("2, 3,4")
    (2, 3, 4)
    """

    def parse(text: str | Several) -> Several:
        try:
            return Several(kind(part.strip()) for part in str(text).split(","))
        except ValueError:
            what = {int: "whole numbers", float: "numbers"}.get(kind, "names")  # type: ignore[call-overload]
            raise typer.BadParameter(
                f"{str(text)!r} cannot be read: write {what} with commas between them, such as "
                f"{'2,3,4' if kind is int else '1e-3,1e-2'}."
            ) from None

    return parse


def ranks(text: str | Several) -> Several:
    """Read ranks: numbers and ranges, with commas between them.

    Examples
    --------
    >>> ranks("1-4, 6")
    (1, 2, 3, 4, 6)
    """
    found: list[int] = []
    try:
        for part in str(text).split(","):
            first, to, last = part.partition("-")
            span = range(int(first), int(last if to else first) + 1)
            found += span[:_MOST_RANKS]
            if not span:
                raise ValueError
    except ValueError:
        raise typer.BadParameter(
            f"{str(text)!r} cannot be read: write the ranks to try as 1-6, or as 1,2,4."
        ) from None
    if len(found) >= _MOST_RANKS:
        raise typer.BadParameter(f"{str(text)!r} are too many ranks: try fewer than {_MOST_RANKS}.")
    return Several(found)


@dataclass(frozen=True)
class Part:
    """Which data are meant, and what is kept of them."""

    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Long table (.csv, .tsv, .parquet), .nc, .npz, .npy or .zarr."),
    ]
    rows: Annotated[str | None, _DATA(metavar="NAME", help="Column with the rows.")] = None
    columns: Annotated[str | None, _DATA(metavar="NAME", help="Column with the columns, which evolve.")] = (
        None
    )
    time: Annotated[str | None, _DATA(metavar="NAME", help="Column with the times.")] = None
    values: Annotated[
        str | None, _DATA(metavar="NAME", help="Column with the values; lines are counted without it.")
    ] = None
    axes: Annotated[
        str | None, _DATA(metavar="A,B,C", help="Order of the axes of an array: rows,columns,time.")
    ] = None
    since: Annotated[
        str | None, _KEPT("--from", metavar="TIME", help="First time that is kept, such as 1990.")
    ] = None
    until: Annotated[
        str | None, _KEPT("--to", metavar="TIME", help="Last time that is kept, such as 2020-06.")
    ] = None
    where: Annotated[
        list[str] | None,
        _KEPT(
            metavar="CONDITION",
            help="Keep lines for which this holds: region=Africa,Asia or region!=Asia or count>=5 (also > < "
            "<=), with any column of the table; of an array labels, with a dimension. May be repeated.",
        ),
    ] = None
    without_columns: Annotated[
        str | None,
        _KEPT(
            metavar="A,B or FILE",
            help="Columns to leave out; or a text file with one on each line, such as stop words.",
        ),
    ] = None


@dataclass(frozen=True)
class Lines(Part):
    """Which data are meant, and how the lines of a long table are read."""

    absent: Annotated[
        Literal["zero", "missing", "columns", "rows"],
        _DATA(
            help="Combinations that are not in the table: zero; missing; (columns) zero, but a column "
            "without any line at some time is not there then; (rows) zero, but a row without any line at "
            "some time was not observed then."
        ),
    ] = "zero"
    duplicates: Annotated[Literal["error", "sum", "mean"], _DATA(help="Several lines for one place.")] = (
        "error"
    )


@dataclass(frozen=True)
class Source(Lines):
    """Which data are meant, and how they are prepared."""

    top_columns: Annotated[int | None, _KEPT(metavar="N", help="Keep the N largest columns.")] = None
    top_by: Annotated[
        Literal["total", "time"], _KEPT(help="Largest in total, or at the time when they are largest.")
    ] = "total"
    weights: Annotated[
        str | None,
        _DATA(
            metavar="COLUMN or FILE",
            help="How much lines or rows count: a column of the table; or a table with a weight for each row "
            "label.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        _DATA(
            metavar="SIZE",
            help="Most memory to use, such as 8GB. Arrays (.nc, .npy, .zarr) that take more than a quarter "
            "of it are read in blocks of rows; long tables that need more are refused.",
            show_default="half of what there is",
        ),
    ] = None
    transform: Annotated[
        str | None,
        _PREPARATION(
            metavar="KINDS",
            help="log1p, sqrt, share or clr (these two across columns); several, in order, with commas: "
            "share,sqrt.",
        ),
    ] = None
    pseudocount: Annotated[float | None, _PREPARATION(metavar="X", help="Added before clr.")] = None
    center: Annotated[
        Literal["rows", "columns", "time"] | None, _PREPARATION(help="Subtract the mean of each.")
    ] = None
    scale: Annotated[
        Literal["rows", "columns", "time"] | None,
        _PREPARATION(help="Divide by the standard deviation of each."),
    ] = None


@dataclass(frozen=True)
class Saved:
    """Which model is meant."""

    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A saved model, ending in .npz, or the folder of a fit.")
    ]


@dataclass(frozen=True)
class NewData(Lines, Saved):
    """Which data are meant, for a model that has not seen them and knows how to prepare them."""

    weights: Annotated[
        str | None,
        _DATA(
            metavar="COLUMN or FILE",
            help="How much lines or rows count: a column of the table; or a table with a weight for each row "
            "label.",
        ),
    ] = None
    drop_unknown: Annotated[
        bool,
        _KEPT("--drop-unknown", help="Leave out columns and times that the model does not know."),
    ] = False


DaskFits = Annotated[
    str | None,
    FITTING(
        metavar="ADDRESS",
        help="Have the workers of a Dask cluster do the fits, instead of processes: tcp://10.0.0.1:8786, or "
        "local.",
    ),
]


@dataclass(frozen=True)
class Fitting:
    """How every model of a command is fitted."""

    starts: Annotated[int, FITTING(help="Starts; the best is kept.")] = 10
    max_iter: Annotated[int, FITTING(help="Iterations at most.")] = 2000
    seed: Annotated[int, FITTING(help="Seed of the starts.")] = 0
    jobs: Annotated[
        int, FITTING(help="Cores to use; -1 for all of them. What comes out does not depend on it.")
    ] = -1
    no_bridge: Annotated[
        bool,
        FITTING("--no-bridge", help="Columns that were not observed at all at some time did not exist then."),
    ] = False
    nonnegative: Annotated[
        str | None,
        FITTING(
            metavar="WHAT",
            help="What must not be negative: patterns, rows, patterns,rows, or none (nntcmf is tcmf with "
            "rows).",
        ),
    ] = None
    rigidity: Annotated[
        float | None,
        FITTING(
            metavar="X",
            help="A number lets sizes and angles of patterns give way, more if it is small: about 1 "
            "where they change (tparafac2).",
        ),
    ] = None
    changes: Annotated[
        Literal["smooth", "sudden", "auto"] | None,
        FITTING(
            help="How patterns change: in many small steps, or in few large ones (smooth models). auto tries "
            "both, where the data choose.",
            show_default="smooth",
        ),
    ] = None
    sparsity: Annotated[
        str | None,
        FITTING(
            metavar="X or WHAT=X,...",
            help="Let few entries be other than zero, of patterns, rows or strengths: 1e-4 is that of "
            "patterns, and patterns=1e-4,rows=1e-4 of both. Useful from 1e-5 to 1e-3 (smooth models).",
        ),
    ] = None
    smooth_strengths: Annotated[
        float | None,
        FITTING(metavar="X", help="Let strengths be smooth in time, too: 10 to 1000 (tparafac2)."),
    ] = None
    period: Annotated[float | None, FITTING(help="Time goes round with this period (smooth models).")] = None


@dataclass(frozen=True)
class Choosing(Fitting, Source):
    """What the data choose, and how carefully."""

    ranks: Annotated[
        Several | None,
        CHOICE(
            parser=ranks,
            metavar="1-6 or 1,2,4",
            help="Ranks to try.",
            show_default="1-8, as far as the rows allow",
        ),
    ] = None
    groups: Annotated[
        str | None,
        CHOICE(
            metavar="COLUMN or FILE:COLUMN",
            help="Rows that belong together (samples of one subject), kept in one part of the rows: a "
            "column of the table (an array of an .npz file), or of another one with the same row labels.",
        ),
    ] = None
    stratify: Annotated[
        str | None,
        CHOICE(
            metavar="COLUMN or FILE:COLUMN",
            help="Kinds of rows (treatment, sex, region), of which every part of the rows has its share.",
        ),
    ] = None
    compare: Annotated[
        bool, CHOICE("--compare", help="Set other models (cp, parafac2, other bounds) beside it.")
    ] = False
