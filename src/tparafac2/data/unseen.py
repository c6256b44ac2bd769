"""Columns of which nothing was observed at a time, and how firmly they hold on to what was seen of them.

No data speak for such an entry, only smoothness does. A term that wants something of all columns together
(the PARAFAC2 constraint) could bend it at hardly any cost, the more so the longer nobody saw it, and leave to
it what data contradict elsewhere. Held more firmly, it passes what the term asks on to where data speak.
"""

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray, SliceData, present_columns

FIRMLY = 100.0
"""How many times more a change costs before a column was first seen, and after it was last seen."""


def unseen_columns(data: SliceData) -> NDArray[np.bool_] | None:
    """Columns that are there at a time and of which nothing was observed then, (K, J); None without any.

    Examples
    --------
    >>> from tparafac2.data import ObservedData
    >>> unseen_columns(ObservedData(np.array([[[1.0, np.nan]]]))).tolist()
    [[False, True]]
    """
    return unseen_among(getattr(data, "coverage", None), present_columns(data))


def unseen_among(coverage: FloatArray | None, present: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """As `unseen_columns`, from the share of the rows that was observed and which columns there are."""
    if coverage is None:
        return None
    unseen = np.asarray(coverage == 0 if present is None else (coverage == 0) & present)
    return unseen if unseen.any() else None


def couplings(
    present: NDArray[np.bool_] | None, unseen: NDArray[np.bool_] | None, tie: float
) -> NDArray[np.float64] | None:
    """By how much the weight of each column's change to the next slice is multiplied, (K, J); None: by one.

    The first slice comes after the last.

    Parameters
    ----------
    present : ndarray of bool (K, J), optional
        Which columns there are: nothing couples a column to times at which it is not there. None: all.
    unseen : ndarray of bool (K, J), optional
        Which of these nobody saw. None: none.
    tie : float
        How many times more a change costs before a column was first seen, and after it was last seen. Between
        two times at which it was seen, each of n changes costs n times as much (`tie` times at most), so that
        all of them together cost what a single one does.

    Examples
    --------
    >>> unseen = np.array([[True], [False], [True], [False], [False], [True]])
    >>> couplings(None, unseen, tie=100.0)[:-1, 0].tolist()
    [100.0, 2.0, 2.0, 1.0, 100.0]
    """
    if unseen is None or tie == 1.0:
        return None if present is None else _both(present).astype(np.float64)
    there = np.ones_like(unseen) if present is None else present
    known, K = there & ~unseen, len(unseen)
    before = _last_seen(known, there)
    after = K - 1 - np.roll(_last_seen(known[::-1], there[::-1])[::-1], -1, axis=0)
    between = (before >= 0) & (after < K)
    times = np.where(between, np.minimum(after - before, tie), tie)
    times[-1] = 1.0  # time that goes round is left alone
    return times * _both(there)


def _both(there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return there & np.roll(there, -1, axis=0)


def _last_seen(known: NDArray[np.bool_], there: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The last slice so far at which a column was seen; -1 where that was before it went away, or never."""
    index = np.arange(len(known))[:, None]
    seen = np.maximum.accumulate(np.where(known, index, -1), axis=0)
    away = np.maximum.accumulate(np.where(there, -1, index), axis=0)
    return np.where(seen > away, seen, -1)
