"""Patterns tied to those before and after them in time: one exact solve for all slices and columns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.penalties import Pace, links_of

_ABSENT = 1.0


class Pacing(NamedTuple):
    """What steps count that may be of any pace, beside all others that a component takes.

    Attributes
    ----------
    pace : Pace
        For all n slices.
    steps : ndarray (R, n)
        Squared steps from each slice to the next, and from the last to the first; those of the further slices
        and after them, which begin at `first`, are not known yet.
    first : int
    fixed : ndarray (m + 1, J or 1)
        What these count beside the pace; the last one is the closing.
    joined : ndarray (m + 1, J or 1)
        How many times each column's change counts in them.
    """

    pace: Pace
    steps: NDArray[np.float64]
    first: int
    fixed: FloatArray
    joined: FloatArray

    def links(self, squares: FloatArray | None) -> FloatArray:
        """What each change counts (m + 1, J or 1, R); without squares, at the pace of the clock."""
        if squares is None:
            floors = self.pace.floors
            shares = np.where(floors > 0, floors / max(float(floors.sum()), 1e-300), np.inf)
            links = np.repeat((self.pace.strength / shares)[None], len(self.steps), axis=0)
        else:
            links = links_of(self.pace, self._all(squares))
        own = links[:, self.first : self.first + len(self.fixed)].T
        return np.asarray(self.fixed[..., None] + self.joined[..., None] * own[:, None, :])

    def cost(self, squares: FloatArray) -> float:
        """What all steps cost, those of the fit among them, and what the further ones do beside the pace."""
        steps = self._all(squares)
        return float((links_of(self.pace, steps) * steps).sum() + (self.fixed[..., None] * squares).sum())

    def _all(self, squares: FloatArray) -> NDArray[np.float64]:
        steps = self.steps.copy()
        steps[:, self.first : self.first + len(squares)] = (self.joined[..., None] * squares).sum(axis=1).T
        return steps


class Ties(NamedTuple):
    """What holds the patterns of m further slices, beside the data.

    Attributes
    ----------
    before : ndarray (J, R)
        The last patterns of the fit.
    norms : ndarray (m,)
        Weight of each pattern's squares.
    steps : ndarray (m, J or 1, R or 1)
        Weight of each column's change from the slice before; that of the first is from `before`.
    closing : ndarray (R or 1,)
    after : ndarray (J, R), optional
        Where time goes round: weight of the change from the last slice to the first patterns of the fit.
    there : ndarray of bool (m, J), optional
        Which columns there are; the patterns of others are zero. None: all.
    pacing : Pacing, optional
        Where weights follow the steps: `steps` and `closing` are those of some patterns.
    """

    before: FloatArray
    norms: FloatArray
    steps: FloatArray
    closing: FloatArray = np.zeros(1)
    after: FloatArray | None = None
    there: NDArray[np.bool_] | None = None
    pacing: Pacing | None = None

    def paced(self, B: FloatArray | None) -> "Ties":
        """The ties as they are at these patterns; at the pace of the clock where there are none yet."""
        if self.pacing is None:
            return self
        links = self.pacing.links(None if B is None else self._squares(B))
        return self._replace(steps=links[:-1], closing=links[-1, 0])

    def diagonal(self) -> FloatArray:
        """What all ties of a pattern weigh together, (m, J or 1, R or 1)."""
        weights = self.norms[:, None, None] + self.steps
        weights[:-1] += self.steps[1:]
        weights[-1] += self.closing
        return np.asarray(weights)

    def pulls(self) -> FloatArray:
        """What the patterns of the fit add to right-hand sides (m, J, R)."""
        right = np.zeros((len(self.norms), *self.before.shape))
        right[0] += self.steps[0] * self.before
        if self.after is not None:
            right[-1] += self.closing * self.after
        return right

    def value(self, B: FloatArray) -> float:
        """What the ties cost; where they follow the steps, with all that were taken before."""
        norms, squares = float((self.norms[:, None, None] * B**2).sum()), self._squares(B)
        if self.pacing is not None:
            return norms + self.pacing.cost(squares)
        return norms + float((self.steps * squares[:-1]).sum() + (self.closing * squares[-1]).sum())

    def _squares(self, B: FloatArray) -> FloatArray:
        """Squared changes from slice to slice, and back to the first one where time goes round."""
        end = B[-1] if self.after is None else self.after
        return np.square(np.diff(np.concatenate([self.before[None], B, end[None]]), axis=0))


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
        diagonal = ties.diagonal() + more[:, None, None]
        if ties.there is not None:
            diagonal = np.where(ties.there[..., None], diagonal, diagonal + _ABSENT)
        whole = systems + diagonal[..., None] * np.eye(systems.shape[-1])
        self.inverses = [np.linalg.inv(whole[0])]
        for k in range(1, len(whole)):
            passed_on = ties.steps[k][:, :, None] * self.inverses[-1] * ties.steps[k][:, None, :]
            self.inverses.append(np.linalg.inv(whole[k] - passed_on))

    def solve(self, right: FloatArray) -> FloatArray:
        """The patterns (m, J, R) from right-hand sides of this shape, which are not kept."""
        steps, last = self.ties.steps, len(right) - 1
        if self.ties.there is not None:
            right *= self.ties.there[..., None]
        for k in range(1, len(right)):
            right[k] += steps[k] * _times(right[k - 1], self.inverses[k - 1])
        B = np.empty_like(right)
        for k in range(last, -1, -1):
            if k < last:
                right[k] += steps[k + 1] * B[k + 1]
            B[k] = _times(right[k], self.inverses[k])
        return B if self.ties.there is None else B * self.ties.there[..., None]


def _times(rows: FloatArray, inverses: FloatArray) -> FloatArray:
    """Every row (J, R) times its matrix, or the one of all."""
    if len(inverses) == 1:
        return np.asarray(rows @ inverses[0])
    return np.asarray(np.einsum("jr,jrs->js", rows, inverses))
