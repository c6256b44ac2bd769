"""The choice among runs."""

import numpy as np
import pytest

from tparafac2.result import faults
from tparafac2.solver import Run, Settings, Status
from tparafac2.solver.run import Trace
from tparafac2.starts import choose

K, I, J, R = 4, 6, 5, 2


def make_run(objective, status=Status.CONVERGED, *, seed=0, gap=0.0, degenerate=False, n_iter=3, vanished=()):
    rng = np.random.default_rng(seed)
    A, B, C = rng.random((I, R)), rng.random((K, J, R)), rng.random((K, R))
    if degenerate:  # two components that cancel each other
        A[:, 1] = -A[:, 0]
        B[:, :, 1], C[:, 1] = B[:, :, 0], C[:, 0]
    rows = np.zeros((n_iter, 6))
    rows[:, 1] = 0.5 * np.arange(1, n_iter + 1)
    return Run(A, B, C, status, Trace(rows), vanished, objective, objective / 2, (0.0, gap, 0.0))


def choice_of(*runs, fixed_strengths=False):
    return choose(runs, Settings(feasibility_tol=1e-5), fixed_strengths=fixed_strengths)


def test_the_lowest_objective_wins():
    found = choice_of(make_run(3.0), make_run(1.0), make_run(2.0))
    assert found.chosen == 1


@pytest.mark.parametrize(
    "unsound",
    [
        make_run(0.5, Status.MAX_ITER),
        make_run(0.5, Status.INFEASIBLE, gap=1e-3),
        make_run(0.5, Status.INTERRUPTED),
        make_run(0.5, Status.VANISHED),
        make_run(-np.inf, Status.NOT_FINITE),
        make_run(0.5, gap=2e-5),
        make_run(0.5, degenerate=True),
    ],
    ids=["max_iter", "infeasible", "interrupted", "vanished", "not_finite", "gap", "degenerate"],
)
def test_runs_that_are_not_sound_are_passed_over(unsound):
    found = choice_of(unsound, make_run(3.0), make_run(2.0))
    assert found.chosen == 2


def test_if_none_is_sound_the_best_is_given_with_the_reasons():
    found = choice_of(
        make_run(3.0, Status.MAX_ITER),
        make_run(1.0, Status.INFEASIBLE, gap=1e-2),
        make_run(2.0, degenerate=True),
        make_run(np.inf, Status.NOT_FINITE),
    )
    assert found.chosen == 1
    assert {fault: mask.sum() for fault, mask in faults(found.table).items()} == {
        "not_converged": 3,
        "infeasible": 1,
        "degenerate": 1,
        "not_finite": 1,
    }


def test_degeneracy_without_strengths_looks_at_two_modes():
    run = make_run(1.0, degenerate=True)
    run.C[:] = 1.0
    found = choice_of(run, make_run(2.0), fixed_strengths=True)
    assert found.chosen == 1
    assert found.table["degenerate"].tolist() == [True, False]


def test_one_component_is_never_degenerate():
    run = make_run(1.0)
    run = run._replace(A=run.A[:, :1], B=run.B[:, :, :1], C=run.C[:, :1])
    assert choice_of(run).table["degenerate"].tolist() == [False]


def test_the_table_has_one_row_for_each_run():
    runs = [
        make_run(3.0, seed=1, n_iter=4),
        make_run(1.0, seed=2, vanished=(1,)),
        make_run(2.0, Status.INFEASIBLE, seed=2, gap=1.0),
    ]
    table = choice_of(*runs).table
    assert {len(column) for column in table.values()} == {3}
    expected = {
        "start": [0, 1, 2],
        "objective": [3.0, 1.0, 2.0],
        "sse": [1.5, 0.5, 1.0],
        "n_iter": [4, 3, 3],
        "seconds": [2.0, 1.5, 1.5],
        "status": ["converged", "converged", "infeasible"],
        "converged": [True, True, False],
        "feasible": [True, True, False],
        "degenerate": [False, False, False],
        "vanished": [0, 1, 0],
        "chosen": [False, True, False],
    }
    for name, column in expected.items():
        assert table[name].tolist() == column
    agreement = table["fms_to_chosen"]
    assert agreement[1] == pytest.approx(1.0)
    assert agreement[2] == pytest.approx(1.0)  # the same factors, by seed
    assert agreement[0] < 0.99


def test_agreement_does_not_care_about_order_and_scale():
    one = make_run(1.0)
    other = one._replace(A=2 * one.A[:, ::-1], B=one.B[:, :, ::-1], C=one.C[:, ::-1], objective=1.5)
    np.testing.assert_allclose(choice_of(one, other).table["fms_to_chosen"], 1.0)


def test_runs_that_broke_down_have_no_agreement():
    broken = make_run(np.inf, Status.NOT_FINITE)
    broken.B[:] = np.nan
    table = choice_of(broken, make_run(1.0)).table
    assert np.isnan(table["fms_to_chosen"]).tolist() == [True, False]
    alone = choice_of(broken)
    assert alone.chosen == 0
    assert np.isnan(alone.table["fms_to_chosen"]).all()
    assert faults(alone.table)["not_finite"].all()


def test_starts_that_lost_the_same_component_agree():
    lost, also_lost, kept = make_run(1.0), make_run(1.0), make_run(1.0)
    for run in (lost, also_lost):
        run.C[:, 1] = 0.0
    found = choice_of(lost, also_lost, kept)
    np.testing.assert_allclose(found.table["fms_to_chosen"], [1.0, 1.0, 0.5])
