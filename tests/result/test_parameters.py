import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tparafac2.penalties import (
    GeneralisedRidge,
    NonNegative,
    Parafac2,
    Ridge,
    TemporalSmoothness,
    laplacian,
)
from tparafac2.result.parameters import GIVEN_FACTORS, from_text, to_text

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
NESTED = st.recursive(
    SIMPLE,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=80)
@given(st.dictionaries(st.text(max_size=5).filter(lambda name: name != "init"), NESTED, max_size=4))
def test_plain_values_come_back_equal_and_of_the_same_type(parameters) -> None:
    text = to_text(parameters)
    assert text.isascii()
    # repr tells 1 from 1.0 and True, -0.0 from 0.0, and NaN is the same as NaN.
    assert repr(from_text(text)[0]) == repr(parameters)
    assert from_text(text)[1] == {}


@pytest.mark.parametrize(
    "array",
    [
        np.float32(0.1),
        np.float64(-0.0),
        np.int64(-(2**63)),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.str_("é\"'"),
        np.datetime64("2020-01-01T12", "h"),
        np.timedelta64(5, "D"),
        np.array([[np.inf, np.nan], [-0.0, 1e-310]]),
        np.array([1, 2], dtype=np.int8),
        np.array(["", "long text"]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
        np.zeros((0, 3)),
    ],
    ids=repr,
)
def test_numpy_scalars_and_small_arrays_come_back_exactly(array) -> None:
    back = from_text(to_text({"x": array}))[0]["x"]
    assert type(back) is type(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_penalties_of_the_package_come_back() -> None:
    terms = [Ridge(0.5), TemporalSmoothness(2.0, epsilon=0.0), NonNegative(), Parafac2()]
    assert from_text(to_text({"penalties_b": terms})) == ({"penalties_b": terms}, {})


class Ridged(Ridge):
    pass


class Own:
    def __repr__(self) -> str:
        return "Own()"


def test_what_cannot_be_kept_comes_back_as_none_with_its_place_and_text() -> None:
    parameters = {
        "penalties_b": [Ridge(1.0), Own()],
        "random_state": np.random.default_rng(0),
        "other": {"deep": (Ridged(1.0),)},
        "times": np.arange(5000),
        "complex": 1j,
    }
    back, lost = from_text(to_text(parameters))
    assert back == {
        "penalties_b": [Ridge(1.0), None],
        "random_state": None,
        "other": {"deep": (None,)},
        "times": None,
        "complex": None,
    }
    assert set(lost) == {"penalties_b[1]", "random_state", "other['deep'][0]", "times", "complex"}
    assert lost["penalties_b[1]"] == "Own()"


def test_given_factors_are_only_mentioned() -> None:
    factors = (np.ones((500, 2)), np.ones((3, 4, 2)), np.ones((3, 2)))
    assert from_text(to_text({"init": factors})) == ({"init": GIVEN_FACTORS}, {})
    assert from_text(to_text({"init": "svd"})) == ({"init": "svd"}, {})
    assert from_text(to_text({"init": None})) == ({"init": None}, {})


@pytest.mark.parametrize("name", ["PenaltyError", "check_penalty", "Penalty", "__builtins__", "terms"])
def test_a_file_can_only_name_penalties(name: str) -> None:
    text = json.dumps({"x": {"kind": "penalty", "class": name, "fields": {}}})
    assert from_text(text) == ({"x": None}, {"x": name})


@pytest.mark.parametrize("dtype", ["object", "V8", "complex128"])
def test_a_file_cannot_ask_for_arrays_of_other_kinds(dtype: str) -> None:
    text = json.dumps({"x": {"kind": "array", "dtype": dtype, "shape": [1], "values": [1]}})
    with pytest.raises(ValueError, match="not known"):
        from_text(text)


@pytest.mark.parametrize("sparse", [True, False])
def test_matrices_of_penalties_come_back_exactly(sparse: bool) -> None:
    matrix = laplacian([(i, i + 1) for i in range(59)], 60, np.linspace(0.1, 1.0, 59))
    term = GeneralisedRidge(matrix if sparse else matrix.toarray(), 0.3)
    kept, lost = from_text(to_text({"penalties_b": [term]}))
    assert not lost
    (again,) = kept["penalties_b"]
    assert isinstance(again.matrix, np.ndarray) is not sparse
    assert again.strength == 0.3
    assert abs(again.matrix - term.matrix).max() == 0


def test_matrices_that_are_too_large_for_a_file_are_lost_by_name() -> None:
    huge = GeneralisedRidge(np.ones((600, 600)))
    kept, lost = from_text(to_text({"penalties_b": [huge]}))
    assert (kept, lost) == ({"penalties_b": [None]}, {"penalties_b[0]": repr(huge)})


@pytest.mark.parametrize("sparse", [True, False])
def test_a_file_cannot_claim_all_memory_by_a_shape(sparse: bool) -> None:
    empty = {"rows": [], "columns": [], "values": []}
    field = {"kind": "matrix", "shape": [10**9] * 2, "sparse": sparse, **empty}
    stored = {"kind": "penalty", "class": "GeneralisedRidge", "fields": {"matrix": field, "strength": 1.0}}
    with pytest.raises(ValueError, match="not one that files have"):
        from_text(json.dumps({"penalties_b": stored}))
