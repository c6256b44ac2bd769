"""What users have beside arrays."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import tparafac2 as tp
from tparafac2.data import take_in

NUMBERS = np.random.default_rng(0).random((3, 4, 2))


def held(intake):
    return intake.data.values.swapaxes(0, 1) * intake.data.scale


@pytest.mark.parametrize(
    ("keys", "times"),
    [
        ([2020, 2024, 2022], [2020, 2024, 2022]),
        (["2020-01-01", "2020-01-03", "2020-01-02"], [18262, 18264, 18263]),
        ([datetime.date(2020, 1, day) for day in (1, 3, 2)], [18262, 18264, 18263]),
        (list(pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-02"])), [18262, 18264, 18263]),
    ],
)
@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, scipy.sparse.csr_array])
def test_a_dict_of_slices_has_the_times_as_keys(keys, times, kind):
    intake = take_in(dict(zip(keys, map(kind, NUMBERS))))
    assert intake.order == (0, 2, 1)
    np.testing.assert_array_equal(intake.times, times)
    assert len(intake.labels.time) == 3
    if kind is not scipy.sparse.csr_array:
        np.testing.assert_allclose(held(intake), NUMBERS[[0, 2, 1]])


def test_keys_that_are_no_times_are_labels_in_their_order():
    intake = take_in(dict(zip(("spring", "summer", "autumn"), NUMBERS)))
    assert intake.times is None
    assert intake.order == (0, 1, 2)
    assert intake.labels.time.tolist() == ["spring", "summer", "autumn"]


def test_times_that_are_given_count_more_than_keys():
    assert take_in(dict(enumerate(NUMBERS)), times=[3, 2, 1]).order == (2, 1, 0)


def test_a_mask_by_time():
    observed = NUMBERS > 0.2
    expected = take_in(NUMBERS, mask=observed)
    X, mask = dict(enumerate(NUMBERS)), dict(enumerate(observed))
    intake = take_in(X, mask=dict(reversed(mask.items())))
    np.testing.assert_array_equal(held(intake), held(expected))
    with pytest.raises(ValueError, match="mask and X are dicts with different keys"):
        take_in(X, mask={0: observed[0]})
    with pytest.raises(TypeError, match="mask must have True or False"):
        take_in(NUMBERS, mask=mask)


def long_frame(**names):
    K, I, J = NUMBERS.shape
    k, i, j = (axis.ravel() for axis in np.meshgrid(range(K), range(I), range(J), indexing="ij"))
    frame = pd.DataFrame({"year": 2000 + k, "author": i, "word": j, "n": NUMBERS.ravel()})
    return frame.rename(columns=names)


@pytest.mark.parametrize("names", [{}, {"author": "Subjects", "word": "gene", "year": "visit", "n": "level"}])
def test_a_long_frame_whose_names_tell(names):
    intake = take_in(long_frame(**names))
    np.testing.assert_allclose(held(intake), NUMBERS)
    assert intake.labels.names["time"] == names.get("year", "year")


def test_dates_tell_the_time_of_a_long_frame():
    frame = long_frame(year="when")
    frame["when"] = pd.to_datetime(frame["when"].astype(str), format="%Y")
    np.testing.assert_allclose(held(take_in(frame)), NUMBERS)


def test_lines_are_counted_where_there_are_no_values():
    assert held(take_in(long_frame()[["year", "author", "word"]])).max() == 1.0


@pytest.mark.parametrize(
    "frame",
    [
        long_frame(word="author2"),
        long_frame(word="subject"),
        long_frame().assign(more=1.0),
        long_frame().astype({"n": str}),
        long_frame().set_index("author"),
        pd.DataFrame(NUMBERS[0]),
    ],
)
def test_a_frame_that_does_not_tell_is_refused(frame):
    with pytest.raises(ValueError, match=r"X is one DataFrame.* tp\.Table\(X, rows="):
        take_in(frame)


def test_results_of_a_dict_carry_its_keys():
    model = tp.CP(1, n_starts=1, random_state=0).fit(dict(zip((2020, 2021, 2023), NUMBERS)))
    assert model.to_dataset().coords["time"].values.tolist() == [2020, 2021, 2023]
