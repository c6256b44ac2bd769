"""How far an entry that was not observed may be from what the model says of it.

Three things are known of it: what the model leaves of entries that were observed, how well these tell the
loadings of the row, and how well all rows of the fit tell the pattern of the column.
"""

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import padded
from tparafac2.newdata.courses import links_on_clock
from tparafac2.newdata.rows import Entries, Loadings
from tparafac2.penalties import asks_for, links_of, squared_steps
from tparafac2.result import Result

Array = NDArray[np.float64]

# A column, time or row counts as having this many entries more than were observed of it, of mean size.
_PRIOR = 10.0
_MOST_LEVERAGE = 0.95
_SWEEPS = 3
_ALIKE = 1e-3  # of the largest loading: rows of the fit, whose noise the patterns have partly taken up


def prediction_variance(result: Result, entries: Entries, found: Loadings) -> Array:
    """Variance of every entry about what the model says of it, (I, K, J), as the data were fitted.

    The noise is the product of a size for each row, column and time, each drawn to the common size, and the
    more so the less was observed of it. Loadings and patterns have the variance of the noise times the
    inverse of their systems, ridge and smoothness included, each as if all else were known.

    Parameters
    ----------
    result : Result
    entries : Entries
        Dense.
    found : Loadings
        Of the same rows.
    """
    W = np.asarray(padded(result.B, fill=0.0) * result.C[:, None, :], dtype=np.float64)
    A = found.A
    residuals = entries.values - np.einsum("ir,kjr->ikj", A, W)
    seen = ~np.isnan(residuals)
    counts = np.where(seen, entries.counts(), 0.0)
    inverse = np.linalg.pinv(np.broadcast_to(found.systems, (len(A), *found.systems.shape[1:])))
    of_row = np.einsum("kjr,irs,kjs->ikj", W, inverse, W, optimize=True)
    known = pattern_variance(result) * result.C[:, None, :, None] * result.C[:, None, None, :]
    of_column = np.einsum("ir,kjrs,is->ikj", A, known, A, optimize=True)
    # Of the noise of a row, its loadings have taken up a part, and so have patterns that were fitted to it.
    taken = counts * (of_row + np.where(_were_fitted(A, result.A), 1.0, 0.0)[:, None, None] * of_column)
    squares = np.where(seen, residuals**2, 0.0) / (1.0 - np.minimum(taken, _MOST_LEVERAGE))
    noise = _noise(squares, seen)
    return np.asarray(noise + _of_rows(counts * squares, seen) * of_row + noise.mean(axis=0) * of_column)


def pattern_variance(result: Result) -> Array:
    """Variance of the patterns in units of that of the noise, (K, J, R, R), loadings and strengths known.

    Patterns that turn together are treated as if each column were on its own; those of a slice of which
    nothing was observed, as those of the slice before it.

    Parameters
    ----------
    result : Result
    """
    order = list(result.clock.order)
    K, J, R = len(order), result.shape[2], result.rank
    weights = np.ones(len(result.A)) if result.row_weights is None else result.row_weights
    C = np.asarray(result.C[order], dtype=np.float64)
    share = np.ones((K, J)) if result.coverage is None else result.coverage[order]
    gram = (weights[:, None] * result.A).T @ result.A
    systems = np.einsum("kj,kr,rs,ks->kjrs", share, C, gram, C, optimize=True)
    terms = () if result.terms is None else result.terms.B
    if asks_for(terms, "static"):
        return np.broadcast_to(np.linalg.pinv(systems.sum(axis=0)), (len(result.C), J, R, R))
    norms, fixed, paces = links_on_clock(terms, K)
    links = np.repeat(fixed[None], R, axis=0)
    if paces:  # as they are at these patterns
        steps = squared_steps(np.asarray(padded(result.B, fill=0.0), dtype=np.float64)[order])
        links += sum(links_of(pace, steps) for pace in paces)
    off = links[:, :-1].T  # time that goes round is cut open
    diagonal = np.repeat(norms[:, None], R, axis=1)
    diagonal[:-1] += off
    diagonal[1:] += off
    systems += diagonal[:, None, :, None] * np.eye(R)
    found = _middle_blocks(systems, off)
    times = result.clock.times
    last = np.searchsorted(times[order], times, side="right") - 1
    return np.asarray(found[np.maximum(last, 0)])


def _middle_blocks(systems: Array, off: Array) -> Array:
    """Diagonal blocks of the inverse of a block tridiagonal matrix, (K, J, R, R), for every column at once.

    >>> _middle_blocks(np.full((2, 1, 1, 1), 2.0), np.array([[-1.0]])).ravel().round(4).tolist()
    [0.6667, 0.6667]
    """
    lift = 1e-12 * np.trace(systems, axis1=2, axis2=3).max() * np.eye(systems.shape[-1])
    systems = systems + lift
    ahead, back = systems.copy(), systems.copy()
    for k in range(1, len(systems)):
        ahead[k] -= _between(off[k - 1], np.linalg.inv(ahead[k - 1]))
        back[-k - 1] -= _between(off[-k], np.linalg.inv(back[-k]))
    return np.asarray(np.linalg.inv(ahead + back - systems))


def _between(links: Array, inverses: Array) -> Array:
    """What is passed on over links (R,) by every column, (J, R, R)."""
    return np.asarray(links[:, None] * inverses * links)


def _were_fitted(A: Array, fitted: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which rows have the loadings of one of the rows of the fit.

    >>> _were_fitted(np.array([[1.0], [3.0]]), np.array([[2.0], [3.0]])).tolist()
    [False, True]
    """
    near = _ALIKE * float(np.abs(fitted).max(initial=0.0))
    return np.array([bool((np.abs(fitted - row).max(axis=1) <= near).any()) for row in A])


def _of_rows(squares: Array, seen: NDArray[np.bool_]) -> Array:
    """Mean square of every row by weight, (I, 1, 1), drawn to that of all."""
    n = seen.sum(axis=(1, 2), keepdims=True)
    common = squares.sum() / max(int(n.sum()), 1)
    return np.asarray((squares.sum(axis=(1, 2), keepdims=True) + _PRIOR * common) / (n + _PRIOR))


def _noise(squares: Array, seen: NDArray[np.bool_]) -> Array:
    """The size of the noise of every entry, from squares of what is left of those that were seen.

    >>> squares = np.ones((4, 5, 6))
    >>> squares[0] = 9.0
    >>> _noise(squares, np.ones(squares.shape, dtype=bool))[:2, 0, 0].round(1).tolist()
    [6.9, 1.2]
    """
    common = squares.sum() / max(int(seen.sum()), 1)
    if common == 0.0:
        return np.zeros(squares.shape)
    sizes = [np.ones([n if axis == one else 1 for one in range(3)]) for axis, n in enumerate(squares.shape)]
    for _ in range(_SWEEPS):
        for axis in range(3):
            others = (one, other) = tuple(place for place in range(3) if place != axis)
            rest = common * sizes[one] * sizes[other]
            ratio = np.where(seen, squares / rest, 0.0).sum(axis=others, keepdims=True)
            sizes[axis] = (ratio + _PRIOR) / (seen.sum(axis=others, keepdims=True) + _PRIOR)
    return np.asarray(common * sizes[0] * sizes[1] * sizes[2])
