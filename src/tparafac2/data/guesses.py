"""What users have beside arrays: long frames, dicts of slices, annotated tables; taken, or the way told."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.dimensions import is_called
from tparafac2.data.labels import MODES, Mode
from tparafac2.data.table import Table
from tparafac2.data.times import times_of_one_kind

_SHOWN = 8


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
        f"X is one DataFrame, with the columns {_listed(names)}, of 2 dimensions, but three are needed: "
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
        f"name rows and times (it has {_listed(names)})."
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


def _listed(names: list[Hashable]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (", ".join(map(repr, names[:_SHOWN])) or "(none)") + more
