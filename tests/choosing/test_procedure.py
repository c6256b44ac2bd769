"""The whole procedure on small data: what it chooses, that it repeats itself, and what it refuses."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.choosing.halves import read_groups
from tparafac2.data import Labels

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
    choice.model.save(tmp_path / "model.nc")
    again = tp.Choice(tp.load(tmp_path / "model.nc"))
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
