"""The three published cases.

They were published at 20 times. For K times all moments and durations are scaled by K / 20, and the changes
per slice by 20 / K, so that a longer series tells the same story in finer steps.
"""

from collections.abc import Callable
from typing import Unpack

import numpy as np
from numpy.typing import DTypeLike

from tparafac2.errors import InvalidValue
from tparafac2.synthetic.checks import check_count
from tparafac2.synthetic.dataset import SyntheticData, make
from tparafac2.synthetic.drifts import Drift, Gradual, Incremental, Reoccurring, Sudden
from tparafac2.synthetic.recipe import (
    Concept,
    Recipe,
    Size,
    Sizes,
    check_overlap,
    check_sizes,
    read_size,
    streams,
)
from tparafac2.synthetic.strengths import Constant, Decreasing, Periodic, Strength, Weakened
from tparafac2.words import Argument, Setting

PAPER_TIMES = Size().n_times

FLOOR = 1.0
"""The least strength that counts as "well above zero", a hundred times that of a weak slice."""

LEVELS = (5, 19)
"""Least and greatest strength in the first slice."""


def easy(
    seed: int,
    noise: float = 0.5,
    *,
    n_concepts: int = 3,
    fresh_importances: bool = True,
    dtype: DTypeLike = np.float64,
    **sizes: Unpack[Sizes],
) -> SyntheticData:
    """Make concepts that change at once or back and forth, with strengths of at least 1.

    Drifts are sudden, gradual or reoccurring, at moments from 2 to 18 (of 20); strengths are constant,
    periodic or decreasing, begin at 5 to 19 and stay at 1 or above. The PARAFAC2 constraint holds.

    Parameters
    ----------
    seed : int
        Decides everything. The same seed at another noise level has the same truth.
    noise : float
        Norm of the noise divided by the norm of the noiseless data.
    n_concepts : int
        The number of concepts R.
    fresh_importances : bool
        Draw the importance of a word anew in every slice, or once for all slices.
    dtype : float64 or float32
        Type of ``X``.
    n_times, n_rows, n_columns : int
        Sizes of ``X``; the paper's 20, 150 and 100 unless given. At least 1 row and 6 columns per concept.

    Examples
    --------
    >>> data = easy(seed=0)
    >>> data.X.shape, bool(data.C.min() >= 1)
    ((20, 150, 100), True)
    """
    size = read_size(sizes)
    concepts = _easy_concepts(seed, size, n_concepts)
    kind = np.dtype(dtype).name
    return make(Recipe(concepts, seed, size, noise, 0.0, fresh_importances, dtype=kind, case="easy"))


def almost_zero(
    seed: int,
    n_weak: int = 1,
    noise: float = 0.5,
    *,
    n_concepts: int = 3,
    fresh_importances: bool = True,
    dtype: DTypeLike = np.float64,
    **sizes: Unpack[Sizes],
) -> SyntheticData:
    """Make the concepts of :func:`easy`, some of which nearly vanish for a while.

    ``n_weak`` concepts have strength 0.01 in 4 to 6 (of 20) consecutive slices. All else is as in
    ``easy(seed)``, and the other parameters are explained there.

    Examples
    --------
    >>> data = almost_zero(seed=0, n_weak=2)
    >>> int((data.C == 0.01).any(axis=0).sum())
    2
    """
    size = read_size(sizes)
    concepts = _easy_concepts(seed, size, n_concepts)
    check_count("n_weak", n_weak)
    if n_weak > n_concepts:
        raise InvalidValue(
            Setting("n_weak", n_weak),
            f" of {n_concepts} concepts cannot be weak; choose ",
            Argument("n_weak"),
            f" <= {n_concepts}.",
            received=n_weak,
        )
    # A stream of its own: the numbers that chose the drifts would tie the weak slices to them.
    rng = streams(seed).plan.spawn(1)[0]
    weak = set(rng.permutation(n_concepts)[:n_weak].tolist())
    concepts = tuple(_weaken(c, size.n_times, rng) if r in weak else c for r, c in enumerate(concepts))
    kind = np.dtype(dtype).name
    return make(Recipe(concepts, seed, size, noise, 0.0, fresh_importances, dtype=kind, case="almost_zero"))


def overlapping(
    seed: int,
    overlap: float = 0.2,
    noise: float = 0.5,
    *,
    n_concepts: int = 3,
    fresh_importances: bool = True,
    dtype: DTypeLike = np.float64,
    **sizes: Unpack[Sizes],
) -> SyntheticData:
    """Make concepts that begin with words in common and slowly part: the PARAFAC2 constraint is violated.

    All drifts are incremental and begin at moments 2 to 10 (of 20); the share ``overlap`` of each concept's
    first words is common to all concepts, and nothing is common in the last slice. Strengths and the other
    parameters are those of :func:`easy`.

    Examples
    --------
    >>> data = overlapping(seed=0, overlap=0.2)
    >>> common = (data.B > 0).all(axis=2)
    >>> int(common[0].sum()) > 0, int(common[-1].sum())
    (True, 0)
    """
    size = read_size(sizes)
    check_sizes(size, n_concepts)
    check_overlap(overlap, n_concepts)
    concepts = _draw_concepts(seed, size.n_times, n_concepts, _incremental_drift)
    kind = np.dtype(dtype).name
    return make(Recipe(concepts, seed, size, noise, overlap, fresh_importances, False, kind, "overlapping"))


def _easy_concepts(seed: int, size: Size, n_concepts: int) -> tuple[Concept, ...]:
    check_sizes(size, n_concepts)
    return _draw_concepts(seed, size.n_times, n_concepts, _easy_drift)


def _draw_concepts(
    seed: int, n_times: int, n_concepts: int, draw_drift: Callable[[int, np.random.Generator], Drift]
) -> tuple[Concept, ...]:
    rng = streams(seed).plan
    return tuple(Concept(draw_drift(n_times, rng), _strength(n_times, rng)) for _ in range(n_concepts))


def _easy_drift(n_times: int, rng: np.random.Generator) -> Drift:
    moment = _moment(n_times, rng, 2, 18)
    drifts: tuple[Drift, ...] = (Sudden(moment), Gradual(moment), Reoccurring(moment))
    return drifts[rng.integers(len(drifts))]


def _incremental_drift(n_times: int, rng: np.random.Generator) -> Drift:
    pace = PAPER_TIMES / n_times
    start = _moment(n_times, rng, 2, 10)
    return Incremental(start, rate=min(1.0, 0.3 * pace), duration=max(1, n_times // 4))


def _strength(n_times: int, rng: np.random.Generator) -> Strength:
    pace = PAPER_TIMES / n_times
    level = float(rng.integers(*LEVELS, endpoint=True))
    start, half_period = _moment(n_times, rng, 2, 18), _moment(n_times, rng, 2, 10)
    strengths: tuple[Strength, ...] = (
        Constant(level, floor=FLOOR),
        Periodic(level, half_period, step=2.5 * pace, spread=0.5 * pace, floor=FLOOR),
        Decreasing(level, start, step=1.5 * pace, spread=0.5 * pace, floor=FLOOR),
    )
    return strengths[rng.integers(len(strengths))]


def _weaken(concept: Concept, n_times: int, rng: np.random.Generator) -> Concept:
    duration = _moment(n_times, rng, 4, 6)
    start = int(rng.integers(0, n_times - duration, endpoint=True))
    return Concept(concept.drift, Weakened(concept.strength, start, duration))


def _moment(n_times: int, rng: np.random.Generator, first: int, last: int) -> int:
    """Draw a slice, or a number of slices, between two moments of the published series of 20."""
    low, high = (round(moment * n_times / PAPER_TIMES) for moment in (first, last))
    low = min(max(low, 1), n_times - 1)
    return int(rng.integers(low, max(low, min(high, n_times - 1)), endpoint=True))
