"""Mean courses of groups of rows."""

import numpy as np
import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.data import Labels

ATTRIBUTES = {
    "sex": ["f", "m", "f", None, "m", "f"],
    "age": [1, 2, np.nan, 4, 5, 6],
    "_$5": ["x", "y"] * 3,
    "nothing": [None] * 6,
}
FEMALE = [0, 2, 5]


@pytest.fixture
def result():
    rng = np.random.default_rng(0)
    labels = Labels(rows=list("uvwxyz"), attributes=ATTRIBUTES)
    return hand_made(I=6, A=rng.normal(size=(6, 2)), labels=labels)


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_are_means_of_the_fit_with_two_standard_errors(result):
    ax = tp.plots.group_courses(result, "sex", column=1)
    rows = np.stack([np.asarray(piece)[FEMALE, 1] for piece in result.reconstruct()])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), rows.mean(axis=1), rtol=1e-9)
    (band,) = ax.collections[0].get_paths()
    error = 2 * rows.std(axis=1, ddof=1) / np.sqrt(3)
    ends = rows.mean(axis=1) + error
    assert np.isclose(band.vertices[:, 1][:, np.newaxis], ends).any(axis=0).all()
    assert names(ax) == ["f (3)", "m (2)"]


def test_a_component_has_its_part(result):
    parts = [tp.plots.group_courses(result, "sex", 1, r).lines[0].get_ydata() for r in (1, 2)]
    whole = tp.plots.group_courses(result, "sex", 1).lines[0].get_ydata()
    np.testing.assert_allclose(sum(parts), whole)
    assert tp.plots.group_courses(result, "sex", 1, 2).get_ylabel().endswith("Component 2")


def test_the_column_is_that_in_which_groups_differ_most(result):
    chosen = tp.plots.group_courses(result, "sex")
    gaps = {}
    for column in range(result.shape[2]):
        one = tp.plots.group_courses(result, "sex", column)
        gaps[one.get_ylabel()] = np.square(np.subtract(*(line.get_ydata() for line in one.lines[:2]))).sum()
    assert chosen.get_ylabel() == max(gaps, key=gaps.get)


def test_numbers_are_cut_into_quarters(result):
    expected = ["from 1 to 2 (2)", "above 2 to 4 (1)", "above 4 to 5 (1)", "above 5 to 6 (1)"]
    assert names(tp.plots.group_courses(result, "age", 0)) == expected


def test_names_are_literal_and_what_cannot_be_drawn_is_refused(result):
    tp.plots.group_courses(result, "_$5", 0).figure.draw_without_rendering()
    with pytest.raises(ValueError, match="attribute must be one of the rows' attributes"):
        tp.plots.group_courses(result, "weight")
    with pytest.raises(ValueError, match="nothing is known of any row"):
        tp.plots.group_courses(result, "nothing")
    with pytest.raises(ValueError, match="there is no column"):
        tp.plots.group_courses(result, "sex", "nobody")
