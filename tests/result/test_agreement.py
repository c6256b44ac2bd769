"""Counts of starts that found the same."""

import numpy as np
import pytest

from tparafac2.result.agreement import chosen_start, count_alike, count_same_objective, likeness


def starts(objective, matches, chosen=None):
    table = {"objective": np.array(objective), "fms_to_chosen": np.array(matches)}
    return table if chosen is None else table | {"chosen": np.arange(len(objective)) == chosen}


def test_the_chosen_start_need_not_be_the_lowest():
    assert chosen_start(starts([2.0, 1.0], [1.0, 0.3], chosen=0)) == 0
    assert chosen_start(starts([2.0, 1.0], [1.0, 0.3])) == 1
    assert count_same_objective(starts([2.0, 1.0, 2.0 + 1e-7], [1.0] * 3, chosen=0)) == 2


@pytest.mark.parametrize(
    ("matches", "count"),
    [
        ([1.0, 0.995, 0.98, np.nan], 2),
        ([0.5, 0.4975, 0.4, np.nan], 2),  # of version 0.1: one component vanished
        ([0.0, 0.0, 0.0, np.nan], 0),  # all of them did: nothing can be said to be alike
    ],
)
def test_likeness_is_relative_to_the_match_with_itself(matches, count):
    table = starts([1.0, 1.0, 1.0, np.nan], matches, chosen=0)
    assert count_alike(table) == count
    assert np.isnan(likeness(table)[-1])
