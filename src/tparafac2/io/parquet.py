"""Long tables in Parquet, of any length: scanned in pieces, a few columns at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import MODES, Mode
from tparafac2.data.cells import PIECE, renumbering
from tparafac2.data.lines import Piece, missing_label, read_values, read_weight_column
from tparafac2.data.memory import in_bytes, physical_memory
from tparafac2.errors import TooLarge
from tparafac2.io.endings import blamed_on, parts_of
from tparafac2.io.selecting import Rule, Selection
from tparafac2.words import Setting

_LABEL_BYTES = 250  # text of some letters, its number, and both again in the tables that find them
_LABEL_SHARE = 2  # of the memory: half of it
_SHARE_OF_PIECE = 1000  # of the memory for each line of a piece, some hundred bytes of which are used
_LEAST_PIECE = 2**12
_BUFFER = 2**20
_NEVER = np.iinfo(np.int64).max


class ParquetTable:
    """A Parquet file, or all those of a folder as one table.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path, self.parts = path, parts_of(path)
        self._parquet = _parquet_reader(path)
        metadata = []
        for part in self.parts:
            with blamed_on(part):
                metadata.append(self._parquet.ParquetFile(part))
        self.schemas = [one.schema_arrow for one in metadata]
        self.lengths = [one.metadata.num_rows for one in metadata]
        for one in metadata:
            one.close()

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schemas[0].names)

    @property
    def n_lines(self) -> int:
        """Number of all lines."""
        return sum(self.lengths)

    def kind(self, name: str) -> Any:
        """Arrow's type of a column."""
        return self.schemas[0].field(name).type

    def require_same(self, names: Iterable[str]) -> None:
        """Refuse part files of which one lacks a column, or has another type in it."""
        for part, schema in zip(self.parts, self.schemas):
            for name in names:
                if name not in schema.names:
                    what = "lacks the column"
                elif schema.field(name).type != self.kind(name):
                    what = f"has {schema.field(name).type}, and not {self.kind(name)}, in the column"
                else:
                    continue
                raise ValueError(
                    f"{part.name!r} {what} {name!r}, which {self.parts[0].name!r} has: all parts of "
                    f"{self.path.name!r} have to be of one kind."
                )

    def batches(self, names: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Record batches of some columns, each with the number of lines before it."""
        import pyarrow as pa

        texts = [name for name in names if _is_text(pa, self.kind(name))]
        offset = 0
        for part in self.parts:
            with blamed_on(part):
                # Else what was read of the file would be kept until its end.
                how = {"buffer_size": _BUFFER, "pre_buffer": False}
                file = self._parquet.ParquetFile(part, read_dictionary=texts, **how)
                # Without columns there would be no lines.
                read = file.iter_batches(size, columns=list(names) or self.names[:1])
            while True:
                with blamed_on(part):
                    batch = next(read, None)
                if batch is None:
                    break
                yield offset, batch
                offset += batch.num_rows
            file.close()

    def place(self, position: int) -> str:
        """Say where a line is: its row in the file, from 1."""
        ends = np.cumsum(self.lengths)
        part = int(np.searchsorted(ends, position, side="right"))
        row = f"row {position + 1 - int(ends[part]) + self.lengths[part]}"
        return f"{row} of {self.parts[part].name!r}" if self.path.is_dir() else row


class ParquetLines:
    """Lines of a Parquet table for `Table`: those that a selection keeps.

    Parameters
    ----------
    table : ParquetTable
    asked : mapping
        Names of columns, by what they are for.
    select : Selection
    memory : int, optional
        Most bytes that may be used.
    """

    def __init__(
        self, table: ParquetTable, asked: Mapping[str, str], select: Selection, memory: int | None = None
    ) -> None:
        self.table, self.asked, self.memory = table, dict(asked), memory
        size = PIECE if memory is None else min(PIECE, max(_LEAST_PIECE, memory // _SHARE_OF_PIECE))
        self._size, self._masks = size, list[tuple[Rule, NDArray[np.bool_] | None]]()
        self._named = {asked[mode]: mode for mode in MODES}
        for name, role in self._named.items():
            _require_labels(role, name, table.kind(name))
        self._found = {name: _Labels(table.kind(name)) for name in self._named}
        self.n_lines = table.n_lines
        rules, self.account = select.rules(asked), ""
        if rules:
            before = self._choose(rules)
            for labels in self._found.values():
                labels.forget_lines()
        self._look(strict=True)
        if rules:
            select.require_some(self.n_lines > 0)
            sizes = {"lines": (self.n_lines, table.n_lines)}
            sizes |= {mode: (self._found[asked[mode]].n_used, before[asked[mode]]) for mode in MODES}
            self.account = select.account(sizes)
        for labels in self._found.values():
            labels.put_in_order()

    def found(self, role: Mode) -> Any:
        """Every label of rows, columns or time once, in order of appearance."""
        return self._found[self.asked[role]].in_order()

    def first_line(self, role: Mode, label: int) -> int:
        """Where a label that was found appears first."""
        return int(self._found[self.asked[role]].first_lines[label])

    def pieces(self, *, values: bool = True) -> Iterator[Piece]:
        """All lines in their order; without values these are all one."""
        names = dict.fromkeys([*self._named, *(rule.name for rule, _ in self._masks)])
        numbers = {role: name for role, name in self.asked.items() if role not in MODES}
        if not values:
            numbers.pop("values", None)
        names |= dict.fromkeys(numbers.values())
        for offset, batch in self.table.batches(list(names), self._size):
            kept = self._kept(batch)
            at = _places(offset, batch, kept)
            codes = {
                role: _only(self._found[name].codes(batch.column(name)), kept)
                for name, role in self._named.items()
            }
            own, weights = None, None
            if "values" in numbers:
                own = read_values(_series(batch, numbers["values"], kept), at)
            if "weights" in numbers:
                weights = read_weight_column(_series(batch, numbers["weights"], kept), at)
            yield Piece(codes, np.ones(len(at)) if own is None else own, weights, at)

    def _choose(self, rules: Sequence[Rule]) -> dict[str, int]:
        """Find the labels of all lines, and what of them is kept; tell how many there are."""
        for rule in rules:
            if rule.name not in self._found and not self._is_direct(rule):
                _require_labels("where", rule.name, self.table.kind(rule.name))
                self._found[rule.name] = _Labels(self.table.kind(rule.name))
        self._look(strict=False)
        for rule in rules:
            direct = self._is_direct(rule)
            holds = None if direct else rule.holds(self._found[rule.name].seen())
            number = None if holds is None else self._found[rule.name].spread(holds, rule.missing)
            self._masks.append((rule, number))
        return {name: self._found[name].n_used for name in self._named}

    def _is_direct(self, rule: Rule) -> bool:
        """Whether a rule is told of each number, so that different ones need not be known."""
        import pyarrow.types as types

        kind = self.table.kind(rule.name)
        numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind)
        return rule.by_order and numeric and rule.name not in self._named

    def _look(self, *, strict: bool) -> None:
        """Find labels; if that is strict, of the lines that are kept, all of which have to have them."""
        names = dict.fromkeys([*self._found, *(rule.name for rule, _ in self._masks)])
        self.n_lines = 0
        for offset, batch in self.table.batches(list(names), self._size):
            kept = self._kept(batch) if strict else None
            at = _places(offset, batch, kept)
            self.n_lines += len(at)
            for name, labels in self._found.items():
                codes = _only(labels.codes(batch.column(name)), kept)
                if strict and name in self._named and (codes < 0).any():
                    raise missing_label(int(at[int(np.argmax(codes < 0))]), name, self._named[name])
                labels.note(codes, at)
                self._require_room(name, labels, offset + batch.num_rows)

    def _kept(self, batch: Any) -> NDArray[np.bool_] | None:
        if not self._masks:
            return None
        kept = np.ones(batch.num_rows, dtype=bool)
        for rule, holds in self._masks:
            if holds is None:
                kept &= rule.holds(_series(batch, rule.name, None).to_numpy())
            else:
                kept &= holds[self._found[rule.name].codes(batch.column(rule.name), in_order=False)]
        return kept

    def _require_room(self, name: str, labels: "_Labels", n_lines: int) -> None:
        available, n_labels = physical_memory() if self.memory is None else self.memory, len(labels)
        if available is None or n_labels * _LABEL_BYTES * _LABEL_SHARE <= available:
            return
        role = str(self._named.get(name, "where"))
        alone = 2 * labels.n_used > n_lines
        doubt = " Nearly every line has one of its own: is it the right column?" if alone else ""
        raise TooLarge(
            Setting(role, name),
            f" has {n_labels:,} different labels after {n_lines:,} lines, which alone take "
            f"{in_bytes(n_labels * _LABEL_BYTES)} of memory, and {in_bytes(available)} may be used.{doubt}",
            received=name,
        )


class _Labels:
    """Different labels of one column, numbered as they were found, and where each appears first."""

    def __init__(self, kind: Any) -> None:
        self._numbers: dict[Any, int] = {}
        self._chunks: list[Any] = []
        self._first = np.empty(0, dtype=np.int64)
        self._last: tuple[Any, tuple[NDArray[Any], NDArray[Any]]] | None = None
        self._order: NDArray[Any] | None = None
        self._kind = kind
        self.first_lines = self._first

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def n_used(self) -> int:
        """How many labels are on any line."""
        return int(np.count_nonzero(self._first < _NEVER))

    def codes(self, column: Any, *, in_order: bool = True) -> NDArray[Any]:
        """Numbers of the labels of some lines, as they were found or put in order; -1 where there is none."""
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        indices = column.indices
        places: NDArray[Any] = indices.fill_null(-1).to_numpy() if indices.null_count else indices.to_numpy()
        codes: NDArray[Any] = self._codes_of(column.dictionary)[in_order][places]
        return codes

    def note(self, codes: NDArray[np.intp], at: NDArray[np.intp]) -> None:
        """Note where labels appear first."""
        if len(self) > len(self._first):
            self._first = np.append(self._first, np.full(len(self) - len(self._first), _NEVER))
        fresh = np.flatnonzero((np.append(self._first, 0) == _NEVER)[codes])
        np.minimum.at(self._first, codes[fresh], at[fresh])

    def forget_lines(self) -> None:
        """Forget where labels appear, but not the labels."""
        self._first = np.full(len(self), _NEVER)

    def put_in_order(self) -> None:
        """Number the labels that are on any line as they appear."""
        used = np.flatnonzero(self._first < _NEVER)
        appear = used[np.argsort(self._first[used], kind="stable")]
        self.first_lines = self._first[appear]
        self._order, self._appear, self._last = renumbering(appear, len(self)), appear, None

    def in_order(self) -> Any:
        """Labels as they appear, of pandas' own kind."""
        import pandas as pd

        labels = self._all()
        if getattr(self._kind, "ordered", False):
            labels = pd.CategoricalIndex(labels, categories=labels, ordered=True)
        return labels[self._appear]

    def seen(self) -> NDArray[Any]:
        """Labels that are on any line, as they were found."""
        return np.asarray(self._all()[np.flatnonzero(self._first < _NEVER)])

    def spread(self, holds: NDArray[np.bool_], missing: bool) -> NDArray[np.bool_]:
        """What is told of those that are `seen`, by the numbers of all, with that of none as the last."""
        all_of_them = np.append(np.zeros(len(self), dtype=bool), missing)
        all_of_them[np.flatnonzero(self._first < _NEVER)] = holds
        return all_of_them

    def _all(self) -> Any:
        import pandas as pd
        import pyarrow as pa

        return pd.Index(pa.chunked_array(self._chunks).to_pandas() if self._chunks else [])

    def _codes_of(self, dictionary: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers of a dictionary's labels, as found and in order, and last -1: batches may share it."""
        if self._last is None or not dictionary.equals(self._last[0]):
            plain = np.append(self._numbered(dictionary), -1)
            order = np.arange(len(self)) if self._order is None else self._order
            known = np.where(plain < len(order), plain, -1)
            self._last = dictionary, (plain, np.append(order, -1)[known])
        return self._last[1]

    def _numbered(self, dictionary: Any) -> NDArray[np.intp]:
        numbers, labels = self._numbers, dictionary.to_pylist()
        known = len(numbers)
        found = [
            -1 if label is None or label != label else numbers.setdefault(label, len(numbers))
            for label in labels
        ]
        codes = np.array(found, dtype=np.intp)
        if len(numbers) > known:
            new, first = np.unique(codes, return_index=True)
            self._chunks.append(dictionary.take(first[new >= known]))
        return codes


def parquet_columns(path: Path) -> list[str]:
    """Names of the columns of a Parquet file or folder."""
    return ParquetTable(path).names


def parquet_frame(path: Path, names: Iterable[str]) -> Any:
    """Columns of a Parquet file; what was the index of a DataFrame is a column like the others."""
    import pyarrow as pa

    table, wanted = ParquetTable(path), list(names)
    table.require_same(wanted)
    schema = pa.schema([table.schemas[0].field(name) for name in wanted])
    read = []
    for part in table.parts:
        with blamed_on(part):
            read.append(table._parquet.read_table(part, columns=wanted))
    return pa.concat_tables(read or [schema.empty_table()]).to_pandas(ignore_metadata=True)


def _places(offset: int, batch: Any, kept: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Where lines of a batch stand in the table."""
    return offset + (np.arange(batch.num_rows) if kept is None else np.flatnonzero(kept))


def _only(codes: NDArray[Any], kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    return codes if kept is None else codes[kept]


def _series(batch: Any, name: str, kept: NDArray[np.bool_] | None) -> Any:
    series = batch.column(name).to_pandas().rename(name)
    return series if kept is None else series[kept]


def _require_labels(role: str, name: str, kind: Any) -> None:
    import pyarrow as pa

    if pa.types.is_nested(kind):
        raise TypeError(f"{role}: {name!r} holds what cannot be a label ({kind}): use text or numbers.")


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _parquet_reader(path: Path) -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f"to read {path.name!r} pyarrow is needed: install it with 'pip install pyarrow', "
            "or save the table as CSV."
        ) from error
