"""Names of rows, columns and time points, and arrays that say themselves which dimension is which."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.attributes import Attributes, join_attributes, settled

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
    attributes : mapping of str to 1-D array, optional
        What else is known of the rows: numbers (NaN is missing), or texts (None is missing).

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
    attributes: Attributes = field(default_factory=dict)

    def __post_init__(self) -> None:
        for mode in MODES:
            object.__setattr__(self, mode, _as_labels(mode, getattr(self, mode)))
        object.__setattr__(self, "names", _complete_names(self.names))
        object.__setattr__(self, "attributes", settled(self.attributes))

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
        for name, values in self.attributes.items():
            if len(values) != I:
                raise ValueError(f"the row attribute {name!r} has {len(values)} values for {I} rows.")

    def of_rows(self, rows: NDArray[np.intp]) -> Labels:
        """Labels of some rows."""
        return replace(
            self,
            rows=None if self.rows is None else self.rows[rows],
            attributes={name: values[rows] for name, values in self.attributes.items()},
        )

    def with_attributes(self, given: Any, n_rows: int) -> Labels:
        """The same labels with other attributes of the rows, from a table; see `join_attributes`."""
        return replace(self, attributes=join_attributes(given, self.rows, n_rows, self.names["rows"]))


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


_KNOWN_NAMES: dict[Mode, str] = {
    "rows": """
        row subject sample author station patient participant individual person people user student animal
        mouse mice site location place city cities country countries region customer document
    """,
    "columns": """
        column col feature word variable term token metabolite gene protein taxon taxa species microbe
        channel voxel roi product item indicator
    """,
    "time": """
        time t timepoint time_point timestamp datetime date year quarter month week day hour minute second
        period visit wave slice
    """,
}


def resolve_dims(
    received: Sequence[Hashable],
    given: Mapping[str, Hashable] | None = None,
    dated: Collection[Hashable] = (),
) -> dict[Mode, Hashable]:
    """Find the dimension of each mode from what the user says, from dates, and from names, in that order.

    Parameters
    ----------
    received : sequence of three names
        Dimensions of the labelled array.
    given : mapping, optional
        Modes the user named, for example ``{"time": "year"}``.
    dated : collection of names
        Dimensions whose labels are dates.

    Returns
    -------
    dict
        Name of the dimension of "rows", "columns" and "time".

    Examples
    --------
    >>> resolve_dims(("year", "author", "thing"))
    {'rows': 'author', 'columns': 'thing', 'time': 'year'}
    """
    if len(received) != len(MODES):
        raise ValueError(
            f"X has the dimensions {_quoted(received)}, but three are needed: rows, columns and time. "
            "If these are tables, stack slices with xarray.concat(tables, dim='time')."
        )
    found = _as_told(received, {} if given is None else given)
    if "time" not in found:
        _assign("time", [dim for dim in _unclaimed(received, found) if dim in dated], found)
    by_name: dict[Mode, list[Hashable]] = {
        mode: [dim for dim in _unclaimed(received, found) if is_called(dim, mode)]
        for mode in MODES
        if mode not in found
    }
    for mode, candidates in by_name.items():
        _assign(mode, candidates, found)
    missing = [mode for mode in MODES if mode not in found]
    if len(missing) == 1:
        _assign(missing[0], _unclaimed(received, found), found)
    elif missing:
        raise ValueError(_question(received, found))
    return {mode: found[mode] for mode in MODES}


def _as_told(received: Sequence[Hashable], given: Mapping[str, Hashable]) -> dict[Mode, Hashable]:
    if not isinstance(given, Mapping):
        raise TypeError(f"dims must be a mapping; got {given!r:.60}. {_question(received, {})}")
    for mode, dim in given.items():
        if mode not in MODES:
            raise ValueError(
                f"dims may have the keys {', '.join(MODES)}; got {mode!r}. {_question(received, {})}"
            )
        if dim not in received:
            raise ValueError(f"dims says {mode} is {dim!r}, which X does not have. {_question(received, {})}")
    if len(set(given.values())) < len(given):
        raise ValueError(f"dims uses one dimension twice: {dict(given)}. {_question(received, {})}")
    return {mode: given[mode] for mode in MODES if mode in given}


def _assign(mode: Mode, candidates: Sequence[Hashable], found: dict[Mode, Hashable]) -> None:
    # Two candidates are as good as none: the user is asked rather than guessed for.
    if len(candidates) == 1:
        found[mode] = candidates[0]


def _unclaimed(received: Sequence[Hashable], found: Mapping[Mode, Hashable]) -> list[Hashable]:
    return [dim for dim in received if dim not in found.values()]


def is_called(dim: Hashable, mode: Mode) -> bool:
    """Whether this is a usual name for rows, columns or time.

    Examples
    --------
    >>> is_called("Years", "time"), is_called("year", "rows")
    (True, False)
    """
    name = str(dim).strip().lower().replace("-", "_").replace(" ", "_")
    return not {name, name.removesuffix("s")}.isdisjoint(_KNOWN_NAMES[mode].split())


def _question(received: Sequence[Hashable], found: Mapping[Mode, Hashable]) -> str:
    left = iter(_unclaimed(received, found))
    example = {mode: found[mode] if mode in found else next(left) for mode in MODES}
    return (
        f"X has the dimensions {_quoted(received)}; say which are rows, columns and time by dims=, "
        f"for example dims={example}."
    )


def _quoted(received: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, received)) or "(none)"


if TYPE_CHECKING:
    import xarray as xr

ORDER: tuple[Mode, Mode, Mode] = ("time", "rows", "columns")
SELECTION = "tparafac2_selection"
"""Attribute of an array that says what was kept of a larger one."""


def told_largest(count: int, J: int, share: float) -> str:
    """Say how many columns were kept, and how much of the data they have.

    Examples
    --------
    >>> told_largest(60, 338, 0.9731)
    'kept the 60 largest of 338 columns, which have 97.3% of the sum of absolute values'
    """
    return (
        f"kept the {count:,} largest of {J:,} columns, which have {share:.1%} of the sum of absolute values"
    )


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
    coordinates: dict[str, Any] = {
        labels.names[mode]: _undated(found) if mode != "time" else found
        for mode in MODES
        if (found := getattr(labels, mode)) is not None
    }
    for attribute, values in labels.attributes.items():
        while attribute in (*coordinates, *labels.names.values()):
            attribute += "_"
        coordinates[attribute] = (labels.names["rows"], values)
    return xr.DataArray(stack, coordinates, [labels.names[mode] for mode in ORDER], name=name)


def labels_of(array: xr.DataArray, dims: dict[Mode, Hashable]) -> Labels:
    """Labels of a labelled array whose dimensions are known; other coordinates of rows are attributes."""
    found: dict[str, Any] = {
        mode: array.coords[dim].values for mode, dim in dims.items() if dim in array.coords
    }
    attributes = {
        str(name): coordinate.values
        for name, coordinate in array.coords.items()
        if coordinate.dims == (dims["rows"],) and name != dims["rows"]
    }
    names = {mode: str(dim) for mode, dim in dims.items()}
    return Labels(**found, names=names, attributes=attributes)


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
