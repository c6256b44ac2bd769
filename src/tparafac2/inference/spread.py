"""Components found again, and how far they spread: sums over refits, so that no refit has to be kept."""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import assign
from tparafac2.result import Band

FloatArray = NDArray[np.floating[Any]]

_FOUND = 0.5
"""Cosine of its course from which on a component counts as found again."""
_NOTHING = 1e-12


class Factors(NamedTuple):
    """Factors in the normalised view: A (I, R) and every B_k (J, R) of length 1, the rest in C (K, R)."""

    A: FloatArray
    B: FloatArray
    C: FloatArray

    @classmethod
    def of(cls, A: FloatArray, B: FloatArray, C: FloatArray) -> "Factors":
        """Normalise; what is zero stays zero."""
        a, b = np.linalg.norm(A, axis=0), np.linalg.norm(B, axis=1)
        return cls(A / _safe(a), B / _safe(b)[:, None, :], C * a * b)

    @property
    def courses(self) -> FloatArray:
        """c_k b_k over all times and columns, of length 1, (K J, R): the components as rows have them."""
        together = (self.B * self.C[:, None, :]).reshape(-1, self.C.shape[1])
        return np.asarray(together / _safe(np.linalg.norm(together, axis=0)))


def _safe(lengths: FloatArray) -> FloatArray:
    return np.where(lengths > 0, lengths, 1.0)


def matched(found: Factors, model: Factors) -> tuple[Factors, NDArray[np.bool_]]:
    """The components in the order and with the signs of a model's, and which of these were found again.

    The course of strengths is brought to the size of the model's: how large all rows are is not in question.

    Examples
    --------
    >>> one = Factors.of(np.eye(3, 2), np.eye(3, 2)[None], np.array([[2.0, 1.0]]))
    >>> other = Factors.of(-np.eye(3, 2)[:, ::-1], -np.eye(3, 2)[None, :, ::-1], np.array([[1.0, 2.0]]))
    >>> same, found = matched(other, one)
    >>> bool(np.allclose(same.B, one.B)), same.C.tolist(), found.tolist()
    (True, [[2.0, 1.0]], [True, True])
    """
    turn, again = turning_to(model, found)
    C = found.C @ np.abs(turn)
    C = C * np.linalg.norm(model.C, axis=0) / _safe(np.linalg.norm(C, axis=0))
    return Factors(found.A @ turn, found.B @ turn, C), again


def turning_to(model: Factors, found: Factors) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The signed permutation (R, R) that brings components into the order of a model's, and which it has."""
    cosines = model.courses.T @ found.courses
    own, theirs = assign(np.abs(cosines))
    turn, again = np.zeros_like(cosines), np.zeros(len(cosines), dtype=bool)
    likeness = cosines[own, theirs]
    turn[theirs, own] = np.where(likeness < 0, -1.0, 1.0)
    again[own] = np.abs(likeness) >= _FOUND
    return turn, again


class Spread:
    """Sums of deviations from a centre, over refits in which a component was found.

    Parameters
    ----------
    centre : mapping of str to ndarray
        What the deviations are from.
    model : mapping of str to ndarray
        The same of the model, which is smoother: smoothness moved it so far, and may have moved the centre.
    owners : mapping of str to ndarray of int
        Of which component every last index is.
    """

    def __init__(
        self,
        centre: Mapping[str, FloatArray],
        model: Mapping[str, FloatArray],
        owners: Mapping[str, NDArray[np.intp]],
    ) -> None:
        self.centre, self.owners = centre, owners
        self.moved = {name: (model[name] - values) ** 2 for name, values in centre.items()}
        self.count = {name: np.zeros(len(owner)) for name, owner in owners.items()}
        self.sums = {name: np.zeros_like(values) for name, values in centre.items()}
        self.squares = {name: np.zeros_like(values) for name, values in centre.items()}

    def add(self, values: Mapping[str, FloatArray], found: NDArray[np.bool_]) -> None:
        """One more refit."""
        for name, centre in self.centre.items():
            here = found[self.owners[name]]
            deviation = np.where(here, values[name] - centre, 0.0)
            self.count[name] += here
            self.sums[name] += deviation
            self.squares[name] += deviation * deviation

    def band(self, name: str, level: float, *, bound: float = -np.inf, most: float = np.inf) -> Band:
        """A band around the centre, by the standard deviation and by how far smoothness moved the model.

        What is at its lower bound has a band on one side only.
        """
        centre, n = self.centre[name], self.count[name]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.maximum(self.squares[name] - self.sums[name] ** 2 / n, 0.0) / (n - 1)
            spread = np.sqrt(variance + self.moved[name])
            around = np.sqrt(self.squares[name] / n + self.moved[name])
        two_sided, one_sided = (NormalDist().inv_cdf(p) for p in ((1 + level) / 2, level))
        resting = centre <= bound + _NOTHING
        lower = np.where(resting, centre, np.maximum(centre - two_sided * spread, bound))
        upper = centre + np.where(resting, one_sided * around, two_sided * spread)
        lower, upper = np.clip(lower, -most, None), np.clip(upper, None, most)
        unknown = ~np.isfinite(spread)
        return Band(
            np.asarray(centre, dtype=np.float64),
            np.where(unknown, np.nan, lower),
            np.where(unknown, np.nan, upper),
        )
