"""What was found, in a folder: of one model with tables, figures and page, or of several side by side."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2 import __version__
from tparafac2.io.folders import folder_written_whole
from tparafac2.io.textfiles import write_csv
from tparafac2.plots.subject import as_result
from tparafac2.result import Band, Kind, Result, notes
from tparafac2.words import PYTHON, Words

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.models import Decomposition

FIGURE_KINDS = ("png", "pdf", "svg")
_DISTINCTIVE = 10
"""Columns of each component and time that are listed as what sets it apart."""
_OURS = ("component", "name", "loading", "weight", "strength", "undetermined", "lower", "upper")


def write_results(
    model: Decomposition,
    folder: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    figures: str | Sequence[str] = ("png",),
    models: Mapping[str, Decomposition] | None = None,
    data: Any = None,
    overwrite: bool = False,
    words: Words = PYTHON,
) -> Path:
    """Write a folder that can be shown around.

    It appears at one stroke, complete or not at all.

    Parameters
    ----------
    model : fitted model
    folder : path
        ``model.npz``, tidy tables ``loadings.csv``, ``patterns.csv``, ``strengths.csv`` and
        ``distinctive.csv``, ``figures``, the page ``report.html``, and ``log.json`` with what was done. Where
        something else is known of the rows, what components have to do with it (``associations.csv``, see
        `Decomposition.associations`). Where it was measured, how far to trust
        each component (``components.csv``); where `choose` took the settings, all that were tried
        (``choice.csv``) and how replicable their components are (``choice_components.csv``). Where there are
        intervals, those of all numbers, and of changes (``moves.csv``, ``contrasts.csv``). Where
        patterns change suddenly, when and by how much (``changes.csv``). In the tables
        an apostrophe stands before labels that a spreadsheet would run as formulas; `read` takes it away.
    about : mapping, optional
        Facts for page and log: where the data came from, the command, what was assumed.
    figures : "png", "pdf", "svg", or a sequence of them
    models : mapping of label to model, optional
        Others to keep beside it, in ``models``: those of a choice, for example.
    data : optional
        The data of the fit, for the page: see `tparafac2.report.write_page`.
    overwrite : bool
        Replace an existing folder, if it holds nothing but what was written there last, unchanged since.
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
    ...     sorted(path.name for path in folder.iterdir() if path.suffix != ".csv")
    ['log.json', 'model.npz', 'report.html']
    """
    from tparafac2.models import Decomposition
    from tparafac2.report import write_page

    if not isinstance(model, Decomposition):
        raise TypeError(f"model must be a fitted model, such as TParafac2; got {type(model).__name__}.")
    kinds = (figures,) if isinstance(figures, str) else tuple(figures)
    require_figure_kinds(kinds)
    _ = model.result_  # or it says that it is not fitted
    log = _log(about or {}, _done(model, words))
    with folder_written_whole(folder, log, overwrite=overwrite) as unfinished:
        _write_tables(model, unfinished)
        if kinds:
            _draw(model, unfinished / "figures", kinds)
        told = {name: fact for name, fact in (about or {}).items() if name != "title"}
        page: dict[str, Any] = {"title": (about or {}).get("title"), "about": told, "words": words}
        write_page(model, unfinished / "report.html", **page, data=data)
        _save_all(models or {}, unfinished / "models")
    return Path(folder)


def _write_tables(model: Decomposition, folder: Path) -> None:
    model.save(folder / "model.npz")
    for name, table in tidy_tables(model).items():
        write_csv(table, folder / f"{name}.csv")
    if (found := _associations(model.result_)) is not None:
        write_csv(found, folder / "associations.csv")


def _done(model: Decomposition, words: Words) -> dict[str, Any]:
    """What came out, for the log."""
    result = model.result_
    return {
        "model": repr(model),
        "random_state": model.random_state,
        "status": result.status,
        "objective": result.objective,
        "explained_variance": result.explained_variance,
        "observed_share": result.observed_share,
        "notes": list(notes(result.findings, words)),
        "findings": [finding.as_dict() for finding in result.findings],
    }


def _associations(result: Result) -> pd.DataFrame | None:
    """What components have to do with what else is known of the rows, if anything is."""
    from tparafac2.inference import associations

    if not result.labels.attributes:
        return None
    found = associations(result)
    if not len(found):
        return None
    return found if result.component_names else found.drop(columns="name")


def _save_all(models: Mapping[str, Decomposition], folder: Path) -> None:
    """A file for each model, if there is any."""
    for place, (label, model) in enumerate(models.items(), start=1):
        folder.mkdir(exist_ok=True)
        model.save(folder / _file_name(place, label))


def require_figure_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of figures that cannot be written."""
    for kind in kinds:
        if kind not in FIGURE_KINDS:
            raise ValueError(f"figures can be {', '.join(FIGURE_KINDS)}; got {kind!r}.")


def _draw(model: Decomposition, folder: Path, kinds: Sequence[str]) -> None:
    from tparafac2 import plots
    from tparafac2.plots.figures import off_screen

    folder.mkdir()
    with off_screen():
        drawn: dict[str, Any] = {"strengths": plots.strengths(model), "convergence": plots.convergence(model)}
        for r in range(1, model.rank + 1):
            drawn[f"pattern-{r}"] = plots.pattern(model, r)
            drawn[f"movers-{r}"] = plots.movers(model, r)
            drawn[f"loadings-{r}"] = plots.loadings(model, r)
        if model.result_.choice is not None:
            drawn["choice"] = plots.choice(model)
    for name, axes in drawn.items():
        for kind in kinds:
            plots.save(axes, folder / f"{name}.{kind}")


def write_comparison(
    models: Mapping[str, Decomposition],
    table: pd.DataFrame,
    folder: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    words: Words = PYTHON,
) -> Path:
    """Keep compared models: a folder with their table, and a file of each for `load`.

    It appears at one stroke, complete or not at all.

    Parameters
    ----------
    models : mapping of label to model
        As they were given to `compare_models`.
    table : DataFrame
        What it gave back; models without a line are not kept.
    folder : path
        ``comparison.csv``, the table with a further column `file`; the models that it names; and
        ``log.json`` with what was done.
    about : mapping, optional
        Facts for the log: where the data came from, the command.
    overwrite : bool
        Replace an existing folder, if it holds nothing but what was written there last, unchanged since.
    words : Words
        What arguments are called in the log; the command line has words of its own.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20).X
    >>> models = {f"rank {r}": tp.CP(r, n_starts=2, random_state=0) for r in (1, 2)}
    >>> table = tp.compare_models(models, X)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = write_comparison(models, table, Path(place) / "ranks")
    ...     sorted(path.name for path in folder.iterdir())
    ['1-rank-1.npz', '2-rank-2.npz', 'comparison.csv', 'log.json']
    """
    labels = table["model"].to_list() if len(table.columns) else []
    files = [_file_name(place, label) for place, label in enumerate(labels, start=1)]
    kept = {
        label: {"model": repr(models[label]), "notes": list(notes(models[label].findings_, words))}
        for label in labels
    }
    log = _log(about or {}, {"models": kept})
    with folder_written_whole(folder, log, overwrite=overwrite) as unfinished:
        for label, file in zip(labels, files):
            models[label].save(unfinished / file)
        write_csv(table.assign(file=files), unfinished / "comparison.csv")
    return Path(folder)


def _file_name(place: int, label: str) -> str:
    """What the file of one of several models is called, on any system."""
    plain = re.sub(r"[^\w.+-]+", "-", label, flags=re.ASCII).strip("-.")[:80]
    return f"{place}-{plain or 'model'}.npz"


def _log(about: Mapping[str, Any], done: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tparafac2": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "about": dict(about),
        **done,
    }


def tidy_tables(model: object) -> dict[str, pd.DataFrame]:
    """Loadings, patterns and strengths as long tables with the user's labels, one value a line.

    Factors are those for eyes: loadings and patterns of unit length, all size in the strengths. Labels stand
    under the user's name for them, with "_" appended where a column of ours has that name.

    Parameters
    ----------
    model : fitted model or Result

    Returns
    -------
    dict of str to DataFrame
        "loadings", "patterns", "strengths", the ten most "distinctive" columns of each component and time
        (see `Result.distinctive`), and the account of the "starts"; where it was measured, how far
        to trust the "components"; where `choose` took the settings, its "choice" and "choice_components".
        Where there are intervals, their ends as "lower" and "upper", and "moves" and "contrasts" with bands
        of changes. Where patterns change suddenly, the "changes": which component, between which times,
        the share of all its change, and how alike the patterns before and after are.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=1, random_state=0).fit(data.X)
    >>> list(tidy_tables(model)["strengths"].columns)
    ['time', 'component', 'strength', 'undetermined']
    """
    import pandas as pd

    result = as_result(model)
    A, B, C = result.normalised()
    names = _names(result)
    rows = result.labels.coordinate("rows", len(A))
    times = result.labels.coordinate("time", len(C))
    columns = result.labels.columns
    patterns = []
    for k, pattern in enumerate(B):
        J = len(pattern)
        own = columns if columns is not None and len(columns) == J else np.arange(J)
        labels = {names["time"]: np.repeat(times[k : k + 1], J), names["columns"]: own}
        patterns.append(_lines(result, labels, "weight", pattern, _ends(result, "patterns", k)))
    strengths = _lines(result, {names["time"]: times}, "strength", C, _ends(result, "strengths"))
    loadings = loading_lines(result, rows, A, _ends(result, "loadings"))
    return {
        "loadings": _with_attributes(result, loadings),
        "patterns": pd.concat(patterns, ignore_index=True),
        "strengths": strengths.assign(undetermined=result.undetermined_patterns.ravel()),
        "starts": result.starts_table(),
        "distinctive": _distinctive(result),
        **_trust_tables(result),
        **_change_tables(result),
        **_jump_table(result),
    }


def _ends(result: Result, name: str, at: Any = ...) -> dict[str, Any]:
    """The ends of a band, where there is one."""
    band: Band | None = None if result.intervals is None else getattr(result.intervals, name)
    return {} if band is None else {"lower": band.lower[at], "upper": band.upper[at]}


def _change_tables(result: Result) -> dict[str, pd.DataFrame]:
    """Bands of the largest rise and fall of every column, and of the changes that were asked for."""
    import pandas as pd

    bands = result.intervals
    if bands is None:
        return {}
    K, _, J = result.shape
    columns, times = result.labels.coordinate("columns", J), result.labels.coordinate("time", K)
    tables = []
    for what, band, ends in (
        ("rise", bands.rises, bands.rise_times),
        ("fall", bands.falls, bands.fall_times),
    ):
        j, r = (index.ravel() for index in np.indices(band.centre.shape))
        begin, end = (times[place.ravel()] for place in ends)
        place = {"component": r + 1, "column": columns[j], "move": what, "from": begin, "to": end}
        numbers = {"change": band.centre.ravel(), "lower": band.lower.ravel(), "upper": band.upper.ravel()}
        tables.append(pd.DataFrame(place | numbers | {"includes_zero": band.includes_zero.ravel()}))
    found = {"moves": _with_names(result, pd.concat(tables, ignore_index=True))}
    if bands.asked:
        found["contrasts"] = _with_names(result, bands.contrast_table(columns, times))
    return found


def _jump_table(result: Result) -> dict[str, pd.DataFrame]:
    """Change points: where patterns change suddenly, if they may and do."""
    import pandas as pd

    found = [one for one in result.findings if one.kind is Kind.SUDDEN]
    if not found:
        return {}
    lines = [
        {"component": one.component, "from": one.times[0], "to": one.times[1], **one.numbers} for one in found
    ]
    return {"changes": _with_names(result, pd.DataFrame(lines))}


def loading_lines(result: Result, rows: Any, A: Any, more: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Loadings as a long table: one line for each row and component."""
    return _lines(result, {_names(result)["rows"]: rows}, "loading", A, more)


def _with_attributes(result: Result, lines: pd.DataFrame) -> pd.DataFrame:
    """Loadings beside what else is known of their rows, with "_" appended to names that are taken."""
    for given, values in result.labels.attributes.items():
        name = given
        while name in lines:
            name += "_"
        lines[name] = np.repeat(values, result.rank)
    return lines


def _distinctive(result: Result) -> pd.DataFrame:
    """What sets each component apart at each time."""
    return _with_names(result, result.distinctive(n=_DISTINCTIVE))


def _with_names(result: Result, table: pd.DataFrame) -> pd.DataFrame:
    """A table with the names of components beside their numbers, if they have any."""
    if result.component_names:
        names = [result.component_names[number - 1] for number in table["component"]]
        table.insert(table.columns.get_loc("component") + 1, "name", names)
    return table


def _names(result: Result) -> dict[str, str]:
    """What the columns of labels are called, so that none has the name of another."""
    return {mode: name + "_" * (name in _OURS) for mode, name in result.labels.names.items()}


def _trust_tables(result: Result) -> dict[str, pd.DataFrame]:
    """What was measured of components and settings beyond the fit."""
    import pandas as pd

    tables: dict[str, Any] = {}
    if result.trust is not None and (measured := result.trust.by_component):
        numbers = np.arange(1, result.rank + 1)
        called = {"name": np.array(result.component_names)} if result.component_names else {}
        tables["components"] = {"component": numbers, **called, "share": result.shares, **measured}
    if result.choice is not None:
        tables["choice"] = result.choice["ranks"]
        tables["choice_settings"] = result.choice["tried"]
        tables["choice_components"] = result.choice["components"]
    return {name: pd.DataFrame(columns) for name, columns in tables.items() if columns}


def _lines(
    result: Result,
    labels: Mapping[str, Any],
    what: str,
    values: Any,
    more: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """One line for each label and component, with more numbers of the same shape beside the values."""
    import pandas as pd

    n, R = np.shape(values)
    lines = {name: np.repeat(column, R) for name, column in labels.items()}
    components: dict[str, Any] = {"component": np.tile(np.arange(1, R + 1), n)}
    if result.component_names:
        components["name"] = np.tile(np.array(result.component_names), n)
    numbers = {what: np.ravel(values)} | {name: np.ravel(one) for name, one in (more or {}).items()}
    return pd.DataFrame(lines | components | numbers)
