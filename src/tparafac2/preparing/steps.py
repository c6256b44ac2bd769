"""The steps of a preparation on dense stacks (K, I, J) with NaN where missing, or on sparse slices."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Labels, Mode, listed, shown
from tparafac2.data.labels import AXES
from tparafac2.errors import InvalidValue
from tparafac2.words import Setting

Transform: TypeAlias = Literal["log1p", "sqrt", "share", "clr"]
ELEMENTWISE: dict[str, Callable[[FloatArray], FloatArray]] = {"log1p": np.log1p, "sqrt": np.sqrt}
ROUNDING = 1e-13  # a spread this small beside the values themselves is rounding


class Transformed(NamedTuple):
    """Values, and for how many rows at a time there was nothing to share out."""

    values: Any
    n_empty: int = 0


def transform_steps(transform: Transform | Sequence[Transform] | None) -> tuple[Transform, ...]:
    """Give the transforms one after the other: none, one or several.

    Examples
    --------
    >>> transform_steps("sqrt"), transform_steps(["share", "sqrt"]), transform_steps(None)
    (('sqrt',), ('share', 'sqrt'), ())
    """
    if transform is None:
        return ()
    return (transform,) if isinstance(transform, str) else tuple(transform)


def transform_dense(
    stack: FloatArray, transforms: Sequence[Transform], pseudocount: float | None
) -> Transformed:
    """Transform a stack; missing values stay missing, and across columns only what was observed counts.

    Examples
    --------
    >>> transform_dense(np.array([[[1.0, 3.0, np.nan], [0.0, 0.0, 0.0]]]), ["share"], None)
    Transformed(values=array([[[0.25, 0.75,  nan], [0.  , 0.  , 0.  ]]]), n_empty=1)
    """
    observed, n_empty = ~np.isnan(stack), 0
    for transform in transforms:
        _require_not_negative(stack, transform)
        if transform in ELEMENTWISE:
            stack = ELEMENTWISE[transform](stack)
        elif transform == "clr":
            stack = _centred_logs(stack, observed, pseudocount)
        else:
            totals = stack.sum(axis=2, keepdims=True, where=observed)
            stack = np.divide(stack, totals, out=stack.copy(), where=totals > 0)
            n_empty = int(np.count_nonzero(observed.any(axis=2) & (totals[:, :, 0] == 0)))
    return Transformed(stack, n_empty)


def transform_sparse(slices: Sequence[Any], transforms: Sequence[Transform]) -> Transformed:
    """Transform sparse slices by transforms that keep zeros: any but "clr".

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> transform_sparse([csr_array([[0, 1, 3], [0, 0, 0]])], ["share"]).values[0].toarray()
    array([[0.  , 0.25, 0.75],
           [0.  , 0.  , 0.  ]])
    """
    made = [given.tocsr().astype(np.float64) for given in slices]  # copies
    n_empty = 0
    for transform in transforms:
        if transform == "share":
            n_empty = 0
        for piece in made:
            _require_not_negative(piece.data, transform)
            if transform in ELEMENTWISE:
                piece.data = ELEMENTWISE[transform](piece.data)
            else:
                n_empty += _share_out(piece)
    return Transformed(made, n_empty)


def _share_out(piece: Any) -> int:
    """Divide each row of a sparse slice by its sum, in place; tell how many rows have nothing."""
    totals = np.asarray(piece.sum(axis=1)).ravel()
    own = np.repeat(totals, np.diff(piece.indptr))
    np.divide(piece.data, own, out=piece.data, where=own > 0)
    return int(np.count_nonzero(totals == 0))


def undo_transform(fitted: FloatArray, transform: Transform) -> FloatArray:
    """Go back from fitted values; from clr only to shares, since the totals are gone.

    Counts and shares are never negative, so that what would be is zero.

    Examples
    --------
    >>> undo_transform(np.array([[[0.0, np.log(3.0)]]]), "clr")
    array([[[0.25, 0.75]]])
    """
    match transform:
        case "log1p":
            return np.expm1(np.maximum(fitted, 0.0))
        case "sqrt":
            return np.square(np.maximum(fitted, 0.0))
        case "share":
            return np.maximum(fitted, 0.0)
    known = ~np.isnan(fitted)
    largest = np.max(fitted, axis=2, keepdims=True, where=known, initial=-np.inf)
    # Where nothing is known there is no largest one, and nothing to take off.
    sizes = np.exp(fitted - np.where(np.isfinite(largest), largest, 0.0))
    totals = np.sum(sizes, axis=2, keepdims=True, where=known)
    return sizes / np.where(totals > 0, totals, 1.0)


def _centred_logs(stack: FloatArray, observed: Any, pseudocount: float | None) -> FloatArray:
    n_zeros = int(np.count_nonzero(stack == 0))
    if pseudocount is None and n_zeros:
        raise InvalidValue(
            Setting("transform", "clr"),
            f" takes logarithms, and {n_zeros:,} of {int(observed.sum()):,} values are zero: give ",
            Setting("pseudocount"),
            ", which is added to every value; for counts 0.5 or 1 is usual.",
        )
    logs = np.log(stack if pseudocount is None else stack + pseudocount)
    counts = np.maximum(observed.sum(axis=2, keepdims=True), 1)
    return np.asarray(logs - logs.sum(axis=2, keepdims=True, where=observed) / counts)


def _require_not_negative(values: FloatArray, transform: Transform) -> None:
    n_negative = int(np.count_nonzero(values < 0))
    if n_negative:
        raise InvalidValue(
            Setting("transform", transform),
            f" is for values that are not negative, but {n_negative:,} of "
            f"{int(np.count_nonzero(~np.isnan(values))):,} are; the smallest is {np.nanmin(values):g}. "
            "Leave the transform out, or correct these values.",
        )


def spread_out(numbers: FloatArray, mode: Mode) -> FloatArray:
    """Shape one number for each row, column or time so that it meets its own part of a (K, I, J) stack.

    Examples
    --------
    >>> spread_out(np.array([1.0, 2.0]), "rows").shape
    (1, 2, 1)
    """
    shape = [1, 1, 1]
    shape[AXES[mode]] = -1
    return numbers.reshape(shape)


def largest(stack: FloatArray, mode: Mode) -> FloatArray:
    """Largest absolute value of each row, column or time; 0 where nothing was observed.

    Examples
    --------
    >>> largest(np.array([[[1.0, -2.0], [np.nan, np.nan]]]), "rows")
    array([2., 0.])
    """
    return np.asarray(np.max(np.abs(stack), axis=_others(mode), initial=0.0, where=~np.isnan(stack)))


def means(stack: FloatArray, mode: Mode) -> FloatArray:
    """Mean of what was observed of each row, column or time; 0 where that is nothing.

    Examples
    --------
    >>> means(np.array([[[1.0, 3.0], [np.nan, 5.0]]]), "columns")
    array([1., 4.])
    """
    observed = ~np.isnan(stack)
    sums = np.sum(stack, axis=_others(mode), where=observed)
    return np.asarray(sums / np.maximum(observed.sum(axis=_others(mode)), 1))


def deviations(stack: FloatArray, mode: Mode, before: FloatArray) -> FloatArray:
    """Standard deviation of each row, column or time about its mean; 1 where nothing was observed.

    The size of the values `before` means were taken off tells rounding from spread: where that is nothing,
    it is 0.

    Examples
    --------
    >>> X = np.array([[[1.0, 7.0], [3.0, 7.0]]])
    >>> deviations(X, "columns", largest(X, "columns"))
    array([1., 0.])
    """
    sizes = largest(stack, mode)
    # Of values as large as 1e200 the squares would overflow.
    scaled = stack / spread_out(np.where(sizes > 0, sizes, 1.0), mode)
    about = scaled - spread_out(means(scaled, mode), mode)
    found = np.sqrt(means(np.square(about), mode)) * sizes
    seen = (~np.isnan(stack)).any(axis=_others(mode))
    return np.where(seen, np.where(found <= ROUNDING * before, 0.0, found), 1.0)


def require_spread(flat: NDArray[np.bool_], mode: Mode, labels: Labels) -> None:
    """Refuse to divide by the standard deviation of rows, columns or times that have none.

    Examples
    --------
    >>> require_spread(np.array([False, True]), "columns", Labels(columns=["a", "b"]))
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: scale='columns' divides by standard deviations, but 1 of 2 columns has
    the same value everywhere: 'b'. Leave such columns out, or scale another mode.
    """
    places = np.flatnonzero(flat)
    if not len(places):
        return
    what = "times" if mode == "time" else mode
    names = listed(map(shown, labels.coordinate(mode, len(flat))[places]))
    raise InvalidValue(
        Setting("scale", mode),
        f" divides by standard deviations, but {len(places):,} of {len(flat):,} {what} "
        f"{'has' if len(places) == 1 else 'have'} the same value everywhere: {names}. "
        f"Leave such {what} out, or scale another mode.",
    )


def _others(mode: Mode) -> tuple[int, ...]:
    return tuple(axis for axis in range(3) if axis != AXES[mode])
