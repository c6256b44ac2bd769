"""The paper's experiments, figures and claims: ``python paper/run.py --help``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tparafac2.cli.making import require_jobs
from tparafac2.cli.options import takes

if TYPE_CHECKING:
    from plan import Plan
    from reproduction import Outcome
    from running import Watch

EXAMPLES = """Examples:
  python paper/run.py --quick
  python paper/run.py --out results --jobs 8
  python paper/run.py --case overlapping --datasets 5 --starts 10 --out small
  python paper/run.py --dask tcp://10.0.0.1:8786

The same command goes on where a stopped or killed run was.
More data sets, cases or methods may follow in the same folder; other settings need another.
The page shows what the last call asked for; nothing is done twice to ask for all of it again.
"""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where everything goes.")] = Path(
        "paper-results"
    )
    case: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CASE",
            show_default="all",
            help="easy, almost-zero or overlapping; may be given several times.",
        ),
    ] = None
    datasets: Annotated[int | None, typer.Option(show_default="20", help="Data sets per setting.")] = None
    starts: Annotated[int | None, typer.Option(show_default="20", help="Starts per fit.")] = None
    seed: Annotated[int | None, typer.Option(show_default="0", help="Decides data and starts.")] = None
    times: Annotated[int | None, typer.Option(show_default="20", help="Times of a data set.")] = None
    rows: Annotated[int | None, typer.Option(show_default="150", help="Its rows.")] = None
    columns: Annotated[int | None, typer.Option(show_default="100", help="Its columns.")] = None
    quick: Annotated[
        bool,
        typer.Option("--quick", help="All of it in about a minute: fewer, smaller data sets, fewer starts."),
    ] = False
    without_chosen: Annotated[
        bool,
        typer.Option(
            "--without-chosen",
            help="Only the paper's methods, not those whose settings data choose: two thirds of the time.",
        ),
    ] = False
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Work on the Dask cluster there, or on 'local', one on this machine."
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False


@takes(Request)
def paper(request: Request) -> None:
    """Run the paper's experiments, draw its figures and judge its claims.

    Three kinds of synthetic data, four models, tPARAFAC2 also with what the data choose, and a page with
    figures and a verdict on every claim. Results are kept as they come.
    """
    from reproduction import paper as run_paper

    require_jobs(request.jobs)
    plan = _plan(request)
    try:
        with _progress_bar() as watch:
            outcome = run_paper(request.out, plan, jobs=request.jobs, dask=request.dask, watch=watch)
    except KeyboardInterrupt:
        typer.echo(f"What was finished is in {request.out}; the same command goes on from there.", err=True)
        raise
    typer.echo(_as_json(outcome) if request.as_json else _as_text(outcome))


def _plan(request: Request) -> Plan:
    from plan import QUICK, Plan

    asked = {name: getattr(request, name) for name in ("datasets", "starts", "seed")}
    asked |= {f"n_{name}": getattr(request, name) for name in ("times", "rows", "columns")}
    asked |= {"cases": tuple(request.case) if request.case else None}
    given = {name: value for name, value in asked.items() if value is not None}
    given |= {"chosen": not request.without_chosen}
    return replace(QUICK if request.quick else Plan(), **given)


@contextmanager
def _progress_bar() -> Iterator[Watch]:
    """A bar with the time left, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fits"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    # Finished fits of very different length make the speed jumpy: it is taken over many of them.
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal, speed_estimate_period=300
    ) as bar:
        line = bar.add_task("", total=None)

        def watch(progress) -> None:  # type: ignore[no-untyped-def]
            what = "" if progress.task is None else str(progress.task)
            if progress.task is None and progress.done:
                bar.console.print(f"{progress.done} of {progress.total} fits are there already.")
            if progress.done == progress.total:
                what = "drawing figures and judging claims"
            bar.update(line, completed=progress.done, total=progress.total, description=what)

        yield watch


def _as_text(outcome: Outcome) -> str:
    from verdicts import as_text

    return "\n".join(
        (
            as_text(outcome.verdicts),
            "",
            f"Everything, with figures, is in {outcome.folder}: open {outcome.folder / 'index.html'}",
        )
    )


def _as_json(outcome: Outcome) -> str:
    from claims import PUBLISHED
    from verdicts import as_json, by_penalties

    counts = {
        at: dict(Counter(verdict.outcome.value for verdict in those))
        for at, those in by_penalties(outcome.verdicts).items()
    }
    where = {
        "folder": str(outcome.folder),
        "page": str(outcome.folder / "index.html"),
        "outcomes": counts.pop(PUBLISHED, {}),
        "outcomes_at_chosen": counts,
    }
    return json.dumps(where | json.loads(as_json(outcome.verdicts)), indent=2)


if __name__ == "__main__":
    typer.run(paper)
