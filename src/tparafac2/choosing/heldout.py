"""Errors of held-out rows: from one half of their entries the loadings, by these the other half."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.path import Frame
from tparafac2.data import FloatArray, RowWeightedData, SliceData, is_complete, row_weights
from tparafac2.solver import best_rows

_BLOCK = 2**22  # entries of which differences are held at a time


class Held(NamedTuple):
    """Rows that a fit does not see.

    Attributes
    ----------
    rows : ndarray of int
        Their places among all rows.
    data : (SliceData, SliceData)
        Centred and scaled by what is seen of them while one half is visible, and while the other is.
    visible : ndarray of bool (K, J)
        The one half; the other is all else.
    """

    rows: NDArray[np.intp]
    data: tuple[SliceData, SliceData]
    visible: NDArray[np.bool_]

    def errors(
        self, frame: Frame, setting: Candidate, B: FloatArray, C: FloatArray, norm: float
    ) -> NDArray[np.float64]:
        """Squared error of every row of X / scale, by patterns and strengths in the solver's units."""
        total = np.zeros(len(self.rows))
        for data, seen in zip(self.data, (self.visible, ~self.visible)):
            problem = frame.problem(setting, data, norm)
            shown = np.where(seen[:, :, None], B, 0.0)
            A = best_rows(problem, shown, C, frame.settings)
            W = np.where(seen[:, :, None], 0.0, B) * C[:, None, :]
            total += _errors(data, A, W, ~seen)
        return total

    def squares(self) -> NDArray[np.float64]:
        """Sum of squares of every row, by weight, in the same units."""
        pairs = zip(self.data, (self.visible, ~self.visible))
        return np.asarray(np.sum([_errors(data, None, None, ~seen) for data, seen in pairs], axis=0))

    def counts(self) -> NDArray[np.intp]:
        """How many entries every row has in the half that has fewer."""
        if is_complete(self.data[0]):
            return np.full(len(self.rows), min(self.visible.sum(), (~self.visible).sum()))
        there = ~np.isnan(self.data[0].values)  # type: ignore[attr-defined]
        halves = [(there & half).sum(axis=(1, 2)) for half in (self.visible, ~self.visible)]
        return np.asarray(np.minimum(*halves))


def _errors(
    data: SliceData, A: FloatArray | None, W: FloatArray | None, hidden: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Squared error of every row at what is hidden of it; W is zero elsewhere."""
    weights = row_weights(data)
    inner = data.data if isinstance(data, RowWeightedData) else data
    values = getattr(inner, "values", None)
    if A is not None and weights is not None:
        A = A * np.sqrt(weights)[:, None]
    if values is not None:
        return _by_difference(values, A, W, hidden, getattr(inner, "weights", None))
    squares = 0.5 * np.asarray(inner.row_squares())  # type: ignore[attr-defined]  # every entry is hidden once
    if A is None or W is None:
        return np.asarray(squares)
    right = np.ascontiguousarray(W.transpose(2, 0, 1), dtype=np.float64)
    flat = right.reshape(len(right), -1)
    cross = np.einsum("ri,ir->i", inner.accumulate(right[None])[0], A)
    return np.asarray(squares - 2.0 * cross + np.einsum("ir,rs,is->i", A, flat @ flat.T, A))


def _by_difference(
    values: FloatArray,
    A: FloatArray | None,
    W: FloatArray | None,
    hidden: NDArray[np.bool_],
    weights: FloatArray | None,
) -> NDArray[np.float64]:
    places = np.flatnonzero(hidden)
    flat = values.reshape(len(values), -1)
    right = None if W is None else W.reshape(flat.shape[1], -1)[places].T
    total = np.empty(len(values))
    step = max(1, _BLOCK // max(1, places.size))
    for first in range(0, len(values), step):
        some = slice(first, first + step)
        difference = flat[some, places].astype(np.float64)
        if A is not None and right is not None:
            difference -= A[some] @ right
        difference *= difference
        if weights is not None:
            difference *= weights.reshape(len(values), -1)[some, places]
        total[some] = np.nansum(difference, axis=1)
    return total
