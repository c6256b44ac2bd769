"""The paper in one call: run, judge, draw, write."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import page
import verdicts
from claims import CLAIMS, CLAIMS_AT_CHOSEN
from figures.example import show
from plan import QUICK, Plan, Setting
from records import Call, Store, tabulate
from running import Watch, run, workers
from uniqueness import RotationRow, rotation_evidence

from tparafac2.files import written_whole
from tparafac2.synthetic.recipe import Size

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (Setting("almost_zero", 1), Setting("overlapping", 0.2))
"""The settings of which the paper shows an example."""

_ROTATED = Setting("overlapping", 0.2)


class Outcome(NamedTuple):
    """What a run gives back."""

    table: pd.DataFrame
    verdicts: list[verdicts.Verdict]
    folder: Path
    seconds: float


def paper(
    out: str | os.PathLike[str],
    plan: Plan | None = None,
    *,
    jobs: int = -1,
    dask: str | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run the paper's experiments, draw its figures and judge its claims.

    What is done already is not done again: a run that was killed goes on where it was.

    Parameters
    ----------
    out : path
        Folder for everything: the records, ``results.csv``, ``verdicts.txt``, ``.csv`` and ``.json``,
        figures, and a page with all of it, ``index.html`` and ``README.md``.
    plan : Plan, optional
        What to do; all of the paper if nothing is given.
    jobs : int
        Number of processes; -1 for one per core. The results do not depend on it.
    dask : str, optional
        Address of a Dask scheduler, or "local" for a cluster on this machine.
    watch : callable, optional
        Told of every finished task, see `TasksDone`.

    Returns
    -------
    Outcome
        The table of results, the verdicts, and where everything is.

    Examples
    --------
    >>> import tempfile
    >>> from plan import Plan
    >>> sizes = {"n_times": 6, "n_rows": 24, "n_columns": 18}
    >>> plan = Plan(cases=("almost_zero",), datasets=1, starts=1, max_iter=20, coarse=True, **sizes)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = paper(folder, plan, jobs=1)
    >>> len(outcome.table), outcome.verdicts[0].outcome.value
    (30, 'too few data sets')
    """
    plan = Plan() if plan is None else plan
    folder = Path(out)
    crew = workers(jobs, dask)
    store = Store(folder, plan.protocol)
    begin = time.perf_counter()
    fits = run(plan, store, crew, watch or (lambda progress: None))
    records = store.read()
    table = tabulate(records[task] for task in plan.tasks())
    judged = verdicts.judge(table, (*CLAIMS, *CLAIMS_AT_CHOSEN))
    examples = [show(table, setting, plan) for setting in SHOWN if setting in plan.settings]
    rotations = _rotations(plan)
    seconds = time.perf_counter() - begin
    calls = store.note(Call(command(plan), fits, seconds, _described(jobs, dask)))
    _write(folder, plan, page.Findings(table, calls, judged, examples, rotations))
    return Outcome(table, judged, folder, seconds)


def command(plan: Plan) -> str:
    """The command line that does a plan; only a quick one has a coarse choice.

    Examples
    --------
    >>> command(Plan()), command(Plan(cases=("easy",), starts=5))
    ('tparafac2 paper', 'tparafac2 paper --case easy --starts 5')
    >>> command(QUICK), command(Plan(chosen=False))
    ('tparafac2 paper --quick', 'tparafac2 paper --without-chosen')
    """
    base, words = (QUICK, ["tparafac2 paper --quick"]) if plan.coarse else (Plan(), ["tparafac2 paper"])
    if plan.cases != base.cases:
        words += [f"--case {case.replace('_', '-')}" for case in plan.cases]
    for name in ("datasets", "starts", "seed", *Size._fields):
        value = getattr(plan, name)
        if value != getattr(base, name):
            words.append(f"--{name.removeprefix('n_')} {value}")
    if not plan.chosen:
        words.append("--without-chosen")
    return " ".join(words)


def _rotations(plan: Plan) -> list[RotationRow]:
    if _ROTATED not in plan.settings:
        return []
    protocol = plan.protocol
    data = _ROTATED.make(protocol.data_seed(0), protocol.size)
    return rotation_evidence(data, seed=protocol.start_seed(0), n_starts=protocol.starts)


def _write(folder: Path, plan: Plan, findings: page.Findings) -> None:
    import pandas as pd

    _draw(folder / "figures", findings)
    blocks = page.write_page(plan, findings)
    rotations = pd.DataFrame([asdict(row) for row in findings.rotations])
    texts: Mapping[str, str] = {
        "results.csv": findings.table.to_csv(index=False),
        "uniqueness.csv": rotations.to_csv(index=False),
        "verdicts.csv": verdicts.as_table(findings.verdicts).to_csv(index=False),
        "verdicts.json": verdicts.as_json(findings.verdicts) + "\n",
        "verdicts.txt": verdicts.as_text(findings.verdicts) + "\n",
        "README.md": page.to_markdown(blocks),
        "index.html": page.to_html(blocks, folder),
    }
    for name, text in texts.items():
        with written_whole(folder / name) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


def _draw(folder: Path, findings: page.Findings) -> None:
    import figures

    folder.mkdir(exist_ok=True)
    drawn = {"drifts": figures.drifts_figure(), "strengths": figures.strengths_figure()}
    drawn.update(figures.score_figures(findings.table))
    for example in findings.examples:
        drawn[f"example-{example.setting.case}"] = figures.example_figure(
            example.data.factors, example.estimates
        )
    for name, figure in drawn.items():
        figures.save_figure(figure, folder, name)


def _described(jobs: int, dask: str | None) -> str:
    number = (os.cpu_count() or 1) if jobs < 0 else jobs
    here = "1 process" if number == 1 else f"{number} processes"
    if dask is None:
        return f"{here} on one machine"
    return f"a Dask cluster of {here} on one machine" if dask == "local" else "a Dask cluster"
