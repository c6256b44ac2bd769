"""Halves of the rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.choosing.halves import split_rows, usable_splits
from tparafac2.choosing.parts import Parts
from tparafac2.data import Labels
from tparafac2.fitting import read_groups


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 1000))
def test_halves_are_all_rows_once_and_every_group_is_shared(n_rows, n_groups, seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n_rows)
    for one, other in split_rows(rng, n_rows, 3, groups):
        assert sorted([*one, *other]) == list(range(n_rows))
        assert 0 <= len(one) - len(other) <= 1
        for group in range(n_groups):
            assert abs((groups[one] == group).sum() - (groups[other] == group).sum()) <= 1


def test_splits_differ_and_repeat_with_the_seed():
    first, again = (split_rows(np.random.default_rng(0), 20, 2) for _ in range(2))
    assert first[0].one.tolist() == again[0].one.tolist()
    assert first[0].one.tolist() != first[1].one.tolist()


LABELS = Labels(rows=["a", "b", "c"])


def test_groups_are_read_by_place_or_by_label():
    by_label = {"c": "x", "a": "y", "b": "x"}
    assert read_groups(by_label, LABELS, 3).tolist() == [1, 0, 0]
    assert read_groups(pd.Series(by_label), LABELS, 3).tolist() == [1, 0, 0]
    assert read_groups(["y", "x", "x"], LABELS, 3).tolist() == [1, 0, 0]
    assert read_groups(None, LABELS, 3) is None


def test_groups_that_do_not_fit_the_rows_are_refused():
    with pytest.raises(ValueError, match="groups has nothing for 1 of 3 rows: 'b'"):
        read_groups({"a": 1, "c": 2}, LABELS, 3)
    with pytest.raises(ValueError, match="one value for each of the 3 rows; got 2"):
        read_groups([1, 2], LABELS, 3)


def test_halves_have_something_of_every_column():
    X = np.random.default_rng(0).normal(size=(3, 8, 5))
    X[:, 2:, 4] = np.nan  # seen in two rows only
    parts = Parts.of(X)
    splits = usable_splits(np.random.default_rng(0), parts, 4, None)
    assert len(splits) == 4
    for split in splits:
        assert all(np.intersect1d(half, [0, 1]).size == 1 for half in split)


def test_a_column_that_was_seen_in_one_row_only_is_refused():
    X = np.random.default_rng(0).normal(size=(3, 8, 5))
    X[:, 1:, 4] = np.nan
    with pytest.raises(ValueError, match="columns were not observed in any of"):
        usable_splits(np.random.default_rng(0), Parts.of(X), 2, None)
