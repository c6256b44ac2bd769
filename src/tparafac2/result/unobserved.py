"""Patterns and strengths at times of which nothing was observed, from those of the other times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, lines_through
from tparafac2.penalties import FEASIBLE, Penalty, asks_for, proximal

_MOST_ROUNDS = 200


class Unobserved(NamedTuple):
    """Which slices are known, which are not, and when they were taken.

    Attributes
    ----------
    times : ndarray (K,)
        Of all slices.
    known, unknown : sequence of int
        Places among the times.
    period : float, optional
        Time goes round with it.
    """

    times: NDArray[np.float64]
    known: Sequence[int]
    unknown: Sequence[int]
    period: float | None = None

    def on_lines(self, values: FloatArray) -> FloatArray:
        """All values (K, ...), those that are unknown on straight lines between their neighbours in time.

        Before the first and after the last known time they stay as they are there. That is the smoothest way:
        squared changes divided by the gaps are least.

        Examples
        --------
        >>> Unobserved(np.array([0.0, 1.0, 4.0]), [0, 2], [1]).on_lines(np.array([1.0, np.nan, 5.0]))
        array([1., 2., 5.])
        """
        known, unknown = list(self.known), list(self.unknown)
        whole = values.copy()
        lines = lines_through(self.times[known], self.period)
        whole[unknown] = lines.at(values[known], self.times[unknown])
        return whole

    def patterns(self, B: FloatArray, terms: Sequence[Penalty]) -> FloatArray:
        """All patterns (K, J, R), where they may only turn as near to straight lines as that allows.

        Examples
        --------
        >>> from tparafac2.penalties import Parafac2
        >>> B = np.array([[[1.0], [0.0]], [[np.nan], [np.nan]], [[0.0], [1.0]]])
        >>> Unobserved(np.arange(3.0), [0, 2], [1]).patterns(B, [])[1].ravel()
        array([0.5, 0.5])
        >>> Unobserved(np.arange(3.0), [0, 2], [1]).patterns(B, [Parafac2()])[1].ravel().round(3)
        array([0.707, 0.707])
        """
        whole, unknown = self.on_lines(B), list(self.unknown)
        known = np.asarray(B[list(self.known)], dtype=np.float64)
        if not (asks_for(terms, "parafac2") and np.isfinite(known).all()):
            return whole
        delta = proximal.mean_cross_product_root(known, np.ones(len(known)))
        turned = _turned(whole[unknown].astype(np.float64), delta)
        if asks_for(terms, "nonnegative"):
            nearest = np.abs(self.times[unknown][:, None] - self.times[list(self.known)]).argmin(axis=1)
            turned = _without_negatives(turned, delta, known[nearest])
        whole[unknown] = turned
        return whole


def _turned(slices: NDArray[np.float64], delta: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest slices P_k Delta with orthonormal P_k."""
    size = np.abs(delta).max() or 1.0
    return np.asarray(proximal.polar_factors(slices @ (delta / size).T) @ delta, dtype=np.float64)


def _without_negatives(
    slices: NDArray[np.float64], delta: NDArray[np.float64], instead: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Slices P_k Delta near to those given without a negative entry; where none is found, those `instead`."""
    found = slices
    for _ in range(_MOST_ROUNDS):
        found = np.maximum(_turned(found, delta), 0.0)
    sizes = np.linalg.norm(delta, axis=0)
    sizes[sizes == 0] = 1.0
    off = np.abs(found.transpose(0, 2, 1) @ found - delta.T @ delta) / np.outer(sizes, sizes)
    return np.where(off.max(axis=(1, 2), keepdims=True) <= FEASIBLE, found, instead)
