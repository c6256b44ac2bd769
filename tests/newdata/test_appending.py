"""Further slices after a fit: against a slow minimiser, of all kinds, and refused where they must be."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.penalties import proximal

TIMES = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 11.0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    A, C = rng.random((12, 2)) ** 2, rng.uniform(0.2, 2, (8, 2))
    B = (
        2 * rng.random((9, 2)) * [[1, 0]]
        + 2 * rng.random((9, 2)) * [[0, 1]]
        + np.cumsum(0.1 * rng.standard_normal((8, 9, 2)), axis=0)
    )
    return np.einsum("ir,kr,kjr->kij", A, C, B) + 0.1 * rng.standard_normal((8, 12, 9))


def models():
    common = {"n_starts": 2, "random_state": 0, "smoothness": 3e-3}
    return {
        "hard": tp.TParafac2(2, **common),
        "soft": tp.TParafac2(2, rigidity=1.0, **common),
        "free": tp.TParafac2(2, rigidity=0.0, **common),
        "nonnegative": tp.TParafac2(2, rigidity=0.0, nonnegative="patterns", **common),
        "fixed strengths": tp.TemporalCMF(2, nonnegative="rows", **common),
    }


def slow_minimum(result, X, times, kind):
    """The objective of two further slices, minimised by a general method from several places."""
    terms, A, last = result.terms, result.A, result.B[-1]
    smooth = next(term for term in terms.B if hasattr(term, "epsilon"))
    gaps = np.diff(np.append(TIMES[: len(result.B)], times))
    median = np.median(gaps[: len(result.B) - 1])
    weights = smooth.strength * median / gaps[-2:]
    ridge = next((term.strength for term in terms.C if hasattr(term, "strength")), 0.0)
    m, J, R = len(X), last.shape[0], last.shape[1]
    fixed = terms.fixed_strengths
    # Delta is that of the fit; the last slice stands for a gap of 3, the one before for 2.5.
    soft = (
        sum(getattr(t, "strength", 0.0) for t in terms.B if hasattr(t, "softens"))
        * np.array([2.5, 3.0])
        / median
    )

    def polar(v):
        return proximal.polar_factors(v @ result.Delta.T) @ result.Delta

    def unpack(x):
        B = x[: m * J * R].reshape(m, J, R)
        return polar(B) if kind == "hard" else B, np.ones((m, R)) if fixed else x[m * J * R :].reshape(m, R)

    def value(x):
        B, C = unpack(x)
        total = np.nansum((X - np.einsum("ir,kr,kjr->kij", A, C, B)) ** 2)
        steps = np.diff(np.concatenate([last[None], B]), axis=0)
        total += (weights[:, None, None] * steps**2).sum() + smooth.strength * smooth.epsilon * (B**2).sum()
        if kind == "soft":
            total += (soft * ((B - polar(B)) ** 2).sum(axis=(1, 2))).sum()
        return total + (0.0 if fixed else ridge * (C**2).sum())

    bounds = [(0 if kind == "nonnegative" else None, None)] * (m * J * R) + [(0, None)] * (m * R)
    begin = np.concatenate([np.repeat(last[None], m, 0).ravel(), np.repeat(result.C[-1:], m, 0).ravel()])
    best = min(
        (
            scipy.optimize.minimize(
                value,
                begin * scale,
                bounds=bounds,
                method="L-BFGS-B",
                options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-9},
            )
            for scale in (1.0, 0.8)
        ),
        key=lambda found: found.fun,
    )
    return value, best.fun


@pytest.mark.slow
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kind", models())
def test_appended_slices_are_at_the_minimum(data, kind, holes):
    model = models()[kind].fit(data[:6], times=TIMES[:6])
    new = data[6:].copy()
    if holes:
        new[np.random.default_rng(0).random(new.shape) < 0.2] = np.nan
    longer = model.append(new, times=TIMES[6:])
    assert longer.converged_
    value, minimum = slow_minimum(model.result_, new, TIMES[6:], kind)
    found = value(np.concatenate([longer.B_[6:].ravel(), longer.C_[6:].ravel()]))
    assert found <= minimum * (1 + 1e-6)


@pytest.mark.parametrize("kind", [*models(), "parafac2", "cp", "penalised cp"])
def test_record_of_an_appended_model_is_what_the_data_say(data, kind):
    others = {
        "parafac2": tp.Parafac2(2, n_starts=2, random_state=0),
        "cp": tp.CP(2, n_starts=2, random_state=0),
        "penalised cp": tp.CP(2, lambda_a=0.1, lambda_b=0.1, lambda_d=0.1, n_starts=2, random_state=0),
    }
    model = {**models(), **others}[kind].fit(data[:6])
    before = model.result_
    longer = model.append(data[6]).append(data[7])
    assert model.result_ is before
    assert type(longer) is type(model)
    assert longer.get_params() == model.get_params()
    np.testing.assert_array_equal(longer.A_, model.A_)
    np.testing.assert_array_equal(longer.B_[:6], model.B_)
    again = longer.evaluate(data)
    assert longer.objective_ == pytest.approx(again.objective, rel=1e-9)
    assert longer.explained_variance_ == pytest.approx(again.explained_variance, rel=1e-9)
    for found in (longer.constraint_violations_["B"], longer.constraint_violations_["C"]):
        assert all(how_far < 1e-6 for how_far in found.values())
    assert longer.result_.terms.scale == pytest.approx(np.linalg.norm(data))


def test_appended_models_are_saved_shown_and_loaded(data, tmp_path):
    model = models()["hard"].fit(data[:6], times=TIMES[:6]).append(data[6:], times=TIMES[6:])
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.result_.appended == model.result_.appended
    assert again.summary() == model.summary()
    assert list(again.to_dataset()["time"].values) == list(TIMES)
    found = next(one for one in again.findings_ if one.kind == "appended")
    assert found.times == (8.0, 11.0)
    assert found.numbers["share"] == pytest.approx(
        1 - ((data[6:] - model.reconstruct()[6:]) ** 2).sum() / (data[6:] ** 2).sum()
    )
    assert "The last 2 of 8 times were appended" in tp.result.sentence(found)
    assert "  appended            The last 2 of 8 times were appended" in again.summary()


@pytest.mark.slow
def test_bands_of_the_fit_are_left_out_and_that_is_said(data, tmp_path):
    given = labelled(data)
    model = models()["free"].fit(given[:6, :, :8])
    assert "left out" not in model.append(given[6, :, :8]).summary()
    model.intervals(given[:6, :, :8], n_resamples=20)
    for more in (given[6, :, :8], given[6]):
        longer = model.append(more)
        assert longer.result_.intervals is None
        longer.append(given[7]).save(tmp_path / "model.npz")
        assert "Those of the fit are not of the appended times" in tp.load(tmp_path / "model.npz").summary()


def labelled(data):
    coords = {
        "year": 2000 + np.arange(8),
        "station": [f"s{i}" for i in range(12)],
        "word": [f"w{j}" for j in range(9)],
    }
    return xr.DataArray(data, dims=("year", "station", "word"), coords=coords)


def test_all_forms_of_a_slice_give_the_same(data):
    given = labelled(data)
    model = models()["hard"].fit(given[:7])
    expected = model.append(given[7])
    assert expected.result_.labels.time.tolist() == list(range(2000, 2008))
    frame = given[7].to_pandas().iloc[::-1, ::-1]
    long = given[7:].to_series().rename("value").reset_index()
    forms = {
        "array": (data[7], 2007),
        "stack": (data[7:], [2007]),
        "turned": (given[7].T, None),
        "frame": (frame, 2007),
        "frames": ([frame], [2007]),
        "dict": ({2007: frame}, None),
        "table": (tp.Table(long, rows="station", columns="word", time="year", values="value"), None),
        "long frame": (long, None),
        "sparse": (scipy.sparse.csr_array(data[7]), 2007),
    }
    for X, times in forms.values():
        np.testing.assert_allclose(model.append(X, times).B_[-1], expected.B_[-1], atol=1e-9)


def test_rows_and_columns_that_a_slice_lacks_are_missing(data):
    given = labelled(data)
    model = models()["hard"].fit(given[:7])
    holes = given[7].to_pandas()
    holes.loc["s3"], holes["w2"] = np.nan, np.nan
    lacking = given[7].to_pandas().drop(index="s3", columns="w2")
    one, other = model.append(holes, 2007), model.append(lacking, 2007)
    np.testing.assert_allclose(one.C_, other.C_)
    assert one.coverage_[-1].tolist() == [11 / 12 if j != 2 else 0 for j in range(9)]
    # Nobody saw it: it stays where it was, more or less, and is not zero.
    assert np.abs(other.B_[-1, 2] - other.B_[-2, 2]).max() < 0.3 * np.abs(other.B_[-2, 2]).max()
    gone = (
        tp.TParafac2(2, 3e-3, bridge=False, n_starts=2, random_state=0).fit(given[:7]).append(lacking, 2007)
    )
    assert not gone.B_[-1, 2].any()
    assert not gone.result_.present[-1, 2]


@pytest.mark.parametrize("every", [2, 13])  # dense and sparse
def test_rows_without_a_line_in_a_long_table_are_missing(data, every):
    given = labelled(data)
    model = models()["hard"].fit(given[:6])
    k, i, j = np.indices((2, 12, 9))
    there = ((i + j + 6 * k) % every == 0) & ~((k == 0) & (i == 3)) & (i != 5)
    lines = given[6:].to_series().rename("value")[there.ravel()].reset_index()
    table = tp.Table(lines, rows="station", columns="word", time="year", values="value")
    assert isinstance(table.slices()[0], np.ndarray) == (every == 2)
    seen = there.any(axis=2, keepdims=True)
    expected = model.append(given[6:].where(there, 0.0).where(seen))
    for X in (table, lines):
        longer = model.append(X)
        np.testing.assert_allclose(longer.B_, expected.B_, atol=1e-9)
        np.testing.assert_allclose(longer.coverage_, expected.coverage_)


def test_columns_that_enter_were_not_there_before(data):
    given = labelled(data)
    model = models()["hard"].fit(given[:6, :, :8])
    longer = model.append(given[6]).append(given[7])
    result = longer.result_
    assert result.labels.columns[-1] == "w8"
    assert not result.B[:6, 8].any()
    assert result.B[6:, 8].all()
    assert result.present[:, 8].tolist() == [False] * 6 + [True] * 2
    assert longer.constraint_violations_["B"]["Parafac2"] < 1e-9
    kept = given.where((given.word != "w8") | (given.year >= 2006))
    assert longer.objective_ == pytest.approx(longer.evaluate(kept).objective, rel=1e-9)
    with pytest.raises(ValueError, match="patterns do not change in time"):
        tp.CP(2, n_starts=1, random_state=0).fit(given[:6, :, :8]).append(given[6])


def test_a_time_without_any_observation_lies_on_a_line(data):
    model = models()["free"].fit(data[:6])
    new = data[6:].copy()
    new[0] = np.nan
    longer = model.append(new)
    np.testing.assert_allclose(longer.B_[6], (longer.B_[5] + longer.B_[7]) / 2)
    assert longer.undetermined_[6].all()


def test_the_model_prepares_further_slices_itself(data):
    counts = np.round(np.abs(data) * 10) + 1
    prepared = tp.Preparation(("share", "sqrt"), center="columns", scale="rows").apply(counts[:6])
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(prepared)
    longer = model.append(counts[6:])
    record = model.result_.preparation
    by_hand = np.sqrt(counts[6:] / counts[6:].sum(axis=2, keepdims=True)) - np.array(record["centers"])
    by_hand = by_hand / np.array(record["scales"])[:, None]
    plain = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(np.asarray(prepared.data)).append(by_hand)
    np.testing.assert_allclose(longer.B_, plain.B_, atol=1e-9)
    assert longer.fitted_values().shape == (8, 12, 9)
    by_time = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(
        tp.Preparation(center="time").apply(counts[:6])
    )
    centers = by_time.append(counts[6:]).result_.preparation["centers"]
    np.testing.assert_allclose(centers, counts.mean(axis=(1, 2)))
    with pytest.raises(ValueError, match="in another way"):
        model.append(tp.Preparation("sqrt").apply(counts[6:]))


def test_weights_of_rows_go_on(data):
    weights = np.linspace(0.5, 2.0, 12)
    model = models()["free"].fit(data[:6], weights=weights).append(data[6:])
    assert model.objective_ == pytest.approx(model.evaluate(data).objective, rel=1e-9)


def test_time_that_goes_round_is_tied_to_the_first_slice(data):
    model = tp.TParafac2(2, 3e-2, period=8, rigidity=0.0, n_starts=2, random_state=0).fit(data[:7])
    longer = model.append(data[7])
    assert longer.objective_ == pytest.approx(longer.evaluate(data).objective, rel=1e-9)
    assert longer.result_.terms.B[0].closing > 0


def test_slices_of_unequal_width(data):
    pieces = [data[k][:, : 9 - k % 3] for k in range(8)]
    model = tp.Parafac2(2, n_starts=2, random_state=0).fit(pieces[:6])
    longer = model.append(pieces[6:])
    assert longer.result_.widths == tuple(piece.shape[1] for piece in pieces)
    assert longer.objective_ == pytest.approx(longer.evaluate(pieces).objective, rel=1e-9)


def test_refit_goes_on_from_the_model_with_its_lambdas(data):
    model = models()["hard"].fit(data[:6])
    again = model.append(data[6:]).append(data, refit=True)
    assert again.lambda_b == pytest.approx(model.result_.terms.B[1].strength)
    assert again.smoothness is None
    assert again.init == "uniform"
    fresh = tp.TParafac2(
        2,
        lambda_a=again.lambda_a,
        lambda_b=again.lambda_b,
        lambda_d=again.lambda_d,
        n_starts=4,
        random_state=0,
    ).fit(data)
    assert again.objective_ == pytest.approx(fresh.objective_, rel=1e-3)
    assert again.objective_ < model.append(data[6:]).objective_
    lines = labelled(data)[7:].to_series().rename("value").reset_index()
    for X in (data[:3], data[7], pd.DataFrame(data[7]), lines):
        with pytest.raises(ValueError, match="refit needs all data"):
            model.append(X, refit=True)


BAD = {
    "is in the model already": lambda given: (given[5], None),
    "lies before the last": lambda given: (given.values[7], 1990),
    "times must be given": lambda given: (given.values[7], None),
    "must be numbers": lambda given: (given.values[7], "2020-05-01"),
    "8 columns, but the model has 9": lambda given: (given.values[7][:, :8], 2010),
    "11 rows, but the model has 12": lambda given: (given.values[7][:11], 2010),
    "1 rows that the model does not have": lambda given: (given[7].to_pandas().rename({"s1": "q"}), 2010),
    "no columns in common: X has 'W0', .* the model 'w0'": lambda given: (
        given[7].to_pandas().rename(columns=str.upper),
        2010,
    ),
    "leave them out, or fit all data again; transform gives": lambda given: (
        given[7].to_pandas().rename({"s1": "q"}),
        2010,
    ),
    "times says 2009, but X says 2007": lambda given: (given[7], 2009),
    "times says 2008, but X says 2006": lambda given: ({2006: given.values[6]}, [2008]),
    "no observed entry": lambda given: (np.full((12, 9), np.nan), 2010),
    "no slices": lambda given: ([], 2010),
    "infinite": lambda given: (np.full((12, 9), np.inf), 2010),
    "one time for each": lambda given: (given.values, 2010),
    "more than once": lambda given: (pd.concat([given[7].to_pandas()] * 2), 2010),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_cannot_be_appended_is_refused(data, sentence):
    given = labelled(data)
    model = models()["free"].fit(given[:6])
    X, times = BAD[sentence](given)
    with pytest.raises((ValueError, TypeError), match=sentence):
        model.append(X, times)
    assert model.B_.shape == (6, 9, 2)


@pytest.mark.parametrize("even", [False, True])
def test_times_that_agree_with_the_data_may_be_said(data, even):
    months = np.arange("2020-01", "2020-09", dtype="datetime64[M]").astype("datetime64[ns]")
    for labels, said in ((months, "2020-07"), (np.arange(2000, 2008), "2006.0")):
        given = labelled(data).assign_coords(year=labels)
        model = models()["free"].fit(given[:6], times="even" if even else None)
        assert model.append(given[6], said).result_.labels.time[-1] == labels[6]
        with pytest.raises(ValueError, match="but X says"):
            model.append(given[6], said.replace("7", "8").replace("6", "9"))


def test_labels_that_are_no_times_need_further_labels(data):
    given = labelled(data).assign_coords(year=[f"wave {k}" for k in "abcdefgh"])
    model = models()["free"].fit(given[:6])
    assert model.append(data[6], "wave z").result_.labels.time[-1] == "wave z"
    for times in (None, "wave a"):
        with pytest.raises(ValueError, match="wave"):
            model.append(data[6], times)
    with pytest.raises(ValueError, match="times says wave z, but X says wave g"):
        model.append(given[6], "wave z")
