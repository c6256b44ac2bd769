"""What a penalty can do beside `value` and `prox`: it is asked, and never told from its class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tparafac2.penalties.base import FloatArray, Paced, Penalty, Quadratic
from tparafac2.penalties.proximal import links_of

Constraint: TypeAlias = Literal["nonnegative", "parafac2", "static"]
"""Sets that the solver knows how to meet faster than by `prox` alone."""

OnScale: TypeAlias = Literal["costs", "bounds"]
"""What a term does to the scale of a component: it costs the more the larger it is, or it has a bound."""

Quantity: TypeAlias = Literal["sum of sizes"]
"""What a set keeps the same, and what else would be a constant on it that measures nothing but this."""


@runtime_checkable
class Softened(Penalty, Protocol):
    """A constraint that gives way: a term that is the squared distance from its set, slice by slice."""

    @property
    def softens(self) -> Constraint:
        """The set."""

    def distance_weights(self, n: int) -> NDArray[np.float64]:
        """Weight of the squared distance of each of n slices."""


def asks_for(terms: Sequence[Penalty], constraint: Constraint) -> bool:
    """Tell whether one of the terms says that it is this constraint.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Ridge
    >>> asks_for([Ridge(1.0), NonNegative()], "nonnegative"), asks_for([], "static")
    (True, False)
    """
    return any(getattr(term, "constraint", None) == constraint for term in terms)


def distance_weights(term: Penalty, constraint: Constraint, n: int) -> NDArray[np.float64] | None:
    """Weight of each slice's squared distance from a set, where that is what a term is; else None.

    Examples
    --------
    >>> from tparafac2.penalties import Parafac2, SoftParafac2
    >>> distance_weights(SoftParafac2(2.0), "parafac2", 3), distance_weights(Parafac2(), "parafac2", 3)
    (array([2., 2., 2.]), None)
    """
    return term.distance_weights(n) if isinstance(term, Softened) and softens(term, constraint) else None


def softens(term: Penalty, constraint: Constraint = "parafac2") -> bool:
    """Tell whether a term is this constraint, giving way.

    Examples
    --------
    >>> from tparafac2.penalties import Parafac2, SoftParafac2
    >>> softens(SoftParafac2(2.0)), softens(Parafac2())
    (True, False)
    """
    return isinstance(term, Softened) and term.softens == constraint


def can_rotate(terms: Sequence[Penalty], axis: int) -> bool:
    """Tell whether no term cares which way the coordinates of an axis point.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Ridge, Static
    >>> can_rotate([Ridge(1.0), Static()], 1), can_rotate([Static()], 0), can_rotate([NonNegative()], 1)
    (True, False, False)
    """
    return all(axis in getattr(term, "rotatable", ()) for term in terms)


def ignore_sign(terms: Sequence[Penalty]) -> bool:
    """Tell whether every term is the same for a component and for its negative.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Static
    >>> ignore_sign([Static()]), ignore_sign([NonNegative()])
    (True, False)
    """
    return all(getattr(term, "rotatable", ()) or getattr(term, "even", False) for term in terms)


def is_set(term: Penalty) -> bool:
    """Tell whether a term says that it is a constraint: 0 on a set and infinite outside.

    Examples
    --------
    >>> from tparafac2.penalties import Box, NonNegative, Ridge
    >>> is_set(NonNegative()), is_set(Box(0.0, 1.0)), is_set(Ridge(1.0))
    (True, True, False)
    """
    return term.degree == 0 or bool(getattr(term, "is_set", False))


def on_scale(terms: Sequence[Penalty]) -> OnScale | Literal["free", "unknown"]:
    """What terms on one factor do to its scale; a bound holds it whatever it costs.

    Examples
    --------
    >>> from tparafac2.penalties import Box, L1, NonNegative, Ridge
    >>> on_scale([Ridge(1.0)]), on_scale([L1(1.0), Box(0.0, 1.0)]), on_scale([NonNegative()])
    ('costs', 'bounds', 'free')
    """
    found = [getattr(term, "on_scale", "costs" if term.degree == 2 else None) for term in terms]
    if "bounds" in found:
        return "bounds"
    if "costs" in found:
        return "costs"
    told = all(term.degree is not None or hasattr(term, "on_scale") for term in terms)
    return "free" if told else "unknown"


def size_weight(term: Penalty) -> float | None:
    """Weight of the sum of sizes of all entries, where that is what a term is; else None.

    Examples
    --------
    >>> from tparafac2.penalties import L1, Ridge
    >>> size_weight(L1(0.5)), size_weight(Ridge(0.5))
    (0.5, None)
    """
    return float(term.strength) if getattr(term, "measures", None) == "sum of sizes" else None  # type: ignore[attr-defined]


def keep_sign(terms: Sequence[Penalty]) -> bool:
    """Tell whether the terms leave no negative entries.

    Examples
    --------
    >>> from tparafac2.penalties import Box, Simplex
    >>> keep_sign([Simplex()]), keep_sign([Box(-1.0, 1.0)])
    (True, False)
    """
    return asks_for(terms, "nonnegative") or any(_bounds(term)[0] >= 0 for term in terms)


def holds_zero(term: Penalty) -> bool:
    """Tell whether a single entry may be zero, for all that a term says of its entries.

    Examples
    --------
    >>> from tparafac2.penalties import Box, Ridge
    >>> holds_zero(Box(-1.0, 1.0)), holds_zero(Box(0.5, 1.0)), holds_zero(Ridge(1.0))
    (True, False, True)
    """
    lower, upper = _bounds(term)
    return lower <= 0 <= upper


def _bounds(term: Penalty) -> tuple[float, float]:
    """What every entry lies between, for all that a term says."""
    lower, upper = getattr(term, "bounds", (-math.inf, math.inf))
    return float(lower), float(upper)


def joins_rows(term: Penalty) -> bool:
    """Tell whether a term says that it looks at all entries of a column together.

    Examples
    --------
    >>> from tparafac2.penalties import Box, Simplex
    >>> joins_rows(Simplex()), joins_rows(Box(0.0, 1.0))
    (True, False)
    """
    return bool(getattr(term, "joins_rows", False))


def on_clock(terms: Sequence[Penalty], times: NDArray[np.float64], period: float | None) -> list[Penalty]:
    """Tell the terms that want to know when the slices were taken (increasing), and with which period.

    Examples
    --------
    >>> from tparafac2.penalties import Ridge, TemporalSmoothness
    >>> on_clock([Ridge(1.0), TemporalSmoothness(1.0)], np.array([0.0, 1.0, 3.0]), None)[1].weights
    (1.5, 0.75)
    """
    return [term.on_clock(times, period) if hasattr(term, "on_clock") else term for term in terms]


def continued(
    terms: Sequence[Penalty], times: NDArray[np.float64], known: int, period: float | None
) -> list[Penalty]:
    """The terms for further slices: `times` are those of all, of which the `known` first were fitted.

    Examples
    --------
    >>> from tparafac2.penalties import TemporalSmoothness
    >>> term = TemporalSmoothness(1.0, weights=(1.0, 1.0))
    >>> continued([term], np.array([0.0, 1.0, 2.0, 6.0]), 3, None)[0].weights
    (1.0, 1.0, 0.25)
    """
    return [term.continued(times, known, period) if hasattr(term, "continued") else term for term in terms]


def coupled_value(term: Penalty, x: FloatArray, coupled: FloatArray | None) -> float:
    """Value of a term at patterns of which each column's change in time counts so many times, (K, J).

    That of the last slice is the change to the first. Terms that are not solved together with the fit know
    nothing of it; None: all count once.

    Examples
    --------
    >>> from tparafac2.penalties import TemporalSmoothness
    >>> x, twice = np.array([[[0.0], [0.0]], [[1.0], [1.0]]]), np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> coupled_value(TemporalSmoothness(1.0, 0.0), x, twice)
    3.0
    """
    if coupled is None or not isinstance(term, Quadratic | Paced):
        return term.value(x)
    squares = np.square(np.roll(x, -1, axis=0) - x)
    if isinstance(term, Paced):
        pace, steps = term.pace(len(x)), np.einsum("kj,kjr->rk", coupled, squares)
        return float((links_of(pace, steps) * steps).sum() + pace.own * np.square(x).sum())
    _, off, closing = term.bands(len(x))
    extra = np.einsum("k,kj,kjr->", np.append(off, closing), coupled - 1.0, squares)
    return float(term.value(x) + extra)


def is_temporal(term: Penalty) -> bool:
    """Tell whether a term is about changes from slice to slice, so that their times matter to it.

    Examples
    --------
    >>> from tparafac2.penalties import Static, TemporalSmoothness
    >>> is_temporal(TemporalSmoothness(1.0)), is_temporal(Static())
    (True, False)
    """
    return hasattr(term, "on_clock")


def rescaled(term: Penalty, state: Any, scale: FloatArray) -> Any:
    """The state that a term carries, after every component was multiplied by a number.

    Examples
    --------
    >>> from tparafac2.penalties import Parafac2, Ridge
    >>> rescaled(Parafac2(), np.eye(2), np.array([2.0, 1.0])).tolist(), rescaled(Ridge(1.0), None, np.ones(2))
    ([[2.0, 0.0], [0.0, 1.0]], None)
    """
    if state is None or not hasattr(term, "rescale_state"):
        return state
    return term.rescale_state(state, scale)


def violation(term: Penalty, x: FloatArray) -> float | None:
    """How far a factor is from the set that a term asks for, relative to its size; None if it is no set.

    Terms that cannot say it themselves are asked for the nearest point of their set.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Ridge
    >>> x = np.array([[4.0], [-1.0]])
    >>> violation(NonNegative(), x), violation(Ridge(1.0), x)
    (0.25, None)
    """
    if hasattr(term, "violation"):
        return float(term.violation(x))
    if not is_set(term) and np.isfinite(term.value(x)):
        return None
    nearest, _ = term.prox(x, np.ones(len(x)))
    return float(np.linalg.norm(x - nearest) / max(float(np.linalg.norm(x)), 1e-300))
