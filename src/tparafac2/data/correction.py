"""Centring and scaling of sparse slices without filling in their zeros."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.tables import Entries, entries, tidy
from tparafac2.data.twofold import power_of_two

_ROUNDING = 1e-13  # a spread this small beside the numbers themselves is rounding: nothing to divide by


@dataclass(frozen=True, eq=False)
class Correction:
    """X_k becomes diag(rows) X_k diag(columns) - u_k v_k'.

    One rank-one table per slice is taken off, so rows or columns can be centred, but not both.

    Attributes
    ----------
    rows : ndarray (I,), optional
        Factors of the rows.
    columns : ndarray (J,), optional
        Factors of the columns.
    u, v : ndarrays (K, I) and (K, J), optional
        What is taken off, after the factors are applied; zero in the padding of narrower slices.

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

    @classmethod
    def centring(
        cls,
        slices: Sequence[Any],
        mode: Literal["rows", "columns"],
        *,
        over: Literal["slice", "all"] = "slice",
    ) -> Self:
        """Take off the mean of every row, or of every column.

        Parameters
        ----------
        slices : sequence of scipy sparse matrices (I, J_k)
        mode : "rows" or "columns"
            Whose means.
        over : "slice" or "all"
            Whether each slice has means of its own, or all slices the same ones.

        Returns
        -------
        Correction
        """
        _require("mode", mode, ("rows", "columns"))
        _require("over", over, ("slice", "all"))
        K, I, J = _shape(slices)
        inside = _inside(slices)
        if mode == "columns" and over == "all" and not inside.all():
            raise ValueError(
                "the slices have different numbers of columns, so that columns have no mean over all slices: "
                "use over='slice'."
            )
        length = {"rows": I, "columns": J}[mode]
        sums = np.array([_sums(getattr(one, mode), one.values, length) for one in map(_entries, slices)])
        counts = np.full(K, I) if mode == "columns" else inside.sum(axis=1)
        if over == "slice":
            means = sums / counts[:, None]
        else:
            means = np.broadcast_to(sums.sum(axis=0) / counts.sum(), sums.shape)
        return cls(u=means, v=inside) if mode == "rows" else cls(u=np.ones((K, I)), v=means)

    def scaling(
        self,
        slices: Sequence[Any],
        mode: Literal["rows", "columns"],
        *,
        by: Literal["deviation", "norm"] = "deviation",
    ) -> Self:
        """Go on to divide every row, or every column, by what is left of it over all slices.

        Parameters
        ----------
        slices : sequence of scipy sparse matrices (I, J_k)
        mode : "rows" or "columns"
        by : "deviation" or "norm"
            Standard deviation about the mean, or the root of the sum of squares. Where it is zero, nothing
            is divided.

        Returns
        -------
        Correction
            This correction and the division after it.
        """
        _require("mode", mode, ("rows", "columns"))
        _require("by", by, ("deviation", "norm"))
        self.check(_shape(slices))
        factors = 1.0 / self._sizes(slices, mode, by)
        before = getattr(self, mode)
        factors_so_far = factors if before is None else before * factors
        side = "u" if mode == "rows" else "v"
        taken_off = getattr(self, side)
        scaled = {} if taken_off is None else {side: taken_off * factors}
        return replace(self, **{mode: factors_so_far}, **scaled)

    def multiplied(self, one: Entries) -> NDArray[np.float64]:
        """The stored numbers of a slice with the factors of their rows and columns."""
        values = one.values.astype(np.float64)
        if self.rows is not None:
            values *= self.rows[one.rows]
        if self.columns is not None:
            values *= self.columns[one.columns]
        return values

    def check(self, shape: tuple[int, int, int]) -> None:
        """Refuse to be applied to slices of another shape (K, I, J)."""
        K, I, J = shape
        if (self.u is None) != (self.v is None):
            raise ValueError("a correction takes off u_k v_k': give both u (K, I) and v (K, J), or neither.")
        expected = {"rows": (I,), "columns": (J,), "u": (K, I), "v": (K, J)}
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

    def _sizes(self, slices: Sequence[Any], mode: Literal["rows", "columns"], by: str) -> NDArray[np.float64]:
        """Deviation or norm of every row or column of the corrected slices; one where it is nothing."""
        K, I, J = _shape(slices)
        inside = _inside(slices)
        length, counts = (I, np.full(I, inside.sum())) if mode == "rows" else (J, I * inside.sum(axis=0))
        u = np.zeros((K, I)) if self.u is None else self.u
        v = np.zeros((K, J)) if self.v is None else self.v
        unit = self._unit(slices)
        sums, squares, squares_before = (np.zeros(length) for _ in range(3))
        for k, one in enumerate(map(_entries, slices)):
            group, x = getattr(one, mode), self.multiplied(one) / unit
            mine, others = (u[k], v[k] / unit) if mode == "rows" else (v[k] / unit, u[k])
            taken_off = u[k][one.rows] * (v[k] / unit)[one.columns]
            everywhere = mine * mine * (others @ others)
            # (x - m)^2 - m^2 where something is stored, and m^2 everywhere. No more cancels here than the
            # share of the zeros allows: a row of which half is zero spreads as far as its mean.
            squares += _sums(group, x * (x - 2.0 * taken_off), length) + everywhere
            squares_before += _sums(group, x * x, length) + everywhere
            sums += _sums(group, x, length) - mine * others.sum()
        if by == "deviation":
            squares = (squares - sums * sums / counts) / counts
            squares_before = squares_before / counts
        sizes = unit * np.sqrt(np.maximum(squares, 0.0))
        return np.where(squares > _ROUNDING * squares_before, sizes, 1.0)

    def _unit(self, slices: Sequence[Any]) -> float:
        """A power of two near the largest number, so that no square overflows or underflows."""
        peak = max(float(np.abs(self.multiplied(one)).max(initial=0.0)) for one in map(_entries, slices))
        if self.u is not None and self.v is not None:
            peak = max(peak, float(np.abs(self.u).max()) * float(np.abs(self.v).max()))
        return power_of_two(peak)


def _entries(piece: Any) -> Entries:
    return entries(tidy(piece, "csr"))


def _sums(group: NDArray[Any], values: NDArray[Any], length: int) -> NDArray[np.float64]:
    return np.bincount(group, values, length).astype(np.float64, copy=False)


def _shape(slices: Sequence[Any]) -> tuple[int, int, int]:
    return len(slices), slices[0].shape[0], max(piece.shape[1] for piece in slices)


def _inside(slices: Sequence[Any]) -> NDArray[np.float64]:
    """(K, J): one in the true columns of every slice, zero in the padding."""
    widths = np.array([piece.shape[1] for piece in slices])
    return (np.arange(widths.max()) < widths[:, None]).astype(np.float64)


def _require(name: str, value: str, allowed: tuple[str, str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}; got {value!r}.")
