"""Preparing what is larger than memory: means and deviations from passes over blocks of rows, and the rest
when rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Mode
from tparafac2.data.labels import AXES
from tparafac2.large import ALL, Source, Stored
from tparafac2.preparing.adjustment import Adjustment
from tparafac2.preparing.steps import (
    ROUNDING,
    Transform,
    Transformed,
    largest,
    means,
    spread_out,
    transform_dense,
)


@dataclass(frozen=True, eq=False)
class PreparedSource:
    """An array whose rows are transformed, centred and scaled when they are read.

    Parameters
    ----------
    source : Source
    steps : sequence of transforms
    pseudocount : float, optional
    adjustment : Adjustment
        Of all rows.
    """

    source: Source
    steps: Sequence[Transform] = ()
    pseudocount: float | None = None
    adjustment: Adjustment = field(default_factory=Adjustment)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of times, rows and columns."""
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is given."""
        return np.dtype(np.float64)

    @property
    def chunks(self) -> tuple[int, int, int]:
        """How many times, rows and columns are stored together."""
        return self.source.chunks

    @property
    def name(self) -> str:
        """What people call it."""
        return self.source.name

    def read(self, rows: slice, times: slice = ALL) -> NDArray[Any]:
        """Some rows, (K, i, J), prepared."""
        return self.finished(self.source.read(rows), rows)[times]

    def finished(self, stored: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Rows as they are stored, prepared."""
        return self._of_rows(rows).apply(self.transformed(stored).values)

    def transformed(self, stored: NDArray[Any]) -> Transformed:
        """Rows as they are stored, transformed."""
        return transform_dense(stored.astype(np.float64, copy=False), self.steps, self.pseudocount)

    def _of_rows(self, rows: slice) -> Adjustment:
        """The adjustment of some rows."""
        own: dict[str, Any] = {}
        for step, numbers in (("center", "centers"), ("scale", "scales")):
            found = getattr(self.adjustment, numbers)
            if getattr(self.adjustment, step) == "rows" and found is not None:
                own[numbers] = found[rows]
        return replace(self.adjustment, **own)


class Moments(NamedTuple):
    """Of each row, column or time: how much was observed, its mean, squares about it, and largest values."""

    n: NDArray[Any]
    mean: FloatArray
    squares: FloatArray
    largest: FloatArray

    @classmethod
    def of(cls, stack: FloatArray, mode: Mode) -> Moments:
        """Of a stack (K, i, J), NaN where missing."""
        others = tuple(axis for axis in range(3) if axis != AXES[mode])
        seen, mean = ~np.isnan(stack), means(stack, mode)
        about = np.square(stack - spread_out(mean, mode))
        return cls(seen.sum(axis=others), mean, np.sum(about, axis=others, where=seen), largest(stack, mode))

    def joined(self, other: Moments) -> Moments:
        """Of both together."""
        n = self.n + other.n
        share = other.n / np.maximum(n, 1)
        step = other.mean - self.mean
        squares = self.squares + other.squares + np.square(step) * self.n * share
        return Moments(n, self.mean + step * share, squares, np.maximum(self.largest, other.largest))


class _Seen(NamedTuple):
    """Of one block: moments of what is centred and of what is scaled, and how many have no shares."""

    center: Moments | None
    scale: Moments | None
    n_empty: int


class _Asked(NamedTuple):
    source: PreparedSource
    center: Mode | None
    scale: Mode | None


def _look(stored: NDArray[Any], asked: _Asked, rows: slice) -> tuple[_Seen, tuple[()]]:
    made = asked.source.transformed(stored)
    stack = asked.source._of_rows(rows).apply(made.values)
    center, scale = (None if mode is None else Moments.of(stack, mode) for mode in asked[1:])
    return _Seen(center, scale, made.n_empty), ()


def adjusted_source(
    stored: Stored,
    steps: Sequence[Transform],
    pseudocount: float | None,
    modes: tuple[Mode | None, Mode | None],
    least_size: float,
) -> tuple[PreparedSource, int]:
    """An array that is prepared when it is read, and for how many rows at a time there was nothing to share.

    Parameters
    ----------
    stored : Stored
    steps : sequence of transforms
    pseudocount : float, optional
    modes : (center, scale)
    least_size : float
        How large transformed values are by nature.
    """
    center, scale = modes
    made = PreparedSource(stored.source, tuple(steps), pseudocount)
    seen = _pass(stored, _Asked(made, center, scale))
    before = None if scale is None else np.maximum(_together(seen, "scale", scale).largest, least_size)
    n_empty = sum(one.n_empty for one in seen)
    if center is not None:
        found = Adjustment(center=center, centers=_together(seen, "center", center).mean)
        made = replace(made, adjustment=found)
        if scale is not None:
            seen = _pass(stored, _Asked(made, None, scale))
    if scale is not None and before is not None:
        scales = _deviations(_together(seen, "scale", scale), before)
        made = replace(made, adjustment=replace(made.adjustment, scale=scale, scales=scales))
    return made, n_empty


def _pass(stored: Stored, asked: _Asked) -> list[_Seen]:
    blocks = stored.blocks()
    return blocks.run(_look, asked, blocks.edges)[0]


def _together(seen: list[_Seen], step: str, mode: Mode) -> Moments:
    parts: list[Moments] = [getattr(one, step) for one in seen]
    if mode == "rows":  # every row is in one block only
        return Moments(*(np.concatenate(numbers) for numbers in zip(*parts)))
    total = parts[0]
    for part in parts[1:]:
        total = total.joined(part)
    return total


def _deviations(found: Moments, before: FloatArray) -> FloatArray:
    spread = np.sqrt(found.squares / np.maximum(found.n, 1))
    return np.where(found.n > 0, np.where(spread <= ROUNDING * before, 0.0, spread), 1.0)
