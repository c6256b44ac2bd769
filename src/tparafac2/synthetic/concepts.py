"""A concept: a drift and a strength, and, once placed in a data set, its authors and words."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.drifts import Drift, check_drift
from tparafac2.synthetic.strengths import Strength, check_strength

MIN_SET = 3
"""The smallest initial or final set of words."""

_UNEVENNESS = 0.2
"""How far a random split may lie from the middle: the smaller set has 40 % of the words or more."""

Indices = NDArray[np.int_]


@dataclass(frozen=True)
class Concept:
    """How the words of a concept drift and how its strength changes.

    Examples
    --------
    >>> from tparafac2.synthetic import Constant, Sudden
    >>> Concept(Sudden(start=4), Constant(level=8.0)).drift
    Sudden(start=4)
    """

    drift: Drift
    strength: Strength

    def __post_init__(self) -> None:
        check_drift(self.drift)
        check_strength(self.strength)


@dataclass(frozen=True)
class PlacedConcept(Concept):
    """A concept with the rows and columns it was given in a data set.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> concept = easy(seed=0).concepts[0]
    >>> len(concept.authors), min(concept.initial_words)
    (50, 0)
    """

    authors: tuple[int, ...]
    initial_words: tuple[int, ...]
    final_words: tuple[int, ...]


class WordSets(NamedTuple):
    """Indices of the words a concept begins and ends with."""

    initial: Indices
    final: Indices


def divide_words(n_words: int, n_concepts: int, overlap: float, rng: np.random.Generator) -> list[WordSets]:
    """Give every concept an initial and a final set of words.

    The first words of the vocabulary are shared: every concept begins with them and none ends with them.
    They are the share ``overlap`` of the initial words of each concept, which is why all concepts begin with
    equally many words where there is an overlap. Each concept owns an equal block of the other words, split
    near the middle.
    """
    splits, n_shared = possible_splits(n_words, n_concepts, overlap)
    draws = (
        np.repeat(rng.integers(splits.size), n_concepts)
        if overlap
        else rng.integers(splits.size, size=n_concepts)
    )
    shared = np.arange(n_shared[draws[0]])
    blocks = np.array_split(np.arange(shared.size, n_words), n_concepts)
    sets = []
    for block, n_initial in zip(blocks, splits[draws]):
        own_initial, final = np.split(block, [n_initial - shared.size])
        sets.append(WordSets(np.concatenate([shared, own_initial]), final))
    return sets


def possible_splits(n_words: int, n_concepts: int, overlap: float) -> tuple[Indices, Indices]:
    """Return the sizes an initial set may have, and how many of its words are shared at each size.

    An overlap that cannot be made of whole words is refused.
    """
    n_initial = np.arange(MIN_SET, n_words)
    n_shared = np.rint(overlap * n_initial).astype(int)
    n_final = (n_words - n_shared) // n_concepts - (n_initial - n_shared)
    possible = (n_final >= MIN_SET) & (n_shared < n_initial) & ((n_shared > 0) == (overlap > 0))
    if not possible.any():
        raise ValueError(
            f"an overlap of {overlap} cannot be made with {n_words} words and {n_concepts} concepts: it is "
            "less than one word, or leaves a concept without words of its own; "
            "use more words or another overlap."
        )
    n_initial, n_shared, n_final = n_initial[possible], n_shared[possible], n_final[possible]
    unevenness = np.abs(n_initial - n_final) / (n_initial + n_final)
    near = unevenness <= max(_UNEVENNESS, unevenness.min())
    # Words are whole: of the splits near the middle keep those that come closest to the share asked for.
    error = np.abs(n_shared / n_initial - overlap)
    best = near & (error <= error[near].min() + 1e-12)
    return n_initial[best], n_shared[best]
