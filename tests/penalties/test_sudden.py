"""Paths of any pace: value, shares and prox against slow and obvious solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tparafac2.penalties import Paced, SuddenChanges, TemporalSmoothness, check_penalty
from tparafac2.penalties.abilities import continued, coupled_value, on_clock
from tparafac2.penalties.base import Pace
from tparafac2.penalties.proximal import links_of

seeds = st.integers(0, 2**32 - 1)
UNEVEN = {"weights": (2.0, 0.5, 1.0)}


def best_shares(lengths, floors):
    """The least sum_k lengths_k^2 / share_k by bisection on what the multiplier of the sum is."""
    low, high = 0.0, 1e9
    for _ in range(300):
        middle = 0.5 * (low + high)
        if np.maximum(lengths * middle, floors).sum() > 1:
            high = middle
        else:
            low = middle
    return np.maximum(lengths * low, floors)


@settings(max_examples=60)
@given(seeds, st.integers(1, 12), st.floats(1e-4, 0.99), st.floats(0, 1))
def test_shares_cost_the_least(seed, n, floor, still):
    rng = np.random.default_rng(seed)
    lengths = np.where(rng.random(n) < still, 0.0, rng.exponential(size=n))
    floors = rng.random(n) + 0.1
    floors *= floor / floors.sum()
    found = (links_of(Pace(2.0, floors, 0.0), lengths**2) * lengths**2).sum()
    assert found == pytest.approx(
        2.0 * (lengths**2 / best_shares(lengths, floors)).sum(), rel=1e-7, abs=1e-12
    )


@pytest.mark.parametrize("further", [{}, UNEVEN, {**UNEVEN, "closing": 0.7}], ids=["even", "uneven", "round"])
@pytest.mark.parametrize("floor", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("shape", [(4, 6, 3), (4, 2)])
def test_it_keeps_the_laws(further, floor, shape):
    check_penalty(SuddenChanges(2.0, floor=floor, **further), shape)


@pytest.mark.parametrize("further", [{}, UNEVEN, {**UNEVEN, "closing": 0.7}], ids=["even", "uneven", "round"])
def test_without_a_floor_it_is_the_length_of_the_path_and_with_one_smoothness(further):
    x = np.random.default_rng(0).standard_normal((4, 5, 3))
    weights, closing = np.array(further.get("weights", (1.0,) * 3)), further.get("closing", 0.0)
    steps = np.linalg.norm(np.diff(x, axis=0), axis=1)
    gaps = (1 / weights).sum() + (1 / closing if closing else 0.0)
    path = steps.sum(axis=0) + (np.linalg.norm(x[-1] - x[0], axis=0) if closing else 0.0)
    sharp = SuddenChanges(2.0, 0.0, floor=1e-9, **further)
    assert sharp.value(x) == pytest.approx(2.0 * (path**2).sum() / gaps, rel=1e-6)
    smooth = TemporalSmoothness(2.0, 0.0, **further)
    assert SuddenChanges(2.0, 0.0, floor=1.0, **further).value(x) == pytest.approx(smooth.value(x))
    # On the way from one to the other it only grows.
    values = [SuddenChanges(2.0, 0.0, floor=f, **further).value(x) for f in (0.01, 0.1, 0.3, 0.7)]
    assert values == sorted(values)
    assert sharp.value(x) <= values[0]
    assert values[-1] <= smooth.value(x)


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(2, 5), st.sampled_from([0.01, 0.2]), st.sampled_from([0.3, 5.0]))
def test_prox_is_the_minimiser(seed, K, floor, strength):
    rng = np.random.default_rng(seed)
    v, rho = rng.standard_normal((K, 3, 1)), rng.uniform(0.5, 2.0, K)
    term = SuddenChanges(strength, floor=floor)

    def objective(flat):
        x = flat.reshape(v.shape)
        return term.value(x) + 0.5 * (rho[:, None, None] * (x - v) ** 2).sum()

    x, state = term.prox(v, rho)
    slow = min(
        minimize(objective, start.ravel(), method="BFGS", options={"gtol": 1e-9}).fun for start in (v, x)
    )
    assert state is None
    assert objective(x.ravel()) <= slow * (1 + 1e-7) + 1e-12


def test_one_slice_goes_nowhere():
    x = np.ones((1, 3, 2))
    assert SuddenChanges(2.0, 0.0).value(x) == 0.0
    np.testing.assert_array_equal(SuddenChanges(2.0, 0.0).prox(x, np.ones(1))[0], x)


def test_changes_of_columns_may_count_differently():
    x = np.random.default_rng(1).standard_normal((4, 5, 2))
    term, twice = SuddenChanges(1.5), np.full((4, 5), 4.0)
    assert coupled_value(term, x, np.ones((4, 5))) == pytest.approx(term.value(x))
    without = SuddenChanges(1.5, 0.0)
    assert coupled_value(without, x, twice) == pytest.approx(4.0 * without.value(x))


def test_the_clock_sets_the_floors():
    (term,) = on_clock([SuddenChanges(1.0)], np.array([0.0, 1.0, 4.0]), None)
    floors = term.pace(3).floors
    assert floors[1] == pytest.approx(3.0 * floors[0])
    assert floors[2] == 0.0
    (longer,) = continued([term], np.array([0.0, 1.0, 4.0, 5.0]), 3, None)
    assert longer.weights[:2] == term.weights
    assert isinstance(longer, Paced)


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ({"strength": -1.0}, "strength must be finite and at least 0, got -1"),
        ({"floor": 0.0}, "floor must be finite and above 0, got 0"),
        ({"floor": 1.5}, "floor must be at most 1, got 1.5"),
        ({"floor": np.nan}, "floor must be a number"),
        ({"weights": (1.0, 0.0)}, "weights must be finite and above 0"),
        ({"closing": -1.0}, "closing must be finite"),
    ],
)
def test_impossible_parameters_are_refused(bad, match):
    with pytest.raises(ValueError, match=match):
        SuddenChanges(**{"strength": 1.0, **bad})


def test_as_many_weights_as_changes():
    with pytest.raises(ValueError, match="there are 4 slices: give 3 weights"):
        SuddenChanges(1.0, weights=(1.0,)).value(np.ones((4, 2)))
