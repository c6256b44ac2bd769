"""From the lines of a long table to the cells of its slices, in a few scans that hold some lines at once."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.cells import (
    Cells,
    Filling,
    Join,
    Places,
    Positions,
    Shape,
    first_of_each,
    first_repeat,
    renumbering,
)
from tparafac2.data.interface import FloatArray
from tparafac2.data.lines import LongLines, Ordered, Piece, ordered_labels, ordered_times
from tparafac2.data.memory import require_memory
from tparafac2.data.text import shown
from tparafac2.errors import InvalidValue
from tparafac2.words import Lines, Setting

What: TypeAlias = Literal["values", "weights", "lines"]

_MOST_COMBINATIONS = np.iinfo(np.int64).max
_ADVICE = (
    Setting("top_columns"),
    " keeps the largest columns only; lines that repeat can be added up before, where the table is made.",
)


class Sizes(NamedTuple):
    """What the lines of each column amount to.

    Attributes
    ----------
    sums : ndarray (1, J) or (K, J)
        Of absolute values, in all or at each time; missing ones are left out.
    plain : bool
        Whether no value is negative or missing, so that lines for the same place can be told to add up.
    """

    sums: FloatArray
    plain: bool


class Counts(NamedTuple):
    """How many lines there are.

    Attributes
    ----------
    lines : ndarray (K I,)
        Of every time and row.
    least, most : ndarray (I,)
        The smallest and the largest weight of the lines of each row.
    """

    lines: Places
    least: FloatArray
    most: FloatArray


@dataclass(frozen=True, eq=False)
class Tabulation:
    """Lines with the order of their labels, and which columns are kept.

    Examples
    --------
    >>> from tparafac2.data.lines import FrameLines
    >>> asked = {"rows": "r", "columns": "c", "time": "t"}
    >>> lines = FrameLines({"r": [0, 1, 1], "c": [0, 0, 1], "t": [2, 1, 1]}, asked)
    >>> table = Tabulation.of(lines, "t")
    >>> table.filled(table.counted().lines, "sum").dense(0.0)[0]
    array([[0., 0.],
           [1., 1.]])
    """

    lines: LongLines
    time: Ordered
    rows: Ordered
    columns: Ordered

    @classmethod
    def of(cls, lines: LongLines, time: Any) -> Self:
        """Put the labels in order; `time` is what the times are called."""
        rows, columns = (ordered_labels(lines.found(role)) for role in ("rows", "columns"))
        made = cls(lines, ordered_times(lines, time), rows, columns)
        _require_usable((len(made.time.labels), len(rows.labels), len(columns.labels)))
        return made

    @property
    def shape(self) -> Shape:
        """(K, I, J), with the columns that are kept."""
        return len(self.time.labels), len(self.rows.labels), len(self.columns.labels)

    def only_columns(self, kept: Positions) -> Self:
        """Leave out all other columns."""
        labels, places, appearance = self.columns
        number = renumbering(kept, len(labels))
        return replace(self, columns=Ordered(labels[kept], number[places], appearance[kept]))

    def sizes(self, by_time: bool) -> Sizes:
        """Tell what every column amounts to."""
        K, _, J = self.shape
        sums, plain = np.zeros(K * J if by_time else J), True
        for piece in self.lines.pieces():
            places = self.columns.places[piece.codes["columns"]]
            if by_time:
                places = places + J * self.time.places[piece.codes["time"]]
            # NaN compares as false.
            plain = plain and bool((piece.values >= 0).all())
            np.add.at(sums, places, np.abs(np.nan_to_num(piece.values)))
        return Sizes(sums.reshape(-1, J), plain)

    def sampled(self) -> NDArray[np.bool_]:
        """Tell which rows have a line at each time: (K, I)."""
        K, I, _ = self.shape
        sampled = np.zeros(K * I, dtype=bool)
        for piece in self.lines.pieces(values=False):
            sampled[self._of_row(piece)] = True
        return sampled.reshape(K, I)

    def counted(self) -> Counts:
        """Count the lines in columns that are kept, and weigh all."""
        K, I, _ = self.shape
        require_memory(2 * 8 * K * I, f"A number for each of {K:,} times x {I:,} rows", (), self.lines.memory)
        lines, least, most = np.zeros(K * I, dtype=np.int64), np.full(I, np.inf), np.zeros(I)
        for piece in self.lines.pieces(values=False):
            kept = self.columns.places[piece.codes["columns"]] >= 0
            np.add.at(lines, self._of_row(piece)[kept], 1)
            if piece.weights is not None:
                rows = self.rows.places[piece.codes["rows"]]
                np.minimum.at(least, rows, piece.weights)
                np.maximum.at(most, rows, piece.weights)
        return Counts(lines, least, most)

    def filled(self, counts: Places, how: Join, what: What = "values") -> Cells:
        """Give one number to every combination that has lines: its value, its weight, or how many."""
        n_lines = int(counts.sum())
        # A fit has a copy of all values of its own.
        needed = Filling.needs(self.shape, n_lines) + 8 * min(n_lines, math.prod(self.shape))
        require_memory(needed, f"The table of {n_lines:,} lines", _ADVICE, self.lines.memory)
        filling = Filling.of(self.shape, counts, how)
        for piece, lines, columns in self._placed(values=what == "values"):
            own = piece.weights if what == "weights" and piece.weights is not None else piece.values
            stays = columns >= 0
            if stays.all():
                filling.add(lines, columns, own)
            else:
                filling.add(lines[stays], columns[stays], own[stays])
        return filling.cells()

    def first_repeat(self, names: tuple[Any, Any, Any]) -> InvalidValue:
        """Say which line repeats the place of an earlier one; there must be such lines.

        Parameters
        ----------
        names : tuple
            What rows, columns and times are called.
        """
        J, seen, at = self.shape[2], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        repeated = self._repeated()
        for piece, lines, columns in self._placed(values=False):
            places = lines * J + columns
            again = (columns >= 0) & np.isin(places, repeated)
            seen, at = np.append(seen, places[again]), np.append(at, piece.at[again])
            if len(first_of_each(np.sort(seen))) < len(seen):
                break
        later, earlier = first_repeat(seen)
        k, i, j = np.unravel_index(int(seen[later]), self.shape)
        found = zip(names, (self.rows.labels[i], self.columns.labels[j], self.time.labels[k]))
        what = ", ".join(f"{name} {shown(label)}" for name, label in found)
        return InvalidValue(
            Lines((int(at[later]), int(at[earlier]))),
            f" ({what}): remove one of them, or say ",
            Setting("duplicates", "sum"),
            " or ",
            Setting("duplicates", "mean"),
            ".",
        )

    def _of_row(self, piece: Piece) -> Places:
        """Time and row of each line, counted through."""
        time, rows = self.time.places[piece.codes["time"]], self.rows.places[piece.codes["rows"]]
        lines: Places = time.astype(np.int64) * len(self.rows.labels) + rows
        return lines

    def _placed(self, *, values: bool) -> Iterator[tuple[Piece, Places, Positions]]:
        for piece in self.lines.pieces(values=values):
            yield piece, self._of_row(piece), self.columns.places[piece.codes["columns"]]

    def _repeated(self) -> Places:
        """Places, in the flat (K, I, J) array, with more than one line."""
        cells = self.filled(self.counted().lines, "sum", "lines")
        several = np.flatnonzero(cells.values > 1)
        lines = np.searchsorted(cells.starts, several, side="right") - 1
        places: Places = lines * self.shape[2] + cells.columns[several]
        return places


def _require_usable(shape: Shape) -> None:
    K, I, J = shape
    if math.prod(shape) > _MOST_COMBINATIONS:
        raise ValueError(
            f"{K:,} times x {I:,} rows x {J:,} columns are too many combinations: "
            "round the times, for example to days, or group rows or columns."
        )
