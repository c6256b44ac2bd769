"""What users have beside arrays: labelled tables, long frames, slices by time; taken, or the way told."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.labels import MODES, Mode, is_called
from tparafac2.data.table import Table
from tparafac2.data.text import listed, shown
from tparafac2.data.times import times_of_one_kind

Axis: TypeAlias = Literal["index", "columns"]

_AXES: dict[Axis, str] = {"index": "row", "columns": "column"}
_SHOWN = 3
_SHOWN_COLUMNS = 8


class Aligned(NamedTuple):
    """Slices in one order of rows and columns.

    Attributes
    ----------
    slices : list of ndarray or of scipy.sparse.coo_array (I, J_k)
        Sparse if every frame is held as sparse columns.
    rows, columns : ndarray, optional
        Labels; None where pandas has merely counted.
    """

    slices: list[Any]
    rows: NDArray[Any] | None
    columns: NDArray[Any] | None


def as_frames(pieces: Sequence[Any], what: str = "slice") -> list[Any] | None:
    """The tables as DataFrames, if they have labels; None for plain arrays.

    Parameters
    ----------
    pieces : sequence
        DataFrames, or what becomes one (xarray.DataArray of two dimensions, tables of other libraries).
    what : str
        What one of them is called in a sentence.

    Examples
    --------
    >>> as_frames([np.ones((2, 3))]) is None
    True
    """
    frames = [_as_frame(piece) for piece in _turned(pieces)]
    labelled = [k for k, frame in enumerate(frames) if frame is not None and has_labels(frame)]
    plain = [k for k, frame in enumerate(frames) if frame is None]
    if plain and labelled:
        raise ValueError(
            f"{what} {labelled[0]} has labels, but {what} {plain[0]} is a {type(pieces[plain[0]]).__name__} "
            "without: give a DataFrame for each, or arrays (frame.to_numpy()), which are matched by position."
        )
    return None if plain or not frames else frames


def align(frames: Sequence[Any]) -> Aligned:
    """Put the rows and columns of all frames in the order of the first.

    Parameters
    ----------
    frames : sequence of DataFrames (I, J_k)

    Raises
    ------
    ValueError
        If a label is not in every frame, or twice in one.
    TypeError
        If a column holds no numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> first = pd.DataFrame({"sun": [1, 2], "ice": [3, 4]}, index=["Ann", "Bo"])
    >>> aligned = align([first, first.loc[["Bo", "Ann"], ["ice", "sun"]]])
    >>> aligned.rows.tolist(), (aligned.slices[0] == aligned.slices[1]).all()
    (['Ann', 'Bo'], np.True_)
    """
    rows, columns = _shared(frames, "index"), _shared(frames, "columns")
    ordered = [_in_order(frame, rows, columns) for frame in frames]
    slices = _sparse(ordered) or [_numbers(frame, f"slice {k}") for k, frame in enumerate(ordered)]
    return Aligned(slices, *(None if index is None else _label_array(index) for index in (rows, columns)))


def align_mask(mask: Sequence[Any], frames: Sequence[Any], what: str = "mask") -> list[Any]:
    """Put a mask, one table for each frame, in the order in which `align` puts these.

    Parameters
    ----------
    mask : sequence of DataFrames or arrays
        An array is in the order of its frame.
    frames : sequence of DataFrames, as given to `align`
    what : str
        What it is called in a sentence.
    """
    import pandas as pd

    rows, columns = _shared(frames, "index"), _shared(frames, "columns")
    ordered = []
    for k, (piece, frame) in enumerate(zip(mask, frames)):
        table = _as_frame(piece)
        if table is None:
            if np.shape(piece) != frame.shape:
                return list(mask)  # to be refused for its shape
            table = pd.DataFrame(np.asarray(piece), index=frame.index, columns=frame.columns)
        for axis in _AXES:
            _require_same(getattr(table, axis), getattr(frame, axis), axis, (what, k))
        ordered.append(_in_order(table, rows, columns).to_numpy())
    return ordered


def _turned(pieces: Sequence[Any]) -> Sequence[Any]:
    """Tables whose dimensions have names, with these in the order of the first."""
    dims = getattr(pieces[0], "dims", ()) if pieces else ()
    if not dims or not all(set(getattr(piece, "dims", ())) == set(dims) for piece in pieces):
        return pieces
    return [piece.transpose(*dims) for piece in pieces]


def _as_frame(piece: Any) -> Any:
    """A DataFrame, or None."""
    if is_frame(piece):
        return piece
    becomes_one = hasattr(piece, "to_pandas") and len(getattr(piece, "shape", ())) == 2
    return piece.to_pandas() if becomes_one else None


def is_frame(piece: Any) -> bool:
    """Whether this is a DataFrame, without an import of pandas."""
    return type(piece).__module__.startswith("pandas") and hasattr(piece, "columns")


def has_labels(frame: Any) -> bool:
    """Whether rows or columns of a frame have labels, and are not merely counted."""
    return not (_merely_counted(frame.index) and _merely_counted(frame.columns))


def _merely_counted(index: Any) -> bool:
    """Whether these are the numbers that pandas gives to what has no labels."""
    return getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1


def _shared(frames: Sequence[Any], axis: Axis) -> Any:
    """The labels of all frames, in the order of the first; None if there are none."""
    indexes = [getattr(frame, axis) for frame in frames]
    if all(map(_merely_counted, indexes)):
        return None
    first = indexes[0]
    for k, index in enumerate(indexes):
        if not index.is_unique:
            again = listed(map(shown, index[index.duplicated()].unique()), _SHOWN)
            raise ValueError(
                f"slice {k} has {again} more than once among its {_AXES[axis]} labels: give every "
                f"{_AXES[axis]} a label of its own, or put such {_AXES[axis]}s together."
            )
    if all(_are_same(first, index) for index in indexes):
        return first
    raise ValueError(_not_shared(indexes, axis))


def _are_same(first: Any, other: Any) -> bool:
    """Whether these are the same labels, in any order."""
    return first.equals(other) or (
        len(first) == len(other) and bool((first.get_indexer(other) >= 0).all())  # none is there twice
    )


def _not_shared(indexes: Sequence[Any], axis: Axis) -> str:
    seen: dict[Any, set[int]] = {}
    for k, index in enumerate(indexes):
        for label in index:
            seen.setdefault(label, set()).add(k)
    lacking = {
        label: next(k for k in range(len(indexes)) if k not in holders)
        for label, holders in seen.items()
        if len(holders) < len(indexes)
    }
    some = listed([f"{shown(label)} (not in slice {k})" for label, k in lacking.items()], _SHOWN)
    ragged = ", with which Parafac2 allows slices of different widths" if axis == "columns" else ""
    return (
        f"{len(lacking)} of {len(seen)} {_AXES[axis]} labels are not in every slice: {some}. Give "
        f"every slice the same labels, with labels = sorted(set().union(*(frame.{axis} for frame in X))) and "
        f"[frame.reindex({axis}=labels) for frame in X], where what a slice lacks is then missing (NaN), or "
        f"zero with fill_value=0. To match {_AXES[axis]}s by position, give arrays, "
        f"[frame.to_numpy() for frame in X]{ragged}."
    )


def _require_same(index: Any, expected: Any, axis: Axis, piece: tuple[str, int]) -> None:
    if not _are_same(expected, index):
        what, k = piece
        raise ValueError(
            f"{what} and X differ in the {_AXES[axis]} labels of slice {k}: align it, "
            f"{what}[{k}].reindex({axis}=X[{k}].{axis}), or give arrays."
        )


def _in_order(frame: Any, rows: Any, columns: Any) -> Any:
    if rows is not None and not rows.equals(frame.index):
        frame = frame.iloc[frame.index.get_indexer(rows)]
    if columns is not None and not columns.equals(frame.columns):
        frame = frame.iloc[:, frame.columns.get_indexer(columns)]
    return frame


def _numbers(frame: Any, what: str) -> NDArray[Any]:
    import pandas as pd

    array: NDArray[Any] = frame.to_numpy()
    if array.dtype != object:
        return array
    for name, dtype in frame.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            raise TypeError(
                f"{what} holds values of type {dtype} in column {shown(name)}; numbers are needed: convert "
                "with .astype(float), leave the column out, or, if it names the rows, make it the labels "
                f"with frame.set_index({name!r})."
            )
    # Numbers that pandas holds beside marks of what is missing.
    read: NDArray[Any] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return read


def _sparse(frames: Sequence[Any]) -> list[Any] | None:
    """The frames as sparse tables, if all are held as such, with zeros left out and nothing missing."""
    import pandas as pd

    for frame in frames:
        if not all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in frame.dtypes):
            return None
    tables = [frame.sparse.to_coo() for frame in frames if frame.shape[1]]
    holds_missing = any(table.dtype.kind == "f" and np.isnan(table.data).any() for table in tables)
    return None if holds_missing or len(tables) < len(frames) else tables


def _label_array(index: Any) -> NDArray[Any]:
    """Labels as they are; those of several levels as one text each."""
    if index.nlevels == 1:
        return np.asarray(index)
    return np.array([" / ".join(map(str, label)) for label in index])


def long_table(frame: Any) -> Table:
    """Take one DataFrame as a long table, if the names of its columns tell which is which.

    Parameters
    ----------
    frame : DataFrame
        Columns for rows, columns and time under usual names, and one of numbers; without it lines are
        counted.

    Raises
    ------
    ValueError
        If they do not tell: it may be the table of one time.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"year": [1, 2], "author": ["Ann", "Bo"], "word": ["ice", "ice"], "n": [3, 4]})
    >>> long_table(frame).values
    'n'
    """
    import pandas as pd

    roles = _roles(frame)
    if not isinstance(frame.columns, pd.MultiIndex) and set(MODES) <= set(roles):
        rest = [name for name in frame.columns if name not in roles.values()]
        if not rest or (len(rest) == 1 and pd.api.types.is_numeric_dtype(frame[rest[0]].dtype)):
            return Table(
                frame,
                rows=roles["rows"],
                columns=roles["columns"],
                time=roles["time"],
                values=rest[0] if rest else None,
            )
    names = list(frame.columns)
    raise ValueError(
        f"X is one DataFrame, with the columns {_named(names)}, of 2 dimensions, but three are needed: "
        f"rows, columns and time. If it is a long table, say which is which, {_call('X', names, roles)}. If "
        "it is the table of one time, stack slices: give a list of such frames, one for each time."
    )


def annotated_advice(X: Any) -> str:
    """Say how an annotated table (AnnData and its like) becomes data.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> annotated_advice(SimpleNamespace(obs={"patient": [], "week": []}))[:58]
    'X is a SimpleNamespace, one table of what was observed at '
    """
    names = list(getattr(X.obs, "columns", X.obs))
    rows = next((name for name in names if is_called(name, "rows")), "patient")
    time = next((name for name in names if is_called(name, "time")), "week")
    keys = f"[{rows!r}, {time!r}]"
    return (
        f"X is a {type(X).__name__}, one table of what was observed at all times: make a long table of it, "
        f"tp.Table(X.to_df().join(X.obs[{keys}]).melt({keys}, var_name='column', value_name='number'), "
        f"rows={rows!r}, columns='column', time={time!r}, values='number'), with the columns of X.obs that "
        f"name rows and times (it has {_named(names)})."
    )


def slices_by_time(X: Mapping[Hashable, Any], mask: Any) -> tuple[list[Any], Any, NDArray[Any]]:
    """Slices of a dict, the mask in their order, and the keys, which say when the slices were taken.

    Parameters
    ----------
    X : dict of time to slice
    mask : dict with the same keys, or in the order of X

    Examples
    --------
    >>> slices_by_time({"2021": "b", "2020": "a"}, None)[2]
    array([2021, 2020])
    """
    if isinstance(mask, dict):
        if set(mask) != set(X):
            raise ValueError("mask and X are dicts with different keys: give a mask for each time of X.")
        mask = [mask[key] for key in X]
    keys = list(X)
    if not all(np.ndim(key) == 0 for key in keys):  # type: ignore[arg-type]
        raise TypeError(f"the keys of X must be times, numbers or dates; got {keys[0]!r:.60}.")
    if not keys:
        return [], mask, np.array([])
    times, usable = times_of_one_kind(np.array(keys, dtype=object))
    labels = times if usable.all() else np.array([str(key) for key in keys])
    return list(X.values()), mask, labels


def _roles(frame: Any) -> dict[Mode, Hashable]:
    """What can be told from dates and names, where one column alone fits."""
    roles: dict[Mode, Hashable] = {}
    for mode in MODES:
        fitting = [
            name
            for name, dtype in frame.dtypes.items()
            if is_called(name, mode) or (mode == "time" and dtype.kind == "M")
        ]
        if len(fitting) == 1:
            roles[mode] = fitting[0]
    return roles


def _call(frame: str, names: list[Hashable], roles: Mapping[Mode, Hashable]) -> str:
    left = iter([name for name in names if name not in roles.values()])
    filled = [f"{mode}={roles[mode] if mode in roles else next(left, '...')!r}" for mode in MODES]
    value = next(left, None)
    return f"tp.Table({frame}, {', '.join(filled)}{'' if value is None else f', values={value!r}'})"


def _named(names: list[Hashable]) -> str:
    return listed(map(repr, names), _SHOWN_COLUMNS) or "(none)"
