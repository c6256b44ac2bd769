"""How long a batch of starts will still take, told from how it converges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.solver import Entry, Settings

_SPAN = 25  # iterations over which the rate of convergence is measured
_FARTHEST = 3.0  # plateaus end all of a sudden: nothing is foretold beyond this many times the past
_LEAST_RATIO = 1e-300


class Range(NamedTuple):
    """Between which bounds something is likely to lie."""

    least: float
    most: float


class Outlook:
    """Where the starts of one batch are on their way to the rule that stops them.

    The spread of the objective and the largest gap, as multiples of what they may be at the end, fall about
    geometrically near a minimum: their logarithms are extended as straight lines. Starts on the same data
    come to the same rate in the end, so that each is also judged by the median of all.

    Parameters
    ----------
    settings : Settings

    Examples
    --------
    A start whose objective comes closer to 1 by a tenth in every iteration, one second each:

    >>> from tparafac2.solver import Info
    >>> outlook, zero, one = Outlook(Settings()), np.zeros(1), np.array([0])
    >>> for n in range(1, 121):
    ...     outlook.step(Entry(n, float(n), one, Info(np.array([1 + 0.9**n]), zero, zero, zero)))
    >>> [round(bound) for bound in outlook.seconds_left()]
    [61, 61]
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.iteration = 0
        self.active: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.objectives = self.gaps = np.empty((0, 0))
        self.paces = np.empty(_SPAN)  # seconds that one start took in recent iterations
        self.clock = 0.0

    def step(self, entry: Entry) -> None:
        """Take notice of one more iteration."""
        if not self.iteration:
            shape = (_SPAN + self.settings.window, len(entry.active))
            self.objectives, self.gaps = np.full(shape, np.nan), np.full(shape, np.nan)
        self.iteration, self.active = entry.iteration, entry.active
        # Starts that have stopped keep the last that was seen of them.
        for recent, now in ((self.objectives, entry.info.objective), (self.gaps, entry.info.gap)):
            recent[:-1, self.active] = recent[1:, self.active]
            recent[-1, self.active] = now
        self.paces[self.iteration % _SPAN] = (entry.seconds - self.clock) / len(self.active)
        self.clock = entry.seconds

    def seconds_left(self) -> Range | None:
        """Between how many seconds the batch will still take; None while that cannot be told."""
        left = self._iterations_left()
        if left is None or not left[1].max() <= _FARTHEST * self.iteration:
            return None
        pace = float(np.median(self.paces))
        # With every start that stops the iterations become cheaper: the sum over the starts is what is paid.
        return Range(*(pace * float(iterations.sum()) for iterations in left))

    def _iterations_left(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Least and most iterations that each active start will still need."""
        if self.iteration < _SPAN + self.settings.window:
            return None
        least, most = np.ones(len(self.active)), np.ones(len(self.active))
        for excess in self._excesses():
            above = np.maximum(excess[-1, self.active], 0.0)
            if not above.any():
                continue
            fall = -_slopes(excess)
            usual = np.median(fall[~np.isnan(fall)])  # some may have stopped before there was anything to see
            if not usual > 0:
                return None
            own = np.where(fall[self.active] > 0, fall[self.active], usual)
            least = np.maximum(least, above / np.maximum(own, usual))
            most = np.maximum(most, above / np.minimum(own, usual))
        bound = max(self.settings.max_iter - self.iteration, 0)
        return np.minimum(least, bound), np.minimum(most, bound)

    def _excesses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of how many times too large spread and gap were: below 0 a start may stop."""
        seen = np.lib.stride_tricks.sliding_window_view(self.objectives, self.settings.window + 1, axis=0)
        spread = seen.max(axis=-1) - seen.min(axis=-1)
        allowed = self.settings.tol * np.abs(self.objectives[-len(spread) :])
        gap = self.gaps[-len(spread) :] / max(self.settings.feasibility_tol, _LEAST_RATIO)
        ratio = spread / np.maximum(allowed, _LEAST_RATIO)
        return np.log(np.maximum(ratio, _LEAST_RATIO)), np.log(np.maximum(gap, _LEAST_RATIO))


def _slopes(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes of the straight lines closest to columns."""
    steps = np.arange(len(lines)) - (len(lines) - 1) / 2
    return np.asarray(steps @ lines / (steps @ steps))
