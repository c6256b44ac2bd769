"""Which entries are hidden: at random, so that something stays of every slice, row and column."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Places
from tparafac2.data.sparse_tables import entries, tidy
from tparafac2.errors import InvalidValue

Unit: TypeAlias = Literal["entries", "fibres"]

# Below these numbers in a set, chance decides which model looks best. A fibre has many entries.
_FEWEST = {"entries": 10, "fibres": 5}
_MOST_SPARSE = 200_000  # entries of sparse data in all sets: more would cost more than the data themselves
# Share of the numbers of sparse data, or of the zeros, up to which more of the one may be hidden than of the
# other: what is shown, and so what is predicted, is off by as much.
_UNNOTICED = 0.02


class Hidden(NamedTuple):
    """A set of entries that are hidden together.

    Attributes
    ----------
    places : Places
    weights : ndarray
        How many entries each stands for, of mean one: not all the same where numbers and zeros of sparse data
        are hidden at different rates.
    """

    places: Places
    weights: NDArray[np.float64]


def unit_of(observed: NDArray[np.bool_], present: NDArray[np.bool_] | None) -> Unit:
    """Whether single entries are hidden, or all that was observed of a row at a time.

    What is hidden should be like what is missing: where most missing entries are of samples that were not
    taken, of which nothing was observed, entries would be told by others of the same sample.

    Parameters
    ----------
    observed : ndarray of bool (K, I, J)
    present : ndarray of bool (K, J), optional
        Which columns there are at each time; others are not missing.

    Examples
    --------
    >>> observed = np.ones((2, 3, 4), dtype=bool)
    >>> observed[0, 0] = False
    >>> unit_of(observed, None), unit_of(~observed | True, None)
    ('fibres', 'entries')
    """
    there = np.ones_like(observed[:, 0]) if present is None else present
    # Slices of which nothing was observed are left out.
    there = there & np.asarray(observed.any(axis=(1, 2)))[:, None]
    missing = np.asarray((~observed & there[:, None]).sum(axis=2))
    whole = missing[~observed.any(axis=2)].sum()
    return "fibres" if 2 * whole > missing.sum() else "entries"


def draw_observed(
    rng: np.random.Generator, observed: NDArray[np.bool_], unit: Unit, share: float, n: int
) -> list[Hidden]:
    """Draw n sets without common entries, each a share of what was observed.

    At least half of what was observed of every slice, row and column stays; where fibres are hidden, half of
    those of every slice and row, and something of every column.

    Examples
    --------
    >>> sets = draw_observed(np.random.default_rng(0), np.ones((4, 5, 6), dtype=bool), "entries", 0.1, 2)
    >>> [one.places.size for one in sets]
    [12, 12]
    """
    _require_share(share, n)
    units = observed if unit == "entries" else np.asarray(observed.any(axis=2))
    room = [_along(units, axis) // 2 for axis in range(units.ndim)]
    free = units if unit == "entries" else units & ~_lasting(rng, observed)
    wanted = round(share * int(np.count_nonzero(units)))
    chosen = _spread(rng, np.flatnonzero(free), units.shape, room, n * wanted)
    each = len(chosen) // n
    if each < max(_FEWEST[unit], wanted / 2):
        raise _too_few(unit, int(np.count_nonzero(units)), share, n)
    sets = [np.unravel_index(chosen[one * each : (one + 1) * each], units.shape) for one in range(n)]
    return [_even(_within(observed, one)) for one in sets]


def _within(observed: NDArray[np.bool_], units: Sequence[NDArray[np.intp]]) -> Places:
    if len(units) == observed.ndim:
        return Places(*units)
    time, rows = units
    which, columns = np.nonzero(observed[time, rows])
    return Places(time[which], rows[which], columns)


def _even(places: Places) -> Hidden:
    return Hidden(places, np.ones(places.size))


def _along(units: NDArray[np.bool_], axis: int) -> NDArray[np.intp]:
    return np.asarray(units.sum(axis=tuple(one for one in range(units.ndim) if one != axis)))


def _lasting(rng: np.random.Generator, observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A few fibres (K, I), in which every column was observed at least once."""
    lasting = np.zeros(observed.shape[:2], dtype=bool)
    seen = np.zeros(observed.shape[2], dtype=bool)
    for k, i in zip(*np.unravel_index(rng.permutation(lasting.size), lasting.shape)):
        if (observed[k, i] & ~seen).any():
            lasting[k, i] = True
            seen |= observed[k, i]
            if seen.all():
                break
    return lasting


def _spread(
    rng: np.random.Generator,
    free: NDArray[np.intp],
    shape: tuple[int, ...],
    room: Sequence[NDArray[np.intp]],
    wanted: int,
) -> NDArray[np.intp]:
    """So many of the free places, at random, with no more along each axis than there is room for.

    Fewer if there is no room left. Those that come after many of their kind wait for another turn.
    """
    order, taken = rng.permutation(free), [free[:0]]
    room = [one.copy() for one in room]
    while wanted > 0 and len(order):
        batch, order = np.split(order, [max(wanted, 1000)])
        fits, waits = np.ones((2, len(batch)), dtype=bool)
        for codes, left in zip(np.unravel_index(batch, shape), room):
            fits &= _earlier_alike(codes) < left[codes]
            waits &= left[codes] > 0
        order = np.concatenate([order, batch[waits & ~fits]])
        batch = batch[fits][:wanted]
        for codes, left in zip(np.unravel_index(batch, shape), room):
            left -= np.bincount(codes, minlength=len(left))
        taken.append(batch)
        wanted -= len(batch)
    return np.concatenate(taken)


def _earlier_alike(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many of those before it have the same code, for each.

    >>> _earlier_alike(np.array([7, 2, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.searchsorted(ordered, ordered)
    count = np.empty_like(order)
    count[order] = np.arange(len(codes)) - first
    return count


class Stored(NamedTuple):
    """The numbers of sparse slices, and where they are when all entries are counted through.

    Attributes
    ----------
    positions, values : ndarrays
        Of the numbers, in order.
    n_rows : int
    widths : ndarray (K,)
        Of the slices.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> stored = Stored.of([csr_array([[0, 5.0]]), csr_array([[6.0]])])
    >>> stored.size, stored.positions.tolist(), stored.at(stored.places(np.arange(3))).tolist()
    (3, [1, 2], [0.0, 5.0, 6.0])
    """

    positions: NDArray[np.int64]
    values: NDArray[np.float64]
    n_rows: int
    widths: NDArray[np.int64]

    @classmethod
    def of(cls, slices: Sequence[Any]) -> Self:
        """Of K sparse slices (I, J_k)."""
        n_rows, widths = slices[0].shape[0], np.array([piece.shape[1] for piece in slices], dtype=np.int64)
        found = [entries(tidy(piece, "csr")) for piece in slices]
        first = _first(widths, n_rows)
        positions = [
            start + one.rows.astype(np.int64) * width + one.columns
            for start, width, one in zip(first, widths, found)
        ]
        values = np.concatenate([one.values for one in found]).astype(np.float64)
        return cls(np.concatenate(positions), values, n_rows, widths)

    @property
    def size(self) -> int:
        """Number of entries, zeros included."""
        return int(self.n_rows * self.widths.sum())

    def places(self, positions: NDArray[np.int64]) -> Places:
        """Slice, row and column of positions."""
        first = _first(self.widths, self.n_rows)
        time = np.searchsorted(first, positions, side="right") - 1
        rows, columns = np.divmod(positions - first[time], self.widths[time])
        return Places(time, rows, columns)

    def positions_of(self, places: Places) -> NDArray[np.int64]:
        """The other way."""
        first = _first(self.widths, self.n_rows)
        return np.asarray(first[places.time] + places.rows * self.widths[places.time] + places.columns)

    def at(self, places: Places) -> NDArray[np.float64]:
        """Values at places, zeros included."""
        wanted = self.positions_of(places)
        found = np.minimum(np.searchsorted(self.positions, wanted), len(self.positions) - 1)
        return np.where(self.positions[found] == wanted, self.values[found], 0.0)

    def draw(self, rng: np.random.Generator, share: float, n: int) -> list[Hidden]:
        """Draw n sets without common entries; zeros are entries like all others.

        Of large data they are smaller than asked for, and hold as many numbers as zeros, if possible, so that
        the sum by weight still estimates that over all entries.
        """
        _require_share(share, n)
        n_stored, n_zeros = len(self.positions), self.size - len(self.positions)
        most = _MOST_SPARSE // n
        if share * self.size <= most:
            counts = round(share * n_stored), round(share * n_zeros)
        else:
            rate = min(share, max(most / self.size, _UNNOTICED))
            counts = min(int(rate * n_stored), most // 2), min(int(rate * n_zeros), most // 2)
        if sum(counts) < _FEWEST["entries"]:
            raise _too_few("entries", self.size, share, n)
        stored = self.positions[rng.choice(n_stored, n * counts[0], replace=False)]
        ranks = rng.choice(n_zeros, n * counts[1], replace=False)
        # The q-th zero comes after as many numbers as have no more than q zeros before them.
        before = self.positions - np.arange(n_stored)
        zeros = ranks + np.searchsorted(before, ranks, side="right")
        sizes = np.repeat([n_stored / max(counts[0], 1), n_zeros / max(counts[1], 1)], counts)
        return [
            Hidden(self.places(np.concatenate(pair)), sizes / sizes.mean())
            for pair in zip(np.split(stored, n), np.split(zeros, n))
        ]

    def without(self, slices: Sequence[Any], places: Places) -> list[Any]:
        """The slices with zeros at these places, which are not stored."""
        import scipy.sparse

        positions, tables = self.positions_of(places), [tidy(piece, "csr") for piece in slices]
        kept = np.where(np.isin(self.positions, positions), 0.0, self.values)
        parts = np.split(kept, np.cumsum([table.nnz for table in tables])[:-1])
        made = [
            scipy.sparse.csr_array((values, table.indices, table.indptr), shape=table.shape)
            for values, table in zip(parts, tables)
        ]
        return [tidy(table, "csr") for table in made]


def _first(widths: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(widths[:-1] * n_rows)])


def _require_share(share: float, n: int) -> None:
    if not (share > 0 and n >= 1 and n * share <= 0.5):
        raise InvalidValue(f"at most half of the entries can be hidden in all; got {n} x {share:g} of them.")


def _too_few(unit: Unit, count: int, share: float, n: int) -> InvalidValue:
    what = "entries" if unit == "entries" else "pairs of a row and a time"
    return InvalidValue(
        f"{count:,} {what} were observed: too few to hide {n} x {share:.0%} of them, at least "
        f"{_FEWEST[unit]} each, and to leave at least half of every slice, row and column. Give more data, "
        "or set what is to be chosen yourself."
    )
