"""What terms on changes in time share: how long the gaps between slices are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from tparafac2.data.times import time_weights
from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.proximal import Float64Array


class OnGaps:
    """A term with `weights` of changes, inverse to the gaps between slices, and one that closes the round."""

    weights: tuple[float, ...] | None
    closing: float

    def on_clock(self, times: FloatArray, period: float | None) -> Self:
        """Weigh changes by the inverse of the gaps in time, unless they have weights already."""
        if self.weights is not None or self.closing:
            return self
        between, closing = time_weights(np.asarray(times, dtype=np.float64), period)
        return self._with(between, closing)

    def continued(self, times: FloatArray, known: int, period: float | None) -> Self:
        """Weigh further changes as those between the `known` first times, of which the weights are kept."""
        if self.weights is None and not self.closing:
            return self
        between, closing = time_weights(np.asarray(times, dtype=np.float64), period, known)
        require_same(type(self).__name__, self.weights, between[: known - 1])
        return self._with(between, closing)

    def gap_weights(self, n: int) -> Float64Array:
        """Give the weight of each change between n slices."""
        if self.weights is None:
            return np.ones(n - 1)
        if len(self.weights) != n - 1:
            raise ValueError(
                f"{type(self).__name__} has {len(self.weights)} weights, one for each change between slices, "
                f"but there are {n} slices: give {n - 1} weights."
            )
        return np.asarray(self.weights, dtype=np.float64)

    def _with(self, weights: tuple[float, ...], closing: float) -> Self:
        term: Any = self  # a dataclass, as all terms are
        changed: Self = replace(term, weights=weights, closing=closing)
        return changed


def require_same(owner: str, own: tuple[float, ...] | None, by_time: tuple[float, ...]) -> None:
    """Refuse to continue weights that did not come from the times."""
    if own is None or len(own) != len(by_time) or not np.allclose(own, by_time, rtol=1e-6):
        raise ValueError(
            f"{owner} has weights of its own, which say nothing of further times: fit all data again, with "
            "weights for all of them."
        )
