"""Objective and gaps by iteration."""

import numpy as np
import pytest

from tparafac2.plots import convergence
from tparafac2.result import Result


def a_result(objective=(8.0, 4.0, 2.0), **changes):
    trace = {
        "iteration": np.arange(1, len(objective) + 1),
        "objective": np.array(objective),
        "gap_a": np.zeros(len(objective)),
        "gap_b": np.full(len(objective), 1e-3),
    }
    base = {"model": "M", "A": np.ones((2, 1)), "B": np.ones((2, 3, 1)), "C": np.ones((2, 1)), "trace": trace}
    facts = {"objective": 2.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 3}
    return Result(**{**base, **facts, **changes})


def test_the_objective_is_shown_by_what_it_is_above_its_lowest():
    line = convergence(a_result()).lines[0]
    assert line.get_xdata().tolist() == [1, 2, 3]
    np.testing.assert_allclose(line.get_ydata(), [3.0, 1.0, np.nan])


def test_gaps_are_there_unless_they_are_zero():
    ax = convergence(a_result())
    assert [line.get_label() for line in ax.lines] == ["objective above its lowest", "gap of the patterns"]
    assert ax.lines[1].get_ydata().tolist() == [1e-3] * 3
    assert ax.get_yscale() == "log"


def test_the_largest_gap_allowed_is_drawn_where_it_is_known():
    ax = convergence(a_result(parameters={"feasibility_tol": 1e-5}))
    assert ax.lines[-1].get_label() == "largest gap allowed"
    assert set(ax.lines[-1].get_ydata()) == {1e-5}


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({}, "Converged after 3 iterations"),
        ({"converged": False, "n_iter": 2000}, "Not converged after 2,000 iterations"),
        ({"n_iter": 1}, "Converged after 1 iteration"),
    ],
)
def test_the_title_says_how_it_ended(changes, title):
    assert convergence(a_result(**changes)).get_title("left") == title


@pytest.mark.parametrize("objective", [(2.0,), (2.0, 2.0), (0.0, 0.0), (np.nan, np.nan)])
def test_an_objective_that_stays_says_so(objective):
    trace = {"objective": np.array(objective)}
    ax = convergence(a_result(trace=trace))
    assert ax.texts[0].get_text() == "The objective did not change."
    ax.figure.draw_without_rendering()


def test_infinities_are_left_out():
    ax = convergence(a_result((np.inf, 4.0, 2.0)))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [np.nan, 1.0, np.nan])


def test_without_a_trace_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no record of its iterations"):
        convergence(a_result(trace={}))
