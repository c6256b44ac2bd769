"""What is expected of further slices, forecasts and labels, and is still to come."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp

START = {"n_starts": 2, "random_state": 0}
AUTHORS = [f"r{i}" for i in range(20)]


def labelled(X, first_column=1000):
    """The data with whole numbers as labels of columns and times, and texts as labels of rows."""
    K, I, J = X.shape
    coordinates = {"time": 2000 + np.arange(K), "rows": AUTHORS[:I], "columns": first_column + np.arange(J)}
    return xr.DataArray(X, coordinates, ("time", "rows", "columns"))


@pytest.fixture(scope="module")
def data():
    return labelled(tp.synthetic.easy(seed=0, noise=0.1, n_times=8, n_rows=20, n_columns=24).X)


@pytest.fixture(scope="module")
def model(data):
    return tp.TParafac2(3, 1e-3, **START).fit(data[:6])


# --- fitting all data again ---------------------------------------------------------------------------------


@pytest.mark.xfail(
    strict=True, reason="fitting again matches the weights of rows by position", raises=AssertionError
)
def test_weights_of_rows_are_matched_by_label_when_all_is_fitted_again(data):
    weights = np.linspace(0.2, 4.0, 20)
    model = tp.TParafac2(3, 1e-3, **START).fit(data[:6], weights=weights)
    again = model.append(data, refit=True)
    turned = model.append(data[:, ::-1], refit=True)
    assert turned.to_dataset()["rows"].values.tolist() == AUTHORS[::-1]
    np.testing.assert_allclose(turned.result_.row_weights[::-1], again.result_.row_weights)
    assert turned.objective_ == pytest.approx(again.objective_, rel=1e-4)


@pytest.mark.xfail(
    strict=True, reason="fitting again replaces weights of entries by those of rows", raises=AssertionError
)
def test_weights_of_entries_do_not_become_those_of_rows(data):
    """The same data again have the same objective; if weights were not kept, they are asked for."""
    weights = np.random.default_rng(0).choice([0.05, 2.0], size=(6, 20, 24))
    model = tp.TParafac2(3, 1e-3, **START).fit(data[:6], weights=weights)
    try:
        again = model.append(data[:6], refit=True)
    except ValueError as error:
        if error.argument != "weights":
            raise
        again = model.append(data[:6], refit=True, weights=weights)
    assert again.objective_ == pytest.approx(model.objective_, rel=1e-3)


@pytest.mark.xfail(strict=True, reason="fitting again loses the attributes of rows", raises=AssertionError)
def test_attributes_of_rows_stay_when_all_is_fitted_again(data):
    about = pd.DataFrame({"kind": ["young", "old"] * 10}, index=AUTHORS)
    model = tp.TParafac2(3, 1e-3, **START).fit(data[:6], row_attributes=about)
    again = model.append(data[:, ::-1], refit=True)
    assert list(again.row_attributes_.columns) == ["kind"]
    assert again.row_attributes_["kind"].to_dict() == about["kind"].to_dict()


# --- which labels are the same ------------------------------------------------------------------------------

USES = {
    "transform": lambda model, X: model.transform(X),
    "complete": lambda model, X: model.complete(X).transpose("time", "rows", "columns").values,
    "evaluate": lambda model, X: model.evaluate(X).objective,
}


@pytest.mark.xfail(strict=True, reason="the column 1000.0 is not the column 1000", raises=ValueError)
@pytest.mark.parametrize("use", USES)
def test_whole_numbers_are_the_same_column_in_any_type(data, model, use):
    given = data[:6].assign_coords(columns=data["columns"] * 1.0)
    np.testing.assert_allclose(USES[use](model, given), USES[use](model, data[:6]))


@pytest.mark.parametrize("use", USES)
def test_whole_numbers_are_the_same_time_in_any_type(data, model, use):
    given = data[:6].assign_coords(time=data["time"][:6] * 1.0)
    np.testing.assert_allclose(USES[use](model, given), USES[use](model, data[:6]))


@pytest.mark.parametrize("dimension", ["columns", "time"])
@pytest.mark.parametrize("refit", [False, True])
def test_whole_numbers_are_the_same_label_to_append(data, model, dimension, refit):
    given = data.assign_coords({dimension: data[dimension] * 1.0})
    first = 0 if refit else 6
    longer = model.append(given[first:], refit=refit)
    np.testing.assert_allclose(longer.B_, model.append(data[first:], refit=refit).B_)


# --- forecasts where time goes round ------------------------------------------------------------------------


def round_trip(seed, K=24):
    """Patterns that wander and come back to where they began, with strengths that are never quite sure."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(0.2 * rng.standard_normal((K, 15, 2)), axis=0)
    walk -= (np.arange(1, K + 1) / K)[:, None, None] * walk[-1]
    B = rng.standard_normal((15, 2)) + walk
    C = 3.0 + np.cos(2 * np.pi * np.arange(K) / K)[:, None] + 0.3 * rng.standard_normal((K, 2))
    signal = np.einsum("ir,kr,kjr->kij", rng.standard_normal((20, 2)), C, B)
    return signal + 0.1 * signal.std() * rng.standard_normal(signal.shape)


def ahead_of(seed, given):
    X = round_trip(seed)
    model = tp.TParafac2(2, 1e-3, period=24, **START).fit(X[:21], times=np.arange(21))
    return X[21:], model.forecast(times=[21, 22, 23], X=X[:21] if given else None)


@pytest.mark.xfail(
    strict=True, reason="intervals of a forecast with a period have no width", raises=AssertionError
)
@pytest.mark.parametrize("given", [False, True], ids=["alone", "with the data"])
def test_intervals_of_a_forecast_with_a_period_have_a_width(given):
    _, ahead = ahead_of(0, given)
    for band in (ahead.strengths, ahead.patterns):
        assert (band.upper > band.lower).all()


@pytest.mark.xfail(
    strict=True, reason="intervals of a forecast with a period are too narrow", raises=AssertionError
)
@pytest.mark.slow
@pytest.mark.parametrize("given", [False, True], ids=["alone", "with the data"])
def test_intervals_of_a_forecast_with_a_period_hold_what_comes(given):
    held = []
    for seed in range(4):
        X, ahead = ahead_of(seed, given)
        lower, upper = ahead.fitted.lower, ahead.fitted.upper
        held.append(((lower <= X) & (upper >= X)).mean())
    assert np.mean(held) >= 0.8


# --- forecasts of odd times ---------------------------------------------------------------------------------

FAR_AWAY = """
import resource
import numpy as np
import tparafac2 as tp

most = 4 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
X = np.random.default_rng(0).random((8, 6, 5))
model = tp.TParafac2(1, 1e-3, n_starts=1, random_state=0).fit(X, times=np.arange(8) / 2)
try:
    band = model.forecast(times=[1e6]).fitted
except ValueError as error:
    assert error.argument == "times", error
else:
    assert np.isfinite([band.lower, band.value, band.upper]).all()
"""


@pytest.mark.xfail(strict=True, reason="a forecast of a far time takes all memory", raises=AssertionError)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process cannot be limited")
def test_a_forecast_of_a_far_time_is_an_answer_or_refused():
    ended = subprocess.run([sys.executable, "-c", FAR_AWAY], env=os.environ, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.xfail(strict=True, reason="a forecast depends on the unit of time", raises=RuntimeWarning)
@pytest.mark.parametrize("unit", [1e-300, 1e-307])
def test_a_forecast_does_not_depend_on_the_unit_of_time(unit, data):
    X, times, ahead = 1e10 * data.values, np.array([0, 1, 2, 4, 5, 6, 8, 9]), np.array([10, 12])
    plain, tiny = (
        tp.TParafac2(3, 1e-3, **START).fit(X, times=of * times).forecast(times=of * ahead)
        for of in (1.0, unit)
    )
    np.testing.assert_allclose(tiny.fitted.value, plain.fitted.value, rtol=1e-6)


@pytest.mark.xfail(strict=True, reason="times beyond the range of numbers", raises=RuntimeWarning)
@pytest.mark.parametrize("step", [2**60, 2.4e307])
def test_times_beyond_all_numbers_are_told_apart_or_refused(step, data):
    """There is no whole number of 64 bits, and no float, for the second time after these."""
    model = tp.TParafac2(3, 1e-3, **START).fit(data.values, times=np.arange(8) * step)
    try:
        times = model.forecast(2).times
    except ValueError as error:
        if getattr(error, "argument", None) not in ("h", "times"):
            raise
    else:
        assert np.isfinite(times).all()
        assert 7 * step < times[0] < times[1]


@pytest.mark.xfail(strict=True, reason="numbers of NumPy are refused as untrue", raises=ValueError)
@pytest.mark.parametrize("given", [{"level": np.float32(0.5)}, {"season": np.int64(2)}], ids=str)
def test_a_forecast_takes_numbers_of_numpy(data, given):
    model = tp.TParafac2(3, 1e-3, **START).fit(data.values)
    plain = model.forecast(2, **{name: value.item() for name, value in given.items()})
    np.testing.assert_allclose(model.forecast(2, **given).fitted.lower, plain.fitted.lower)
