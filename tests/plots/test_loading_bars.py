"""The rows in which a component is strongest."""

import numpy as np
import pytest

from tparafac2.data import Labels
from tparafac2.plots import loadings
from tparafac2.result import Result


def a_result(A, **changes):
    A = np.asarray(A, dtype=float)
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    R = A.shape[1]
    return Result(model="M", A=A, B=np.ones((2, 3, R)), C=np.ones((2, R)), **facts, **changes)


def rows(ax):
    return [
        (label.get_text(), round(float(bar.get_width()), 3))
        for label, bar in zip(ax.get_yticklabels(), ax.patches)
    ]


def test_bars_go_from_the_most_positive_to_the_most_negative():
    labels = Labels(rows=["Ann", "Bo", "Cy", "Di"], names={"rows": "author"})
    ax = loadings(a_result([[0.0], [-6.0], [8.0], [0.0]], labels=labels), n=2)
    assert rows(ax) == [("Cy", 0.8), ("Bo", -0.6)]
    assert ax.get_ylabel() == "author (the 2 largest of 4)"
    assert ax.yaxis_inverted()


def test_the_component_is_the_one_asked_for():
    ax = loadings(a_result([[1, 0], [0, 2]]), 2)
    assert rows(ax) == [("1", 1.0), ("0", 0.0)]
    assert (ax.get_title("left"), ax.get_ylabel()) == ("Component 2", "Row")


def test_a_component_that_vanished_says_so():
    ax = loadings(a_result(np.zeros((3, 1))))
    assert "vanished" in ax.texts[0].get_text()
    assert not ax.patches


@pytest.mark.parametrize("n", [0, "many"])
def test_other_numbers_are_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number"):
        loadings(a_result(np.ones((3, 1))), 1, n)
