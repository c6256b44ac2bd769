"""Blocks of rows: what is made of each, what is computed with it, and those that are read from a disk."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import DenseData, FloatArray, ObservedData, one_busy
from tparafac2.errors import StoreLost, Told
from tparafac2.large.sources import Source

Block: TypeAlias = Any
"""What a recipe makes of some rows: data of these rows alone, or the entries as they are stored."""

Work: TypeAlias = Callable[[Block, Any, Any], tuple[Any, tuple[Any, ...]]]
"""From a block, what all blocks share and what is its own, to what is its own and what is summed."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How data are made of some rows as they are stored.

    Attributes
    ----------
    scale : float
        Norm of all rows together.
    dtype : str
        Type to compute in.
    order : tuple of int
        Which slices, in the order of time.
    complete : bool
        Whether nothing is missing in any row.
    present : ndarray of bool (K, J), optional
        Which columns there are at each time.

    Examples
    --------
    >>> Recipe(2.0, "float64", (1, 0))(np.arange(4.0).reshape(2, 1, 2)).values.tolist()
    [[[1.0, 1.5], [0.0, 0.5]]]
    """

    scale: float
    dtype: str
    order: tuple[int, ...]
    complete: bool = True
    present: NDArray[np.bool_] | None = None

    def __call__(self, stored: NDArray[Any]) -> DenseData | ObservedData:
        """Data of rows that are stored as (K, i, J)."""
        _, i, J = stored.shape
        values = np.empty((i, len(self.order), J), dtype=self.dtype)
        with np.errstate(under="ignore"):
            for k, place in enumerate(self.order):
                # In float64 before rounding: 1e150 would overflow in float32.
                np.divide(stored[place], self.scale, out=values[:, k], dtype=np.float64, casting="same_kind")
        if self.complete:
            return DenseData(values, self.scale)
        return ObservedData(values, self.scale, self.present)


def as_stored(stored: NDArray[Any]) -> NDArray[Any]:
    """The entries as they are."""
    return stored


class Blocks(Protocol):
    """Blocks of rows, and whoever works on them."""

    @property
    def edges(self) -> tuple[slice, ...]:
        """The rows of every block."""

    @property
    def reads(self) -> "Reads":
        """What was read so far."""

    @property
    def largest(self) -> int:
        """Bytes that are held at once of the blocks, here."""

    def run(self, work: Work, shared: Any, own: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        """Do the work on every block once: what each has of its own, in order, and the sums."""

    def remade(self, recipe: Callable[[NDArray[Any]], Block]) -> "Blocks":
        """What a recipe makes of every block, of entries as they are stored."""


@dataclass
class Reads:
    """What was read so far."""

    passes: int = 0
    bytes: int = 0
    seconds: float = 0.0
    part: float = 0.0  # of the pass that is being made
    watch: Callable[[], object] | None = None  # called after every block

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class OnDisk:
    """Blocks that are read one after the other, the next one while this one is worked on.

    Parameters
    ----------
    source : Source
    edges : tuple of slice
    recipe : callable
        From rows as they are stored to a block.
    reads : Reads
        Where it is noted what was read.
    """

    source: Source
    edges: tuple[slice, ...]
    recipe: Callable[[NDArray[Any]], Block] = as_stored
    reads: Reads = field(default_factory=Reads)

    @property
    def largest(self) -> int:
        """Bytes of the two blocks that are held at once, and of one as it is stored."""
        K, _, J = self.source.shape
        rows: int = max(edge.stop - edge.start for edge in self.edges)
        return rows * K * J * (2 * 8 + self.source.dtype.itemsize)

    def run(self, work: Work, shared: Any, own: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        """See Blocks."""
        mine: list[Any] = []
        total: tuple[Any, ...] = ()
        with one_busy():  # reading; a third thread on two cores made it all a third slower
            for block, its_own in zip(self._in_turn(), own):
                one, parts = work(block, shared, its_own)
                mine.append(one)
                total = added(total, parts)
        return mine, total

    def remade(self, recipe: Callable[[NDArray[Any]], Block]) -> "OnDisk":
        """See Blocks."""
        return replace(self, recipe=recipe)

    def _in_turn(self) -> Iterator[Block]:
        began = time.perf_counter()
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self._read, 0)
            for b in range(len(self.edges)):
                block = ahead.result()
                if b + 1 < len(self.edges):
                    ahead = reader.submit(self._read, b + 1)
                yield block
                del block  # before the next one is there
                now = time.perf_counter()
                self.reads.seconds += now - began
                self.reads.part = (b + 1) / len(self.edges)
                began = now
                if self.reads.watch is not None:
                    self.reads.watch()
        self.reads.passes += 1

    def _read(self, b: int) -> Block:
        rows = self.edges[b]
        try:
            stored = self.source.read(rows)
        except Told:
            raise
        except Exception as error:  # a store may be of any kind, and fail in ways of its own
            raise StoreLost(
                f"rows {rows.start} to {rows.stop - 1} of {self.source.name!r} could not be read in pass "
                f"{self.reads.passes + 1} over the data: {_in_a_line(error)}. Is all of it still there?"
            ) from error
        self.reads.bytes += stored.nbytes
        return self.recipe(stored)


def _in_a_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def added(total: tuple[Any, ...], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add to the sums, which are changed; the first parts become them."""
    if not total:
        return parts
    for sum_so_far, part in zip(total, parts):
        sum_so_far += part
    return total


def project(block: Any, shared: None, At: FloatArray) -> tuple[None, tuple[FloatArray]]:
    """The sum of X_k' A."""
    return None, (block.project(At),)


def accumulate(block: Any, W: FloatArray, own: None) -> tuple[FloatArray, tuple[()]]:
    """X_k W_k of the rows."""
    return block.accumulate(W), ()


def sweep(
    block: Any, W: FloatArray, solve: Callable[[FloatArray], FloatArray]
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray]]:
    """X_k W_k of the rows, the loadings that come of it, and the sum of X_k' A with these."""
    F = block.accumulate(W)
    At = solve(F)
    return (F, At), (block.project(At),)


def residual_sse(block: Any, W: FloatArray, At: FloatArray) -> tuple[None, tuple[NDArray[np.float64]]]:
    """The sum of squared errors."""
    return None, (block.residual_sse(At, W),)


def column_equations(block: Any, shared: None, At: FloatArray) -> tuple[None, tuple[FloatArray, FloatArray]]:
    """Systems and right-hand sides of the columns, by what was observed of these rows."""
    return None, (block.column_grams(At), block.project(At))


def row_equations(
    block: Any, W: FloatArray, own: None
) -> tuple[tuple[FloatArray, NDArray[np.float64]], tuple[()]]:
    """Systems and right-hand sides of the rows."""
    return (block.accumulate(W), block.row_grams(W)), ()


def some_rows(block: Any, shared: None, which: NDArray[np.intp]) -> tuple[FloatArray, tuple[()]]:
    """Values of some of the rows."""
    return np.array(block.values[which]), ()


def some_stored_rows(
    stored: NDArray[Any], shared: None, which: NDArray[np.intp]
) -> tuple[NDArray[Any], tuple[()]]:
    """Some of the rows, as they are stored."""
    return np.array(stored[:, which]), ()
