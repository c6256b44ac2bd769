"""Strengths over time."""

import numpy as np
from matplotlib.colors import same_color

from tparafac2.plots import strengths
from tparafac2.plots.style import line_look
from tparafac2.result import Result


def a_result(C, **changes):
    C = np.asarray(C, dtype=float)
    K, R = C.shape
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(model="M", A=np.full((4, R), 0.5), B=np.full((K, 9, R), 1 / 3), C=C, **facts, **changes)


def test_lines_are_the_normalised_strengths_in_the_order_of_time():
    ax = strengths(a_result([[1, 4], [2, 5], [3, 6]], times=[7.0, 1.0, 2.0]))
    first, second = ax.lines[:2]
    np.testing.assert_allclose(first.get_xdata(), [1, 2, 7])
    np.testing.assert_allclose(first.get_ydata(), [2, 3, 1])
    np.testing.assert_allclose(second.get_ydata(), [5, 6, 4])


def test_size_of_other_factors_is_in_the_strengths():
    result = a_result([[1], [2]])
    larger = Result(**{**vars(result), "A": 10 * result.A})
    np.testing.assert_allclose(strengths(larger).lines[0].get_ydata(), [10, 20])


def test_components_are_numbered_and_look_different():
    ax = strengths(a_result(np.ones((3, 9))))
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [str(r) for r in range(1, 10)]
    assert legend.get_title().get_text() == "Component"
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines[:9]}
    assert len(looks) == 9
    assert same_color(ax.lines[0].get_color(), line_look(0)["color"])


def test_the_axis_begins_at_zero_unless_strengths_are_negative():
    assert strengths(a_result([[5], [6]])).get_ylim()[0] == 0
    assert strengths(a_result([[-5], [6]])).get_ylim()[0] < -5


def test_times_without_observations_are_hatched_and_their_markers_empty():
    coverage = np.ones((5, 9))
    coverage[1:3] = 0
    ax = strengths(a_result(np.arange(10.0).reshape(5, 2), coverage=coverage))
    (span,) = ax.patches
    assert span.get_hatch()
    assert span.get_path().vertices[:, 0].min() == 0.5 or span.get_x() == 0.5
    assert ax.lines[0].get_markevery() == [0, 3, 4]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[1, 2], [2, 4]])
    assert ax.get_xlabel() == "Time\nhatched: nothing was observed"


def test_where_all_was_observed_nothing_is_hatched():
    ax = strengths(a_result(np.ones((5, 2))))
    assert not ax.patches
    assert not ax.collections
    assert ax.get_xlabel() == "Time"


def test_many_times_have_no_markers():
    assert strengths(a_result(np.ones((500, 1)))).lines[0].get_markersize() == 0
