"""The whole procedure on small data: what it chooses, that it repeats itself, and what it refuses."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.choosing import procedure
from tparafac2.data import Labels
from tparafac2.fitting import read_groups

QUICKLY = {
    "smoothness": [1e-3, 1e-2],
    "rigidity": [np.inf, 1.0],
    "compare": False,
    "n_masks": 1,
    "n_splits": 3,
    "n_starts": 3,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=1, noise=0.2, n_times=6, n_rows=60, n_columns=30, n_concepts=2)


@pytest.fixture(scope="module")
def choice(data):
    return tp.choose(data.X, ranks=range(1, 5), **QUICKLY)


def test_the_true_rank_is_found_and_its_components_are_replicable(choice):
    assert choice.model.rank == 2
    assert choice.model.result_.trust.verdict.tolist() == ["replicable", "replicable"]
    assert choice.record["rank"]["sure"]


def test_everything_that_was_tried_is_in_the_table(choice):
    table = choice.table
    assert set(table["rank"]) >= {1, 2, 3}
    assert table["chosen"].sum() == 1
    assert table[table["chosen"]]["rank"].item() == 2
    assert (table["hidden_error"] > 0).all()


def test_the_same_seed_gives_the_same_choice_in_any_number_of_processes(data, choice):
    again = tp.choose(data.X, ranks=range(1, 5), **QUICKLY, n_jobs=2)
    np.testing.assert_array_equal(again.model.B_, choice.model.B_)
    assert again.record == choice.record


def test_a_choice_is_kept_with_the_model(choice, tmp_path):
    choice.model.save(tmp_path / "model.npz")
    again = tp.Choice(tp.load(tmp_path / "model.npz"))
    assert again.summary() == choice.summary()
    assert again.table.equals(choice.table)


def test_ranks_that_were_not_given_are_cut_to_what_halves_can_tell(data):
    few = {**QUICKLY, "smoothness": 1e-3, "rigidity": np.inf, "n_splits": 1}
    choice = tp.choose(data.X[:, :4], **few)
    assert choice.record["ranks_asked"] == [1, 2]
    with pytest.raises(ValueError, match="ranks go up to 3, but halves of 4 rows"):
        tp.choose(data.X[:, :4], ranks=[1, 3], **few)


def test_groups_by_label_are_found_as_text_or_number():
    assert read_groups({"1": "b", "2": "a"}, Labels(rows=[2, 1]), 2).tolist() == [0, 1]
    with pytest.raises(ValueError, match="groups has nothing for 1 of 2 rows: 2"):
        read_groups({"1": "b"}, Labels(rows=[2, 1]), 2)


def test_without_halves_the_rank_is_chosen_by_hidden_entries_alone(data):
    choice = tp.choose(data.X, ranks=range(1, 4), **(QUICKLY | {"n_splits": 0}))
    assert choice.model.rank == 2
    assert choice.model.result_.trust.replicability is None
    assert choice.components.empty


@pytest.fixture
def hears_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Pressed:
    """Work that is interrupted when it is done for the n-th time."""

    def __init__(self, work, n):
        self.work, self.left = work, n

    def __call__(self, *piece):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return self.work(*piece)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_gives_the_best_so_far(data, monkeypatch):
    monkeypatch.setattr(procedure, "_measure", Pressed(procedure._measure, 3))
    choice = tp.choose(data.X, ranks=range(1, 5), **QUICKLY)
    assert choice.record["interrupted"]
    assert choice.model.rank == 2  # the third rank was not finished
    assert choice.model.converged_
    assert "interrupted" in choice.summary()
    assert "not sure" in choice.summary()
    trust = choice.model.result_.trust
    assert (trust.replicability, trust.stability, trust.n_splits, trust.n_settings) == (None,) * 4


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_while_components_are_looked_for_leaves_what_was_measured(data, monkeypatch):
    monkeypatch.setattr(procedure, "_halve", Pressed(procedure._halve, 4))
    choice = tp.choose(data.X, ranks=range(1, 4), **QUICKLY)
    assert choice.record["interrupted"]
    assert set(choice.components["rank"]) == {1}


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_while_models_are_compared_leaves_trust_in_the_order_of_the_model(data, monkeypatch):
    """The fit that halves were compared with may have its components in another order."""
    fit, asked = procedure._fit_whole, QUICKLY | {"rigidity": np.inf, "compare": True}

    def turned_round(*piece):
        result = fit(*piece)
        return replace(result, A=result.A[:, ::-1], B=result.B[:, :, ::-1], C=result.C[:, ::-1])

    whole = tp.choose(data.X, ranks=2, **(asked | {"compare": False})).model.result_.trust
    monkeypatch.setattr(procedure, "_fit_whole", turned_round)
    monkeypatch.setattr(procedure, "_measure", Pressed(procedure._measure, 2))
    choice = tp.choose(data.X, ranks=2, **asked)
    assert choice.record["interrupted"]
    assert np.ptp(whole.replicability) > 1e-6
    assert choice.model.result_.trust.replicability == pytest.approx(whole.replicability)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_before_there_is_anything_is_an_interrupt(data, monkeypatch):
    monkeypatch.setattr(procedure, "_measure", Pressed(procedure._measure, 1))
    with pytest.raises(KeyboardInterrupt, match="before any rank"):
        tp.choose(data.X, ranks=[1, 2], **QUICKLY)


def test_models_are_kept_if_asked_for_and_can_be_saved(data, tmp_path):
    choice = tp.choose(data.X, ranks=[1, 2], keep=True, **QUICKLY)
    assert {model.rank for model in choice.models.values()} == {1, 2}
    for number, (label, model) in enumerate(choice.models.items()):
        assert f"rank {model.rank}" in label
        model.save(tmp_path / f"{number}.npz")
        np.testing.assert_array_equal(tp.load(tmp_path / f"{number}.npz").B_, model.B_)


def test_other_models_are_set_beside_the_chosen_one_on_the_same_hidden_entries(data):
    choice = tp.choose(np.abs(data.X), ranks=2, **(QUICKLY | {"compare": True}))
    labels = set(choice.compared["model"])
    assert choice.model.nonnegative == "patterns"
    assert {"CP, non-negative patterns", "PARAFAC2, non-negative patterns", "tPARAFAC2"} <= labels
    assert {"tPARAFAC2, non-negative rows", "tPARAFAC2, non-negative rows and patterns"} <= labels
    assert choice.compared["hidden_error"].is_monotonic_increasing
    assert choice.compared["replicability"].notna().sum() >= 5


def holed(X, rng):
    return np.where(rng.random(X.shape) < 0.1, np.nan, X)


def unvisited(X, rng):
    return np.where(rng.random(X.shape[:2])[:, :, None] < 0.2, np.nan, X)


KINDS = {
    "missing entries": (holed, {}, "entries"),
    "missing samples": (unvisited, {}, "fibres"),
    "uneven times": (lambda X, rng: X, {"times": [0, 1, 2, 7, 8, 9]}, "entries"),
    "a time without data": (
        lambda X, rng: np.where(np.arange(6)[:, None, None] == 2, np.nan, X),
        {},
        "entries",
    ),
    "periodic": (lambda X, rng: X, {"period": 6}, "entries"),
    "weights of rows": (lambda X, rng: X, {"weights": np.linspace(1, 2, 60)}, "entries"),
    "prepared": (lambda X, rng: tp.Preparation(center="columns").apply(X + 3.0), {}, "entries"),
    "sparse": (lambda X, rng: [csr_array(np.where(np.abs(x) > 0.5, x, 0.0)) for x in X], {}, "entries"),
    "groups": (lambda X, rng: X, {"groups": ["a"] * 59 + ["b"]}, "entries"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_data_can_choose(data, kind):
    make, more, hides = KINDS[kind]
    X = make(data.X, np.random.default_rng(0))
    choice = tp.choose(X, ranks=range(1, 4), **(QUICKLY | {"n_splits": 2}), **more)
    assert choice.record["hides"] == hides
    assert choice.model.result_.trust.verdict is not None
    assert choice.model.rank in (1, 2, 3)
    assert ("single row" in choice.summary()) == (kind == "groups")
    if kind not in ("sparse", "missing samples", "prepared"):
        assert choice.model.rank == 2


def test_what_was_not_tried_is_not_said(data):
    given = tp.choose(data.X, ranks=2, **(QUICKLY | {"smoothness": 1e-2, "rigidity": 1.0, "n_splits": 0}))
    assert given.record["hard"] is None
    assert given.model.result_.trust.z is None
    assert "sizes and angles" not in given.summary()


def test_a_given_rigidity_is_tried_at_every_smoothness_by_every_mask(data):
    asked = {"smoothness": np.logspace(-4, -1, 7), "rigidity": 1.0, "n_masks": 3, "n_splits": 0}
    found = tp.choose(data.X, ranks=np.array(2), **(QUICKLY | asked))
    assert len(found.table) >= 5
    assert (found.table["rigidity"] == 1.0).all()


def test_halves_are_not_asked_for_more_than_will_be_made(data):
    found = tp.choose(data.X[:, :5], ranks=[1, 3], **(QUICKLY | {"n_splits": 0}))
    assert found.record["ranks"]["rank"][-1] == 3
    assert not found.record["rank"]["sure"]


def test_components_of_the_table_are_those_of_the_model(data):
    """The last fit has starts of its own, and may end elsewhere than the one before it."""
    X = tp.synthetic.easy(seed=1, noise=0.8, n_times=5, n_rows=20, n_columns=12, n_concepts=2).X
    asked = {"smoothness": 1e-4, "rigidity": np.inf, "nonnegative": None, "n_starts": 2, "random_state": 1}
    choice = tp.choose(X, ranks=4, compare=False, n_masks=1, n_splits=2, **asked)
    found = choice.components.query("model == 'tPARAFAC2'")["replicability"]
    assert found.tolist() == choice.model.result_.trust.replicability.tolist()


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_units_change_nothing(data, unit):
    asked = QUICKLY | {"n_splits": 0, "rigidity": np.inf}
    ours, theirs = (tp.choose(X, ranks=[1, 2], **asked) for X in (data.X, data.X * unit))
    assert ours.model.rank == theirs.model.rank == 2
    assert ours.ranks["z"][1] == pytest.approx(theirs.ranks["z"][1], rel=1e-6)


def test_a_choice_stays_when_its_model_is_fitted_again(data):
    choice = tp.choose(data.X, ranks=1, **(QUICKLY | {"n_splits": 0}))
    before = choice.summary()
    choice.model.fit(data.X)
    assert choice.summary() == before
    with pytest.raises(TypeError, match="load"):
        tp.Choice("model.npz")


def test_data_without_components_are_said_to_have_none():
    noise = np.random.default_rng(0).normal(size=(6, 40, 30))
    choice = tp.choose(noise, ranks=[1, 2], **QUICKLY)
    assert "nothing" in choice.record["rank"]["doubts"]
    assert choice.model.result_.trust.verdict.tolist() == ["not there"]
    assert "Trust: low" in choice.model.summary()


def test_a_last_fit_that_did_not_converge_is_warned_of_once(data):
    with pytest.warns(tp.ConvergenceWarning) as told:
        tp.choose(data.X, ranks=2, **(QUICKLY | {"max_iter": 3, "n_splits": 0}))
    assert len(told) == 1


REFUSED = {
    "two times": (lambda X: X[:2], {}, "can choose from 3 times on; got 2"),
    "few rows": (lambda X: X[:, :5], {"ranks": [3]}, "halves of 5 rows"),
    "little observed": (
        lambda X: np.where(np.random.default_rng(0).random(X.shape) < 0.3, X, np.nan)[:, :8, :4],
        {"ranks": 1},
        "too few to hide",
    ),
    "other columns": (lambda X: [X[0], X[1, :, :20], X[2]], {}, "no entries can be hidden"),
    "groups": (lambda X: X, {"groups": [1, 2]}, "one value for each of the 60 rows"),
    "a name of groups": (lambda X: X, {"groups": "kind"}, "one value for each row, or be a mapping.*'kind'"),
    "rows without a group": (lambda X: X, {"groups": [None, *range(59)]}, "nothing for 1 of 60 rows"),
    "another name": (lambda X: X, {"rank": 2}, "has no argument 'rank': did you mean ranks"),
    "a rank beyond the data": (lambda X: X, {"ranks": [1, 40], "n_splits": 0}, "rank 40"),
    "empty rows": (lambda X: np.where(np.arange(60)[:, None] < 1, X, 0.0), {}, "only few rows have anything"),
    "hidden zeros": (lambda X: np.where(X.max() == X, X, 0.0), {"n_splits": 0}, "hidden are zero"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_data_that_cannot_choose_are_refused_before_any_work(data, case):
    make, more, said = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=said):
        tp.choose(make(data.X), **(QUICKLY | {"ranks": [1, 2]} | more))


def test_settings_at_which_everything_vanishes_are_no_end(data):
    """Nothing can go on from a fit in which nothing is left; the next one begins anew."""
    choice = tp.choose(data.X, ranks=1, **(QUICKLY | {"smoothness": [1e-3, 1e4, 1e5]}))
    assert choice.model.smoothness == 1e-3
