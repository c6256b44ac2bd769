"""One pattern as a heat map."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from tparafac2.plots import pattern_heatmap
from tparafac2.plots.patterns import _round_numbers

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


def test_a_given_limit_is_kept():
    assert pattern_heatmap(PATTERN, limit=2).images[0].get_clim() == (-2, 2)


@pytest.mark.parametrize("empty", [np.zeros((2, 3)), np.full((2, 3), np.nan)], ids=["zeros", "unknown"])
def test_a_pattern_of_nothing_is_drawn(empty):
    assert pattern_heatmap(empty).images[0].get_clim() == (-1, 1)


def test_unknown_values_do_not_count():
    pattern = PATTERN.copy()
    pattern[3, 2] = np.nan
    assert pattern_heatmap(pattern).images[0].get_clim() == (-7, 7)


def test_given_axes_are_used():
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
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pattern_heatmap(**{"pattern": PATTERN, **arguments})


def test_refused_input_leaves_the_axes_alone():
    ax = Figure().add_subplot()
    with pytest.raises(ValueError, match="limit"):
        pattern_heatmap(PATTERN, ax, limit=-1)
    assert not ax.has_data()


@pytest.mark.slow
def test_neither_import_nor_picture_needs_pyplot():
    code = (
        "import sys, tparafac2.plots as plots\n"
        "light = 'matplotlib' not in sys.modules\n"
        "plots.pattern_heatmap([[1.0, 2.0]]).figure.draw_without_rendering()\n"
        "print(light, 'matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]
