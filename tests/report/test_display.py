"""What people are shown of a fit: factors in order, components in sentences, and facts."""

from functools import partial

import numpy as np
import pytest
from hand_made import hand_made

from tparafac2.data import Labels
from tparafac2.report.display import LONGEST_LABEL, Known, account, component_accounts, look
from tparafac2.result import Kind, Trust

# --- factors ------------------------------------------------------------------------------------------------


def test_slices_are_shown_in_the_order_of_time():
    flags = np.array([[True, False], [False, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[0, 3] = 0.0
    result = hand_made(labels=Labels(time=[2003, 2001, 2002]), undetermined=flags, coverage=coverage)
    view, whole = look(result), result.normalised()
    order = [1, 2, 0]
    assert view.times == ["2001", "2002", "2003"]
    assert view.moments.tolist() == [2001.0, 2002.0, 2003.0]
    np.testing.assert_array_equal(view.B, whole.B[order])
    np.testing.assert_array_equal(view.C, whole.C[order])
    assert view.known.tolist() == [[0, 0], [0, 0], [1, 0]]
    assert np.argwhere(view.unseen).tolist() == [[2, 3]]


def test_a_time_without_any_observation_is_told_from_one_without_strength():
    flags = np.array([[True, True], [True, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[0] = 0.0
    view = look(hand_made(undetermined=flags, coverage=coverage))
    assert view.known.tolist() == [[Known.UNSEEN] * 2, [Known.WEAK, Known.YES], [Known.YES] * 2]


def test_only_what_the_data_determine_is_shown():
    flags = np.array([[True, False], [False, False], [False, False]])
    coverage = np.ones((3, 4))
    coverage[1, 2] = 0.0
    shown = look(hand_made(undetermined=flags, coverage=coverage)).shown
    assert not shown[0, :, 0].any()
    assert shown[0, :, 1].all()
    assert shown[1].tolist() == [[True, True], [True, True], [False, False], [True, True]]


def test_narrow_slices_have_no_number_where_they_have_no_column():
    B = [np.ones((2, 2)), np.ones((4, 2)), np.ones((3, 2))]
    view = look(hand_made(B=B))
    assert np.isnan(view.B[0, 2:]).all()
    assert np.isfinite(view.B[0, :2]).all()
    assert not view.shown[0, 2:].any()


def test_labels_are_written_as_their_owner_does():
    view = look(hand_made(labels=Labels(rows=["", "a" * 10_000], time=np.array([1.5, 1.0, 3.0]))))
    assert view.rows[0] == "(empty)"
    assert len(view.rows[1]) == LONGEST_LABEL
    assert view.times == ["1", "1.5", "3"]


def test_without_labels_places_are_counted_and_times_are_the_moments():
    view = look(hand_made(times=np.array([0.5, 2.0, 3.0])))
    assert view.rows == ["row 0", "row 1"]
    assert view.columns[-1] == "column 3"
    assert view.times == ["0.5", "2", "3"]


def test_labels_that_do_not_say_when_are_shown_side_by_side():
    view = look(hand_made(labels=Labels(time=[1.0, np.nan, 2.0])))
    assert view.times == ["1", "2", "nan"]
    assert view.moments.tolist() == [0.0, 1.0, 2.0]


# --- components ---------------------------------------------------------------------------------------------

NAMES = ["ant", "bee", "cat", "dog"]


def accounts(**changes):
    B = np.zeros((3, 4, 2))
    B[0, :, 0] = [3.0, 2.0, 1.0, 0.5]
    B[1, :, 0] = [0.0, 0.0, 1.0, 0.0]
    B[2, :, 0] = [0.0, -4.0, 0.0, 1.0]
    B[:, 3, 1] = 1.0
    plain = {
        "A": np.ones((2, 2)),
        "B": B / np.maximum(np.linalg.norm(B, axis=1, keepdims=True), 1e-300),
        "C": np.array([[1.0, 2.0], [6.0, 2.0], [3.0, 2.0]]),
        "labels": Labels(columns=NAMES, time=[1990, 1995, 2000]),
    }
    result = hand_made(**(plain | changes))
    return component_accounts(result)


def test_a_component_is_told_by_its_share_and_state():
    first, second = accounts()
    assert (first.state, second.state) == ("", "static")
    np.testing.assert_allclose(first.share, 46**0.5 / (46**0.5 + 12**0.5))
    assert accounts(C=np.array([[1.0, 0.0]] * 3))[1] == (0.0, "vanished", "")


# --- facts --------------------------------------------------------------------------------------------------

make = partial(hand_made, K=5, I=4, J=6, R=3, explained_variance=0.8416, n_iter=321)


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


def test_a_good_fit_is_told_in_four_facts():
    facts = account(make())
    assert [(fact.tone, fact.figure) for fact in facts] == [
        ("plain", "trust: fair"),
        ("plain", "84.2 %"),
        ("good", "converged"),
        ("plain", "complete"),
    ]
    assert "3 components" in facts[1].text
    assert "after 321 iterations" in facts[2].text


@pytest.mark.parametrize(
    ("share", "figure"),
    [(0.0, "0 %"), (-0.5, "-50 %"), (np.nan, "unknown"), (-np.inf, "unknown")],
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
        ([1.0, 1.0, 0.995], "2 of 2", "good", "and 2 with this objective"),
        ([1.0, 1.0, 0.7], "1 of 2", "plain", "least alike matches by 0.70"),
        ([1.0, 0.9, 0.7], "only 0 of 2", "warning", "do not build on details"),
        ([1.0, np.nan, np.nan], "only 0 of 2", "warning", "do not build on details"),
        ([1.0], "agreement unknown", "plain", "use several"),
    ],
)
def test_starts_agree_or_not(matches, figure, tone, part):
    fact = find(make(**starts(matches)), figure)
    assert fact.tone == tone
    assert part in fact.text


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"explained_variance": 0.99999},
        {"explained_variance": -0.5},
        {"observed_share": 0.78, "coverage": np.full((5, 6), 0.78)},
        {"observed_share": 1e-5, "coverage": np.full((5, 6), 1e-5)},
        {"B": np.ones((5, 6, 3))},
        starts([1.0, 1.0, 0.7]),
        starts([1.0, 0.9, 0.7]),
        starts([1.0, 0.9], status=["converged", "max_iter"], objective=[1.0, 0.5], converged=[True, False]),
        starts([1.0, 0.9], status=["converged", "interrupted"], converged=[True, False]),
    ],
)
def test_no_sentence_says_again_what_its_figure_says(changes):
    for _, figure, text in account(make(**changes)):
        assert figure.casefold() not in text.casefold()


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
    assert [fact.figure for fact in facts][:3] == ["trust: low", "unknown", "not converged"]


def test_a_component_has_the_verdict_of_halves_of_the_rows():
    trust = Trust(replicability=[0.97, 0.4], alone=[0.2, 0.3], verdict=["replicable", "not there"])
    assert [one.verdict for one in accounts(trust=trust)] == ["replicable", "not there"]
