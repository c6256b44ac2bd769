"""A result as one labelled data set, in the user's own words and for eyes: unit loadings and patterns."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.data import MODES, Labels, Mode, padded
from tparafac2.result import parameters
from tparafac2.result.record import CONVENTION, Result

if TYPE_CHECKING:
    import xarray as xr

_VARIABLES = ("loadings", "patterns", "strengths", "width", "coverage", "undetermined")
UNITS = {
    "loadings": {"units": "every component has length 1"},
    "patterns": {"units": "every component has length 1 at every time"},
    "strengths": {"units": "those of the data that were fitted"},
}


def to_dataset(result: Result) -> xr.Dataset:
    """Give the result as a data set; see `Result.to_dataset`.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import Labels
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 labels=Labels(rows=["Ann", "Bo"], names={"rows": "author"}), objective=0.0,
    ...                 explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> to_dataset(result).loadings.dims
    ('author', 'component')
    """
    import xarray as xr

    tables = _table_variables(result)
    names = dimensions(result)
    rows, columns, time = (names[mode] for mode in MODES)
    K, I, J = result.shape
    coordinates: dict[str, Any] = {
        names[mode]: (names[mode], result.labels.coordinate(mode, size))
        for mode, size in zip(MODES, (I, J, K))
    }
    A, B, C = result.normalised()
    variables: dict[str, Any] = {
        "loadings": ((rows, "component"), A, UNITS["loadings"]),
        "patterns": ((time, columns, "component"), padded(B), UNITS["patterns"]),
        "strengths": ((time, "component"), C, UNITS["strengths"]),
        **tables,
    }
    if result.ragged:
        variables["width"] = (time, np.array(result.widths))
    if result.coverage is not None:
        variables["coverage"] = ((time, columns), result.coverage)
    if result.undetermined is not None:
        variables["undetermined"] = ((time, "component"), result.undetermined)
    if result.times is not None:
        coordinates["time_value"] = (time, result.times)
    coordinates["component"] = np.arange(1, result.rank + 1)
    return xr.Dataset(variables, coordinates, _attributes(result))


def dimensions(result: Result) -> dict[Mode, str]:
    """Name the dimensions of the data set."""
    fixed = {*_VARIABLES, "time_value", "component", "trace_row", "start", *_table_variables(result)}
    return free_names(result.labels, fixed)


def free_names(labels: Labels, taken: Collection[str]) -> dict[Mode, str]:
    """Name the dimensions as the user does, with "_" appended where a name is taken.

    Examples
    --------
    >>> free_names(Labels(names={"rows": "start", "time": "start_"}), {"start"})
    {'rows': 'start__', 'columns': 'columns', 'time': 'start_'}
    """
    names = dict(labels.names)
    for mode in MODES:
        others = {*taken, *(name for other, name in names.items() if other != mode)}
        while names[mode] in others:
            names[mode] += "_"
    return {mode: names[mode] for mode in MODES}


def _table_variables(result: Result) -> dict[str, Any]:
    trace = {f"trace_{name}": ("trace_row", column) for name, column in result.trace.items()}
    starts = {_start_name(name): ("start", column) for name, column in result.starts.items()}
    return {**trace, **starts}


def _start_name(column: str) -> str:
    # The numbers of the starts are the labels of their dimension.
    return "start" if column == "start" else f"start_{column}"


def _attributes(result: Result) -> dict[str, Any]:
    return {
        "model": result.model,
        "convention": CONVENTION,
        "status": result.status,
        "objective": result.objective,
        "explained_variance": result.explained_variance,
        "converged": int(result.converged),  # files know no truth values in attributes
        "n_iter": result.n_iter,
        "observed_share": result.observed_share,
        **({} if result.period is None else {"period": result.period}),
        **{f"feasibility_gap_{mode}": gap for mode, gap in result.feasibility_gaps.items()},
        "parameters": parameters.to_text(result.parameters),
        "notes": "\n".join(result.notes),
    }
