"""Tables with labels are matched by these, never by position."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.data import SparseData, take_in

ROWS, COLUMNS = ["p", "q", "r", "s"], ["a", "b", "c"]
NUMBERS = np.random.default_rng(0).normal(size=(3, 4, 3))


def frames():
    return [pd.DataFrame(numbers, ROWS, COLUMNS) for numbers in NUMBERS]


def held(intake):
    return intake.data.values.swapaxes(0, 1) * intake.data.scale


@given(orders=st.lists(st.tuples(st.permutations(ROWS), st.permutations(COLUMNS)), min_size=2, max_size=2))
def test_labels_in_any_order_give_the_same_data(orders):
    first, *others = frames()
    intake = take_in([first, *(frame.loc[rows, columns] for frame, (rows, columns) in zip(others, orders))])
    np.testing.assert_array_equal(held(intake), held(take_in(frames())))
    assert intake.labels.rows.tolist() == ROWS
    assert intake.labels.columns.tolist() == COLUMNS


def test_the_order_is_that_of_the_first_and_no_frame_is_changed():
    given_frames = [frames()[0].loc[::-1], *frames()[1:]]
    before = [frame.copy() for frame in given_frames]
    assert take_in(given_frames).labels.rows.tolist() == ROWS[::-1]
    for frame, copy in zip(given_frames, before):
        pd.testing.assert_frame_equal(frame, copy)


@pytest.mark.parametrize(("axis", "what"), [("index", "row"), ("columns", "column")])
def test_labels_that_are_not_in_every_slice_are_named(axis, what):
    X = [pd.DataFrame(np.ones((9, 9))).rename(lambda i, k=k: f"n{i + k}", axis=axis) for k in range(3)]
    with pytest.raises(ValueError) as error:
        take_in(X)
    said = str(error.value)
    assert said.startswith(
        f"4 of 11 {what} labels are not in every slice: 'n0' (not in slice 1), 'n1' (not in slice 2), "
        "'n9' (not in slice 0) and 1 more."
    )
    assert ("Parafac2 allows slices of different widths" in said) == (axis == "columns")


@pytest.mark.parametrize(("axis", "size"), [("index", (4, 5)), ("columns", (3, 4))])
def test_what_the_sentence_advises_works(axis, size):
    X = frames()
    X[1] = X[1].rename({"p": "z"}, axis=0) if axis == "index" else X[1].assign(d=1.0)
    labels = sorted(set().union(*(getattr(frame, axis) for frame in X)))
    assert len(labels) == size[1]
    missing = take_in([frame.reindex(**{axis: labels}) for frame in X])
    assert missing.coverage is not None
    zero = take_in([frame.reindex(**{axis: labels}, fill_value=0) for frame in X])
    assert zero.coverage is None
    assert missing.data.shape == zero.data.shape
    by_position = take_in([frame.to_numpy() for frame in X])
    assert by_position.labels.rows is None
    assert by_position.data.shape == (3, 4, 4 if axis == "columns" else 3)


def test_labels_that_repeat_are_named():
    X = [pd.DataFrame(np.ones((3, 4)), columns=["a", "b", "b", "a"]) for _ in range(2)]
    with pytest.raises(ValueError, match="slice 0 has 'b', 'a' more than once among its column labels"):
        take_in(X)


def test_numbers_that_pandas_counts_are_no_labels():
    intake = take_in([pd.DataFrame(np.ones((3, width))) for width in (4, 5)])
    assert intake.data.widths == (4, 5)
    assert intake.labels.rows is intake.labels.columns is None
    long = pd.DataFrame(np.ones((6, 2)))
    with pytest.raises(ValueError, match="6 of 6 row labels are not in every slice: 0 "):
        take_in([long[:3], long[3:]])


def test_frames_beside_arrays():
    with pytest.raises(ValueError, match=r"slice 0 has labels, but slice 1 is a ndarray without: .*to_numpy"):
        take_in([frames()[0], NUMBERS[1]])
    intake = take_in([pd.DataFrame(NUMBERS[0]), *NUMBERS[1:]])
    np.testing.assert_array_equal(held(intake), held(take_in(NUMBERS)))


def test_labels_of_several_levels():
    index = pd.MultiIndex.from_product([["Ann", "Bo"], [1, 2]])
    X = [frame.set_axis(index) for frame in frames()]
    intake = take_in([X[0], X[1].loc[::-1], X[2]])
    assert intake.labels.rows.tolist() == ["Ann / 1", "Ann / 2", "Bo / 1", "Bo / 2"]
    np.testing.assert_array_equal(held(intake), held(take_in(NUMBERS)))


@pytest.mark.parametrize("kind", ["frames", "arrays", "stack"])
def test_a_mask_follows_its_slice(kind):
    observed = NUMBERS > -0.5
    expected = take_in(NUMBERS, mask=observed)
    X = [frames()[0], frames()[1].iloc[::-1, ::-1], frames()[2]]
    if kind == "frames":
        mask = [pd.DataFrame(one, ROWS, COLUMNS).iloc[:, ::-1] for one in observed]
    else:
        mask = [observed[0], observed[1, ::-1, ::-1], observed[2]]
    intake = take_in(X, mask=np.stack(mask) if kind == "stack" else mask)
    np.testing.assert_array_equal(held(intake), held(expected))
    np.testing.assert_array_equal(intake.coverage, expected.coverage)


def test_a_mask_with_other_labels():
    mask = [frame.rename(columns={"a": "z"}) > 0 for frame in frames()]
    with pytest.raises(ValueError, match="mask and X differ in the column labels of slice 0: align it"):
        take_in(frames(), mask=mask)
    for unlabelled in (list(NUMBERS), NUMBERS, xr.DataArray(NUMBERS, dims=("time", "rows", "columns"))):
        with pytest.raises(ValueError, match="mask has labels, but X has none"):
            take_in(unlabelled, mask=mask)
    with pytest.raises(ValueError, match="mask has 2 slices"):
        take_in(frames(), mask=mask[:2])


def test_frames_of_sparse_columns_are_not_made_dense():
    dense = [pd.DataFrame(scipy.sparse.random(4, 3, 0.5, rng=k).toarray(), ROWS, COLUMNS) for k in range(3)]
    X = [frame.astype(pd.SparseDtype(float, 0)) for frame in dense]
    X[1] = X[1].loc[::-1]
    intake = take_in(X)
    assert isinstance(intake.data, SparseData)
    assert intake.labels.rows.tolist() == ROWS
    flat = np.hstack([block.toarray() for block in intake.data.blocks])
    np.testing.assert_allclose(flat * intake.data.scale, np.hstack(dense))


def test_sparse_columns_that_hold_missing_values():
    X = [frame.mask(frame > 1).astype(pd.SparseDtype(float, 0)) for frame in frames()]
    np.testing.assert_array_equal(take_in(X).coverage, (NUMBERS <= 1).mean(axis=1))


def test_numbers_beside_marks_of_what_is_missing():
    X = [frame.astype("Float64") for frame in frames()]
    X[0].iloc[0, 0] = pd.NA
    assert take_in(X).coverage[0, 0] == 0.75


def test_a_column_of_text_is_named():
    X = [frame.reset_index(names="author") for frame in frames()]
    with pytest.raises(TypeError, match=r"slice 0 .* in column 'author'; .* frame\.set_index\('author'\)"):
        take_in(X)


def test_labelled_arrays_of_two_dimensions():
    X = [xr.DataArray(numbers, {"row": ROWS, "word": COLUMNS}, ("row", "word")) for numbers in NUMBERS]
    intake = take_in([X[0], X[1].isel(word=slice(None, None, -1)), X[2].T])
    assert intake.labels.columns.tolist() == COLUMNS
    np.testing.assert_array_equal(held(intake), held(take_in(NUMBERS)))


def test_results_carry_the_labels():
    model = tp.CP(1, n_starts=1, random_state=0).fit([frames()[0], frames()[1].loc[::-1], frames()[2]])
    assert model.to_dataset().coords["rows"].values.tolist() == ROWS


SLICES = np.random.default_rng(0).random((3, 4, 2))


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
    intake = take_in(dict(zip(keys, map(kind, SLICES))))
    assert intake.order == (0, 2, 1)
    np.testing.assert_array_equal(intake.times, times)
    assert len(intake.labels.time) == 3
    if kind is not scipy.sparse.csr_array:
        np.testing.assert_allclose(held(intake), SLICES[[0, 2, 1]])


def test_keys_that_are_no_times_are_labels_in_their_order():
    intake = take_in(dict(zip(("spring", "summer", "autumn"), SLICES)))
    assert intake.times is None
    assert intake.order == (0, 1, 2)
    assert intake.labels.time.tolist() == ["spring", "summer", "autumn"]


def test_times_that_are_given_count_more_than_keys():
    assert take_in(dict(enumerate(SLICES)), times=[3, 2, 1]).order == (2, 1, 0)


def test_a_mask_by_time():
    observed = SLICES > 0.2
    expected = take_in(SLICES, mask=observed)
    X, mask = dict(enumerate(SLICES)), dict(enumerate(observed))
    intake = take_in(X, mask=dict(reversed(mask.items())))
    np.testing.assert_array_equal(held(intake), held(expected))
    with pytest.raises(ValueError, match="mask and X are dicts with different keys"):
        take_in(X, mask={0: observed[0]})
    with pytest.raises(TypeError, match="mask must have True or False"):
        take_in(SLICES, mask=mask)


def long_frame(**names):
    K, I, J = SLICES.shape
    k, i, j = (axis.ravel() for axis in np.meshgrid(range(K), range(I), range(J), indexing="ij"))
    frame = pd.DataFrame({"year": 2000 + k, "author": i, "word": j, "n": SLICES.ravel()})
    return frame.rename(columns=names)


@pytest.mark.parametrize("names", [{}, {"author": "Subjects", "word": "gene", "year": "visit", "n": "level"}])
def test_a_long_frame_whose_names_tell(names):
    intake = take_in(long_frame(**names))
    np.testing.assert_allclose(held(intake), SLICES)
    assert intake.labels.names["time"] == names.get("year", "year")


def test_dates_tell_the_time_of_a_long_frame():
    frame = long_frame(year="when")
    frame["when"] = pd.to_datetime(frame["when"].astype(str), format="%Y")
    np.testing.assert_allclose(held(take_in(frame)), SLICES)


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
        pd.DataFrame(SLICES[0]),
    ],
)
def test_a_frame_that_does_not_tell_is_refused(frame):
    with pytest.raises(ValueError, match=r"X is one DataFrame.* tp\.Table\(X, rows="):
        take_in(frame)


def test_results_of_a_dict_carry_its_keys():
    model = tp.CP(1, n_starts=1, random_state=0).fit(dict(zip((2020, 2021, 2023), SLICES)))
    assert model.to_dataset().coords["time"].values.tolist() == [2020, 2021, 2023]
