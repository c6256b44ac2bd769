"""Missing entries, uneven and cyclic time, columns that come and go: through the front door."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
import xarray as xr
from filled_in import filled_in

import tparafac2 as tp

pytestmark = pytest.mark.slow

MODELS = {
    "TParafac2": tp.TParafac2(2, 1e-3),
    "Parafac2": tp.Parafac2(2),
    "tCMF": tp.TemporalCMF(2, 1e-3),
    "NNtCMF": tp.TemporalCMF(2, 1e-3, nonnegative="rows"),
    "CP": tp.CP(2),
}


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=2, noise=0.2, n_times=8, n_rows=24, n_columns=20, n_concepts=2)


def unit(patterns):
    return patterns / np.linalg.norm(patterns, axis=0)


def made(name, **parameters):
    return MODELS[name].__class__(
        **{**MODELS[name].get_params(), "n_starts": 3, "random_state": 0, **parameters}
    )


def holed(X, share=0.2, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_takes_missing_entries(data, name):
    X = holed(data.X)
    X[3, :, 4] = np.nan  # a column
    X[2, 5] = np.nan  # a row
    X[6] = np.nan  # a slice
    model = made(name, n_starts=2, tol=1e-6).fit(X)
    assert model.converged_
    assert model.B_.shape == data.B.shape
    assert np.isfinite(model.B_).all()
    assert model.observed_share_ == pytest.approx(np.mean(~np.isnan(X)))
    np.testing.assert_allclose(model.coverage_, np.mean(~np.isnan(X), axis=1))
    fitted = model.reconstruct()
    sse = np.nansum((X - fitted) ** 2)
    assert model.explained_variance_ == pytest.approx(1 - sse / np.nansum(X**2), abs=1e-9)
    assert model.undetermined_[6].all() == (name != "CP")


@pytest.mark.parametrize("name", MODELS)
def test_entries_that_the_model_fills_in_change_nothing(data, name):
    X = holed(data.X)
    model = made(name, max_iter=8000, tol=1e-11).fit(X)
    assert filled_in(model, X).objective_ == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_nothing_missing_is_as_ever(data, name):
    plain = made(name).fit(data.X)
    masked = made(name).fit(data.X, mask=np.ones(data.X.shape, dtype=bool))
    np.testing.assert_array_equal(plain.B_, masked.B_)
    assert plain.observed_share_ == 1.0
    assert plain.coverage_ is None


def test_half_of_the_entries_are_enough():
    lost = []
    for seed in range(3):
        data = tp.synthetic.easy(seed=seed, noise=0.5)
        model = tp.TParafac2(3, 3e-3, n_starts=3, tol=1e-6, random_state=0)
        scores = [tp.metrics.factor_match_score(model.fit(X), data) for X in (data.X, holed(data.X, 0.5))]
        lost.append(scores[0] - scores[1])
    assert np.max(lost) < 0.03


def test_a_slice_nobody_saw_is_interpolated(data):
    X = data.X.copy()
    X[3] = np.nan
    model = made("TParafac2").fit(X)
    np.testing.assert_allclose(model.C_[3], (model.C_[2] + model.C_[4]) / 2)
    free = tp.TemporalCMF(2, 1e-3, n_starts=2, random_state=0).fit(X)
    np.testing.assert_allclose(free.B_[3], (free.B_[2] + free.B_[4]) / 2)
    np.testing.assert_allclose(free.patterns_at(2.5), unit(0.75 * free.B_[2] + 0.25 * free.B_[4]))
    assert any("Nothing was observed at 1 of 8 times" in note for note in model.notes_)


def test_a_missing_year_is_a_longer_gap(data):
    X = data.X.copy()
    X[3] = np.nan
    holes = made("TParafac2").fit(X)
    kept = [0, 1, 2, 4, 5, 6, 7]
    gap = made("TParafac2").fit(data.X[kept], times=kept)
    assert holes.objective_ == pytest.approx(gap.objective_, rel=1e-6)


def test_even_times_change_nothing(data):
    plain = made("TParafac2").fit(data.X)
    timed = made("TParafac2").fit(data.X, times=2000 + 5 * np.arange(8))
    np.testing.assert_allclose(timed.B_, plain.B_, rtol=1e-9)


def test_the_order_of_slices_does_not_matter_if_times_are_given(data):
    times, shuffled = np.array([0, 1, 2, 4, 8, 9, 10, 20]), np.random.default_rng(0).permutation(8)
    for X in (data.X, holed(data.X)):
        straight = made("TParafac2").fit(X, times=times)
        mixed = made("TParafac2").fit(X[shuffled], times=times[shuffled])
        np.testing.assert_allclose(mixed.B_, straight.B_[shuffled], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mixed.C_, straight.C_[shuffled], rtol=1e-9, atol=1e-12)


def test_labels_bring_their_times(data):
    when = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-02-01", "2020-02-02", "2020-02-03",
                           "2020-02-04", "2020-03-01"])  # fmt: skip
    X = xr.DataArray(data.X, dims=("time", "rows", "columns"), coords={"time": when})
    from_labels = made("TParafac2").fit(X)
    given = made("TParafac2").fit(data.X, times=when)
    np.testing.assert_array_equal(from_labels.B_, given.B_)
    assert from_labels.objective_ != made("TParafac2").fit(X, times="even").objective_
    np.testing.assert_allclose(from_labels.patterns_at("2020-01-02"), unit(from_labels.B_[1]))


def random_walk(seed):
    """Two patterns whose directions do a random walk, seen in bursts with long gaps between them."""
    rng = np.random.default_rng(seed)
    K, J = 16, 30
    gaps = np.where(np.arange(K - 1) % 3 == 2, 20.0, 1.0) * rng.uniform(0.7, 1.3, K - 1)
    steps = np.array([[0.18], [0.14]]) * np.sqrt(gaps) * rng.standard_normal((2, K - 1))
    angles = np.cumsum(np.concatenate([np.zeros((2, 1)), steps], axis=1), axis=1)
    plane = np.linalg.qr(rng.standard_normal((J, 4)))[0].reshape(J, 2, 2)
    B = np.einsum("rk,jr->kjr", np.cos(angles), plane[:, :, 0])
    B += np.einsum("rk,jr->kjr", np.sin(angles), plane[:, :, 1])
    A, C = rng.random((20, 2)), rng.uniform(1, 2, (K, 2))
    X = np.einsum("ir,kr,kjr->kij", A, C, B)
    noise = 1.5 * np.linalg.norm(X) / np.sqrt(X.size) * rng.standard_normal(X.shape)
    return np.concatenate([[0.0], np.cumsum(gaps)]), X + noise, (A, B, C)


def test_uneven_times_help_where_patterns_were_sampled_unevenly():
    gains = []
    for seed in range(10):
        times, X, truth = random_walk(seed)

        def best(given, X=X, truth=truth):
            """At the smoothness that suits it best: the gain is not one of more or less of it."""
            models = (tp.TParafac2(2, s, n_starts=1, tol=1e-6, random_state=0) for s in (2e-2, 4e-2))
            return max(tp.metrics.factor_match_score(model.fit(X, times=given), truth) for model in models)

        gains.append(best(times) - best("even"))
    assert np.sum(np.array(gains) > 0) >= 8
    assert np.mean(gains) > 0.02


def test_time_that_goes_round(data):
    model = made("TParafac2", period=8.0).fit(data.X)
    plain = made("TParafac2").fit(data.X)
    ends = [np.sum((one.B_[-1] - one.B_[0]) ** 2) / np.sum(one.B_**2) for one in (model, plain)]
    assert ends[0] < ends[1]
    np.testing.assert_allclose(model.patterns_at(7.5), unit(model.B_[7] + model.B_[0]))
    rolled = made("TParafac2", period=8.0).fit(np.roll(data.X, 3, axis=0))
    assert rolled.objective_ == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("name", ["TParafac2", "tCMF"])
def test_cyclic_uneven_and_missing_together(data, name):
    times = np.array([0.0, 1, 2, 5, 6, 7, 9, 10])
    X = holed(data.X)
    model = made(name, period=12.0, max_iter=8000, tol=1e-11).fit(X, times=times)
    assert filled_in(model, X, times=times).objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_columns_that_come_and_go_are_zero_while_away(data):
    X = data.X.copy()
    X[:3, :, 7] = np.nan
    X[5:, :, 2] = np.nan
    model = made("TParafac2", bridge=False).fit(X)
    assert np.all(model.B_[:3, 7] == 0)
    assert np.all(model.B_[5:, 2] == 0)
    assert np.all(model.B_[3:, 7] != 0)
    assert tp.metrics.parafac2_violation(model.B_) < 1e-10
    bridged = made("TParafac2").fit(X)
    assert np.all(bridged.B_[:3, 7] != 0)


def test_sparse_and_uneven(data):
    X = np.where(np.quantile(data.X, 0.8) < data.X, data.X, 0.0)
    times = [0, 1, 2, 4, 8, 9, 10, 20]
    dense = made("TParafac2", period=30.0).fit(X, times=times)
    sparse = made("TParafac2", period=30.0).fit([scipy.sparse.csr_array(piece) for piece in X], times=times)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-8)


def test_results_are_the_same_on_any_number_of_processes_and_after_saving(data, tmp_path):
    years = [1990, 1991, 1992, 1995, 1996, 1997, 2000, 2003]
    X = xr.DataArray(holed(data.X), dims=("year", "author", "word"), coords={"year": years})
    X[2] = np.nan
    one, two = (made("TParafac2", n_starts=60, max_iter=30, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_allclose(one.B_, two.B_, rtol=1e-6, atol=1e-9)
    one.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.observed_share_ == one.observed_share_
    np.testing.assert_array_equal(again.coverage_, one.coverage_)
    np.testing.assert_array_equal(again.undetermined_, one.undetermined_)
    np.testing.assert_array_equal(again.patterns_at(1993.5), one.patterns_at(1993.5))


def test_a_start_of_ones_own_is_taken_slice_by_slice(data):
    X = data.X.copy()
    X[3] = np.nan
    first = made("TParafac2").fit(X)
    again = made("TParafac2", init=(first.A_, first.B_, first.C_)).fit(X)
    assert again.objective_ == pytest.approx(first.objective_, rel=1e-6)
    assert again.n_iter_ <= first.n_iter_


def test_starts_from_singular_vectors_work_with_holes(data):
    assert made("TParafac2", init="svd").fit(holed(data.X)).converged_


def test_float32_is_enough_for_holes(data):
    single = made("TParafac2", dtype="float32").fit(holed(data.X))
    double = made("TParafac2").fit(holed(data.X))
    assert tp.metrics.factor_match_score(single, double) > 0.999


@pytest.mark.parametrize(
    ("parameters", "given", "error", "said"),
    [
        ({"compress": True}, {}, ValueError, "compress=True is not possible with missing entries"),
        ({"compress": "yes"}, {}, TypeError, "compress must be True or False"),
        ({"bridge": "no"}, {}, TypeError, "bridge must be True or False"),
        ({"period": -1.0}, {}, ValueError, "period must be positive"),
        ({"period": "day"}, {}, TypeError, "period must be a number"),
        ({"period": 3.0}, {}, ValueError, "the period must be longer"),
        ({}, {"times": [1, 1, 2, 3, 4, 5, 6, 7]}, ValueError, "same time twice"),
        ({}, {"times": [1, 2, 3]}, ValueError, "one time for each"),
        ({}, {"mask": np.ones((2, 2))}, ValueError, "mask has"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(data, parameters, given, error, said):
    with pytest.raises(error, match=said):
        made("TParafac2", **parameters).fit(holed(data.X), **given)


def test_sparse_matrices_with_nan_are_refused(data):
    pieces = [scipy.sparse.csr_array(piece) for piece in data.X]
    pieces[1].data[3] = np.nan
    with pytest.raises(ValueError, match="dense input"):
        made("TParafac2").fit(pieces)
    with pytest.raises(ValueError, match="mask was given with sparse data"):
        made("TParafac2").fit(
            [scipy.sparse.csr_array(piece) for piece in data.X], mask=np.ones(data.X.shape, dtype=bool)
        )


def test_a_long_table_is_fitted_as_what_it_says(data):
    K, I, J = data.X.shape
    k, i, j = (grid.ravel() for grid in np.meshgrid(*map(np.arange, (K, I, J)), indexing="ij"))
    frame = pd.DataFrame({"year": 2000 + 2 * k, "who": i, "word": j, "n": data.X.ravel()})
    kept = np.random.default_rng(0).permutation(len(frame))[: int(0.8 * len(frame))]
    table = tp.Table(frame.iloc[kept], rows="who", columns="word", time="year", values="n", absent="missing")
    from_table = made("TParafac2").fit(table)
    X = np.full(data.X.size, np.nan)
    X[kept] = data.X.ravel()[kept]
    plain = made("TParafac2").fit(X.reshape(K, I, J))
    assert from_table.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert from_table.result_.labels.time.tolist() == (2000 + 2 * np.arange(K)).tolist()
    assert from_table.result_.labels.names == {"rows": "who", "columns": "word", "time": "year"}


def test_words_that_come_and_go_in_a_long_table(data):
    K, I, J = data.X.shape
    k, i, j = (grid.ravel() for grid in np.meshgrid(*map(np.arange, (K, I, J)), indexing="ij"))
    frame = pd.DataFrame({"year": k, "who": i, "word": j, "n": np.abs(data.X.ravel())})
    frame = frame[~((frame.word == 3) & (frame.year < 4))]
    names = {"rows": "who", "columns": "word", "time": "year", "values": "n"}
    model = made("TParafac2").fit(tp.Table(frame, **names, absent="columns"))
    assert np.all(model.B_[:4, 3] == 0)
    assert np.all(model.B_[4:, 3] != 0)
    zeros = made("TParafac2").fit(tp.Table(frame, **names))
    assert np.all(zeros.B_[:4, 3] != 0)


def test_a_sparse_table_is_never_made_dense():
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {"t": rng.integers(0, 5, n), "r": rng.integers(0, 60, n), "c": rng.integers(0, 200, n)}
    )
    table = tp.Table(frame, rows="r", columns="c", time="t", duplicates="sum")
    assert table.density < 0.1
    asked = {"max_iter": 60, "compress": False}
    sparse = made("TParafac2", **asked).fit(table)
    dense = made("TParafac2", **asked).fit(np.stack([piece.toarray() for piece in table.slices()]))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-7)


def test_columns_without_data_are_spoken_of_and_not_shown_off(data):
    X = data.X.copy()
    X[0, :, 5] = np.nan
    model = made("TParafac2").fit(X)
    assert any("1 columns were not observed at all at some times (1 pairs" in note for note in model.notes_)
    first = [
        line.split("first:")[1].split(";")[0] for line in model.summary().splitlines() if "first:" in line
    ]
    assert first
    assert not any("column 5 " in text for text in first)
    gone = made("TParafac2", bridge=False).fit(X)
    assert not any("not observed at all" in note for note in gone.notes_)


def test_lower_starts_that_were_cut_off_are_spoken_of(data):
    model = made("Parafac2", n_starts=8, max_iter=60).fit(holed(data.X, 0.4))
    starts = model.starts_
    lower = (starts.objective < model.objective_ * (1 - 1e-6)) & ~starts.converged
    assert any("had a lower objective" in note for note in model.notes_) == bool(lower.any())


def test_times_may_be_decimals():
    X = np.random.default_rng(0).random((3, 4, 5))
    model = tp.CP(1, n_starts=1, random_state=0).fit(X, times=[Decimal(3), Decimal("1.5"), Decimal(0)])
    assert model.result_.labels.time.tolist() == [3.0, 1.5, 0.0]


def turning(seed, K=12, I=30, J=50):
    """Patterns that slowly turn, over all columns, and noise; A, B, C, and X with 20 columns seen late."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((I, 3)) + 0.3
    skew = rng.standard_normal((J, J))
    step = scipy.linalg.expm(0.03 * (skew - skew.T) / np.sqrt(J))
    B = [np.linalg.qr(rng.standard_normal((J, 3)))[0] @ np.triu(np.full((3, 3), 0.25) + 0.75 * np.eye(3))]
    for _ in range(K - 1):
        B.append(step @ B[-1])
    phase = np.arange(K)[:, None] / K * np.array([1.0, 1.5, 0.7]) + rng.random(3)
    C = 1.0 + 0.5 * np.sin(2 * np.pi * phase)
    X = np.einsum("ir,kr,kjr->kij", A, C, np.stack(B))
    noise = rng.standard_normal(X.shape)
    X += 0.3 * np.linalg.norm(X) / np.linalg.norm(noise) * noise
    X[: K // 2, :, :20] = np.nan
    return (A, np.stack(B), C), X


@pytest.mark.parametrize("rigidity", [np.inf, 10.0])
def test_columns_that_nobody_saw_at_first_do_not_take_what_the_constraint_asks(rigidity):
    """Strengths before and after 20 of 50 columns are seen, beside those of the truth."""
    ratios, sizes = [], []
    for seed in range(3):
        (A, B, C), X = turning(seed)
        model = tp.TParafac2(3, 1e-3, rigidity=rigidity, n_starts=1, init=(A, B, C)).fit(X)
        ours = model.normalised()
        truth = C * np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=1)
        which = np.argmax(np.abs((A / np.linalg.norm(A, axis=0)).T @ ours.A), axis=1)
        ratio = np.abs(ours.C[:, which]) / truth
        ratios += [np.median(ratio[:6], axis=0), np.median(ratio[6:], axis=0)]
        weights = np.abs(model.B_[:7, :20])
        sizes.append(np.max(np.abs(weights[:6] - weights[6]), axis=(0, 1)) / np.max(weights[6], axis=0))
        assert model.evaluate(X).objective == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(ratios, 1.0, atol=0.1)
    assert np.max(sizes) < 0.2


def test_only_what_would_bend_unseen_columns_ties_them(data, tmp_path):
    X = np.array(data.X)
    X[:3, :, 4] = np.nan
    settings = {"n_starts": 1, "max_iter": 20}
    tied = made("TParafac2", **settings).fit(X)
    assert tied.result_.terms.tie > 1.0
    tied.save(tmp_path / "model.npz")
    assert tp.load(tmp_path / "model.npz").evaluate(X) == tied.evaluate(X)
    others = [
        made("tCMF", **settings).fit(X),
        made("Parafac2", **settings).fit(X),
        made("TParafac2", **settings, algorithm="paper").fit(X),
        made("TParafac2", **settings, period=8).fit(X),
        made("TParafac2", **settings).fit(data.X),
    ]
    assert [model.result_.terms.tie for model in others] == [1.0] * len(others)
