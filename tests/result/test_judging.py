"""What was measured of the components is told, and one judgement rests on all that was found."""

import numpy as np
import pytest
from hand_made import hand_made

from tparafac2.cli.wording import FLAGS
from tparafac2.penalties import Parafac2, SoftParafac2, TemporalSmoothness
from tparafac2.report.display import account
from tparafac2.result import Kind, Severity, Terms, Trust, portraits, sentence

GOOD = {"replicability": [0.97, 0.95], "alone": [0.4, 0.42], "verdict": ["replicable", "replicable"]}
AGREE = {
    "objective": np.ones(4),
    "fms_to_chosen": np.array([1.0, 1.0, 0.995, 0.3]),
    "chosen": np.arange(4) == 0,
}


def make(trust=None, **changes):
    return hand_made(K=5, I=9, J=6, starts=AGREE, trust=Trust(**trust) if trust else None, **changes)


def only(result, kind):
    (finding,) = [finding for finding in result.findings if finding.kind is kind]
    return finding


def in_all(result):
    return sentence(only(result, Kind.TRUST))


def test_a_fit_of_which_nothing_was_measured_says_so_and_who_does():
    assert in_all(make()) == (
        "Trust: fair at most, because 2 of 3 other starts agree, but replicability was not measured "
        "(tp.choose does)."
    )
    assert "'tparafac2 choose' does" in sentence(only(make(), Kind.TRUST), FLAGS)
    assert make().notes == ()


def test_replicable_components_on_which_starts_agree_are_trusted():
    result = make(GOOD | {"stability": [0.99, 0.9]})
    assert in_all(result) == (
        "Trust: high, because 2 of 2 components are replicable and 2 of 3 other starts agree."
    )
    assert result.notes == ()


@pytest.mark.parametrize(
    ("trust", "level", "clause"),
    [
        ({"verdict": ["replicable", "there"]}, "fair", "1 of 2 components are there, but not replicable"),
        ({"verdict": ["not there", "there"]}, "low", "1 of 2 components are not there"),
        ({"stability": [0.3, 1.0]}, "fair", "1 of 2 components depend on the setting"),
        ({"gain": 0.02, "null": 0.01}, "fair", "the data contradict the constraint"),
        ({"gain": 0.02, "null": 0.03}, "high", "2 of 2 components are replicable"),
    ],
)
def test_the_judgement_is_no_better_than_the_worst_it_rests_on(trust, level, clause):
    said = in_all(make(GOOD | trust))
    assert said.startswith(f"Trust: {level}, because ")
    assert clause in said


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"converged": False, "status": "max_iter"}, "low"),
        ({"starts": AGREE | {"fms_to_chosen": np.array([1.0, 0.3, 0.3, 0.3])}}, "low"),
        ({"terms": Terms(fixed_strengths=True)}, "low"),
        ({"starts": {name: column[:1] for name, column in AGREE.items()}}, "fair"),
        ({"C": np.array([[1.0, 1.0]] * 4 + [[1.0, 1e-5]])}, "fair"),
        ({"B": np.ones((5, 6, 2)), "C": np.linspace(1, 2, 5)[:, None] * [1.0, 2.0]}, "fair"),
    ],
    ids=["max_iter", "starts", "span", "one start", "undetermined", "proportional"],
)
def test_what_the_fit_says_itself_counts_too(changes, level):
    plain = {"K": 5, "I": 9, "J": 6, "starts": AGREE, "trust": Trust(**GOOD)}
    assert only(hand_made(**(plain | changes)), Kind.TRUST).numbers["level"] == level


def test_components_are_named_with_what_was_measured():
    result = make(GOOD | {"replicability": [0.97, 0.5], "verdict": ["replicable", "not there"]})
    finding = only(result, Kind.NOT_THERE)
    assert (finding.component, finding.severity) == (2, Severity.WARNING)
    assert "0.50, 0.42 after" in sentence(finding)
    assert sentence(finding) in result.notes


@pytest.mark.parametrize(
    ("null", "contradicted"), [(0.001, True), (0.021, False), (0.1, False), (None, False), (np.nan, False)]
)
def test_the_constraint_is_contradicted_where_relaxing_it_gains_more_than_the_null(null, contradicted):
    found = {one.kind for one in make(GOOD | {"gain": 0.021, "null": null}).findings}
    assert (Kind.CONSTRAINT_CONTRADICTED in found) == contradicted


def test_a_constraint_that_gives_way_already_is_nothing_to_act_upon():
    measured = GOOD | {"z": 7.0, "gain": 0.021, "null": 0.001}
    soft = make(measured, terms=Terms(B=(SoftParafac2(2.0), TemporalSmoothness(1.0))))
    hard = make(measured, terms=Terms(B=(Parafac2(),)))
    told = {name: only(one, Kind.CONSTRAINT_CONTRADICTED) for name, one in [("soft", soft), ("hard", hard)]}
    assert (told["soft"].severity, told["hard"].severity) == (Severity.INFO, Severity.WARNING)
    assert sentence(told["soft"]).endswith("; this fit relaxes it.")
    assert sentence(told["hard"], FLAGS).endswith(": give --rigidity.")
    assert in_all(soft).startswith("Trust: high")
    assert in_all(hard).startswith("Trust: fair")


def test_summary_page_and_notebook_tell_what_was_measured_of_each_component():
    result = make(GOOD | {"stability": [0.99, 0.6]})
    clauses = [
        "replicable (0.97 between halves of the rows), stable (0.99)",
        "replicable (0.95 between halves of the rows), depends on the setting (0.60)",
    ]
    told = portraits(result)
    for r, clause in enumerate(clauses):
        line = next(line for line in result.summary().splitlines() if f"component {r + 1}:" in line)
        assert line.endswith(f", {clause}")
        assert clause in told[r].sure
        assert clause in result._repr_html_()
    assert in_all(result) in result.summary()
    assert account(result)[0].figure == "trust: fair"
    assert account(result)[0].text.startswith("because 2 of 2")
    assert "replicable" not in make().summary().split("component 1")[1]


def test_the_page_colours_the_judgement():
    for verdict, tone in {"replicable": "good", "there": "plain", "not there": "warning"}.items():
        assert account(make(GOOD | {"verdict": [verdict] * 2}))[0].tone == tone


def test_doubts_about_the_rank_are_found():
    record = {"chosen": {"rank": 1}, "sure": False, "doubts": ["more", "edge"], "ranks_asked": [1, 2]}
    finding = only(make(GOOD, choice=record), Kind.RANK_UNSURE)
    assert finding.numbers == {"rank": 1, "doubts": ("more", "edge")}
    assert "it is the largest that was tried" in sentence(finding)
    for change in ({"sure": True}, {"ranks_asked": [1]}):
        found = make(GOOD, choice=record | change).findings
        assert Kind.RANK_UNSURE not in {one.kind for one in found}
