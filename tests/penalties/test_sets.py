import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from tparafac2.penalties import Box, NormBall, Simplex, Unimodal, check_penalty

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
shapes = st.one_of(
    st.tuples(st.integers(1, 6), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 3)),
)
ALL = [
    Box(-0.3, 0.5),
    Box(lower=0.1),
    Box(upper=-0.2),
    Simplex(),
    Simplex(7.0),
    NormBall(0.5),
    NormBall(3.0),
    Unimodal(),
    Unimodal(nonnegative=True),
]


def draw(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape), rng.uniform(0.1, 10, shape[0])


def columns(v, rho):
    """Every column with the weights of its entries, written out by hand."""
    if v.ndim == 2:
        return [(v[:, r], rho) for r in range(v.shape[1])]
    K, J, R = v.shape
    return [(v[k, :, r], np.full(J, rho[k])) for k in range(K) for r in range(R)]


def gap(x, v, w):
    return float(np.sum(w * (x - v) ** 2))


@pytest.mark.parametrize("term", ALL, ids=repr)
@pytest.mark.parametrize("shape", [(4, 6, 3), (5, 2), (1, 1), (2, 9, 1)])
def test_sets_keep_the_laws(term, shape):
    check_penalty(term, shape)


@SETTINGS
@given(seeds, shapes, st.floats(0.1, 5))
def test_the_nearest_point_of_a_simplex_is_the_best_over_all_supports(seed, shape, total):
    v, rho = draw(seed, shape)
    x, _ = Simplex(total).prox(v, rho)
    for (found, _), (column, w) in zip(columns(x, rho), columns(v, rho)):
        best = math.inf
        for support in itertools.product([False, True], repeat=len(column)):
            held = np.array(support)
            if held.any():
                amount = (column[held].sum() - total) / (1 / w[held]).sum()
                rival = np.where(held, column - amount / w, 0.0)
                best = min(best, gap(rival, column, w)) if (rival >= 0).all() else best
        assert gap(found, column, w) == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total, rel=1e-12)


def test_a_simplex_far_below_its_columns_is_met():
    """Beside entries of 1e40 the total would be lost to rounding."""
    v = np.array([[1e40], [2e40], [2e40], [-3e40]])
    x, _ = Simplex(1.0).prox(v, np.full(4, 0.3))
    np.testing.assert_allclose(x[:, 0], [0.0, 0.5, 0.5, 0.0])


@SETTINGS
@given(seeds, shapes, st.floats(0.05, 3))
def test_the_nearest_point_of_a_ball_is_that_of_a_general_solver(seed, shape, radius):
    v, rho = draw(seed, shape)
    x, _ = NormBall(radius).prox(v, rho)
    for (found, _), (column, w) in zip(columns(x, rho), columns(v, rho)):
        assert np.linalg.norm(found) <= radius * (1 + 1e-12)
        if np.linalg.norm(column) <= radius:
            np.testing.assert_array_equal(found, column)
            continue
        rival = minimize(
            lambda y, column=column, w=w: gap(y, column, w),
            column * radius / np.linalg.norm(column),
            constraints={"type": "ineq", "fun": lambda y: radius**2 - y @ y},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert gap(found, column, w) <= rival.fun * (1 + 1e-5) + 1e-9
        # Stationary: the pull of the data points straight out of the ball.
        pull, out = w * (column - found), found / np.linalg.norm(found)
        np.testing.assert_allclose(pull, (pull @ out) * out, atol=1e-7 * np.abs(w * column).max())


def rising(v, w, *, bounded):
    """Isotonic regression as bounded least squares in the first entry and the steps."""
    if not len(v):
        return v
    steps = np.tril(np.ones((len(v), len(v))))
    low = np.zeros(len(v))
    low[0] = 0.0 if bounded else -np.inf
    root = np.sqrt(w)
    found = lsq_linear(root[:, None] * steps, root * v, (low, np.inf), tol=1e-14)
    return steps @ found.x


@settings(max_examples=15)
@given(seeds, shapes, st.booleans())
def test_the_nearest_column_with_one_peak_is_the_best_over_all_peaks(seed, shape, bounded):
    v, rho = draw(seed, shape)
    x, _ = Unimodal(nonnegative=bounded).prox(v, rho)
    assert Unimodal(nonnegative=bounded).violation(x) <= 1e-15
    for (found, _), (column, w) in zip(columns(x, rho), columns(v, rho)):
        rivals = []
        for peak in range(len(column) + 1):
            left = rising(column[:peak], w[:peak], bounded=bounded)
            right = rising(column[peak:][::-1], w[peak:][::-1], bounded=bounded)[::-1]
            rivals.append(gap(np.concatenate([left, right]), column, w))
        assert gap(found, column, w) == pytest.approx(min(rivals), rel=1e-6, abs=1e-8)


@SETTINGS
@given(seeds, shapes, st.floats(-2, 2), st.floats(0, 3))
def test_the_nearest_point_of_a_box_is_the_nearest_of_entry_and_bounds(seed, shape, lower, width):
    v, rho = draw(seed, shape)
    x, _ = Box(lower, lower + width).prox(v, rho)
    for entry, found in zip(v.ravel(), x.ravel()):
        inside = [y for y in (entry, lower, lower + width) if lower <= y <= lower + width]
        assert found == min(inside, key=lambda y, entry=entry: abs(y - entry))


@pytest.mark.parametrize("n", [1, 2, 300])
def test_columns_that_have_one_peak_stay_as_they_are(n):
    column = np.minimum(np.arange(n), 2 * n // 3 - np.arange(n) / 2.0)
    v = column[None, :, None]
    np.testing.assert_array_equal(Unimodal().prox(v, np.ones(1))[0], v)


def test_a_step_away_from_the_peak_counts_as_violation():
    x = np.array([0.0, 2.0, 1.0, 1.5, 0.0])[None, :, None]
    assert Unimodal().violation(x) == 0.25
    assert Unimodal().value(x) == math.inf
    assert Unimodal(nonnegative=True).violation(x - 1.0) == 1.0


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (lambda: Box(1.0, 0.0), ValueError, "lower must not be above upper, got 1.0 and 0.0"),
        (Box, ValueError, "no bounds: give lower, upper, or both"),
        (lambda: Box(np.nan, 1.0), ValueError, "Box: lower must be a number, got nan"),
        (lambda: Box("0", 1.0), TypeError, "Box: lower must be a number, got '0'"),
        (lambda: Box(np.inf), ValueError, "lower must not be above upper|no bounds"),
        (lambda: Simplex(0.0), ValueError, "Simplex: total must be finite and above 0"),
        (lambda: Simplex(-1.0), ValueError, "Simplex: total must be finite and above 0"),
        (lambda: Simplex(np.nan), ValueError, "Simplex: total must be a number, got nan"),
        (lambda: NormBall(np.inf), ValueError, "NormBall: radius must be finite and above 0"),
        (lambda: NormBall(True), TypeError, "NormBall: radius must be a number"),
        (lambda: Unimodal("yes"), TypeError, "Unimodal: nonnegative must be True or False, got 'yes'"),
    ],
)
def test_sets_that_are_none_are_refused(make, kind, says):
    with pytest.raises(kind, match=says):
        make()
