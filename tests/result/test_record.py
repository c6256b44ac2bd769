from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hand_made import hand_made
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from tparafac2 import metrics
from tparafac2.data import Labels
from tparafac2.result import Result

MODERATE = st.floats(-1e3, 1e3, allow_subnormal=False) | st.just(0.0)


def make(**changes: Any) -> Result:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((5, 2)), rng.standard_normal((3, 4, 2))
    return hand_made(**({"A": A, "B": B} | changes))


@settings(max_examples=60)
@given(arrays(float, (3, 2), elements=MODERATE), arrays(float, (2, 4, 2), elements=MODERATE), st.booleans())
def test_normalised_factors_have_unit_columns_and_describe_the_same_data(A, B, ragged) -> None:
    C = np.array([[2.0, 0.0], [0.5, 3.0]])
    result = make(A=A, B=[B[0], B[1][:3]] if ragged else B, C=C)
    normalised = result.normalised()
    assert isinstance(normalised.B, list) == ragged
    for given_columns, unit in zip([result.A, *result.B], [normalised.A, *normalised.B]):
        zero = ~given_columns.any(axis=0)
        assert np.allclose(np.linalg.norm(unit, axis=0), np.where(zero, 0.0, 1.0), rtol=1e-12)
    assert not np.isnan(normalised.C).any()
    size = np.abs(A).max() * np.abs(B).max() * C.max()
    for ours, theirs in zip(result.reconstruct(), metrics.reconstruct(*normalised)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-13 * size + 1e-300)


@pytest.mark.filterwarnings("error")
def test_what_is_zero_stays_zero_without_noise() -> None:
    result = make(A=np.zeros((5, 2)), B=np.zeros((3, 4, 2)))
    assert not any(np.any(factor) for factor in result.normalised())
    assert "none" in result.summary()


@pytest.mark.parametrize("size", [1e-200, 1e150])
def test_squares_do_not_leave_the_range_of_floats(size: float) -> None:
    plain, sized = make().normalised(), make(A=size * make().A).normalised()
    np.testing.assert_allclose(sized.A, plain.A, rtol=1e-12)
    np.testing.assert_allclose(sized.C / size, plain.C, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_factors_that_went_wrong_are_still_described() -> None:
    A = np.full((5, 2), np.nan)
    A[0, 1] = np.inf
    result = make(A=A, C=np.full((3, 2), np.inf), objective=np.nan)
    assert "nan" in result.summary()
    assert "TParafac2" in result._repr_html_()


def test_single_precision_is_kept_as_it_is() -> None:
    result = make(A=make().A.astype(np.float32))
    assert result.A.dtype == np.float32
    assert result.normalised().A.dtype == np.float64


def test_tables_have_one_row_per_iteration_and_per_start() -> None:
    result = make(
        trace={"iteration": np.arange(3), "objective": np.array([3.0, 2.0, 1.0])},
        starts={"start": np.arange(2), "status": np.array(["Converged.", "Stopped."])},
    )
    assert result.trace_table()["objective"].tolist() == [3.0, 2.0, 1.0]
    assert result.starts_table().loc[1, "status"] == "Stopped."
    assert make().trace_table().empty


def test_sizes_of_ragged_patterns() -> None:
    result = make(B=(np.ones((4, 2)), np.ones((6, 2)), np.ones((5, 2))))
    assert result.ragged
    assert (result.shape, result.widths, result.rank) == ((3, 5, 6), (4, 6, 5), 2)
    assert [piece.shape for piece in result.reconstruct()] == [(5, 4), (5, 6), (5, 5)]
    assert "up to 6 columns" in repr(result)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"A": np.ones(5)}, r"A must be \(I, R\)"),
        ({"B": np.ones((3, 4))}, r"B \(K, J, R\)"),
        ({"B": []}, r"a list of \(J_k, R\)"),
        ({"A": np.ones((5, 3))}, "the same components"),
        ({"C": np.ones((2, 2))}, "the same slices"),
        ({"labels": Labels(rows=["a"])}, "rows has 1 labels, but the data need 5"),
        ({"trace": {"a": np.ones((2, 2))}}, r"trace\['a'\] must be one-dimensional"),
        ({"starts": {"a": np.ones(2), "b": np.ones(3)}}, r"starts must have one length; got \[2, 3\]"),
        ({"starts": {"a/b": np.ones(2)}}, "starts has a column 'a/b'"),
        ({"times": [0, 1]}, r"times must be numbers of shape \(3,\).*got shape \(2,\)"),
        ({"times": [0, 1, np.inf]}, "times must be finite numbers; got inf"),
        ({"times": np.zeros(3, "datetime64[D]")}, "days since 1970-01-01.*datetime64"),
        ({"period": 0}, "period must be a positive finite number, or None; got 0"),
        ({"period": np.nan}, "period must be a positive"),
        ({"observed_share": 1.5}, "observed_share must be from 0 to 1; got 1.5"),
        ({"observed_share": np.nan}, "observed_share must be from 0 to 1"),
        ({"coverage": np.ones((4, 3))}, r"coverage must be numbers of shape \(3, 4\)"),
        ({"coverage": np.full((3, 4), np.nan)}, "shares from 0 to 1"),
        ({"undetermined": np.ones((3, 2))}, "undetermined must be truth values"),
        ({"undetermined": np.ones((2, 2), bool)}, r"of shape \(3, 2\)"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make(**changes)


def test_undetermined_patterns_are_those_the_fit_names_or_those_with_little_strength() -> None:
    C = np.array([[1.0, 0.0, 0.0], [9e-4, 0.0, 2.0], [-1.1e-3, 0.0, 1.0]])
    strengths = {"A": np.ones((5, 3)), "B": np.ones((3, 4, 3)), "C": C}
    weak = [[False, True, True], [True, True, False], [False, True, False]]
    assert make(**strengths).undetermined_patterns.tolist() == weak
    named = ~np.array(weak)
    assert make(**strengths, undetermined=named).undetermined_patterns.tolist() == named.tolist()


def test_observation_fields_are_settled_and_have_defaults() -> None:
    plain = make()
    assert (plain.times, plain.period, plain.coverage, plain.undetermined) == (None,) * 4
    assert plain.observed_share == 1.0
    full = make(times=[3, 1, 2], period=np.int64(5), coverage=np.ones((3, 4), int), observed_share=1)
    assert full.times is not None
    assert full.times.dtype == np.float64
    assert type(full.period) is float
    assert full.coverage is not None
    assert full.coverage.dtype == np.float64


def test_a_result_can_be_scored_and_is_frozen() -> None:
    result = make()
    assert metrics.factor_match_score(result, (result.A, result.B, result.C)) == pytest.approx(1.0)
    with pytest.raises(AttributeError):
        result.objective = 0.0  # type: ignore[misc]
