import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tparafac2.penalties import (
    NonNegative,
    Parafac2,
    PenaltyError,
    Ridge,
    SoftParafac2,
    Static,
    TemporalSmoothness,
    check_penalty,
)

BUILT_IN = [
    Ridge(0.0),
    Ridge(0.3),
    TemporalSmoothness(2.0),
    TemporalSmoothness(1e6, epsilon=0.0),
    NonNegative(),
    Static(),
    Parafac2(),
    SoftParafac2(0.0),
    SoftParafac2(0.4),
    SoftParafac2(1e6),
]


@pytest.mark.parametrize("penalty", BUILT_IN, ids=repr)
@pytest.mark.parametrize("shape", [(4, 6, 3), (2, 5, 1), (2, 3, 3), (1, 4, 2)])
def test_built_in_penalties_pass(penalty, shape):
    check_penalty(penalty, shape, seed=1)


@pytest.mark.parametrize("penalty", [term for term in BUILT_IN if "Parafac2" not in repr(term)], ids=repr)
@pytest.mark.parametrize("shape", [(5, 3), (2, 1)])
def test_built_in_penalties_pass_on_matrices(penalty, shape):
    check_penalty(penalty, shape)


@dataclass(frozen=True)
class L1:
    """A user's own penalty, in plain NumPy."""

    strength: float

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = True

    def value(self, x):
        return float(self.strength * np.abs(x).sum())

    def prox(self, v, rho, state=None):
        threshold = (self.strength / rho).reshape(-1, *[1] * (v.ndim - 1)).astype(v.dtype)
        return np.sign(v) * np.maximum(np.abs(v) - threshold, 0), state


@pytest.mark.parametrize("shape", [(4, 6, 3), (5, 2)])
@pytest.mark.parametrize("strength", [0.0, 0.1, 3.0])
def test_a_users_own_penalty_passes(strength, shape):
    check_penalty(L1(strength), shape)


class NonNegativeL1(L1):
    """A term that is both a cost and a constraint."""

    def value(self, x):
        return super().value(x) if x.min() >= 0 else math.inf

    def prox(self, v, rho, state=None):
        return np.maximum(super().prox(v, rho)[0], 0), None


def test_a_penalty_with_both_cost_and_constraint_passes():
    check_penalty(NonNegativeL1(0.4))


class Remembering(NonNegative):
    """Carries a state of nested containers and objects."""

    def prox(self, v, rho, state=None):
        calls = 1 if state is None else state["calls"] + 1
        return super().prox(v, rho)[0], {"calls": calls, "last": [v.copy(), (rho.copy(),)], "self": self}


def test_a_state_may_be_of_any_make():
    check_penalty(Remembering())


class WrongScale(Ridge):
    def prox(self, v, rho, state=None):
        return super().prox(v, 2 * rho)


class UnevenWeightsForgotten(Static):
    def prox(self, v, rho, state=None):
        return super().prox(v, np.ones_like(rho))


class SlightlyWrong(TemporalSmoothness):
    def prox(self, v, rho, state=None):
        return super().prox(v * 1.001, rho)[0].astype(v.dtype), None


class NotProjecting(NonNegative):
    def prox(self, v, rho, state=None):
        return v.copy(), None


class MovesFeasiblePoints(Parafac2):
    def prox(self, v, rho, state=None):
        x, state = super().prox(v, rho, state)
        return np.asarray(1.1 * x, dtype=v.dtype), state


class ShrinksEachTime(Parafac2):
    def prox(self, v, rho, state=None):
        x, _ = super().prox(v, rho)
        shrink = 1.0 if state is None else 0.9 * state
        return np.asarray(shrink * x, dtype=v.dtype), shrink


class LosesTheSetLater(Parafac2):
    def prox(self, v, rho, state=None):
        x, delta = super().prox(v, rho)
        return (x, delta) if state is None else (v.copy(), delta)


class ChangesInput(NonNegative):
    def prox(self, v, rho, state=None):
        v[v < 0] = 0
        return v.copy(), None


class ChangesWeights(Ridge):
    def prox(self, v, rho, state=None):
        x, _ = super().prox(v, rho)
        rho *= 2
        return x, None


class ChangesState(NonNegative):
    def prox(self, v, rho, state=None):
        state = [0] if state is None else state
        state[0] += 1
        return np.maximum(v, 0), state


class AlwaysDouble(NonNegative):
    def prox(self, v, rho, state=None):
        return np.maximum(v.astype(float), 0), None


class LosesAnAxis(NonNegative):
    def prox(self, v, rho, state=None):
        return np.maximum(v[0], 0), None


class NoPair(NonNegative):
    def prox(self, v, rho, state=None):
        return np.maximum(v, 0)


class Diverging(NonNegative):
    def prox(self, v, rho, state=None):
        return np.where(v < 0, np.nan, v), None


class Random(NonNegative):
    def prox(self, v, rho, state=None):
        return np.random.default_rng().random(v.shape).astype(v.dtype), None


class ValueNotFloat(NonNegative):
    def value(self, x):
        return bool(x.min() >= 0)


class ValueNegative(Ridge):
    def value(self, x):
        return -super().value(x)


class ValueNaN(Ridge):
    def value(self, x):
        return math.nan


class LinearCalledQuadratic(L1):
    degree = 2


class CostCalledCone(L1):
    degree = 0


class CouplesComponents(Ridge):
    """Quadratic, but of the sum of the components."""

    bands = None

    def value(self, x):
        return float(self.strength * np.sum(x.sum(axis=-1) ** 2))

    def prox(self, v, rho, state=None):
        rank, weights = v.shape[-1], rho.reshape(-1, *[1] * (v.ndim - 1))
        mean = v.mean(axis=-1, keepdims=True)
        shrunk = mean * weights / (weights + 2 * self.strength * rank)
        return (v - mean + shrunk).astype(v.dtype), None


class BoxCalledCone(NonNegative):
    def value(self, x):
        return 0.0 if x.min() >= 0 and x.max() <= 1 else math.inf

    def prox(self, v, rho, state=None):
        return np.clip(v, 0, 1), None


class HalfBands(TemporalSmoothness):
    def bands(self, n):
        diagonal, off_diagonal, _ = super().bands(n)
        return diagonal, off_diagonal / 2


class ShortBands(Ridge):
    def bands(self, n):
        return np.full(n - 1, self.strength), np.zeros(n - 1)


class UnknownDegree(NonNegative):
    degree = 3


class UnknownExactness(NonNegative):
    exact = "almost"


class NeverViolated(NonNegative):
    def value(self, x):
        return 0.0 if (x >= 0).all() else math.inf

    def violation(self, x):
        return 0.0


class AlwaysViolated(NeverViolated):
    def violation(self, x):
        return 1.0


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (WrongScale(0.3), r"prox\(v\) is not the minimiser: its objective .* is .* above"),
        (SlightlyWrong(2.0), r"prox\(v\) is not the minimiser"),
        (UnevenWeightsForgotten(), r"prox\(v\) is not the minimiser"),
        (NotProjecting(), r"prox\(v\) is not feasible: its value is inf"),
        (MovesFeasiblePoints(), "prox moves points that are on the set already: by up to"),
        (ShrinksEachTime(), "moved away from the minimiser: the objective rose from .* by"),
        (LosesTheSetLater(), "with the carried state is not feasible"),
        (ChangesInput(), "prox changed its input v by up to"),
        (ChangesWeights(0.3), "prox changed its input rho by up to"),
        (ChangesState(), "prox changed its input state: use a copy"),
        (AlwaysDouble(), "prox must keep the dtype float32, got float64"),
        (LosesAnAxis(), r"prox must keep the shape \(4, 6, 3\), got \(6, 3\)"),
        (NoPair(), r"prox must return the pair \(x, state\), got ndarray"),
        (Diverging(), r"prox gave \d+ entries that are NaN or infinite"),
        (Random(), "prox is not deterministic: equal calls differ by up to"),
        (ValueNotFloat(), r"value must return a float, got bool: use float\(...\)"),
        (ValueNegative(0.3), r"value must be at least 0 \(or inf\), got -"),
        (ValueNaN(0.3), r"value must be at least 0 \(or inf\), got nan"),
        (LinearCalledQuadratic(0.1), r"degree 2 is declared but value\(0.5 x\) is not 0.25 value\(x\)"),
        (CouplesComponents(0.3), "not the sum of its values for single components"),
        (CostCalledCone(0.1), "degree 0 is declared but the value went from"),
        (BoxCalledCone(), "degree 0 is declared but the value went from 0 to inf"),
        (HalfBands(2.0), "bands does not reproduce value: relative difference"),
        (ShortBands(2.0), r"bands\(4\) must have shapes \(4,\) and \(3,\), got \(3,\) and \(3,\)"),
        (NeverViolated(), "violation is 0 at a point outside the set: it must be more than 0 there"),
        (AlwaysViolated(), "violation is 1 at a point on the set: it must be 0 there"),
        (UnknownDegree(), "degree must be 0, 1, 2 or None, got 3"),
        (UnknownExactness(), "exact must be True or False, got 'almost'"),
        (object(), "missing: degree, exact, value, prox"),
    ],
    ids=lambda argument: "" if isinstance(argument, str) else type(argument).__name__,
)
def test_a_broken_penalty_is_told_which_law_it_breaks(broken, words):
    with pytest.raises(PenaltyError, match=f"^{type(broken).__name__}: .*{words}"):
        check_penalty(broken)


def test_the_missing_attribute_is_named_alone():
    class Undeclared:
        exact = True
        value = Ridge.value
        prox = Ridge.prox

    with pytest.raises(PenaltyError, match=r"missing: degree\.$"):
        check_penalty(Undeclared())


def test_a_class_in_place_of_an_instance_is_explained():
    with pytest.raises(
        PenaltyError, match=r"NonNegative is a class, .* make an instance, NonNegative\(...\)"
    ):
        check_penalty(NonNegative)


@pytest.mark.parametrize("shape", [(4,), (0, 3), (4, 0, 2)])
def test_impossible_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="shape must be"):
        check_penalty(NonNegative(), shape)


@dataclass(frozen=True)
class Lying(Ridge):
    """A ridge that says more of itself than is true."""

    axes: tuple[int, ...] = ()
    name: str | None = None
    clock: object = None

    def value(self, x):
        return float(self.strength * np.sum(x**2) + np.sum(np.abs(x[..., 0, :]) ** 2))

    @property
    def rotatable(self):
        return self.axes

    @property
    def constraint(self):
        return self.name

    def on_clock(self, times, period):
        return self.clock or self


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"axes": (1,)}, "rotatable names axis 1"),
        ({"name": "positive"}, "constraint must be one of 'nonnegative'"),
        ({"name": "static"}, "so that degree must be 0"),
        ({"clock": "soon"}, "on_clock must return a penalty; it lacks degree"),
    ],
)
def test_abilities_that_are_not_there_are_found_out(parts, said):
    class Weighted(Lying):
        exact = False
        bands = None

        def prox(self, v, rho, state=None):
            shrink = (rho / (rho + 2 * self.strength)).reshape(-1, *[1] * (v.ndim - 1))
            first = (rho / (rho + 2 * self.strength + 2)).reshape(-1, *[1] * (v.ndim - 2))
            x = (shrink * v).astype(v.dtype)
            x[..., 0, :] = first * v[..., 0, :]
            return x, None

    check_penalty(Weighted(0.5))
    with pytest.raises(PenaltyError, match=said):
        check_penalty(Weighted(0.5, **parts))


INEXACT = {"degree": None, "exact": False}


class Wrongly(Ridge):
    """A ridge that says of itself what it is told to."""


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"on_scale": "bounds"}, "a component of any scale is on the set"),
        ({"on_scale": "holds"}, "on_scale must be 'costs', 'bounds' or None, got 'holds'"),
        (INEXACT | {"value": lambda self, x: 1.0, "on_scale": "costs"}, "costs no more"),
        (
            INEXACT | {"value": lambda self, x: float(np.maximum(x, 0).sum()), "even": True},
            "the value of -x is another than that of x",
        ),
    ],
)
def test_what_is_said_of_scale_and_sign_must_hold(claims, says):
    liar = type("Liar", (Wrongly,), {**claims, "rotatable": (), "bands": None})(1.0)
    with pytest.raises(PenaltyError, match=says):
        check_penalty(liar)


class OnlyForward(Ridge):
    """Refuses time that goes round, or all times."""

    def on_clock(self, times, period):
        if period is not None or self.strength > 5:
            raise ValueError("not for me")
        return self


def test_a_period_may_be_refused_but_not_a_clock():
    check_penalty(OnlyForward(1.0))
    with pytest.raises(ValueError, match="not for me"):
        check_penalty(OnlyForward(6.0))
