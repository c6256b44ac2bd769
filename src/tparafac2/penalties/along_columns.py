"""Terms on how the entries of a column go together: few steps, or little difference between neighbours.

A column is a component's entries in one slice, see `tparafac2.penalties.columns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tparafac2.penalties import proximal
from tparafac2.penalties.abilities import OnScale
from tparafac2.penalties.base import FloatArray
from tparafac2.penalties.columns import column_weights, columns_of, from_columns, length_of
from tparafac2.penalties.proximal import Float64Array
from tparafac2.penalties.requirements import require_square_matrix, require_weight

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_DENSE = 1000
"""Entries of a column up to which a sparse matrix is treated like a dense one."""

_ROUNDING = 1e-10
_LEAST_PIVOT = 1e-14  # share of a diagonal that is left of a system, where weights are nothing beside it


@dataclass(frozen=True)
class TotalVariation:
    """Let a column change by few steps: ``strength * sum_j |x_j - x_(j-1)|``.

    For columns that have an order (wavelengths, positions, hours): entries become the same between the steps.
    On loadings the sum is over neighbouring rows, on strengths over neighbouring times. The term is of
    degree one: scales are balanced all the same, but each lambda counts by itself and not in their product
    alone, so that `smoothness` sets the lambdas and is no longer all that matters. And it counts as a norm
    penalty: the other factors need one, too, or a bound.

    Parameters
    ----------
    strength : float
        Weight of the term, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import TotalVariation
    >>> steps = TotalVariation(1.0)
    >>> steps.value(np.array([[[0.0], [2.0], [1.0]]]))
    3.0
    >>> x, _ = steps.prox(np.array([[[0.0], [1.0], [9.0], [8.0]]]), rho=np.ones(1))
    >>> x[0, :, 0].tolist()
    [1.0, 1.0, 8.0, 8.0]
    """

    strength: float

    degree: ClassVar[int | None] = 1
    exact: ClassVar[bool] = True
    even: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_weight("TotalVariation", strength=self.strength)

    @property
    def on_scale(self) -> OnScale | None:
        """Steps grow with the scale."""
        return "costs" if self.strength > 0 else None

    def value(self, x: FloatArray) -> float:
        """Give the weighted sum of the sizes of all steps."""
        return float(self.strength * np.abs(np.diff(np.asarray(x, dtype=np.float64), axis=-2)).sum())

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Solve for every column by one pass forwards and one back."""
        from tparafac2.penalties.column_kernels import least_variation

        wide, weights = proximal.prepare(v, rho)
        columns = columns_of(wide)
        found = np.empty_like(columns)
        least_variation(columns, column_weights(weights, v), float(self.strength), found)
        return from_columns(found, v), None


@dataclass(frozen=True, eq=False, repr=False)
class GeneralisedRidge:
    """Let entries that belong together be alike: ``strength * x' M x`` for every column x.

    With the Laplacian of a graph as M (`laplacian`) it is the sum of squared differences over its edges. On
    loadings M is for the rows, on strengths for the times. The term is of degree two, so that balance and the
    one knob stay; M may leave some columns free (a Laplacian those that are the same everywhere).

    Parameters
    ----------
    matrix : array (n, n) or scipy.sparse matrix
        Symmetric, and nowhere negative as a quadratic form; n is the number of columns of the data.
    strength : float
        Weight of the term, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tparafac2.penalties import GeneralisedRidge, laplacian
    >>> chain = GeneralisedRidge(laplacian([(0, 1), (1, 2)], 3), 2.0)
    >>> chain.value(np.array([[[0.0], [1.0], [3.0]]]))
    10.0
    >>> chain
    GeneralisedRidge(matrix 3 x 3, strength=2.0)
    """

    matrix: Any
    strength: float = 1.0

    degree: ClassVar[int | None] = 2
    exact: ClassVar[bool] = True
    even: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_weight("GeneralisedRidge", strength=self.strength)
        object.__setattr__(self, "matrix", _symmetric(self.matrix))
        _require_nowhere_negative(self.matrix, self._eigen)

    def __repr__(self) -> str:
        n = self.matrix.shape[0]
        return f"GeneralisedRidge(matrix {n} x {n}, strength={self.strength})"

    @cached_property
    def _eigen(self) -> tuple[Float64Array, Float64Array] | None:
        """Eigenvalues and eigenvectors; None where they would take too long, and the matrix is sparse."""
        if not isinstance(self.matrix, np.ndarray) and self.matrix.shape[0] > _DENSE:
            return None
        values, vectors = np.linalg.eigh(_dense(self.matrix))
        return values, vectors

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse columns of another length than the matrix is for."""
        n = self.matrix.shape[0]
        if length_of(shape) != n:
            raise ValueError(
                f"GeneralisedRidge has a matrix of shape ({n}, {n}), but the factor has {length_of(shape)} "
                f"entries in a column (shape {shape}): give a matrix for these."
            )

    def value(self, x: FloatArray) -> float:
        """Give the sum of ``x' M x`` over all columns."""
        self.require_shape(np.shape(x))
        columns = columns_of(x)
        return float(self.strength * max(float(np.sum(columns * (self.matrix @ columns.T).T)), 0.0))

    def prox(self, v: FloatArray, rho: FloatArray, state: None = None) -> tuple[FloatArray, None]:
        """Solve one system for every slice: by the eigenvectors of M, where they are known."""
        self.require_shape(v.shape)
        wide, weights = proximal.prepare(v, rho)
        columns, entries = columns_of(wide), column_weights(weights, v)
        even = bool((entries == entries[:, :1]).all())
        if self._eigen is not None and even:
            values, vectors = self._eigen
            shares = entries / (entries + 2.0 * self.strength * np.maximum(values, 0.0))
            return from_columns((columns @ vectors * shares) @ vectors.T, v), None
        return from_columns(self._solved(columns, entries), v), None

    def _solved(self, columns: Float64Array, entries: Float64Array) -> Float64Array:
        """Columns with the same weights at once."""
        found = np.empty_like(columns)
        matrix = 2.0 * self.strength * self.matrix
        lift = _LEAST_PIVOT * matrix.diagonal()
        rows, which = np.unique(entries, axis=0, return_inverse=True)
        for i, weights in enumerate(rows):
            chosen = which.ravel() == i
            right = (weights * columns[chosen]).T
            if isinstance(self.matrix, np.ndarray):
                found[chosen] = np.linalg.solve(matrix + np.diag(weights + lift), right).T
            else:
                found[chosen] = _solve_sparse(matrix, weights + lift, right).T
        return found


def laplacian(edges: Iterable[tuple[int, int]], n: int, weights: Iterable[float] | None = None) -> csr_array:
    """Make the Laplacian of a graph, for `GeneralisedRidge`: x' M x is ``sum_e weights[e] (x_i - x_j)^2``.

    Parameters
    ----------
    edges : iterable of pairs of int
        Which columns belong together, by their places from 0 on; each pair once.
    n : int
        Number of columns.
    weights : iterable of float, optional
        Weight of each edge, at least 0; all 1 if not given.

    Returns
    -------
    scipy.sparse.csr_array (n, n)

    Examples
    --------
    >>> from tparafac2.penalties import laplacian
    >>> laplacian([(0, 1), (1, 2)], 3).toarray().tolist()
    [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """
    from scipy.sparse import coo_array

    if not _is_whole(n) or n < 1:
        raise ValueError(f"laplacian: n must be a whole number of columns, at least 1; got {n!r}.")
    pairs = _pairs(edges)
    heavy = np.ones(len(pairs)) if weights is None else np.array(list(weights), dtype=np.float64)
    if len(heavy) != len(pairs):
        raise ValueError(f"laplacian: got {len(pairs)} edges and {len(heavy)} weights: give one for each.")
    if not (np.isfinite(heavy).all() and (heavy >= 0).all()):
        raise ValueError("laplacian: weights must be finite and at least 0.")
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
        raise ValueError(f"laplacian: edges must be between places from 0 to {n - 1}, got {pairs.tolist()}.")
    first, second = pairs.T
    rows = np.concatenate([first, second, first, second])
    places = np.concatenate([first, second, second, first])
    return coo_array((np.concatenate([heavy, heavy, -heavy, -heavy]), (rows, places)), shape=(n, n)).tocsr()


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def _pairs(edges: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Edges (m, 2); refuse what is no pair of places."""
    pairs = [tuple(edge) if isinstance(edge, Iterable) else (edge,) for edge in edges]
    for edge in pairs:
        if len(edge) != 2 or not all(map(_is_whole, edge)):
            raise ValueError(
                "laplacian: an edge is a pair of places, whole numbers such as (0, 1); got "
                f"{edge!r}. Weights of edges are given apart, by weights=."
            )
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _dense(matrix: Any) -> Float64Array:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)


def _symmetric(given: Any) -> Any:
    """The matrix in double precision; what is not square, finite and symmetric is refused."""
    matrix = require_square_matrix("GeneralisedRidge", "matrix", given)
    largest = abs(matrix).max() if matrix.shape[0] else 0.0
    if abs(matrix - matrix.T).max() > _ROUNDING * largest:
        raise ValueError(
            "GeneralisedRidge: matrix must be symmetric; entries differ from those of its transpose by up to "
            f"{abs(matrix - matrix.T).max():.2g}. (M + M.T) / 2 gives the same term."
        )
    return matrix


def _require_nowhere_negative(matrix: Any, eigen: tuple[Float64Array, Float64Array] | None) -> None:
    """Refuse matrices with a negative eigenvalue: the term would have no least value."""
    if eigen is None:
        negative = _has_negative_pivot(matrix)
    else:
        negative = bool(eigen[0][0] < -_ROUNDING * np.abs(eigen[0]).max())
    if negative:
        least = "" if eigen is None else f" ({eigen[0][0]:.3g})"
        raise ValueError(
            f"GeneralisedRidge: matrix has a negative eigenvalue{least}, so that x' M x has no least value: "
            "give one that is positive semidefinite, such as a Laplacian."
        )


def _has_negative_pivot(matrix: Any) -> bool:
    """Whether a sparse matrix has a negative eigenvalue: it has as many as negative pivots."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    size = float(abs(matrix).sum(axis=1).max()) or 1.0
    lifted = (matrix + _ROUNDING * size * eye_array(matrix.shape[0])).tocsc()
    factors = splu(lifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return bool((factors.U.diagonal() <= 0).any())


def _solve_sparse(matrix: Any, weights: Float64Array, right: Float64Array) -> Float64Array:
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    return np.asarray(splu((matrix + diags_array(weights)).tocsc()).solve(right))
