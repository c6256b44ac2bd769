from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tparafac2.data import Labels
from tparafac2.io import tidy_tables
from tparafac2.result import Result


def make(**changes: Any) -> Result:
    rng = np.random.default_rng(0)
    plain: dict[str, Any] = {
        "model": "TParafac2",
        "A": rng.standard_normal((5, 2)),
        "B": rng.standard_normal((3, 4, 2)),
        "C": rng.random((3, 2)),
        "objective": 1.5,
        "explained_variance": 0.75,
        "status": "Converged.",
        "converged": True,
        "n_iter": 12,
        "feasibility_gaps": {"A": 0.0, "B": 1e-9, "C": 0.0},
    }
    return Result(**(plain | changes))


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
    attributes = make(B=np.ones((3, 4, 2)), parameters={"rank": 2}).to_dataset().attrs
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
