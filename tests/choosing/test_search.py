"""What is searched, and what is refused before any work."""

import math

import numpy as np
import pytest

from tparafac2.choosing.candidates import RIGIDITY, SMOOTHNESS, Candidate
from tparafac2.choosing.search import Search


def test_one_value_is_taken_as_it_is():
    search = Search(ranks=3, smoothness=1e-3, rigidity=math.inf)
    assert search.ranks == (3,)
    assert search.smoothness == (1e-3,)
    assert search.rigidity == (math.inf,)
    assert search.flexible(Candidate(3, 1e-3)) == []


def test_several_values_are_in_order_and_each_once():
    search = Search(ranks=[4, 2, 2], smoothness=np.array([1e-2, 1e-3]), rigidity=[0.1, math.inf, 1])
    assert search.ranks == (2, 4)
    assert search.smoothness == (1e-3, 1e-2)
    assert search.rigidity == (math.inf, 1.0, 0.1)


def test_the_usual_values_are_tried_if_none_are_given():
    search = Search()
    assert search.ranks == tuple(range(1, 9))
    assert search.smoothness == SMOOTHNESS
    assert search.rigidity == RIGIDITY


def test_the_constraint_is_not_tried_to_give_way_where_smoothness_could_not_hold_patterns():
    ways = Search().flexible(Candidate(3, 1e-4))
    assert [way[0].smoothness for way in ways] == [3e-4, 1e-3, 3e-3]
    assert [one.rigidity for one in ways[0]] == list(RIGIDITY[1:])


def test_the_way_to_a_flexible_model_begins_with_the_hard_one():
    way = Search().way_to(Candidate(2, 1e-3, 1.0))
    assert [one.rigidity for one in way] == [math.inf, 100.0, 10.0, 1.0]
    assert Search().way_to(Candidate(2, 1e-3)) == [Candidate(2, 1e-3)]


REFUSED = {
    "no rank": ({"ranks": []}, "ranks has no value to try"),
    "rank 0": ({"ranks": [0, 1]}, "ranks must be at least 1"),
    "half a rank": ({"ranks": [1.5]}, "ranks must be a whole number"),
    "a text": ({"ranks": "2"}, "ranks must be a number, or several"),
    "no smoothness": ({"smoothness": []}, "smoothness has no value to try"),
    "smoothness 0": ({"smoothness": [0.0, 1e-3]}, "smoothness must be positive"),
    "smoothness below 0": ({"smoothness": -1.0}, "smoothness must be finite and not negative"),
    "not a number": ({"smoothness": [math.nan]}, "smoothness must be a number"),
    "rigidity below 0": ({"rigidity": [-1.0]}, "rigidity must be from 0"),
    "bounds": ({"nonnegative": "columns"}, "nonnegative must be 'auto'"),
    "masks": ({"n_masks": 0}, "n_masks must be at least 1"),
    "splits": ({"n_splits": -1}, "n_splits must be at least 0"),
    "threshold": ({"threshold": 1.5}, "threshold is a likeness"),
    "starts": ({"n_starts": 0}, "n_starts must be at least 1"),
    "period": ({"period": -1}, "period must be positive"),
    "jobs": ({"n_jobs": 0}, "n_jobs must be a positive"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_searched_is_refused(case):
    given, said = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=said):
        Search(**given)


def test_data_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="can choose from 3 times on; got 2"):
        Search().check_size((2, 50, 50))
    with pytest.raises(ValueError, match="can choose from 2 rows on; got 1"):
        Search().check_size((5, 1, 50))
    with pytest.raises(ValueError, match="halves of 10 rows with 30 columns can tell at most 5 components"):
        Search(ranks=range(1, 7)).check_size((5, 10, 30))
    Search(ranks=range(1, 6)).check_size((5, 10, 30))
