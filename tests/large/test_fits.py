"""Fits of what stays on disk are those of the same data in memory."""

import tracemalloc

import h5py
import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.large import take_stored
from tparafac2.penalties import NonNegative, Ridge

MEMORY = "3MB"  # blocks of 50 rows
SETTINGS = {"n_starts": 3, "random_state": 0}


def same(one, other, close=1e-8):
    assert one.objective_ == pytest.approx(other.objective_, rel=close)
    assert one.converged_
    assert tp.metrics.factor_match_score(one, other) > 0.9999


@pytest.fixture(scope="module")
def in_memory(X):
    return tp.TParafac2(3, smoothness=1e-3, **SETTINGS).fit(X)


def memmapped(X, folder):
    held = np.memmap(folder / "x.bin", dtype="f8", mode="w+", shape=X.shape)
    held[...] = X
    return held


def rows_first(X, folder):
    held = np.memmap(folder / "x.bin", dtype="f8", mode="w+", shape=(X.shape[1], X.shape[0], X.shape[2]))
    held[...] = X.transpose(1, 0, 2)
    return held.transpose(1, 0, 2)


def zarred(X, folder):
    held = pytest.importorskip("zarr").create_array(
        folder / "x.zarr", shape=X.shape, chunks=(3, 20, 40), dtype="f8"
    )
    held[...] = X
    return held


def hdf5(X, folder):
    return h5py.File(folder / "x.h5", "w").create_dataset("x", data=X)


def netcdf(X, folder):
    times = np.arange("2001", "2010", dtype="datetime64[Y]").astype("datetime64[ns]")
    held = xr.DataArray(X, {"when": times}, ("when", "who", "what"), name="x")
    held.to_netcdf(folder / "x.nc", engine="h5netcdf")
    return xr.open_dataset(folder / "x.nc", engine="h5netcdf")["x"]


def dasked(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(4, 90, 40))


@pytest.mark.parametrize("keep", [memmapped, rows_first, zarred, hdf5, dasked])
def test_every_kind_of_store(X, tmp_path, in_memory, keep):
    stored = tp.Stored(keep(X, tmp_path), memory=MEMORY)
    model = tp.TParafac2(3, smoothness=1e-3, **SETTINGS).fit(stored)
    same(model, in_memory, 1e-12)
    assert model.n_iter_ == in_memory.n_iter_
    assert len(stored.edges()) > 4
    assert model.evaluate(stored).objective == pytest.approx(model.objective_, rel=1e-12)


def test_labels_and_times_of_a_netcdf_file(X, tmp_path):
    lazy = netcdf(X, tmp_path)
    dims = {"rows": "who", "columns": "what", "time": "when"}
    settings = {"smoothness": 1e-2, **SETTINGS}
    stored = tp.TParafac2(3, **settings).fit(tp.Stored(lazy, dims, memory=MEMORY))
    memory = tp.TParafac2(3, **settings).fit(lazy.load(), dims=dims)
    same(stored, memory, 1e-12)
    assert stored.result_.labels.names["rows"] == "who"
    np.testing.assert_array_equal(stored.result_.times, memory.result_.times)


def test_one_pass_an_iteration(X, tmp_path):
    model = tp.TParafac2(3, smoothness=1e-3, **SETTINGS).fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    starts = model.starts_
    polishing = starts["n_iter"][starts["polished"]].sum() - starts["n_iter"][starts["polished"]].size
    # One look, three for the sketch, one to begin with and one to judge what came out.
    assert model.result_.method.passes <= polishing + 6
    assert model.result_.method.passes > 10
    assert model.result_.method.sketched_rows == 13


@pytest.mark.parametrize(
    "make",
    [
        lambda: tp.Parafac2(3, **SETTINGS),
        lambda: tp.CP(3, **SETTINGS),
        lambda: tp.TemporalCMF(3, smoothness=1e-3, **SETTINGS),
        lambda: tp.TParafac2(3, smoothness=1e-3, nonnegative="patterns", **SETTINGS),
        lambda: tp.TParafac2(3, smoothness=1e-3, rigidity=1.0, **SETTINGS),
    ],
    ids=["parafac2", "cp", "tcmf", "nonnegative", "rigidity"],
)
def test_every_model(X, tmp_path, make):
    X = np.abs(X)
    stored, memory = make().fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY)), make().fit(X)
    assert stored.objective_ == pytest.approx(memory.objective_, rel=1e-7)


@pytest.mark.parametrize("more", [{"nonnegative": "both"}, {"penalties_a": [NonNegative(), Ridge(1e-3)]}])
def test_terms_on_the_rows_begin_with_some_of_them(X, tmp_path, more):
    X = np.abs(X)
    settings = {"smoothness": 1e-3, **SETTINGS, **more}
    stored = tp.TParafac2(3, **settings).fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    memory = tp.TParafac2(3, **settings).fit(X)
    assert stored.objective_ == pytest.approx(memory.objective_, rel=1e-6)
    assert (stored.A_ >= 0).all()
    assert stored.result_.method.sketched_rows == 130


def holed(X, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(X.shape) < share, np.nan, X)
    X[3] = np.nan  # a time of which nothing is known
    return X


@pytest.mark.parametrize("bridge", [True, False])
def test_missing_entries(X, tmp_path, bridge):
    X = holed(X)
    settings = {"smoothness": 1e-3, "bridge": bridge, **SETTINGS}
    stored = tp.TParafac2(3, **settings).fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    memory = tp.TParafac2(3, **settings).fit(X)
    same(stored, memory, 1e-7)
    np.testing.assert_allclose(stored.coverage_, memory.coverage_)
    assert stored.B_.shape == memory.B_.shape


def test_times_in_any_order(X, tmp_path, in_memory):
    order = np.random.default_rng(0).permutation(len(X))
    model = tp.TParafac2(3, smoothness=1e-3, **SETTINGS)
    model.fit(tp.Stored(memmapped(X[order], tmp_path), memory=MEMORY), times=order)
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-9)
    # The patterns are in the user's order.
    assert (
        tp.metrics.factor_match_score(
            (model.A_, model.B_[np.argsort(order)], model.C_[np.argsort(order)]), in_memory
        )
        > 0.999
    )


def test_single_precision(X, tmp_path, in_memory):
    model = tp.TParafac2(3, smoothness=1e-3, dtype="float32", **SETTINGS)
    model.fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-4)


def test_given_factors(X, tmp_path, in_memory):
    init = (in_memory.A_, in_memory.B_, in_memory.C_)
    model = tp.TParafac2(3, smoothness=1e-3, init=init).fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    same(model, in_memory)
    assert model.n_iter_ < 40


@pytest.mark.parametrize(
    "preparation",
    [
        tp.Preparation(center="columns"),
        tp.Preparation(center="rows", scale="columns"),
        tp.Preparation(center="time", scale="time"),
        tp.Preparation("log1p"),
        tp.Preparation(("share", "sqrt"), center="columns", scale="rows"),
        tp.Preparation("clr", pseudocount=0.5),
    ],
    ids=lambda one: one.describe(),
)
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_preparations(X, tmp_path, preparation, share):
    X = np.abs(X)
    X[np.random.default_rng(0).random(X.shape) < share] = np.nan
    X[:, 5], X[2, 7] = 1.0, 0.0
    stored = preparation.apply(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    memory = preparation.apply(X)
    for name in ("centers", "scales"):
        one, other = getattr(stored, name), getattr(memory, name)
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    assert stored.n_empty == memory.n_empty
    one, other = take_stored(stored.data).data, tp.data.intake.take_in(memory.data).data
    np.testing.assert_allclose(
        one.some_rows(np.arange(X.shape[1])).values, other.values, rtol=1e-9, atol=1e-15
    )


def test_a_preparation_refuses_what_it_refuses_in_memory(X, tmp_path):
    stored = tp.Stored(memmapped(X, tmp_path), memory=MEMORY)
    with pytest.raises(ValueError, match="values that are not negative"):
        tp.Preparation("log1p").apply(stored)
    X = X.copy()
    X[:, :, 4] = 3.0
    with pytest.raises(ValueError, match="1 of 40 columns has the same value everywhere"):
        tp.Preparation(scale="columns").apply(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))


def test_how_a_model_was_prepared_is_kept(X, tmp_path):
    prepared = tp.Preparation(center="columns").apply(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))
    model = tp.TParafac2(3, smoothness=1e-3, **SETTINGS).fit(prepared)
    assert np.linalg.norm(model.fitted_values() - X) / np.linalg.norm(X) < 0.5


@pytest.mark.parametrize(
    ("asked", "more", "sentence"),
    [
        ({}, {"mask": np.ones(3)}, "mask is not for data that are read in blocks"),
        ({}, {"weights": np.ones(3)}, "weights is not for data that are read in blocks"),
        ({"rank": 50}, {}, "rank 50 is larger than the slices allow"),
    ],
)
def test_what_is_not_for_blocks(X, tmp_path, asked, more, sentence):
    with pytest.raises(ValueError, match=sentence):
        tp.TParafac2(**{"rank": 2, **asked}).fit(tp.Stored(memmapped(X, tmp_path)), **more)


def test_patterns_larger_than_memory(X, tmp_path):
    with pytest.raises(MemoryError, match=r"Fitting 300 starts .* but what may be used is 3\.0 MB"):
        tp.TParafac2(3, n_starts=300).fit(tp.Stored(memmapped(X, tmp_path), memory=MEMORY))


def test_a_file_that_disappears(X, tmp_path):
    held = memmapped(X, tmp_path)
    stored = tp.Stored(held, memory=MEMORY)
    (tmp_path / "x.bin").unlink()
    with pytest.raises(OSError, match=r"rows 0 to \d+ of 'x\.bin' could not be read in pass 1 "):
        take_stored(stored)


class Failing:
    """An array that fails after some reads."""

    dtype, chunks = np.dtype(float), None

    def __init__(self, X, reads):
        self.X, self.left, self.shape = X, reads, X.shape

    def __getitem__(self, index):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the disk has gone away\nfor good")
        return self.X[index]


def test_a_pass_that_fails_in_the_middle(X):
    stored = tp.Stored(Failing(X, reads=30), memory=MEMORY)
    sentence = r"could not be read in pass [2-9] over the data: RuntimeError: the disk has gone away for good"
    with pytest.raises(OSError, match=sentence):
        tp.TParafac2(3, smoothness=1e-3, **SETTINGS).fit(stored)


def test_memory_is_that_of_blocks_and_patterns(tmp_path):
    K, I, J, rank = 10, 20_000, 30, 2
    rng = np.random.default_rng(0)
    held = np.memmap(tmp_path / "x.bin", dtype="f8", mode="w+", shape=(K, I, J))
    held[...] = rng.standard_normal((K, I, 1)) @ rng.standard_normal((K, 1, J))
    stored = tp.Stored(held, memory="16MB")
    block = max(edge.stop - edge.start for edge in stored.edges()) * K * J * 8
    tracemalloc.start()
    with pytest.warns(tp.ConvergenceWarning):
        tp.TParafac2(rank, smoothness=1e-3, n_starts=2, max_iter=8, random_state=0).fit(stored)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_rows = 8 * I * (rank + 10)  # the sketch's directions: loadings of 12 components
    assert held.nbytes == 48_000_000
    assert peak < 5 * block + 8 * of_rows
    assert peak < held.nbytes / 2
