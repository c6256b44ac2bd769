"""What the user says of weights is read as it is meant, or refused in a sentence."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import Labels, take_in
from tparafac2.data.weights import read_weights

_SHAPES = [(3, 4), (3, 4)]
_LABELS = Labels(rows=["Ann", "Bo", "Cy"])
_X = np.arange(1.0, 25.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "given",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3]),
        {"Cy": 3, "Ann": 1, "Bo": 2, "someone else": -1},
        pd.Series({"Bo": 2, "Ann": 1, "Cy": 3}),
        pd.Series([1, 2, 3], index=["Ann", "Bo", "Cy"], dtype=object),
        xr.DataArray([3, 1, 2], coords={"who": ["Cy", "Ann", "Bo"]}, dims="who"),
    ],
)
def test_rows_are_matched_by_label_or_by_place(given: object) -> None:
    assert read_weights(given, _SHAPES, _LABELS).rows.tolist() == [1.0, 2.0, 3.0]


def test_labels_of_files_match_as_text() -> None:
    assert read_weights({"1": 5, "2": 7}, [(2, 4)], Labels(rows=[2, 1])).rows.tolist() == [7.0, 5.0]


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6),
    st.floats(1e-100, 1e100),
    st.randoms(use_true_random=False),
)
@settings(max_examples=50, deadline=None)
def test_any_order_and_any_unit_give_the_same_data(weights: list[float], unit: float, random: object) -> None:
    I = len(weights)
    X = np.arange(1.0, 1.0 + 6 * I).reshape(2, I, 3)
    places = list(range(I))
    random.shuffle(places)  # type: ignore[attr-defined]
    by_label = {place: weights[place] * unit for place in places}
    plain, labelled = take_in(X, weights=weights), take_in(X, weights=by_label)
    np.testing.assert_allclose(plain.weighting.rows, labelled.weighting.rows, rtol=1e-12)
    assert plain.weighting.rows.mean() == pytest.approx(1.0)
    assert plain.data.scale == pytest.approx(labelled.data.scale, rel=1e-12)
    norm = np.sqrt((plain.weighting.rows[:, None] * X**2).sum())
    assert plain.data.scale == pytest.approx(norm, rel=1e-12)
    assert labelled.weighting.mean == pytest.approx(np.mean(weights) * unit)


_SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)


def _nested(one: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(one, max_size=4) | st.dictionaries(_SCALARS, one, max_size=4)


@given(st.recursive(_SCALARS, _nested))
@settings(max_examples=200, deadline=None)
def test_anything_is_read_or_refused_in_a_sentence(given: object) -> None:
    said = "weights are fine."
    try:
        found = read_weights(given, _SHAPES, _LABELS)
        assert found.rows is None or (found.rows > 0).all()
    except (ValueError, TypeError) as error:
        said = str(error)
    assert said.startswith("weights")
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 2], "holds 2 numbers, but X has 3 rows"),
        (np.ones((2, 4, 3)), r"slices of shape \(4, 3\), but X has 3 rows, and 2 slices of shape \(3, 4\)"),
        ([0, 0, 0], "are all zero"),
        (np.zeros((2, 3, 4)), "are all zero"),
        ([1, 0, 1], "row 1 is 0; weights must be positive and finite. Leave out"),
        ([1, -2, 1], "row 1 is -2"),
        ([1, np.nan, 1], "row 1 is nan"),
        ([1, np.inf, 1], "row 1 is inf"),
        (np.where(np.arange(24).reshape(2, 3, 4) == 17, -1.0, 1.0), "slice 1, row 1, column 1 .* is -1"),
        (np.where(np.arange(24).reshape(2, 3, 4) == 17, np.nan, 1.0), "slice 1, row 1, column 1 .* is nan"),
        ({0: 1, 2: 1}, "no weight for 1 of 3 rows: 1"),
        ({0: 1, 1: [1, 2], 2: 1}, "by row label must be numbers"),
        (["a", "b", "c"], "must be numbers; got 'a'"),
        (5, "cannot be 5"),
        ("rows", "must be numbers; got 'rows'"),
        ([1, 1, 1e-20], "nothing beside their mean"),
        (np.where(np.arange(3)[:, None] == 1, 0.0, np.ones((2, 3, 4))), "1 of 3 rows were never observed"),
    ],
)
def test_bad_weights_are_refused(weights: object, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        take_in(_X, weights=weights)


def test_entries_follow_the_labels_and_the_order_of_time() -> None:
    counts = np.arange(1.0, 25.0).reshape(2, 3, 4)
    expected = take_in(_X[::-1], weights=counts[::-1]).data
    timed = take_in(_X, weights=counts, times=[2, 1]).data
    np.testing.assert_array_equal(timed.weights, expected.weights)
    names = {"time": [2, 1], "rows": ["a", "b", "c"], "columns": list("wxyz")}
    X = xr.DataArray(_X, names, ("time", "rows", "columns"))
    turned = xr.DataArray(counts, names, ("time", "rows", "columns")).transpose("columns", "time", "rows")
    np.testing.assert_array_equal(take_in(X, weights=turned).data.weights, expected.weights)
    by_time = {2: counts[0], 1: counts[1]}
    np.testing.assert_array_equal(
        take_in({2: _X[0], 1: _X[1]}, weights=by_time).data.weights, expected.weights
    )
    frames = [pd.DataFrame(one, list("abc"), list("wxyz")) for one in _X]
    tables = [pd.DataFrame(one, list("abc"), list("wxyz")).iloc[::-1] for one in counts]
    framed = take_in(frames, weights=tables, times=[2, 1]).data
    np.testing.assert_array_equal(framed.weights, expected.weights)


def test_weights_of_frames_with_other_labels_are_refused() -> None:
    frames = [pd.DataFrame(one, list("abc"), list("wxyz")) for one in _X]
    tables = [pd.DataFrame(one, list("abd"), list("wxyz")) for one in _X]
    with pytest.raises(ValueError, match="weights and X differ in the row labels of slice 0"):
        take_in(frames, weights=tables)
