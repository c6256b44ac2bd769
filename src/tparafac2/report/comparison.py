"""The page of a comparison: models side by side, and which component of one is which of the next."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tparafac2.data import listed
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.plots.subject import as_result
from tparafac2.report.assembly import Kit, assembled, checked_target, write_text
from tparafac2.report.notebook import PageView, require_height
from tparafac2.report.side_by_side import side_by_side
from tparafac2.result import Result
from tparafac2.words import PYTHON, Argument, Words

if TYPE_CHECKING:
    import pandas as pd

_KIT = Kit(
    "comparison.html",
    ("page.css", "comparison.css"),
    ("data.js", "dom.js", "charts.js", "downloads.js", "flow.js", "comparison.js"),
)
_TITLE = "Models side by side"


def write_comparison(
    models: Mapping[str, object],
    path: str | os.PathLike[str],
    *,
    table: pd.DataFrame | None = None,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    words: Words = PYTHON,
) -> Path:
    """Write models of the same data side by side as one HTML file that opens offline.

    It has what was measured of each, and a flow of components from each model to the next: which is which,
    which fall into parts, and which are new. Like the page of a fit it loads nothing from elsewhere.

    Parameters
    ----------
    models : mapping of label to fitted model or Result
        In the order in which neighbours are compared, such as by rank.
    path : path
        In an existing folder, ending in ".html". An older file is replaced.
    table : DataFrame, optional
        What `compare_models` gave back; models without a line in it are left out.
    title : str, optional
    about : mapping, optional
        Further facts by name, shown under "What was done".
    words : Words
        What arguments are called; the command line has words of its own.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    TypeError, ValueError
        If there are no fitted models, or they are not of the same data; or no page can be written there.

    Examples
    --------
    >>> import tempfile
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20).X
    >>> models = {f"rank {r}": tp.TParafac2(r, n_starts=2, random_state=0) for r in (1, 2)}
    >>> table = tp.compare_models(models, X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_comparison(models, Path(folder) / "ranks.html", table=table)
    ...     "rank 2" in page.read_text()
    True
    """
    target = checked_target(path)
    write_text(target, comparison_text(models, table, title, about, words))
    return target


def explore_comparison(
    models: Mapping[str, object],
    *,
    table: pd.DataFrame | None = None,
    title: str | None = None,
    height: int = 800,
) -> PageView:
    """Show models side by side inside a notebook: see `write_comparison`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20).X
    >>> explore_comparison({str(r): tp.CP(r, n_starts=1, random_state=0).fit(X) for r in (1, 2)})
    PageView(height=800)
    """
    require_height(height)
    return PageView(comparison_text(models, table, title), height)


def comparison_text(
    models: Mapping[str, object],
    table: pd.DataFrame | None = None,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    words: Words = PYTHON,
) -> str:
    """The whole page as text of ASCII; see `write_comparison`."""
    if not isinstance(models, Mapping):
        raise InvalidType(
            Argument("models"),
            f" must be a mapping of labels to fitted models; got {type(models).__name__}. What "
            "compare_models gives is for table=; the models that it was given are fitted now.",
        )
    measured = None if table is None else _measured(table)
    results = {
        str(label): as_result(model)
        for label, model in models.items()
        if measured is None or str(label) in measured
    }
    _require_same_data(results)
    shown_title = _TITLE if title is None else str(title)
    known = _of_results(results) if measured is None else measured
    content = side_by_side(results, known, title=shown_title, about=about or {}, words=words)
    return assembled(_KIT, shown_title, content)


def _measured(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    if "model" not in getattr(table, "columns", ()):
        raise InvalidValue(Argument("table"), " must be what compare_models gives back, with a column model.")
    return {str(line.pop("model")): line for line in table.to_dict("records")}


def _of_results(results: Mapping[str, Result]) -> dict[str, dict[str, Any]]:
    """What results know of themselves."""
    return {
        label: {
            "explained_variance": result.explained_variance,
            "converged": result.converged,
            "iterations": result.n_iter,
        }
        for label, result in results.items()
    }


def _require_same_data(results: Mapping[str, Result]) -> None:
    if not results:
        raise InvalidValue(Argument("models"), " has no model to show: give at least one that was fitted.")
    sizes = dict.fromkeys((len(one.A), one.widths) for one in results.values())
    if len(sizes) > 1:
        shapes = [f"{label!r}: {result.shape}" for label, result in results.items()]
        raise InvalidValue(
            Argument("models"), f" must be of the same data; their shapes (K, I, J) are {listed(shapes)}."
        )
