"""The whole model on one page."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from tparafac2.data import Labels
from tparafac2.plots import overview
from tparafac2.result import Result


def a_result(R, B=None, **changes):
    rng = np.random.default_rng(0)
    B = rng.random((6, 30, R)) * 10.0 ** np.arange(R) if B is None else B
    facts = {"objective": 0.0, "explained_variance": 0.87, "status": "", "converged": True, "n_iter": 1}
    return Result(model="M", A=rng.random((4, R)), B=B, C=np.ones((6, R)), **facts, **changes)


@pytest.mark.parametrize("R", [1, 2, 5])
def test_strengths_and_every_pattern_are_there(R):
    figure = overview(a_result(R))
    assert isinstance(figure, Figure)
    strengths, *patterns, bar = figure.axes
    assert strengths.get_ylabel() == "Strength"
    assert [ax.get_title("left") for ax in patterns] == [f"Component {r + 1}" for r in range(R)]
    assert bar.get_ylabel() == "Weight in the pattern"
    figure.draw_without_rendering()


def test_all_patterns_have_one_colour_scale_and_few_columns():
    _, *patterns, _ = overview(a_result(3)).axes
    assert len({ax.collections[0].get_clim() for ax in patterns}) == 1
    assert {len(ax.get_yticklabels()) for ax in patterns} == {14}


def test_more_columns_make_a_taller_page():
    usual, tall = overview(a_result(2)), overview(a_result(2), n_columns=28)
    assert {len(ax.get_yticklabels()) for ax in tall.axes[1:-1]} == {28}
    assert tall.get_size_inches()[1] > 1.4 * usual.get_size_inches()[1]


def test_the_title_tells_what_it_is_of():
    figure = overview(a_result(2, labels=Labels(names={"columns": "$word$"})))
    expected = "M: 4 rows x 30 $word$ x 6 times, 2 components, explained variance 87.0%"
    assert figure.get_suptitle().replace(r"\$", "$") == expected


def test_hatching_is_explained_once():
    undetermined = np.zeros((6, 2), bool)
    undetermined[2] = True
    figure = overview(a_result(2, undetermined=undetermined))
    assert [part.get_supxlabel() for part in figure.subfigs] == [
        "",
        "pale, hatched: not determined by the data",
    ]
    assert [part.get_supxlabel() for part in overview(a_result(2)).subfigs] == ["", ""]


def test_slices_can_have_columns_of_their_own():
    ragged = [np.ones((width, 2)) for width in (3, 4, 5, 6, 7, 8)]
    assert len(overview(a_result(2, ragged)).axes) == 4
