import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.sparse.linalg
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tparafac2.data import SparseData, take_in


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def _held(X: np.ndarray) -> np.ndarray:
    """The user's (K, I, J) numbers as they come back out of the data."""
    data = take_in(X).data
    return data.values.swapaxes(0, 1) * data.scale


def _disguise(X: np.ndarray, how: str) -> np.ndarray:
    if how == "fortran":
        return np.asfortranarray(X)
    if how == "strided":
        wide = np.zeros((X.shape[0], 2 * X.shape[1], 3 * X.shape[2]))
        wide[:, ::2, ::3] = X
        return wide[:, ::2, ::3]
    if how == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if how == "swapped":
        return X.astype(X.dtype.newbyteorder())
    return np.ascontiguousarray(X.transpose(2, 0, 1)).transpose(1, 2, 0)


ARRAYS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=3, max_dims=3, max_side=5),
    elements=st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-150),
).filter(np.any)


@given(X=ARRAYS, how=st.sampled_from(["fortran", "strided", "reversed", "swapped", "rotated"]))
@settings(max_examples=60)
def test_any_memory_order_gives_the_same_data(X: np.ndarray, how: str) -> None:
    plain, disguised = take_in(X).data, take_in(_disguise(X, how)).data
    assert disguised.scale == pytest.approx(plain.scale, rel=1e-15)
    np.testing.assert_allclose(disguised.values, plain.values, rtol=1e-15)
    assert disguised.norm_squared == pytest.approx(1.0, abs=1e-14)


@given(X=ARRAYS)
@settings(max_examples=40)
def test_list_equals_array_and_neither_is_changed(X: np.ndarray) -> None:
    before = X.copy()
    stacked, listed, nested = take_in(X).data, take_in(list(X)).data, take_in(X.tolist()).data
    np.testing.assert_array_equal(X, before)
    for data in (listed, nested):
        assert data.scale == stacked.scale
        assert data.widths is None
        np.testing.assert_array_equal(data.values, stacked.values)
    assert not np.shares_memory(stacked.values, X)


def test_read_only_input_is_accepted() -> None:
    X = _random(2, 3, 4)
    X.flags.writeable = False
    np.testing.assert_allclose(_held(X), X, rtol=1e-14)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float16, np.float32, ">i4", ">f4"])
def test_numbers_of_every_type_become_float64(dtype: str) -> None:
    X = (np.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    assert take_in(X).data.dtype == np.float64
    np.testing.assert_allclose(_held(X), X.astype(float), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
def test_float32_is_kept_when_asked_for(dtype: object) -> None:
    data = take_in(_random(2, 3, 4), dtype=dtype).data
    assert data.dtype == np.float32
    assert data.norm_squared == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("dtype", ["int64", "float16", "nonsense", complex, ">f8"])
def test_other_types_to_compute_in_are_refused(dtype: object) -> None:
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
        take_in(_random(2, 3, 4), dtype=dtype)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_extreme_scales_pass(size: float) -> None:
    data = take_in(size * _random(3, 4, 5)).data
    assert 0.0 < data.scale < np.inf
    assert data.norm_squared == pytest.approx(1.0, abs=1e-14)


def test_unequal_widths_are_recorded() -> None:
    data = take_in((np.ones((3, 2)), np.ones((3, 4)))).data
    assert data.shape == (2, 3, 4)
    assert data.widths == (2, 4)


SPOILT = _random(3, 4, 5)
SPOILT[1, 2, 3] = SPOILT[2, 0, 0] = np.nan
INFINITE = _random(3, 4, 5)
INFINITE[2, 1, 0] = -np.inf


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (_random(3, 4), r"2 dimensions \(shape \(3, 4\)\).*stack slices"),
        (_random(3), r"1 dimension \(shape \(3,\)\)"),
        (_random(2, 2, 2, 2), "4 dimensions.*reshape"),
        (np.float64(3.0), "0 dimensions"),
        (pd.DataFrame(_random(3, 4)), "stack slices"),
        (np.ones((0, 3, 4)), r"shape \(0, 3, 4\).*at least one of each"),
        (np.ones((2, 0, 4)), "at least one of each"),
        (np.ones((2, 3, 0)), "at least one of each"),
        ([], "empty list"),
        ((), "empty list"),
        ([_random(3, 4), _random(4)], "slice 1 has 1 dimension"),
        ([_random(3, 4), _random(2, 3, 4)], "slice 1 has 3 dimensions"),
        ([_random(3, 4), [[1, 2], [3], [4]]], "slice 1 is not a table"),
        ([_random(3, 4), _random(3, 0)], "slice 1 is empty"),
        ([_random(3, 4), _random(2, 4)], "slice 1 has 2 rows, but slice 0 has 3"),
        (INFINITE, "1 infinite values, the first in slice 2, row 1, column 0"),
        (np.zeros((2, 3, 4)), "every entry of X is zero"),
        (np.full((9, 9, 9), 1e308), "too large.*divide X by"),
        (np.full((2, 2, 2), 1e-320), r"too small to be squared \(norm 2.83e-320\): divide X by 3e-320"),
        (np.full((2, 2, 2), 1e-155), "too small to be squared.*divide X by 3e-155"),
        (SPOILT * 1e-160, "too small to be squared"),
        ([scipy.sparse.eye_array(3) * 1e-160] * 2, "too small to be squared"),
        (SparseData.from_slices([scipy.sparse.eye_array(3) * 1e-160] * 2), "too small to be squared"),
        (SparseData.from_slices([scipy.sparse.eye_array(3) * 1e160] * 2), "too large to be squared"),
    ],
)
def test_unusable_shapes_and_values_are_refused(X: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        take_in(X)


def test_infinite_values_are_refused_beside_missing_ones() -> None:
    both = SPOILT.copy()
    both[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="1 infinite values, the first in slice 0, row 0, column 0"):
        take_in(both)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (_random(2, 3, 4) + 1j, "X holds complex numbers.*absolute values"),
        ([_random(3, 4), _random(3, 4) + 1j], "slice 1 holds complex"),
        (np.full((2, 3, 4), "a"), r"type <U1.*astype\(float\)"),
        (np.ones((2, 3, 4), object), "type object"),
        (np.ones((2, 3, 4), "M8[s]"), "datetime64"),
        ([_random(3, 4), np.full((3, 4), "a")], "slice 1 holds values of type <U1"),
        (scipy.sparse.eye_array(3).tocsr(), r"X is one sparse matrix; give a list.*\[X_1, X_2"),
        ([np.eye(3), scipy.sparse.csr_matrix(np.eye(3))], r"slice 1 is a sparse.* not all.*\.toarray\(\)"),
        ([scipy.sparse.csr_matrix(np.eye(3)), np.eye(3)], r"slice 0 is a sparse matrix, but not all slices"),
        ([scipy.sparse.eye_array(3) * 1j] * 2, "slice 0 holds complex numbers"),
        (scipy.sparse.linalg.aslinearoperator(np.eye(3)), "X is a .*LinearOperator; give a"),
        ({(1, 2): np.eye(3)}, r"the keys of X must be times, numbers or dates; got \(1, 2\)"),
        (None, "X is a NoneType"),
        ("X.csv", "X is a str"),
        (xr.Dataset({"x": ("row", [1.0])}), r"X is an xarray.Dataset; choose one of its arrays"),
    ],
)
def test_unsupported_kinds_are_refused(X: object, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        take_in(X)


def _labelled(order: tuple[str, ...] = ("year", "author", "word")) -> xr.DataArray:
    array = xr.DataArray(
        _random(2, 3, 4),
        dims=("year", "author", "word"),
        coords={"year": [2001, 2002], "author": ["Ann", "Bo", "Cy"], "word": list("abcd")},
    )
    return array.transpose(*order)


@given(order=st.permutations(["year", "author", "word"]))
@settings(max_examples=6)
def test_labels_make_the_round_trip(order: list[str]) -> None:
    data, labels = take_in(_labelled(tuple(order)))[:2]
    assert data.shape == (2, 3, 4)
    assert labels.names == {"rows": "author", "columns": "word", "time": "year"}
    back = xr.DataArray(
        data.values.swapaxes(0, 1) * data.scale,
        dims=[labels.names[mode] for mode in ("time", "rows", "columns")],
        coords={labels.names[mode]: getattr(labels, mode) for mode in ("rows", "columns", "time")},
    )
    xr.testing.assert_allclose(back, _labelled(), rtol=1e-14)


def test_dimensions_can_be_told() -> None:
    X = xr.DataArray(_random(2, 3, 4), dims=("x", "y", "z"))
    data, labels = take_in(X, dims={"rows": "z", "columns": "x", "time": "y"})[:2]
    assert data.shape == (3, 4, 2)
    assert labels.rows is labels.columns is labels.time is None
    assert labels.names == {"rows": "z", "columns": "x", "time": "y"}
    with pytest.raises(ValueError, match=r"X has the dimensions 'x', 'y', 'z'.*dims=\{"):
        take_in(X)


def test_dates_tell_time() -> None:
    when = np.array(["2001-01-01", "2002-01-01"], "M8[ns]")
    X = xr.DataArray(_random(3, 2, 4), dims=("station", "when", "thing"), coords={"when": when})
    data, labels = take_in(X)[:2]
    assert data.shape == (2, 3, 4)
    np.testing.assert_array_equal(labels.time, when)


def test_labelled_array_of_two_dimensions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'author', 'word', but three are needed.*stack slices"):
        take_in(_labelled().isel(year=0))


def test_labelled_array_is_not_changed() -> None:
    X = _labelled(("word", "year", "author"))
    before = X.copy(deep=True)
    take_in(X)
    xr.testing.assert_identical(X, before)


def test_dims_without_a_labelled_array_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"dims names the dimensions of an xarray\.DataArray, but X is a ndarray"
    ):
        take_in(_random(2, 3, 4), dims={"rows": "author"})


def _frame(index: list[str], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(_random(len(index), len(columns)), index=index, columns=columns)


def test_frames_bring_their_labels_where_they_agree() -> None:
    data, labels = take_in([_frame(["p", "q"], ["a", "b"]), _frame(["p", "q"], ["a", "b"])])[:2]
    assert data.shape == (2, 2, 2)
    assert list(labels.coordinate("rows", 2)) == ["p", "q"]
    assert list(labels.coordinate("columns", 2)) == ["a", "b"]
    assert labels.time is None


def test_heavy_libraries_are_not_imported() -> None:
    heavy = "{'xarray', 'pandas', 'scipy', 'numba', 'sklearn'}"
    code = f"import sys, tparafac2.data; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
