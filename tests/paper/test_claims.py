from dataclasses import FrozenInstanceError

import pytest
from claims import (
    CASE_TITLES,
    CLAIMS,
    CLAIMS_AT_CHOSEN,
    LEVEL_WORDS,
    MEASURE_WORDS,
    Above,
    Falls,
    GainGrows,
    Side,
)
from plan import ALL_METHODS, FLEXIBLE, HARD, LEVELS

EVERY = (*CLAIMS, *CLAIMS_AT_CHOSEN)
EXPECTATIONS = [(claim, one) for claim in EVERY for one in claim.expectations]
CLAIM = pytest.mark.parametrize("claim", EVERY, ids=lambda claim: f"{claim.key} {claim.at}")


def test_keys_are_unique():
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)
    assert len({(claim.key, claim.at) for claim in EVERY}) == len(EVERY)


def sides(claim):
    return [side for one in claim.expectations for side in one.sides]


@pytest.mark.parametrize("method", [HARD, FLEXIBLE], ids=lambda method: method.name)
def test_every_claim_about_tparafac2_is_judged_once_more_with_what_the_data_chose(method):
    again = {claim.key: claim for claim in CLAIMS_AT_CHOSEN if claim.at == method.label}
    about = [claim for claim in CLAIMS if "tPARAFAC2" in {side.model for side in sides(claim)}]
    assert list(again) == [claim.key for claim in about]
    for claim in about:
        other = again[claim.key]
        assert (other.words, other.case, other.reason) == (claim.words, claim.case, "")
        models = [method.model if side.model == "tPARAFAC2" else side.model for side in sides(claim)]
        assert [side.model for side in sides(other)] == models


def test_only_the_flexible_model_is_judged_in_unit_form_and_then_all_are():
    for claim in EVERY:
        measures = {side.measure for side in sides(claim)}
        if claim.at == FLEXIBLE.label:
            assert not measures & {"fms", "fms_c"}
            assert ("unit form" in claim.remark) == bool(measures & {"fms_unit", "fms_unit_c"})
        else:
            assert not measures & {"fms_unit", "fms_unit_c"}


def test_every_case_has_claims_and_words():
    assert list(dict.fromkeys(claim.case for claim in CLAIMS)) == list(CASE_TITLES) == list(LEVELS)
    assert set(LEVEL_WORDS) == set(CASE_TITLES)


@CLAIM
def test_a_claim_is_a_sentence_that_stands_on_something(claim):
    assert claim.words.endswith(".")
    assert claim.expectations
    assert all(text == "" or text.endswith(".") for text in (claim.remark, claim.reason))


@pytest.mark.parametrize(("claim", "one"), EXPECTATIONS)
def test_what_is_compared_exists(claim, one):
    for side in one.sides:
        assert side.model in {method.model for method in ALL_METHODS}
        assert side.measure in MEASURE_WORDS


@pytest.mark.parametrize(("claim", "one"), EXPECTATIONS)
def test_both_sides_are_of_one_kind_and_not_the_same(claim, one):
    assert len({side.measure for side in one.sides}) == 1
    assert len(set(one.sides)) == len(one.sides)


@CLAIM
def test_models_without_strengths_are_not_judged_by_them(claim):
    assert all(side.measure != "fms_c" for side in sides(claim) if "CMF" in side.model)


@CLAIM
def test_weak_patterns_are_only_measured_where_there_are_any(claim):
    measures = {side.measure for one in claim.expectations for side in one.sides}
    assert "weak_patterns" not in measures or claim.case == "almost_zero"


@CLAIM
def test_comparisons_of_a_claim_can_be_told_apart_and_fit_a_line(claim):
    words = [one.words(claim.case) for one in claim.expectations]
    assert len(set(words)) == len(words)
    assert max(map(len, words)) <= 96


def test_words_of_a_fixed_line():
    assert Above(0.5, Side("PARAFAC2", "weak_patterns")).words("almost_zero") == (
        "patterns in weak slices: 0.5 > PARAFAC2"
    )


def test_only_parafac2_and_what_the_data_chose_have_no_lambda():
    without = {side.model for _, one in EXPECTATIONS for side in one.sides if not side.smooth}
    assert without == {"PARAFAC2", HARD.model, FLEXIBLE.model}


def test_claims_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        CLAIMS[0].words = "Anything."


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        ("easy-better", [Above]),
        ("easy-noise", [Falls, Falls]),
        ("easy-robust", [GainGrows]),
        ("overlap-parts", [Above, Above]),
        ("overlap-harder", [Falls, Falls]),
    ],
)
def test_the_papers_claims_are_there(key, kinds):
    [claim] = [claim for claim in CLAIMS if claim.key == key]
    assert [type(one) for one in claim.expectations] == kinds
