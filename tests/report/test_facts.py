import numpy as np
import pytest

from tparafac2.report.facts import account, further_notes, static, vanished
from tparafac2.result import Result


def make(**changes):
    rng = np.random.default_rng(0)
    plain = {
        "model": "TParafac2",
        "A": rng.random((4, 3)),
        "B": rng.random((5, 6, 3)),
        "C": rng.random((5, 3)) + 0.1,
        "objective": 1.0,
        "explained_variance": 0.8416,
        "status": "Converged.",
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


def figures(result):
    return [fact.figure for fact in account(result)]


def test_a_good_fit_is_told_in_three_facts():
    facts = account(make())
    assert [(fact.tone, fact.figure) for fact in facts] == [
        ("plain", "84.2 %"),
        ("good", "converged"),
        ("plain", "complete"),
    ]
    assert "3 components" in facts[0].text
    assert facts[1].text == "after 321 iterations."


@pytest.mark.parametrize(
    ("share", "tone", "figure"),
    [(0.0, "warning", "0.0 %"), (-0.5, "warning", "-50.0 %"), (np.nan, "warning", "unknown")],
)
def test_a_fit_that_explains_nothing_is_a_warning(share, tone, figure):
    assert find(make(explained_variance=share), figure).tone == tone


def test_a_fit_that_did_not_converge_says_why():
    fact = find(make(converged=False, status="Stopped at max_iter.", n_iter=1), "not converged")
    assert fact == ("warning", "not converged", "after 1 iteration. Stopped at max_iter.")


@pytest.mark.parametrize(
    ("matches", "figure", "tone", "part"),
    [
        ([1.0, 1.0, 0.995], "3 of 3", "good", "and 3 with this objective"),
        ([1.0, 1.0, 0.7], "2 of 3", "plain", "least alike matches by 0.70"),
        ([1.0, 0.9, 0.7], "1 of 3", "warning", "Do not build on details"),
        ([1.0, np.nan, np.nan], "1 of 3", "warning", "Do not build on details"),
        ([1.0], "1 start", "plain", "use several"),
    ],
)
def test_starts_agree_or_not(matches, figure, tone, part):
    fact = find(make(**starts(matches)), figure)
    assert fact.tone == tone
    assert part in fact.text


def test_a_vanished_component_does_not_make_starts_disagree():
    # It matches nothing, so that the best possible match of the others is less than 1, too.
    assert find(make(**starts([2 / 3, 2 / 3])), "2 of 2").tone == "good"


@pytest.mark.parametrize("columns", [{}, {"seconds": [1.0]}, {"objective": [], "fms_to_chosen": []}])
def test_without_an_account_of_the_starts_nothing_is_said_of_them(columns):
    assert not any("start" in fact.text for fact in account(make(starts=columns)))


def test_only_a_degenerate_choice_is_a_warning():
    assert find(make(**starts([1.0, 0.5], degenerate=[True, False])), "degenerate").tone == "warning"
    assert "degenerate" not in figures(make(**starts([1.0, 0.5], degenerate=[False, True])))


@pytest.mark.parametrize("factor", ["A", "B", "C"])
def test_a_component_without_any_size_has_vanished(factor):
    array = np.array(getattr(make(), factor))
    array[..., 1] = 0.0
    result = make(**{factor: array})
    assert vanished(result).tolist() == [False, True, False]
    assert "component 2:" in find(result, "1 vanished").text


def test_a_pattern_that_does_not_change_is_static():
    B = np.random.default_rng(0).random((5, 6, 3))
    B[:, :, [0, 2]] = B[:1, :, [0, 2]]
    result = make(B=B)
    assert static(result).tolist() == [True, False, True]
    assert find(result, "2 static").text == "Components 1 and 3 have patterns that do not change in time."
    assert "constant" in figures(make(B=B, model="CP"))


def test_missing_entries_are_counted():
    coverage = np.ones((5, 6))
    coverage[:2, 0] = 0.0
    fact = find(make(coverage=coverage, observed_share=0.78), "22 %")
    assert "Of the 30 pairs of time and column 2 were not observed" in fact.text
    assert "observed data" in account(make(observed_share=0.78))[0].text
    assert "0 %" in figures(make(coverage=coverage))


def test_undetermined_patterns_are_counted_among_living_components():
    C = np.array(make().C)
    C[:, 2] = 0.0
    C[3, 0] = 0.0
    assert find(make(C=C), "1 of 10").tone == "warning"


def test_uneven_and_cyclic_time_is_told():
    result = make(times=np.array([0.0, 6.0, 8.0, 12.0, 18.0]), period=24.0)
    assert find(result, "uneven times").text == "Neighbours are 2 to 6 apart."
    assert "period 24" in find(result, "cyclic").text
    assert "uneven times" not in figures(make(times=np.arange(5.0)))


def test_columns_of_their_own_are_told():
    B = [np.ones((width, 3)) for width in (3, 4, 3, 6, 5)]
    assert "3 to 6 columns" in find(make(B=B), "ragged").text


def test_notes_are_told_once():
    notes = ("No start was sound.", "Component 2 vanished: why.", "Component 1 is static: so.", "Else.")
    assert further_notes(make(notes=notes)) == ["No start was sound.", "Else."]


def test_an_exploded_fit_is_told_without_noise():
    B = np.full((5, 6, 3), np.inf)
    facts = account(make(B=B, explained_variance=-np.inf, converged=False))
    assert facts[0].figure == "unknown"
