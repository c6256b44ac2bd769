"""What the page shows of a choice: everything in plain, finite values."""

import json

import pytest
from chosen import a_choice, interrupted
from hand_made import hand_made

from tparafac2.report.choice import choice_account
from tparafac2.report.payload import as_script_text, payload
from tparafac2.result import choice_sentences


@pytest.mark.parametrize("make", [a_choice, interrupted])
def test_the_account_is_json_without_infinities(make):
    account = choice_account(make())
    assert json.loads(json.dumps(account, allow_nan=False)) == account
    assert account["sentences"] == choice_sentences(make())
    assert account["settings"][0]["rigidity"] is None  # with the constraint it is infinite


def test_facts_are_of_what_was_measured():
    assert [figure for figure, _ in choice_account(a_choice())["facts"]] == ["5 folds", "by chance", "halves"]
    assert [figure for figure, _ in choice_account(interrupted())["facts"]] == ["5 folds", "by chance"]


def test_a_page_has_the_choice_of_its_model_or_none():
    page = payload(hand_made(choice=a_choice()), title="", about={})
    assert page["choice"]["rank"] == 2
    assert "Infinity" not in as_script_text(page)
    assert payload(hand_made(), title="", about={})["choice"] is None
