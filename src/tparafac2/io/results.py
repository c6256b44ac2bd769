"""Everything about a fitted model in one folder: model, tables, figures, page and log."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2 import __version__
from tparafac2.io.folders import check_folder, folder_written_whole
from tparafac2.io.formulas import write_csv
from tparafac2.io.tables import tidy_tables
from tparafac2.result import notes
from tparafac2.words import PYTHON, Words

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

FIGURE_KINDS = ("png", "pdf", "svg")


def write_results(
    model: Decomposition,
    folder: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    figures: str | Sequence[str] = ("png",),
    overwrite: bool = False,
    words: Words = PYTHON,
) -> Path:
    """Write a folder that can be shown around.

    It appears at one stroke, complete or not at all.

    Parameters
    ----------
    model : fitted model
    folder : path
        ``model.nc``, tidy tables ``loadings.csv``, ``patterns.csv`` and ``strengths.csv``, ``figures``, the
        page ``report.html``, and ``log.json`` with what was done. In the tables an apostrophe stands before
        labels that a spreadsheet would run as formulas; `read` takes it away.
    about : mapping, optional
        Facts for page and log: where the data came from, the command, what was assumed.
    figures : "png", "pdf", "svg", or a sequence of them
    overwrite : bool
        Replace an existing folder, if it holds nothing but what this function wrote.
    words : Words
        What arguments are called in page and log; the command line has words of its own.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = write_results(model, Path(place) / "out", figures=())
    ...     sorted(path.name for path in folder.iterdir())
    ['loadings.csv', 'log.json', 'model.nc', 'patterns.csv', 'report.html', 'starts.csv', 'strengths.csv']
    """
    from tparafac2.models import Decomposition

    if not isinstance(model, Decomposition):
        raise TypeError(f"model must be a fitted model, such as TParafac2; got {type(model).__name__}.")
    kinds = (figures,) if isinstance(figures, str) else tuple(figures)
    require_figure_kinds(kinds)
    _ = model.result_  # or it says that it is not fitted
    with folder_written_whole(check_folder(folder, overwrite=overwrite)) as unfinished:
        _write(model, unfinished, dict(about or {}), kinds, words)
    return Path(folder)


def _write(
    model: Decomposition, folder: Path, facts: dict[str, Any], kinds: Sequence[str], words: Words
) -> None:
    from tparafac2.report import write_page

    model.save(folder / "model.nc")
    for name, table in tidy_tables(model).items():
        write_csv(table, folder / f"{name}.csv")
    if kinds:
        _draw(model, folder / "figures", kinds)
    told = {name: fact for name, fact in facts.items() if name != "title"}
    write_page(model, folder / "report.html", title=facts.get("title"), about=told, words=words)
    (folder / "log.json").write_text(json.dumps(_log(model, facts, words), indent=1, default=str) + "\n")


def require_figure_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of figures that cannot be written."""
    for kind in kinds:
        if kind not in FIGURE_KINDS:
            raise ValueError(f"figures can be {', '.join(FIGURE_KINDS)}; got {kind!r}.")


def _draw(model: Decomposition, folder: Path, kinds: Sequence[str]) -> None:
    from tparafac2 import plots
    from tparafac2.plots.showing import off_screen

    folder.mkdir()
    with off_screen():
        drawn: dict[str, Any] = {
            "strengths": plots.strengths(model),
            "convergence": plots.convergence(model),
        }
        for r in range(1, model.rank + 1):
            drawn[f"pattern-{r}"] = plots.pattern(model, r)
            drawn[f"movers-{r}"] = plots.movers(model, r)
            drawn[f"loadings-{r}"] = plots.loadings(model, r)
    for name, axes in drawn.items():
        for kind in kinds:
            plots.save(axes, folder / f"{name}.{kind}")


def _log(model: Decomposition, facts: Mapping[str, Any], words: Words) -> dict[str, Any]:
    result = model.result_
    return {
        "tparafac2": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": repr(model),
        "random_state": model.random_state,
        "about": dict(facts),
        "status": result.status,
        "objective": result.objective,
        "explained_variance": result.explained_variance,
        "observed_share": result.observed_share,
        "notes": list(notes(result.findings, words)),
        "findings": [finding.as_dict() for finding in result.findings],
    }
