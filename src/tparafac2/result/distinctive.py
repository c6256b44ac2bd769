"""What sets a component apart: columns and rows that weigh much in it, and little in the others.

Common columns are large in every component and tell nothing; rare ones are in one component only, but hardly
there. A column is distinctive if its weight is large and most of its squares are in this component.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import padded
from tparafac2.errors import InvalidValue
from tparafac2.result.moments import slice_at
from tparafac2.result.naming import place_of
from tparafac2.result.record import Result
from tparafac2.words import Argument

if TYPE_CHECKING:
    import pandas as pd

By: TypeAlias = Literal["weight", "distinctive"]
"""How columns and rows are chosen: by the size of their weights, or by how distinctive they are."""

OURS = ("component", "name", "rank", "weight", "loading", "distinctiveness")
"""Columns of the table, beside which the user's names for columns, rows and time stand."""


def distinctiveness(weights: NDArray[np.float64], counts: Any = True) -> NDArray[np.float64]:
    """Measure how distinctive every weight is of its component, 0 to 1: weight times share of squares.

    Parameters
    ----------
    weights : ndarray (..., n, R)
        Of unit patterns or loadings, one column for each component.
    counts : ndarray of bool like it
        Which of them the data say something about; others are 0, and take nothing from the share of others.

    Returns
    -------
    ndarray (..., n, R)
        w^3 / sum of w^2 over the components; 0 where a weight is negative, which is no rise. With a single
        component the weight itself.

    Examples
    --------
    >>> distinctiveness(np.array([[0.8, 0.8], [0.6, 0.0], [-0.6, 0.6]])).round(2).tolist()
    [[0.4, 0.4], [0.6, 0.0], [0.0, 0.3]]
    """
    known = np.where(counts & np.isfinite(weights), weights, 0.0)
    squares = known**2
    total = squares.sum(axis=-1, keepdims=True)
    # Below the range of squares there is nothing to share.
    share = np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)
    return np.asarray(np.maximum(known, 0.0) * share)


def of_columns(result: Result, sign: int = 1) -> NDArray[np.float64]:
    """How distinctive every column is of every component at every time, (K, J, R), in the slices' order.

    Patterns that the data do not determine, and columns that were not observed at a time, are 0 there. With
    `sign` -1 it is those that a component has less of.

    Examples
    --------
    >>> B = np.array([[[3.0, 0.0], [4.0, 5.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 2)), B=B, C=np.ones((1, 2)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> of_columns(result).round(2).tolist()
    [[[0.6, 0.0], [0.31, 0.61]]]
    """
    weights = padded(result.normalised().B, result.shape[2])
    known = ~result.undetermined_patterns[:, np.newaxis, :]
    if result.coverage is not None and not result.constant:
        known = known & (result.coverage > 0)[:, :, np.newaxis]
    return distinctiveness(sign * weights, known)


def of_rows(result: Result, sign: int = 1) -> NDArray[np.float64]:
    """How distinctive every row is of every component, (I, R); `sign` as in `of_columns`."""
    return distinctiveness(sign * result.normalised().A)


def leaders(scores: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Places of the n largest scores (m,), the largest first; those that are zero are none.

    Examples
    --------
    >>> leaders(np.array([0.1, 0.0, 0.3, 0.1]), 3)
    array([2, 0, 3])
    """
    order = np.argsort(-scores, kind="stable")[:n]
    return order[scores[order] > 0]


def require_by(by: Any) -> None:
    """Refuse what is no way to choose columns."""
    if by not in ("weight", "distinctive"):
        raise InvalidValue(Argument("by"), f" must be 'weight' or 'distinctive'; got {by!r}.", received=by)


def table(
    result: Result, component: Any = None, time: Any = None, n: int = 10, *, of: str = "columns"
) -> pd.DataFrame:
    """The most distinctive columns at every time, or rows, as a table; see `Result.distinctive`."""
    import pandas as pd

    most = _count(n)
    if of not in ("columns", "rows"):
        raise InvalidValue(Argument("of"), f" must be 'columns' or 'rows'; got {of!r}.", received=of)
    if of == "rows" and time is not None:
        raise InvalidValue(
            Argument("time"),
            " is for columns: rows are the same at all times, so leave it out.",
            received=time,
        )
    components = range(result.rank) if component is None else [place_of(component, result)]
    if of == "rows":
        lines = _row_lines(result, components, most)
    else:
        slices = range(len(result.C)) if time is None else [slice_at(result, time)]
        lines = _column_lines(result, components, slices, most)
    return pd.DataFrame(list(lines), columns=_head(result, of))


def _head(result: Result, of: str) -> list[str]:
    names = {mode: name + "_" * (name in OURS) for mode, name in result.labels.names.items()}
    if of == "rows":
        return ["component", "rank", names["rows"], "loading", "distinctiveness"]
    return ["component", names["time"], "rank", names["columns"], "weight", "distinctiveness"]


def _row_lines(result: Result, components: Any, n: int) -> Iterator[tuple[Any, ...]]:
    A, scores = result.normalised().A, of_rows(result)
    labels = result.labels.coordinate("rows", len(A))
    for r in components:
        for rank, i in enumerate(leaders(scores[:, r], n), start=1):
            yield r + 1, rank, labels[i], A[i, r], scores[i, r]


def _column_lines(result: Result, components: Any, slices: Any, n: int) -> Iterator[tuple[Any, ...]]:
    K, _, J = result.shape
    B, scores = result.normalised().B, of_columns(result)
    labels, times = result.labels.coordinate("columns", J), result.labels.coordinate("time", K)
    for r in components:
        for k in slices:
            for rank, j in enumerate(leaders(scores[k, :, r], n), start=1):
                yield r + 1, times[k], rank, labels[j], B[k][j, r], scores[k, j, r]


def _count(n: Any) -> int:
    try:
        number = operator.index(n)
    except TypeError:
        number = 0
    if isinstance(n, bool) or number < 1:
        raise InvalidValue(Argument("n"), f" must be a whole number, at least 1; got {n!r}.", received=n)
    return number
