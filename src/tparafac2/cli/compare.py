"""``tparafac2 compare``: several models or settings on the same data, one table."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.errors import ExitCode, Terminated, say
from tparafac2.cli.making import Loaded, check_source, cluster, command_line, inputs, load, make_model
from tparafac2.cli.options import (
    ABLE,
    FITTING,
    MODEL_NAMES,
    SMOOTH,
    DaskFits,
    Fitting,
    Overwrite,
    Several,
    Source,
    flat,
    several,
    takes,
)
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

EXAMPLES = """Examples:
  tparafac2 compare words.csv --rows author --columns word --time year --rank 2,3,4 --jobs -1
  tparafac2 compare data.nc --model tparafac2,parafac2,cp --out models
  tparafac2 compare data.nc --smoothness 1e-4,1e-3,1e-2 --rigidity inf,1 --json
  tparafac2 compare data.nc --nonnegative none,patterns,both
  tparafac2 compare votes.csv --rank 3 --smoothness 1e-2 --changes smooth,sudden

With --out, the folder has the table (comparison.csv) and every model, for 'tparafac2 report' and 'info'.
"""
_ABLE = {"smoothness": SMOOTH, "sparsity": SMOOTH, **ABLE}
"""Models that can use a setting."""
_ONE = {"period": "smoothness", "sparsity": "sparsity", "smooth_strengths": "smooth_strengths"}
"""Settings of which there is one value for all models, and what a model has to be able to use for them."""


@dataclass(frozen=True)
class Request(Fitting, Source):
    """What was asked for on the command line."""

    rank: Annotated[
        list[Several] | None,
        typer.Option(
            parser=several(int), metavar="N,...", help="One or several; may be repeated.", show_default="3"
        ),
    ] = None
    smoothness: Annotated[
        list[Several] | None,
        typer.Option(
            parser=several(float),
            metavar="X,...",
            help="One or several, for the models that are smooth; may be repeated.",
            show_default="3e-3",
        ),
    ] = None
    model: Annotated[
        list[Several] | None,
        typer.Option(
            parser=several(str),
            metavar="NAME,...",
            help=f"{', '.join(MODEL_NAMES)}: one or several; may be repeated.",
            show_default="tparafac2",
        ),
    ] = None
    nonnegative: Annotated[
        list[Several] | None,
        FITTING(
            parser=several(str),
            metavar="WHAT,...",
            help="What must not be negative: none, patterns, rows, both; one or several; may be repeated.",
            show_default="none",
        ),
    ] = None  # type: ignore[assignment]
    rigidity: Annotated[
        list[Several] | None,
        FITTING(
            parser=several(float),
            metavar="X,...",
            help="How strictly sizes and angles of patterns are kept: one or several; inf is as usual "
            "(tparafac2).",
            show_default="inf",
        ),
    ] = None  # type: ignore[assignment]
    changes: Annotated[
        list[Several] | None,
        FITTING(
            parser=several(str),
            metavar="HOW,...",
            help="How patterns change: smooth, sudden, or both with a comma (smooth models).",
            show_default="smooth",
        ),
    ] = None  # type: ignore[assignment]
    jobs: Annotated[
        int,
        FITTING(help="Models that are fitted at once, each in a process of its own; -1 for one per core."),
    ] = 1
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the table and every model here.", show_default="not kept"),
    ] = None
    dask: DaskFits = None
    overwrite: Overwrite = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False


@takes(Request)
def compare(request: Request) -> None:
    """Fit several models or settings to the same data, and set them side by side."""
    from tparafac2.io import check_folder
    from tparafac2.result import Kind, notes

    models = dict(_models(request))
    check_source(request)
    if request.out is not None:
        check_folder(request.out, overwrite=request.overwrite, inputs=inputs(request))
    with cluster(request.dask) as client:  # before anything is read: perhaps nobody answers
        loaded = load(request, silently=request.as_json)
        for model in models.values():
            model.check_settings(loaded.prepared.data.shape)
        lines = _finished(models, loaded, request.jobs, client)
        if not lines:
            raise KeyboardInterrupt("interrupted before the first of the models was fitted.")
        finished = len(lines) == len(models)
    told = {line["model"]: notes(models[line["model"]].findings_, FLAGS) for line in lines}
    typer.echo(_as_json(lines, told, loaded.about) if request.as_json else _as_text(lines, told))
    if request.out is not None:
        _keep(request, request.out, models, lines, loaded.about)
    if not finished:
        say(f"interrupted: {len(lines)} of {len(models)} models were fitted.")
        raise typer.Exit(ExitCode.INTERRUPTED)
    if all(any(one.kind is Kind.ALL_VANISHED for one in model.findings_) for model in models.values()):
        say("all components of every model vanished; the notes say what to do.")
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _keep(
    request: Request,
    out: Path,
    models: Mapping[str, Decomposition],
    lines: Sequence[Mapping[str, Any]],
    about: Mapping[str, Any],
) -> None:
    """Write what was fitted; half a comparison never takes the place of a whole one."""
    import pandas as pd

    from tparafac2.io import write_comparison

    if len(lines) < len(models) and out.exists() and any(out.iterdir()):
        say(f"nothing was written, and {str(out)!r} is as it was.")
        return
    facts = {**about, "command": command_line()}
    write_comparison(models, pd.DataFrame(lines), out, about=facts, overwrite=request.overwrite, words=FLAGS)
    if not request.as_json:
        typer.echo(f"\nThe table and the models are in {out}.")


def _finished(
    models: Mapping[str, Decomposition], loaded: Loaded, jobs: int, client: Any
) -> list[dict[str, Any]]:
    """Lines of the models that were fitted before the end, or before Ctrl-C."""
    from tparafac2.choosing import compared

    lines: list[dict[str, Any]] = []
    try:
        for line in compared(models, loaded.prepared, n_jobs=jobs, client=client, weights=loaded.weights):
            lines.append(line)
    except Terminated:
        raise
    except KeyboardInterrupt:  # between two fits, or the second in one: what is finished is worth showing
        pass
    return lines


def _as_text(lines: Sequence[Mapping[str, Any]], notes: Mapping[str, Sequence[str]]) -> str:
    import pandas as pd

    table = pd.DataFrame(lines).to_string(index=False, float_format=lambda number: f"{number:.4g}")
    told = [f"{label}: {note}" for label, sentences in notes.items() for note in sentences]
    return "\n".join([table, *([""] if told else []), *told])


def _as_json(
    lines: Sequence[Mapping[str, Any]], notes: Mapping[str, Sequence[str]], about: Mapping[str, Any]
) -> str:
    import pandas as pd

    models = json.loads(pd.DataFrame(lines).to_json(orient="records"))  # NaN becomes null
    told = [{**one, "notes": notes[one["model"]]} for one in models]
    return json.dumps({**about, "models": told}, indent=2)


def _models(request: Request) -> Iterator[tuple[str, Decomposition]]:
    """Every combination by a name of its own; all are checked here, before any work."""
    names: list[str] = flat(request.model) or ["tparafac2"]
    ranks: list[int] = flat(request.rank) or [3]
    knobs: dict[str, list[Any]] = {
        name: flat(getattr(request, name)) or [None]
        for name in ("smoothness", "rigidity", "nonnegative", "changes")
    }
    every: dict[str, list[Any]] = {"model": names, "rank": ranks, **knobs}
    for option, values in every.items():
        _refuse_repeats(f"--{option}", values)
    uneven = {one for one, able in _ABLE.items() if set(able) & set(names) and not set(names) <= set(able)}
    for name in names:
        if name not in MODEL_NAMES:
            raise ValueError(f"there is no model {name!r}: the models are {', '.join(MODEL_NAMES)}.")
        # Beside others that can use them, a model may stand without what it cannot use.
        spared = {one for one, able in _ABLE.items() if name not in able and set(able) & set(names)}
        own = {one: [None] if one in spared else values for one, values in knobs.items()}
        shared: dict[str, Any] = {
            one: None if needed in spared else getattr(request, one) for one, needed in _ONE.items()
        }
        for rank, *values in itertools.product(ranks, *own.values()):
            given = dict(zip(own, values))
            # What there is one of, for all, is said by the command, but for the smoothness.
            said = [
                f" {one} {value}"
                for one, value in given.items()
                if value is not None and (one == "smoothness" or len(own[one]) > 1 or one in uneven)
            ]
            smoothness = given.pop("smoothness")
            fitting: Any = replace(request, **given, **shared)
            yield f"{name} rank {rank}{''.join(said)}", make_model(name, rank, smoothness, fitting)


def _refuse_repeats(option: str, values: Sequence[object]) -> None:
    repeated = [value for place, value in enumerate(values) if value in values[:place]]
    if repeated:
        raise ValueError(f"{option} {repeated[0]} was given twice: give every setting once.")
