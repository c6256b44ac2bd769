"""Strengths: how present a concept is in every slice."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.checks import check_count, check_inside_series, check_positive, check_within

Values = NDArray[np.float64]


@runtime_checkable
class Strength(Protocol):
    """What a strength must do; any object with this method is one.

    Examples
    --------
    A strength that doubles with every slice:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from tparafac2.synthetic import Concept, Sudden
    >>> @dataclass(frozen=True)
    ... class Doubling:
    ...     def values(self, n_times, rng):
    ...         return 2.0 ** np.arange(n_times)
    >>> Concept(Sudden(start=2), Doubling()).strength
    Doubling()
    """

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return ``n_times`` values above zero, with ``rng`` as the only source of chance."""
        ...


def check_strength(strength: object) -> None:
    """Refuse what cannot act as a strength."""
    if isinstance(strength, type) or not isinstance(strength, Strength):
        raise TypeError(
            f"a strength must be an object with a method values(n_times, rng), got {strength!r}; "
            "use for example Constant(level=10)."
        )


@dataclass(frozen=True)
class Constant:
    """A steady ``level`` with normal fluctuations of standard deviation ``jitter``, never below ``floor``.

    Examples
    --------
    >>> import numpy as np
    >>> Constant(level=7, jitter=0).values(3, np.random.default_rng(0))
    array([7., 7., 7.])
    """

    level: float = 10.0
    jitter: float = 0.25
    floor: float = 0.01

    def __post_init__(self) -> None:
        check_positive("level", self.level)
        check_within("jitter", self.jitter, 0)
        check_positive("floor", self.floor)

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return the (K,) strengths."""
        return np.maximum(self.level + rng.normal(0, self.jitter, n_times), self.floor)


@dataclass(frozen=True)
class Increasing:
    """A ``level`` that grows from slice ``start`` on, by ``|N(step, spread)|`` per slice.

    Examples
    --------
    >>> import numpy as np
    >>> Increasing(level=5, start=2, step=1, spread=0).values(4, np.random.default_rng(0))
    array([5., 5., 6., 7.])
    """

    level: float = 10.0
    start: int = 1
    step: float = 1.5
    spread: float = 0.5

    def __post_init__(self) -> None:
        _check_walk(self.level, self.step, self.spread)
        check_count("start", self.start)

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return the (K,) strengths."""
        return self.level + _way(self, n_times, rng)


@dataclass(frozen=True)
class Decreasing:
    """A ``level`` that falls from slice ``start`` on, by ``|N(step, spread)|`` per slice, down to ``floor``.

    Examples
    --------
    >>> import numpy as np
    >>> Decreasing(level=5, start=1, step=3, spread=0, floor=1).values(4, np.random.default_rng(0))
    array([5., 2., 1., 1.])
    """

    level: float = 10.0
    start: int = 1
    step: float = 1.5
    spread: float = 0.5
    floor: float = 0.01

    def __post_init__(self) -> None:
        _check_walk(self.level, self.step, self.spread)
        check_count("start", self.start)
        check_positive("floor", self.floor)

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return the (K,) strengths."""
        return np.maximum(self.level - _way(self, n_times, rng), self.floor)


@dataclass(frozen=True)
class Periodic:
    """A ``level`` that rises and falls in turn, for ``half_period`` slices each.

    Every step has size ``|N(step, spread)|``; values below ``floor`` become ``floor``.

    Examples
    --------
    >>> import numpy as np
    >>> Periodic(level=5, half_period=2, step=1, spread=0).values(6, np.random.default_rng(0))
    array([5., 6., 7., 6., 5., 6.])
    """

    level: float = 10.0
    half_period: int = 5
    step: float = 2.5
    spread: float = 0.5
    floor: float = 0.01

    def __post_init__(self) -> None:
        _check_walk(self.level, self.step, self.spread)
        check_count("half_period", self.half_period)
        check_positive("floor", self.floor)

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return the (K,) strengths."""
        check_inside_series("half_period", self.half_period, n_times)
        steps = np.abs(rng.normal(self.step, self.spread, n_times))
        steps[0] = 0
        falling = (np.arange(n_times) - 1) // self.half_period % 2 == 1
        return np.maximum(self.level + np.cumsum(np.where(falling, -steps, steps)), self.floor)


@dataclass(frozen=True)
class Weakened:
    """Another strength, set to ``value`` in ``duration`` consecutive slices from slice ``start`` on.

    Examples
    --------
    >>> import numpy as np
    >>> Weakened(Constant(jitter=0), start=1, duration=2).values(4, np.random.default_rng(0))
    array([10.  ,  0.01,  0.01, 10.  ])
    """

    strength: Strength
    start: int
    duration: int
    value: float = 0.01

    def __post_init__(self) -> None:
        check_strength(self.strength)
        check_count("start", self.start, least=0)
        check_count("duration", self.duration)
        check_positive("value", self.value)

    def values(self, n_times: int, rng: np.random.Generator) -> Values:
        """Return the (K,) strengths."""
        if self.start + self.duration > n_times:
            raise ValueError(
                f"{self.duration} weak slices from slice {self.start} on do not fit into {n_times} slices; "
                "choose an earlier start, a shorter duration or a longer series."
            )
        values = np.array(self.strength.values(n_times, rng), dtype=np.float64)
        values[self.start : self.start + self.duration] = self.value
        return values


def _way(walk: Increasing | Decreasing, n_times: int, rng: np.random.Generator) -> Values:
    """How far a level has gone from where it began, slice by slice."""
    check_inside_series("start", walk.start, n_times)
    steps = np.abs(rng.normal(walk.step, walk.spread, n_times))
    steps[: walk.start] = 0
    return np.cumsum(steps)


def _check_walk(level: float, step: float, spread: float) -> None:
    check_positive("level", level)
    check_within("step", step, 0)
    check_within("spread", spread, 0)
