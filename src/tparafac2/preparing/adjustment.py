"""Centring and scaling: means that are taken off and deviations that are divided by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Correction, FloatArray, Mode, Places
from tparafac2.preparing.steps import deviations, largest, means, spread_out


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What is taken off each row, column or time, and what it is then divided by.

    Attributes
    ----------
    center, scale : "rows", "columns" or "time", optional
        Of which the means are taken off, and which are divided by their deviations.
    centers, scales : ndarray, optional
        The means, and the deviations: 0 where all values are the same.

    Examples
    --------
    >>> X = np.array([[[1.0, 7.0], [3.0, np.nan]]])
    >>> found = Adjustment.of(X, "columns", None)
    >>> found.centers.tolist(), found.apply(X).tolist()
    ([2.0, 7.0], [[[-1.0, 0.0], [1.0, nan]]])
    >>> found.undo(found.apply(X)).tolist()
    [[[1.0, 7.0], [3.0, nan]]]
    """

    center: Mode | None = None
    scale: Mode | None = None
    centers: FloatArray | None = None
    scales: FloatArray | None = None

    @classmethod
    def of(cls, stack: FloatArray, center: Mode | None, scale: Mode | None, size: float = 0.0) -> Self:
        """Of a stack (K, I, J), NaN where missing.

        Values of at least `size` would be there before means are taken off, which tells rounding from spread.
        """
        centers = scales = None
        before = None if scale is None else np.maximum(largest(stack, scale), size)
        if center is not None:
            centers = means(stack, center)
            stack = stack - spread_out(centers, center)
        if scale is not None and before is not None:
            scales = deviations(stack, scale, before)
        return cls(center, scale, centers, scales)

    @classmethod
    def of_sparse(
        cls, slices: Sequence[Any], center: Mode | None, scale: Mode | None, hidden: Places | None = None
    ) -> Self:
        """Of sparse slices, zeros included; of all but hidden entries, at which nothing may be stored."""
        centers = scales = None
        correction = Correction()
        if center is not None:
            correction = Correction.centring(slices, center, over="all", hidden=hidden)
            centers = correction.means(center)
        if scale is not None:
            scales = correction.sizes(slices, scale, hidden=hidden)
        return cls(center, scale, centers, scales)

    def correction(self, slices: Sequence[Any]) -> Correction | None:
        """The same for sparse slices, which stay sparse; None if nothing is to be done."""
        if self.centers is None and self.scales is None:
            return None
        made = Correction()
        if self.center is not None and self.centers is not None:
            made = Correction.taking_off(np.asarray(self.centers, np.float64), self.center, slices)
        if self.scale is not None and self.scales is not None:
            made = made.divided(np.asarray(self.scales, np.float64), self.scale)
        return made

    @property
    def flat(self) -> Any:
        """Where nothing can be divided by, since all values are the same."""
        return np.zeros(0, dtype=bool) if self.scales is None else self.scales == 0

    def unscaled_where_flat(self) -> Self:
        """The same, without division where all values are the same."""
        if self.scales is None:
            return self
        return replace(self, scales=self.scales + self.flat)

    def apply(self, stack: FloatArray) -> FloatArray:
        """Take off and divide, in a stack (K, I, J)."""
        if self.center is not None and self.centers is not None:
            stack = stack - spread_out(self.centers, self.center)
        if self.scale is not None and self.scales is not None:
            stack = stack / spread_out(self.scales, self.scale)
        return stack

    def at(self, values: FloatArray, places: Places) -> NDArray[np.float64]:
        """Take off and divide, of single entries."""
        if self.center is not None and self.centers is not None:
            values = values - self.centers[getattr(places, self.center)]
        if self.scale is not None and self.scales is not None:
            values = values / self.scales[getattr(places, self.scale)]
        return np.asarray(values, dtype=np.float64)

    def undo(self, stack: FloatArray) -> FloatArray:
        """Multiply and add again, in a stack (K, I, J)."""
        if self.scale is not None and self.scales is not None:
            stack = stack * spread_out(self.scales, self.scale)
        if self.center is not None and self.centers is not None:
            stack = stack + spread_out(self.centers, self.center)
        return stack
