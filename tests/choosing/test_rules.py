"""What follows from scores, without any data."""

import math

import numpy as np
import pytest

from tparafac2.choosing import rules
from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.rules import Similarity
from tparafac2.choosing.similarity import similarity


def at(smoothness, rigidity=math.inf, **more):
    return Candidate(2, smoothness, rigidity, **more)


def test_the_smoothest_within_the_tie_band_is_taken():
    errors = {at(1e-3): 1.0, at(1e-2): 1.004, at(1e-1): 1.006}
    assert rules.smoothest(errors) == at(1e-2)


def test_sudden_changes_have_no_band():
    errors = {at(1e-3, changes="sudden"): 1.0, at(1e-2, changes="sudden"): 1.004}
    assert rules.smoothest(errors).smoothness == 1e-3


@pytest.mark.parametrize(("soft", "relaxed"), [(0.999, True), (0.9999, False), (1.1, False)])
def test_the_constraint_is_relaxed_where_that_is_better(soft, relaxed):
    assert rules.settle({at(1e-3): 1.0, at(1e-3, 1.0): soft}).is_relaxed == relaxed


def test_a_gain_has_to_exceed_the_null():
    errors = {1: 1.0, 2: 0.9, 3: 0.85, 4: 0.86}
    assert rules.climb(errors, lambda fewer, more: 0.0) == [1, 2, 3]
    assert rules.climb(errors, lambda fewer, more: 0.08) == [1, 2]
    assert rules.climb(errors, lambda fewer, more: 0.12) == [1, 3]


def test_two_components_that_only_help_together_are_found():
    """The second gains no more than the null, which is large where the fit is poor; the third does."""
    null = {(1, 2): 0.3, (1, 3): 0.6, (2, 3): 0.01}
    assert rules.climb({1: 1.0, 2: 0.8, 3: 0.5}, lambda *pair: null[pair]) == [1, 3]


def test_the_upper_range_of_a_null():
    assert rules.upper_range([0.0, 0.1]) == pytest.approx(0.05 + 2 * np.std([0.0, 0.1], ddof=1))
    assert rules.upper_range([-0.3, -0.2]) == 0.0


def test_verdicts_look_at_what_a_component_has_alone():
    found = Similarity(np.array([0.97, 0.97, 0.7, 0.2]), np.array([0.9, 0.2, 0.6, 0.9]))
    assert rules.verdicts(found) == ("replicable", "not there", "there", "not there")
    assert rules.verdicts(found, 0.6) == ("replicable", "not there", "replicable", "not there")


def test_what_is_common_to_all_components_is_no_similarity():
    rng = np.random.default_rng(0)
    shared = 5 * rng.random((400, 1))
    model, *parts = (np.hstack([shared, shared + rng.normal(size=(400, 1))]) for _ in range(3))
    unit = [one / np.linalg.norm(one, axis=0) for one in (model, *parts)]
    found = similarity(unit[1:], unit[0])
    assert found.whole[1] > 0.85
    assert found.alone[1] < 0.3


def test_components_are_matched_in_any_order_and_sign():
    model = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 3)))[0]
    found = similarity([model[:, [2, 0, 1]], -model], model)
    assert found.whole == pytest.approx(1.0)
    assert found.alone == pytest.approx(1.0)


def test_on_how_many_rows_a_gain_rests():
    assert rules.rows_behind(np.r_[np.ones(3), np.zeros(100)]) == pytest.approx(3)
    assert rules.rows_behind(-np.ones(5)) == 0
