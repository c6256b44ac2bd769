import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.large import take_stored


def taken(X, labels=None):
    stored = tp.Stored(X, memory="1MB")
    if labels is not None:
        object.__setattr__(stored, "labels", labels)
    return take_stored(stored)


@pytest.fixture
def large():
    return np.random.default_rng(0).standard_normal((6, 500, 30))


def test_infinite_values_are_named_with_their_block(large):
    large[4, 321, 7] = np.inf
    sentence = (
        r"1 infinite values in block \d+ of \d+ \(rows \d+ to \d+\), "
        r"the first in slice 4, row 321, column 7"
    )
    with pytest.raises(ValueError, match=sentence):
        taken(large)


def test_rows_and_columns_that_were_never_observed(large):
    large[:, 17] = np.nan
    labels = tp.data.Labels(rows=[f"r{i}" for i in range(500)])
    with pytest.raises(ValueError, match="1 of 500 rows were never observed, at any time: 'r17'"):
        taken(large, labels)
    large[:, 17] = 0.0
    large[:, :, 3] = np.nan
    with pytest.raises(ValueError, match="1 of 30 columns were never observed"):
        taken(large)


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_nothing_there(large, value):
    with pytest.raises(ValueError, match=r"every entry of X is (missing|zero)"):
        taken(np.full_like(large, value))


@pytest.mark.parametrize("size", [1e150, 1e-140])
def test_sizes_that_can_be_squared_are_fine(large, size):
    assert taken(large * size).data.scale == pytest.approx(np.linalg.norm(large) * size, rel=1e-12)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_sizes_that_cannot(large, size):
    with pytest.raises(ValueError, match="to be squared"):
        taken(large * size)


def test_slices_without_any_observation_are_left_out(large):
    large[2] = np.nan
    intake = taken(large)
    assert intake.order == (0, 1, 3, 4, 5)
    assert intake.data.shape == (5, 500, 30)
    assert intake.coverage.shape == (6, 30)
    assert not intake.coverage[2].any()


@pytest.mark.parametrize("dtype", ["int16", "uint8", "bool", "float32", ">f8"])
def test_types(large, dtype):
    X = (np.abs(large) * 3).astype(dtype)
    assert taken(X).data.scale == pytest.approx(np.linalg.norm(X.astype(float)), rel=1e-12)
