"""Loadings that go best with given patterns and strengths."""

import numpy as np
import pytest

from tparafac2.data import DenseData, ObservedData
from tparafac2.penalties import NonNegative, Ridge
from tparafac2.solver import Settings, best_rows, build_problem

RNG = np.random.default_rng(0)
B, C = RNG.random((3, 5, 2)), RNG.random((3, 2))
W = (B * C[:, None, :]).reshape(-1, 2)


@pytest.mark.parametrize("holed", [False, True])
def test_a_ridge_regression_for_each_row(holed):
    X = RNG.random((4, 3, 5))
    seen = RNG.random(X.shape) < (0.7 if holed else 2.0)
    data = ObservedData(np.where(seen, X, np.nan)) if holed else DenseData(X)
    found = best_rows(build_problem(data, 2, ([Ridge(0.5)], (), ())), B, C, Settings())
    for x, mask, a in zip(X, seen, found):
        own = W * mask.reshape(-1, 1)
        assert np.allclose(a, np.linalg.solve(own.T @ own + 0.5 * np.eye(2), own.T @ x.ravel()))


def test_several_terms_are_followed_to_the_end():
    """Two bounds that are the same have the minimiser of one, which is found without auxiliaries."""
    data = DenseData(RNG.normal(size=(30, 3, 5)))
    one, two = (
        best_rows(build_problem(data, 2, ([Ridge(0.5), *bounds], (), ())), B, C, Settings())
        for bounds in ([NonNegative()], [NonNegative(), NonNegative()])
    )
    assert (one == 0).any()
    assert np.allclose(one, two, atol=1e-9)
