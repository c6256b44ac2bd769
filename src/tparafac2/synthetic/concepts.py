"""A concept: a drift and a strength, and, once placed in a data set, its authors and words."""

from dataclasses import dataclass

from tparafac2.synthetic.drifts import Drift, check_drift
from tparafac2.synthetic.strengths import Strength, check_strength


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
