"""What the loadings of a fit see of further slices: small sums, however many rows there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray
from tparafac2.newdata.continuing import Seen
from tparafac2.newdata.slices import Matched
from tparafac2.preparing.steps import transform_sparse, transform_steps
from tparafac2.result import Result


class Sight(NamedTuple):
    """What is seen, which share of the rows of each column that is (m, J), and how much is negative."""

    stats: Seen
    coverage: NDArray[np.float64]
    negative: float | None


def see(result: Result, found: Matched, record: Mapping[str, Any] | None) -> Sight:
    """Sum up further slices; sparse ones are prepared on the way.

    Parameters
    ----------
    result : Result
    found : Matched
    record : mapping, optional
        How sparse slices are to be prepared.
    """
    weights = np.ones(len(result.A)) if result.row_weights is None else result.row_weights
    if found.stack is not None:
        return _see_dense(result.A, weights, found.stack)
    slices = found.sparse
    if record is not None:
        slices = transform_sparse(slices, transform_steps(record["transform"])).values
    return _see_sparse(result.A, weights, slices, found)


def _see_dense(A: FloatArray, weights: FloatArray, stack: FloatArray) -> Sight:
    observed = ~np.isnan(stack)
    known = np.where(observed, stack, 0.0)
    weighted = weights[:, None] * A
    G = np.einsum("kij,ir->kjr", known, weighted, optimize=True)
    # Rows of which nothing is missing, or everything, leave one system for all columns.
    by_row: NDArray[np.bool_] = np.asarray(observed.any(axis=2))
    if (observed == by_row[:, :, None]).all():
        H = np.einsum("ki,ir,is->krs", by_row.astype(float), weighted, A, optimize=True)[:, None]
    else:
        R = A.shape[1]
        pairs = (weighted[:, :, None] * A[:, None, :]).reshape(len(A), R * R)
        H = np.stack([(seen.T.astype(float) @ pairs).reshape(-1, R, R) for seen in observed])
    squares = np.einsum("kij,i,kij->k", known, weights, known, optimize=True)
    below = np.minimum(known, 0.0)
    negative = float(np.einsum("kij,i,kij->", below, weights, below, optimize=True))
    return Sight(Seen(G, np.asarray(H), squares), observed.mean(axis=1), negative)


def _see_sparse(A: FloatArray, weights: FloatArray, slices: Any, found: Matched) -> Sight:
    G, H, squares, negative = [], [], [], 0.0
    weighted = weights[:, None] * A
    whole = bool(found.columns_seen.all())
    for table, rows, columns in zip(slices, found.rows_seen, found.columns_seen):
        G.append(np.asarray(table.T @ weighted))
        own = np.einsum("ir,is->rs", weighted[rows], A[rows])
        H.append(own[None] if whole else columns[:, None, None] * own)
        values = table.tocoo()
        squares.append(float(weights[values.row] @ values.data**2))
        negative += float(weights[values.row] @ np.minimum(values.data, 0.0) ** 2)
    coverage = found.rows_seen.mean(axis=1)[:, None] * found.columns_seen
    return Sight(Seen(np.stack(G), np.stack(H), np.array(squares)), coverage, negative)
