"""Forecasts: what is said of later times, how sure it is, and what cannot be said."""

import sys

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.newdata import forecast
from tparafac2.newdata.origins import Origins

START = {"n_starts": 2, "random_state": 0}


def walks(seed, K=24, noise=0.5):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((15, 2)) + np.cumsum(0.2 * rng.standard_normal((K, 15, 2)), axis=0)
    C = 2.0 + 0.3 * rng.standard_normal((K, 2))
    signal = np.einsum("ir,kr,kjr->kij", rng.standard_normal((20, 2)), C, B)
    return signal + noise * signal.std() * rng.standard_normal(signal.shape)


@pytest.fixture(scope="module")
def data():
    coords = {
        "year": np.arange(1990, 2014),
        "town": [f"t{i}" for i in range(20)],
        "word": list("abcdefghijklmno"),
    }
    return xr.DataArray(walks(0), dims=("year", "town", "word"), coords=coords)


@pytest.fixture(scope="module")
def model(data):
    return tp.TParafac2(2, 1e-3, **START).fit(data)


def test_patterns_stay_and_everything_has_labels(model, data):
    ahead = model.forecast(3, X=data)
    normal = model.normalised()
    np.testing.assert_array_equal(ahead.patterns.value, np.repeat(normal.B[-1:], 3, axis=0))
    expected = np.einsum("ir,kr,kjr->kij", normal.A, ahead.strengths.value, ahead.patterns.value)
    np.testing.assert_allclose(ahead.fitted.value, expected)
    for band in (ahead.patterns, ahead.strengths, ahead.fitted):
        assert (band.lower <= band.value).all()
        assert (band.value <= band.upper).all()
    dataset = ahead.to_dataset()
    assert dataset.year.values.tolist() == [2014, 2015, 2016]
    assert dataset.fitted.dims == ("year", "town", "word")
    assert dataset.patterns_upper.dims == ("year", "word", "component")
    frame = ahead.to_frame()
    assert list(frame.columns) == ["year", "town", "word", "value", "lower", "upper"]
    assert len(frame) == 3 * 20 * 15


def test_the_same_seed_gives_the_same_intervals(model):
    one, other = (model.forecast(2, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.fitted.lower, other.fitted.lower)
    assert (model.forecast(2, random_state=6).fitted.lower != one.fitted.lower).any()


def test_intervals_of_patterns_grow_with_the_gap(model, data):
    for X in (None, data):
        band = model.forecast(times=[2014, 2018, 2026], X=X).patterns
        width = (band.upper - band.lower).mean(axis=(1, 2))
        assert width[0] < width[1] < width[2]
        # A random walk goes twice as far in four times the time.
        assert width[2] / width[0] > 1.5


def test_wider_intervals_hold_more(model, data):
    narrow, wide = (model.forecast(2, level=level, X=data).fitted for level in (0.5, 0.99))
    assert (narrow.upper - narrow.lower).mean() < 0.5 * (wide.upper - wide.lower).mean()


@pytest.mark.slow
@pytest.mark.parametrize("given", [False, True])
def test_intervals_hold_what_they_say(given):
    held, patterns = [], []
    for seed in range(4):
        X = walks(seed, K=34)
        model = tp.TParafac2(2, 1e-3, **START).fit(X[:30])
        ahead = model.forecast(4, X=X[:30] if given else None)
        held.append(((X[30:] >= ahead.fitted.lower) & (X[30:] <= ahead.fitted.upper)).mean())
        later = model.append(X[30:]).normalised().B[30:]
        patterns.append(((later >= ahead.patterns.lower) & (later <= ahead.patterns.upper)).mean())
    assert 0.89 < np.mean(held) < 0.985
    assert 0.86 < np.mean(patterns) < 0.995


def test_errors_with_hindsight_are_those_of_longer_times():
    walk = np.cumsum(np.random.default_rng(0).standard_normal((204, 30, 1)), axis=0)
    smooth = np.stack([walk[k : k + 5].mean(axis=0) for k in range(200)])
    changes = (np.diff(smooth, axis=0) ** 2).mean()
    assert changes < 0.3  # of 1, which a step of the walk has
    assert 0.7 < Origins(smooth, smooth, np.arange(200.0), hindsight=True).spread(1.0).mean() < 1.3


def test_patterns_that_do_not_change_are_sure(data):
    ahead = tp.CP(2, **START).fit(data).forecast(2)
    np.testing.assert_array_equal(ahead.patterns.lower, ahead.patterns.upper)
    assert (ahead.fitted.upper > ahead.fitted.lower).all()


def test_what_cannot_be_negative_is_not(data):
    model = tp.TParafac2(2, 1e-3, nonnegative="both", **START).fit(np.abs(data))
    ahead = model.forecast(3, X=np.abs(data))
    assert (ahead.patterns.lower >= 0).all()
    assert (ahead.strengths.lower >= 0).all()


def test_fitted_values_are_in_the_users_units(data):
    counts = np.exp(data / 10)
    for preparation in (
        tp.Preparation("log1p", center="rows"),
        tp.Preparation("clr", pseudocount=0.1),
        tp.Preparation(center="time", scale="columns"),
    ):
        model = tp.TParafac2(2, 1e-3, **START).fit(preparation.apply(counts))
        ahead = model.forecast(2, X=counts)
        shares = preparation.transform == "clr"
        assert ahead.to_dataset().fitted_lower.units.startswith("shares" if shares else "those of the data")
        last = model.fitted_values()[-1]
        assert np.abs(ahead.fitted.value[0] - last).mean() < 0.5 * np.abs(last).mean() + 0.1


def test_seasons_of_strengths_go_on():
    rng = np.random.default_rng(0)
    C = 2.0 + np.stack([np.sin(np.arange(40) * np.pi / 2), np.zeros(40)], axis=1)
    A, B = rng.standard_normal((20, 2)), rng.standard_normal((10, 2))
    X = np.einsum("ir,kr,jr->kij", A, C, B) + 0.05 * rng.standard_normal((40, 20, 10))
    model = tp.CP(2, **START).fit(X[:36])
    seasonal = model.forecast(4, season=4)
    assert np.linalg.norm(X[36:] - seasonal.fitted.value) < 0.1 * np.linalg.norm(X[36:])
    with pytest.raises(ValueError, match="at least two seasons"):
        model.forecast(4, season=30)


def test_time_that_goes_round_comes_back(data):
    model = tp.TParafac2(2, 1e-2, period=12, **START).fit(data.values[:8], times=range(8))
    ahead = model.forecast(times=[10, 11])
    normal = model.normalised()
    between = (normal.C[7] * 2 + normal.C[0] * 3) / 5
    np.testing.assert_allclose(ahead.strengths.value[0], between)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.arange(1990, 2014), ["2014", "2015"]),
        (np.arange(24) * 0.5, ["12.0", "12.5"]),
        (np.arange("2020-01", "2022-01", dtype="datetime64[M]"), ["2022-01", "2022-02"]),
        (np.arange("2020-02", "2022-02", dtype="M8[M]").astype("M8[D]") - 1, ["2022-01-31"]),
        (np.arange("2020-01-01", "2020-01-25", dtype="datetime64[D]"), ["2020-01-25", "2020-01-26"]),
        (None, None),
    ],
)
def test_times_go_on_as_they_were(data, labels, expected):
    if labels is not None and labels.dtype.kind == "M":
        labels = labels.astype("datetime64[ns]")
    X = data.values if labels is None else data.assign_coords(year=labels)
    ahead = tp.CP(1, **START).fit(X).forecast(2)
    if expected is None:
        assert ahead.times.tolist() == [24, 25]
    else:
        assert [str(label)[: len(text)] for label, text in zip(ahead.labels.time, expected)] == expected


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"h": 0}, "h must be a whole number"),
        ({"h": 2.5}, "h must be a whole number"),
        ({}, "a forecast needs h"),
        ({"h": 2, "times": [2020]}, "there are 1 times"),
        ({"times": [2000]}, "is in the model already: give times"),
        ({"times": [1980]}, "lies before the last of the model, 2013: give times"),
        ({"times": []}, "times has none"),
        ({"times": [2015, 2016, 2015]}, "has a time more than once"),
        ({"h": 2, "level": 1.5}, "level must be between"),
        ({"h": 2, "season": 1}, "season must be"),
        ({"h": 2, "X": np.ones((3, 20, 15))}, "must be the data of the model"),
    ],
)
def test_what_cannot_be_asked(model, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.forecast(**arguments)


def test_data_are_matched_by_their_times(model, data):
    expected = model.forecast(2, X=data).fitted.upper
    frame = data.to_series().rename("value").reset_index()
    table = tp.Table(frame, rows="town", columns="word", time="year", values="value")
    for X in (data[::-1], data.values, data.assign_coords(year=data.year + 0.0), data[:, ::-1, ::-1], table):
        np.testing.assert_allclose(model.forecast(2, X=X).fitted.upper, expected, rtol=1e-6)


OTHERS = {
    "reversed": (lambda X: X.values[::-1], "the model explains"),
    "later": (lambda X: X.assign_coords(year=X.year + 100), "it has the times 2090"),
    "larger": (lambda X: 100 * X, "the model explains"),
    "fewer rows": (lambda X: X[:, :-2], "the model explains"),
    "other columns": (lambda X: X.assign_coords(word=[*"bcdefghijklmno", "x"]), "does not have .'x'"),
    "prepared": (lambda X: tp.Preparation(center="columns").apply(X), "X was prepared"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_data_than_those_of_the_fit_are_refused(model, data, kind):
    other, sentence = OTHERS[kind]
    with pytest.raises(ValueError, match=sentence):
        model.forecast(2, X=other(data))


def test_all_data_of_an_appended_model_are_known_again(data):
    model = tp.TParafac2(2, 1e-3, **START).fit(data[:22, :, :14])
    lines = data[22:].to_series().rename("value").reset_index()
    names = {"rows": "town", "columns": "word", "time": "year", "values": "value"}
    longer = model.append(tp.Table(lines[lines.town != "t3"], **names))
    whole = data.to_series().rename("value").reset_index()
    whole = whole[(whole.town != "t3") | (whole.year < 2012)]
    assert longer.forecast(1, X=tp.Table(whole, **names)).times.tolist() == [2014]


def test_weights_and_missing_entries_are_those_of_the_fit(data):
    holes = data.where(np.random.default_rng(0).random(data.shape) > 0.1)
    model = tp.TParafac2(2, 1e-3, **START).fit(holes)
    assert model.forecast(1, X=holes).times.tolist() == [2014]
    weighted = tp.TParafac2(2, 1e-3, **START).fit(data, weights=np.linspace(0.5, 2, 20))
    assert weighted.forecast(1, X=data).times.tolist() == [2014]
    single = tp.TParafac2(2, 1e-3, dtype="float32", **START).fit(data)
    assert single.forecast(1, X=data).times.tolist() == [2014]


def test_few_times_say_too_little_of_strengths(data):
    with pytest.raises(ValueError, match=r"has 3 times .* fewer than 4"):
        tp.CP(1, **START).fit(data[:3]).forecast(1)
    band = tp.CP(1, **START).fit(data[:4]).forecast(1).strengths
    assert (band.upper > band.lower).all()


def test_times_that_cannot_be_continued(data):
    text = data.assign_coords(year=[f"wave {k}" for k in range(24)])
    uneven = data.drop_sel(year=1995)
    for X, sentence in ((text, "cannot be continued"), (uneven, "uneven")):
        model = tp.CP(1, **START).fit(X)
        with pytest.raises(ValueError, match=sentence):
            model.forecast(1)
    assert tp.CP(1, **START).fit(text).forecast(times=["wave x"]).labels.time.tolist() == ["wave x"]
    assert tp.CP(1, **START).fit(uneven).forecast(times=[2014]).labels.time.tolist() == [2014]
    ragged = tp.Parafac2(1, **START).fit([piece[:, : 15 - k % 2] for k, piece in enumerate(data.values)])
    with pytest.raises(ValueError, match="unequal width"):
        ragged.forecast(1)


def test_statsmodels_is_asked_for_by_name(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.tsa.exponential_smoothing", None)
    with pytest.raises(ImportError, match=r"pip install 'tparafac2\[forecast\]'"):
        forecast(model.result_, 1)


def test_an_appended_model_goes_on_from_its_last_time(model, data):
    longer = model.append(data.values[-1] * 1.1, 2014)
    ahead = longer.forecast(1)
    assert ahead.labels.time.tolist() == [2015]
    np.testing.assert_array_equal(ahead.patterns.value[0], longer.normalised().B[-1])
