from dataclasses import FrozenInstanceError

import pytest

from tparafac2.experiments.claims import (
    CASE_TITLES,
    CLAIMS,
    LEVEL_WORDS,
    MEASURE_WORDS,
    Above,
    Falls,
    GainGrows,
    Side,
)
from tparafac2.experiments.plan import LEVELS, METHODS

EXPECTATIONS = [(claim, one) for claim in CLAIMS for one in claim.expectations]
CLAIM = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)


def test_keys_are_unique():
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


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
        assert side.model in {method.model for method in METHODS}
        assert side.measure in MEASURE_WORDS


@pytest.mark.parametrize(("claim", "one"), EXPECTATIONS)
def test_both_sides_are_of_one_kind_and_not_the_same(claim, one):
    assert len({side.measure for side in one.sides}) == 1
    assert len(set(one.sides)) == len(one.sides)


@CLAIM
def test_models_without_strengths_are_not_judged_by_them(claim):
    coupled = [side for one in claim.expectations for side in one.sides if "CMF" in side.model]
    assert all(side.measure != "fms_c" for side in coupled)


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


def test_only_parafac2_has_no_smoothness():
    assert {side.model for _, one in EXPECTATIONS for side in one.sides if not side.smooth} == {"PARAFAC2"}


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
