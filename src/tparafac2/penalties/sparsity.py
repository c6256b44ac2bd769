"""Terms that set single entries to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tparafac2.penalties import proximal
from tparafac2.penalties.abilities import OnScale, Quantity
from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.requirements import require_weight


@dataclass(frozen=True)
class L1:
    """Let few entries be other than zero: ``strength * sum |x|``, on patterns, loadings or strengths.

    The term is of degree one: when the scale of a component moves from one factor to another, it changes in
    another proportion than the squares there. Scales are balanced all the same, but each lambda counts by
    itself, and not in their product alone: `smoothness` still sets the lambdas, and is no longer all that
    matters. And it is a norm penalty: the other factors need one, too, or a bound.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0. An entry is zero where the squared error would fall by less than
        this for every unit of it.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import L1
    >>> L1(0.5).value(np.array([[3.0, -1.0]]))
    2.0
    >>> x, _ = L1(0.5).prox(np.array([[3.0, -1.0], [0.4, -2.0]]), rho=np.array([1.0, 0.5]))
    >>> x.tolist()
    [[2.5, -0.5], [0.0, -1.0]]
    """

    strength: float

    degree: ClassVar[int | None] = 1
    exact: ClassVar[bool] = True
    even: ClassVar[bool] = True
    measures: ClassVar[Quantity] = "sum of sizes"

    def __post_init__(self) -> None:
        require_weight("L1", strength=self.strength)

    @property
    def on_scale(self) -> OnScale | None:
        """Scale costs, in proportion."""
        return "costs" if self.strength > 0 else None

    def value(self, x: FloatArray) -> float:
        """Give ``strength * sum |x|``."""
        return float(self.strength * np.sum(np.abs(x), dtype=np.float64))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Move every entry towards zero by ``strength / rho``, and not beyond it."""
        wide, weights = proximal.prepare(v, rho)
        threshold = proximal.along_first(self.strength / weights, v.ndim)
        return proximal.shrink(wide, threshold).astype(v.dtype, copy=False), None
