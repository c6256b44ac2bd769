"""What is done to data before a fit, and undone for fitted values after it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from tparafac2.data import MODES, FloatArray, Labels, Mode, Table, require_memory
from tparafac2.data.checks import require_finite_entries, require_numbers, require_stack
from tparafac2.data.labels import AXES, ORDER, SELECTION, dated_dims, labels_of, named_array, resolve_dims
from tparafac2.errors import InvalidValue
from tparafac2.large import Stored, stored_if_large
from tparafac2.preparing.adjustment import Adjustment
from tparafac2.preparing.in_blocks import adjusted_source
from tparafac2.preparing.steps import (
    Transform,
    Transformed,
    require_spread,
    spread_out,
    transform_dense,
    transform_sparse,
    transform_steps,
    undo_transform,
)
from tparafac2.words import Advice, Argument, Part, Setting

if TYPE_CHECKING:
    import xarray as xr

_TRANSFORMS = {
    "log1p": "log(1 + x) of every value x",
    "sqrt": "square root of every value",
    "share": "shares of the columns within each row and time",
    "clr": "centred log-ratios of the columns within each row and time",
}
_ONE = {"rows": "row", "columns": "column", "time": "time"}


@dataclass(frozen=True)
class Preparation:
    """What to do with values before a fit: transform, then center, then scale.

    Parameters
    ----------
    transform : "log1p", "sqrt", "share" or "clr", or several of them in order, optional
        ``log(1 + x)``; the square root; shares of the columns within each row and time; or centred log-ratios
        (logarithms, less their mean over the columns) within each row and time. Shares and log-ratios are
        taken over what is observed. Where all of a row is zero at some time, its shares are zero, too.
        Several are done one after the other: ``("share", "sqrt")`` takes square roots of shares.
    pseudocount : float, optional
        For "clr": added to every value that is observed; needed where there are zeros.
    center : "rows", "columns" or "time", optional
        Take off the mean of each row over all that is observed of it, in all columns and at all times; or of
        each column, or of each time.
    scale : "rows", "columns" or "time", optional
        Divide each row, column or time by its standard deviation, likewise.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[[1.0, 3.0]], [[2.0, np.nan]]])
    >>> prepared = Preparation(transform="log1p", center="columns").apply(X)
    >>> print(prepared.describe())
    log(1 + x) of every value x; then the mean of each column was taken off.
    >>> prepared.undo(prepared.data)
    array([[[ 1.,  3.]],
           [[ 2., nan]]])
    """

    transform: Transform | Sequence[Transform] | None = None
    pseudocount: float | None = None
    center: Mode | None = None
    scale: Mode | None = None

    def __post_init__(self) -> None:
        steps = transform_steps(self.transform)
        if isinstance(self.transform, Sequence) and not isinstance(self.transform, str):
            object.__setattr__(self, "transform", steps or None)  # so that equal preparations are equal
        for name, values, allowed in (
            ("transform", steps, get_args(Transform)),
            ("center", (self.center,), (*MODES, None)),
            ("scale", (self.scale,), (*MODES, None)),
        ):
            for value in values:
                if value not in allowed:
                    known = ", ".join(repr(one) for one in allowed if one is not None)
                    raise InvalidValue(
                        Argument(name),
                        f" must be one of {known}",
                        Advice("or_none", ", or None"),
                        f"; got {value!r}.",
                        received=value,
                    )
        if self.pseudocount is None:
            return
        if "clr" not in steps:
            got: list[Part] = ["; got ", Setting("transform", self.transform)] if steps else []
            raise InvalidValue(
                Setting("pseudocount", self.pseudocount),
                " is for ",
                Setting("transform", "clr"),
                " only",
                *got,
                ".",
                received=self.pseudocount,
            )
        number: object = self.pseudocount
        is_number = isinstance(number, int | float | np.number) and not isinstance(number, bool)
        if not (is_number and 0 < float(number) < math.inf):  # type: ignore[arg-type]
            raise InvalidValue(
                Argument("pseudocount"),
                f" must be a number above zero; got {self.pseudocount!r}.",
                received=self.pseudocount,
            )

    def apply(
        self, X: Table | xr.DataArray | np.typing.ArrayLike, *, dims: Mapping[str, Hashable] | None = None
    ) -> Prepared:
        """Prepare data, which are not changed themselves.

        Parameters
        ----------
        X : Table, xarray.DataArray, ndarray (K, I, J), or Stored
            NaN, and what is masked, is missing and stays so. Sparse slices of a Table stay sparse unless
            there is a clr. What is Stored, or stored and larger than memory, is prepared when it is read.
        dims : mapping, optional
            For a DataArray: which dimension is which, as in `fit`.

        Returns
        -------
        Prepared

        Raises
        ------
        ValueError, TypeError
            If values cannot be prepared: negative, infinite, zero for "clr", or all equal where they are to
            be scaled.
        MemoryError
            If sparse slices had to be made dense, and would not fit.
        """
        if isinstance(X, Table | Stored) and self == Preparation():
            return Prepared(self, X, selection=selection_of(X))
        stored = stored_if_large(X, dims)
        if stored is not None:
            return self._in_blocks(stored)
        given, steps = _take(X, dims), transform_steps(self.transform)
        if given.table is not None and given.is_sparse and "clr" not in steps:
            made = self._corrected(transform_sparse(given.values, steps), given.table)
        else:
            made = self._adjusted(transform_dense(given.dense(), steps, self.pseudocount), given)
        return replace(made, selection=selection_of(X))

    def describe(self) -> str:
        """Say in one sentence what is done; nothing, if that is nothing."""
        added = "" if self.pseudocount is None else f" ({self.pseudocount:g} added to every value)"
        parts = [_TRANSFORMS[one] + added * (one == "clr") for one in transform_steps(self.transform)]
        if self.center is not None:
            parts.append(f"the mean of each {_ONE[self.center]} was taken off")
        if self.scale is not None:
            parts.append(f"each {_ONE[self.scale]} was divided by its standard deviation")
        return "; then ".join(parts) + "." * bool(parts)

    def as_dict(self) -> dict[str, Any]:
        """Give the choices by name."""
        return asdict(self)

    def _corrected(self, made: Transformed, table: Table) -> Prepared:
        """Centre and scale sparse slices without filling in their zeros; see `Correction`."""
        slices = made.values
        require_finite_entries(slices)
        found = Adjustment.of_sparse(slices, self.center, self.scale)
        self._require_spread(found, table.labels)
        data = table.with_slices(slices, found.correction(slices))
        return Prepared(self, data, found.centers, found.scales, made.n_empty)

    def _in_blocks(self, stored: Stored) -> Prepared:
        """Prepare rows when they are read; what is to be known of all of them takes a pass or two."""
        steps = transform_steps(self.transform)
        source, n_empty = adjusted_source(
            stored, steps, self.pseudocount, (self.center, self.scale), self.least_size
        )
        found = source.adjustment
        self._require_spread(found, stored.labels)
        data = stored.read_through(source)
        return Prepared(self, data, found.centers, found.scales, n_empty, selection_of(stored))

    def _adjusted(self, made: Transformed, given: _Given) -> Prepared:
        found = Adjustment.of(made.values, self.center, self.scale, self.least_size)
        self._require_spread(found, given.labels)
        return Prepared(self, given.back(found.apply(made.values)), found.centers, found.scales, made.n_empty)

    @property
    def least_size(self) -> float:
        """How large transformed values are by nature: logarithms of size 1, also where all are equal."""
        return 1.0 if "clr" in transform_steps(self.transform) else 0.0

    def _require_spread(self, found: Adjustment, labels: Labels) -> None:
        if self.scale is not None:
            require_spread(found.flat, self.scale, labels)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data ready for a fit, and the way back: give it to `fit`, which keeps the way back with the model.

    Attributes
    ----------
    preparation : Preparation
    data : Table or xarray.DataArray
        With labels and times: a Table if the data were one, else an array (time, rows, columns).
    centers, scales : ndarray, optional
        Means that were taken off, and standard deviations that were divided by.
    n_empty : int
        For how many rows at a time there was nothing to take shares of.
    selection : str
        What was kept of larger data, for the record.
    """

    preparation: Preparation
    data: Any
    centers: FloatArray | None = None
    scales: FloatArray | None = None
    n_empty: int = 0
    selection: str = ""

    def undo(self, fitted: np.typing.ArrayLike) -> FloatArray:
        """Give fitted values (K, I, J), for example ``model.reconstruct()``, in the data's units: `undo`."""
        return undo(self.as_dict(), fitted)

    def describe(self) -> str:
        """Say in one sentence what was done; nothing, if that is nothing."""
        said = self.preparation.describe()
        if self.n_empty:
            said += (
                f" At {self.n_empty:,} pairs of a row and a time all values are zero, and so are the shares."
            )
        return said

    def as_dict(self) -> dict[str, Any]:
        """Give all that `undo` needs in plain values, to be kept in a file."""
        return self.preparation.as_dict() | {
            "centers": None if self.centers is None else self.centers.tolist(),
            "scales": None if self.scales is None else self.scales.tolist(),
            "selection": self.selection,
        }


def selection_of(X: Any) -> str:
    """Tell what was kept of larger data, of which these are a part, as `read` notes it."""
    given = X.X if isinstance(X, Stored) else X
    said = given.selection if isinstance(given, Table) else getattr(given, "attrs", {}).get(SELECTION, "")
    return said if isinstance(said, str) else ""


def as_prepared(X: Any) -> Any:
    """Data with what is to be recorded of how they came about, if there is anything; else as they are."""
    selection = "" if isinstance(X, Prepared) else selection_of(X)
    return Prepared(Preparation(), X, selection=selection) if selection else X


def describe_record(record: Mapping[str, Any]) -> str:
    """Say in one sentence how data were prepared, from the record of it.

    Examples
    --------
    >>> import numpy as np
    >>> describe_record(Preparation("sqrt").apply(np.ones((2, 1, 1))).as_dict())
    'square root of every value.'
    """
    done = Preparation(*(record[name] for name in ("transform", "pseudocount", "center", "scale"))).describe()
    kept = record.get("selection", "")  # files from before it do not have it
    return f"{kept}; {done}" if kept and done else f"{kept}." if kept else done


def undo(record: Mapping[str, Any], fitted: np.typing.ArrayLike) -> FloatArray:
    """Give fitted values in the units of the data, from the record of how these were prepared.

    Parameters
    ----------
    record : mapping
        As `Prepared.as_dict` gives it.
    fitted : ndarray (K, I, J)

    Returns
    -------
    ndarray (K, I, J)
        In the original units; for "share" and "clr" shares of the columns within each row and time, since
        their totals were not fitted. Where there was a transform, values that would be negative are zero.

    Examples
    --------
    >>> import numpy as np
    >>> record = Preparation(transform="sqrt").apply(np.array([[[4.0]], [[9.0]]])).as_dict()
    >>> undo(record, [[[2.0]], [[3.5]]])
    array([[[ 4.  ]],
           [[12.25]]])
    """
    values: FloatArray = np.array(fitted, dtype=np.float64)
    if values.ndim != len(ORDER):
        raise ValueError(
            f"fitted values must have three dimensions, (K, I, J) for time, rows and columns; got shape "
            f"{values.shape}."
        )
    for step, numbers, combine in (
        ("scale", record["scales"], np.multiply),
        ("center", record["centers"], np.add),
    ):
        mode = record[step]
        if mode is None:
            continue
        if values.shape[AXES[mode]] != len(numbers):
            raise ValueError(
                f"fitted values of shape {values.shape} (time, rows, columns) do not belong to data with "
                f"{len(numbers)} {'times' if mode == 'time' else mode}."
            )
        values = combine(values, spread_out(np.asarray(numbers), mode))
    for one in reversed(transform_steps(record["transform"])):
        values = undo_transform(values, one)
    return values


class _Given(NamedTuple):
    """Data as they came: a dense stack, or a list of slices of a Table."""

    values: Any
    labels: Labels
    table: Table | None = None
    name: Hashable = None

    @property
    def is_sparse(self) -> bool:
        return self.table is not None and not isinstance(self.values[0], np.ndarray)

    def dense(self) -> FloatArray:
        """One float64 array (K, I, J), which may be the data themselves: never write to it."""
        K, (I, J) = len(self.values), self.values[0].shape
        require_memory(
            3 * K * I * J * np.dtype(np.float64).itemsize,
            "Preparing the data as dense slices",
            "Sparse slices stay sparse with transform 'log1p', 'sqrt' or 'share'.",
        )
        stack = (
            np.stack([one.toarray() for one in self.values]) if self.is_sparse else np.asarray(self.values)
        )
        stack = stack.astype(np.float64, copy=False)
        if np.isinf(stack).any():
            raise ValueError(
                f"{int(np.isinf(stack).sum()):,} of {stack.size:,} values are infinite: replace them by "
                "numbers, or by NaN if they are missing."
            )
        return stack

    def back(self, values: Any) -> Any:
        """The values as data of the same kind, for a fit."""
        if self.table is not None:
            return self.table.with_slices(list(values))
        return named_array(np.array(values), self.labels, self.name)


def _take(X: Any, dims: Mapping[str, Hashable] | None) -> _Given:
    if isinstance(X, Table):
        return _Given(X.stored_slices() if X.correction is None else X.slices(), X.labels, X)
    is_labelled = type(X).__module__.startswith("xarray") and hasattr(X, "coords")
    if is_labelled and hasattr(X, "data_vars"):
        raise TypeError(f"X is an xarray.{type(X).__name__}; choose one of its arrays, X['name'].")
    if dims is not None and not is_labelled:
        raise ValueError(f"dims names the dimensions of an xarray.DataArray, but X is a {type(X).__name__}.")
    if not hasattr(X, "__array__"):
        raise TypeError(
            f"X is a {type(X).__name__}; give a Table, an xarray.DataArray or an array (K, I, J), "
            "for example np.stack([X_1, X_2, ...])."
        )
    labels, name = Labels(), None
    if is_labelled:
        found = resolve_dims(X.dims, dims, dated_dims(X))
        labels, name = labels_of(X, found), X.name
        X = X.transpose(*(found[mode] for mode in ORDER)).values
    hidden = np.ma.getmask(X)
    stack = np.asarray(X)
    require_stack(stack.shape)
    require_numbers(stack, "X")
    return _Given(stack if hidden is np.ma.nomask else np.where(hidden, np.nan, stack), labels, None, name)
