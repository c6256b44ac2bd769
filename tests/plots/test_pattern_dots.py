"""One component's pattern at a few times."""

import numpy as np
import pytest

from tparafac2.data import Labels
from tparafac2.plots import snapshots
from tparafac2.result import Result

B = np.zeros((6, 4, 1))
B[:3, 0], B[:, 1], B[3:, 2], B[:, 3] = 0.8, 0.6, 0.8, 1e-4


def a_result(**changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(**{"model": "M", "A": np.ones((2, 1)), "B": B, "C": np.ones((6, 1)), **facts, **changes})


def times(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_dots_are_the_weights_at_the_chosen_times():
    ax = snapshots(a_result(), 1, [0, 5])
    assert names(ax) == ["0", "1", "2"]
    early, late = ax.lines[:2]
    np.testing.assert_allclose(early.get_xdata(), [0.8, 0.6, 0.0], atol=1e-3)
    np.testing.assert_allclose(late.get_xdata(), [0.0, 0.6, 0.8], atol=1e-3)
    assert early.get_ydata().tolist() == [0.5, 1.5, 2.5]
    assert ax.get_ylabel() == "Column (the 3 largest of 4)"


def test_by_default_four_times_from_the_first_to_the_last():
    assert times(snapshots(a_result())) == ["0", "2", "3", "5"]


def test_by_default_only_times_at_which_the_pattern_is_determined():
    undetermined = np.zeros((6, 1), bool)
    undetermined[[0, 5]] = True
    assert times(snapshots(a_result(undetermined=undetermined))) == ["1", "2", "3", "4"]


def test_what_is_not_determined_is_empty_and_says_so():
    undetermined = np.zeros((6, 1), bool)
    undetermined[5] = True
    ax = snapshots(a_result(undetermined=undetermined), 1, [0, 5])
    assert times(ax) == ["0", "5 (not determined)"]
    known, shown, vague = ax.lines[:3]
    assert known.get_markerfacecolor() != "white"
    assert np.isnan(vague.get_xdata()).all()
    assert shown.get_markerfacecolor() == "white"
    np.testing.assert_allclose(shown.get_xdata(), [0.0, 0.6], atol=1e-3)


def test_early_is_dark_and_large():
    first, last = snapshots(a_result(), 1, [0, 5]).lines[:2]
    assert sum(first.get_markerfacecolor()[:3]) < sum(last.get_markerfacecolor()[:3])
    assert first.get_markersize() > last.get_markersize()


@pytest.mark.parametrize("given", ["spring", ["spring"], [np.str_("spring")]])
def test_times_by_name(given):
    labels = Labels(time=["winter", "spring", "summer", "autumn", "rain", "_snow"])
    assert times(snapshots(a_result(labels=labels), 1, given)) == ["spring"]
    assert times(snapshots(a_result(labels=labels), 1, ["_snow", "winter"])) == ["winter", " _snow"]


@pytest.mark.parametrize("given", ["2020-01-03", np.datetime64("2020-01-03"), "2020-01-03T00:00", 18264])
def test_times_by_date(given):
    labels = Labels(time=np.datetime64("2020-01-01") + np.arange(6))
    assert times(snapshots(a_result(labels=labels), 1, given)) == ["2020-01-03"]


def test_times_are_shown_once_and_in_order():
    assert times(snapshots(a_result(times=[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]), 1, [4, 1.0, 4])) == ["1", "4"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.5, r"no slice at the time 1.5; there are 0, 1, 2, 3, 4 and 1 more, the last at 5"),
        ("Tuesday", "no slice at the time Tuesday"),
        ([], "times is empty"),
        ([0, None], "no slice at the time None"),
        (float("nan"), "no slice at the time nan"),
    ],
)
def test_other_times_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        snapshots(a_result(), 1, given)


def test_slices_with_columns_of_their_own_are_refused():
    with pytest.raises(ValueError, match=r"snapshots follows columns in time, .* look at them with pattern"):
        snapshots(a_result(B=list(B)))
