"""How far each start is extrapolated, when it may stop, and when its penalty weight rises."""

from itertools import repeat

import numpy as np
import pytest

from tparafac2.solver import Settings
from tparafac2.solver.rules import Momentum, StopRule, WeightRule

ONE = np.array([0])
ROUNDING = 5e-15


def steps(rule, objectives, gap=0.0):
    """Decisions about one start, iteration by iteration."""
    return [bool(rule.step(ONE, np.array([value]), np.array([gap]))[0]) for value in objectives]


class TestStopRule:
    @pytest.mark.parametrize("window", [1, 4, 10])
    def test_needs_a_full_window(self, window):
        found = steps(StopRule(1, Settings(window=window), ROUNDING), [1.0] * (window + 3))
        assert found == [False] * window + [True] * 3

    def test_compares_with_the_objective_a_window_ago(self):
        """Each step is below tol, all steps of the window together are not."""
        slow = 1.0 - 0.5e-3 * np.arange(30)
        assert not any(steps(StopRule(1, Settings(window=10, tol=1e-3), ROUNDING), slow))
        assert all(steps(StopRule(1, Settings(window=10, tol=1e-2), ROUNDING), slow)[10:])

    def test_a_bounce_within_the_window_counts_as_change(self):
        objectives = [1.0] * 5 + [1.1] + [1.0] * 6
        found = steps(StopRule(1, Settings(window=4, tol=1e-3), ROUNDING), objectives)
        assert found == [False] * 4 + [True] + 5 * [False] + [True] * 2

    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
    def test_is_relative(self, scale):
        objectives = scale * (1.0 + 1e-9 * np.arange(12))
        assert steps(StopRule(1, Settings(window=10, tol=1e-7), ROUNDING), objectives)[-1]
        assert not steps(StopRule(1, Settings(window=10, tol=1e-9), ROUNDING), objectives)[-1]

    def test_an_exact_fit_changes_by_rounding_only(self):
        noise = np.random.default_rng(0).uniform(0.0, 4e-15, 12)
        assert steps(StopRule(1, Settings(window=10, tol=1e-8), ROUNDING), noise)[-1]
        assert not steps(StopRule(1, Settings(window=10, tol=1e-8), ROUNDING), 10 * noise)[-1]

    def test_waits_for_feasibility(self):
        rule = StopRule(1, Settings(window=2, feasibility_tol=1e-5), ROUNDING)
        assert steps(rule, [1.0] * 5, gap=1e-4) == [False] * 5
        assert steps(rule, [1.0], gap=0.9e-5) == [True]

    def test_an_objective_that_is_not_a_number_is_no_reason_to_stop(self):
        assert not any(
            steps(StopRule(1, Settings(window=2), ROUNDING), [1.0, np.nan, np.nan, np.nan, np.nan])
        )

    def test_a_gap_that_is_not_a_number_is_not_small(self):
        assert not any(steps(StopRule(1, Settings(window=2), ROUNDING), [1.0] * 5, gap=np.nan))

    def test_starts_have_windows_of_their_own(self):
        rule = StopRule(3, Settings(window=2), ROUNDING)
        both = np.array([0, 2])
        for value in (1.0, 1.0):
            assert not rule.step(both, np.array([value, value]), np.zeros(2)).any()
        done = rule.step(np.arange(3), np.array([1.0, 1.0, 2.0]), np.zeros(3))
        assert done.tolist() == [True, False, False]


class TestWeightRule:
    PATIENCE = 30

    def raised(self, rule, gaps):
        """Iterations (from 0) after which the weight of start 0 was doubled."""
        return [k for k, gap in enumerate(gaps) if rule.step(ONE, np.array([gap])).size]

    def test_a_stalled_gap_doubles_the_weight_and_again(self):
        rule = WeightRule(1, Settings(weight=2.0))
        found = self.raised(rule, repeat(0.1, 1 + 2 * self.PATIENCE))
        assert found == [self.PATIENCE, 2 * self.PATIENCE]
        assert rule.weight.tolist() == [8.0]

    def test_a_gap_that_falls_is_left_alone(self):
        rule = WeightRule(1, Settings())
        assert self.raised(rule, 0.1 * 0.99 ** np.arange(300)) == []

    def test_a_gap_that_creeps_counts_as_stalled(self):
        rule = WeightRule(1, Settings())
        assert self.raised(rule, 0.1 * 0.999 ** np.arange(40)) == [self.PATIENCE]

    def test_a_gap_well_below_the_tolerance_is_never_stalled(self):
        assert self.raised(WeightRule(1, Settings(feasibility_tol=1e-5)), repeat(0.9e-6, 100)) == []
        assert self.raised(WeightRule(1, Settings(feasibility_tol=1e-5)), repeat(1.1e-6, 100)) != []

    def test_can_be_switched_off(self):
        rule = WeightRule(1, Settings(adapt_weight=False, weight=1.0))
        assert self.raised(rule, repeat(0.1, 100)) == []
        assert rule.weight.tolist() == [1.0]

    def test_starts_are_judged_one_by_one(self):
        rule = WeightRule(3, Settings(weight=2.0))
        chosen = np.array([0, 2])
        for k in range(self.PATIENCE + 1):
            raised = rule.step(chosen, np.array([0.1 * 0.5**k, 0.1]))
        assert raised.tolist() == [2]
        assert rule.weight.tolist() == [2.0, 2.0, 4.0]


def coefficients(momentum, *objectives, active=(0,)):
    starts = np.array(active)
    return [momentum.step(starts, np.array(values, ndmin=1))[0] for values in objectives]


def test_coefficients_grow_towards_one_while_the_objective_falls():
    found = coefficients(Momentum(1, enabled=True), *np.geomspace(1.0, 1e-3, 200))
    assert found[0] == 0.0
    assert (np.diff(found) > 0).all()
    assert 0.98 < found[-1] < 1.0


def test_a_rise_restarts_from_zero():
    fresh = coefficients(Momentum(1, enabled=True), 9.0, 8.0, 7.0, 6.0)
    momentum = Momentum(1, enabled=True)
    coefficients(momentum, 5.0, 4.0, 3.0, 2.0)
    assert coefficients(momentum, 2.5) == [0.0]
    assert coefficients(momentum, 2.4, 2.3, 2.2, 2.1) == fresh


def test_an_equal_objective_is_no_rise():
    momentum = Momentum(1, enabled=True)
    coefficients(momentum, 5.0, 4.0)
    assert coefficients(momentum, 4.0)[0] > 0


def test_restart_by_hand():
    momentum = Momentum(2, enabled=True)
    both = np.arange(2)
    for value in (3.0, 2.0, 1.0):
        momentum.step(both, np.array([value, value]))
    momentum.restart(0)
    restarted, going_on = momentum.step(both, np.array([0.5, 0.5]))
    assert restarted == 0.0
    assert going_on > 0.4


def test_starts_do_not_know_each_other():
    momentum = Momentum(3, enabled=True)
    momentum.step(np.array([0, 1, 2]), np.array([3.0, 3.0, 3.0]))
    momentum.step(np.array([0, 2]), np.array([2.0, 4.0]))
    found = momentum.step(np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0]))
    alone = Momentum(1, enabled=True)
    np.testing.assert_array_equal(found[0], coefficients(alone, 3.0, 2.0, 1.0)[-1])
    assert found[0] > found[1] > 0.0 == found[2]
    np.testing.assert_array_equal(momentum.last, [1.0, 2.0, 3.0])


def test_switched_off_it_never_extrapolates_but_remembers_objectives():
    momentum = Momentum(1, enabled=False)
    assert coefficients(momentum, 3.0, 2.0, 1.0, 0.5) == [0.0] * 4
    assert momentum.last[0] == 0.5
