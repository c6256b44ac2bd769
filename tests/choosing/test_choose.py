"""What `choose` chooses on small data, that it repeats itself, and what it refuses."""

import os
import signal

import numpy as np
import pytest
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.choosing import procedure

QUICKLY = {"smoothness": [1e-3, 1e-2], "rigidity": [np.inf, 1.0], "n_starts": 3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=1, noise=0.2, n_times=6, n_rows=60, n_columns=30, n_concepts=2)


@pytest.fixture(scope="module")
def choice(data):
    return tp.choose(data.X, ranks=range(1, 5), **QUICKLY)


def groups_of_authors(seed):
    """Counts of two groups of six authors without common words; those of one group wander."""
    rng, words = np.random.default_rng(seed), np.arange(12)
    X = np.empty((15, 12, 12))
    for t in range(15):
        X[t, :6] = 8 * np.exp(-((words - t / 3) ** 2) / 4)
        X[t, 6:] = 8 * np.exp(-((words - 8) ** 2) / 4)
    return np.log1p(rng.poisson(X))


def test_the_true_rank_is_chosen_and_sure(choice):
    assert choice.model.rank == choice.rank == 2
    assert choice.sure
    assert choice.model.result_.trust.verdict.tolist() == ["replicable", "replicable"]
    assert choice.record["draws"] == [2, 2, 2]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("random_state", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_two_groups_are_two_components_for_every_seed(seed, random_state):
    choice = tp.choose(
        groups_of_authors(seed),
        ranks=[1, 2, 3],
        smoothness=[1e-3, 3e-3, 1e-2],
        rigidity=[np.inf, 10.0, 1.0, 0.0],
        random_state=random_state,
    )
    assert choice.rank == 2
    gain, null = choice.table.set_index("rank").loc[2, ["gain", "null"]]
    assert gain > 0.7 > null


def test_the_table_has_a_line_for_every_rank(choice):
    table = choice.table.set_index("rank")
    assert set(table.index) >= {1, 2, 3}
    assert table["error"].idxmin() == 2
    assert table.loc[2, "gain"] > table.loc[2, "null"] >= 0
    assert table.loc[2, "z"] > 2
    assert table.loc[2, "rows"] > 5
    assert table.loc[3, "gain"] < 0
    assert table["supported"].to_list()[:3] == [True, True, False]


def test_every_setting_that_was_tried_is_kept(choice):
    settings = choice.settings
    assert settings["chosen"].sum() == 1
    assert settings[settings["chosen"]]["rank"].item() == 2
    assert (settings["error"] > 0).all()
    assert set(settings["smoothness"]) == {1e-3, 1e-2}


def test_components_are_compared_between_folds_and_halves(choice):
    components = choice.components
    own = components[components["rank"] == 2]
    assert (own[["folds", "folds_alone", "halves", "halves_alone"]] > 0.9).all(axis=None)
    too_many = components[components["rank"] == 3]
    assert (too_many["verdict"] == "not there").sum() == 1
    assert too_many["halves_alone"].min() < 0.5
    trust = choice.model.result_.trust
    assert trust.by == "halves"
    assert trust.replicability == pytest.approx(own["halves"].to_numpy())


def test_the_summary_marks_the_chosen_rank(choice):
    table, sentences = choice.summary().split("\n\n")
    assert [line[0] for line in table.splitlines()[1:]].index("*") == 1
    assert len(sentences.splitlines()) <= 4
    assert "rank 2" in sentences.splitlines()[0]


def test_the_same_seed_gives_the_same_choice_in_any_number_of_processes(data, choice):
    again = tp.choose(data.X, ranks=range(1, 5), **QUICKLY, n_jobs=2)
    np.testing.assert_array_equal(again.model.B_, choice.model.B_)
    assert again.record == choice.record


def test_a_choice_is_kept_with_the_model(choice, tmp_path):
    choice.model.save(tmp_path / "model.npz")
    again = tp.Choice(tp.load(tmp_path / "model.npz"))
    assert again.summary() == choice.summary()
    assert again.table.equals(choice.table)
    assert again.sure == choice.sure


def test_a_choice_stays_when_its_model_is_fitted_again(data):
    choice = tp.choose(data.X, ranks=1, **QUICKLY)
    before = choice.summary()
    choice.model.fit(data.X)
    assert choice.summary() == before
    with pytest.raises(TypeError, match="load"):
        tp.Choice("model.npz")


def test_usual_ranks_are_cut_to_what_the_rows_can_tell(data):
    asked = QUICKLY | {"smoothness": 1e-3, "rigidity": np.inf}
    assert tp.choose(data.X[:, :4], **asked).record["ranks_asked"] == [1, 2]
    with pytest.raises(ValueError) as refused:
        tp.choose(data.X[:, :4], ranks=[1, 3], **asked)
    assert refused.value.argument == "ranks"


def test_few_rows_are_folds_of_one_and_decide_by_folds(data):
    choice = tp.choose(data.X[:, :8], ranks=[1, 2], **QUICKLY)
    assert choice.record["by"] == "folds"
    assert choice.model.result_.trust.by == "folds"


def test_the_constraint_is_relaxed_where_it_does_not_fit(data):
    X = tp.synthetic.overlapping(seed=1, overlap=0.4, n_times=10, n_rows=60, n_columns=40, noise=0.3).X
    choice = tp.choose(X, ranks=3, smoothness=[3e-4, 1e-3, 3e-3], random_state=0)
    found = choice.record["relaxed"]
    assert choice.model.rigidity < np.inf
    assert found["gain"] > found["null"]
    assert any(one.kind == "constraint_contradicted" for one in choice.model.findings_)
    held = tp.choose(X, ranks=3, smoothness=[3e-4, 1e-3, 3e-3], rigidity=np.inf, random_state=0)
    assert held.record["relaxed"] is None
    assert held.model.rigidity == np.inf


def test_noise_is_never_sure():
    noise = np.random.default_rng(0).normal(size=(6, 40, 30))
    choice = tp.choose(noise, ranks=[1, 2, 3], **QUICKLY)
    assert choice.rank == 1
    assert not choice.sure
    assert "nothing" in choice.record["doubts"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_noise_that_lasts_adds_no_component(seed):
    data = tp.synthetic.easy(seed=seed, noise=0.0, n_times=12, n_rows=60, n_columns=40, n_concepts=2)
    rng = np.random.default_rng(seed)
    E = rng.standard_normal(data.X.shape)
    for k in range(1, len(E)):
        E[k] = 0.9 * E[k - 1] + np.sqrt(1 - 0.81) * E[k]
    X = data.X + 0.75 * np.linalg.norm(data.X) / np.linalg.norm(E) * E
    choice = tp.choose(X, ranks=[1, 2, 3, 4], smoothness=[1e-3, 3e-3, 1e-2], random_state=0)
    assert choice.rank == 2 or not choice.sure
    assert choice.record["supported"] == 2


def test_other_models_are_compared_where_asked_for(data):
    X = np.abs(data.X)
    choice = tp.choose(X, ranks=2, compare=True, **QUICKLY)
    labels = set(choice.compared["model"])
    assert choice.model.nonnegative == "patterns"
    assert {"CP, non-negative patterns", "PARAFAC2, non-negative patterns"} <= labels
    assert any("rows and patterns" in label for label in labels)
    assert choice.compared.set_index("model")["excess"]["CP, non-negative patterns"] > 0
    assert tp.choose(X, ranks=2, **QUICKLY).compared.empty


# --- which rows stay together -------------------------------------------------------------------------------


def test_rows_of_a_group_are_in_one_part(data):
    from tparafac2.choosing.splits import DataSplits

    groups = np.repeat(np.arange(20), 3)
    strata = np.repeat([0, 1], [15, 45])
    splits = DataSplits.of(data.X)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        grouped = DataSplits(splits.whole, groups=groups).folds(rng, 5)
        assert sorted(np.concatenate(grouped).tolist()) == list(range(60))
        for rows in grouped:
            assert all(np.isin(np.flatnonzero(groups == one), rows).all() for one in groups[rows])
        balanced = DataSplits(splits.whole, strata=strata).folds(rng, 5)
        assert {(strata[rows] == 0).sum() for rows in balanced} == {3}


def test_groups_and_strata_are_checked(data):
    for name in ("groups", "stratify"):
        for given in ([1, 2], "kind", [None, *range(59)]):
            with pytest.raises((ValueError, TypeError)) as refused:
                tp.choose(data.X, ranks=[1, 2], **{name: given})
            assert refused.value.argument == name
    with pytest.raises(ValueError) as refused:
        tp.choose(data.X, ranks=[1, 2], groups=["a"] * 60)
    assert refused.value.argument == "groups"


# --- held-out rows ------------------------------------------------------------------------------------------


def test_the_error_of_held_out_rows_is_that_of_transform(data):
    """From one half of the entries the loadings, by `transform`; from these the other half."""
    from tparafac2.choosing.candidates import Candidate
    from tparafac2.choosing.path import Frame, fit_path
    from tparafac2.choosing.splits import DataSplits
    from tparafac2.choosing.tasks import Trial, Work

    splits = DataSplits.of(data.X)
    work = Work(splits, Frame(splits.whole, 2), (1e-3,), (np.inf,), 5, 0)
    setting = Candidate(2, 1e-3)
    trial = Trial(work, setting, [0])
    (fits,) = fit_path(trial.parts, [setting])
    found = trial.errors(fits)[0] * splits.whole.data.scale**2
    held, (B, C) = trial.held[0][0], fits.factors(0)
    # The same by ridge regressions of rows, in the units of X.
    unit = splits.whole.data.scale ** (1 / 3)
    W = ((B * unit) * (C * unit)[:, None, :]).reshape(-1, 2)
    ridge = setting.estimator().terms(splits.whole.data.scale * trial.parts.norm, 6).A[0].strength
    for row in held.rows[:4]:
        x, seen = data.X[:, row].ravel(), held.visible.ravel()
        expected = 0.0
        for here in (seen, ~seen):
            a = np.linalg.solve(W[here].T @ W[here] + ridge * np.eye(2), W[here].T @ x[here])
            expected += np.square(x[~here] - W[~here] @ a).sum()
        assert found[row] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mode", ["columns", "rows", "time"])
def test_held_out_rows_have_no_part_in_how_the_data_were_prepared(data, mode):
    """What is hidden may be anything: training data stay as they are, and so does what is visible."""
    from tparafac2.choosing.splits import DataSplits

    rows, rng = np.arange(10), np.random.default_rng(0)
    changed = data.X.copy()
    visible = rng.random((6, 30)) < 0.5
    for k in range(6):
        changed[k][np.ix_(rows, ~visible[k])] += rng.normal(size=(10, (~visible[k]).sum()))
    prepared = [tp.Preparation(center=mode, scale=mode).apply(X + 3.0) for X in (data.X, changed)]
    ours, theirs = (DataSplits.of(X).hold_out(rows, visible) for X in prepared)
    for one, other in ((ours[0], theirs[0]),):
        assert one.values * one.scale == pytest.approx(other.values * other.scale, abs=1e-10)
    one, other = ours[1].data[0], theirs[1].data[0]
    assert (one.values * one.scale)[:, visible] == pytest.approx((other.values * other.scale)[:, visible])


def test_units_change_nothing(data):
    asked = QUICKLY | {"rigidity": np.inf, "ranks": [1, 2]}
    ours = tp.choose(data.X, **asked).table
    for unit in (1e-120, 1e120):
        theirs = tp.choose(data.X * unit, **asked).table
        assert theirs["z"][1] == pytest.approx(ours["z"][1], rel=1e-6)
        assert theirs["gain"][1] == pytest.approx(ours["gain"][1], rel=1e-6)


def holed(X, rng):
    return np.where(rng.random(X.shape) < 0.1, np.nan, X)


def unvisited(X, rng):
    return np.where(rng.random(X.shape[:2])[:, :, None] < 0.2, np.nan, X)


KINDS = {
    "missing entries": (holed, {}),
    "missing samples": (unvisited, {}),
    "uneven times": (lambda X, rng: X, {"times": [0, 1, 2, 7, 8, 9]}),
    "a time without data": (lambda X, rng: np.where(np.arange(6)[:, None, None] == 2, np.nan, X), {}),
    "periodic": (lambda X, rng: X, {"period": 6}),
    "weights of rows": (lambda X, rng: X, {"weights": np.linspace(1, 2, 60)}),
    "weights of entries": (
        lambda X, rng: X,
        {"weights": 1.0 + np.arange(10800).reshape(6, 60, 30) % 7},
    ),
    "columns centred": (lambda X, rng: tp.Preparation(center="columns").apply(X + 3.0), {}),
    "rows centred": (lambda X, rng: tp.Preparation(center="rows", scale="rows").apply(holed(X, rng)), {}),
    "sparse": (lambda X, rng: [csr_array(np.where(np.abs(x) > 0.5, x, 0.0)) for x in X], {}),
    "single precision": (lambda X, rng: X, {"dtype": "float32"}),
    "non-negative rows": (lambda X, rng: X, {"nonnegative": "rows"}),
    "columns that come and go": (
        lambda X, rng: np.where(np.arange(30) + 20 > 10 * np.arange(6)[:, None, None], X, np.nan),
        {"bridge": False},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_data_can_choose(data, kind):
    make, more = KINDS[kind]
    X = make(data.X, np.random.default_rng(0))
    choice = tp.choose(X, ranks=range(1, 4), **QUICKLY, **more)
    assert choice.model.result_.trust.verdict is not None
    # One mean for each column is one more component: of all rows alike, and constant in time.
    assert choice.rank == choice.model.result_.rank == (3 if kind == "columns centred" else 2)


def test_rows_with_too_few_entries_are_left_out_and_counted(data):
    X = data.X.copy()
    X[1:, :3] = np.nan
    X[0, :3, 4:] = np.nan
    choice = tp.choose(X, ranks=[1, 2], **QUICKLY)
    assert choice.record["left_out"] == 3
    assert choice.rank == 2


def test_data_larger_than_memory_are_chosen_from_a_sample(data, tmp_path, monkeypatch):
    from tparafac2.choosing import search

    X = np.memmap(tmp_path / "X", dtype="float64", mode="w+", shape=data.X.shape)
    X[:] = data.X
    monkeypatch.setattr(search, "_SAMPLE", 40 * 6 * 30)
    asked = QUICKLY | {"rigidity": np.inf}
    choice = tp.choose(tp.Stored(X), ranks=[1, 2, 3], groups=np.repeat(np.arange(30), 2), **asked)
    assert choice.record["sampled"] == 40
    assert choice.rank == 2
    assert choice.model.A_.shape == (60, 2)


# --- interruptions ------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize(
    ("task", "n"),
    [("search_rank", 3), ("fit_all", 2), ("try_again", 2), ("null_gains", 1), ("compare_halves", 2)],
)
def test_ctrl_c_gives_the_best_so_far(data, monkeypatch, task, n):
    monkeypatch.setattr(procedure, task, Pressed(getattr(procedure, task), n))
    choice = tp.choose(data.X, ranks=range(1, 5), **QUICKLY)
    assert choice.record["interrupted"]
    assert not choice.sure
    assert "interrupted" in choice.record["doubts"]
    assert choice.rank in (1, 2)
    assert choice.model.converged_
    choice.summary()


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_before_there_is_anything_is_an_interrupt(data, monkeypatch):
    monkeypatch.setattr(procedure, "search_rank", Pressed(procedure.search_rank, 1))
    with pytest.raises(KeyboardInterrupt):
        tp.choose(data.X, ranks=[1, 2], **QUICKLY)


# --- what is refused ----------------------------------------------------------------------------------------

REFUSED = {
    "two times": (lambda X: X[:2], {}),
    "three rows": (lambda X: X[:, :3], {}),
    "other columns": (lambda X: [X[0], X[1, :, :20], X[2]], {}),
    "empty rows": (lambda X: np.where(np.arange(60)[:, None] < 1, X, 0.0), {}),
    "columns that few rows have": (lambda X: X, {"n_folds": 1}),
    "no rank": (lambda X: X, {"ranks": []}),
    "a rank of zero": (lambda X: X, {"ranks": [0, 1]}),
    "a word": (lambda X: X, {"smoothness": "little"}),
    "no bound": (lambda X: X, {"nonnegative": "columns"}),
    "changes": (lambda X: X, {"changes": "jumpy"}),
    "threshold": (lambda X: X, {"threshold": 1.5}),
    "compare": (lambda X: X, {"compare": "yes"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_data_that_cannot_choose_are_refused(data, case, monkeypatch):
    monkeypatch.setattr(procedure, "search_rank", lambda *given: pytest.fail("it was fitted"))
    make, more = REFUSED[case]
    with pytest.raises((ValueError, TypeError)):
        tp.choose(make(data.X), **(QUICKLY | {"ranks": [1, 2]} | more))


def test_an_unknown_argument_is_refused(data):
    with pytest.raises(TypeError, match="rank"):
        tp.choose(data.X, rank=2)


def test_settings_at_which_everything_vanishes_are_no_end(data):
    """Nothing can go on from a fit in which nothing is left; the next one begins anew."""
    choice = tp.choose(data.X, ranks=1, **(QUICKLY | {"smoothness": [1e-3, 1e4, 1e5]}))
    assert choice.model.smoothness == 1e-3


def test_a_last_fit_that_did_not_converge_is_warned_of_once(data):
    with pytest.warns(tp.ConvergenceWarning) as heard:
        tp.choose(data.X, ranks=2, **(QUICKLY | {"max_iter": 3}))
    assert len(heard) == 1
