import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import PartlyObserved, SliceData, Sweepable, take_in
from tparafac2.large import Stored, take_stored


def both(X, rows, monkeypatch=None):
    """The same data in blocks of some rows, and in memory."""
    stored = Stored(X, memory="1MB")
    edges = tuple(slice(a, min(a + rows, X.shape[1])) for a in range(0, X.shape[1], rows))
    object.__setattr__(stored, "edges", lambda: edges)
    return take_stored(stored), take_in(np.array(X))


@given(seed=st.integers(0, 99), rows=st.integers(1, 11), holes=st.sampled_from([0.0, 0.3]))
@settings(max_examples=40)
def test_products_are_those_of_data_in_memory(seed, rows, holes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3, 11, 5))
    X[rng.random(X.shape) < holes] = np.nan
    X[0, :, 0], X[0, 0] = 1.0, 2.0  # every row and column was observed
    X[:, :, :2] = np.nan_to_num(X[:, :, :2])
    blocked, memory = (one.data for one in both(X, rows))
    assert isinstance(blocked, SliceData)
    assert isinstance(blocked, Sweepable)
    assert isinstance(blocked, PartlyObserved) == isinstance(memory, PartlyObserved)
    assert blocked.scale == pytest.approx(memory.scale, rel=1e-14)
    assert blocked.negative_share == pytest.approx(memory.negative_share, rel=1e-12)
    At, W = rng.standard_normal((2, 4, 11)), rng.standard_normal((2, 4, 3, 5))
    np.testing.assert_allclose(blocked.project(At), memory.project(At), atol=1e-13)
    np.testing.assert_allclose(blocked.accumulate(W), memory.accumulate(W), atol=1e-13)
    np.testing.assert_allclose(blocked.residual_sse(At, W), memory.residual_sse(At, W), rtol=1e-12)
    if isinstance(blocked, PartlyObserved):
        np.testing.assert_allclose(blocked.column_grams(At), memory.column_grams(At), atol=1e-13)
        np.testing.assert_allclose(blocked.row_grams(W), memory.row_grams(W), atol=1e-12)
        np.testing.assert_allclose(blocked.coverage, memory.coverage)
        assert blocked.observed_share == pytest.approx(memory.observed_share)


class Twice:
    """Loadings that are twice the products, and know which rows they are of."""

    def part(self, rows):
        return lambda F: 2.0 * F + np.arange(rows.start, rows.stop)


@pytest.mark.parametrize("rows", [1, 4, 30])
def test_a_sweep_is_three_steps_in_one_pass(rows):
    rng = np.random.default_rng(0)
    blocked = both(rng.standard_normal((3, 30, 5)), rows)[0].data
    W = rng.standard_normal((2, 4, 3, 5))
    before = blocked.reads.passes
    F, At, G = blocked.sweep(W, Twice())
    assert blocked.reads.passes == before + 1
    np.testing.assert_allclose(F, blocked.accumulate(W), atol=1e-14)
    np.testing.assert_allclose(At, 2.0 * F + np.arange(30), atol=1e-14)
    np.testing.assert_allclose(G, blocked.project(At), atol=1e-13)


def test_some_rows():
    X = np.random.default_rng(0).standard_normal((3, 30, 5))
    blocked, memory = (one.data for one in both(X, 7))
    which = np.array([0, 6, 7, 29])
    np.testing.assert_allclose(blocked.some_rows(which).values, memory.values[which], rtol=1e-15)


def test_results_go_where_they_are_asked_to():
    blocked = both(np.random.default_rng(0).standard_normal((3, 30, 5)), 7)[0].data
    out = np.empty((1, 2, 3, 5))
    assert blocked.project(np.ones((1, 2, 30)), out=out) is out
    np.testing.assert_array_equal(out, blocked.project(np.ones((1, 2, 30))))
