"""Each component in a few lines."""

from dataclasses import replace

import numpy as np
from banded import banded
from hand_made import hand_made

from tparafac2.data import Labels
from tparafac2.result import Trust, portraits


def moving(**changes):
    """A first component that goes from x over y to z, and a second one that stays and fades."""
    B = np.zeros((5, 4, 2))
    B[[0, 1], 0, 0] = B[[2, 3], 1, 0] = B[4, 2, 0] = 1.0
    B[:, 3, 1] = 1.0
    C = np.stack([np.ones(5), [8.0, 6.0, 3.0, 5.0, 1.0]], axis=1)
    labels = Labels(rows=["Ann", "Bo"], columns=list("xyzw"), time=[2000, 2001, 2002, 2003, 2010])
    return hand_made(**{"B": B, "C": C, "A": np.eye(2), "K": 5, "labels": labels} | changes)


def test_what_it_was_and_became():
    first, second = portraits(moving())
    told = [(one.time, [mark.label for mark in one.columns]) for one in first.stations]
    assert told == [
        ("2000", ["x"]),
        ("2003", ["y"]),
        ("2010", ["z"]),
    ]  # 2003 is nearest to the middle of time
    assert [mark.label for mark in first.rows] == ["Ann"]
    assert [(one.time, one.columns[0].label) for one in second.stations] == [("", "w")]


def test_when_it_was_strong():
    first, second = portraits(moving())
    assert first.strong == "equally strong at all times"
    assert second.strong == (
        "strongest at 2000 (8), weakest at 2010 (1), and above half of the most "
        "only from 2000 to 2001, at 2003"
    )


def test_slices_are_told_in_the_order_of_time():
    plain = moving()
    turned = moving(
        B=plain.B[::-1], C=plain.C[::-1], labels=Labels(time=plain.labels.time[::-1], columns=list("xyzw"))
    )
    assert [one.time for one in portraits(turned)[0].stations] == ["2000", "2003", "2010"]
    assert portraits(turned)[1].strong == portraits(plain)[1].strong


def test_what_is_not_determined_is_passed_over():
    undetermined = np.zeros((5, 2), dtype=bool)
    undetermined[0, 0] = True
    first, _ = portraits(moving(undetermined=undetermined))
    assert first.stations[0].time == "2001"
    assert "its pattern is not determined at 1 of 5 times" in first.sure


def test_how_sure_it_is():
    trust = Trust(replicability=[0.97, 0.5], alone=[0.4, 0.4], verdict=["replicable", "there"])
    first, second = portraits(moving(trust=trust))
    assert first.sure[0].startswith("replicable (0.97")
    assert second.sure[0].startswith("there (0.50")


def test_data_drawn_anew_tell_how_sure_it_is():
    result = banded()
    bands = replace(result.intervals, unmatched=np.array([0.0, 0.25]))
    first, second = portraits(replace(result, intervals=bands))
    assert "found again in 100 % of 50 data sets drawn anew" in first.sure
    assert "found again in 75 % of 50 data sets drawn anew" in second.sure


def test_a_pair_is_told_on_both_sides_by_name():
    first, second = portraits(moving(A=np.ones((2, 2))).rename(["Ice", "Sun"]))
    assert "has nearly the same rows as component 2 (Sun)" in first.sure
    assert "has nearly the same rows as component 1 (Ice)" in second.sure


def test_nothing_is_left_of_a_component():
    gone = portraits(moving(A=np.array([[1.0, 0.0], [0.0, 0.0]])))[1]
    assert gone.stations == ()
    assert gone.strong == "nothing is left of it"
    assert gone.rows == ()


def test_what_it_has_less_of_is_told_where_that_tells_more():
    B = moving().B.copy()
    B[:, 2, 1] = -2.0
    first, second = portraits(moving(B=B, A=np.array([[1.0, 0.1], [-3.0, 1.0]])))
    assert [(mark.label, mark.weight < 0) for mark in second.stations[0].columns] == [
        ("w", False),
        ("z", True),
    ]
    assert [(mark.label, mark.weight < 0) for mark in first.rows] == [("Ann", False), ("Bo", True)]


def test_what_is_negative_everywhere_is_not_called_nothing():
    first, second = portraits(moving(B=-moving().B))
    assert [mark.label for mark in first.stations[0].columns] == ["x"]
    assert [mark.label for mark in second.stations[0].columns] == ["w"]
