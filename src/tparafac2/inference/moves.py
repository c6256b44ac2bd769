"""The largest rise and fall of every column, with bands that hold for all moves of a component together."""

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.result import Band

Floats = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]
Places = NDArray[np.intp]

_KEPT_BYTES = 256_000_000
_FEWEST_KEPT = 40
_NOTHING = 1e-12
_SMALLEST = 0.1
"""The spread of a column is at least this share of that of all columns."""


class Moves:
    """Refits of the patterns, kept in single precision, and the bands of the largest moves.

    The largest of many changes is large by chance, too. So the bands hold for all columns and all pairs of
    times of a component together: each refit gives its largest deviation, in spreads of that change, and the
    quantile of these maxima takes the place of the normal distribution's 1.96.

    Refits are kept as long as they fit into 256 MB or the memory of the data, and at least 40 of them.

    Parameters
    ----------
    centre : ndarray (K, J, R)
        Patterns that the deviations are from.
    model : ndarray (K, J, R)
        Those of the model, which is smoother. How far its change is from the centre's widens a band.
    known : ndarray of bool (K, J, R)
        Where the data determine the pattern: only changes between such times count.
    n_bytes : int
        Memory of the data.
    """

    def __init__(
        self, centre: FloatArray, model: FloatArray, known: NDArray[np.bool_], n_bytes: int = 0
    ) -> None:
        self.centre, self.model, self.known = centre, model, known
        self.most = max(_FEWEST_KEPT, max(_KEPT_BYTES, n_bytes) // (4 * centre.size))
        self._kept: list[tuple[NDArray[np.float32], NDArray[np.bool_]]] = []

    def add(self, B: FloatArray, found: NDArray[np.bool_]) -> None:
        """Add the patterns of one more refit, and which components were found in it."""
        if len(self._kept) < self.most:
            deviation = B - self.centre
            deviation -= deviation.mean(axis=0)  # changes stay, and are rounded by their own size
            self._kept.append((deviation.T.astype(np.float32, order="C"), found))

    def bands(self, moves: dict[str, Places], level: float) -> dict[str, Band]:
        """Bands of changes between places (2, J, R) of times; the refits are not kept longer."""
        centres = {name: change(self.centre, *ends) for name, ends in moves.items()}
        halves = {name: np.abs(change(self.model, *ends) - centres[name]) for name, ends in moves.items()}
        for r in range(self.centre.shape[2]):
            critical, spreads = self._simultaneous(r, [ends[:, :, r] for ends in moves.values()], level)
            for half, spread in zip(halves.values(), spreads):
                half[:, r] += critical * spread
        self._kept.clear()
        return {name: Band(mid, mid - halves[name], mid + halves[name]) for name, mid in centres.items()}

    def _simultaneous(self, r: int, ends: list[Places], level: float) -> tuple[float, list[Floats]]:
        """How many spreads the largest deviation of a component is, and the spreads of changes (J,).

        The spread of a change is not below what is usual: that of its column times that of its two times.
        """
        refits = [deviation[r] for deviation, found in self._kept if found[r]]
        K, J, _ = self.centre.shape
        n = len(refits)
        if n < 2:
            return np.nan, [np.full(J, np.nan) for _ in ends]
        known = self.known[:, :, r]

        of_columns, of_times, seen = np.zeros(J), np.zeros((K, K)), np.zeros((K, K))
        for j in range(J):
            variance, pairs = _variances(np.array([one[j] for one in refits]), known[:, j])
            if variance.any():
                of_columns[j] = variance.sum() / pairs.sum()
                of_times += variance / of_columns[j]
                seen += pairs
        of_times /= np.maximum(seen, 1)
        of_columns = np.maximum(of_columns, _SMALLEST**2 * of_columns.mean())

        spreads = [np.zeros(J) for _ in ends]
        largest = np.zeros(n)
        for j in range(J):
            deviations = np.array([one[j] for one in refits])
            variance, pairs = _variances(deviations, known[:, j])
            spread = np.sqrt(np.maximum(variance, of_times * of_columns[j]))
            for mine, (begin, end) in zip(spreads, ends):
                mine[j] = spread[begin[j], end[j]]
            inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=pairs & (spread > _NOTHING))
            course, inverse = deviations.T.copy(), inverse.astype(np.float32)
            for k in range(K - 1):
                sizes = np.abs(course[k + 1 :] - course[k]) * inverse[k + 1 :, k, None]
                np.maximum(largest, sizes.max(axis=0), out=largest)
        # Each refit is held against the spread of the others, as the truth is against that of all.
        largest *= np.sqrt((n - 1) / np.maximum(n - largest**2, 1.0))
        quantile = float(np.quantile(largest, level, method="higher"))
        return max(quantile, NormalDist().inv_cdf((1 + level) / 2)), spreads


def _variances(deviations: NDArray[np.float32], known: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """Variances (K, K) of changes between times over refits (n, K), 0 where not known, and where known."""
    covariance = np.atleast_2d(np.cov(deviations, rowvar=False, dtype=np.float64))
    own = np.diag(covariance)
    pairs = np.outer(known, known)
    np.fill_diagonal(pairs, False)
    return np.where(pairs, np.maximum(own[:, None] + own - 2 * covariance, 0.0), 0.0), pairs


def change(B: FloatArray, begin: Places, end: Places) -> Floats:
    """Weights (K, J, R) at one time minus those at another, for places (J, R) of both."""
    columns, components = np.indices(begin.shape)
    return np.asarray(B[end, columns, components] - B[begin, columns, components], dtype=np.float64)


def extremes(known: FloatArray, *, goes_round: bool = False) -> tuple[Places, Places]:
    """Places (2, ...) of the times between which each course (K, ...) rises most, and falls most.

    Examples
    --------
    >>> rise, fall = extremes(np.array([[0.5], [0.1], [0.9], [0.3]]))
    >>> rise.ravel().tolist(), fall.ravel().tolist()
    ([1, 2], [2, 3])
    """
    return _largest_rise(known, goes_round), _largest_rise(-known, goes_round)


def _largest_rise(known: FloatArray, goes_round: bool) -> Places:
    low = np.where(np.isnan(known), np.inf, known)
    if goes_round:
        high = np.where(np.isnan(known), -np.inf, known)
        return np.stack([low.argmin(axis=0), high.argmax(axis=0)])
    lowest = np.minimum.accumulate(low, axis=0)
    gains = np.where(np.isnan(known), -np.inf, known - lowest)
    end = gains.argmax(axis=0)
    steps = np.arange(len(known)).reshape(-1, *[1] * (known.ndim - 1))
    begin = np.where(steps <= end, low, np.inf).argmin(axis=0)
    return np.stack([begin, end])
