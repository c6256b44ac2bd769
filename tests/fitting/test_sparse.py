"""Sparse slices give what the same slices give dense."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import tparafac2 as tp
from tparafac2.data import Correction, DenseData, SparseData, take_in
from tparafac2.starts import batch_size, svd_start

# Iteration by iteration: compressed, or begun on a sketch, dense data would come to the minimum another way.
COMMON = {"n_starts": 3, "random_state": 0, "max_iter": 60, "tol": 1e-6, "compress": False}
MODELS = {
    "TParafac2": tp.TParafac2(2, 1e-3, **COMMON),
    "Parafac2": tp.Parafac2(2, **COMMON),
    "TemporalCMF": tp.TemporalCMF(2, 1e-3, **COMMON),
    "NNtCMF": tp.TemporalCMF(2, 1e-3, nonnegative="rows", **COMMON),
    "CP": tp.CP(2, **COMMON),
}
each_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def X():
    """Three groups of rows that use changing columns, most entries zero: K, I, J = 6, 30, 20."""
    rng = np.random.default_rng(0)
    A = np.kron(np.eye(3), np.ones((10, 1))) * rng.random((30, 3))
    B = np.stack([np.roll(np.kron(np.eye(3), np.ones((6, 1))), k, axis=0) for k in range(6)])
    table = np.einsum("ir,kjr,kr->kij", A, B * rng.random(B.shape), 1 + rng.random((6, 3)))
    X = np.zeros((6, 30, 20))
    X[:, :, :18] = table * (rng.random(table.shape) < 0.6)
    return X


def sparse(X, form="csr"):
    return [scipy.sparse.coo_array(piece).asformat(form) for piece in X]


def fit(name, data, **changes):
    model = type(MODELS[name])(**{**MODELS[name].get_params(), **changes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        return model.fit(data)


def assert_same_fit(one, other):
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    assert one.explained_variance_ == pytest.approx(other.explained_variance_, rel=1e-9)
    assert one.n_iter_ == other.n_iter_
    assert one.status_ == other.status_
    for ours, theirs in zip((one.A_, *one.B_, one.C_), (other.A_, *other.B_, other.C_), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@each_model
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_fit_equals_dense_fit(X, name, form):
    assert np.mean(X == 0) > 0.7
    assert_same_fit(fit(name, sparse(X, form)), fit(name, X))


@each_model
def test_tall_slices_joined_in_blocks(name):
    rng = np.random.default_rng(1)
    X = rng.random((4, 120, 5)) * (rng.random((4, 120, 5)) < 0.1)
    assert len(take_in(sparse(X)).data.blocks) == 1
    # The dense fit would be compressed: the same minimum, but other iterates.
    assert_same_fit(fit(name, sparse(X)), fit(name, X, compress=False))


@each_model
@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_scale_does_not_matter(X, name, size):
    plain, scaled = fit(name, sparse(X)), fit(name, sparse(size * X))
    assert scaled.explained_variance_ == pytest.approx(plain.explained_variance_, rel=1e-9)


@each_model
def test_single_precision(X, name):
    ours, theirs = (fit(name, data, dtype="float32", max_iter=20) for data in (sparse(X), X))
    assert ours.explained_variance_ == pytest.approx(theirs.explained_variance_, abs=1e-3)


@each_model
def test_saved_and_reconstructed(X, name, tmp_path):
    model = fit(name, sparse(X))
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.A_, model.A_)
    assert again.reconstruct().shape == X.shape
    error = np.sum((X - again.reconstruct()) ** 2) / np.sum(X**2)
    assert 1.0 - error == pytest.approx(model.explained_variance_, rel=1e-9)


@pytest.mark.slow
def test_number_of_processes_does_not_matter(X):
    # Slow (4 s): processes have to start. 60 starts are two batches, so that there is something to share.
    assert batch_size(X.shape, 2) < 60
    one, two = (fit("TParafac2", sparse(X), n_starts=60, max_iter=5, n_jobs=n) for n in (1, 2))
    for ours, theirs in zip((one.A_, one.B_, one.C_), (two.A_, two.B_, two.C_), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert one.starts_.drop(columns="seconds").equals(two.starts_.drop(columns="seconds"))


def test_a_perfect_fit_is_seen_as_one():
    rng = np.random.default_rng(0)
    A = np.kron(np.eye(2), np.ones((8, 1))) * (1 + rng.random((16, 2)))
    B = np.kron(np.eye(2), np.ones((6, 1))) * (1 + rng.random((12, 2)))
    X = np.einsum("ir,jr,kr->kij", A, B, 1 + rng.random((5, 2)))
    ours, theirs = (fit("CP", data, max_iter=2000, tol=1e-8) for data in (sparse(X), X))
    assert theirs.converged_
    assert ours.converged_
    assert ours.objective_ < 1e-14 * np.sum(X**2)


def test_different_widths(X):
    pieces = [piece[:, : 18 - k] for k, piece in enumerate(X)]
    assert_same_fit(fit("Parafac2", sparse(pieces)), fit("Parafac2", pieces))
    with pytest.raises(ValueError, match="between 13 and 18 columns"):
        fit("TParafac2", sparse(pieces))


@each_model
def test_centred_and_scaled(X, name):
    slices = sparse(X)
    correction = Correction.centring(slices, "rows", over="all").scaling(slices, "rows")
    data = SparseData.from_slices(slices, correction=correction)
    dense = X - X.mean(axis=(0, 2), keepdims=True)
    assert_same_fit(fit(name, data), fit(name, dense / dense.std(axis=(0, 2), keepdims=True)))


def test_penalties_that_need_a_split(X):
    more = {"penalties_b": [tp.penalties.NonNegative()], "max_iter": 20}
    assert_same_fit(fit("TParafac2", sparse(X), **more), fit("TParafac2", X, **more))


def test_the_papers_algorithm(X):
    more = {"algorithm": "paper", "max_iter": 20}
    assert_same_fit(fit("TParafac2", sparse(X), **more), fit("TParafac2", X, **more))


# --- starts from the data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 3, 29, 30, 32])
def test_the_start_from_the_data_is_that_of_dense_data(X, rank):
    ours, theirs = (
        svd_start(SparseData.from_slices(sparse(X)), rank),
        svd_start(DenseData.from_slices(X), rank),
    )
    assert [factor.shape for factor in ours] == [factor.shape for factor in theirs]
    models = [np.einsum("ir,kjr,kr->kij", *start) for start in (ours, theirs)]
    np.testing.assert_allclose(*models, atol=1e-9)
    np.testing.assert_allclose(np.abs(ours.A[:, 0]), np.abs(theirs.A[:, 0]), atol=1e-9)


def test_fits_from_the_data_agree(X):
    assert_same_fit(*(fit("TParafac2", data, init="svd", n_starts=1) for data in (sparse(X), X)))


def test_directions_of_equal_strength_make_a_start():
    data = SparseData.from_slices([scipy.sparse.eye_array(50)] * 3)
    start = svd_start(data, 4)
    np.testing.assert_allclose(start.A.T @ start.A, np.eye(4), atol=1e-12)


def test_a_start_from_float32_data(X):
    start = svd_start(SparseData.from_slices(sparse(X), dtype=np.float32), 3)
    np.testing.assert_allclose(start.A.T @ start.A, np.eye(3), atol=1e-5)


# --- memory -------------------------------------------------------------------------------------------------


def test_the_need_for_memory_is_that_of_what_is_stored(monkeypatch):
    from tparafac2.data import memory

    slices = [scipy.sparse.random_array((3000, 40), density=0.001, rng=k) for k in range(3)]
    dense_bytes = 8 * 3 * 3000 * 40
    monkeypatch.setattr(memory, "physical_memory", lambda: dense_bytes // 2)
    fit("CP", slices, n_starts=1, max_iter=2)
    with pytest.raises(MemoryError, match="The working copy of X"):
        fit("CP", np.stack([piece.toarray() for piece in slices]), n_starts=1, max_iter=2)


@pytest.mark.parametrize("model", [tp.TParafac2, tp.Parafac2, tp.TemporalCMF, tp.CP])
def test_few_rows_and_very_many_columns_are_fitted_in_coordinates(model):
    rng = np.random.default_rng(0)
    A, C, B = rng.random((8, 2)), rng.random((6, 2)) + 0.2, rng.random((3000, 2))
    B *= rng.random((3000, 2)) < 0.05
    noise = [scipy.sparse.random_array((8, 3000), density=0.01, rng=rng) * 0.1 for _ in C]
    X = [scipy.sparse.csr_array((A * c) @ B.T) + more for c, more in zip(C, noise)]
    small, full = (model(2, n_starts=3, random_state=0, compress=how).fit(X) for how in ("auto", False))
    assert small.result_.method.compressed_columns == 48
    assert full.result_.method.compressed_columns is None
    assert small.objective_ == pytest.approx(full.objective_, rel=1e-6)
    np.testing.assert_allclose(small.reconstruct(), full.reconstruct(), atol=1e-3)
    if model is not tp.TemporalCMF:  # whose components are not unique
        np.testing.assert_allclose(small.normalised().B, full.normalised().B, atol=1e-3)
