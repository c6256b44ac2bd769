"""How iterations went, and whether the starts agree."""

import numpy as np
import pytest

from tparafac2.plots import agreement, convergence
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


STARTS = {
    "objective": np.array([10.0, 10.000000001, 11.0, 9.0, 12.0, np.nan]),
    "fms_to_chosen": np.array([1.0, 0.999, 0.6, 0.3, 0.2, np.nan]),
    "converged": np.array([True, True, True, True, False, False]),
    "feasible": np.array([True, True, True, True, True, True]),
    "degenerate": np.array([False, False, False, True, False, False]),
    "chosen": np.array([True, False, False, False, False, False]),
}


def of_starts(starts):
    return Result(
        model="M", A=np.ones((2, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), starts=starts,
        objective=10.0, explained_variance=1.0, status="", converged=True, n_iter=3,
    )  # fmt: skip


def points(ax):
    return {group.get_label(): np.asarray(group.get_offsets()).round(6).tolist() for group in ax.collections}


def test_every_start_is_where_its_objective_and_components_put_it():
    assert points(agreement(of_starts(STARTS))) == {
        "sound": [[0.0, 1.0], [0.0, 0.999], [0.1, 0.6]],
        "not converged": [[0.2, 0.2], [pytest.approx(np.nan, nan_ok=True)] * 2],
        "degenerate": [[-0.1, 0.3]],
        "chosen": [[0.0, 1.0]],
    }


def test_the_title_counts_those_that_agree():
    assert agreement(of_starts(STARTS)).get_title("left") == "1 of 5 other starts found these components"
    alone = {name: column[:1] for name, column in STARTS.items()}
    assert " of " not in agreement(of_starts(alone)).get_title("left")


def test_all_points_are_inside():
    ax = agreement(of_starts(STARTS))
    left, right = ax.get_xlim()
    assert left < -0.1
    assert right > 0.2
    assert ax.get_ylim()[0] == 0
    ax.figure.draw_without_rendering()


def test_kinds_that_there_are_not_are_not_in_the_legend():
    few = {name: column[:2] for name, column in STARTS.items()}
    texts = [text.get_text() for text in agreement(of_starts(few)).get_legend().get_texts()]
    assert texts == ["sound", "chosen"]


def test_a_table_of_the_needed_columns_is_enough():
    few = {name: STARTS[name][:3] for name in ("objective", "fms_to_chosen")}
    assert points(agreement(of_starts(few)))["chosen"] == [[0.0, 1.0]]


@pytest.mark.parametrize("starts", [{}, {"objective": np.ones(2)}])
def test_without_starts_there_is_nothing_to_draw(starts):
    with pytest.raises(ValueError, match="no account of its starts"):
        agreement(of_starts(starts))
