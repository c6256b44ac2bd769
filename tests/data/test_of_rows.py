"""Some rows of data, any of them several times: the same numbers as from the user's own rows."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from tparafac2.data import take_in

ROWS = np.array([0, 2, 2, 5, 5, 5, 1])
X = np.random.default_rng(0).normal(size=(3, 6, 4))
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
WEIGHTS = np.linspace(0.5, 2.0, 6)


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (X, {}),
        (HOLED, {}),
        (X, {"weights": WEIGHTS}),
        (HOLED, {"weights": WEIGHTS}),
        ([csr_array(x * (x > 0)) for x in X], {}),
        ([csc_array(x * (x > 0)) for x in X], {"weights": WEIGHTS}),
    ],
)
def test_products_with_some_rows(given, settings):
    data = take_in(given, **settings).data
    some = data.of_rows(ROWS)
    rng = np.random.default_rng(2)
    At, W = rng.normal(size=(1, 2, len(ROWS))), rng.normal(size=(1, 2, 3, 4))
    counts = np.zeros((1, 2, 6))
    np.add.at(counts, (slice(None), slice(None), ROWS), At)
    assert some.shape == (3, len(ROWS), 4)
    assert some.scale == data.scale
    np.testing.assert_allclose(some.project(At), data.project(counts), rtol=1e-12)
    np.testing.assert_allclose(some.accumulate(W), data.accumulate(W)[:, :, ROWS], rtol=1e-12)
