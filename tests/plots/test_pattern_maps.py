"""Patterns as heat maps: of a component, and of an array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure

from tparafac2.data import Labels
from tparafac2.plots import pattern, pattern_heatmap
from tparafac2.plots.pattern_maps import _round_numbers
from tparafac2.result import Result

K, J = 12, 40


def a_result(B=None, **changes):
    """Forty words in a row, each with its year."""
    times, columns = np.indices((K, J))
    if B is None:
        B = np.exp(-((times - (columns * 7 % J) * K / J) ** 2) / 4)[:, :, np.newaxis]
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(
        **{"model": "M", "A": np.ones((2, 1)), "B": B, "C": np.ones((len(B), 1)), **facts, **changes}
    )


def named(ax):
    return [int(label.get_text()) for label in ax.get_yticklabels()]


def hatching(ax):
    return [item for item in ax.collections if isinstance(item, PolyCollection) and item.get_hatch()]


def test_colours_are_the_weights_of_the_named_columns():
    result = a_result()
    ax = pattern(result)
    mesh = ax.collections[0]
    assert isinstance(mesh, QuadMesh)
    weights = result.normalised().B[:, :, 0]
    np.testing.assert_allclose(mesh.get_array(), weights[:, named(ax)].T)


def test_early_columns_are_above_late_ones():
    ax = pattern(a_result())
    peaks = np.argmax(ax.collections[0].get_array(), axis=1)
    assert (np.diff(peaks) >= 0).all()
    assert ax.yaxis_inverted()


def test_only_the_largest_columns_are_shown_and_this_is_said():
    ax = pattern(a_result(), n_columns=7)
    assert len(named(ax)) == 7
    assert ax.get_ylabel() == "Column (the 7 largest of 40)"
    assert "largest" not in pattern(a_result(), n_columns=40).get_ylabel()


def test_columns_that_do_not_matter_are_left_out():
    B = np.ones((3, 6, 1))
    B[:, 2:] = 1e-3
    assert sorted(named(pattern(a_result(B)))) == [0, 1]


def test_the_component_is_counted_from_one():
    two = Result(
        model="M", A=np.ones((2, 2)), B=np.dstack([np.eye(3), np.eye(3)[::-1]]), C=np.ones((3, 2)),
        objective=0.0, explained_variance=1.0, status="", converged=True, n_iter=1,
    )  # fmt: skip
    assert pattern(two, 2).get_title("left") == "Component 2"
    assert (named(pattern(two, 1)), named(pattern(two, 2))) == ([0, 1, 2], [2, 1, 0])


def test_zero_is_white_and_few_weights_are_beyond_the_colours():
    mesh = pattern(a_result()).collections[0]
    low, high = mesh.get_clim()
    assert low == -high
    assert mesh.cmap(mesh.norm(0.0))[:3] == pytest.approx((1, 1, 1), abs=0.04)
    assert np.mean(mesh.get_array() > high) <= 0.02


def test_a_given_limit_is_kept():
    assert pattern(a_result(), limit=0.25).collections[0].get_clim() == (-0.25, 0.25)


def test_a_new_figure_has_a_colour_bar_and_the_users_axes_have_none():
    assert len(pattern(a_result()).figure.axes) == 2
    ax = Figure().add_subplot()
    assert pattern(a_result(), ax=ax) is ax
    assert len(ax.figure.axes) == 1


def test_small_axes_get_fewer_columns():
    few = named(pattern(a_result(), ax=Figure(figsize=(4, 2)).add_subplot()))
    many = named(pattern(a_result(), ax=Figure(figsize=(4, 4)).add_subplot()))
    assert 1 < len(few) < len(many) <= 25


def test_many_columns_are_drawn_without_names():
    ax = pattern(a_result(np.random.default_rng(0).random((3, 2000, 1))), n_columns=1500)
    assert ax.collections[0].get_array().shape == (1500, 3)
    assert named(ax) == []
    assert ax.figure.get_size_inches()[1] < 15


def test_times_are_at_their_places_and_gaps_are_grey():
    ax = pattern(a_result(np.ones((4, 2, 1)), times=[0.0, 1.0, 2.0, 12.0]))
    mesh = ax.collections[0]
    edges = mesh.get_coordinates()[0, :, 0]
    assert edges.tolist() == [-0.5, 0.5, 1.5, 3.5, 10.5, 12.5]
    assert np.ma.getmaskarray(mesh.get_array())[0].tolist() == [False, False, False, True, False]
    assert ax.get_facecolor()[0] < 0.95


# --- what is not determined ---------------------------------------------------------------------------------


def test_where_all_is_known_nothing_is_hatched():
    ax = pattern(a_result())
    assert hatching(ax) == []
    assert ax.get_xlabel() == "Time"


def test_times_without_strength_are_hatched_from_top_to_bottom():
    C = np.ones((K, 1))
    C[3:5] = 1e-9
    ax = pattern(a_result(C=C), n_columns=10)
    (hatch,) = hatching(ax)
    assert [path.get_extents().extents.tolist() for path in hatch.get_paths()] == [[2.5, 0, 4.5, 10]]
    assert ax.get_xlabel() == "Time\npale, hatched: not determined by the data"


def test_columns_that_were_not_observed_are_hatched_in_their_row():
    coverage = np.ones((K, J))
    coverage[6:, 5] = 0
    ax = pattern(a_result(coverage=coverage), n_columns=40)
    (hatch,) = hatching(ax)
    row = named(ax).index(5)
    assert [path.get_extents().extents.tolist() for path in hatch.get_paths()] == [[5.5, row, 11.5, row + 1]]


def test_what_is_not_determined_does_not_choose_columns():
    B = np.full((3, 3, 1), 0.1)
    B[:, 1] = 0.5
    B[0, 2] = 9.0
    loud = a_result(B, undetermined=np.array([[True], [False], [False]]))
    assert named(pattern(loud, n_columns=1)) == [1]


def test_a_component_that_vanished_is_all_hatched():
    ax = pattern(a_result(np.zeros((3, 4, 1))))
    (hatch,) = hatching(ax)
    assert [path.get_extents().extents.tolist() for path in hatch.get_paths()] == [[-0.5, 0, 2.5, 4]]


# --- slices with columns of their own -----------------------------------------------------------------------


def test_columns_of_their_own_stay_in_order():
    ragged = a_result([np.full((width, 1), 0.5) for width in (2, 4, 3)])
    ax = pattern(ragged)
    assert named(ax) == [0, 1, 2, 3]
    assert np.ma.getmaskarray(ax.collections[0].get_array()).sum(axis=0).tolist() == [2, 0, 1]
    assert hatching(ax) == []


def test_of_many_columns_in_order_some_are_named():
    rng = np.random.default_rng(0)
    ax = pattern(a_result([rng.random((width, 1)) for width in (300, 320)]))
    assert ax.collections[0].get_array().shape == (320, 2)
    assert 2 <= len(named(ax)) <= 12
    assert np.ptp(np.diff(named(ax))) == 0


# --- words, refusals ----------------------------------------------------------------------------------------


def test_the_users_own_words():
    labels = Labels(
        columns=[f"word $\\alpha_{j}$" for j in range(J)],
        time=np.datetime64("2020-01-01") + np.arange(K),
        names={"columns": "word", "time": "day"},
    )
    ax = pattern(a_result(labels=labels), n_columns=3)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("word (the 3 largest of 40)", "day")
    assert all(label.get_text().startswith(r"word \$\alpha_") for label in ax.get_yticklabels())
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"component": 2}, "component must be 1"),
        ({"n_columns": 0}, "n_columns must be a whole number"),
        ({"limit": -1}, "limit must be a finite number above 0"),
    ],
)
def test_bad_input_is_refused_before_anything_is_drawn(arguments, message):
    ax = Figure().add_subplot()
    with pytest.raises(ValueError, match=message):
        pattern(a_result(), **arguments, ax=ax)
    assert not ax.has_data()


PATTERN = np.arange(12.0).reshape(4, 3) - 3


def test_time_runs_across_and_columns_down():
    ax = pattern_heatmap(PATTERN)
    image = ax.images[0]
    np.testing.assert_array_equal(image.get_array(), PATTERN.T)
    assert ax.get_xlim() == (-0.5, 3.5)
    assert ax.get_ylim() == (2.5, -0.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Time", "Column")


def test_zero_is_white_and_the_largest_value_sets_the_limit():
    image = pattern_heatmap(PATTERN).images[0]
    assert image.get_clim() == (-8, 8)
    assert image.cmap(image.norm(0.0))[:3] == pytest.approx((1, 1, 1), abs=0.04)


def test_a_given_limit_is_kept_for_an_array():
    assert pattern_heatmap(PATTERN, limit=2).images[0].get_clim() == (-2, 2)


@pytest.mark.parametrize("empty", [np.zeros((2, 3)), np.full((2, 3), np.nan)], ids=["zeros", "unknown"])
def test_a_pattern_of_nothing_is_drawn(empty):
    assert pattern_heatmap(empty).images[0].get_clim() == (-1, 1)


def test_unknown_values_do_not_count():
    pattern = PATTERN.copy()
    pattern[3, 2] = np.nan
    assert pattern_heatmap(pattern).images[0].get_clim() == (-7, 7)


def test_given_axes_are_used_for_an_array():
    ax = Figure().add_subplot()
    assert pattern_heatmap(PATTERN, ax) is ax


def test_labels_are_shown_where_they_belong():
    ax = pattern_heatmap(PATTERN, times=[2001, 2002, 2003, 2004], columns=["ash", "elm", "oak"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2001", "2002", "2003", "2004"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ash", "elm", "oak"]
    assert ax.get_yticks().tolist() == [0, 1, 2]


def test_without_labels_counting_begins_at_one():
    ax = pattern_heatmap(np.ones((20, 100)))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "10", "15", "20"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "20", "40", "60", "80", "100"]
    assert ax.get_xticks().tolist() == [0, 4, 9, 14, 19]


@given(st.integers(1, 10**7))
def test_ticks_are_few_and_inside(size):
    numbers = _round_numbers(size)
    assert 1 <= len(numbers) <= 6
    assert numbers[0] == 1
    assert size / 2 <= numbers[-1] <= size
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": np.ones((2, 3, 1))}, r"one component, got shape \(2, 3, 1\).*B\[:, :, 0\]"),
        ({"pattern": np.ones((0, 3))}, r"got shape \(0, 3\)"),
        ({"pattern": [[1.0, np.inf]]}, "infinite"),
        ({"limit": 0}, "limit must be a finite number above 0, got 0"),
        ({"limit": np.nan}, "limit must be"),
        ({"times": [1, 2]}, "each of the pattern's 4 times, got 2"),
        ({"columns": ["a"]}, "each of the pattern's 3 columns, got 1"),
    ],
)
def test_bad_arrays_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pattern_heatmap(**{"pattern": PATTERN, **arguments})


def test_refused_input_leaves_the_axes_alone():
    ax = Figure().add_subplot()
    with pytest.raises(ValueError, match="limit"):
        pattern_heatmap(PATTERN, ax, limit=-1)
    assert not ax.has_data()
