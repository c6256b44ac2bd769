"""Names of the rows, columns and time points, and of the dimensions themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mode: TypeAlias = Literal["rows", "columns", "time"]
MODES: tuple[Mode, ...] = ("rows", "columns", "time")


@dataclass(frozen=True, eq=False)
class Labels:
    """What the user calls the rows, columns and time points.

    Parameters
    ----------
    rows, columns, time : 1-D array, optional
        One label for each; None where there are none.
    names : mapping, optional
        Names of the dimensions, by mode; "rows", "columns" and "time" where not given.

    Examples
    --------
    >>> labels = Labels(rows=["Ann", "Bo"], names={"rows": "author"})
    >>> labels.coordinate("rows", 2)
    array(['Ann', 'Bo'], dtype='<U3')
    >>> labels.coordinate("time", 3), labels.names["rows"], labels.names["time"]
    (array([0, 1, 2]), 'author', 'time')
    """

    rows: NDArray[Any] | None = None
    columns: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    names: Mapping[Mode, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for mode in MODES:
            object.__setattr__(self, mode, _as_labels(mode, getattr(self, mode)))
        object.__setattr__(self, "names", _complete_names(self.names))

    def coordinate(self, mode: Mode, size: int) -> NDArray[Any]:
        """Labels of one mode, or 0, 1, ..., size - 1 where there are none.

        Parameters
        ----------
        mode : "rows", "columns" or "time"
        size : int
            How many labels the data need.

        Returns
        -------
        ndarray (size,)
        """
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got {mode!r}.")
        labels: NDArray[Any] | None = getattr(self, mode)
        if labels is None:
            return np.arange(size)
        if len(labels) != size:
            raise ValueError(
                f"{mode} has {len(labels)} labels, but the data need {size}: give one label for each."
            )
        return labels

    def check(self, shape: tuple[int, int, int]) -> None:
        """Refuse labels that do not fit data of shape (K, I, J)."""
        K, I, J = shape
        self.coordinate("rows", I)
        self.coordinate("columns", J)
        self.coordinate("time", K)


def _as_labels(mode: Mode, given: Any) -> NDArray[Any] | None:
    if given is None:
        return None
    labels = np.array(given)
    if labels.ndim != 1:
        raise ValueError(f"labels of {mode} must be one-dimensional; got an array of shape {labels.shape}.")
    labels.flags.writeable = False
    return labels


def _complete_names(given: Mapping[Mode, str]) -> dict[Mode, str]:
    unknown = [mode for mode in given if mode not in MODES]
    if unknown:
        raise ValueError(f"names may have the keys {', '.join(MODES)}; got {unknown[0]!r}.")
    names = {mode: str(given.get(mode, mode)) for mode in MODES}
    if len(set(names.values())) < len(MODES):
        raise ValueError(f"rows, columns and time need three different names; got {names}.")
    return names
