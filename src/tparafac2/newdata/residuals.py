"""The noise of single entries: what a fit leaves of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import padded
from tparafac2.errors import InvalidValue
from tparafac2.newdata.seeing import Sight, see
from tparafac2.newdata.slices import match, read_slices
from tparafac2.preparing import Adjustment, Prepared
from tparafac2.preparing.steps import transform_dense, transform_steps
from tparafac2.result import Result, Terms
from tparafac2.words import Argument


class Noise(NamedTuple):
    """Variance of an entry: that of its row times that of its column, (I,) and (J,)."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]

    def deviations(self, rows: slice) -> NDArray[np.float64]:
        """Standard deviations of some rows, (I', J)."""
        return np.sqrt(self.rows[rows, None] * self.columns)


def known_noise(result: Result) -> Noise:
    """The same for all entries (by weight, where rows have weights), from the explained variance alone."""
    _, I, J = result.shape
    coverage = np.ones((len(result.C), J)) if result.coverage is None else result.coverage
    left = (1.0 - result.explained_variance) * (result.terms or Terms()).scale ** 2
    variance = max(left, 0.0) / max(float(coverage.sum()) * I, 1.0)
    weights = np.ones(I) if result.row_weights is None else result.row_weights
    return Noise(variance / np.maximum(weights, 1e-12), np.ones(J))


def measured_noise(result: Result, X: Any, dims: Mapping[str, Hashable] | None) -> tuple[Sight, Noise]:
    """What the loadings see of the data of a fit, in the order of time, and the noise of rows and columns."""
    stack = _data_of(result, X, dims)
    order = list(result.clock.order)
    B = np.asarray(padded(result.B, fill=0.0))[order]
    fitted = np.einsum("ir,kr,kjr->kij", result.A, result.C[order], B, optimize=True)
    squares = np.square(stack.stack[order] - fitted)
    seen = ~np.isnan(squares)
    whole = float(np.nanmean(squares)) or 1e-300
    rows, columns = (
        np.nansum(squares, axis=axes) / np.maximum(seen.sum(axis=axes), 1) for axes in ((0, 2), (0, 1))
    )
    sight = see(result, replace(stack, stack=stack.stack[order]), None)
    return sight, Noise(np.asarray(rows), np.asarray(columns) / whole)


def _data_of(result: Result, X: Any, dims: Mapping[str, Hashable] | None) -> Any:
    """The data of the fit, prepared as they were then."""
    record = None if isinstance(X, Prepared) else result.preparation
    given = read_slices(X.data if isinstance(X, Prepared) else X, dims, result.labels.names)
    if len(given.pieces) != len(result.C):
        raise InvalidValue(
            Argument("X"),
            f" must be the data of the model, which has {len(result.C)} times; got {len(given.pieces)}.",
        )
    found = match(given.pieces, result, may_enter=False, sparse=False)
    if record is None or found.stack is None:
        return found
    stack = transform_dense(found.stack, transform_steps(record["transform"]), record["pseudocount"]).values
    numbers = [None if record[name] is None else np.asarray(record[name]) for name in ("centers", "scales")]
    return replace(found, stack=Adjustment(record["center"], record["scale"], *numbers).apply(stack))
