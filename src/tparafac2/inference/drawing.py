"""Data drawn anew from those of a fit: rows with replacement, or residuals with random signs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import AroundOthers, DenseData, FloatArray, SliceData, is_complete, require_memory
from tparafac2.errors import InvalidValue
from tparafac2.preparing import Adjustment
from tparafac2.solver import Start
from tparafac2.words import Setting

_MOST_BYTES = 500_000_000  # of sparse data, held with all entries


class Drawn(NamedTuple):
    """A data set like that of the fit, and the loadings of its rows to begin with."""

    data: SliceData
    A: FloatArray


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Rows drawn with replacement, and centred and scaled anew where those of the fit were.

    Rows that belong together are drawn together.

    Parameters
    ----------
    data : SliceData
    A : ndarray (I, R)
        Loadings to begin with.
    members : list of ndarrays of int
        The rows of every unit.
    preparation : mapping, optional
        The record of how the data were prepared.
    """

    data: SliceData
    A: FloatArray
    members: list[NDArray[np.intp]]
    preparation: Mapping[str, Any] | None = None

    def draw(self, rng: np.random.Generator) -> Drawn:
        """One data set."""
        units = np.sort(rng.integers(0, len(self.members), len(self.members)))
        rows = np.concatenate([self.members[unit] for unit in units])
        return Drawn(self._adjusted(self.data.of_rows(rows)), self.A[rows])  # type: ignore[attr-defined]

    def _adjusted(self, data: SliceData) -> SliceData:
        """Means and deviations are of the rows that were drawn; twice done is the same as once."""
        told = self.preparation or {}
        center, scale = told.get("center"), told.get("scale")
        if {center, scale} <= {None, "rows"} or held_values(data) is None:
            return data
        stack = _unweighted(data)
        found = Adjustment.of(stack, center, scale).unscaled_where_flat()
        if found.scales is not None:  # held numbers are divided by the norm of the data, and stay so
            found = replace(found, scales=found.scales / self._size)
        return with_held_values(data, found.apply(stack).transpose(1, 0, 2) * _roots(data)[:, None, None])

    @cached_property
    def _size(self) -> float:
        """The deviation of what was scaled to have one."""
        told = self.preparation or {}
        found = Adjustment.of(_unweighted(self.data), told.get("center"), told.get("scale"))
        return 1.0 if found.scales is None else float(found.scales.max())


@dataclass(frozen=True, eq=False)
class ResidualDraws:
    """The same rows: what the model says of them, and what it leaves of every entry with a random sign.

    Parameters
    ----------
    data : SliceData
        With `values`.
    A : ndarray (I, R)
        Loadings to begin with.
    fitted, residuals : ndarrays (I, K, J)
        They add up to the held values, apart from what the fit took of the residuals, which is given back.
    """

    data: SliceData
    A: FloatArray
    fitted: FloatArray
    residuals: FloatArray

    @classmethod
    def around(cls, data: SliceData, centre: Start) -> "ResidualDraws":
        """Draws around the factors of a fit."""
        data = with_every_entry(data)
        values = np.asarray(held_values(data))
        W = centre.B * centre.C[:, None, :]
        fitted = np.tensordot(centre.A * _roots(data)[:, None], W, axes=(1, 2)).astype(values.dtype)
        I, rank = centre.A.shape
        freed = np.sqrt(I / max(I - rank, 1))  # every column's weights at a time were fitted to I entries
        return cls(data, centre.A, fitted, (values - fitted) * values.dtype.type(freed))

    def draw(self, rng: np.random.Generator) -> Drawn:
        """One data set."""
        size = self.residuals.size
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
        signs = (2 * bits.astype(np.int8) - 1).reshape(self.residuals.shape)
        values = np.multiply(self.residuals, signs)
        values += self.fitted
        return Drawn(with_held_values(self.data, values), self.A)


def _roots(data: SliceData) -> FloatArray:
    """What the rows are multiplied by where they are held: the roots of their weights."""
    weights = getattr(data, "row_weights", None)
    return np.ones(data.shape[1]) if weights is None else np.sqrt(weights)


def _unweighted(data: SliceData) -> FloatArray:
    """The numbers as (K, I, J), without the roots of the weights."""
    values = np.asarray(held_values(data), dtype=np.float64)
    return np.asarray((values / _roots(data)[:, None, None]).transpose(1, 0, 2))


def held_values(data: SliceData) -> FloatArray | None:
    """The numbers themselves, (I, K, J), NaN where missing; None where they are not held as one array."""
    inner = data.data if isinstance(data, AroundOthers) else data
    found: FloatArray | None = getattr(inner, "values", None)
    return found


def with_held_values(data: SliceData, values: FloatArray) -> SliceData:
    """The same with other numbers."""
    if isinstance(data, AroundOthers):
        return data.around(with_held_values(data.data, values))
    held = np.ascontiguousarray(values, dtype=data.dtype)
    made: SliceData = replace(data, values=held)  # type: ignore[type-var]
    return made


def can_draw_rows(data: SliceData) -> bool:
    """Whether data can give some of their rows."""
    return hasattr(data.data if isinstance(data, AroundOthers) else data, "of_rows")


def require_residuals(data: SliceData) -> None:
    """Refuse data of which the residuals, which are nowhere zero, would be too large."""
    K, I, J = data.shape
    if held_values(data) is None and (8 * K * I * J > _MOST_BYTES or not is_complete(data)):
        raise InvalidValue(
            "what a model leaves of sparse data is nowhere zero, too large here to be drawn anew, and the "
            "bands of the loadings come of it: use ",
            Setting("over", "rows"),
            " with ",
            Setting("loadings", False),
            ".",
        )
    require_memory(4 * 8 * K * I * J, "Drawing residuals anew")


def with_every_entry(data: SliceData) -> SliceData:
    """The same data, held as one array."""
    if held_values(data) is not None:
        return data
    if isinstance(data, AroundOthers):
        return data.around(with_every_entry(data.data))
    values = data.project(np.eye(data.shape[1])[None])[0]
    return DenseData(np.ascontiguousarray(values), data.scale, data.widths)
