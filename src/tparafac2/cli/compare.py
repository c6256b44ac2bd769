"""``tparafac2 compare``: several models or settings on the same data, one table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tparafac2.cli.errors import ExitCode, say
from tparafac2.cli.modelling import MODEL_NAMES, SMOOTH, Fitting, make_model
from tparafac2.cli.options import takes
from tparafac2.cli.source import Source, check_source, load
from tparafac2.cli.termination import Terminated
from tparafac2.cli.wording import in_flags

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
        list[float] | None,
        typer.Option(help="Once or several times, for the models that are smooth.", show_default="1e-3"),
    ] = None
    model: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(MODEL_NAMES)}; once or several times.", show_default="tparafac2"),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False


@takes(Request)
def compare(request: Request) -> None:
    """Fit several models or settings to the same data, and set them side by side."""
    models = dict(_models(request))
    check_source(request)
    loaded = load(request)
    for model in models.values():
        model.check_settings(loaded.prepared.data.shape)
    if not request.as_json and "table" in loaded.about:
        typer.echo(loaded.about["table"], err=True)
    lines = _finished(models, loaded.prepared.data)
    if not lines:
        raise KeyboardInterrupt("interrupted before the first of the models was fitted.")
    notes = {line["model"]: [in_flags(note) for note in models[line["model"]].notes_] for line in lines}
    typer.echo(_as_json(lines, notes, loaded.about) if request.as_json else _as_text(lines, notes))
    if len(lines) < len(models):
        say(f"interrupted: {len(lines)} of {len(models)} models were fitted.")
        raise typer.Exit(ExitCode.INTERRUPTED)


def _finished(models: Mapping[str, Decomposition], data: Any) -> list[dict[str, Any]]:
    """Lines of the models that were fitted before the end, or before Ctrl-C."""
    from tparafac2.io.comparing import compared

    lines: list[dict[str, Any]] = []
    try:
        for line in compared(models, data):
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
    names, ranks = request.model or ["tparafac2"], request.rank or [3]
    knobs: Sequence[float | None] = request.smoothness or [None]
    for option, values in (("--model", names), ("--rank", ranks), ("--smoothness", knobs)):
        _refuse_repeats(option, values)
    some_smooth = any(name in SMOOTH for name in names)
    for name in names:
        if name not in MODEL_NAMES:
            raise ValueError(f"there is no model {name!r}: the models are {', '.join(MODEL_NAMES)}.")
        # Beside smooth models, others may stand without what these alone can use.
        spared = some_smooth and name not in SMOOTH
        fitting = replace(request, period=None) if spared else request
        for rank in ranks:
            for smoothness in [None] if spared else knobs:
                label = f"{name} rank {rank}" + ("" if smoothness is None else f" smoothness {smoothness}")
                yield label, make_model(name, rank, smoothness, fitting)


def _refuse_repeats(option: str, values: Sequence[object]) -> None:
    repeated = [value for place, value in enumerate(values) if value in values[:place]]
    if repeated:
        raise ValueError(f"{option} {repeated[0]} was given twice: give every setting once.")
