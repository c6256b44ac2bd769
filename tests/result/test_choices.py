"""A choice as a table of ranks and sentences, and as points to draw."""

import pytest
from chosen import a_choice, interrupted

from tparafac2.result import choice_html, choice_panels, choice_sentences, choice_table, rank_table


def test_every_rank_has_a_line_and_the_chosen_one_is_marked():
    table = rank_table(a_choice())
    assert [line[0] for line in table.lines] == ["1", "2", "3"]
    assert table.chosen == 1
    line = dict(zip(table.head, table.lines[1]))
    assert (line["gain"], line["by chance"], line["z"]) == ("49.9%", "2.0%", "9.0")
    assert (line["folds"], line["halves"], line["starts"]) == ("0.99 0.99", "0.97 0.99", "100%")
    text = choice_table(a_choice()).splitlines()
    assert [line.startswith("*") for line in text] == [False, False, True, False]


def test_columns_without_anything_are_left_out():
    assert {"folds", "halves", "by chance", "starts"}.isdisjoint(rank_table(interrupted()).head)


def test_a_sure_choice_and_its_runner_up():
    rank, setting, other = choice_sentences(a_choice())
    assert "(sure)" in rank
    assert "3 of 3 draws" in rank
    assert "0.10%" in setting
    assert other.startswith("Runner-up: rank 3 predicts 4.8% worse")


def test_a_larger_rank_whose_components_are_not_found_again_is_the_runner_up():
    record = a_choice() | {"sure": False, "doubts": ["more"], "supported": 3}
    record["ranks"]["error"][2] = 0.1002
    record["ranks"]["supported"][2] = True
    assert "not sure" in choice_sentences(record)[0]
    other = next(text for text in choice_sentences(record) if text.startswith("Runner-up"))
    assert "rank 3 predicts 50.0% better" in other
    assert "1 of its components is not found again" in other


def test_what_is_not_known_is_left_out():
    assert "interrupted" in choice_sentences(interrupted())[0]
    only = a_choice() | {"ranks_asked": [2], "relaxed": None}
    assert "the only rank" in choice_sentences(only)[0]


def test_a_notebook_has_the_table_and_nothing_that_is_not_escaped():
    record = a_choice()
    record["chosen"]["name"] = "<b>"
    html = choice_html(record)
    assert html.count("<tr>") == 4
    assert "<b>" not in html


def test_points_to_draw():
    found = choice_panels(a_choice())
    assert [one.excess for one in found.settings if one.chosen] == pytest.approx([0.002])
    assert [one.rank for one in found.ranks if one.chosen] == [2]
    assert [one.similarity for one in found.components] == [0.95, 0.97, 0.99, 0.96, 0.7, 0.3]
    assert [one.model for one in found.models] == ["relaxed tPARAFAC2", "tPARAFAC2", "CP"]
    folds = choice_panels(a_choice() | {"by": "folds"})
    assert {one.similarity for one in folds.components} == {0.99}
