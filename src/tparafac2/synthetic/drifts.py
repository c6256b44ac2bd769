"""Drifts: how the set of active words of a concept changes from slice to slice."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.checks import check_count, check_inside_series, check_positive, check_within

Words = NDArray[np.bool_]
Activity = NDArray[np.float64]


@runtime_checkable
class Drift(Protocol):
    """What a drift must do; any object with this method is one.

    Examples
    --------
    A concept that keeps all its words all the time:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from tparafac2.synthetic import Concept, Constant, generate
    >>> @dataclass(frozen=True)
    ... class Still:
    ...     def activity(self, initial, final, n_times, rng):
    ...         return np.tile(initial | final, (n_times, 1)).astype(float)
    >>> generate([Concept(Still(), Constant())], seed=0, n_times=5, n_rows=6, n_columns=8).X.shape
    (5, 6, 8)
    """

    def activity(self, initial: Words, final: Words, n_times: int, rng: np.random.Generator) -> Activity:
        """Say how active every word is in every slice.

        Parameters
        ----------
        initial, final : bool arrays of shape (J,)
            The words the concept begins and ends with.
        n_times : int
            The number of slices K.
        rng : numpy.random.Generator
            The only source of chance.

        Returns
        -------
        array of shape (K, J)
            Values from 0 (absent) to 1 (fully present). Only initial and final words may be active, and
            every slice needs at least one of them.
        """
        ...


def check_drift(drift: object) -> None:
    """Refuse what cannot act as a drift."""
    if isinstance(drift, type) or not isinstance(drift, Drift):
        raise TypeError(
            f"a drift must be an object with a method activity(initial, final, n_times, rng), got {drift!r}; "
            "use for example Sudden(start=5)."
        )


@dataclass(frozen=True)
class Sudden:
    """The initial words are replaced by the final ones at once, in slice ``start`` (counted from 0).

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([True, False])
    >>> Sudden(start=2).activity(words, ~words, 4, np.random.default_rng(0))[:, 1]
    array([0., 0., 1., 1.])
    """

    start: int

    def __post_init__(self) -> None:
        check_count("start", self.start)

    def activity(self, initial: Words, final: Words, n_times: int, rng: np.random.Generator) -> Activity:
        """Return the (K, J) activity of the words."""
        check_inside_series("start", self.start, n_times)
        return _switch(np.arange(n_times) >= self.start, initial, final)


@dataclass(frozen=True)
class Gradual:
    """The concept wavers between both word sets and settles on the final one in slice ``start``.

    Before ``start`` it changes sides from one slice to the next with probability ``flip``.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([True, False])
    >>> Gradual(start=3, flip=1.0).activity(words, ~words, 6, np.random.default_rng(0))[:, 1]
    array([0., 1., 0., 1., 1., 1.])
    """

    start: int
    flip: float = 0.5

    def __post_init__(self) -> None:
        check_count("start", self.start)
        check_within("flip", self.flip, 0, 1)

    def activity(self, initial: Words, final: Words, n_times: int, rng: np.random.Generator) -> Activity:
        """Return the (K, J) activity of the words."""
        check_inside_series("start", self.start, n_times)
        flips = rng.random(n_times) < self.flip
        flips[0] = False
        changed = np.cumsum(flips) % 2 == 1
        changed[self.start :] = True
        return _switch(changed, initial, final)


@dataclass(frozen=True)
class Reoccurring:
    """The concept alternates between both word sets, every ``half_period`` slices.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([True, False])
    >>> Reoccurring(half_period=2).activity(words, ~words, 5, np.random.default_rng(0))[:, 1]
    array([0., 0., 1., 1., 0.])
    """

    half_period: int

    def __post_init__(self) -> None:
        check_count("half_period", self.half_period)

    def activity(self, initial: Words, final: Words, n_times: int, rng: np.random.Generator) -> Activity:
        """Return the (K, J) activity of the words."""
        check_inside_series("half_period", self.half_period, n_times)
        return _switch(np.arange(n_times) // self.half_period % 2 == 1, initial, final)


@dataclass(frozen=True)
class Incremental:
    """From slice ``start`` on words come and go one by one, each along a sigmoid.

    In every slice each initial word still present begins to fade, and each final word still absent begins
    to grow, with probability ``rate``. The change of one word takes ``duration`` slices and is complete by
    the last slice of the series. The first newcomer begins in slice ``start``.

    Parameters
    ----------
    start : int
        The first slice (from 0) that may differ from the initial state.
    rate : float
        Probability per slice and word that its change begins.
    duration : int
        Slices from the beginning of a word's change to its end.
    steepness : float
        Steepness of the sigmoid over its whole length: near 0 a straight line, large values a jump.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([True, False])
    >>> drift = Incremental(start=1, rate=1.0, duration=4)
    >>> drift.activity(words, ~words, 6, np.random.default_rng(0))[:, 1].round(2)
    array([0. , 0.07, 0.5 , 0.93, 1. , 1. ])
    """

    start: int
    rate: float = 0.3
    duration: int = 5
    steepness: float = 10.0

    def __post_init__(self) -> None:
        check_count("start", self.start)
        check_positive("rate", self.rate)
        check_within("rate", self.rate, 0, 1)
        check_count("duration", self.duration)
        check_positive("steepness", self.steepness)

    def activity(self, initial: Words, final: Words, n_times: int, rng: np.random.Generator) -> Activity:
        """Return the (K, J) activity of the words."""
        latest = n_times - self.duration
        if self.start > latest:
            raise ValueError(
                f"a drift from slice {self.start} that takes {self.duration} slices per word is not complete "
                f"within {n_times} slices; choose start <= {latest}, a shorter duration or a longer series."
            )
        leaving, entering = initial & ~final, final & ~initial
        begins = self.start + rng.geometric(self.rate, initial.size) - 1
        # Without a newcomer in the first slice of change all words could leave before any has come.
        if entering.any():
            begins[entering] -= begins[entering].min() - self.start
        begins = np.minimum(begins, latest)
        grown = self._sigmoid(np.arange(n_times)[:, None] - begins + 1)
        activity = np.tile(initial & final, (n_times, 1)).astype(np.float64)
        activity[:, entering] = grown[:, entering]
        activity[:, leaving] = 1 - grown[:, leaving]
        return activity

    def _sigmoid(self, age: NDArray[np.int_]) -> Activity:
        # Cut at both ends and stretched, so that a change has an exact beginning and an exact end.
        progress = np.clip(age / self.duration, 0, 1)
        curve = np.tanh(self.steepness * (progress - 0.5) / 2) / np.tanh(self.steepness / 4)
        return np.asarray((1 + curve) / 2)


def _switch(changed: NDArray[np.bool_], initial: Words, final: Words) -> Activity:
    return np.where(changed[:, None], final, initial).astype(np.float64)
