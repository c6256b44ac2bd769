"""Each component in a few lines: what it is, what it was and became, when it was strong, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text
from tparafac2.result.distinctive import leaders, of_columns, of_rows
from tparafac2.result.findings import static, vanished
from tparafac2.result.kinds import Kind
from tparafac2.result.moments import time_order, time_texts, timeline
from tparafac2.result.naming import called
from tparafac2.result.record import Result
from tparafac2.result.wording import jumped, percentage, trusted

_ROWS, _COLUMNS, _LESS = 5, 5, 2
_SIGNS = (1, -1)
_STRONG = 0.5
"""Of the greatest strength: from there on a component counts as strong."""
_VISIBLE = 0.01
_MATTERS = 0.05
"""Of the most distinctive one: what is less is not worth a word."""

_BESIDE = {
    Kind.PROPORTIONAL: "may be mixed with component {other}: their strengths are nearly proportional",
    Kind.SAME_ROWS: "has nearly the same rows as component {other}",
    Kind.DEGENERATE: "nearly cancels component {other}: do not interpret it",
}


class Mark(NamedTuple):
    """A row or column that sets a component apart, with its loading or weight, and how distinctive it is.

    A negative weight is of one that the component has less of.
    """

    label: str
    weight: float
    distinctiveness: float


class Station(NamedTuple):
    """What sets a component apart at one time."""

    time: str
    columns: tuple[Mark, ...]


class Portrait(NamedTuple):
    """What there is to say of one component.

    Attributes
    ----------
    component : int
        Its number, from 1.
    name : str
        What the user calls it; empty if nothing.
    share : float
        Its part of the sum of all components' strengths.
    rows : tuple of Mark
        What it is: its most distinctive rows; those with negative loadings, too, where they tell more.
    stations : tuple of Station
        What it was and became: its most distinctive columns at the first, middle and last time at which
        the data determine them; one, if its pattern does not change; none, if nothing is left of it.
    strong : str
        When it was strong.
    sudden : str
        When its pattern changes suddenly; empty if it does not, or may not.
    sure : tuple of str
        How far to trust it, as far as that was measured.
    """

    component: int
    name: str
    share: float
    rows: tuple[Mark, ...]
    stations: tuple[Station, ...]
    strong: str
    sudden: str
    sure: tuple[str, ...]


def portraits(result: Result) -> list[Portrait]:
    """Portray the components, in their order.

    Examples
    --------
    >>> B = np.array([[[3.0], [4.0], [0.0]], [[0.0], [0.0], [2.0]]])
    >>> result = Result(model="CP", A=np.eye(4)[:, :1], B=B, C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> found = portraits(result)[0]
    >>> [(one.time, [mark.label for mark in one.columns]) for one in found.stations]
    [('0', ['column 1', 'column 0']), ('1', ['column 2'])]
    >>> found.strong
    'strongest at 0 (5), weakest at 1 (2), and above half of the most only at 0'
    """
    _, I, J = result.shape
    A, B, C = result.normalised()
    rows, columns = (_texts(result, mode, size) for mode, size in (("rows", I), ("columns", J)))
    row_scores = [of_rows(result, sign) for sign in _SIGNS]
    column_scores = [of_columns(result, sign) for sign in _SIGNS]
    order, times = time_order(result), time_texts(result)
    gone, still = vanished(result), static(result)
    # Of other times strengths are interpolated.
    observed = order if result.coverage is None else [k for k in order if result.coverage[k].any()]
    known = ~result.undetermined_patterns  # measured anew whenever it is asked for
    names = result.component_names or ("",) * result.rank
    found = []
    for r in range(result.rank):
        seen = [k for k in order if known[k, r] and not gone[r]]
        stations = tuple(
            Station(
                "" if still[r] else times[k],
                _marks(columns, B[k][:, r], [scores[k, :, r] for scores in column_scores], _COLUMNS),
            )
            for k in _stations(seen, timeline(result).values, bool(still[r]))
        )
        found.append(
            Portrait(
                component=r + 1,
                name=names[r],
                share=float(result.shares[r]),
                rows=_marks(rows, A[:, r], [scores[:, r] for scores in row_scores], _ROWS),
                stations=stations,
                strong=_strong(C[observed, r], [times[k] for k in observed]),
                sudden=jumped(result.findings, r),
                sure=_sure(result, r),
            )
        )
    return found


def _texts(result: Result, mode: Any, size: int) -> list[str]:
    labels = getattr(result.labels, mode)
    if labels is None:
        return [f"{mode[:-1]} {place}" for place in range(size)]
    return [label_text(label) for label in labels]


def _marks(
    texts: list[str], weights: NDArray[np.float64], scores: Sequence[NDArray[np.float64]], n: int
) -> tuple[Mark, ...]:
    """What a component has more of than others; then what it has less of, where that tells more of it."""
    more, less = scores
    enough = _MATTERS * more.max()
    places = [(place, more[place]) for place in leaders(more, n) if more[place] >= enough]
    enough = max(more.max(), _MATTERS * less.max())
    places += [
        (place, less[place]) for place in leaders(less, _LESS if places else n) if less[place] > enough
    ]
    return tuple(Mark(texts[place], float(weights[place]), float(score)) for place, score in places)


def _stations(seen: list[int], moments: NDArray[np.float64], still: bool) -> list[int]:
    """The first, the middle and the last of the slices that tell something, each once."""
    if still or len(seen) < 2:
        return seen[:1]
    first, last = seen[0], seen[-1]
    middle = min(seen, key=lambda k: abs(moments[k] - (moments[first] + moments[last]) / 2))
    return list(dict.fromkeys([first, middle, last]))


def _strong(course: NDArray[np.float64], times: list[str]) -> str:
    """When a component was strong, from its strengths in the order of time."""
    if not np.isfinite(course).all():
        return "its numbers are not finite: the fit broke down"
    sizes = np.abs(course)
    if not sizes.any():
        return "nothing is left of it"
    top, low = int(np.argmax(sizes)), int(np.argmin(sizes))
    if np.ptp(sizes) <= _VISIBLE * sizes[top]:
        return "equally strong at all times"
    said = f"strongest at {times[top]} ({sizes[top]:.3g}), weakest at {times[low]} ({sizes[low]:.3g})"
    strong = sizes > _STRONG * sizes[top]
    if strong.all():
        return f"{said}, and never below half of the most"
    edges = np.flatnonzero(np.diff(np.concatenate([[False], strong, [False]])))
    spans = [
        f"at {times[begin]}" if end - begin == 1 else f"from {times[begin]} to {times[end - 1]}"
        for begin, end in zip(edges[::2], edges[1::2])
    ]
    shown = ", ".join(spans[:3]) + (", ..." if len(spans) > 3 else "")
    return f"{said}, and above half of the most only {shown}"


def _sure(result: Result, r: int) -> tuple[str, ...]:
    """What was measured of a component, and what there is to beware of."""
    said = [trusted(result.trust, r)]
    if (bands := result.intervals) is not None:
        again = percentage(1 - float(bands.unmatched[r]))
        said.append(f"found again in {again} of {bands.n_resamples} data sets drawn anew")
    for one in result.findings:
        if one.kind in (Kind.STARTS, Kind.FEW_STARTS_AGREE):
            numbers = one.numbers
            said.append(f"{numbers['alike']} of {numbers['others']} other starts found these components")
        if one.kind is Kind.UNDETERMINED and one.component == r + 1:
            said.append(f"its pattern is not determined at {len(one.times)} of {one.numbers['of']} times")
        pair = [one.component or 0, one.numbers.get("other", 0)]
        if one.kind in _BESIDE and r + 1 in pair:
            other = pair[1 - pair.index(r + 1)]
            said.append(_BESIDE[one.kind].format(other=called(result.component_names, other - 1)))
    return tuple(filter(None, said))
