"""Whether the starts of a fit found the same: one count for notes, summary, page and comparison."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAME_OBJECTIVE = 1e-6
"""Starts whose objectives differ by less than this, relatively, count as agreeing."""

ALIKE = 0.99
"""Starts whose components match those of the chosen one at least so well have found the same."""


def chosen_start(starts: Mapping[str, NDArray[Any]]) -> int:
    """Place of the start that was kept; the lowest, if the account does not say.

    Examples
    --------
    >>> chosen_start({"objective": np.array([3.0, np.nan, 2.0])})
    2
    """
    chosen = np.flatnonzero(starts.get("chosen", np.zeros(0)))
    if len(chosen):
        return int(chosen[0])
    objective = starts["objective"].astype(np.float64)
    return int(np.argmin(np.where(np.isnan(objective), np.inf, objective)))


def likeness(starts: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """How well the components of each start match those of the chosen one; 1 is the same, NaN broke down.

    Examples
    --------
    >>> likeness({"objective": np.array([1.0, 2.0]), "fms_to_chosen": np.array([0.5, 0.2])})
    array([1. , 0.4])
    """
    matches = starts["fms_to_chosen"].astype(np.float64)
    own = matches[chosen_start(starts)]
    # In files of version 0.1 a component that vanished matches nothing, not even itself.
    return np.asarray(matches / own if own > 0 else matches)


def faults(starts: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
    """Which starts are not sound, by what is wrong with them; nothing, if the account does not say.

    Examples
    --------
    >>> said = {"converged": [True], "feasible": [True], "degenerate": [True], "status": ["converged"]}
    >>> {name: mask.tolist() for name, mask in faults({k: np.array(v) for k, v in said.items()}).items()}
    {'not_converged': [False], 'infeasible': [False], 'degenerate': [True], 'not_finite': [False]}
    """
    if not {"converged", "feasible", "degenerate", "status"} <= set(starts):
        return {}
    return {
        "not_converged": ~starts["converged"],
        "infeasible": ~starts["feasible"],
        "degenerate": starts["degenerate"],
        "not_finite": np.asarray(starts["status"] == "not_finite"),
    }


def count_alike(starts: Mapping[str, NDArray[Any]]) -> int:
    """How many starts ended with the components of the chosen one.

    Examples
    --------
    >>> count_alike({"objective": np.array([1.0, 1.0]), "fms_to_chosen": np.array([1.0, 0.995])})
    2
    """
    return int(np.count_nonzero(likeness(starts) >= ALIKE))


def count_same_objective(starts: Mapping[str, NDArray[Any]]) -> int:
    """How many starts ended with the objective of the chosen one.

    Examples
    --------
    >>> count_same_objective({"objective": np.array([1.0, 1.0 + 1e-9, 1.1])})
    2
    """
    objective = starts["objective"].astype(np.float64)
    reference = objective[chosen_start(starts)]
    return int(np.count_nonzero(np.isclose(objective, reference, rtol=SAME_OBJECTIVE, atol=0.0)))
