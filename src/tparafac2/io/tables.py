"""Factors as tidy tables with the user's labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tparafac2.data import Mode
from tparafac2.plots.subject import as_result

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.result import Result

_OURS = ("component", "loading", "weight", "strength", "undetermined")


def tidy_tables(model: object) -> dict[str, pd.DataFrame]:
    """Loadings, patterns and strengths as long tables with the user's labels, one value a line.

    Factors are those for eyes: loadings and patterns of unit length, all size in the strengths. Labels stand
    under the user's name for them, with "_" appended where a column of ours has that name.

    Parameters
    ----------
    model : fitted model or Result

    Returns
    -------
    dict of str to DataFrame
        "loadings", "patterns", "strengths", and the account of the "starts".

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=1, random_state=0).fit(data.X)
    >>> list(tidy_tables(model)["strengths"].columns)
    ['time', 'component', 'strength', 'undetermined']
    """
    import pandas as pd

    result = as_result(model)
    view = result.normalised()
    K, R = np.shape(view.C)
    names = _names(result)
    rows = result.labels.coordinate("rows", len(view.A))
    times = result.labels.coordinate("time", K)
    component = np.arange(1, R + 1)
    loadings = pd.DataFrame(
        {
            names["rows"]: np.repeat(rows, R),
            "component": np.tile(component, len(rows)),
            "loading": np.asarray(view.A).ravel(),
        }
    )
    strengths = pd.DataFrame(
        {
            names["time"]: np.repeat(times, R),
            "component": np.tile(component, K),
            "strength": np.asarray(view.C).ravel(),
            "undetermined": result.undetermined_patterns.ravel(),
        }
    )
    patterns = pd.concat([_pattern_lines(result, view.B[k], times[k]) for k in range(K)], ignore_index=True)
    return {
        "loadings": loadings,
        "patterns": patterns,
        "strengths": strengths,
        "starts": result.starts_table(),
    }


def _pattern_lines(result: Result, pattern: Any, time: Any) -> pd.DataFrame:
    import pandas as pd

    J, R = np.shape(pattern)
    names = _names(result)
    labels = result.labels.columns
    columns = labels if labels is not None and len(labels) == J else np.arange(J)
    return pd.DataFrame(
        {
            names["time"]: np.repeat(np.asarray([time]), J * R),
            names["columns"]: np.repeat(columns, R),
            "component": np.tile(np.arange(1, R + 1), J),
            "weight": np.asarray(pattern).ravel(),
        }
    )


def _names(result: Result) -> dict[Mode, str]:
    return {mode: name + "_" * (name in _OURS) for mode, name in result.labels.names.items()}
