import numpy as np

from tparafac2.data import Labels
from tparafac2.report.display import LONGEST_LABEL, Known, look
from tparafac2.result import Result


def make(**changes):
    rng = np.random.default_rng(0)
    plain = {
        "model": "TParafac2",
        "A": rng.random((2, 2)),
        "B": rng.random((3, 4, 2)),
        "C": rng.random((3, 2)) + 0.1,
        "objective": 1.0,
        "explained_variance": 0.5,
        "status": "Converged.",
        "converged": True,
        "n_iter": 1,
    }
    return Result(**(plain | changes))


def test_slices_are_shown_in_the_order_of_time():
    flags = np.array([[True, False], [False, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[0, 3] = 0.0
    result = make(labels=Labels(time=[2003, 2001, 2002]), undetermined=flags, coverage=coverage)
    view, whole = look(result), result.normalised()
    order = [1, 2, 0]
    assert view.times == ["2001", "2002", "2003"]
    assert view.moments.tolist() == [2001.0, 2002.0, 2003.0]
    np.testing.assert_array_equal(view.B, whole.B[order])
    np.testing.assert_array_equal(view.C, whole.C[order])
    assert view.known.tolist() == [[0, 0], [0, 0], [1, 0]]
    assert np.argwhere(view.unseen).tolist() == [[2, 3]]


def test_a_time_without_any_observation_is_told_from_one_without_strength():
    flags = np.array([[True, True], [True, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[0] = 0.0
    view = look(make(undetermined=flags, coverage=coverage))
    assert view.known.tolist() == [[Known.UNSEEN] * 2, [Known.WEAK, Known.YES], [Known.YES] * 2]


def test_only_what_the_data_determine_is_shown():
    flags = np.array([[True, False], [False, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[1, 2] = 0.0
    shown = look(make(undetermined=flags, coverage=coverage)).shown
    assert not shown[0, :, 0].any()
    assert shown[0, :, 1].all()
    assert shown[1].tolist() == [[True, True], [True, True], [False, False], [True, True]]


def test_narrow_slices_have_no_number_where_they_have_no_column():
    B = [np.ones((2, 2)), np.ones((4, 2)), np.ones((3, 2))]
    view = look(make(B=B))
    assert np.isnan(view.B[0, 2:]).all()
    assert np.isfinite(view.B[0, :2]).all()
    assert not view.shown[0, 2:].any()


def test_labels_are_written_as_their_owner_does():
    view = look(make(labels=Labels(rows=["", "a" * 10_000], time=np.array([1.5, 1.0, 3.0]))))
    assert view.rows[0] == "(empty)"
    assert len(view.rows[1]) == LONGEST_LABEL
    assert view.times == ["1", "1.5", "3"]


def test_without_labels_places_are_counted_and_times_are_the_moments():
    view = look(make(times=np.array([0.5, 2.0, 3.0])))
    assert view.rows == ["row 0", "row 1"]
    assert view.columns[-1] == "column 3"
    assert view.times == ["0.5", "2", "3"]


def test_labels_that_do_not_say_when_are_shown_side_by_side():
    view = look(make(labels=Labels(time=[1.0, np.nan, 2.0])))
    assert view.times == ["1", "2", "nan"]
    assert view.moments.tolist() == [0.0, 1.0, 2.0]
