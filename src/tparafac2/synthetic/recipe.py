"""The recipe of a data set: concepts, sizes and seed, all that is asked for, checked before any work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np

from tparafac2.errors import InvalidValue
from tparafac2.synthetic.checks import check_count, check_within
from tparafac2.synthetic.drifts import Drift, check_drift
from tparafac2.synthetic.strengths import Strength, check_strength
from tparafac2.words import Argument, Setting

MIN_SET = 3
"""The smallest initial or final set of words of a concept."""


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


class Size(NamedTuple):
    """How large a data set is; that of the paper unless given."""

    n_times: int = 20
    n_rows: int = 150
    n_columns: int = 100


class Sizes(TypedDict, total=False):
    """Sizes as keywords: three numbers in a tuple could not tell their order."""

    n_times: int
    n_rows: int
    n_columns: int


def read_size(given: Mapping[str, Any]) -> Size:
    """Sizes that were given as keywords, with the paper's for the rest.

    Examples
    --------
    >>> read_size({"shape": (8, 30, 24)})
    Traceback (most recent call last):
    TypeError: there is no argument 'shape': sizes are n_times, n_rows, n_columns.
    """
    for name in given:
        if name not in Size._fields:
            raise TypeError(f"there is no argument {name!r}: sizes are {', '.join(Size._fields)}.")
    return Size(**given)


_MOST_NOISE = 1e6  # relative to the signal: of more than that nobody could tell the signal


@dataclass(frozen=True)
class Recipe:
    """What a data set was made from; the same recipe always gives the same data.

    The fields are the arguments of :func:`generate`.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> easy(seed=3).recipe.enforce_parafac2
    True
    """

    concepts: tuple[Concept, ...]
    seed: int
    size: Size
    noise: float = 0.5
    overlap: float = 0.0
    fresh_importances: bool = True
    enforce_parafac2: bool = True
    dtype: str = "float64"
    case: str = "custom"

    def __post_init__(self) -> None:
        for concept in self.concepts:
            if not isinstance(concept, Concept):
                raise TypeError(
                    f"concepts must be a list of Concept, got {concept!r} in it; wrap it in Concept."
                )
        check_sizes(self.size, len(self.concepts))
        check_count("seed", self.seed, least=0)
        check_within("noise", self.noise, 0, _MOST_NOISE)
        check_overlap(self.overlap, len(self.concepts))
        if self.overlap > 0 and self.enforce_parafac2:
            raise ValueError(
                f"overlap={self.overlap} and enforce_parafac2=True contradict each other: shared words that "
                "leave change the angles between the patterns; pass enforce_parafac2=False or overlap=0."
            )
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype!r}.")


class Streams(NamedTuple):
    """Independent sources of chance: no choice made in one can move the draws of another."""

    plan: np.random.Generator
    structure: np.random.Generator
    noise: np.random.Generator


def streams(seed: int) -> Streams:
    """Return the sources of chance that belong to a seed."""
    check_count("seed", seed, least=0)
    return Streams(*(np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)))


def check_sizes(size: Size, n_concepts: int) -> None:
    """Refuse sizes too small for the concepts."""
    check_count("n_concepts", n_concepts)
    for name, number in zip(Size._fields, size):
        check_count(name, number)
    times, rows, columns = size
    if rows < n_concepts:
        raise ValueError(
            f"{n_concepts} concepts need at least {n_concepts} rows (authors), one each, got {rows}; "
            "use more rows or fewer concepts."
        )
    if columns < 2 * MIN_SET * n_concepts:
        raise ValueError(
            f"{n_concepts} concepts need at least {2 * MIN_SET * n_concepts} columns (words), "
            f"{2 * MIN_SET} each, got {columns}; use more columns or fewer concepts."
        )
    if times < 2:
        raise ValueError(f"concepts that change need at least 2 times, got {times}.")


def check_overlap(overlap: float, n_concepts: int) -> None:
    """Refuse an overlap that is no share, or that nobody can share."""
    check_within("overlap", overlap, 0)
    if overlap >= 1:
        raise InvalidValue(
            Argument("overlap"),
            f" is the share of initial words in common and must be below 1, got {overlap}.",
            received=overlap,
        )
    if overlap > 0 and n_concepts < 2:
        raise InvalidValue(
            Setting("overlap", overlap),
            f" needs at least 2 concepts to share words, got {n_concepts}.",
            received=overlap,
        )
