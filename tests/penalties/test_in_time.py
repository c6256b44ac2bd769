import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tparafac2.penalties import HuberChanges, LinearDynamics, TemporalSmoothness, check_penalty

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
shapes = st.one_of(
    st.tuples(st.integers(1, 5), st.integers(1, 2)),
    st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 2)),
)


def draw(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape), rng.uniform(0.1, 10, shape[0])


def slicewise(rho, array):
    return rho.reshape(-1, *[1] * (array.ndim - 1)) * array


@pytest.mark.parametrize("shape", [(4, 6, 3), (6, 2), (1, 1), (1, 3, 2)])
@pytest.mark.parametrize("strength", [0.0, 0.4, 300.0])
@pytest.mark.parametrize("threshold", [1e-3, 0.3, 100.0])
def test_huber_keeps_the_laws(shape, strength, threshold):
    check_penalty(HuberChanges(strength, threshold), shape)
    weights = tuple(np.linspace(0.5, 2.0, shape[0] - 1))
    check_penalty(HuberChanges(strength, threshold, weights, closing=0.7), shape)


def huber_by_hand(term, x):
    total, K = 0.0, len(x)
    weights = [*(term.weights or (1.0,) * (K - 1)), term.closing]
    flat = x.reshape(K, -1, x.shape[-1])
    for k in range(K):
        if weights[k] > 0 and (k < K - 1 or term.closing):
            for r in range(x.shape[-1]):
                d = weights[k] * np.linalg.norm(flat[(k + 1) % K, :, r] - flat[k, :, r])
                t = term.threshold
                total += (d * d if d <= t else 2 * t * d - t * t) / weights[k]
    return term.strength * total


@settings(max_examples=25)
@given(seeds, shapes, st.floats(0.01, 20), st.floats(0.01, 3), st.booleans())
def test_huber_is_not_above_a_general_solver(seed, shape, strength, threshold, uneven):
    v, rho = draw(seed, shape)
    term = HuberChanges(strength, threshold)
    if uneven:
        weights = np.random.default_rng(seed).uniform(0.3, 3.0, shape[0] - 1)
        term = HuberChanges(strength, threshold, tuple(weights), closing=0.4)
    x, state = term.prox(v, rho)
    assert term.value(v) == pytest.approx(huber_by_hand(term, v), rel=1e-12)

    def objective(y):
        y = y.reshape(shape)
        return huber_by_hand(term, y) + 0.5 * float(np.sum(slicewise(rho, (y - v) ** 2)))

    rival = minimize(objective, v.ravel(), method="BFGS", options={"gtol": 1e-9})
    assert objective(x.ravel()) <= rival.fun * (1 + 1e-9) + 1e-12
    again, _ = term.prox(v, rho, state)
    np.testing.assert_allclose(again, x, atol=1e-7)
    for direction in np.random.default_rng(seed).standard_normal((5, x.size)):
        assert objective(x.ravel() + 1e-5 * direction) >= objective(x.ravel()) * (1 - 1e-12)


@SETTINGS
@given(seeds, shapes, st.floats(0, 100))
def test_huber_with_a_far_threshold_is_smoothness(seed, shape, strength):
    v, rho = draw(seed, shape)
    ours, _ = HuberChanges(strength, 1e6).prox(v, rho)
    theirs, _ = TemporalSmoothness(strength, epsilon=0.0).prox(v, rho)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_huber_is_settled_where_it_is_hard():
    """Strong pulls, light data and a threshold that changes lie about: where plain reweighting crawls."""
    rng = np.random.default_rng(0)
    v, rho = rng.standard_normal((30, 40, 3)), rng.uniform(1e-4, 1e-2, 30)
    v[15:] += 3.0
    for threshold in (1e-4, 1e-2, 1.0):
        term = HuberChanges(50.0, threshold)
        x, _ = term.prox(v, rho)
        # The gradient: what pulls at a slice is what its changes ask for.
        differences = np.diff(x, axis=0)
        sizes = np.linalg.norm(differences, axis=1, keepdims=True)
        forces = 100.0 * differences * np.minimum(1.0, threshold / np.maximum(sizes, 1e-300))
        gradient = slicewise(rho, x - v)
        gradient[1:] += forces
        gradient[:-1] -= forces
        assert np.abs(gradient).max() < 1e-7 * np.abs(forces).max() + 1e-9


def test_huber_keeps_one_sudden_change_sharp():
    v = np.repeat([0.0, 1.0], 10)[:, None] * np.ones(2)
    huber, _ = HuberChanges(5.0, threshold=0.02).prox(v, np.ones(20))
    smooth, _ = TemporalSmoothness(5.0, epsilon=0.0).prox(v, np.ones(20))
    assert np.diff(huber[:, 0])[9] > 0.8
    assert np.diff(smooth[:, 0])[9] < 0.3


def test_huber_on_the_clock_has_a_threshold_for_rates():
    term = HuberChanges(2.0, 1.0).on_clock(np.array([0.0, 1.0, 3.0]), None)
    assert term.weights == (1.5, 0.75)
    assert term.on_clock(np.array([0.0, 5.0, 6.0]), None) is term
    assert HuberChanges(2.0, 1.0).on_clock(np.arange(4.0), 4.0).closing > 0


# --- dynamics -----------------------------------------------------------------------------------------------


def dense_system(term, K):
    """The whole quadratic form over all slices, written out."""
    J = len(term.H)
    steps = term.steps or (1,) * (K - 1)
    total = np.zeros((K * J, K * J))
    for k, n in enumerate(steps):
        row = np.zeros((J, K * J))
        row[:, (k + 1) * J : (k + 2) * J] = np.eye(J)
        row[:, k * J : (k + 1) * J] = -np.linalg.matrix_power(term.H, n)
        total += term.strength * row.T @ row / n
    return total


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("strength", [0.0, 0.4, 1e4])
def test_dynamics_keep_the_laws(symmetric, strength):
    H = np.random.default_rng(0).standard_normal((6, 6)) / 2
    check_penalty(LinearDynamics(H + H.T if symmetric else H, strength), (4, 6, 3))
    check_penalty(LinearDynamics(H, strength, steps=(1, 3, 2)), (4, 6, 3))
    check_penalty(LinearDynamics(H[:1, :1], strength), (1, 1, 1))


@SETTINGS
@given(seeds, st.integers(1, 5), st.integers(1, 4), st.floats(0.001, 1e6), st.booleans(), st.booleans())
def test_dynamics_equal_a_dense_solve(seed, K, J, strength, symmetric, uneven):
    v, rho = draw(seed, (K, J, 2))
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((J, J))
    steps = tuple(int(n) for n in rng.integers(1, 4, K - 1)) if uneven else None
    term = LinearDynamics(H + H.T if symmetric else H, strength, steps)
    x, state = term.prox(v, rho)
    form = dense_system(term, K)
    flat = v.reshape(K * J, 2)
    expected = np.linalg.solve(2 * form + np.diag(np.repeat(rho, J)), np.repeat(rho, J)[:, None] * flat)
    np.testing.assert_allclose(x.reshape(K * J, 2), expected, atol=1e-7 * np.abs(flat).max())
    assert term.value(v) == pytest.approx(np.sum(flat * (form @ flat)), rel=1e-9)
    np.testing.assert_allclose(term.prox(v, rho, state)[0], x, atol=1e-12)
    other, _ = term.prox(v, 2 * rho, state)
    np.testing.assert_allclose(other, term.prox(v, 2 * rho)[0], atol=1e-12)


@SETTINGS
@given(seeds, st.integers(2, 5), st.floats(0, 100))
def test_dynamics_that_stand_still_are_smoothness(seed, K, strength):
    v, rho = draw(seed, (K, 3, 2))
    ours, _ = LinearDynamics(np.eye(3), strength).prox(v, rho)
    theirs, _ = TemporalSmoothness(strength, epsilon=0.0).prox(v, rho)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_dynamics_on_the_clock_take_whole_steps():
    term = LinearDynamics(np.eye(2), 1.0)
    assert term.on_clock(np.array([0.0, 0.5, 2.0]), None).steps == (1, 3)
    with pytest.raises(ValueError, match=r"whole steps apart.* shortest gap is 1, and the longest 1.5"):
        term.on_clock(np.array([0.0, 1.0, 2.5]), None)
    with pytest.raises(ValueError, match="not for time that goes round"):
        term.on_clock(np.arange(3.0), 12.0)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: LinearDynamics(np.ones((2, 3))), r"H must be a square matrix, got shape \(2, 3\)"),
        (lambda: LinearDynamics([[np.inf]]), "H holds NaN or infinity"),
        (lambda: LinearDynamics(np.eye(2), -1.0), "strength must be finite and at least 0"),
        (lambda: LinearDynamics(np.eye(2), 1.0, (0, 1)), "steps must be whole numbers above 0"),
        (lambda: LinearDynamics(np.eye(2)).value(np.ones((2, 3, 1))), r"give an H of shape \(3, 3\)"),
        (lambda: LinearDynamics(np.eye(2)).value(np.ones((2, 2))), "give it in penalties_b only"),
        (lambda: LinearDynamics(np.eye(2), 1.0, (1,)).value(np.ones((3, 2, 1))), "3 slices: give 2"),
        (lambda: HuberChanges(1.0, 0.0), "threshold must be finite and above 0"),
        (lambda: HuberChanges(-1.0, 1.0), "strength must be finite and at least 0"),
        (lambda: HuberChanges(1.0, 1.0, (0.0,)), "weights must be finite and above 0"),
        (lambda: HuberChanges(1.0, 1.0, (1.0,)).value(np.ones((3, 2))), "3 slices: give 2 weights"),
    ],
)
def test_terms_in_time_that_are_none_are_refused(use, says):
    with pytest.raises(ValueError, match=says):
        use()
