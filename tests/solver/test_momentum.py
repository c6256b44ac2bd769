"""How far each start is extrapolated."""

import numpy as np

from tparafac2.solver.momentum import Momentum


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
