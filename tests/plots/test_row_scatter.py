"""Rows by two components, and the colours of their attributes."""

import numpy as np
import pytest
from hand_made import hand_made
from matplotlib.colors import to_hex

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.plots.attribute_colours import attribute_colours

ATTRIBUTES = {
    "sex": ["f", "m", "f", None, "m", "f"],
    "age": [1, 2, np.nan, 4, 5, 6],
    "many": [*"abcdef"],
    "_$5": ["x"] * 6,
}


@pytest.fixture
def result():
    rng = np.random.default_rng(0)
    return hand_made(
        I=6, A=rng.normal(size=(6, 2)), labels=Labels(rows=list("uvwxyz"), attributes=ATTRIBUTES)
    )


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_point_for_each_row_in_both_components(result):
    ax = tp.plots.scatter(result.rename({2: "Ice"}), (2, 1))
    points = np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections])
    np.testing.assert_allclose(points, result.normalised().A[:, [1, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Loading in component 2: Ice", "Loading in component 1")
    assert ax.get_legend() is None


def test_groups_have_colours_markers_and_a_key(result):
    ax = tp.plots.scatter(result, attribute="sex", n_labels=0)
    assert legend(ax) == ["f", "m", "not known"]
    assert [len(one.get_offsets()) for one in ax.collections] == [3, 2, 1]
    assert len({to_hex(one.get_facecolor()[0]) for one in ax.collections}) == 3
    assert len(ax.texts) == 0


def test_numbers_have_a_scale(result):
    ax = tp.plots.scatter(result, attribute="age")
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "age"
    ax.figure.draw_without_rendering()


def test_the_most_distinctive_rows_are_named(result):
    ax = tp.plots.scatter(result, n_labels=2)
    assert len(ax.texts) == 2
    first = result.distinctive(1, of="rows", n=1)["rows"][0], result.distinctive(2, of="rows", n=1)["rows"][0]
    assert {text.get_text() for text in ax.texts} & set(first)


def test_names_do_not_cover_each_other():
    A = np.array([[1.0, 0.0], [0.999, 0.0], [0.0, 1.0], [0.0, 0.0]])
    result = hand_made(I=4, A=A, labels=Labels(rows=["east", "near east", "north", "nothing"]))
    assert [text.get_text() for text in tp.plots.scatter(result, n_labels=4).texts] == ["east", "north"]


def test_bars_are_coloured_by_attribute(result):
    ax = tp.plots.loadings(result, 1, attribute="sex")
    colours = attribute_colours(result, "sex")
    shown = [text.get_text() for text in ax.get_yticklabels()]
    expected = [to_hex(colours.rows["uvwxyz".index(label)]) for label in shown]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == expected
    assert legend(ax) == ["f", "m", "not known"]


def test_bars_of_the_most_distinctive_rows():
    result = hand_made(I=3, A=np.array([[0.8, 0.8], [0.6, 0.0], [0.0, 0.6]]), labels=Labels(rows=list("abc")))
    assert [text.get_text() for text in tp.plots.loadings(result, 1, n=1).get_yticklabels()] == ["a"]
    ax = tp.plots.loadings(result, 1, n=1, by="distinctive")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b"]
    assert ax.get_ylabel() == "Row (the 1 most distinctive of 3)"


def test_of_very_many_groups_the_smaller_ones_are_others():
    attributes = {"group": [letter for n, letter in enumerate("abcdefghij", start=1) for _ in range(n)]}
    result = hand_made(I=55, labels=Labels(attributes=attributes))
    colours = attribute_colours(result, "group")
    assert list(colours.key) == ["e", "f", "g", "h", "i", "j", "others"]


def test_odd_names_are_shown_as_they_are(result):
    tp.plots.scatter(result, attribute="_$5").figure.draw_without_rendering()


@pytest.mark.parametrize("components", [1, "12", (1,), (1, 2, 1)])
def test_two_components_are_needed(result, components):
    with pytest.raises(ValueError, match="components must be two"):
        tp.plots.scatter(result, components)


def test_unknown_attributes_are_refused(result):
    with pytest.raises(
        ValueError, match="attribute must be one of the rows' attributes: the rows have 'sex'"
    ):
        tp.plots.scatter(result, attribute="size")
    with pytest.raises(ValueError, match="nothing else is known of the rows; got 'size'"):
        tp.plots.loadings(hand_made(), attribute="size")
