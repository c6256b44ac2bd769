"""How the solver sees the data: complete, with or without weights of the rows, or by what was observed
alone.

They differ in where the normal equations of each block come from, and in nothing else.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import (
    FloatArray,
    PartlyObserved,
    SliceData,
    StackedData,
    Sweepable,
    is_seen_by_slice,
    row_weights,
)
from tparafac2.solver import kernels
from tparafac2.solver.kernels import Observed, Summary
from tparafac2.solver.patterns import by_slice
from tparafac2.solver.rows import Indices, RowBlock


class Patterns(NamedTuple):
    """The patterns of all starts, and which of them are active."""

    B: FloatArray
    active: Indices


class View:
    """Normal equations of the blocks, for the p active starts; here nothing is missing, and all columns, and
    all rows, share their systems.

    Where rows count by weights, their system is that of all times the weight of each. Ridge and constraints
    on the loadings are not weighted, so that the solution is another for each row.
    """

    def __init__(self, data: SliceData) -> None:
        self.data = data
        self.weights = row_weights(data)

    def columns(self, active: Indices, At: FloatArray, out: FloatArray) -> tuple[FloatArray, Observed | None]:
        """G_k = X_k' A in `out`, and what was observed of each column where that matters."""
        return self.data.project(At, out=out), None

    def row_gram(self, At: FloatArray) -> FloatArray:
        """A'A (p, R, R), by what each row counts; (p, K, R, R) where that differs between slices."""
        weighted = At if self.weights is None else At * self.weights
        return np.asarray(weighted @ At.transpose(0, 2, 1))

    def summarise(
        self, patterns: Patterns, G: FloatArray, N: FloatArray, observed: Observed | None
    ) -> tuple[Summary, FloatArray]:
        """What the other blocks need to know of the new patterns, and the strengths' systems (p, K, R, R)."""
        summary = summarise(patterns, G)
        if observed is None:
            return summary, by_slice(N) * summary.gram
        systems = np.zeros_like(summary.gram)
        kernels.summarise_observed_batch(patterns.B, patterns.active, observed, systems, summary.steps)
        return summary, systems

    def rows(self, C: FloatArray, W: FloatArray, gram: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Right-hand sides (p, R, I) and systems (p, 1 or I, R, R) of the loadings, from W = B D."""
        return self.data.accumulate(W), self._systems(C, gram)

    def update_rows(
        self, loadings: RowBlock, active: Indices, C: FloatArray, W: FloatArray, gram: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Solve for the loadings; give what they were solved from, as `rows` does."""
        F, H = self.rows(C, W, gram)
        loadings.update(active, H, F)
        return F, H

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> None:
        """The loadings were rescaled, and extrapolated."""

    def sse(self, At: FloatArray, W: FloatArray, F: FloatArray, H: FloatArray) -> FloatArray:
        """Sum of squared errors at the new loadings, from their right-hand sides and systems.

        The caller sees to cancellation.
        """
        N = self.row_gram(At)
        common = H[:, 0] if self.weights is None else H[:, 0] / self.weights[0]
        explained = (common * N).sum(axis=(1, 2)) - 2.0 * (F * At).sum(axis=(1, 2))
        return np.asarray(self.data.norm_squared + explained)

    def residual_sse(self, which: Indices, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """The same of some of the starts, free of cancellation."""
        return self.data.residual_sse(At[which], W[which])

    def _systems(self, C: FloatArray, gram: FloatArray) -> NDArray[np.float64]:
        """sum_k D_k B_k'B_k D_k, one for all rows, (p, 1, R, R), or one for each by its weight."""
        D = C.transpose(0, 2, 1)
        common = (gram * D[:, :, :, None] * D[:, :, None, :]).sum(axis=1)[:, None]
        return np.asarray(common if self.weights is None else common * self.weights[:, None, None])


class StackedView(View):
    """Complete data that differ from start to start."""

    data: StackedData

    def __init__(self, data: StackedData) -> None:
        super().__init__(data)
        self.all = data

    def columns(self, active: Indices, At: FloatArray, out: FloatArray) -> tuple[FloatArray, Observed | None]:
        """See View; what follows in this step is of the same starts."""
        self.data = self.all.of_starts(active)
        return super().columns(active, At, out)

    def residual_sse(self, which: Indices, At: FloatArray, W: FloatArray) -> NDArray[np.float64]:
        """See View."""
        return self.data.of_starts(which).residual_sse(At[which], W[which])


class SweptView(View):
    """Data of which every pass is dear: the products with the new loadings come with their update.

    They are linear in the loadings: at an extrapolated point they are known from those at two others.
    """

    data: Sweepable

    def __init__(self, data: Sweepable) -> None:
        super().__init__(data)
        self.here: FloatArray | None = None  # products at the loadings that were found last ...
        self.ahead: FloatArray | None = None  # ... and at those extrapolated from them
        self.known: Indices = np.empty(0, dtype=np.intp)  # of which starts

    def columns(self, active: Indices, At: FloatArray, out: FloatArray) -> tuple[FloatArray, Observed | None]:
        """See View."""
        if self.ahead is None:
            G = self.data.project(At, out=out)
            self.here, self.known = G.copy(), active
            return G, None
        np.take(self.ahead, np.searchsorted(self.known, active), axis=0, out=out)
        return out, None

    def update_rows(
        self, loadings: RowBlock, active: Indices, C: FloatArray, W: FloatArray, gram: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """See View."""
        self.ahead = None
        if not loadings.row_wise:
            return super().update_rows(loadings, active, C, W, gram)
        H = self._systems(C, gram)
        F, loadings.values[active], self.ahead = self.data.sweep(W, loadings.solving(active, H))
        loadings.linear = True
        return F, H

    def carry(self, active: Indices, scale: FloatArray, momentum: FloatArray) -> None:
        """See View."""
        if self.ahead is None or self.here is None:
            return
        before = self.here[np.searchsorted(self.known, active)]
        self.here = self.ahead * scale[:, :, None, None].astype(self.ahead.dtype)
        step = momentum[:, None, None, None].astype(self.ahead.dtype)
        self.ahead = self.here + step * (self.here - before)
        self.known = active


class ObservedView(View):
    """What is missing is in no sum, so that every row and every column has a system of its own."""

    data: PartlyObserved

    def __init__(self, data: PartlyObserved, coupled: FloatArray | None = None) -> None:
        super().__init__(data)
        K, _, J = data.shape
        self.joined = np.ones((K, J)) if coupled is None else coupled
        self._H: FloatArray = np.empty(0)

    def columns(self, active: Indices, At: FloatArray, out: FloatArray) -> tuple[FloatArray, Observed | None]:
        """See View."""
        K, _, J = self.data.shape
        p, R = At.shape[:2]
        shape = (R * (R + 1) // 2, K, J)
        if self._H.shape[1:] != shape or len(self._H) < p:
            self._H = np.empty((p, *shape), dtype=self.data.dtype)
        if hasattr(self.data, "column_equations"):
            H, out[...] = self.data.column_equations(At)
            return out, Observed(H, self.joined)
        H = self.data.column_grams(At, out=self._H[:p])
        return self.data.project(At, out=out), Observed(H, self.joined)

    def rows(self, C: FloatArray, W: FloatArray, gram: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See View."""
        if hasattr(self.data, "row_equations"):
            F, H = self.data.row_equations(W)
            return F, H
        return self.data.accumulate(W), self.data.row_grams(W)

    def sse(self, At: FloatArray, W: FloatArray, F: FloatArray, H: FloatArray) -> FloatArray:
        """See View; the caller sees to cancellation."""
        rows = At.transpose(0, 2, 1)[:, :, None, :]
        quadratic = (rows @ H @ rows.transpose(0, 1, 3, 2)).sum(axis=(1, 2, 3))
        return np.asarray(self.data.norm_squared + quadratic - 2.0 * (F * At).sum(axis=(1, 2)))


class SlicedView(ObservedView):
    """Where all columns of a slice miss the same rows, they share a system, as in complete data."""

    def columns(self, active: Indices, At: FloatArray, out: FloatArray) -> tuple[FloatArray, Observed | None]:
        """See View."""
        return self.data.project(At, out=out), None

    def row_gram(self, At: FloatArray) -> FloatArray:
        """See View."""
        return self.data.slice_grams(At)  # type: ignore[attr-defined, no-any-return]


def view_of(data: SliceData, coupled: FloatArray | None = None) -> View:
    """Choose the view that the data ask for; columns may be coupled in ways of their own, see `Problem`."""
    if isinstance(data, PartlyObserved):
        shared = coupled is None and is_seen_by_slice(data)
        return SlicedView(data) if shared else ObservedView(data, coupled)
    if isinstance(data, StackedData):
        return StackedView(data)
    return SweptView(data) if isinstance(data, Sweepable) else View(data)


def summarise(patterns: Patterns, G: FloatArray) -> Summary:
    """What the other blocks need to know of the patterns of the active starts."""
    R, K = patterns.B.shape[1:3]
    p = len(patterns.active)
    out = Summary(np.zeros((p, K, R, R)), np.zeros((p, R, K)), np.zeros((p, R)), np.zeros((p, R, K)))
    kernels.summarise_batch(patterns.B, patterns.active, G, out)
    return out
