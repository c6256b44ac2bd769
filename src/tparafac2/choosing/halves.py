"""Halves of the rows: which, and how alike the components are that are found in them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.hidden import follow
from tparafac2.choosing.likeness import aligned, cross_likeness
from tparafac2.choosing.parts import Parts
from tparafac2.errors import InvalidValue
from tparafac2.models import Decomposition
from tparafac2.result import courses
from tparafac2.words import Advice

_STARTS = 5
_TRIES = 50

Rows = NDArray[np.intp]


class Split(NamedTuple):
    """The rows in two halves."""

    one: Rows
    other: Rows


def split_rows(
    rng: np.random.Generator, n_rows: int, n_splits: int, groups: NDArray[np.intp] | None = None
) -> list[Split]:
    """Draw halves of the rows, with half of every group in each, as nearly as can be.

    Examples
    --------
    >>> [split] = split_rows(np.random.default_rng(0), 6, 1, np.array([0, 0, 0, 0, 1, 1]))
    >>> [sorted((half >= 4).tolist()) for half in split]
    [[False, False, True], [False, False, True]]
    """
    member = np.zeros(n_rows, dtype=np.intp) if groups is None else groups
    splits = []
    for _ in range(n_splits):
        # In random order within each group, and groups one after the other: every second row is a half.
        order = rng.permutation(n_rows)
        order = order[np.argsort(member[order], kind="stable")]
        halves = order[::2], order[1::2]
        splits.append(Split(*(np.sort(half) for half in halves)))
    return splits


def usable_splits(
    rng: np.random.Generator, parts: Parts, n_splits: int, groups: NDArray[np.intp] | None
) -> list[Split]:
    """Halves of which each has something of every column; refuse data that have none after many tries."""
    splits: list[Split] = []
    for _ in range(_TRIES):
        for split in split_rows(rng, parts.shape[1], n_splits, groups):
            if parts.has_enough(split.one) and parts.has_enough(split.other):
                splits.append(split)
        if len(splits) >= n_splits:
            return splits[:n_splits]
    if all(parts.has_numbers(half) for half in split):
        for half in split:
            parts.of_rows(half)  # says which columns are too rare
    raise InvalidValue(
        "only few rows have anything but zeros, so that halves of the rows have none: leave empty rows out. ",
        Advice("set_yourself", "Or give a rank and a smoothness to TParafac2."),
    )


def split_likeness(
    parts: Parts, split: Split, way: Sequence[Decomposition], model: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Cosines (R, R) of the components of one half with those of the other, in the order of the model's.

    Parameters
    ----------
    parts : Parts
    split : Split
    way : sequence of estimators
        The last one is meant; those before it are passed on the way there.
    model : ndarray (K J, R)
        Courses of the components in all rows.
    seed : int
        Of the starts where the way begins.
    """
    halves = [follow(way, parts.of_rows(rows), _STARTS, seed) for rows in split]
    return cross_likeness(*(aligned(courses(half), model) for half in halves))
