"""Everything about a fitted model in one folder: model, tables, figures, page and log."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2 import __version__

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.models.estimators import Decomposition
    from tparafac2.result import Result

FIGURE_KINDS = ("png", "pdf", "svg")


def write_results(
    model: Decomposition,
    folder: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    figures: Sequence[str] = ("png",),
    overwrite: bool = False,
) -> Path:
    """Write a folder that can be shown around.

    It appears at one stroke, complete or not at all.

    Parameters
    ----------
    model : fitted model
    folder : path
        ``model.nc``, tidy tables ``loadings.csv``, ``patterns.csv`` and ``strengths.csv``, ``figures``, the
        page ``report.html``, and ``log.json`` with what was done.
    about : mapping, optional
        Facts for page and log: where the data came from, the command, what was assumed.
    figures : sequence of "png", "pdf", "svg"
    overwrite : bool
        Replace an existing folder, if it is one of these.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, shape=(20, 20, 6))
    >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = write_results(model, Path(place) / "out", figures=())
    ...     sorted(path.name for path in folder.iterdir())
    ['loadings.csv', 'log.json', 'model.nc', 'patterns.csv', 'report.html', 'starts.csv', 'strengths.csv']
    """
    from tparafac2.report import write_page

    target = check_folder(folder, overwrite=overwrite)
    require_figure_kinds(figures)
    facts = dict(about or {})
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as place:
        unfinished = Path(place) / "results"
        unfinished.mkdir()
        model.save(unfinished / "model.nc")
        for name, table in tidy_tables(model.result_).items():
            table.to_csv(unfinished / f"{name}.csv", index=False)
        if figures:
            _draw(model, unfinished / "figures", figures)
        told = {name: fact for name, fact in facts.items() if name != "title"}
        write_page(model, unfinished / "report.html", title=facts.get("title"), about=told)
        (unfinished / "log.json").write_text(json.dumps(_log(model, facts), indent=1, default=str) + "\n")
        if target.exists():
            shutil.move(target, Path(place) / "old")
        os.replace(unfinished, target)
    return target


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuse a folder that cannot be written or must not be replaced, before any work.

    Examples
    --------
    >>> check_folder("no/such/place", overwrite=False)
    Traceback (most recent call last):
    FileNotFoundError: there is no folder 'no/such' to make 'place' in: make it first.
    """
    target = Path(folder)
    parent = target.absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(target.parent)!r} to make {target.name!r} in: make it first."
        )
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"the folder {str(target.parent)!r} may not be written to: choose another.")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return target
    if not target.is_dir():
        raise FileExistsError(f"{str(target)!r} is a file: give the name of a folder.")
    if not overwrite:
        raise FileExistsError(
            f"the folder {str(target)!r} exists: choose another, or replace it with overwrite."
        )
    if not (target / "log.json").exists() or not (target / "model.nc").exists():
        raise FileExistsError(
            f"the folder {str(target)!r} was not made by this package, so it is not replaced: choose another."
        )
    return target


def require_figure_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of figures that cannot be written."""
    for kind in kinds:
        if kind not in FIGURE_KINDS:
            raise ValueError(f"figures can be {', '.join(FIGURE_KINDS)}; got {kind!r}.")


def tidy_tables(result: Result) -> dict[str, pd.DataFrame]:
    """Loadings, patterns and strengths as long tables with the user's labels, one value a line.

    Factors are those for eyes: loadings and patterns of unit length, all size in the strengths.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, shape=(20, 20, 6))
    >>> model = tp.CP(rank=2, n_starts=1, random_state=0).fit(data.X)
    >>> list(tidy_tables(model.result_)["strengths"].columns)
    ['time', 'component', 'strength', 'undetermined']
    """
    import pandas as pd

    view = result.normalised()
    K, R = np.shape(view.C)
    names = result.labels.names
    rows = result.labels.coordinate("rows", len(view.A))
    times = result.labels.coordinate("time", K)
    component = np.arange(1, R + 1)
    loadings = pd.DataFrame(
        {
            names["rows"]: np.repeat(rows, R),
            "component": np.tile(component, len(rows)),
            "loading": np.asarray(view.A).ravel(),
        }
    )
    strengths = pd.DataFrame(
        {
            names["time"]: np.repeat(times, R),
            "component": np.tile(component, K),
            "strength": np.asarray(view.C).ravel(),
            "undetermined": result.undetermined_patterns.ravel(),
        }
    )
    patterns = pd.concat([_pattern_lines(result, view.B[k], times[k]) for k in range(K)], ignore_index=True)
    return {
        "loadings": loadings,
        "patterns": patterns,
        "strengths": strengths,
        "starts": result.starts_table(),
    }


def _pattern_lines(result: Result, pattern: Any, time: Any) -> pd.DataFrame:
    import pandas as pd

    J, R = np.shape(pattern)
    names = result.labels.names
    labels = result.labels.columns
    columns = labels if labels is not None and len(labels) == J else np.arange(J)
    return pd.DataFrame(
        {
            names["time"]: np.repeat(np.asarray([time]), J * R),
            names["columns"]: np.repeat(columns, R),
            "component": np.tile(np.arange(1, R + 1), J),
            "weight": np.asarray(pattern).ravel(),
        }
    )


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


def _log(model: Decomposition, facts: Mapping[str, Any]) -> dict[str, Any]:
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
        "notes": list(result.notes),
    }
