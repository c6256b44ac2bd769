"""Differences of groups and correlations: how large, by chance how often, and between which bounds.

Chance is told by permutations of the rows. What they compare is divided by its own standard error in each
group, so that groups of unequal size and spread are not taken for groups of unequal means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_AT_ONCE = 4_000_000
"""Numbers of permuted rows that are held at once."""
_LEAST_SPREAD = 1e-3
"""Of the spread of all rows: a group of equal values would else be infinitely sure of its mean."""
_SAME = 1e-9


class Measured(NamedTuple):
    """What is reported of each component, (R,), and the statistic that permutations compare."""

    value: FloatArray
    statistic: FloatArray


@dataclass(frozen=True, eq=False)
class Groups:
    """To which of several groups each row belongs.

    Attributes
    ----------
    codes : ndarray of int (n,)
    names : tuple of str
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """What is reported: of two groups the difference of their means, in standard deviations."""
        return "difference" if len(self.names) == 2 else "eta squared"

    def measure(self, Z: FloatArray) -> Measured:
        """Of standardised loadings (n, R)."""
        return self.of_rows(np.arange(len(Z))[np.newaxis], Z, self.codes[np.newaxis], one=True)

    def permuted(self, orders: NDArray[np.intp], Z: FloatArray) -> Measured:
        """With the groups in other orders (m, n): values (m, R)."""
        return self.of_rows(None, Z, self.codes[orders])

    def resampled(self, draws: NDArray[np.intp], Z: FloatArray) -> FloatArray:
        """With rows drawn anew (m, n): values (m, R)."""
        return self.of_rows(draws, Z, self.codes[draws]).value

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw rows anew within each group, so that none is ever empty."""
        draws = np.empty((count, len(self.codes)), dtype=np.intp)
        for g in range(len(self.names)):
            own = np.flatnonzero(self.codes == g)
            draws[:, own] = own[rng.integers(len(own), size=(count, len(own)))]
        return draws

    def of_rows(
        self, draws: NDArray[np.intp] | None, Z: FloatArray, codes: NDArray[np.intp], *, one: bool = False
    ) -> Measured:
        """Means and spreads of the groups, and what follows of them."""
        G, n = len(self.names), codes.shape[1]
        member = (codes[:, np.newaxis, :] == np.arange(G)[:, np.newaxis]).astype(np.float64)  # (m, G, n)
        values = Z if draws is None else Z[draws]
        counts = member.sum(axis=2)[:, :, np.newaxis]
        means = member @ values / counts
        squares = member @ values**2
        within = np.maximum(squares - counts * means**2, 0.0)
        total = squares.sum(axis=1) - n * (counts * means).sum(axis=1) ** 2 / n**2
        variances = np.maximum(within / (counts - 1), _LEAST_SPREAD * total[:, np.newaxis] / n + 1e-300)
        precision = counts / variances
        middle = (precision * means).sum(axis=1) / precision.sum(axis=1)
        statistic = (precision * (means - middle[:, np.newaxis]) ** 2).sum(axis=1)
        if G == 2:
            value = (means[:, 1] - means[:, 0]) / np.sqrt(np.maximum(total, 1e-300) / n)
        else:
            error = within.sum(axis=1)
            adjusted = (total - error - (G - 1) * error / (n - G)) / np.maximum(total, 1e-300)
            value = adjusted
        return Measured(value[0], statistic[0]) if one else Measured(value, statistic)

    def bias(self, Z: FloatArray) -> FloatArray:
        """By how much drawing rows anew makes the value larger than it is: noise in means adds to it."""
        if len(self.names) == 2:
            return np.zeros(Z.shape[1])
        G, n = len(self.names), len(Z)
        means = np.stack([Z[self.codes == g].mean(axis=0) for g in range(G)])
        error = ((Z - means[self.codes]) ** 2).sum(axis=0)
        total = np.maximum(((Z - Z.mean(axis=0)) ** 2).sum(axis=0), 1e-300)
        return np.asarray((G - 1) * error / (n - G) / total)

    def told(self, z: FloatArray) -> dict[str, Any]:
        """The groups with the highest and the lowest mean, and how far they are apart."""
        means = np.array([z[self.codes == g].mean() for g in range(len(self.names))])
        high, low = int(np.argmax(means)), int(np.argmin(means))
        return {
            "high": self.names[high],
            "low": self.names[low],
            "difference": float(means[high] - means[low]),
        }


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number for each row, (n,)."""

    values: FloatArray

    name = "correlation"

    def measure(self, Z: FloatArray) -> Measured:
        """Of standardised loadings (n, R)."""
        found = _correlated(self.values[np.newaxis, :, np.newaxis], Z[np.newaxis])
        return Measured(found.value[0], found.statistic[0])

    def permuted(self, orders: NDArray[np.intp], Z: FloatArray) -> Measured:
        """With the numbers in other orders (m, n)."""
        return _correlated(self.values[orders][:, :, np.newaxis], Z[np.newaxis])

    def resampled(self, draws: NDArray[np.intp], Z: FloatArray) -> FloatArray:
        """With rows drawn anew (m, n)."""
        return _correlated(self.values[draws][:, :, np.newaxis], Z[draws]).value

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw rows anew."""
        return rng.integers(len(self.values), size=(count, len(self.values)))

    def bias(self, Z: FloatArray) -> FloatArray:
        """Nothing that would have to be taken off."""
        return np.zeros(Z.shape[1])

    def told(self, z: FloatArray) -> dict[str, Any]:
        """There are no groups."""
        return {}


def _correlated(x: FloatArray, y: FloatArray) -> Measured:
    """Correlations along the rows, and these divided by their standard error, whatever the spreads."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    products = x * y
    size = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    value = products.sum(axis=1) / np.where(size > 0, size, 1.0)
    error = np.sqrt((products**2).sum(axis=1))
    return Measured(value, np.abs(products.sum(axis=1)) / np.where(error > 0, error, np.inf))


def chance(kind: Groups | Numbers, Z: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """How often permuted rows give at least as much, (R,); the rows as they are count as one of them."""
    found = kind.measure(Z).statistic * (1 - _SAME)
    more = np.zeros(Z.shape[1])
    for size in _portions(count, Z):
        orders = rng.permuted(np.tile(np.arange(len(Z)), (size, 1)), axis=1)
        more += (kind.permuted(orders, Z).statistic >= found).sum(axis=0)
    return np.asarray((1 + more) / (1 + count))


def bootstrapped(
    kind: Groups | Numbers, Z: FloatArray, count: int, level: float, rng: np.random.Generator
) -> FloatArray:
    """Bounds of the value from rows that are drawn anew, (2, R)."""
    drawn = [kind.resampled(kind.draw(size, rng), Z) for size in _portions(count, Z)]
    tails = (1 - level) / 2
    bounds = np.quantile(np.concatenate(drawn), [tails, 1 - tails], axis=0) - kind.bias(Z)
    return np.asarray(np.clip(bounds, 0.0, 1.0)) if kind.name == "eta squared" else np.asarray(bounds)


def _portions(count: int, Z: FloatArray) -> Iterator[int]:
    """So many at a time that they fit in memory."""
    most = max(1, _AT_ONCE // (Z.size + 4 * len(Z)))
    for begin in range(0, count, most):
        yield min(most, count - begin)


def holm(p: FloatArray) -> FloatArray:
    """Correct for the number of tests, whatever their dependence (Holm); NaN are no tests.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    corrected = np.full(len(p), np.nan)
    places = np.flatnonzero(np.isfinite(p))
    order = places[np.argsort(p[places], kind="stable")]
    steps = p[order] * (len(order) - np.arange(len(order)))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
