import dataclasses

import numpy as np
import pytest
from measure import measure
from plan import CHOSEN, FLEXIBLE, HARD, LEVELS, METHODS, QUICK, Plan, Task


def test_the_full_plan_is_the_papers():
    plan = Plan()
    assert LEVELS == {"easy": (0.25, 0.5, 0.75, 1.0), "almost_zero": (1, 2), "overlapping": (0.1, 0.2, 0.4)}
    assert len(METHODS) == 13
    assert len({task.path for task in plan.tasks()}) == 9 * 20 * 15
    assert plan.protocol.starts == 20
    assert plan.protocol.size == (20, 150, 100)


def test_methods_have_the_papers_penalties():
    parameters = {method.label: method.estimator().get_params() for method in METHODS}
    assert parameters["tPARAFAC2 1000"]["lambda_a"] == parameters["tPARAFAC2 1000"]["lambda_d"] == 0.1
    assert [parameters[f"NNtCMF {b}"]["lambda_b"] for b in (1, 10, 100, 1000)] == [1, 10, 100, 1000]
    assert parameters["NNtCMF 1"]["nonnegative"] == "rows"
    assert parameters["tCMF 1"]["nonnegative"] is None
    assert not any(isinstance(value, float) and name.startswith("lambda") and value
                   for name, value in parameters["PARAFAC2"].items())  # fmt: skip


def test_without_what_the_data_choose_the_plan_is_as_it_was():
    plan = Plan(chosen=False)
    assert {task.method for task in plan.tasks()} == set(METHODS)
    assert [task for task in Plan().tasks() if task.method not in CHOSEN] == list(plan.tasks())
    assert plan.protocol == Plan().protocol  # the same folder can have both


def test_the_hard_model_chooses_no_rigidity():
    for coarse in (False, True):
        assert HARD.search(coarse)["rigidity"] == np.inf
    assert FLEXIBLE.search(coarse=False) == {}
    assert np.inf in FLEXIBLE.search(coarse=True)["rigidity"]  # the constraint may always be kept


def test_the_smallest_plan_with_a_choice_can_be_done():
    plan = Plan(cases=("easy",), starts=1, n_times=3, n_rows=6, n_columns=18, max_iter=20, coarse=True)
    assert measure(Task(plan.settings[0], 0, FLEXIBLE), plan.protocol)["chosen"]
    Plan(cases=("easy",), n_times=2, n_rows=5, n_columns=18, chosen=False)


def test_a_data_set_does_not_depend_on_how_many_there_are():
    few, many = (list(Plan(datasets=n).tasks()) for n in (2, 5))
    assert few == [task for task in many if task.dataset < 2]
    assert Plan(datasets=2).protocol == Plan(datasets=5).protocol


def test_seeds_give_other_data_sets_and_starts_have_their_own():
    zero, one = Plan(seed=0).protocol, Plan(seed=1).protocol
    data = {protocol.data_seed(i) for protocol in (zero, one) for i in range(10_000)}
    starts = {protocol.start_seed(i) for protocol in (zero, one) for i in range(10_000)}
    assert len(data) == len(starts) == 20_000
    assert not data & starts


def test_data_sets_of_one_number_share_their_truth_over_noise_levels():
    plan = Plan(cases=("easy",), n_times=8, n_rows=24, n_columns=24)
    low, high = (setting.make(3, plan.size) for setting in (plan.settings[0], plan.settings[-1]))
    np.testing.assert_array_equal(low.B, high.B)
    assert (low.noise, high.noise) == (0.25, 1.0)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Plan())])
def test_the_fingerprint_tells_protocols_apart(field):
    other = {
        "cases": ("easy",),
        "datasets": 3,
        "starts": 3,
        "seed": 1,
        "n_times": 8,
        "n_rows": 30,
        "n_columns": 36,
        "max_iter": 7,
        "tol": 1e-3,
        "chosen": False,
        "coarse": True,
    }[field]
    changed = dataclasses.replace(Plan(), **{field: other}).protocol.fingerprint
    # Which records there are is no part of the protocol of one record: a run can grow.
    assert (changed == Plan().protocol.fingerprint) == (field in ("cases", "datasets", "chosen"))


def test_cases_may_be_written_as_on_the_command_line_and_in_any_order():
    assert Plan(cases=("overlapping", "almost-zero")).cases == ("almost_zero", "overlapping")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"cases": ("esay",)}, "did you mean 'easy'"),
        ({"cases": ("zebra",)}, "The cases are easy, almost_zero, overlapping"),
        ({"cases": ()}, "no case was asked for"),
        ({"datasets": 0}, "datasets must be from 1 to 10000; got 0"),
        ({"datasets": 10_001}, "datasets must be from 1"),
        ({"starts": 0}, "starts must be at least 1"),
        ({"seed": -1}, "seed must be from 0"),
        ({"n_columns": 17}, "need at least 18 columns"),
        ({"n_columns": 18}, "an overlap of 0.1 cannot be made with 18 words"),
        ({"n_rows": 2}, "need at least 3 rows"),
        ({"n_times": 1}, "at least 2 times"),
        ({"n_times": 2}, "at least 3 times and 6 rows; got 2 and 150.*--without-chosen"),
        ({"n_rows": 5}, "at least 3 times and 6 rows; got 20 and 5"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        Plan(**arguments)


@pytest.mark.parametrize("arguments", [{"datasets": 2.0}, {"starts": True}, {"seed": "1"}])
def test_numbers_must_be_whole(arguments):
    with pytest.raises(TypeError, match="must be a whole number"):
        Plan(**arguments)


def test_the_quick_plan_has_everything_and_enough_data_sets_for_a_test():
    assert QUICK.cases == tuple(LEVELS)
    assert QUICK.datasets >= 5
