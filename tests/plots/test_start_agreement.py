"""Whether the starts agree."""

import numpy as np
import pytest

from tparafac2.plots import agreement
from tparafac2.result import Result

STARTS = {
    "objective": np.array([10.0, 10.000000001, 11.0, 9.0, 12.0, np.nan]),
    "fms_to_chosen": np.array([1.0, 0.999, 0.6, 0.3, 0.2, np.nan]),
    "converged": np.array([True, True, True, True, False, False]),
    "feasible": np.array([True, True, True, True, True, True]),
    "degenerate": np.array([False, False, False, True, False, False]),
    "chosen": np.array([True, False, False, False, False, False]),
}


def a_result(starts):
    return Result(
        model="M", A=np.ones((2, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), starts=starts,
        objective=10.0, explained_variance=1.0, status="", converged=True, n_iter=3,
    )  # fmt: skip


def points(ax):
    return {group.get_label(): np.asarray(group.get_offsets()).round(6).tolist() for group in ax.collections}


def test_every_start_is_where_its_objective_and_components_put_it():
    assert points(agreement(a_result(STARTS))) == {
        "sound": [[0.0, 1.0], [0.0, 0.999], [0.1, 0.6]],
        "not converged": [[0.2, 0.2], [pytest.approx(np.nan, nan_ok=True)] * 2],
        "degenerate": [[-0.1, 0.3]],
        "chosen": [[0.0, 1.0]],
    }


def test_the_title_counts_those_that_agree():
    assert agreement(a_result(STARTS)).get_title("left") == "2 of 6 starts reached the chosen objective"


def test_all_points_are_inside():
    ax = agreement(a_result(STARTS))
    left, right = ax.get_xlim()
    assert left < -0.1
    assert right > 0.2
    assert ax.get_ylim()[0] == 0
    ax.figure.draw_without_rendering()


def test_kinds_that_there_are_not_are_not_in_the_legend():
    few = {name: column[:2] for name, column in STARTS.items()}
    texts = [text.get_text() for text in agreement(a_result(few)).get_legend().get_texts()]
    assert texts == ["sound", "chosen"]


def test_a_table_of_the_needed_columns_is_enough():
    few = {name: STARTS[name][:3] for name in ("objective", "fms_to_chosen")}
    assert points(agreement(a_result(few)))["chosen"] == [[0.0, 1.0]]


@pytest.mark.parametrize("starts", [{}, {"objective": np.ones(2)}])
def test_without_starts_there_is_nothing_to_draw(starts):
    with pytest.raises(ValueError, match="no account of its starts"):
        agreement(a_result(starts))
