"""How alike components are that were found in different parts of the rows, and how alike by chance."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import assign

FloatArray = NDArray[np.float64]


class Likeness(NamedTuple):
    """How alike the components of halves of the rows are, in the order of the model's components.

    Attributes
    ----------
    own : ndarray (R,)
        Median cosine of a component with itself in the other half.
    chance : ndarray (R,)
        Median of its largest cosine with another component in the other half: so alike are components that
        are not the same. 0 if there is no other.
    """

    own: FloatArray
    chance: FloatArray

    @property
    def above_chance(self) -> FloatArray:
        """The part of the way from chance to 1 that the likeness has come; negative below chance."""
        return (self.own - self.chance) / np.maximum(1.0 - self.chance, 1e-12)


def aligned(found: FloatArray, model: FloatArray) -> FloatArray:
    """Components in the order of those of a model that they are most like; zeros for what has none."""
    theirs, own = assign(np.abs(found.T @ model))
    ordered = np.zeros_like(model)
    ordered[:, own] = found[:, theirs]
    return ordered


def cross_likeness(one: FloatArray, other: FloatArray) -> FloatArray:
    """Absolute cosines (R, R) of components of length 1."""
    return np.minimum(np.abs(one.T @ other), 1.0)


def likeness(crossed: Sequence[FloatArray]) -> Likeness:
    """Put together the cosines (R, R) between the two halves of each split.

    Examples
    --------
    >>> likeness([np.array([[0.98, 0.3], [0.1, 0.5]])])
    Likeness(own=array([0.98, 0.5 ]), chance=array([0.3, 0.3]))
    """
    own = np.median([np.diag(cosines) for cosines in crossed], axis=0)
    chance = np.median([_best_other(cosines) for cosines in crossed], axis=0)
    return Likeness(own, chance)


def _best_other(cosines: FloatArray) -> FloatArray:
    others = cosines - np.diag(np.diag(cosines))
    return np.asarray(np.maximum(others.max(axis=0), others.max(axis=1)))
