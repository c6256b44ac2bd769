"""A choice in sentences and tables, for every record."""

import pytest
from chosen import a_choice, interrupted, spread_out

from tparafac2.reasons import rank_table, sentences, to_html


def test_every_rank_has_a_line_with_all_that_is_known():
    table = rank_table(a_choice())
    assert table.lines[1] == ["2", "0.2004", "9.0", "100%", "2 of 2", "2 of 2", "tPARAFAC2, smoothness 0.01"]
    assert table.lines[0][2] == ""  # the first rank has no last component that could help
    assert table.chosen == 1
    assert {len(line) for line in table.lines} == {len(table.head)}


def test_what_was_not_measured_is_left_out():
    table = rank_table(interrupted())
    assert table.head == ("rank", "error at hidden entries", "z of the last component", "best setting")
    assert table.lines[2] == ["3", "0.21", "-1.0", "tPARAFAC2, smoothness 0.01"]
    known = a_choice()
    known["ranks"]["agreement"][0] = None
    assert rank_table(known).lines[0][3] == ""


@pytest.mark.parametrize("make", [a_choice, interrupted])
def test_a_notebook_shows_sentences_and_ranks(make):
    text = to_html(make())
    assert all(f"<p>{sentence}</p>" in text for sentence in sentences(make()))
    assert text.count("<tr>") == 4
    assert "<th>0.2004</th>" in text  # what was chosen stands out
    assert "<td>0.4</td>" in text


def test_texts_of_others_are_no_html():
    record = a_choice()
    record["ranks"]["model"][0] = "<script>"
    assert "&lt;script&gt;" in to_html(record)
    assert "<script>" not in to_html(record)


def test_predictions_without_any_error_are_as_good_as_each_other():
    told = "\n".join(sentences(spread_out()))
    assert "CP predicts as well (+0.0%)." in told
