"""Every component in a sentence: how strong it is, when, and which columns lead it at first and at last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import shortened
from tparafac2.report.display import Display, Known
from tparafac2.result import Result, static, vanished

_LEADERS = 3
_LONGEST = 40
_VISIBLE = 0.01


class ComponentAccount(NamedTuple):
    """What is said of a component.

    Attributes
    ----------
    share : float
        Its part of the sum of all components' strengths.
    state : "", "vanished" or "static"
    text : str

    Examples
    --------
    >>> ComponentAccount(0.5, "static", "Does not change.").state
    'static'
    """

    share: float
    state: str
    text: str


def component_accounts(result: Result, view: Display) -> list[ComponentAccount]:
    """Describe the components, in their order.

    Examples
    --------
    >>> from tparafac2.report.display import look
    >>> B = np.array([[[3.0], [4.0], [0.0]], [[0.0], [0.0], [2.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=B, C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> component_accounts(result, look(result))[0].text
    'Strongest at 0, weakest at 1. At 0 it is column 1, column 0; at 1 it is column 2.'
    """
    shares = _shares(view.C)
    gone, still = vanished(result), static(result)
    shown = view.shown
    accounts = []
    for r in range(result.rank):
        state = "vanished" if gone[r] else "static" if still[r] else ""
        text = "Nothing is left of it." if gone[r] else _sentences(view, shown[:, :, r], r, bool(still[r]))
        accounts.append(ComponentAccount(float(shares[r]), state, text))
    return accounts


def _shares(C: NDArray[np.float64]) -> NDArray[np.float64]:
    finite = np.where(np.isfinite(C), C, 0.0)
    # The peak first, so that no square leaves the range.
    strengths = np.linalg.norm(finite / (np.abs(finite).max(initial=0.0) or 1.0), axis=0)
    return np.asarray(strengths / (strengths.sum() or 1.0))


def _sentences(view: Display, shown: NDArray[np.bool_], r: int, still: bool) -> str:
    course = view.C[:, r]
    if not np.isfinite(course).all():
        return "Its numbers are not finite: the fit broke down."
    parts = []
    if np.ptp(course) > _VISIBLE * np.abs(course).max():
        strongest, weakest = (_time(view, int(place(course))) for place in (np.argmax, np.argmin))
        parts.append(f"Strongest at {strongest}, weakest at {weakest}.")
    else:
        parts.append("Equally strong at all times.")
    seen = np.flatnonzero(shown.any(axis=1))
    if not len(seen):
        return " ".join([*parts, "The data do not determine its pattern at any time."])
    first, last = int(seen[0]), int(seen[-1])
    at_first = _leaders(view, shown, first, r)
    if still or first == last:
        parts.append(f"It is {at_first}{' throughout' if still else ''}.")
    else:
        at_last = _leaders(view, shown, last, r)
        parts.append(f"At {_time(view, first)} it is {at_first}; at {_time(view, last)} it is {at_last}.")
    faint = int(np.count_nonzero(view.known[:, r] != Known.YES))
    if faint:
        parts.append(f"Its pattern is not determined at {faint} of {len(course)} times.")
    return " ".join(parts)


def _leaders(view: Display, shown: NDArray[np.bool_], k: int, r: int) -> str:
    pattern = np.where(shown[k], view.B[k, :, r], 0.0)
    largest = np.argsort(-np.abs(pattern), kind="stable")[:_LEADERS]
    names = [
        shortened(view.columns[j], _LONGEST) + (" (negative)" if pattern[j] < 0 else "")
        for j in largest
        if pattern[j] != 0
    ]
    return ", ".join(names) or "nothing"


def _time(view: Display, k: int) -> str:
    return shortened(view.times[k], _LONGEST)
