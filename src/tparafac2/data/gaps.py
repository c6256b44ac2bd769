"""Sums of products over what was observed: from lists of what was not, or by a weight for every entry."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dense import DenseData
from tparafac2.data.gram_kernels import Lanes, Lists, Terms, multiply_pairs, sum_columns, sum_rows
from tparafac2.data.interface import FloatArray

# Share of the entries from which on lists are slower than products with a mask, as measured.
_MANY = 0.35
# Numbers that lists gather from: 1 MB stay in the second cache; but lanes enough to make loops worth it.
_TABLE, LANES = 2**17, 24

# Share of a total of squares that has to be left where terms are taken off it. Below, rounding of the total
# would show in what is left, so that what is left is summed itself.
_LEFT = 0.1


class Grams(Protocol):
    """The cross products of what was observed of every row and column."""

    @property
    def nbytes(self) -> int:
        """Memory of what is held."""

    def of_columns(self, At: FloatArray, out: FloatArray) -> None:
        """Fill (n, R (R+1) / 2, K, J) with the sum of a_i a_i' over the rows i observed of each column."""

    def of_rows(self, W: FloatArray) -> NDArray[np.float64]:
        """The sum of w_c w_c' over the columns c observed of each row: (n, I, R, R), from (n, R, K, J)."""


def grams_of(observed: NDArray[np.bool_], dtype: np.dtype[np.floating]) -> Grams:
    """Choose the faster way for data (I, K, J) of which what is False is missing.

    Examples
    --------
    >>> some = np.arange(24).reshape(2, 3, 4) % 5 > 0
    >>> type(grams_of(some, np.dtype(float))).__name__
    'GramsByList'
    """
    lists = find_gaps(observed)
    listed = max(len(lists.columns.terms), len(lists.rows.terms))
    return lists if listed < _MANY * observed.size else GramsByWeight(DenseData(observed.astype(dtype)))


class GramsByWeight(NamedTuple):
    """As matrix products: of as many numbers, whatever is missing.

    Examples
    --------
    >>> GramsByWeight(DenseData(np.array([[[1.0, 0.5]]]))).of_rows(np.ones((1, 1, 1, 2))).tolist()
    [[[[1.5]]]]
    """

    weights: DenseData

    @property
    def nbytes(self) -> int:
        """See Grams."""
        return self.weights.nbytes

    def of_columns(self, At: FloatArray, out: FloatArray) -> None:
        """See Grams."""
        first, second = np.triu_indices(At.shape[1])
        self.weights.project(At[:, first] * At[:, second], out=out)

    def of_rows(self, W: FloatArray) -> NDArray[np.float64]:
        """See Grams."""
        n, R, K, J = W.shape
        first, second = np.triu_indices(R)
        grams = np.empty((n, self.weights.shape[1], R, R))
        for some in _batches(n, R, K * J):
            packed = self.weights.accumulate(W[some, first] * W[some, second])
            grams[some] = packed.transpose(0, 2, 1)[..., _places(R)]
        return grams


class GramsByList(NamedTuple):
    """From lists of what is missing, at the cost of that; columns that miss the same rows are one group.

    Where a sample was not taken, all its columns miss the same: there are then few groups. Sums are in double
    precision, also of data in single.

    Examples
    --------
    >>> lists = find_gaps(np.array([[[False, False, True]], [[True, True, True]]]))
    >>> lists.group, lists.columns.terms, lists.rows.terms
    (array([0, 0, 1], dtype=int32), array([0], dtype=int32), array([0], dtype=int32))
    """

    group: NDArray[np.int32]  # (K J,)
    columns: Lists  # of each group, by rows
    rows: Lists  # of each row, by groups

    @property
    def nbytes(self) -> int:
        """See Grams."""
        return self.group.nbytes + sum(held.nbytes for held in (*self.columns, *self.rows))

    def of_columns(self, At: FloatArray, out: FloatArray) -> None:
        """See Grams."""
        n, R, I = At.shape
        alone = np.arange(I, dtype=np.int32)
        for some in _batches(n, R, I):
            terms = _pairs(At[some], alone, I)
            sum_columns(self.columns, self.group, terms, out[some].reshape(len(terms.total), -1))

    def of_slices(self, At: FloatArray) -> NDArray[np.float64]:
        """The same where each slice has one column, for itself: (n, K, R, R)."""
        n, R = At.shape[:2]
        packed = np.empty((n, R * (R + 1) // 2, len(self.group)))
        self.of_columns(At, packed)
        return np.take(packed.transpose(0, 2, 1), _places(R), axis=2)

    def of_rows(self, W: FloatArray) -> NDArray[np.float64]:
        """See Grams."""
        n, R = W.shape[:2]
        groups, I = len(self.columns.direct), len(self.rows.direct)
        grams = np.empty((n, I, R, R))
        for some in _batches(n, R, groups):
            terms = _pairs(W[some], self.group, groups)
            sums = np.empty((I, len(terms.total)))
            sum_rows(self.rows, terms, sums)
            grams[some] = sums.reshape(I, -1, R * (R + 1) // 2)[..., _places(R)].transpose(1, 0, 2, 3)
        return grams


def find_gaps(observed: NDArray[np.bool_]) -> GramsByList:
    """List what is missing of (I, K, J), where False is missing."""
    flat = observed.reshape(len(observed), -1)
    first, group = _alike(flat)
    distinct = flat[:, first]
    return GramsByList(group, _listed(distinct.T), _listed(distinct))


def one_of_each_slice(grams: Grams, slices: int) -> GramsByList | None:
    """The lists for one column of each slice, where they are those of all its columns; None where not."""
    if not isinstance(grams, GramsByList):
        return None
    group = grams.group.reshape(slices, -1)
    return grams._replace(group=group[:, 0].copy()) if (group == group[:, :1]).all() else None


def _alike(observed: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """One column of each kind, in the order in which they come, and of which kind each column is."""
    bits = np.ascontiguousarray(np.packbits(observed, axis=0).T)
    keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return first[order], place[kind]


def _listed(observed: NDArray[np.bool_]) -> Lists:
    """Of each row what is missing or what is not, whichever is less."""
    direct = 2 * np.count_nonzero(observed, axis=1) < observed.shape[1]
    listed = np.ascontiguousarray(observed == direct[:, None])
    begin = np.concatenate([[0], np.cumsum(np.count_nonzero(listed, axis=1))])
    terms = np.flatnonzero(listed) % observed.shape[1]
    return Lists(begin, terms.astype(np.int32), direct)


def _batches(n: int, rank: int, length: int) -> list[slice]:
    """So many starts at a time that their pairs stay in the cache, or are enough lanes."""
    pairs = rank * (rank + 1) // 2
    step = max(-(-LANES // pairs), _TABLE // (length * pairs))
    return [slice(begin, begin + step) for begin in range(0, n, step)]


def _pairs(factors: FloatArray, group: NDArray[np.int32], groups: int) -> Terms:
    """Products of all pairs r <= s of components, summed over the columns of each group."""
    n, R = factors.shape[:2]
    offsets = R * np.arange(n)[:, None]
    lanes = Lanes(*((offsets + index).ravel().astype(np.uint32) for index in np.triu_indices(R)))
    each = np.empty((groups, len(lanes.first)))
    multiply_pairs(np.ascontiguousarray(factors).reshape(n * R, -1), group, lanes, each)
    total = each.sum(axis=0)
    return Terms(each, total, np.where(lanes.first == lanes.second, _LEFT * total, -np.inf))


def _places(rank: int) -> NDArray[np.intp]:
    """Where each (r, s) is among the pairs r <= s."""
    places = np.empty((rank, rank), dtype=np.intp)
    first, second = np.triu_indices(rank)
    places[first, second] = places[second, first] = np.arange(len(first))
    return places
