"""A result as people look at it: in the order of time, of unit size, with a text for every label."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text, padded
from tparafac2.result import Result
from tparafac2.result.moments import moment_text, timeline

LONGEST_LABEL = 200
"""Labels are cut here: they come from strangers, and a page is to be read."""


class Known(IntEnum):
    """Whether the data say what a pattern is at a time, or why they do not.

    Examples
    --------
    >>> Known.WEAK > Known.YES
    True
    """

    YES = 0
    WEAK = 1
    UNSEEN = 2


@dataclass(frozen=True, eq=False)
class Display:
    """What is shown of a result.

    Attributes
    ----------
    A, B, C : ndarray (I, R), (K, J, R), (K, R)
        Unit loadings, unit patterns (NaN where a slice has no such column), and strengths.
    rows, columns, times : list of str
        A text for every label.
    moments : ndarray (K,)
        Where the times stand on an axis.
    known : ndarray of Known (K, R)
    unseen : ndarray of bool (K, J)
        Where no row of a column was observed.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((2, 1, 1)), C=np.array([[2.0], [1.0]]),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1,
    ...                 times=np.array([7.5, 3.0]))
    >>> view = look(result)
    >>> view.times, view.columns, view.C.round(2).tolist()
    (['3', '7.5'], ['column 0'], [[1.41], [2.83]])
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    C: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    times: list[str]
    moments: NDArray[np.float64]
    known: NDArray[np.int8]
    unseen: NDArray[np.bool_]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Entries of the patterns that the data say something about, (K, J, R)."""
        seen = (self.known == Known.YES)[:, np.newaxis, :] & ~self.unseen[:, :, np.newaxis]
        return np.asarray(seen & np.isfinite(self.B))


def look(result: Result) -> Display:
    """Give a result as it is shown; see `Display`."""
    K, I, J = result.shape
    when = timeline(result)
    order = np.argsort(when.values, kind="stable")
    moments = when.values[order]
    if not np.isfinite(moments).all():  # labels that do not say when
        moments = np.arange(K, dtype=np.float64)
    A, B, C = result.normalised()
    coverage = np.ones((K, J)) if result.coverage is None else result.coverage
    unseen = np.asarray(coverage == 0)
    reason = np.where(unseen.all(axis=1, keepdims=True), Known.UNSEEN, Known.WEAK)
    known = np.where(result.undetermined_patterns, reason, Known.YES).astype(np.int8)
    return Display(
        A=A,
        B=padded(B, J)[order],
        C=C[order],
        rows=_texts(result.labels.rows, "row", I),
        columns=_texts(result.labels.columns, "column", J),
        times=[_time_texts(result)[k] for k in order],
        moments=moments,
        known=known[order],
        unseen=unseen[order],
    )


def _texts(labels: NDArray[Any] | None, word: str, size: int) -> list[str]:
    return [f"{word} {i}" for i in range(size)] if labels is None else _label_texts(labels)


def _label_texts(labels: NDArray[Any]) -> list[str]:
    return [label_text(label, LONGEST_LABEL) for label in labels]


def _time_texts(result: Result) -> list[str]:
    if result.labels.time is not None:
        return _label_texts(result.labels.time)
    when = timeline(result)
    return [moment_text(float(value), when.dated) for value in when.values]
