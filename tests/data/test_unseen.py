"""Columns nobody saw hold on to what was seen of them."""

import numpy as np
import pytest

from tparafac2.data import DenseData, ObservedData, couplings, unseen_columns


def weights(told, tie=7.0):
    """How a column is coupled: o was seen, u was not, and - was not there."""
    there, unseen = (np.array([letter in kind for letter in told])[:, None] for kind in ("ou", "u"))
    return couplings(there, unseen, tie)[:-1, 0].tolist()


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("oooo", [1, 1, 1]),
        ("ouuo", [3, 3, 3]),  # all of it costs as much as one step
        ("uuoo", [7, 7, 1]),
        ("oouu", [1, 7, 7]),
        ("ouuuuuuuo", [7] * 8),
        ("uouou", [7, 2, 2, 7]),
        ("o-uo", [0, 0, 7]),  # what was seen before it went says nothing
        ("ou-o", [7, 0, 0]),
        ("o-u-o", [0, 0, 0, 0]),
    ],
)
def test_changes_before_and_after_a_column_was_seen_cost_more(told, expected):
    assert weights(told) == expected
    assert weights(told, tie=1.0) == [min(1, cost) for cost in expected]


def test_where_all_is_seen_nothing_is_told():
    assert couplings(None, None, 7.0) is None
    assert unseen_columns(DenseData(np.ones((2, 3, 4)))) is None
    assert unseen_columns(ObservedData(np.ones((2, 3, 4)))) is None


def test_a_column_is_unseen_where_all_its_rows_are_missing_and_it_is_there():
    X = np.ones((2, 3, 4))  # rows, times, columns
    X[:, 0, 1] = X[:, 2, 3] = X[0, 1, 0] = np.nan
    assert np.argwhere(unseen_columns(ObservedData(X))).tolist() == [[0, 1], [2, 3]]
    present = np.ones((3, 4), dtype=bool)
    present[0, 1] = False
    assert np.argwhere(unseen_columns(ObservedData(X, 1.0, present))).tolist() == [[2, 3]]
