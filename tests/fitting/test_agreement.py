"""Terms that do not go together are refused before any work, with a sentence."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.fitting.agreement import require_agreement
from tparafac2.penalties import (
    L1,
    Box,
    GeneralisedRidge,
    NonNegative,
    NormBall,
    Parafac2,
    Ridge,
    Simplex,
    SoftParafac2,
    TemporalSmoothness,
    TotalVariation,
    Unimodal,
)
from tparafac2.result import Terms

SHAPES = {"A": (20, 2), "B": (4, 10, 2), "C": (4, 2)}
RIDGE = (Ridge(1.0),)


def check(**modes):
    require_agreement(Terms(**modes), SHAPES)


@pytest.mark.parametrize("mode", ["A", "B"])
def test_a_constant_beside_a_set_is_refused(mode):
    others = {name: RIDGE for name in "ABC" if name != mode}
    says = rf"L1\(strength=0.1\) .* is a constant beside Simplex.*sum of sizes.*penalties_{mode.lower()}"
    with pytest.raises(ValueError, match=says):
        check(**others, **{mode: (Simplex(), L1(0.1))})


@pytest.mark.parametrize(
    "terms",
    [
        (Box(-2.0, 1.0), NonNegative()),
        (Simplex(10.0), Box(0.0, 1.0)),
        (Simplex(), Box(0.1, 1.0)),
        (NormBall(1.0), Box(lower=0.1)),
        (NormBall(0.5), Simplex()),
        (Unimodal(nonnegative=True), Simplex(3.0), NonNegative(), Box(0.0, 3.0)),
        (TotalVariation(1.0), L1(1.0), Box(0.0, 1.0)),
        (Parafac2(), Simplex()),
    ],
)
def test_terms_that_go_together_are_not(terms):
    check(A=RIDGE, B=terms, C=RIDGE)


@pytest.mark.parametrize("terms", [(Parafac2(), Parafac2()), (Parafac2(), SoftParafac2(1.0))])
def test_the_constraint_twice_is_refused(terms):
    with pytest.raises(ValueError, match="PARAFAC2 constraint twice"):
        check(B=terms)


COSTS = [
    L1(1.0),
    TotalVariation(1.0),
    GeneralisedRidge(np.eye(10)),
    TemporalSmoothness(1.0),
]


@pytest.mark.parametrize("term", COSTS, ids=lambda term: type(term).__name__)
def test_a_norm_penalty_on_some_factors_only_is_refused(term):
    with pytest.raises(ValueError, match=r"scale would flee.*penalties_a and penalties_c"):
        check(B=(term,))
    with pytest.raises(ValueError, match=r"scale would flee.*penalties_c too"):
        check(A=RIDGE, B=(term,), C=(NonNegative(),))
    with pytest.raises(ValueError, match=r"scale would flee.*penalties_c too"):
        check(A=(Simplex(),), B=(term,), C=(NonNegative(),))
    check(A=RIDGE, B=(term,), C=(Ridge(1.0), NonNegative()))
    check(A=(Box(0.0, 1.0),), B=(term,), C=(NonNegative(), NormBall(2.0)))


@pytest.mark.parametrize("bound", [Box(0.0, 1.0), Simplex(), NormBall(1.0)], ids=repr)
def test_a_set_that_bounds_a_factor_holds_its_scale(bound):
    check(B=(bound,))
    check(A=RIDGE, B=(bound,), C=RIDGE)
    with pytest.raises(ValueError, match=r"scale would flee.*penalties_c"):
        check(A=RIDGE, B=(bound,))


def test_a_box_with_one_bound_and_unimodality_leave_scale_free():
    for free in (Box(lower=0.0), Unimodal(), NonNegative()):
        with pytest.raises(ValueError, match=r"scale would flee.*penalties_b"):
            check(A=RIDGE, B=(free,), C=RIDGE)


def test_weights_of_zero_cost_nothing():
    check(A=(L1(0.0),), B=(NonNegative(),), C=(NonNegative(),))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"penalties_b": [GeneralisedRidge(np.eye(3))]}, r"matrix of shape \(3, 3\), but .* has 10 entries"),
        ({"penalties_a": [GeneralisedRidge(np.eye(3))]}, r"matrix of shape \(3, 3\), but .* has 20 entries"),
        ({"penalties_a": [Parafac2()]}, "give it in penalties_b only"),
        ({"penalties_b": [Parafac2()]}, "PARAFAC2 constraint twice"),
        ({"penalties_b": [Simplex(), L1(1.0)]}, "is a constant beside Simplex"),
        ({"penalties_b": [TemporalSmoothness(1.0, weights=(1.0,))]}, "4 slices: give 3 weights"),
    ],
)
def test_a_fit_refuses_at_the_door(given, says, monkeypatch):
    monkeypatch.setattr("tparafac2.fitting.one_fit.run_starts", lambda *_, **__: pytest.fail("work was done"))
    X = np.random.default_rng(0).random((4, 20, 10))
    with pytest.raises(ValueError, match=says):
        tp.TParafac2(2, **given).fit(X)


def test_l1_alone_has_no_minimum():
    X = np.random.default_rng(0).random((4, 20, 10))
    with pytest.raises(ValueError, match="scale would flee"):
        tp.Parafac2(2, penalties_b=[L1(1.0)]).fit(X)


@pytest.mark.parametrize("term", [Simplex(), TotalVariation(1.0), Unimodal(), Box(0.5, 2.0)], ids=repr)
def test_columns_that_come_and_go_are_not_filled_in(term):
    X = np.random.default_rng(0).random((4, 20, 10))
    X[:2, :, 3] = np.nan
    with pytest.raises(ValueError, match=r"\(bridge=False\) are not for \w+, by which .* would not be zero"):
        tp.TParafac2(2, bridge=False, penalties_b=[term]).fit(X)
