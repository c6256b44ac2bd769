import numpy as np

from tparafac2.data import Labels
from tparafac2.report.components import component_accounts
from tparafac2.report.display import look
from tparafac2.result import Result

NAMES = ["ant", "bee", "cat", "dog"]


def make(**changes):
    B = np.zeros((3, 4, 2))
    B[0, :, 0] = [3.0, 2.0, 1.0, 0.5]
    B[1, :, 0] = [0.0, 0.0, 1.0, 0.0]
    B[2, :, 0] = [0.0, -4.0, 0.0, 1.0]
    B[:, 3, 1] = 1.0
    plain = {
        "model": "TParafac2",
        "A": np.ones((2, 2)),
        "B": B / np.maximum(np.linalg.norm(B, axis=1, keepdims=True), 1e-300),
        "C": np.array([[1.0, 2.0], [6.0, 2.0], [3.0, 2.0]]),
        "labels": Labels(columns=NAMES, time=[1990, 1995, 2000]),
        "objective": 1.0,
        "explained_variance": 0.5,
        "status": "Converged.",
        "converged": True,
        "n_iter": 1,
    }
    return Result(**(plain | changes))


def accounts(**changes):
    result = make(**changes)
    return component_accounts(result, look(result))


def test_a_component_is_told_by_its_times_and_leading_columns():
    first, second = accounts()
    assert first.text == (
        "Strongest at 1995, weakest at 1990. At 1990 it is ant, bee, cat; at 2000 it is bee (negative), dog."
    )
    assert (first.state, second.state) == ("", "static")
    assert second.text == "Equally strong at all times. It is dog throughout."
    np.testing.assert_allclose(first.share, 46**0.5 / (46**0.5 + 12**0.5))


def test_what_was_not_observed_leads_nothing():
    coverage = np.ones((3, 4))
    coverage[0, 0] = 0.0
    assert "At 1990 it is bee, cat, dog;" in accounts(coverage=coverage)[0].text


def test_the_pattern_is_told_where_it_is_determined():
    undetermined = np.array([[True, False], [False, False], [False, False]])
    text = accounts(undetermined=undetermined)[0].text
    assert "At 1995 it is cat; at 2000" in text
    assert text.endswith("Its pattern is not determined at 1 of 3 times.")
    nowhere = accounts(undetermined=np.ones((3, 2), dtype=bool))[0].text
    assert nowhere.endswith("The data do not determine its pattern at any time.")


def test_a_vanished_component_has_nothing_to_tell():
    C = np.array([[1.0, 0.0]] * 3)
    assert accounts(C=C)[1] == (0.0, "vanished", "Nothing is left of it.")


def test_numbers_that_are_not_finite_are_said_to_be():
    assert "broke down" in accounts(C=np.full((3, 2), np.inf))[0].text


def test_long_labels_do_not_flood_the_sentence():
    labels = Labels(columns=["x" * 190 for _ in NAMES], time=["t" * 190 for _ in range(3)])
    assert len(accounts(labels=labels)[0].text) < 500
