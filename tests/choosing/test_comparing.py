"""Several models on the same data."""

import json
import os
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import tparafac2 as tp
from tparafac2.choosing import was_interrupted
from tparafac2.starts import Progress, helping

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=14, n_concepts=2).X


def models(*ranks, **options):
    return {f"rank {r}": tp.TParafac2(r, n_starts=2, max_iter=60, random_state=0, **options) for r in ranks}


def test_every_fit_says_which_of_how_many_it_is(X, monkeypatch):
    said = []

    class Listening(Progress):
        def __init__(self, enabled=None):
            super().__init__(enabled)
            said.append(self.what)

    monkeypatch.setattr("tparafac2.fitting.one_fit.Progress", Listening)
    tp.compare_models(models(1, 2), X)
    assert said == ["fitting model 1 of 2 (rank 1)", "fitting model 2 of 2 (rank 2)"]


def same(ours, theirs):
    """Whether two comparisons are the same but for the time they took."""
    return ours.drop(columns="seconds").equals(theirs.drop(columns="seconds"))


def test_processes_change_nothing(X):
    alone, shared = models(1, 2, 3), models(1, 2, 3)
    table = tp.compare_models(alone, X, n_jobs=1)
    assert same(table, tp.compare_models(shared, X, n_jobs=2))
    for label, model in alone.items():
        other = shared[label]
        assert model.B_.tobytes() == other.B_.tobytes()
        assert model.result_.parameters == other.result_.parameters
        assert model.summary() == other.summary()


def test_models_that_share_a_generator_draw_in_turn(X):
    tables = []
    for n_jobs in (1, 2):
        rng = np.random.default_rng(0)
        shared = {name: tp.CP(2, n_starts=2, random_state=rng) for name in ("a", "b")}
        tables.append(tp.compare_models(shared, X, n_jobs=n_jobs))
        assert shared["a"].random_state is rng
        assert shared["a"].objective_ != shared["b"].objective_
    assert same(*tables)


def test_tables_and_preparations_go_to_other_processes(X):
    prepared = tp.Preparation("sqrt").apply(tp.io.samples.flights())
    few = {f"rank {r}": tp.CP(r, n_starts=1, max_iter=2, random_state=0) for r in (1, 2)}
    assert len(tp.compare_models(few, prepared, n_jobs=2)) == 2
    assert few["rank 2"].result_.preparation["transform"] == "sqrt"


class Telling(tp.CP):
    """Warns of the number of threads that it may use."""

    def fit(self, X):
        warnings.warn(f"{max(pool['num_threads'] for pool in threadpool_info())} threads", stacklevel=2)
        return super().fit(X)


class Dying(tp.CP):
    def fit(self, X):
        os._exit(1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_never_multiply_and_warnings_are_heard(X, n_jobs):
    told = {name: Telling(1, n_starts=1, max_iter=2) for name in "ab"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tp.compare_models(told, X, n_jobs=n_jobs)
    assert [str(one.message) for one in said] == ["1 threads", "1 threads"]


def test_workers_begin_no_threads(X, monkeypatch):
    """A model that asks for several is fitted in the one that it got: there are enough."""

    def begun(*given, **more):
        raise RuntimeError("a thread was begun")

    monkeypatch.setattr("tparafac2.starts.batches.ThreadPoolExecutor", begun)
    many = tp.CP(5, n_starts=40, n_jobs=2, max_iter=3, random_state=0)  # two batches
    with pytest.raises(RuntimeError, match="begun"):
        many.fit(X)
    with helping("no/such/file"):
        assert len(many.fit(X).starts_) == 40


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_processes_are_a_number(X, n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a positive whole number"):
        tp.compare_models(models(1), X, n_jobs=n_jobs)


def test_a_fit_that_is_told_by_the_flag_stops(X, tmp_path):
    (tmp_path / "stop").touch()
    with helping(str(tmp_path / "stop")):
        (model,) = models(2).values()
        assert was_interrupted(model.fit(X))


def test_after_ctrl_c_only_whole_fits_have_a_line(X, monkeypatch):
    def halfway(work, pieces, n_jobs):
        for number, piece in enumerate(pieces):
            if number == 1:
                signal.raise_signal(signal.SIGINT)
            yield work(*piece)

    monkeypatch.setattr("tparafac2.choosing.comparing.in_processes", halfway)
    before = signal.getsignal(signal.SIGINT)
    assert tp.compare_models(models(1, 2, 3), X, n_jobs=2)["model"].to_list() == ["rank 1"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_worker_that_dies_ends_in_a_sentence(X):
    with pytest.raises(ChildProcessError, match="ended from outside"):
        tp.compare_models({"dies": Dying(1), "lives": tp.CP(1)}, X, n_jobs=2)


def test_what_was_compared_is_kept(X, tmp_path):
    fitted = models(1, 2)
    table = tp.compare_models(fitted, X)
    folder = tp.io.write_comparison(fitted, table, tmp_path / "out", about={"data": "x.npy"})
    kept = pd.read_csv(folder / "comparison.csv")
    assert kept["file"].to_list() == ["1-rank-1.npz", "2-rank-2.npz"]
    assert tp.load(folder / kept["file"][1]).objective_ == fitted["rank 2"].objective_
    assert json.loads((folder / "log.json").read_text())["about"] == {"data": "x.npy"}
    with pytest.raises(FileExistsError, match="exists"):
        tp.io.write_comparison(fitted, table, folder)
    tp.io.write_comparison(fitted, table[:1], folder, overwrite=True)
    files = ["1-rank-1.npz", "comparison.csv", "log.json"]
    assert sorted(path.name for path in folder.iterdir()) == files


def test_a_folder_with_models_of_others_is_not_replaced(X, tmp_path):
    fitted = models(1)
    table = tp.compare_models(fitted, X)
    folder = tp.io.write_comparison(fitted, table, tmp_path / "out")
    (folder / "mine.npz").write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"holds 'mine\.npz'"):
        tp.io.write_comparison(fitted, table, folder, overwrite=True)


def test_labels_that_no_file_can_be_called(X, tmp_path):
    names = ["../up", "a/b", "é", "", "x" * 300, "CON: <1>"]
    fitted = {name: tp.CP(1, n_starts=1, max_iter=2, random_state=0) for name in names}
    folder = tp.io.write_comparison(fitted, tp.compare_models(fitted, X), tmp_path / "out")
    assert len(list(folder.glob("*.npz"))) == len(names)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


@pytest.mark.parametrize("models", [{}, [tp.CP(1)], {"a": "cp"}, {"a": tp.CP}, None])
def test_what_cannot_be_compared_is_refused(models):
    with pytest.raises((TypeError, ValueError), match="models"):
        tp.compare_models(models, np.ones((4, 6, 5)))
