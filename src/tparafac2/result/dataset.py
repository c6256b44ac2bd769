"""A result as labelled arrays in the user's own words, for eyes: whole, and its patterns at any time."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Labels, Lines, Mode, lines_through, padded
from tparafac2.result import parameters
from tparafac2.result.intervals import BANDS
from tparafac2.result.moments import Timeline, as_dates, moment_text, phases, read_moments, timeline
from tparafac2.result.record import CONVENTION, Result, unit_columns

if TYPE_CHECKING:
    import xarray as xr

_TRUST = {
    "replicability": "replicability",
    "alone": "replicability_alone",
    "stability": "stability",
    "verdict": "verdict",
}
"""What was measured of every component, and what it is called beside the factors."""
_VARIABLES = (
    *("loadings", "patterns", "strengths", "share", "width", "coverage", "undetermined"),
    *_TRUST.values(),
    *("rises", "falls"),
    *(f"{name}_{end}" for name in BANDS for end in ("lower", "upper")),
)
_FIXED = ("time_value", "row_weight", "component", "component_name", "trace_row", "start")
_ROUNDING_STEPS = 4
_UNITS = {
    "loadings": {"units": "every component has length 1"},
    "patterns": {"units": "every component has length 1 at every time"},
    "strengths": {"units": "those of the data that were fitted"},
    "share": {"units": "part of the sum of all components' strengths"},
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
        "loadings": ((rows, "component"), A, _UNITS["loadings"]),
        "patterns": ((time, columns, "component"), padded(B), _UNITS["patterns"]),
        "strengths": ((time, "component"), C, _UNITS["strengths"]),
        "share": ("component", result.shares, _UNITS["share"]),
        **tables,
    }
    for name, array in ({} if result.trust is None else result.trust.by_component).items():
        variables[_TRUST[name]] = ("component", array)
    variables |= _bands(result, dict(zip(("rows", "columns", "time"), (rows, columns, time))))
    if result.ragged:
        variables["width"] = (time, np.array(result.widths))
    if result.coverage is not None:
        variables["coverage"] = ((time, columns), result.coverage)
    if result.undetermined is not None:
        variables["undetermined"] = ((time, "component"), result.undetermined)
    if result.times is not None:
        coordinates["time_value"] = (time, result.times)
    if result.row_weights is not None:
        coordinates["row_weight"] = (rows, result.row_weights)
    for name, values in _attributes_of_rows(result, {*variables, *coordinates, *_FIXED}).items():
        coordinates[name] = (rows, values)
    coordinates["component"] = np.arange(1, result.rank + 1)
    if result.component_names:
        coordinates["component_name"] = ("component", np.array(result.component_names))
    return xr.Dataset(variables, coordinates, _attributes(result))


def _bands(result: Result, names: dict[str, str]) -> dict[str, Any]:
    """Both ends of every band, beside what it is of; changes with the centre of theirs."""
    variables: dict[str, Any] = {}
    for name, band in () if result.intervals is None else result.intervals.bands():
        if name == "contrasts":  # they have a table of their own
            continue
        dims = tuple(names.get(mode, mode) for mode in BANDS[name])
        if name in ("rises", "falls"):
            variables[name] = (dims, band.centre)
        variables[f"{name}_lower"], variables[f"{name}_upper"] = (dims, band.lower), (dims, band.upper)
    return variables


def dimensions(result: Result) -> dict[Mode, str]:
    """Name the dimensions of the data set."""
    return free_names(result.labels, {*_VARIABLES, *_FIXED, *_table_variables(result)})


def _attributes_of_rows(result: Result, taken: Collection[str]) -> dict[str, NDArray[Any]]:
    """What else is known of the rows, with "_" appended to names that are taken; "" is a missing text."""
    found: dict[str, NDArray[Any]] = {}
    for given, values in result.labels.attributes.items():
        name = given
        while name in taken or name in found:
            name += "_"
        texts = values.dtype.kind == "O"
        found[name] = np.array(["" if one is None else one for one in values]) if texts else values
    return found


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


def patterns_at(result: Result, t: object) -> xr.DataArray:
    """Give the patterns at any time, for eyes and with labels; see `Result.patterns_at`."""
    import xarray as xr

    optimised, moments, single = optimised_at(result, t)
    names = dimensions(result)
    when: NDArray[np.generic] = as_dates(moments) if timeline(result).dated else moments
    # A fit that went wrong may hold infinities: they become NaN, without noise.
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        units = [unit_columns(piece)[0] for piece in optimised]
    found = xr.DataArray(
        np.stack(units) if units else optimised,
        dims=(names["time"], names["columns"], "component"),
        coords={
            names["time"]: when,
            names["columns"]: result.labels.coordinate("columns", optimised.shape[1]),
            "component": np.arange(1, result.rank + 1),
        },
        name="patterns",
        attrs=_UNITS["patterns"],
    )
    return found[0] if single else found


def optimised_at(result: Result, t: object) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Give the optimised patterns (n, J, R) at any time, these times, and whether one was asked for.

    Squared changes divided by the gaps are least, for given patterns at the slices, on straight lines.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.array([[[0.0]], [[4.0]]]), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 times=np.array([10.0, 20.0]))
    >>> optimised_at(result, [10, 12.5])[0].ravel().tolist()
    [0.0, 1.0]
    >>> optimised_at(result, 21)
    Traceback (most recent call last):
    ValueError: the patterns are known from 10 to 20, and t = 21 is outside: give a time in this range.
    """
    if isinstance(result.B, list):
        raise ValueError(
            "there is nothing between slices that have columns of their own (B is a list): patterns_at needs "
            "a fit in which all slices have the same columns."
        )
    when = timeline(result)
    moments, single = read_moments(t, when.dated)
    lines = _lines(when, result.period)
    wanted = _snapped(when, moments, lines.times, result.period)
    if result.period is None:
        _require_within(wanted, lines.times, when.dated)
    return np.asarray(lines.at(result.B, wanted), dtype=np.float64), moments, single


def _lines(when: Timeline, period: float | None) -> Lines:
    """Lines through the times of the slices, which have to be known and different."""
    if not np.isfinite(when.values).all():
        raise ValueError(
            "the labels of time do not say when every slice was taken (some are NaN, NaT or infinite): "
            "fit with times=."
        )
    lines = lines_through(phases(when.values, period), period)
    same = np.flatnonzero(np.diff(lines.times) == 0)
    if len(same):
        first, second = sorted(lines.places[same[0] : same[0] + 2])
        raise ValueError(
            f"slices {first} and {second} were both taken at {moment_text(when.values[first], when.dated)}"
            f"{'' if period is None else f' (the period is {period:.15g})'}: "
            "fit with times= that are different."
        )
    return lines


def _snapped(
    when: Timeline, moments: NDArray[np.float64], known: NDArray[np.float64], period: float | None
) -> NDArray[np.float64]:
    """Move what differs from the time of a slice by rounding only (dates, whole periods) to that time."""
    wanted = phases(moments, period)
    nearest = known[np.searchsorted((known[1:] + known[:-1]) / 2, wanted)]
    size = np.maximum(np.abs(moments), np.abs(when.values).max())
    return np.where(np.abs(wanted - nearest) <= _ROUNDING_STEPS * np.spacing(size), nearest, wanted)


def _require_within(wanted: NDArray[np.float64], known: NDArray[np.float64], dated: bool) -> None:
    outside = wanted[(wanted < known[0]) | (wanted > known[-1])]
    if len(outside):
        first, last, t = (moment_text(float(value), dated) for value in (known[0], known[-1], outside[0]))
        raise ValueError(
            f"the patterns are known from {first} to {last}, and t = {t} is outside: "
            "give a time in this range."
        )
