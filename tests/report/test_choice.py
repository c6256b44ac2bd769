"""What the page is told of a choice: everything in plain, finite values."""

import json

import pytest
from chosen import a_choice, interrupted
from hand_made import hand_made

from tparafac2.reasons import sentences
from tparafac2.report.choice import choice_account
from tparafac2.report.payload import as_script_text, payload


@pytest.mark.parametrize("make", [a_choice, interrupted])
def test_the_account_is_json_without_infinities(make):
    account = choice_account(make())
    assert json.loads(json.dumps(account, allow_nan=False)) == account
    assert account["sentences"] == sentences(make())
    assert account["settings"][0]["rigidity"] is None  # of the hard model it is infinite


def test_the_constraint_is_told_with_its_z_and_gain():
    account = choice_account(a_choice())
    assert account["facts"][0] == [
        "z = 1.5",
        "against constant sizes and angles of the patterns: letting them change lowers the error by 0.10%.",
    ]
    assert [figure for figure, _ in account["facts"]] == ["z = 1.5", "20%", "5 times"]


def test_a_gain_below_zero_is_a_loss():
    text = choice_account(a_choice() | {"gain": -0.02})["facts"][0][1]
    assert text.endswith("letting them change raises the error by 2.00%.")


def test_facts_are_of_what_was_measured():
    account = choice_account(interrupted() | {"z": None, "gain": None})
    assert [figure for figure, _ in account["facts"]] == ["20%"]


def test_a_page_has_the_choice_of_its_model_or_none():
    page = payload(hand_made(choice=a_choice()), title="", about={})
    assert page["choice"]["rank"] == 2
    assert "Infinity" not in as_script_text(page)
    assert payload(hand_made(), title="", about={})["choice"] is None
