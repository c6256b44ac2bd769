"""A result as one labelled data set, in the user's own words."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.data import MODES, Labels, Mode
from tparafac2.result import parameters
from tparafac2.result.record import Result

if TYPE_CHECKING:
    import xarray as xr

_VARIABLES = ("loadings", "patterns", "strengths", "width", "coverage", "undetermined")


def to_dataset(result: Result) -> xr.Dataset:
    """Give the result as a data set; see `Result.to_dataset`.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.data import Labels
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 labels=Labels(rows=["Ann", "Bo"], names={"rows": "author"}), objective=0.0,
    ...                 explained_variance=1.0, status="Converged.", converged=True, n_iter=1)
    >>> to_dataset(result).loadings.dims
    ('author', 'component')
    """
    import xarray as xr

    tables = _table_variables(result)
    fixed = {*_VARIABLES, "time_value", "component", "trace_row", "start", *tables}
    names = free_names(result.labels, fixed)
    rows, columns, time = (names[mode] for mode in MODES)
    K, I, J = result.shape
    coordinates: dict[str, Any] = {
        names[mode]: (names[mode], result.labels.coordinate(mode, size))
        for mode, size in zip(MODES, (I, J, K))
    }
    variables: dict[str, Any] = {
        "loadings": ((rows, "component"), result.A),
        "patterns": ((time, columns, "component"), padded_patterns(result)),
        "strengths": ((time, "component"), result.C),
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


def padded_patterns(result: Result) -> np.ndarray[Any, np.dtype[Any]]:
    """Give the patterns as one array (K, J, R), with NaN behind the end of narrower slices.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=[np.ones((1, 1)), np.ones((2, 1))],
    ...                 C=np.ones((2, 1)), objective=0.0, explained_variance=1.0, status="Converged.",
    ...                 converged=True, n_iter=1)
    >>> padded_patterns(result)[..., 0].tolist()
    [[1.0, nan], [1.0, 1.0]]
    """
    if not isinstance(result.B, list):
        return result.B
    K, _, J = result.shape
    padded = np.full((K, J, result.rank), np.nan, dtype=np.result_type(*result.B))
    for target, piece in zip(padded, result.B):
        target[: len(piece)] = piece
    return padded


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
