"""What follows from the scores: the setting of a rank, the rank, and how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate

FloatArray = NDArray[np.float64]

TIE_BAND = 0.005
"""Errors this much above the least are as good."""

WORTH_RELAXING = 0.0005
"""By less, a relaxed constraint does not lower the error."""

REPLICABLE = 0.9
"""Similarity from which a component is replicable."""

PRESENT = 0.5
"""Similarity of what a component alone has, from which it is present in other rows, too."""

AGREEMENT = 0.5
"""Share of the starts that have to find the same components."""

CLEAR, CLEAR_SPREAD = 5.0, 0.002
"""A gain so many spreads from the null, which is taken to spread by so much at least, needs no more of it."""

MOST_DRAWS = 0.9
"""Share of the draws of the folds that have to agree."""

BEYOND = 2
"""Ranks that are tried beyond the best one."""

FEW_ROWS = 5.0
"""A gain that rests on fewer rows is reported."""


def smoothest(errors: Mapping[Candidate, float]) -> Candidate:
    """The smoothest setting within the tie band; of equally smooth ones, the one of least error.

    Where changes may be sudden, the one of least error: more smoothness leaves out jumps before the error
    says so.
    """
    least = min(errors.values())
    band = [one for one, error in errors.items() if error <= (1.0 + _band_of(one)) * least]
    return max(band, key=lambda one: (one.smoothness or 0.0, -errors[one]))


def settle(errors: Mapping[Candidate, float]) -> Candidate:
    """The setting of one rank: the smoothest with the constraint, or a relaxed one that is better."""
    hard = {one: error for one, error in errors.items() if not one.is_relaxed}
    soft = {one: error for one, error in errors.items() if one.is_relaxed}
    best = [smoothest(some) for some in (hard, soft) if some]
    lower = len(best) > 1 and errors[best[1]] < (1.0 - WORTH_RELAXING) * errors[best[0]]
    return best[1] if lower else best[0]


def tied(errors: Mapping[Candidate, float], chosen: Candidate) -> tuple[Candidate, ...]:
    """Settings that predict as well as the chosen one."""
    return tuple(one for one, error in errors.items() if error <= (1.0 + TIE_BAND) * errors[chosen])


def _band_of(candidate: Candidate) -> float:
    return 0.0 if candidate.changes == "sudden" else TIE_BAND


def paired_z(gains: FloatArray) -> float:
    """Mean over its standard error; 0 where nothing differs.

    Examples
    --------
    >>> paired_z(np.array([1.0, 1.0, 3.0, 3.0])).__round__(3)
    3.464
    """
    largest = float(np.abs(gains).max(initial=0.0))
    if len(gains) < 2 or largest == 0:
        return 0.0
    gains = gains / largest
    spread = float(gains.std(ddof=1))
    return 0.0 if spread == 0 else float(gains.mean() / (spread / np.sqrt(len(gains))))


def rows_behind(gains: FloatArray) -> float:
    """On how many rows a gain rests: n where n rows gain the same and the others nothing.

    Examples
    --------
    >>> rows_behind(np.array([2.0, 2.0, 0.0, -1.0])), rows_behind(np.array([9.0, 1.0])).__round__(2)
    (2.0, 1.22)
    """
    positive = np.maximum(gains, 0.0)
    squares = float(np.square(positive).sum())
    return 0.0 if squares == 0 else float(positive.sum() ** 2 / squares)


def upper_range(null: Sequence[float]) -> float:
    """What a gain has to exceed: the largest of the null, its mean and two standard deviations, and zero.

    Examples
    --------
    >>> upper_range([0.01, 0.03]).__round__(4), upper_range([-0.5, -0.5])
    (0.0483, 0.0)
    """
    values = np.asarray(null, dtype=np.float64)
    return max(0.0, float(values.max()), float(values.mean() + 2.0 * values.std(ddof=1)))


def is_clear(gain: float, null: Sequence[float]) -> bool:
    """Whether a gain is so far from a few gains of the null that more of them would change nothing.

    Examples
    --------
    >>> is_clear(0.1, [0.01, 0.02]), is_clear(0.03, [0.01, 0.02])
    (True, False)
    """
    values = np.asarray(null, dtype=np.float64)
    spread = max(float(values.std(ddof=1)), CLEAR_SPREAD)
    return abs(gain - float(values.mean())) > CLEAR * spread


def climb(errors: Mapping[int, float], threshold: Callable[[int, int], float]) -> list[int]:
    """Ranks, each of which gains more over the one before it than the null does.

    Parameters
    ----------
    errors : mapping of rank to error
    threshold : callable
        What the gain from one rank to another has to exceed.

    Examples
    --------
    >>> climb({1: 1.0, 2: 0.99, 3: 0.5, 4: 0.499}, lambda fewer, more: 0.05)
    [1, 3]
    """
    ranks = sorted(errors)
    chain = ranks[:1]
    for before, rank in pairwise(ranks):
        # One of two components that belong together may gain no more than the null: then the next one does.
        bases = [base for base in (chain[-1], before) if errors[rank] < errors[base]]
        if chain[-1] in bases and any(
            relative_gain(errors[base], errors[rank]) > threshold(base, rank) for base in dict.fromkeys(bases)
        ):
            chain.append(rank)
    return chain


def relative_gain(before: float, after: float) -> float:
    """By which part an error is lower than another."""
    return 0.0 if before <= 0 else 1.0 - after / before


class Similarity(NamedTuple):
    """How similar the components of two or more parts of the rows are, in the order of the model's.

    Attributes
    ----------
    whole : ndarray (R,)
        Median cosine of the trajectories.
    alone : ndarray (R,)
        Of what no other component of the model shares: near 0 for a component that is not present.
    """

    whole: FloatArray
    alone: FloatArray


def median_of(found: Sequence[Similarity]) -> Similarity | None:
    """The median of several draws; None without any."""
    if not found:
        return None
    return Similarity(*(np.median(one, axis=0) for one in zip(*found)))


def verdicts(found: Similarity, threshold: float = REPLICABLE) -> tuple[str, ...]:
    """Say of each component whether it is "replicable", "there", or "not there".

    Examples
    --------
    >>> verdicts(Similarity(np.array([0.97, 0.95, 0.6]), np.array([0.9, 0.1, 0.55])))
    ('replicable', 'not there', 'there')
    """
    return tuple(
        "not there" if min(whole, alone) < PRESENT else "replicable" if whole >= threshold else "there"
        for whole, alone in zip(found.whole, found.alone)
    )
