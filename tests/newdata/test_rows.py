"""Loadings of new rows are those that the fit would give them, with everything else as it is."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import nnls

import tparafac2 as tp
from tparafac2.data import DenseData, ObservedData
from tparafac2.penalties import NonNegative, Ridge

X = tp.synthetic.easy(seed=0, n_times=6, n_rows=24, n_columns=20).X
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
SPARSE = [scipy.sparse.csr_array(np.where(x > np.quantile(X, 0.6), x, 0.0)) for x in X]
GONE = np.where((np.arange(6) < 2)[:, None, None] & (np.arange(20) > 15), np.nan, X)
UNEVEN = {"times": [0, 1, 3, 7, 8, 5]}
COUNTS = {"weights": np.linspace(0.5, 3.0, 24)}
OF_ENTRIES = {"weights": np.random.default_rng(2).random(X.shape) + 0.3}
FULL = {"n_starts": 2, "random_state": 0, "tol": 1e-12, "max_iter": 4000}


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize(
    ("model", "data", "more"),
    [
        (tp.TParafac2(2, **FULL), X, {}),
        (tp.Parafac2(2, **FULL), X, {}),
        (tp.CP(2, **FULL), X, {}),
        (tp.TemporalCMF(2, **FULL), X, {}),
        (tp.TemporalCMF(2, nonnegative="rows", **FULL), X, {}),
        (tp.TParafac2(2, nonnegative="both", **FULL), HOLED, {}),
        (tp.TParafac2(2, rigidity=1.0, **FULL), X, {}),
        (tp.TParafac2(2, **FULL), HOLED, {}),
        (tp.TParafac2(2, **FULL), SPARSE, {}),
        (tp.TParafac2(2, **FULL), SPARSE, COUNTS),
        (tp.TParafac2(2, **FULL), X, UNEVEN),
        (tp.TParafac2(2, **FULL), X, COUNTS),
        (tp.TParafac2(2, **FULL), HOLED, COUNTS),
        (tp.TParafac2(2, **FULL), HOLED, OF_ENTRIES),
        (tp.TParafac2(2, bridge=False, **FULL), GONE, {}),
        (tp.Parafac2(2, **FULL), [x[:, : 20 - k % 3] for k, x in enumerate(X)], {}),
        (tp.TParafac2(2, dtype="float32", **FULL), X, {}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_of_the_fit_have_their_own_loadings(model, data, more):
    model.fit(data, **more)
    loose = model.dtype == "float32"
    assert relative(model.transform(data, **more), model.A_) < (1e-2 if loose else 1e-7)


def test_rows_one_by_one_are_as_all_together():
    model = tp.TParafac2(2, nonnegative="rows", **FULL).fit(HOLED)
    together = model.transform(HOLED)
    for i in (0, 7, 23):
        assert relative(model.transform(HOLED[:, [i]]), together[[i]]) < 1e-9


def test_it_is_the_minimiser_with_ridge_and_bounds():
    model = tp.TParafac2(2, nonnegative="rows", **FULL).fit(X[:, :15])
    (ridge,) = [term.strength for term in model.result_.terms.A if isinstance(term, Ridge)]
    W = (model.B_ * model.C_[:, None, :]).reshape(-1, 2)
    new = -X[:, 15:] + X.mean()  # some would be negative
    found = model.transform(new)
    system = np.vstack([W, np.sqrt(ridge) * np.eye(2)])
    expected = [nnls(system, np.append(row.ravel(), [0.0, 0.0]))[0] for row in new.transpose(1, 0, 2)]
    assert relative(found, np.array(expected)) < 1e-10
    assert (found == 0).any()


class Lasso:
    """A term that needs an auxiliary."""

    degree, exact = 1, True

    def __init__(self, weight):
        self.weight = weight

    def value(self, x):
        return self.weight * float(np.abs(x).sum())

    def prox(self, v, rho, state=None):
        return np.sign(v) * np.maximum(np.abs(v) - self.weight / rho[:, None], 0.0), None


def test_terms_of_ones_own_are_met_to_the_end():
    model = tp.CP(
        2, penalties_a=[Lasso(0.3), NonNegative()], lambda_a=1.0, lambda_b=1.0, lambda_d=1.0, **FULL
    )
    model.fit(X[:, :15])
    A, W = model.transform(X[:, 15:]), (model.B_ * model.C_[:, None, :]).reshape(-1, 2)
    F = np.stack([row.ravel() for row in X[:, 15:].transpose(1, 0, 2)]) @ W
    slope = 2 * (A @ (W.T @ W + np.eye(2)) - F) + 0.3  # of the objective, where loadings are above zero
    size, above = np.abs(2 * F).max(), A / A.max() > 1e-9
    assert np.abs(slope[above]).max() < 1e-8 * size
    assert (slope[~above] > -1e-8 * size).all()
    assert not above.all()


def test_without_weights_rows_count_as_the_mean_row():
    model = tp.TParafac2(2, **FULL).fit(X, **COUNTS)
    mean = model.result_.weighting["mean"]
    assert relative(model.transform(X), model.transform(X, weights=np.full(24, mean))) < 1e-12


@pytest.mark.parametrize(
    "preparation",
    [
        {"transform": "log1p", "center": "columns", "scale": "columns"},
        {"center": "rows", "scale": "rows"},
        {"center": "rows", "scale": "columns"},
        {"center": "time", "scale": "rows"},
        {"transform": "clr", "pseudocount": 0.5},
        {"transform": ("share", "sqrt")},
    ],
    ids=str,
)
def test_new_rows_are_prepared_as_those_of_the_fit(preparation):
    preparation, raw = tp.Preparation(**preparation), np.abs(HOLED) * 5
    model = tp.TParafac2(2, **FULL).fit(preparation.apply(raw))
    for data in (raw, preparation.apply(raw)):
        assert relative(model.transform(data), model.A_) < 1e-7
    # One row alone has other means of columns and times than all.
    assert relative(model.transform(raw[:, [3]]), model.A_[[3]]) < 1e-7


def test_sparse_tables_are_prepared_without_filling_them_in():
    rng = np.random.default_rng(0)
    lines = {"r": rng.integers(0, 40, 400), "c": rng.integers(0, 30, 400), "t": rng.integers(0, 5, 400)}
    table = tp.Table(lines, rows="r", columns="c", time="t")
    assert scipy.sparse.issparse(table.slices()[0])
    for more in ({"center": "rows", "scale": "rows"}, {"center": "columns", "scale": "rows"}):
        preparation = tp.Preparation("sqrt", **more)
        model = tp.TParafac2(2, **FULL).fit(preparation.apply(table))
        for data in (table, preparation.apply(table)):
            assert relative(model.transform(data), model.A_) < 1e-7


def test_what_is_larger_than_memory_is_read_in_blocks(tmp_path):
    preparation, raw = tp.Preparation("sqrt", center="rows", scale="columns"), np.abs(HOLED)
    model = tp.TParafac2(2, **FULL).fit(preparation.apply(raw))
    file = np.memmap(tmp_path / "x", "float64", "w+", shape=raw.shape)
    file[...] = raw
    stored = tp.Stored(file)
    assert relative(model.transform(stored), model.A_) < 1e-7
    assert relative(model.transform(preparation.apply(stored)), model.A_) < 1e-7
    with pytest.raises(ValueError, match="6 times and 19 columns, but the model has 6 and 20"):
        model.transform(tp.Stored(file[:, :, :-1]))
    for name in ("complete", "score"):
        with pytest.raises(
            ValueError, match=rf"^{name} needs rows that fit in memory.*{name}\(X\.sample\(1000"
        ):
            getattr(model, name)(stored)
    assert model.score(stored.sample(10)) < 1.0


def test_rows_without_information_are_named():
    data = HOLED.copy()
    data[:, 3] = np.nan
    model = tp.CP(2, **FULL).fit(X)
    with pytest.raises(ValueError, match=r"1 of 24 rows was never observed.*: 3\. Leave"):
        model.transform(data)
    data[0, 3, 0] = 1.0
    with pytest.raises(ValueError, match=r"1 of 24 rows was observed at fewer entries than .*\(2\): 3\."):
        model.transform(data)
    assert tp.TParafac2(2, **FULL).fit(X).transform(data).shape == (24, 2)  # a ridge decides


def test_zeros_have_loadings_of_zero():
    assert not tp.TParafac2(2, **FULL).fit(X).transform(np.zeros((6, 1, 20))).any()


def test_a_column_that_is_not_there_plays_no_part():
    model = tp.TParafac2(2, bridge=False, **FULL).fit(GONE)
    filled = np.where(np.isnan(GONE), 1e3, GONE)
    assert relative(model.transform(filled), model.A_) < 1e-7


def test_there_and_back():
    model = tp.TParafac2(2, **FULL).fit(tp.Preparation("sqrt").apply(np.abs(X)))
    assert np.allclose(model.inverse_transform(model.A_), model.fitted_values())
    assert np.allclose(model.inverse_transform(model.A_, prepared=True), model.reconstruct())
    assert model.inverse_transform(model.A_[:2]).shape == (6, 2, 20)
    for wrong in (model.A_[:, :1], model.A_[0], [["a", "b"]]):
        with pytest.raises(ValueError, match=r"A must be loadings of shape \(rows, 2\)"):
            model.inverse_transform(wrong)
    by_row = tp.TParafac2(2, **FULL).fit(tp.Preparation(center="rows").apply(X))
    assert by_row.inverse_transform(by_row.A_, prepared=True).shape == X.shape
    with pytest.raises(
        ValueError, match="prepared by means of its own, which loadings do not tell: say prepared=True"
    ):
        by_row.inverse_transform(by_row.A_)


@pytest.mark.slow
def test_a_rank_too_high_does_not_score_better():
    quick = {"n_starts": 3, "random_state": 0}
    for seed in range(3):
        data = tp.synthetic.easy(seed=seed, n_times=8, n_rows=60, n_columns=20, noise=1.0).X
        data = data[:, np.random.default_rng(seed).permutation(60)]
        scores = [tp.TParafac2(r, **quick).fit(data[:, :40]).score(data[:, 40:]) for r in (1, 3, 4)]
        assert scores[1] > scores[0]
        assert scores[2] < scores[1] - 1e-4


def test_a_score_is_that_of_hidden_entries():
    model = tp.TParafac2(2, **FULL).fit(X[:, :16])
    score = model.score(HOLED[:, 16:])
    assert score == model.score(HOLED[:, 16:], random_state=0) != model.score(HOLED[:, 16:], random_state=1)
    fitted = model.inverse_transform(model.transform(HOLED[:, 16:]))
    seen = ~np.isnan(HOLED[:, 16:])
    within = 1 - ((HOLED[:, 16:] - fitted)[seen] ** 2).sum() / (HOLED[:, 16:][seen] ** 2).sum()
    assert within - 0.1 < score < within
    for folds in (1, 0, 2.5):
        with pytest.raises((ValueError, TypeError), match="folds must be"):
            model.score(X, folds=folds)


def test_sparse_and_dense_rows_score_the_same():
    model = tp.TParafac2(2, **FULL).fit(SPARSE)
    dense = np.stack([x.toarray() for x in SPARSE])
    assert model.score(SPARSE) == pytest.approx(model.score(dense), abs=1e-12)
    assert model.score(SPARSE, **COUNTS) == pytest.approx(model.score(dense, **COUNTS), abs=1e-12)
    assert model.score(SPARSE, **COUNTS) != model.score(SPARSE)


def test_models_that_do_not_know_their_terms(tmp_path):
    model = tp.CP(2, penalties_a=[Lasso(0.3)], lambda_a=1.0, lambda_b=1.0, lambda_d=1.0, **FULL).fit(X)
    model.save(tmp_path / "m.npz")
    with pytest.warns(UserWarning, match="could not be kept"):
        loaded = tp.load(tmp_path / "m.npz")
    with pytest.raises(ValueError, match="files keep its name only: fit the model again"):
        loaded.transform(X)


def test_data_in_the_form_that_the_solver_asks_for():
    model = tp.TParafac2(2, **FULL).fit(X)
    assert relative(model.transform(DenseData.from_slices(X[:, 20:])), model.A_[20:]) < 1e-7
    holed = ObservedData.from_dense(DenseData.from_slices(HOLED[:, 20:], scale=3.0))
    assert relative(model.transform(holed), model.transform(HOLED[:, 20:])) < 1e-12
    with pytest.raises(ValueError, match="X has 5 times and 20 columns"):
        model.transform(DenseData.from_slices(X[:5]))
