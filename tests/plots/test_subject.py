"""The result behind a model, one of its components, and what the data say of it."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.plots.subject import as_result, count, course_of, unobserved_times
from tparafac2.plots.time_axis import time_axis
from tparafac2.result import Result

B = np.array([[[3.0], [4.0]], [[4.0], [3.0]], [[0.0], [5.0]]])


def a_result(**changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(**{"model": "M", "A": np.ones((2, 1)), "B": B, "C": np.ones((3, 1)), **facts, **changes})


def course(result):
    return course_of(result, 0, time_axis(result))


def test_model_and_result_are_the_same(small_data):
    model = tp.CP(rank=1, n_starts=1, random_state=0).fit(small_data.X)
    assert as_result(model) is model.result_
    assert as_result(model.result_) is model.result_


def test_what_has_a_result_is_taken_by_it():
    class Chosen:
        result_ = a_result()

    assert as_result(Chosen()) is Chosen.result_


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="not fitted yet"):
        as_result(tp.CP(rank=2))


@pytest.mark.parametrize("thing", [None, "model.npz", np.ones(3), (1, 2, 3)])
def test_other_things_are_refused(thing):
    with pytest.raises(TypeError, match=r"a fitted model or its result_ is needed, not .*tparafac2\.load"):
        as_result(thing)


@pytest.mark.parametrize("value", [0, -3, 2.5, "3", True])
def test_numbers_of_things_are_checked(value):
    with pytest.raises(ValueError, match="n must be a whole number, at least 1"):
        count("n", value)


def test_patterns_have_length_one_whatever_their_size():
    found = course(a_result(B=B * np.array([1.0, 10.0, 0.1])[:, None, None]))
    np.testing.assert_allclose(found.weights, [[0.6, 0.8], [0.8, 0.6], [0.0, 1.0]])
    assert found.determined.all()


def test_slices_are_in_the_order_of_time():
    np.testing.assert_allclose(course(a_result(times=[2.0, 0.0, 1.0])).weights[:, 0], [0.8, 0.0, 0.6])


def test_without_strength_nothing_is_determined():
    found = course(a_result(C=np.array([[1.0], [1e-6], [1.0]])))
    assert found.determined[:, 0].tolist() == [True, False, True]
    assert np.isnan(found.known[1]).all()
    np.testing.assert_allclose(found.weights[1], [0.8, 0.6])


def test_what_the_fit_says_of_itself_counts():
    found = course(a_result(undetermined=np.array([[False], [False], [True]])))
    assert found.determined[:, 0].tolist() == [True, True, False]


def test_a_pattern_of_nothing_is_not_determined():
    """Where strengths are fixed to one, it is the pattern that vanishes."""
    found = course(a_result(B=B * np.array([1.0, 1e-9, 1.0])[:, None, None]))
    assert found.determined[:, 0].tolist() == [True, False, True]


def test_columns_that_were_not_observed_are_not_determined():
    found = course(a_result(coverage=np.array([[1.0, 0.1], [0.0, 1.0], [1.0, 1.0]])))
    assert found.determined.tolist() == [[True, True], [False, True], [True, True]]


def test_a_pattern_that_never_changes_is_known_from_other_times():
    found = course(a_result(B=np.ones((3, 2, 1)), coverage=np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])))
    assert found.determined.all()


def test_narrow_slices_end_in_nothing():
    found = course(a_result(B=[np.ones((2, 1)), np.ones((1, 1)), np.ones((2, 1))]))
    assert np.isnan(found.weights).tolist() == [[False, False], [False, True], [False, False]]
    assert not found.determined[1, 1]


def test_a_fit_that_broke_down_has_nothing_to_show():
    broken = B.copy()
    broken[1] = np.inf
    broken[2] = np.nan
    found = course(a_result(B=broken))
    assert not found.determined[1:].any()
    assert np.isnan(found.weights[1:]).all()


def test_times_without_any_observation():
    coverage = np.array([[0.0, 0.0], [0.0, 0.5], [1.0, 1.0]])
    assert unobserved_times(a_result(coverage=coverage)).tolist() == [True, False, False]
    assert unobserved_times(a_result()).tolist() == [False] * 3
