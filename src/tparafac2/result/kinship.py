"""Which component of one result is which of another, fitted to the same data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.metrics import assign
from tparafac2.result.record import Result

FloatArray: TypeAlias = NDArray[np.float64]
Fate: TypeAlias = Literal["same", "parts", "changed", "another", "none"]

SAME = 0.85
"""Likeness from which two components are called the same."""

LINKED = 0.4
"""Likeness below which two components have nothing to do with each other."""


class Link(NamedTuple):
    """Two components that are alike, by their places.

    Attributes
    ----------
    one, other : int
    likeness : float
        Cosine of all that the two say of the data, 0 to 1.
    matched : bool
        Whether they are a pair of the one-to-one matching in which all pairs together are most alike.
    """

    one: int
    other: int
    likeness: float
    matched: bool


class Kinship(NamedTuple):
    """How the components of two results are related.

    Attributes
    ----------
    likeness : ndarray (R, S)
    links : tuple of Link
        All that are as alike as `LINKED`, in the order of the components.
    held, held_other : ndarray (R,), (S,)
        Share of the squares of a component that a mixture of all components of the other result has.
    """

    likeness: FloatArray
    links: tuple[Link, ...]
    held: FloatArray
    held_other: FloatArray

    def fate(self, place: int) -> Fate:
        """What became of a component of the one result: see `fate_of`."""
        return fate_of([link for link in self.links if link.one == place], float(self.held[place]))

    def origin(self, place: int) -> Fate:
        """Where a component of the other result comes from."""
        return fate_of([link for link in self.links if link.other == place], float(self.held_other[place]))


def fate_of(links: Sequence[Link], held: float) -> Fate:
    """Say what a component is in the other result.

    Its match is the "same"; or several together hold it, in "parts"; or its match is like it, but "changed";
    or it is like one that is the match of "another" component; or like "none".

    Examples
    --------
    >>> fate_of([Link(0, 1, 0.7, True), Link(0, 2, 0.7, False)], held=0.98)
    'parts'
    """
    best = max((link.likeness for link in links if link.matched), default=0.0)
    if best >= SAME:
        return "same"
    if len(links) > 1 and held >= SAME**2:
        return "parts"
    if best:
        return "changed"
    return "another" if links else "none"


def courses(result: Result) -> FloatArray:
    """The components as they appear in every row: c_k b_k over all times and columns, of length 1, (K J, R).

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> courses(result).shape
    (6, 1)
    """
    return _unit(np.concatenate([c * pattern for c, pattern in zip(result.C, result.B)]))


def kinship(one: Result, other: Result) -> Kinship:
    """Compare the components of two results of the same data.

    Examples
    --------
    >>> A, B = np.eye(4)[:, :3], np.ones((2, 3, 3))
    >>> three = Result(model="CP", A=A, B=B, C=np.ones((2, 3)), objective=0.5, explained_variance=0.9,
    ...                status="converged", converged=True, n_iter=7)
    >>> two = Result(model="CP", A=np.stack([A[:, 2], A[:, 0] + A[:, 1]], axis=1), B=B[:, :, :2],
    ...              C=np.ones((2, 2)), objective=0.5, explained_variance=0.8, status="converged",
    ...              converged=True, n_iter=7)
    >>> found = kinship(two, three)
    >>> [(link.one, link.other, round(link.likeness, 2)) for link in found.links]
    [(0, 2, 1.0), (1, 0, 0.71), (1, 1, 0.71)]
    >>> found.fate(0), found.fate(1)
    ('same', 'parts')
    """
    # A component is loadings times courses: its cosine with another is the product of theirs.
    rows, course = (_unit(one.A), _unit(other.A)), (courses(one), courses(other))
    within, across, beyond = (
        (rows[i].T @ rows[j]) * (course[i].T @ course[j]) for i, j in ((0, 0), (0, 1), (1, 1))
    )
    likeness = np.clip(across, 0.0, 1.0)
    matched = set(zip(*(places.tolist() for places in assign(likeness))))
    links = tuple(
        Link(r, s, float(likeness[r, s]), (r, s) in matched)
        for r, s in np.argwhere(likeness >= LINKED).tolist()
    )
    return Kinship(likeness, links, _held(across, beyond), _held(across.T, within))


def _unit(matrix: NDArray[Any]) -> FloatArray:
    lengths = np.linalg.norm(matrix, axis=0)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1.0))


def _held(across: FloatArray, within: FloatArray) -> FloatArray:
    """Squares of the projections of unit components (R) on the span of others (S), from their cosines."""
    squares = np.einsum("rs,sr->r", across, np.linalg.pinv(within) @ across.T)
    return np.asarray(np.clip(squares, 0.0, 1.0))
