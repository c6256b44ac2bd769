"""Sets that the columns of a factor lie in: bounds, shares of a total, balls, and one peak each.

A column is a component's entries in one slice, see `tparafac2.penalties.columns`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tparafac2.penalties import proximal
from tparafac2.penalties.abilities import OnScale, Quantity
from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.columns import column_weights, columns_of, from_columns
from tparafac2.penalties.projections import onto_ball, onto_simplex
from tparafac2.penalties.requirements import indicator, require_number, require_positive


@dataclass(frozen=True)
class Box:
    """Keep every entry between two bounds.

    The bounds are numbers in the units of the factor. The scale of a component can then not move freely to
    another factor: it is not balanced, each lambda counts by itself and not in their product alone, and
    `smoothness` sets the lambdas but says less of the fit. A box that is bounded on both sides holds the
    scale, so that its factor needs no norm penalty.

    Parameters
    ----------
    lower, upper : float
        Least and largest entry; one of them may be infinite. For ``Box(0, inf)`` use `NonNegative`, which
        leaves the scale free and is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Box
    >>> x, _ = Box(0.0, 1.0).prox(np.array([[-2.0, 0.5, 7.0]]), rho=np.ones(1))
    >>> x.tolist(), Box(0.0, 1.0).value(x)
    ([[0.0, 0.5, 1.0]], 0.0)
    """

    lower: float = -math.inf
    upper: float = math.inf

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True
    is_set: ClassVar[bool] = True

    def __post_init__(self) -> None:
        lower, upper = (require_number("Box", name, getattr(self, name)) for name in ("lower", "upper"))
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise ValueError(f"Box: lower must not be above upper, got {self.lower} and {self.upper}.")
        if lower == -math.inf and upper == math.inf:
            raise ValueError("Box has no bounds: give lower, upper, or both.")

    @property
    def on_scale(self) -> OnScale | None:
        """Two bounds hold the scale; with one, entries have no end on the other side."""
        return "bounds" if math.isfinite(self.lower) and math.isfinite(self.upper) else None

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of the box."""
        return self.lower, self.upper

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if all entries lie between the bounds, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the largest way of an entry to its bound, relative to the largest entry or bound."""
        wide = np.asarray(x, dtype=np.float64)
        bounds = [abs(bound) for bound in (self.lower, self.upper) if math.isfinite(bound)]
        size = max(float(np.abs(wide).max(initial=0.0)), *bounds, 1e-300)
        return float(np.abs(wide - np.clip(wide, self.lower, self.upper)).max(initial=0.0)) / size

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Move entries to the nearest bound."""
        wide, _ = proximal.prepare(v, rho)
        return np.clip(wide, self.lower, self.upper).astype(v.dtype, copy=False), None


@dataclass(frozen=True)
class Simplex:
    """Let a component be shares of a total: entries are not negative, and every column sums to it.

    On patterns, a component's weights over the columns sum to the total in every slice; on loadings, its
    weights over the rows do, and on strengths those over time. The scale of the factor is then fixed: it is
    not balanced and needs no norm penalty, each lambda counts by itself, and `smoothness` sets the lambdas
    but says less of the fit.

    Parameters
    ----------
    total : float
        The sum, above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Simplex
    >>> x, _ = Simplex().prox(np.array([[[1.0], [0.5], [-3.0]]]), rho=np.ones(1))
    >>> x[0, :, 0].tolist()
    [0.75, 0.25, 0.0]
    """

    total: float = 1.0

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True
    is_set: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True
    on_scale: ClassVar[OnScale] = "bounds"
    keeps: ClassVar[Quantity] = "sum of sizes"

    def __post_init__(self) -> None:
        require_positive("Simplex", total=self.total)

    @property
    def bounds(self) -> tuple[float, float]:
        """Entries from 0 to the total."""
        return 0.0, self.total

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if no entry is negative and all columns sum to the total, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the most negative entry, or the largest difference of a sum, relative to the total."""
        columns = columns_of(x)
        missed = np.abs(columns.sum(axis=1) - self.total).max(initial=0.0)
        return max(0.0, float(missed), float(-columns.min())) / self.total

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Give every column's nearest point on the simplex."""
        wide, weights = proximal.prepare(v, rho)
        return from_columns(onto_simplex(columns_of(wide), column_weights(weights, v), self.total), v), None


@dataclass(frozen=True)
class NormBall:
    """Keep the norm of every column within a radius: of each component, in each slice.

    The scale is then bounded: the factor needs no norm penalty, the scale is not balanced, each lambda counts
    by itself, and `smoothness` sets the lambdas but says less of the fit.

    Parameters
    ----------
    radius : float
        Most that the Euclidean norm can be, above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import NormBall
    >>> x, _ = NormBall(1.0).prox(np.array([[[3.0], [4.0]]]), rho=np.ones(1))
    >>> x[0, :, 0].round(12).tolist()
    [0.6, 0.8]
    """

    radius: float = 1.0

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True
    is_set: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True
    on_scale: ClassVar[OnScale] = "bounds"
    rotatable: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        require_positive("NormBall", radius=self.radius)

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if no column is longer than the radius, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give by how much the longest column is too long, relative to its length."""
        longest = float(np.linalg.norm(columns_of(x), axis=1).max(initial=0.0))
        return max(longest - self.radius, 0.0) / max(longest, self.radius)

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Shorten the columns that are too long."""
        wide, weights = proximal.prepare(v, rho)
        return from_columns(onto_ball(columns_of(wide), column_weights(weights, v), self.radius), v), None


@dataclass(frozen=True)
class Unimodal:
    """Let every column have one peak: it rises up to some entry, and falls from there on.

    For columns (or rows, for loadings; or times, for strengths) that have an order: spectra, elution
    profiles, dose and response. The peak may be anywhere, and at another place in every slice. The set is not
    convex, but its nearest point is found exactly; it leaves the scale free, so that balance and the one
    knob stay.

    Parameters
    ----------
    nonnegative : bool
        Whether entries must not be negative, either.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import Unimodal
    >>> x, _ = Unimodal().prox(np.array([[[0.0], [4.0], [1.0], [3.0], [-1.0]]]), rho=np.ones(1))
    >>> x[0, :, 0].tolist()
    [0.0, 4.0, 2.0, 2.0, -1.0]
    """

    nonnegative: bool = False

    degree: ClassVar[int | None] = 0
    exact: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.nonnegative, bool):
            raise TypeError(f"Unimodal: nonnegative must be True or False, got {self.nonnegative!r}.")

    @property
    def bounds(self) -> tuple[float, float]:
        """Entries from 0 on, where that is asked for."""
        return (0.0 if self.nonnegative else -math.inf), math.inf

    def value(self, x: FloatArray) -> float:
        """Give 0.0 if every column has one peak, else inf."""
        return indicator(self.violation(x))

    def violation(self, x: FloatArray) -> float:
        """Give the largest step away from a column's peak, relative to its component's largest entry."""
        wide = np.asarray(x, dtype=np.float64)
        columns = columns_of(wide / proximal.component_sizes(wide))
        steps, peaks = np.diff(columns, axis=1), columns.argmax(axis=1)[:, None]
        wrong = np.where(np.arange(steps.shape[1]) < peaks, -steps, steps)
        worst = max(0.0, float(wrong.max(initial=0.0)))
        return max(worst, float(-columns.min())) if self.nonnegative else worst

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Give every column's nearest one with a single peak."""
        from tparafac2.penalties.column_kernels import nearest_unimodal

        wide, weights = proximal.prepare(v, rho)
        columns = columns_of(wide)
        nearest = np.empty_like(columns)
        nearest_unimodal(columns, column_weights(weights, v), self.nonnegative, nearest)
        return from_columns(nearest, v), None
