import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hand_made import hand_made
from hypothesis import assume, given, settings

from tparafac2.data import Labels
from tparafac2.io import tidy_tables
from tparafac2.result import Result, load_result
from tparafac2.result.dataset import optimised_at


def make(**changes: Any) -> Result:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((5, 2)), rng.standard_normal((3, 4, 2))
    return hand_made(**({"A": A, "B": B, "feasibility_gaps": {"A": 0.0, "B": 1e-9, "C": 0.0}} | changes))


def test_factors_carry_the_names_and_labels_of_the_user() -> None:
    labels = Labels(
        rows=list("abcde"), columns=list("wxyz"), names={"rows": "author", "columns": "word", "time": "year"}
    )
    result = make(labels=labels)
    dataset = result.to_dataset()
    assert dataset.patterns.dims == ("year", "word", "component")
    A, B, C = result.normalised()
    np.testing.assert_array_equal(dataset.loadings.sel(author="c"), A[2])
    np.testing.assert_array_equal(dataset.patterns.sel(year=1, word="z", component=2), B[1][3, 1])
    np.testing.assert_array_equal(dataset.strengths, C)
    assert dataset.component.values.tolist() == [1, 2]
    assert "width" not in dataset


def test_it_has_the_numbers_of_the_tables_and_says_in_which_units() -> None:
    result = make()
    dataset, tables = result.to_dataset(), tidy_tables(result)
    for name, column in (("loadings", "loading"), ("patterns", "weight"), ("strengths", "strength")):
        np.testing.assert_array_equal(dataset[name].values.ravel(), tables[name][column])
        assert dataset[name].attrs["units"]
    assert dataset.attrs["convention"].startswith("Loadings have length 1")


def test_attributes_say_how_the_fit_went() -> None:
    attributes = make(B=np.ones((3, 4, 2)), parameters={"rank": 2}, objective=1.5).to_dataset().attrs
    assert attributes["model"] == "TParafac2"
    assert attributes["objective"] == 1.5
    assert attributes["feasibility_gap_B"] == 1e-9
    assert attributes["converged"] == 1
    assert attributes["notes"].count("is static") == 2
    assert attributes["parameters"] == '{"rank": 2}'


def test_trace_and_starts_are_variables_too() -> None:
    trace = {"iteration": np.array([0, 10]), "objective": np.array([2.0, 1.0])}
    starts = {"start": np.array([7, 3]), "objective": np.array([1.0, 1.1]), "chosen": np.array([True, False])}
    dataset = make(trace=trace, starts=starts).to_dataset()
    assert dataset.trace_objective.dims == ("trace_row",)
    assert dataset.trace_iteration.values.tolist() == [0, 10]
    assert float(dataset.start_objective.sel(start=3)) == 1.1


def test_what_was_observed_and_when_is_there_where_the_fit_has_it() -> None:
    coverage, undetermined = np.linspace(0, 1, 12).reshape(3, 4), np.eye(3, 2, dtype=bool)
    result = make(
        times=[0, 2, 7], period=24, observed_share=0.5, coverage=coverage, undetermined=undetermined
    )
    dataset = result.to_dataset()
    assert dataset.time_value.values.tolist() == [0.0, 2.0, 7.0]
    assert dataset.patterns.swap_dims(time="time_value").sel(time_value=7).shape == (4, 2)
    assert dataset.coverage.dims == ("time", "columns")
    np.testing.assert_array_equal(dataset.coverage, coverage)
    assert dataset.undetermined.dims == ("time", "component")
    assert bool(dataset.undetermined.sel(time=1, component=2))
    assert (dataset.attrs["period"], dataset.attrs["observed_share"]) == (24.0, 0.5)


def test_nothing_is_said_of_what_the_fit_does_not_have() -> None:
    dataset = make().to_dataset()
    assert not {"time_value", "coverage", "undetermined"} & set(dataset.variables)
    assert "period" not in dataset.attrs
    assert dataset.attrs["observed_share"] == 1.0


def test_a_dataset_with_everything_can_be_written(tmp_path: Path) -> None:
    result = make(times=[0, 2, 7], period=24, undetermined=np.eye(3, 2, dtype=bool))
    result.to_dataset().to_netcdf(tmp_path / "data.nc", engine="h5netcdf")
    assert (tmp_path / "data.nc").stat().st_size > 0


def test_ragged_patterns_are_padded_with_nan() -> None:
    pieces = [np.ones((4, 2)), np.ones((2, 2)), np.ones((3, 2))]
    dataset = make(B=pieces).to_dataset()
    assert dataset.width.values.tolist() == [4, 2, 3]
    assert np.isnan(dataset.patterns.values[1, 2:]).all()
    assert int(np.isnan(dataset.patterns).sum()) == 6


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("component", "columns", "time"), ("component_", "columns", "time")),
        (("start", "loadings", "trace_row"), ("start_", "loadings_", "trace_row_")),
        (("component", "component_", "start_objective"), ("component__", "component_", "start_objective_")),
        (("a/b", "strengths", "时间"), ("a/b", "strengths_", "时间")),
        (("start", "width", ""), ("start_", "width_", "")),
        (("coverage", "undetermined", "time_value"), ("coverage_", "undetermined_", "time_value_")),
    ],
)
def test_taken_names_get_an_underscore(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    labels = Labels(names=dict(zip(("rows", "columns", "time"), names)))
    dataset = make(labels=labels, starts={"objective": np.ones(3)}).to_dataset()
    rows, columns, time = expected
    assert dataset.loadings.dims == (rows, "component")
    assert dataset.patterns.dims == (time, columns, "component")
    assert dataset.start_objective.dims == ("start",)


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "float32", "bool", "object"])
def test_labels_of_any_kind_can_be_coordinates(kind: str) -> None:
    time = np.array(["2020-01-01", "2020-02-01", "NaT"], dtype="datetime64[D]")
    given = np.array([0, "x", None], dtype=object) if kind == "object" else np.arange(3).astype(kind)
    if "datetime64[" in kind:
        given = time.astype(kind)
    coordinate = make(labels=Labels(time=given)).to_dataset()["time"].values
    assert len(coordinate) == 3
    if "datetime64[" in kind:
        np.testing.assert_array_equal(coordinate, time)


# --- patterns at any time -----------------------------------------------------------------------------------

QUICK = settings(max_examples=60)
DATETIMES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))


def made(K: int, **changes: Any) -> Result:
    rng = np.random.default_rng(0)
    return make(
        **{
            "A": rng.standard_normal((2, 2)),
            "B": rng.standard_normal((K, 4, 2)),
            "C": rng.random((K, 2)),
            **changes,
        }
    )


@st.composite
def uneven_results(draw: st.DrawFn, cyclic: bool | None = None) -> Result:
    """Slices at different times, in any order; the period, if any, is longer than their span."""
    whole = draw(st.lists(st.integers(-500, 500), min_size=1, max_size=6, unique=True))
    times = np.array(whole) / draw(st.sampled_from([1, 7, 10]))
    cyclic = draw(st.booleans()) if cyclic is None else cyclic
    period = float(np.ptp(times) + draw(st.integers(1, 30))) if cyclic else None
    B = np.random.default_rng(draw(st.integers(0, 99))).standard_normal((len(times), 4, 2))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    return made(len(times), times=times, period=period, B=B.astype(dtype))


def optimised(result: Result, t: object) -> np.ndarray:
    """Give what lies between the slices, in the units of `result.B`."""
    found, _, single = optimised_at(result, t)
    return found[0] if single else found


def inside(result: Result, share: float) -> float:
    assert result.times is not None
    return float(result.times.min() + share * np.ptp(result.times))


@QUICK
@given(uneven_results())
def test_at_the_slices_it_is_exactly_their_pattern(result: Result) -> None:
    np.testing.assert_array_equal(optimised(result, result.times), result.B)
    np.testing.assert_array_equal(optimised(result, float(result.times[0])), result.B[0])


@QUICK
@given(uneven_results(), st.floats(0, 1))
def test_between_neighbours_it_is_on_the_line_from_one_to_the_other(result: Result, share: float) -> None:
    order = np.argsort(result.times)
    assume(len(order) > 1)
    for first, second in pairwise(order):
        start, end = result.times[[first, second]]
        t = min(start + share * (end - start), end)
        weight = (t - start) / (end - start)
        expected = (1 - weight) * result.B[first] + weight * result.B[second]
        found = optimised(result, t)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        low, high = np.minimum(*result.B[[first, second]]), np.maximum(*result.B[[first, second]])
        assert (found >= low - 1e-12).all()
        assert (found <= high + 1e-12).all()


@QUICK
@given(uneven_results(), st.floats(0, 1), st.randoms(use_true_random=False))
def test_the_order_of_the_slices_does_not_matter(result: Result, share: float, random) -> None:
    order = list(range(len(result.C)))
    random.shuffle(order)
    shuffled = made(len(order), times=result.times[order], period=result.period, B=result.B[order])
    t = inside(result, share)
    np.testing.assert_array_equal(optimised(shuffled, t), optimised(result, t))


@QUICK
@given(uneven_results(cyclic=True), st.floats(0, 1), st.integers(-3, 3))
def test_time_that_goes_round_comes_back(result: Result, share: float, rounds: int) -> None:
    assert result.period is not None
    t = inside(result, 0) + share * result.period
    later = optimised(result, t + rounds * result.period)
    np.testing.assert_allclose(later, optimised(result, t), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(optimised(result, result.times + rounds * result.period), result.B)


@QUICK
@given(uneven_results(cyclic=True), st.floats(0, 1))
def test_after_the_last_slice_comes_the_first(result: Result, share: float) -> None:
    first, last = result.times.argmin(), result.times.argmax()
    gap = result.period - np.ptp(result.times)
    B = np.asarray(result.B, dtype=np.float64)
    expected = (1 - share) * B[last] + share * B[first]
    found = optimised(result, result.times[last] + share * gap)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@QUICK
@given(uneven_results(cyclic=False), st.floats(1e-6, 1e6), st.booleans())
def test_outside_the_range_is_refused(result: Result, distance: float, before: bool) -> None:
    t = inside(result, 0) - distance if before else inside(result, 1) + distance
    with pytest.raises(ValueError, match=r"known from .* to .*, and t = .* is outside"):
        optimised(result, [inside(result, 0.5), t])


@QUICK
@given(st.lists(DATETIMES, min_size=1, max_size=5, unique=True))
def test_dates_in_nanoseconds_hit_their_slices(moments: list[datetime.datetime]) -> None:
    dates = np.array(moments, dtype="datetime64[ns]")
    counted = (dates - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    assume((np.diff(np.sort(counted)) > 1e-9).all())
    result = made(len(dates), times=counted, labels=Labels(time=dates))
    for form in (dates, moments, pd.DatetimeIndex(dates), counted):
        np.testing.assert_array_equal(optimised(result, form), result.B)


DATES = np.array(["2020-03-01", "2020-01-01", "2020-01-31"], dtype="datetime64[D]")


def test_dates_and_texts() -> None:
    for changes in ({}, {"times": DATES.astype(float)}):
        result = made(3, labels=Labels(time=DATES), **changes)
        halfway = optimised(result, "2020-01-16")
        np.testing.assert_allclose(halfway, (result.B[1] + result.B[2]) / 2, rtol=1e-12)
        np.testing.assert_array_equal(halfway, optimised(result, pd.Timestamp("2020-01-16")))
        with pytest.raises(ValueError, match="from 2020-01-01 to 2020-03-01, and t = 2020-03-01 12:00 is"):
            optimised(result, "2020-03-01T12:00")
        with pytest.raises(ValueError, match=r"a date such as .*; got 'soon'"):
            optimised(result, "soon")


def test_dates_survive_a_file_that_keeps_their_labels_as_text(tmp_path: Path) -> None:
    result = made(3, labels=Labels(time=DATES.astype(object)), times=DATES.astype(float))
    with pytest.warns(UserWarning, match="labels of time are saved as text"):
        result.save(tmp_path / "result.npz")
    again = load_result(tmp_path / "result.npz")
    np.testing.assert_array_equal(optimised(again, "2020-02-10"), optimised(result, "2020-02-10"))


def test_shapes_and_numbers_of_slices() -> None:
    result = made(3)
    assert optimised(result, 0.5).shape == (4, 2)
    assert optimised(result, [0.5]).shape == (1, 4, 2)
    assert optimised(result, ()).shape == (0, 4, 2)
    np.testing.assert_allclose(optimised(result, 1.25), 0.75 * result.B[1] + 0.25 * result.B[2])
    with pytest.raises(ValueError, match=r"from 0 to 2, and t = 2\.5 is outside"):
        optimised(result, 2.5)
    with pytest.raises(ValueError, match=r"must be a number.*got '2020-03-01'"):
        optimised(result, "2020-03-01")


def test_one_slice_is_known_at_its_time_or_for_ever_where_time_goes_round() -> None:
    with pytest.raises(ValueError, match="from 0 to 0"):
        made(1).patterns_at(1)
    result = made(1, period=2.0)
    np.testing.assert_allclose(optimised(result, [0, 0.7, 9]), np.repeat(result.B, 3, axis=0))


@pytest.mark.filterwarnings("error")
def test_a_neighbour_that_went_wrong_does_not_spoil_a_slice() -> None:
    B = np.ones((3, 4, 2))
    B[1] = np.inf
    np.testing.assert_array_equal(optimised(made(3, B=B), [0, 1, 2]), B)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"B": [np.ones((4, 2)), np.ones((3, 2)), np.ones((4, 2))]}, "B is a list"),
        ({"times": [3, 1, 3]}, "slices 0 and 2 were both taken at 3: fit"),
        ({"times": [3, 1, 27], "period": 24}, r"slices 0 and 2 .* at 3 \(the period is 24\)"),
        ({"labels": Labels(time=[1, 2, 1])}, "slices 0 and 2 were both taken at 1"),
        ({"labels": Labels(time=[1, np.nan, 2])}, "labels of time do not say when"),
        ({"labels": Labels(time=np.array(["2020", "NaT", "2021"], "datetime64[Y]"))}, "do not say when"),
    ],
)
def test_where_there_is_no_between(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        made(3, **changes).patterns_at(1)


def test_people_read_labelled_patterns_of_length_one() -> None:
    labels = Labels(columns=list("wxyz"), time=DATES, names={"columns": "word", "time": "day"})
    result = made(3, labels=labels)
    seen = result.patterns_at(["2020-01-31", "2020-01-16"])
    assert seen.dims == ("day", "word", "component")
    assert seen.day.values.astype("datetime64[D]").tolist() == [DATES[2].item(), datetime.date(2020, 1, 16)]
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(seen[0], result.normalised().B[2])
    assert float(seen[1].sel(word="y", component=2)) == float(seen[1].values[2, 1])
    assert "length 1" in seen.attrs["units"]


def test_one_moment_has_no_dimension_of_time_and_zeros_stay_zero() -> None:
    seen = made(2, B=np.zeros((2, 4, 2))).patterns_at(0.25)
    assert (seen.dims, float(seen.time)) == (("columns", "component"), 0.25)
    assert not np.any(seen)
