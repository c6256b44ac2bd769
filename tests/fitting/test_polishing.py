"""Starts on a sketch of the data, the best polished on the data: the same minimum, and an honest account."""

import signal

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.fitting import polishing
from tparafac2.solver import Run, Settings, Status, Trace
from tparafac2.starts import Progress

SETTINGS = {"n_starts": 6, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(1, n_times=8, n_rows=60, n_columns=30, noise=0.5)


MODELS = {
    "TParafac2": tp.TParafac2(3, 1e-3, **SETTINGS),
    "flexible": tp.TParafac2(3, 3e-3, rigidity=1.0, **SETTINGS),
    "non-negative patterns": tp.TParafac2(3, 1e-3, nonnegative="patterns", **SETTINGS),
    "Parafac2": tp.Parafac2(3, **SETTINGS),
    "TemporalCMF": tp.TemporalCMF(3, 1e-2, **SETTINGS),
    "CP": tp.CP(3, **SETTINGS),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_minimum_is_that_of_all_of_the_data(name, data):
    model = MODELS[name].fit(data.X)
    whole = type(model)(**{**model.get_params(), "compress": False}).fit(data.X)
    assert model.result_.method.sketched_rows == 13
    assert whole.result_.method.sketched_rows is None
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert model.objective_ <= whole.objective_ * (1 + 1e-6)
    assert model.result_.evaluate(data.X).objective == pytest.approx(model.objective_, rel=1e-9)


def test_non_negative_rows_are_not_mixed(data):
    model = tp.TParafac2(3, 1e-3, nonnegative="rows", **SETTINGS).fit(np.abs(data.X))
    assert model.result_.method.sketched_rows is None


@pytest.mark.parametrize("changes", [{"compress": False}, {"algorithm": "paper"}, {"tol": 0.0}])
def test_who_asks_for_the_data_as_they_are_gets_them(data, changes):
    with pytest.warns(tp.ConvergenceWarning) if "compress" not in changes else _nothing():
        model = tp.TParafac2(
            3, 1e-3, **SETTINGS, **{"max_iter": 500 if "compress" in changes else 5} | changes
        )
        model.fit(data.X)
    assert model.result_.method.sketched_rows is None
    assert "polished" not in model.starts_


def test_the_account_says_which_starts_were_polished(data):
    model = MODELS["TParafac2"].fit(data.X)
    table = model.starts_
    assert table["polished"][table["chosen"]].all()
    assert 1 <= table["polished"].sum() <= 2
    rough = table[~table["polished"]]
    assert (rough["objective"] == rough["rough_objective"]).all()
    assert (table["objective"] <= table["rough_objective"]).all()
    assert (table["fms_to_chosen"] > 0.99).all(), "they found the same"


def test_what_is_told_of_rough_ends_holds_for_the_data(data):
    """The objective of a start that was not polished is that of its factors on all of the data."""
    alone = tp.TParafac2(3, 1e-3, n_starts=1, random_state=0).fit(data.X)
    trace = alone.trace_
    assert (np.diff(trace["iteration"]) == 1).all()
    assert (np.diff(trace["seconds"]) >= 0).all()
    began = int(alone.starts_["n_iter"].iloc[0])
    assert len(trace) == alone.n_iter_ == began
    assert trace["objective"].iloc[-1] == pytest.approx(alone.objective_, rel=1e-6)
    assert trace["objective"].min() >= alone.objective_ * (1 - 1e-6)


def test_the_same_bytes_for_any_number_of_threads(data):
    one, two, three = (
        tp.TParafac2(3, 1e-3, n_starts=24, random_state=0, n_jobs=n).fit(data.X) for n in (1, 2, 3)
    )
    for other in (two, three):
        for ours, theirs in zip((one.A_, one.B_, one.C_), (other.A_, other.B_, other.C_), strict=True):
            assert ours.tobytes() == theirs.tobytes()
        assert one.starts_.drop(columns="seconds").equals(other.starts_.drop(columns="seconds"))


def test_an_interruption_on_the_sketch_gives_a_fit_to_the_data(data, monkeypatch):
    def iteration(self, batch, entry):
        if entry.iteration == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "iteration", iteration)
    model = MODELS["TParafac2"].fit(data.X)
    assert model.status_ == "interrupted"
    assert model.n_iter_ == 5
    assert model.A_.shape == (60, 3)
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8
    error = np.sum((data.X - model.reconstruct()) ** 2)
    assert 1 - error / np.sum(data.X**2) == pytest.approx(model.explained_variance_, rel=1e-9)


def test_an_interruption_between_batches_is_not_followed_by_a_polish(data, monkeypatch):
    monkeypatch.setattr(Progress, "batch_done", lambda self, batch: signal.raise_signal(signal.SIGINT))
    model = tp.TParafac2(3, 1e-3, n_starts=40, random_state=0, n_jobs=1).fit(data.X)
    assert len(model.starts_) == 20, "the second batch had not begun"
    assert model.starts_["converged"].all()
    assert not model.starts_["polished"].any()


def run_of(objective, direction, status=Status.CONVERGED):
    A = np.eye(4)[:, [direction]]
    return Run(
        A, np.ones((2, 3, 1)), np.ones((2, 1)), status, Trace(np.ones((1, 6))), (), objective, objective
    )


def test_promising_runs_are_close_and_not_alike():
    runs = [run_of(1.0, 0), run_of(1.0001, 0), run_of(1.0002, 1), run_of(1.0003, 2), run_of(1.0004, 3)]
    assert polishing.promising(runs, Settings(), fixed_strengths=False) == [0, 2]
    far = [run_of(1.0, 0), run_of(1.1, 1), run_of(0.5, 2, Status.MAX_ITER)]
    assert polishing.promising(far, Settings(), fixed_strengths=False) == [0]


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None
