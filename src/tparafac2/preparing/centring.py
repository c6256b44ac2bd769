"""Means and standard deviations of rows, columns or times, over all that was observed of each."""

import numpy as np

from tparafac2.data import FloatArray, Labels, Mode, listed, shown
from tparafac2.data.labels import AXES
from tparafac2.errors import InvalidValue
from tparafac2.words import Setting

_ROUNDING = 1e-13  # a spread this small beside the values themselves is rounding


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


def deviations(stack: FloatArray, mode: Mode, labels: Labels, before: FloatArray) -> FloatArray:
    """Standard deviation of each row, column or time about its mean; 1 where nothing was observed.

    Parameters
    ----------
    stack : ndarray (K, I, J)
    mode : "rows", "columns" or "time"
    labels : Labels
        To name those that have none.
    before : ndarray
        Size of the values of each before means were taken off, which tells rounding from spread.

    Examples
    --------
    >>> X = np.array([[[1.0, 7.0], [3.0, 7.0]]])
    >>> deviations(X, "columns", Labels(columns=["a", "b"]), largest(X, "columns"))
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: scale='columns' divides by standard deviations, but 1 of 2 columns has
    the same value everywhere: 'b'. Leave such columns out, or scale another mode.
    """
    sizes = largest(stack, mode)
    # Of values as large as 1e200 the squares would overflow.
    scaled = stack / spread_out(np.where(sizes > 0, sizes, 1.0), mode)
    about = scaled - spread_out(means(scaled, mode), mode)
    found = np.sqrt(means(np.square(about), mode)) * sizes
    seen = (~np.isnan(stack)).any(axis=_others(mode))
    require_spread(seen & (found <= _ROUNDING * before), mode, labels)
    return np.where(seen, found, 1.0)


def require_spread(flat: np.typing.NDArray[np.bool_], mode: Mode, labels: Labels) -> None:
    """Refuse to divide by the standard deviation of rows, columns or times that have none."""
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
