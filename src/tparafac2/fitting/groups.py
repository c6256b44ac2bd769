"""Rows that belong together, as the user says it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Labels, listed, shown
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.fitting.checks import told
from tparafac2.words import Argument


def read_groups(groups: Any, labels: Labels, n_rows: int, name: str = "groups") -> NDArray[np.intp] | None:
    """Number the groups of the rows: one value for each row, or a mapping or Series by row label.

    Examples
    --------
    >>> read_groups(["a", "b", "a"], Labels(), 3)
    array([0, 1, 0])
    """
    if groups is None:
        return None
    if (
        isinstance(groups, str | bytes | set | frozenset)
        or not hasattr(groups, "__len__")
        or np.ndim(groups) > 1
    ):
        raise InvalidType(
            Argument(name),
            f" must have one value for each row, or be a mapping or Series by row label; got {told(groups)}.",
            received=groups,
        )
    if isinstance(groups, Mapping) or (hasattr(groups, "index") and hasattr(groups, "to_dict")):
        # Labels that were read from files may be text, or numbers.
        given = groups if isinstance(groups, Mapping) else groups.to_dict()
        by_row = {str(row): group for row, group in given.items()}
        known = labels.coordinate("rows", n_rows).tolist()
        without = [row for row in known if str(row) not in by_row]
        if without:
            raise InvalidValue(
                Argument(name),
                f" has nothing for {len(without):,} of {n_rows:,} rows: {listed(map(shown, without))}. "
                "Give a group to each.",
                received=groups,
            )
        values: Sequence[Any] = [by_row[str(row)] for row in known]
    else:
        values = list(groups)
    if len(values) != n_rows:
        raise InvalidValue(
            Argument(name),
            f" must have one value for each of the {n_rows:,} rows; got {len(values):,}.",
            received=groups,
        )
    without = [place for place, value in enumerate(values) if value is None or value != value]
    if without:
        raise InvalidValue(
            Argument(name),
            f" has nothing for {len(without):,} of {n_rows:,} rows (the first is row {without[0] + 1}). "
            "Give a group to each.",
            received=groups,
        )
    texts = np.array([str(value) for value in values])
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.intp).reshape(-1)
