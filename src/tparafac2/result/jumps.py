"""Where patterns change suddenly: the few steps on which a component goes much of its way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.penalties import Pace, Paced, links_of, squared_steps
from tparafac2.result.record import Result, unit_columns

_FASTER = 3.0
"""How many times the even pace makes a step part of a sudden change."""

_ALONE, _SLOWER = 1.5, 0.2
"""The same of a step beside which both neighbours are slower than this share of it: many jumps make each of
them a smaller part of the way."""

_LEAST = 0.05
"""Share of a component's whole way from which on a change is worth telling."""

_DIFFERENT = 0.99
"""Cosine of the patterns before and after, from which on nobody would see a change."""


class Jump(NamedTuple):
    """A sudden change of one component's pattern.

    Attributes
    ----------
    component : int
        Counted from 0.
    before, after : int
        Places, among all times, of the last slice before and of the first one after it.
    share : float
        Of all that the pattern changes.
    cosine : float
        Of the patterns before and after.
    """

    component: int
    before: int
    after: int
    share: float
    cosine: float


def jumps(result: Result) -> list[Jump]:
    """Find the sudden changes of a fit in which they may be sudden, by component and time; else none.

    A sudden change is a run of steps, each three times as fast as an even pace, or a single one half as fast
    beside which nearly nothing happens, that is a twentieth of the way or more.

    Examples
    --------
    >>> from tparafac2.penalties import SuddenChanges
    >>> from tparafac2.result import Terms
    >>> B = np.repeat(np.array([[[3.0], [0.0]], [[0.0], [3.0]]]), 4, axis=0)
    >>> result = Result(model="TParafac2", A=np.ones((4, 1)), B=B, C=np.ones((8, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 terms=Terms(B=(SuddenChanges(1.0),)))
    >>> [(one.before, one.after, one.cosine) for one in jumps(result)]
    [(3, 4, 0.0)]
    """
    paced = [term for term in result.terms.B if isinstance(term, Paced)]
    order = list(result.clock.order)
    if not paced or isinstance(result.B, list) or len(order) < 3 or not np.isfinite(result.B).all():
        return []
    B, pace = np.asarray(result.B, dtype=np.float64)[order], paced[0].pace(len(order))
    if not (pace.strength and pace.floors.any()):
        return []
    shares = _shares(pace, squared_steps(B))
    there = pace.floors > 0
    found = []
    for r, own in enumerate(shares):
        for first, last in _runs(_sudden(own, pace.floors / pace.floors.sum()) & there):
            ends = B[first, :, r], B[(last + 1) % len(order), :, r]
            units = unit_columns(np.stack(ends, axis=1))[0]
            one = Jump(
                r,
                order[first],
                order[(last + 1) % len(order)],
                float(own[first : last + 1].sum()),
                float(units[:, 0] @ units[:, 1]),
            )
            if one.share >= _LEAST and one.cosine < _DIFFERENT:
                found.append(one)
    return found


def _sudden(shares: NDArray[np.float64], even: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which steps are fast, by their shares of the way and of the time.

    >>> _sudden(np.array([0.0, 0.5, 0.0, 0.5]), np.full(4, 0.25)).tolist()
    [False, True, False, True]
    """
    paces = np.divide(shares, even, out=np.zeros_like(shares), where=even > 0)
    beside = np.maximum(np.append(0.0, paces[:-1]), np.append(paces[1:], 0.0))
    alone = (paces > _ALONE) & (beside < _SLOWER * paces)
    # Of two steps, one cannot be three times as fast as an even pace.
    return np.asarray(alone | (shares > np.minimum(_FASTER * even, 0.5 + 0.5 * even)))


def _shares(pace: Pace, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the way itself (R, K): what is at its floor has gone next to nothing."""
    links = links_of(pace, steps)
    shares = np.divide(pace.strength, links, out=np.zeros_like(links), where=links > 0)
    gone = np.where(shares > pace.floors * (1 + 1e-9), shares, 0.0)
    return np.asarray(gone / np.maximum(gone.sum(axis=1, keepdims=True), 1e-300))


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last place of every run of true ones.

    >>> _runs(np.array([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2])]
