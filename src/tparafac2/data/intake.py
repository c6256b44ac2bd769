"""The door: whatever the user has becomes data with labels, or is refused with a sentence."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tparafac2.data.checks import (
    Mask,
    ObservedSlices,
    WeightedSlices,
    require_finite_entries,
    require_numbers,
    require_observed,
    require_ordinary,
    require_tables,
    usable_norm,
)
from tparafac2.data.correction import Correction
from tparafac2.data.dense import DenseData
from tparafac2.data.holed_sparse import HoledSparseData
from tparafac2.data.incomplete import ObservedData
from tparafac2.data.interface import FloatArray, SliceData
from tparafac2.data.labels import Labels
from tparafac2.data.memory import require_memory
from tparafac2.data.reading import Reading, read_in
from tparafac2.data.sparse import SparseData, tidy_slices
from tparafac2.data.times import read_times
from tparafac2.data.weighted import EntryWeightedData, RowWeightedData
from tparafac2.data.weights import Weighting, Weights, require_some_size


class Intake(NamedTuple):
    """What comes through the door.

    Attributes
    ----------
    data : SliceData
        Dense, sparse or incomplete, as X was. Its slices are in the order of time, without those of which
        nothing was observed.
    labels : Labels
        Of all slices, in the user's order.
    times : ndarray (K,), optional
        When each slice was taken, in the user's order; None for evenly spaced.
    order : tuple of int
        Which of the user's slices the data hold, in this order.
    coverage : ndarray (K, J), optional
        Share of the rows that was observed, for every time and column; None if nothing is missing.
    weighting : Weighting, optional
        How much rows count; None if all count the same.
    budget : int, optional
        How many bytes a fit may use, where the user says so.

    Examples
    --------
    >>> import numpy as np
    >>> intake = take_in(np.ones((2, 3, 4)))
    >>> intake.data.shape, intake.order
    ((2, 3, 4), (0, 1))
    """

    data: SliceData
    labels: Labels
    times: NDArray[np.float64] | None
    order: tuple[int, ...]
    coverage: NDArray[np.float64] | None = None
    weighting: Weighting | None = None
    budget: int | None = None

    @property
    def n_times(self) -> int:
        """Number of the user's slices."""
        return len(self.order) if self.coverage is None else len(self.coverage)

    @property
    def clock(self) -> NDArray[np.float64]:
        """Times of the user's slices; 0, 1, 2, ... where there are none."""
        return np.arange(self.n_times, dtype=np.float64) if self.times is None else self.times


def take_in(
    X: object,
    *,
    dims: Mapping[str, Hashable] | None = None,
    dtype: DTypeLike | None = None,
    mask: object = None,
    times: Any = None,
    bridge: bool = True,
    weights: Any = None,
) -> Intake:
    """Turn the user's data into what the solver works on; X itself is never changed.

    Parameters
    ----------
    X : ndarray (K, I, J), list of K arrays, DataFrames or sparse matrices (I, J_k), xarray.DataArray, Table
        Real numbers or truth values. NaN and masked entries are missing. DataFrames are matched by their
        labels, all else by position. Slices of unequal width are padded with zero columns. Sparse slices are
        never made dense: `Preparation` centres and scales those of a Table as they are.
    dims : mapping, optional
        For a DataArray: which dimension is which, for example
        ``{"rows": "author", "columns": "word", "time": "year"}``; what is left out is told from the names.
    dtype : "float64" or "float32", optional
        Type to compute in; float64 unless given.
    mask : array of bool like X, optional
        True where an entry was observed.
    times : sequence of numbers or dates, "even", or None
        When the slices were taken; None takes the labels where they are numbers or dates.
    bridge : bool
        Whether a column that was not observed at some time is thought to have been there all the same.
    weights : sequence of I numbers, mapping or Series by row label, or like X, optional
        How much each row, or each entry, counts. They are divided by their mean over what was observed.

    Returns
    -------
    Intake

    Raises
    ------
    TypeError
        If X is not of a supported kind: complex, text, objects, dense and sparse slices together.
    ValueError
        If its shape or values cannot be used: unequal heights, empty, never observed, infinite, all zero.
    MemoryError
        If the one copy of X that is made would not fit in this machine.

    Examples
    --------
    >>> import numpy as np
    >>> data = take_in([np.ones((3, 4)), np.ones((3, 5))]).data
    >>> data.shape, data.widths
    ((2, 3, 5), (4, 5))
    """
    float_type(dtype)
    if isinstance(X, SliceData):
        kind = type(X).__name__
        if weights is not None:
            raise ValueError(f"weights are not for {kind}: give the slices themselves, and their weights.")
        if dims is not None or mask is not None:
            raise ValueError(f"dims and mask are not for {kind}, which has neither labels nor a mask.")
        return _take_made(X, times, dtype)
    reading = read_in(X, dims=dims, mask=mask, times=times, weights=weights)
    return make_intake(reading, dtype=dtype, bridge=bridge)


def make_intake(reading: Reading, *, dtype: DTypeLike | None = None, bridge: bool = True) -> Intake:
    """Turn what was read into what the solver works on; see `take_in`."""
    made = _made(reading, _Request(float_type(dtype), bridge))
    return made._replace(budget=reading.budget)


def _made(reading: Reading, request: "_Request") -> Intake:
    held_type = request.dtype
    slices, labels, times = reading.slices, reading.labels, reading.times
    counts, mean = reading.weights, _mean_of_rows(reading)
    order = range(len(slices)) if times is None else np.argsort(times).tolist()
    if reading.is_sparse:
        return _take_sparse(reading, order, held_type, mean)
    # Before a look at the entries, which may be more than there is room for: X may be on disk, or broadcast.
    size = len(slices) * len(slices[0]) * max(piece.shape[1] for piece in slices)
    require_memory(size * held_type.itemsize, "The working copy of X", (), reading.budget)
    hidden = reading.missing()
    if hidden is not None or counts.entries is not None:
        hidden = hidden or [np.broadcast_to(np.False_, piece.shape) for piece in slices]
        return _take_incomplete(reading, hidden, request)
    if counts.rows is not None:
        roots = np.sqrt(counts.rows / mean)[:, None]
        slices = WeightedSlices(slices, [np.broadcast_to(roots, piece.shape) for piece in slices])
    data = DenseData.from_slices([slices[k] for k in order], scale=usable_norm(slices), dtype=held_type)
    labels.check(data.shape)
    return _weighted(Intake(data, labels, times, tuple(order)), counts.rows, mean)


class _Request(NamedTuple):
    dtype: np.dtype[Any]
    bridge: bool


def _take_sparse(reading: Reading, order: Sequence[int], dtype: np.dtype[Any], mean: float) -> Intake:
    correction, rows, roots = reading.correction, reading.weights.rows, None
    if correction is not None:
        correction = correction.reordered(order)
    if rows is not None:
        roots = np.sqrt(rows / mean)
        correction = (correction or Correction()).divided(1.0 / roots, "rows")
    data = _read_sparse([reading.slices[k] for k in order], dtype, correction)
    if reading.hidden is None:
        return _weighted(Intake(data, reading.labels, reading.times, tuple(order)), rows, mean)
    missing = reading.hidden._replace(time=np.argsort(order)[reading.hidden.time])
    holed = HoledSparseData.without(data, missing, roots)
    coverage = holed.coverage[np.argsort(order)]
    weighting = None if rows is None else Weighting(rows / mean, mean, "rows")
    return Intake(holed, reading.labels, reading.times, tuple(order), coverage, weighting)


def _mean_of_rows(reading: Reading) -> float:
    """Mean weight of what was observed, where only entries of sparse slices may be missing."""
    rows, hidden = reading.weights.rows, reading.hidden
    if rows is None:
        return 1.0
    if hidden is None:
        return float(rows.mean())
    width = sum(piece.shape[1] for piece in reading.slices)
    return float(np.average(rows, weights=width - np.bincount(hidden.rows, minlength=len(rows))))


def _weighted(intake: Intake, given: NDArray[np.float64] | None, mean: float) -> Intake:
    """Data whose rows were multiplied by the roots of their weights."""
    if given is None:
        return intake
    rows = given / mean
    return intake._replace(data=RowWeightedData(intake.data, rows), weighting=Weighting(rows, mean, "rows"))


def _take_made(X: SliceData, given: Any, dtype: DTypeLike | None) -> Intake:
    """Data in the form that the solver asks for already: sparse and corrected, or of the user's own kind."""
    require_ordinary(X.scale)
    K = X.shape[0]
    times = read_times(given, None, K)
    if times is not None and (np.diff(times) < 0).any():
        raise ValueError(
            f"times must be increasing for {type(X).__name__}: sort the slices by time before making it."
        )
    return Intake(_of_type(X, dtype), Labels(), times, tuple(range(K)), getattr(X, "coverage", None))


def _take_incomplete(read: Reading, hidden: Sequence[Mask], request: _Request) -> Intake:
    """Data with holes; slices without any observation are left out, and only make a gap in time longer."""
    widths = {piece.shape[1] for piece in read.slices}
    if len(widths) > 1:
        raise ValueError(
            f"the slices have between {min(widths)} and {max(widths)} columns, and entries are missing or "
            "have weights: give all slices the same columns, NaN where a column is missing."
        )
    held_type, times = request.dtype, read.times
    K, (I, J) = len(read.slices), read.slices[0].shape
    size = ObservedData.COPIES * K * I * J * held_type.itemsize
    require_memory(size, "The working copy of X and of what was observed")
    observed = np.stack([np.asarray(one) for one in hidden])
    np.logical_not(observed, out=observed)
    if read.weights.entries is not None:
        for seen, counts in zip(observed, read.weights.entries):
            seen &= counts > 0
    read.labels.check((K, I, J))
    require_observed(observed, read.labels)
    clock = np.arange(K, dtype=np.float64) if times is None else times
    order = tuple(k for k in np.argsort(clock).tolist() if observed[k].any())
    if len(order) < K and times is None:
        times = clock
    kept = ObservedSlices([read.slices[k] for k in order], [observed[k] for k in order])
    weights, weighting = _entry_weights(read.weights, observed, order, held_type)
    roots = None if weights is None else list(np.sqrt(weights.swapaxes(0, 1)))
    scale = usable_norm(kept if roots is None else WeightedSlices(kept, roots))
    values = np.full((I, len(order), J), np.nan, dtype=held_type)
    for k, (piece, seen) in enumerate(zip(kept.slices, kept.observed)):
        # Dividing in float64 before rounding to dtype keeps 1e150 from overflowing in float32.
        with np.errstate(under="ignore"):
            np.divide(piece, scale, out=values[:, k], where=seen, dtype=np.float64, casting="same_kind")
    seen_columns: NDArray[np.bool_] = np.asarray(observed.any(axis=1))
    present = read.present if request.bridge else seen_columns
    there = None if present is None else present[list(order)]
    data = (
        ObservedData(values, scale, there)
        if weights is None
        else EntryWeightedData(values, scale, there, weights)
    )
    coverage = None if observed.all() else observed.mean(axis=1)
    return Intake(data, read.labels, times, order, coverage, weighting)


def _entry_weights(
    given: Weights, observed: NDArray[np.bool_], order: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[FloatArray | None, Weighting | None]:
    """Weights (I, K, J) of mean one over what was observed, 0 elsewhere, in the order of time."""
    if given.rows is None and given.entries is None:
        return None, None
    seen = observed[list(order)].swapaxes(0, 1)
    weights = np.empty(seen.shape)
    for k, place in enumerate(order):
        weights[:, k] = given.rows[:, None] if given.entries is None else given.entries[place]  # type: ignore[index]
    weights[~seen] = 0.0
    count = np.count_nonzero(seen, axis=(1, 2))
    sums = weights.sum(axis=(1, 2))
    mean = float(sums.sum() / count.sum())
    require_some_size(float(weights[seen].min()), mean)
    weights /= mean
    by = "entries" if given.rows is None else "rows"
    return weights.astype(dtype, copy=False), Weighting(sums / count / mean, mean, by)


def float_type(dtype: DTypeLike | None) -> np.dtype[Any]:
    """Type to compute in; refuse others than the two that there are."""
    for accepted in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype is None or (
            isinstance(dtype, str | np.dtype | type) and dtype in (accepted, accepted.type, accepted.name)
        ):
            return accepted
    raise ValueError(f"dtype must be 'float64' or 'float32'; got {' '.join(repr(dtype).split()):.80}.")


def _read_sparse(X: Sequence[Any], dtype: np.dtype[Any], correction: Correction | None) -> SparseData:
    require_tables(X)
    for k, piece in enumerate(X):
        require_numbers(piece, f"slice {k}")
    tables = tidy_slices(X)
    require_finite_entries(tables)
    stored = [table.data[:, None] for table in tables if table.nnz]
    require_memory(sum(map(len, stored)) * dtype.itemsize, "The working copy of X")
    if correction is not None:
        data = SparseData.from_slices(tables, correction=correction, dtype=dtype)
        require_ordinary(data.scale)
        return data
    return SparseData.from_slices(tables, scale=usable_norm(stored or [np.zeros((1, 1))]), dtype=dtype)


def _of_type(data: SliceData, dtype: DTypeLike | None) -> SliceData:
    if dtype is not None and data.dtype != dtype:
        raise ValueError(f"X is held as {data.dtype}, but dtype is {dtype!r}: make it with this dtype.")
    return data
