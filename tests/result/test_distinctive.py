"""What sets components apart: the measure, its table, and where it chooses columns."""

import numpy as np
import pytest
from hand_made import hand_made
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.result import distinctiveness, leaders, of_columns, of_rows

WEIGHTS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-1, 1))


@given(WEIGHTS)
def test_between_zero_and_the_weight(weights):
    scores = distinctiveness(weights)
    assert (scores >= 0).all()
    assert (scores <= np.maximum(weights, 0) + 1e-12).all()


@given(WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_of_components_and_the_signs_of_others_do_not_matter(weights, random):
    order = list(range(weights.shape[1]))
    random.shuffle(order)
    np.testing.assert_allclose(distinctiveness(weights[:, order]), distinctiveness(weights)[:, order])
    turned = weights.copy()
    turned[:, 1:] *= -1
    np.testing.assert_allclose(distinctiveness(turned)[:, 0], distinctiveness(weights)[:, 0])


@given(WEIGHTS)
def test_more_weight_elsewhere_makes_less_distinctive(weights):
    more = np.concatenate([weights, np.ones((len(weights), 1))], axis=1)
    assert (distinctiveness(more)[:, :-1] <= distinctiveness(weights) + 1e-12).all()


def test_a_single_component_is_its_weights():
    weights = np.array([[0.6], [-0.8], [0.0]])
    np.testing.assert_allclose(distinctiveness(weights), [[0.6], [0.0], [0.0]])


def test_common_columns_and_rare_noise_both_lose():
    """Column 0 is large in both components, 1 in the first only, 2 hardly anywhere."""
    weights = np.array([[0.8, 0.8], [0.55, 0.05], [0.01, 0.0], [0.0, 0.6]])
    assert leaders(distinctiveness(weights)[:, 0], 4).tolist() == [1, 0, 2]
    assert leaders(distinctiveness(weights)[:, 1], 1).tolist() == [3]


def test_what_the_data_do_not_determine_neither_counts_nor_takes():
    B = np.array([[[0.6, 0.6], [0.8, 0.8]]] * 2)
    undetermined = np.array([[False, True], [False, False]])
    coverage = np.array([[1.0, 1.0], [0.0, 1.0]])
    result = hand_made(K=2, J=2, B=B, C=np.ones((2, 2)), undetermined=undetermined, coverage=coverage)
    scores = of_columns(result)
    np.testing.assert_allclose(scores[0], [[0.6, 0.0], [0.8, 0.0]])
    np.testing.assert_allclose(scores[1], [[0.0, 0.0], [0.4, 0.4]])


def test_numbers_that_are_not_finite_are_no_distinction():
    B = np.ones((2, 3, 2))
    B[0, 0, 0] = np.nan
    assert np.isfinite(of_columns(hand_made(K=2, J=3, B=B, C=np.ones((2, 2))))).all()


def test_slices_with_columns_of_their_own():
    result = hand_made(K=2, B=[np.eye(2), np.eye(3)[:, :2]], C=np.ones((2, 2)))
    np.testing.assert_allclose(of_columns(result)[:, :, 0], [[1, 0, 0], [1, 0, 0]])
    assert len(result.distinctive()) == 4


LABELS = Labels(rows=["Ann", "Bo"], columns=list("wxyz"), time=[2001, 2003, 2005], names={"time": "year"})


def test_the_table_has_the_users_words_and_the_right_order():
    result = hand_made(labels=LABELS)
    table = result.distinctive(2, 2003, n=3)
    assert list(table.columns) == ["component", "year", "rank", "columns", "weight", "distinctiveness"]
    scores = of_columns(result)[1, :, 1]
    assert table["columns"].tolist() == [LABELS.columns[j] for j in np.argsort(-scores)[:3]]
    np.testing.assert_allclose(table["distinctiveness"], np.sort(scores)[::-1][:3])
    assert table["rank"].tolist() == [1, 2, 3]
    assert (table["year"] == 2003).all()
    every = result.distinctive(n=4)
    assert len(every) == 2 * 3 * 4
    assert result.rename({2: "Ice"}).distinctive("Ice", 2003, n=3).equals(table)


def test_rows_of_the_table():
    result = hand_made(labels=LABELS)
    table = result.distinctive(1, of="rows")
    assert list(table.columns) == ["component", "rank", "rows", "loading", "distinctiveness"]
    np.testing.assert_allclose(table["distinctiveness"].max(), of_rows(result)[:, 0].max())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n": 0}, "n must be a whole number, at least 1; got 0"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"component": 3}, "component must be from 1 to 2"),
        ({"component": "Ice"}, "component must be from 1 to 2"),
        ({"time": 2002}, "no slice at the time 2002; there are 2001, 2003, 2005, the last at 2005"),
        ({"time": "never"}, "no slice at the time never"),
        ({"of": "times"}, "of must be 'columns' or 'rows'; got 'times'"),
        ({"of": "rows", "time": 2001}, "time is for columns"),
    ],
)
def test_bad_requests_are_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        hand_made(labels=LABELS).distinctive(**asked)


def common_and_own():
    """A result with a row and a column that are the largest of both components; the others are of one."""
    A = np.array([[0.6, 0.0], [0.8, 0.8], [0.0, 0.6]])
    B = np.array([[[0.8, 0.8], [0.6, 0.0], [0.0, 0.6]]] * 2)
    labels = Labels(rows=["Ann", "Bo", "Cy"], columns=["common", "one", "two"])
    return hand_made(K=2, J=3, A=A, B=B, C=np.ones((2, 2)), labels=labels)


def test_the_summary_can_name_what_is_distinctive():
    result = common_and_own()
    assert "rows: Bo 0.80, Ann 0.60\n" in result.summary()
    assert "rows: Ann 0.60, Bo 0.80\n" in result.summary(by="distinctive")
    assert "first: common 0.80, one 0.60" in result.summary()
    assert "first: one 0.60, common 0.80" in result.summary(by="distinctive")
    with pytest.raises(ValueError, match="by must be 'weight' or 'distinctive'; got 'size'"):
        result.summary(by="size")


@pytest.mark.parametrize("picture", ["pattern", "snapshots"])
def test_pictures_can_show_what_is_distinctive(picture):
    draw = getattr(tp.plots, picture)
    for by, first, said in (("weight", "common", "largest"), ("distinctive", "one", "most distinctive")):
        ax = draw(common_and_own(), 1, n_columns=1, by=by)
        assert [text.get_text() for text in ax.get_yticklabels()] == [first]
        assert ax.get_ylabel() == f"Column (the 1 {said} of 3)"
    with pytest.raises(ValueError, match="by must be"):
        draw(common_and_own(), 1, by="size")


def test_the_overview_can_show_what_is_distinctive():
    figure = tp.plots.overview(common_and_own(), n_columns=1, by="distinctive")
    shown = [[text.get_text() for text in ax.get_yticklabels()] for ax in figure.axes[1:3]]
    assert shown == [["one"], ["two"]]


def test_the_table_of_a_folder_has_names():
    table = tp.io.tidy_tables(common_and_own().rename({2: "Ice"}))["distinctive"]
    assert table.columns[:2].tolist() == ["component", "name"]
    assert set(zip(table["component"], table["name"])) == {(1, ""), (2, "Ice")}
