"""Arrays of files with their labels, which must be as good as those of tables."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Labels, Mode, shown
from tparafac2.data.labels import named_array
from tparafac2.data.times import times_of_one_kind

if TYPE_CHECKING:
    import xarray as xr


def array_of_file(file: str, stack: NDArray[Any], labels: Labels, name: Hashable) -> xr.DataArray:
    """Give what a file holds as a labelled array; text that is numbers or dates throughout tells the time.

    Examples
    --------
    >>> import numpy as np
    >>> labels = Labels(time=["2021-05-01", "2020-12-31"])
    >>> array_of_file("votes.npz", np.ones((2, 3, 4)), labels, "X").time.dtype.kind
    'M'
    >>> array_of_file("votes.npz", np.ones((1, 3, 4)), Labels(), "X")
    Traceback (most recent call last):
    ValueError: 'votes.npz' holds one time only: at least two are needed. Is it said rightly which dimension
    is time?
    """
    if len(stack) < 2:
        raise ValueError(
            f"{file!r} holds {'one time only' if len(stack) else 'no time'}: at least two are needed. "
            "Is it said rightly which dimension is time?"
        )
    if labels.time is not None:
        labels = replace(labels, time=_as_times(file, labels.time))
    for mode in MODES:
        if (found := getattr(labels, mode)) is not None:
            _require_distinct(file, mode, found)
    return named_array(stack, labels, name)


def _as_times(file: str, labels: NDArray[Any]) -> NDArray[Any]:
    if not all(isinstance(label, str) for label in labels):
        return labels
    times, usable = times_of_one_kind(labels)
    if usable.all():
        return times
    if usable.any():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"{file!r}: label {bad + 1} of time, {shown(labels[bad])}, cannot be read as a time, and "
            "others can: write all of them as numbers, all as dates such as 2024-12-31, or none."
        )
    return labels  # these are names


def _require_distinct(file: str, mode: Mode, labels: NDArray[Any]) -> None:
    import pandas as pd

    column = pd.Series(labels)
    missing = (column.isna() | (column == "")).to_numpy()
    if missing.any():
        raise ValueError(
            f"{file!r}: label {int(np.argmax(missing)) + 1} of {mode} is missing: give every one its label."
        )
    repeated = column.duplicated().to_numpy()
    if repeated.any():
        second = int(np.argmax(repeated))
        first = int(np.argmax((column == column[second]).to_numpy()))
        raise ValueError(
            f"{file!r}: labels {first + 1} and {second + 1} of {mode} are both {shown(labels[second])}: "
            "give every one its own, or put together what belongs together."
        )
