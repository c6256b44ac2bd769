"""Stacks of slices as labelled arrays that say themselves which dimension is which."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dimensions import resolve_dims
from tparafac2.data.labels import MODES, Labels, Mode

if TYPE_CHECKING:
    import xarray as xr

ORDER: tuple[Mode, Mode, Mode] = ("time", "rows", "columns")
SELECTION = "tparafac2_selection"
"""Attribute of an array that says what was kept of a larger one."""

AXES: dict[Mode, int] = {mode: axis for axis, mode in enumerate(ORDER)}


def named_array(stack: NDArray[Any], labels: Labels, name: Hashable = None) -> xr.DataArray:
    """Give an array that `fit` understands without further words.

    Parameters
    ----------
    stack : ndarray (K, I, J)
    labels : Labels
        Its names of the dimensions are kept if they tell which is which, as "author", "word" and "year" do;
        else the dimensions are called rows, columns and time.
    name : hashable, optional
        Name of the array.

    Returns
    -------
    DataArray

    Examples
    --------
    >>> import numpy as np
    >>> named_array(np.ones((2, 1, 3)), Labels(names={"time": "year", "rows": "author"})).dims
    ('year', 'author', 'columns')
    >>> named_array(np.ones((2, 1, 3)), Labels(names={"time": "z", "rows": "y", "columns": "x"})).dims
    ('time', 'rows', 'columns')
    """
    import xarray as xr

    labels.check(stack.shape)
    if not _tells(labels):
        labels = replace(labels, names={})
    coordinates = {
        labels.names[mode]: _undated(found) if mode != "time" else found
        for mode in MODES
        if (found := getattr(labels, mode)) is not None
    }
    return xr.DataArray(stack, coordinates, [labels.names[mode] for mode in ORDER], name=name)


def labels_of(array: xr.DataArray, dims: dict[Mode, Hashable]) -> Labels:
    """Labels of a labelled array whose dimensions are known."""
    found = {mode: array.coords[dim].values for mode, dim in dims.items() if dim in array.coords}
    return Labels(**found, names={mode: str(dim) for mode, dim in dims.items()})


def dated_dims(array: xr.DataArray) -> list[Hashable]:
    """Dimensions whose labels are dates."""
    return [dim for dim in array.dims if dim in array.coords and array.coords[dim].dtype.kind == "M"]


def _tells(labels: Labels) -> bool:
    names = labels.names
    dated = [names["time"]] if labels.time is not None and labels.time.dtype.kind == "M" else []
    try:
        return resolve_dims([names[mode] for mode in ORDER], dated=dated) == names
    except ValueError:
        return False


def _undated(labels: NDArray[Any]) -> NDArray[Any]:
    # Dates are taken for time wherever they stand.
    return np.datetime_as_string(labels, unit="auto") if labels.dtype.kind == "M" else labels
