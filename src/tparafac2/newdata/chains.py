"""Patterns tied to those before and after them in time: one exact solve for all slices and columns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray

_ABSENT = 1.0


class Ties(NamedTuple):
    """What holds the patterns of m further slices, beside the data.

    Attributes
    ----------
    before : ndarray (J, R)
        The last patterns of the fit.
    norms : ndarray (m,)
        Weight of each pattern's squares.
    steps : ndarray (m, J or 1)
        Weight of each column's change from the slice before; that of the first is from `before`.
    closing : float
    after : ndarray (J, R), optional
        Where time goes round: weight of the change from the last slice to the first patterns of the fit.
    there : ndarray of bool (m, J), optional
        Which columns there are; the patterns of others are zero. None: all.
    """

    before: FloatArray
    norms: FloatArray
    steps: FloatArray
    closing: float = 0.0
    after: FloatArray | None = None
    there: NDArray[np.bool_] | None = None

    def diagonal(self) -> FloatArray:
        """What all ties of a pattern weigh together, (m, J or 1)."""
        weights = self.norms[:, None] + self.steps
        weights[:-1] += self.steps[1:]
        weights[-1] += self.closing
        return np.asarray(weights)

    def pulls(self) -> FloatArray:
        """What the patterns of the fit add to right-hand sides (m, J, R)."""
        right = np.zeros((len(self.norms), *self.before.shape))
        right[0] += self.steps[0][:, None] * self.before
        if self.after is not None:
            right[-1] += self.closing * self.after
        return right

    def value(self, B: FloatArray) -> float:
        """What the ties cost."""
        changes = np.diff(np.concatenate([self.before[None], B]), axis=0)
        total = (self.norms[:, None, None] * B**2).sum() + (self.steps[..., None] * changes**2).sum()
        if self.after is not None:
            total += self.closing * ((B[-1] - self.after) ** 2).sum()
        return float(total)


class Chain:
    """The block-tridiagonal system of all slices, factorised once: systems of columns are apart.

    Parameters
    ----------
    systems : ndarray (m, J or 1, R, R)
        Of the data.
    ties : Ties
    more : ndarray (m,)
        What else is on the diagonal.
    """

    def __init__(self, systems: FloatArray, ties: Ties, more: FloatArray) -> None:
        self.ties = ties
        diagonal = ties.diagonal() + more[:, None]
        if ties.there is not None:
            diagonal = np.where(ties.there, diagonal, diagonal + _ABSENT)
        whole = systems + diagonal[..., None, None] * np.eye(systems.shape[-1])
        self.inverses = [np.linalg.inv(whole[0])]
        for k in range(1, len(whole)):
            passed_on = (ties.steps[k] ** 2)[:, None, None] * self.inverses[-1]
            self.inverses.append(np.linalg.inv(whole[k] - passed_on))

    def solve(self, right: FloatArray) -> FloatArray:
        """The patterns (m, J, R) from right-hand sides of this shape, which are not kept."""
        steps, last = self.ties.steps, len(right) - 1
        if self.ties.there is not None:
            right *= self.ties.there[..., None]
        for k in range(1, len(right)):
            right[k] += steps[k][:, None] * _times(right[k - 1], self.inverses[k - 1])
        B = np.empty_like(right)
        for k in range(last, -1, -1):
            if k < last:
                right[k] += steps[k + 1][:, None] * B[k + 1]
            B[k] = _times(right[k], self.inverses[k])
        return B if self.ties.there is None else B * self.ties.there[..., None]


def _times(rows: FloatArray, inverses: FloatArray) -> FloatArray:
    """Every row (J, R) times its matrix, or the one of all."""
    if len(inverses) == 1:
        return np.asarray(rows @ inverses[0])
    return np.asarray(np.einsum("jr,jrs->js", rows, inverses))
