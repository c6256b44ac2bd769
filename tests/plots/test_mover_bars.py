"""The columns that move most."""

import numpy as np
import pytest
from matplotlib.colors import same_color

from tparafac2.data import Labels
from tparafac2.plots import movers
from tparafac2.plots.style import FALL, RISE
from tparafac2.result import Result

B = np.zeros((4, 3, 1))
B[:, 0, 0] = [0.6, 0.6, 0.8, 0.8]
B[:, 1, 0] = [0.8, 0.8, 0.0, 0.0]
B[:, 2, 0] = [0.0, 0.0, 0.6, 0.6]


def a_result(**changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    labels = Labels(columns=["ash", "elm", "oak"], time=[1990, 1995, 2000, 2005], names={"time": "year"})
    base = {"model": "M", "A": np.ones((2, 1)), "B": B, "C": np.ones((4, 1)), "labels": labels}
    return Result(**{**base, **facts, **changes})


def rows(ax):
    return [
        (label.get_text(), round(float(bar.get_width()), 3), text.get_text())
        for label, bar, text in zip(ax.get_yticklabels(), ax.patches, ax.texts)
    ]


def test_what_rises_what_falls_and_when():
    assert rows(movers(a_result())) == [
        ("oak", 0.6, "1995 → 2000"),
        ("ash", 0.2, "1995 → 2000"),
        ("elm", -0.8, "1995 → 2000"),
    ]


def test_rises_and_falls_have_their_colours():
    colours = [bar.get_facecolor() for bar in movers(a_result()).patches]
    assert [same_color(colour, RISE) for colour in colours] == [True, True, False]
    assert same_color(colours[-1], FALL)


def test_no_more_than_asked():
    assert [name for name, _, _ in rows(movers(a_result(), 1, 1))] == ["oak", "elm"]


def test_times_that_are_not_determined_do_not_count():
    undetermined = np.array([[False], [False], [True], [True]])
    ax = movers(a_result(undetermined=undetermined))
    assert not ax.patches
    assert ax.texts[0].get_text() == "No column moves."


def test_rises_come_first_from_top_to_bottom():
    ax = movers(a_result())
    assert ax.yaxis_inverted()
    assert np.all(np.diff(ax.get_yticks()) > 0)


def test_time_can_go_round():
    turned = a_result(B=np.roll(B, 1, axis=0), times=[0.0, 6.0, 12.0, 18.0], period=24.0)
    assert ("oak", 0.6, "1995 → 2000") in rows(movers(a_result()))
    assert {name for name, change, _ in rows(movers(turned)) if change > 0} == {"ash", "elm", "oak"}


def test_slices_with_columns_of_their_own_are_refused():
    with pytest.raises(ValueError, match="movers follows columns in time"):
        movers(a_result(B=list(B)))


@pytest.mark.parametrize("n", [0, 1.5])
def test_other_numbers_are_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number, at least 1"):
        movers(a_result(), 1, n)
