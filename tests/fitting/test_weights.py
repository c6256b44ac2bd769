"""Weighted least squares: at a minimum of what is said, equal to what it must equal, and of use."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.metrics import factor_match_score

pytestmark = pytest.mark.slow

_RNG = np.random.default_rng(0)
_DATA = tp.synthetic.easy(seed=0, n_times=6, n_rows=15, n_columns=18, noise=0.3)
_X = _DATA.X
_ROWS = _RNG.uniform(0.3, 3.0, 15)
_ENTRIES = _RNG.uniform(0.3, 3.0, _X.shape) * (_RNG.random(_X.shape) < 0.9)
_PLAIN: dict[str, Any] = {"n_starts": 2, "random_state": 0, "tol": 1e-11}
_MODELS = {
    "tparafac2": tp.TParafac2(2, smoothness=1e-3, **_PLAIN),
    "soft": tp.TParafac2(2, smoothness=1e-3, rigidity=1.0, **_PLAIN),
    "parafac2": tp.Parafac2(2, lambda_a=1.0, lambda_b=1.0, lambda_d=1.0, **_PLAIN),
    "tcmf": tp.TemporalCMF(2, smoothness=1e-3, nonnegative="both", **_PLAIN),
    "cp": tp.CP(2, lambda_a=1.0, lambda_b=1.0, lambda_d=1.0, **_PLAIN),
    "split": tp.CP(2, nonnegative="patterns", lambda_a=1.0, lambda_b=1.0, lambda_d=1.0, **_PLAIN),
}


def _same(one: Any, other: Any, rel: float = 1e-9) -> None:
    assert one.objective_ == pytest.approx(other.objective_, rel=rel)
    assert factor_match_score(one, other) == pytest.approx(1.0, abs=1e-6)


def _fresh(name: str, **changed: Any) -> Any:
    model = _MODELS[name]
    return type(model)(**{**model.get_params(), **changed})


@pytest.mark.parametrize("name", _MODELS)
@pytest.mark.parametrize("weights", [_ROWS, _ENTRIES], ids=["rows", "entries"])
def test_what_is_reported_is_the_sum_by_weight_and_a_minimum(name: str, weights: np.ndarray) -> None:
    model = _fresh(name).fit(_X, weights=weights)
    w = np.broadcast_to(weights[:, None] if weights.ndim == 1 else weights, _X.shape)
    w = w / w[w > 0].mean()

    def objective(A: Any, B: Any, C: Any) -> float:
        error = (w * (_X - np.einsum("ir,kjr,kr->kij", A, B, C)) ** 2).sum()
        return float(error + model.result_.terms.penalty(A, B, C))

    at_end = objective(model.A_, model.B_, model.C_)
    assert model.objective_ == pytest.approx(at_end, rel=1e-9)
    evaluated = model.evaluate(_X, weights=weights)
    assert evaluated.objective == pytest.approx(at_end, rel=1e-9)
    assert model.explained_variance_ == pytest.approx(evaluated.explained_variance, abs=1e-12)
    rng = np.random.default_rng(1)
    A, C = model.A_, model.C_
    for size in (1e-1, 1e-2, 1e-3) * 7:  # loadings alone, or strengths alone, as far as they are free
        step = A + rng.normal(size=A.shape) * size * np.abs(A).max()
        assert objective(np.maximum(step, 0.0) if name == "tcmf" else step, model.B_, C) > at_end
        if not model.result_.terms.fixed_strengths:
            step = C + rng.normal(size=C.shape) * size * np.abs(C).max()
            assert objective(A, model.B_, step if name in ("cp", "split") else np.maximum(step, 0.0)) > at_end


@pytest.mark.parametrize("name", ["tparafac2", "parafac2", "tcmf"])
def test_rows_by_weight_are_entries_by_weight_whatever_holds_them(name: str) -> None:
    by_row = _fresh(name).fit(_X, weights=_ROWS)
    _same(_fresh(name).fit(_X, weights=np.broadcast_to(_ROWS[:, None], _X.shape)), by_row)
    _same(_fresh(name).fit([csr_array(one) for one in _X], weights=_ROWS), by_row)
    _same(_fresh(name).fit(_X, weights=1e6 * _ROWS), by_row)


@pytest.mark.parametrize("name", ["tparafac2", "cp"])
def test_weights_of_one_are_none_and_of_zero_a_mask(name: str) -> None:
    plain = _fresh(name).fit(_X)
    for weights in (np.full(15, 7.0), np.full(_X.shape, 7.0)):
        _same(_fresh(name).fit(_X, weights=weights), plain)
    mask = _ENTRIES > 0
    masked = _fresh(name).fit(_X, mask=mask)
    weighted = _fresh(name).fit(_X, weights=5.0 * mask)
    _same(weighted, masked)
    assert weighted.observed_share_ == masked.observed_share_ < 1
    np.testing.assert_array_equal(weighted.coverage_, masked.coverage_)


@pytest.mark.parametrize("model", [tp.Parafac2, tp.CP])
def test_rows_that_count_twice_are_rows_that_are_there_twice(model: Any) -> None:
    times = np.array([1, 2, 3] * 5)  # without a ridge, which would charge repeated loadings repeatedly
    X = tp.synthetic.easy(seed=0, n_times=6, n_rows=15, n_columns=18, noise=0.02).X
    if model is tp.CP:
        rng = np.random.default_rng(0)
        X = np.einsum("kr,ir,jr->kij", *(rng.random((size, 3)) for size in X.shape))
        X += 0.02 * rng.standard_normal(X.shape)
    twice = model(3, **_PLAIN).fit(np.repeat(X, times, axis=1))
    weighted = model(3, **_PLAIN).fit(X, weights=times)
    assert weighted.objective_ * times.mean() == pytest.approx(twice.objective_, rel=1e-7)
    assert weighted.explained_variance_ == pytest.approx(twice.explained_variance_, abs=1e-8)
    A = np.repeat(weighted.A_, times, axis=0)
    assert factor_match_score((A, weighted.B_, weighted.C_), twice) == pytest.approx(1.0, abs=1e-4)


def test_weights_reach_wide_data_through_compression() -> None:
    wide = tp.synthetic.easy(seed=1, n_times=3, n_rows=8, n_columns=90, noise=0.2).X
    weights = np.arange(1, 9)
    model = tp.TParafac2(2, **_PLAIN).fit(wide, weights=weights)
    assert model.result_.method.compressed_columns == 24
    _same(tp.TParafac2(2, compress=False, **_PLAIN).fit(wide, weights=weights), model)
    tall = wide.transpose(0, 2, 1)
    model = tp.TParafac2(2, compress=True, **_PLAIN).fit(tall, weights=np.arange(1, 91))
    assert model.result_.method.compressed_rows is None


def test_missing_entries_and_single_precision() -> None:
    holed = np.where(_ENTRIES > 0, _X, np.nan)
    by_row = _fresh("tparafac2").fit(holed, weights=_ROWS)
    by_entry = _fresh("tparafac2").fit(_X, weights=_ROWS[:, None] * (_ENTRIES > 0))
    _same(by_row, by_entry)
    for weights in (_ROWS, _ENTRIES):
        single = _fresh("tparafac2", dtype="float32").fit(_X, weights=weights)
        assert single.objective_ == pytest.approx(
            _fresh("tparafac2").fit(_X, weights=weights).objective_, rel=1e-4
        )


def _noisy_rows(seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A tenth of the rows ten times noisier than the others."""
    truth = tp.synthetic.easy(seed=seed, n_times=8, n_rows=30, n_columns=24, noise=0.0)
    rng = np.random.default_rng(100 + seed)
    noise = np.full(30, 0.5 * np.sqrt(np.mean(truth.X**2)))
    noise[rng.choice(30, 3, replace=False)] *= 10
    return truth, truth.X + noise[:, None] * rng.standard_normal(truth.X.shape), noise


def _estimated(model: Any, X: Any) -> Any:
    """The recipe of docs/choosing.md: fit, and weigh rows by what the fit leaves of them, in turn."""
    weights = np.ones(X.shape[1])
    for _ in range(5):
        model.fit(X, weights=weights)
        basis = np.linalg.svd(np.sqrt(weights)[:, None] * model.A_, full_matrices=False)[0]
        left = np.square(X - model.reconstruct()).mean(axis=(0, 2)) / (1.001 - np.square(basis).sum(axis=1))
        weights = 1 / np.maximum(left, 0.1 * np.median(left))
    return model


@pytest.mark.parametrize("seed", range(3))
def test_noisy_rows_do_no_harm_with_weights_given_or_estimated(seed: int) -> None:
    truth, X, noise = _noisy_rows(seed)
    none, right, rows = (tp.TParafac2(3, n_starts=3, random_state=0) for _ in range(3))
    assert factor_match_score(none.fit(X), truth) < 0.5
    assert factor_match_score(right.fit(X, weights=1 / noise**2), truth) > 0.7
    score = factor_match_score(_estimated(rows, X), truth)
    assert score > factor_match_score(right, truth) - 0.05


def test_weights_of_rows_are_kept(tmp_path: Path) -> None:
    _, X, noise = _noisy_rows(0)
    model = tp.TParafac2(3, n_starts=2, random_state=0).fit(X, weights=1 / noise**2)
    weights = model.result_.row_weights
    assert weights.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(weights * noise**2, weights[0] * noise[0] ** 2)
    model.save(tmp_path / "model.npz")
    loaded = tp.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.result_.row_weights, weights)
    assert loaded.result_.weighting == model.result_.weighting
    assert loaded.result_.weighting["by"] == "rows"
    assert loaded.evaluate(X).objective == pytest.approx(model.objective_, rel=1e-9)
    shown = loaded.to_dataset()
    np.testing.assert_array_equal(shown.row_weight.values, weights)
    assert shown.row_weight.dims == shown.loadings.dims[:1]
    assert "Weighted by row" in loaded.summary()


def test_weights_are_refused_where_they_could_not_be_kept_to() -> None:
    with pytest.raises(ValueError, match="weights cannot be kept to with algorithm='paper'"):
        _fresh("tparafac2", algorithm="paper").fit(_X, weights=_ROWS)
    with pytest.raises(ValueError, match="compress=True is not possible with missing entries or weights"):
        _fresh("tparafac2", compress=True).fit(_X, weights=_ENTRIES)
    with pytest.raises(ValueError, match="weights must be numbers; got 'columns'"):
        _fresh("tparafac2").fit(_X, weights="columns")
    sparse = [csr_array(one) for one in _X]
    with pytest.raises(ValueError, match="weights of entries were given with sparse data"):
        _fresh("tparafac2").fit(sparse, weights=_ENTRIES)
    made = tp.data.SparseData.from_slices(sparse)
    with pytest.raises(ValueError, match="weights are not for SparseData"):
        _fresh("tparafac2").fit(made, weights=_ROWS)


def test_an_evaluation_asks_for_the_weights_that_a_result_does_not_keep() -> None:
    model = _fresh("tparafac2").fit(_X, weights=_ENTRIES)
    with pytest.raises(ValueError, match="a weight for each entry, which results do not keep"):
        model.evaluate(_X)
    assert model.result_.weighting["by"] == "entries"
    assert _fresh("tparafac2").fit(_X).evaluate(_X, weights=_ROWS).objective is not None
