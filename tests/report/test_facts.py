import numpy as np
import pytest

from tparafac2.report.facts import account
from tparafac2.result import Kind, Result


def make(**changes):
    rng = np.random.default_rng(0)
    plain = {
        "model": "TParafac2",
        "A": rng.random((4, 3)),
        "B": rng.random((5, 6, 3)),
        "C": rng.random((5, 3)) + 0.1,
        "objective": 1.0,
        "explained_variance": 0.8416,
        "status": "converged",
        "converged": True,
        "n_iter": 321,
    }
    return Result(**(plain | changes))


def starts(matches, **columns):
    count = len(matches)
    plain = {
        "objective": np.where(np.asarray(matches) > 0.99, 1.0, 1.5),
        "fms_to_chosen": np.array(matches),
        "chosen": np.arange(count) == 0,
    }
    return {"starts": plain | {name: np.array(column) for name, column in columns.items()}}


def find(result, figure):
    """Give the fact with this figure; there has to be exactly one."""
    (fact,) = [fact for fact in account(result) if fact.figure == figure]
    return fact


def test_a_good_fit_is_told_in_three_facts():
    facts = account(make())
    assert [(fact.tone, fact.figure) for fact in facts] == [
        ("plain", "84.2 %"),
        ("good", "converged"),
        ("plain", "complete"),
    ]
    assert "3 components" in facts[0].text
    assert "after 321 iterations" in facts[1].text


@pytest.mark.parametrize(
    ("share", "figure"),
    [(0.0, "0.0 %"), (-0.5, "-50.0 %"), (np.nan, "unknown"), (-np.inf, "unknown")],
)
def test_a_fit_that_explains_nothing_is_a_warning(share, figure):
    assert find(make(explained_variance=share), figure).tone == "warning"


def test_a_fit_that_did_not_converge_says_why():
    fact = find(make(converged=False, status="max_iter", n_iter=1), "not converged")
    assert fact.tone == "warning"
    assert "raise max_iter" in fact.text


@pytest.mark.parametrize(
    ("matches", "figure", "tone", "part"),
    [
        ([1.0, 1.0, 0.995], "3 of 3", "good", "and 3 with this objective"),
        ([1.0, 1.0, 0.7], "2 of 3", "plain", "least alike matches by 0.70"),
        ([1.0, 0.9, 0.7], "1 of 3", "warning", "do not build on details"),
        ([1.0, np.nan, np.nan], "1 of 3", "warning", "do not build on details"),
        ([1.0], "1 start", "plain", "use several"),
    ],
)
def test_starts_agree_or_not(matches, figure, tone, part):
    fact = find(make(**starts(matches)), figure)
    assert fact.tone == tone
    assert part in fact.text


def test_findings_of_a_kind_are_one_fact():
    B = np.random.default_rng(0).random((5, 6, 3))
    B[:, :, [0, 2]] = B[:1, :, [0, 2]]
    text = find(make(B=B), "2 static").text
    assert "Component 1 is static" in text
    assert "Component 3 is static" in text


def test_the_page_says_what_it_hatches():
    coverage = np.ones((5, 6))
    coverage[:2, 0] = 0.0
    assert "hatched" in find(make(coverage=coverage, observed_share=0.78), "22 %").text
    C = np.ones((5, 3))
    C[3, 0] = 0.0
    assert "hatched" in find(make(C=C), "undetermined").text


def test_everything_that_is_found_is_on_the_page():
    B = [np.ones((width, 3)) for width in (3, 4, 3, 6, 5)]
    result = make(B=B, times=np.array([0.0, 6.0, 8.0, 12.0, 18.0]), period=24.0, **starts([1.0, 0.2]))
    kinds = {finding.kind for finding in result.findings}
    assert {Kind.RAGGED, Kind.UNEVEN_TIMES, Kind.PERIODIC, Kind.FEW_STARTS_AGREE} <= kinds
    assert len(account(result)) == len(kinds)


def test_an_exploded_fit_is_told_without_noise():
    B = np.full((5, 6, 3), np.inf)
    facts = account(make(B=B, explained_variance=-np.inf, converged=False, status="not_finite"))
    assert [fact.figure for fact in facts][:2] == ["unknown", "not converged"]
