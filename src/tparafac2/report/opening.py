"""Where the page opens: at what changes most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.report.display import Display
from tparafac2.result import Result

_VISIBLE = 1e-3
"""What changes less does not change for any eye."""


class Opening(NamedTuple):
    """The component (from 0) and the column whose change stands out most from the noise."""

    component: int
    column: int


def opening(result: Result, view: Display) -> Opening | None:
    """Find the largest well-determined change of a weight; None if nothing changes.

    Weights are the more uncertain the weaker their component is, so that a change counts by the smaller
    strength at its two ends, relative to the component's greatest: a strong component that hardly changes is
    nothing to begin with. It counts less if the column goes up and down all the time, as noise does: by how
    far it reaches, relative to all the way it goes. Where there are bands, a change whose band includes zero
    does not count, nor do components that halves of the rows do not have. These bands hold for all changes of
    a component together.

    Examples
    --------
    >>> from tparafac2.report.display import look
    >>> B = np.array([[[3.0, 1.0], [4.0, 1.0]], [[4.0, 1.0], [3.0, 1.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 2)), B=B, C=np.array([[1.0, 9.0]] * 2), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> opening(result, look(result))
    Opening(component=0, column=0)
    """
    weights = np.where(view.shown, view.B, np.nan)
    sizes = np.nan_to_num(np.abs(view.C), posinf=0.0)
    peaks = sizes.max(axis=0)
    sizes = sizes / np.where(peaks > 0, peaks, 1.0)
    rises, falls = (_largest(sign * weights, sizes) for sign in (1.0, -1.0))
    bands = result.intervals
    if bands is not None:
        rises = np.where(bands.rises.includes_zero | bands.unstable, 0.0, rises)
        falls = np.where(bands.falls.includes_zero | bands.unstable, 0.0, falls)
    scores = np.maximum(rises, falls) * _straightness(weights)
    if result.trust is not None and result.trust.verdict is not None:
        scores = np.where(result.trust.verdict == "not there", 0.0, scores)
    if not scores.max(initial=0.0) > _VISIBLE:
        return None
    column, component = np.unravel_index(np.argmax(scores), scores.shape)
    return Opening(int(component), int(column))


def _largest(weights: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest rise of every column in every component, (J, R), times the smaller size at its ends."""
    lowest, size_then = np.full(weights.shape[1:], np.inf), np.zeros(weights.shape[1:])
    scores = np.zeros(weights.shape[1:])
    for weight, size in zip(weights, sizes):
        lower = weight < lowest  # not where it is unknown
        lowest, size_then = np.where(lower, weight, lowest), np.where(lower, size, size_then)
        gain = np.nan_to_num(np.where(np.isfinite(lowest), weight - lowest, 0.0))
        scores = np.maximum(scores, gain * np.minimum(size, size_then))
    return scores


def _straightness(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far every column reaches, relative to all the way it goes up and down, (J, R), 0 to 1."""
    way, last = np.zeros(weights.shape[1:]), weights[0]
    lowest = highest = last
    for weight in weights[1:]:
        way += np.nan_to_num(np.abs(weight - last))
        last = np.where(np.isfinite(weight), weight, last)
        lowest, highest = np.fmin(lowest, weight), np.fmax(highest, weight)
    reach = np.nan_to_num(highest - lowest)
    return np.asarray(np.divide(reach, way, out=np.zeros_like(way), where=way > 0))
