import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from tparafac2.penalties import L1, check_penalty

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
shapes = st.one_of(
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
)


@pytest.mark.parametrize("shape", [(4, 6, 3), (5, 2), (1, 1)])
@pytest.mark.parametrize("strength", [0.0, 0.3, 50.0])
def test_l1_keeps_the_laws(shape, strength):
    check_penalty(L1(strength), shape)


@SETTINGS
@given(seeds, shapes, st.floats(0, 10))
def test_l1_equals_a_search_entry_by_entry(seed, shape, strength):
    rng = np.random.default_rng(seed)
    v, rho = rng.standard_normal(shape), rng.uniform(0.1, 10, shape[0])
    x, state = L1(strength).prox(v, rho)
    assert state is None
    for place in np.ndindex(shape):
        weight, target = rho[place[0]], v[place]
        bounds = sorted((0.0, target))
        found = minimize_scalar(
            lambda t, weight=weight, target=target: strength * abs(t) + weight / 2 * (t - target) ** 2,
            bounds=(bounds[0] - 1e-3, bounds[1] + 1e-3),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert x[place] == pytest.approx(found.x, abs=1e-5)
    assert L1(strength).value(x) == pytest.approx(strength * np.abs(x).sum())


def test_l1_sets_entries_to_exactly_zero():
    x, _ = L1(1.0).prox(np.array([[0.99, -1.0, 1.01]]), np.ones(1))
    assert (x[0, :2] == 0).all()
    assert x[0, 2] > 0


@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf])
def test_weights_of_l1_are_finite_and_not_negative(strength):
    with pytest.raises(ValueError, match="L1: strength must be finite and at least 0"):
        L1(strength)


@pytest.mark.parametrize("strength", ["1", True, None])
def test_weights_of_l1_are_numbers(strength):
    with pytest.raises(TypeError, match="L1: strength must be a number"):
        L1(strength)
