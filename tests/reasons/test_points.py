"""What is drawn of a choice: which points there are, and which panels have nothing to compare."""

import math

import pytest
from chosen import a_choice, interrupted

from tparafac2.reasons import panels


def test_settings_are_those_of_the_chosen_rank_and_bounds_and_the_hard_ones_come_first():
    found = panels(a_choice()).settings
    assert [(one.rigidity, one.smoothness) for one in found] == [
        (math.inf, 0.001), (math.inf, 0.01), (math.inf, 0.1), (1.0, 0.01),
    ]  # fmt: skip
    assert [one.chosen for one in found] == [False, True, False, False]


def test_errors_are_above_the_least_that_is_as_good_and_of_the_kind_of_the_chosen_one():
    found = panels(a_choice())
    assert [one.excess for one in found.settings] == pytest.approx([0.0, 0.002, 0.5, -0.001])
    assert found.band == 0.005


def test_the_band_reaches_as_far_as_what_is_tied():
    record = a_choice()
    record["tried"]["choosing_error"][1] *= 1.01
    assert panels(record).band == pytest.approx(1.002 * 1.01 - 1)


def test_ranks_have_the_error_and_z_of_their_best_setting():
    found = panels(a_choice()).ranks
    assert [(one.rank, one.error, one.z, one.chosen) for one in found] == [
        (1, 0.4, None, False),
        (2, 0.2 * 1.002, 9.0, True),
        (3, 0.21, -1.0, False),
    ]


def test_components_are_those_of_the_best_setting_of_each_rank_only():
    found = panels(a_choice()).components
    assert [(one.rank, one.component) for one in found] == [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    assert found[1].replicability == 0.97  # of CP, which is there as well, it is another


def test_models_are_measured_by_the_chosen_one():
    found = panels(a_choice()).models
    assert [one.model for one in found] == ["flexible tPARAFAC2", "tPARAFAC2", "CP"]
    assert [one.excess for one in found] == pytest.approx([0.999 / 1.002 - 1, 0.0, 0.6 / 0.2004 - 1])
    assert [one.there for one in found] == [None, 2, 2]


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("settings", {"tried": "smoothness"}),
        ("ranks", {"ranks": "rank"}),
        ("models", {"compared": "model"}),
    ],
)
def test_one_of_a_kind_is_nothing_to_compare(name, without):
    record = a_choice()
    for table in without:
        record[table] = {key: column[1:2] for key, column in record[table].items()}
    assert getattr(panels(record), name) == ()


def test_what_an_interrupted_choice_did_not_measure_is_not_there():
    found = panels(interrupted())
    assert found.components == ()
    assert [one.agreement for one in found.ranks] == [None] * 3
    assert len(found.settings) == 4


def test_errors_that_are_not_finite_are_left_out():
    record = a_choice()
    record["tried"]["choosing_error"][0] = math.nan
    record["ranks"]["hidden_error"][2] = math.inf
    assert len(panels(record).settings) == 3
    assert [one.rank for one in panels(record).ranks] == [1, 2]
