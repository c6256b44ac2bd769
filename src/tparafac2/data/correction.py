"""Centring and scaling of sparse slices without filling in their zeros."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.labels import MODES, Mode
from tparafac2.data.norms import power_of_two
from tparafac2.data.places import Places
from tparafac2.data.sparse_tables import Entries, entries, tidy

_ROUNDING = 1e-13  # a spread this small beside the numbers themselves is rounding: nothing to divide by


@dataclass(frozen=True, eq=False)
class Correction:
    """X_k becomes times_k diag(rows) X_k diag(columns) - u_k v_k'.

    One rank-one table per slice is taken off: rows, columns or times can be centred, but not two of them.

    Attributes
    ----------
    rows : ndarray (I,), optional
        Factors of the rows.
    columns : ndarray (J,), optional
        Factors of the columns.
    u, v : ndarrays (K, I) and (K, J), optional
        What is taken off, after the factors are applied; zero in the padding of narrower slices.
    times : ndarray (K,), optional
        Factors of the slices.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> slices = [csr_array([[0.0, 4.0], [2.0, 0.0]])]
    >>> correction = Correction.centring(slices, "columns")
    >>> correction.v
    array([[1., 2.]])
    >>> correction.scaling(slices, "columns", by="deviation").columns
    array([1. , 0.5])
    """

    rows: NDArray[np.float64] | None = None
    columns: NDArray[np.float64] | None = None
    u: NDArray[np.float64] | None = None
    v: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None

    @classmethod
    def centring(
        cls,
        slices: Sequence[Any],
        mode: Mode,
        *,
        over: Literal["slice", "all"] = "slice",
        hidden: Places | None = None,
    ) -> Self:
        """Take off the mean of every row, of every column, or of every slice.

        Parameters
        ----------
        slices : sequence of scipy sparse matrices (I, J_k)
        mode : "rows", "columns" or "time"
            Whose means.
        over : "slice" or "all"
            Whether each slice has means of rows or columns of its own, or all slices the same ones.
        hidden : Places, optional
            Entries that are in no mean; nothing may be stored there. For means over all.

        Returns
        -------
        Correction
        """
        _require("mode", mode, MODES)
        _require("over", over, ("slice", "all"))
        K, I, J = _shape(slices)
        inside = _inside(slices)
        if mode == "columns" and over == "all" and not inside.all():
            raise ValueError(
                "the slices have different numbers of columns, so that columns have no mean over all slices: "
                "use over='slice'."
            )
        if mode == "time":
            totals = np.array([one.values.sum(dtype=np.float64) for one in map(_entries, slices)])
            return cls.taking_off(totals / _counts(slices, mode, hidden), mode, slices)
        length = {"rows": I, "columns": J}[mode]
        sums = np.array([_sums(getattr(one, mode), one.values, length) for one in map(_entries, slices)])
        if over == "all":
            return cls.taking_off(sums.sum(axis=0) / _counts(slices, mode, hidden), mode, slices)
        means = sums / (I if mode == "columns" else inside.sum(axis=1)[:, None])
        return cls(u=means, v=inside) if mode == "rows" else cls(u=np.ones((K, I)), v=means)

    @classmethod
    def taking_off(cls, means: NDArray[np.float64], mode: Mode, slices: Sequence[Any]) -> Self:
        """Take one number off each row, column or slice."""
        K, I, J = _shape(slices)
        if mode == "columns":
            return cls(u=np.ones((K, I)), v=np.broadcast_to(means, (K, J)))
        u = np.outer(means, np.ones(I)) if mode == "time" else np.broadcast_to(means, (K, I))
        return cls(u=u, v=_inside(slices))

    def means(self, mode: Mode) -> NDArray[np.float64]:
        """What is taken off each row, column or slice by centring over all slices."""
        if self.u is None or self.v is None:
            raise ValueError("this correction takes nothing off: it has no means.")
        return np.asarray({"rows": self.u[0], "columns": self.v[0], "time": self.u[:, 0]}[mode])

    def scaling(
        self,
        slices: Sequence[Any],
        mode: Mode,
        *,
        by: Literal["deviation", "norm"] = "deviation",
    ) -> Self:
        """Go on to divide every row, column or slice by what is left of it.

        Parameters
        ----------
        slices : sequence of scipy sparse matrices (I, J_k)
        mode : "rows", "columns" or "time"
        by : "deviation" or "norm"
            Standard deviation about the mean, or the root of the sum of squares. Where it is zero, nothing
            is divided.

        Returns
        -------
        Correction
            This correction and the division after it.
        """
        sizes = self.sizes(slices, mode, by=by)
        return self.divided(np.where(sizes > 0, sizes, 1.0), mode)

    def sizes(
        self,
        slices: Sequence[Any],
        mode: Mode,
        *,
        by: Literal["deviation", "norm"] = "deviation",
        hidden: Places | None = None,
    ) -> NDArray[np.float64]:
        """Deviation or norm of every row, column or slice of the corrected slices; 0 where it is rounding.

        Hidden entries, at which nothing may be stored, do not count.
        """
        _require("mode", mode, MODES)
        _require("by", by, ("deviation", "norm"))
        self.check(_shape(slices))
        return self._sizes(slices, mode, by, hidden)

    def divided(self, sizes: NDArray[np.float64], mode: Mode) -> Self:
        """Go on to divide every row, column or slice by a number."""
        before, factors = getattr(self, mode if mode != "time" else "times"), 1.0 / sizes
        side = "v" if mode == "columns" else "u"
        taken_off = getattr(self, side)
        across = factors[:, None] if mode == "time" else factors
        scaled = {} if taken_off is None else {side: taken_off * across}
        name = "times" if mode == "time" else mode
        return replace(self, **{name: factors if before is None else before * factors}, **scaled)

    def reordered(self, order: Sequence[int]) -> Self:
        """The same for slices in another order."""
        parts = {"u": self.u, "v": self.v, "times": self.times}
        places = list(order)
        return replace(self, **{name: part[places] for name, part in parts.items() if part is not None})

    def of_rows(self, rows: NDArray[np.intp]) -> Self:
        """The same for some rows."""
        u = None if self.u is None else self.u[:, rows]
        return replace(self, rows=None if self.rows is None else self.rows[rows], u=u)

    def at(self, values: NDArray[np.float64], places: Places) -> NDArray[np.float64]:
        """Single entries, corrected."""
        for factors, where in (
            (self.rows, places.rows),
            (self.columns, places.columns),
            (self.times, places.time),
        ):
            values = values if factors is None else values * factors[where]
        if self.u is None or self.v is None:
            return values
        return values - self.u[places.time, places.rows] * self.v[places.time, places.columns]

    def dense(self, piece: Any, k: int) -> NDArray[np.float64]:
        """Slice k, corrected, with all its zeros.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> slices = [csr_array([[0.0, 4.0], [2.0, 0.0]])]
        >>> Correction.centring(slices, "time").dense(slices[0], 0)
        array([[-1.5,  2.5],
               [ 0.5, -1.5]])
        """
        one = _entries(piece)
        whole = np.zeros(piece.shape)
        whole[one.rows, one.columns] = self.multiplied(one, k)
        if self.u is not None and self.v is not None:
            whole -= np.outer(self.u[k], self.v[k, : piece.shape[1]])
        return whole

    def multiplied(self, one: Entries, k: int) -> NDArray[np.float64]:
        """The stored numbers of slice k with the factors of their rows, their columns and the slice."""
        values = one.values.astype(np.float64)
        if self.rows is not None:
            values *= self.rows[one.rows]
        if self.columns is not None:
            values *= self.columns[one.columns]
        if self.times is not None:
            values *= self.times[k]
        return values

    def check(self, shape: tuple[int, int, int]) -> None:
        """Refuse to be applied to slices of another shape (K, I, J)."""
        K, I, J = shape
        if (self.u is None) != (self.v is None):
            raise ValueError("a correction takes off u_k v_k': give both u (K, I) and v (K, J), or neither.")
        expected = {"rows": (I,), "columns": (J,), "u": (K, I), "v": (K, J), "times": (K,)}
        for name, wanted in expected.items():
            array = getattr(self, name)
            if array is None:
                continue
            if np.shape(array) != wanted:
                raise ValueError(
                    f"the correction's {name} must have shape {wanted} for {K} slices of {I} rows and "
                    f"{J} columns; got {np.shape(array)}."
                )
            if not np.isfinite(array).all():
                raise ValueError(f"the correction's {name} holds NaN or infinity; give finite numbers.")

    def _sizes(
        self, slices: Sequence[Any], mode: Mode, by: str, hidden: Places | None
    ) -> NDArray[np.float64]:
        K, I, J = _shape(slices)
        counts = _counts(slices, mode, hidden)
        length = len(counts)
        u = np.zeros((K, I)) if self.u is None else self.u
        v = np.zeros((K, J)) if self.v is None else self.v
        unit = self._unit(slices)
        sums, squares, squares_before = (np.zeros(length) for _ in range(3))
        for k, one in enumerate(map(_entries, slices)):
            x = self.multiplied(one, k) / unit
            group = np.full(len(x), k) if mode == "time" else getattr(one, mode)
            mine, others = _sides(mode, u[k], v[k] / unit)
            total, everywhere = mine * others.sum(), mine * mine * (others @ others)
            if mode == "time":
                here = np.arange(K) == k
                total, everywhere = here * total.sum(), here * everywhere.sum()
            taken_off = u[k][one.rows] * (v[k] / unit)[one.columns]
            # (x - m)^2 - m^2 where something is stored, and m^2 everywhere. No more cancels here than the
            # share of the zeros allows: a row of which half is zero spreads as far as its mean.
            squares += _sums(group, x * (x - 2.0 * taken_off), length) + everywhere
            squares_before += _sums(group, x * x, length) + everywhere
            sums += _sums(group, x, length) - total
        if hidden is not None:
            group = getattr(hidden, mode)
            taken_off = u[hidden.time, hidden.rows] * (v[hidden.time, hidden.columns] / unit)
            squares -= _sums(group, taken_off**2, length)
            squares_before -= _sums(group, taken_off**2, length)
            sums += _sums(group, taken_off, length)
        if by == "deviation":
            squares = (squares - sums * sums / counts) / counts
            squares_before = squares_before / counts
        sizes = unit * np.sqrt(np.maximum(squares, 0.0))
        return np.where(squares > _ROUNDING * squares_before, sizes, 0.0)

    def _unit(self, slices: Sequence[Any]) -> float:
        """A power of two near the largest number, so that no square overflows or underflows."""
        pieces = enumerate(map(_entries, slices))
        peak = max(float(np.abs(self.multiplied(one, k)).max(initial=0.0)) for k, one in pieces)
        if self.u is not None and self.v is not None:
            peak = max(peak, float(np.abs(self.u).max()) * float(np.abs(self.v).max()))
        return power_of_two(peak)


def _entries(piece: Any) -> Entries:
    return entries(tidy(piece, "csr"))


def _sides(
    mode: Mode, u: NDArray[np.float64], v: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return (v, u) if mode == "columns" else (u, v)


def _sums(group: NDArray[Any], values: NDArray[Any], length: int) -> NDArray[np.float64]:
    return np.bincount(group, values, length).astype(np.float64, copy=False)


def _shape(slices: Sequence[Any]) -> tuple[int, int, int]:
    return len(slices), slices[0].shape[0], max(piece.shape[1] for piece in slices)


def _counts(slices: Sequence[Any], mode: Mode, hidden: Places | None) -> NDArray[np.float64]:
    """Number of entries of every row, column or slice, less those that are hidden; at least 1."""
    I, inside = slices[0].shape[0], _inside(slices)
    counts = {"rows": np.full(I, inside.sum()), "columns": I * inside.sum(axis=0)}.get(
        mode, I * inside.sum(axis=1)
    )
    if hidden is not None:
        counts = np.maximum(counts - np.bincount(getattr(hidden, mode), minlength=len(counts)), 1.0)
    return np.asarray(counts)


def _inside(slices: Sequence[Any]) -> NDArray[np.float64]:
    """(K, J): one in the true columns of every slice, zero in the padding."""
    widths = np.array([piece.shape[1] for piece in slices])
    return (np.arange(widths.max()) < widths[:, None]).astype(np.float64)


def _require(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}; got {value!r}.")
