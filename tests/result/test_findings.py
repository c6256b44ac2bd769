"""What there is to know about a fit is found in its result, whatever shows it."""

import json
import re
from enum import StrEnum

import numpy as np
import pytest
from banded import intervals_for
from hand_made import hand_made
from hypothesis import given, settings
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.cli.wording import FLAGS
from tparafac2.data import Labels
from tparafac2.penalties import (
    L1,
    Box,
    NonNegative,
    Ridge,
    SoftParafac2,
    Static,
    SuddenChanges,
    TemporalSmoothness,
)
from tparafac2.report.display import account
from tparafac2.result import ENDINGS, Finding, Kind, Result, Severity, Terms, Trust, notes, sentence, wording
from tparafac2.result.findings import chosen_start, count_alike, count_same_objective, likeness
from tparafac2.solver import Status
from tparafac2.words import PYTHON

PYTHON_NAMES = re.compile(r"\b(n_starts|random_state|max_iter|n_jobs|tol|feasibility_tol|bridge=|lambdas?)\b")


def make(**changes):
    labels = Labels(time=np.array([2000, 2001, 2002, 2003, 2004]))
    plain = {"explained_variance": 0.8416, "n_iter": 321, "labels": labels}
    return hand_made(K=5, I=9, J=6, R=3, **(plain | changes))


def starts(matches=(1.0, 1.0), **changed):
    count = len(matches)
    columns = {
        "objective": np.ones(count),
        "fms_to_chosen": np.array(matches),
        "status": np.full(count, "converged"),
        "converged": np.full(count, True),
        "feasible": np.full(count, True),
        "degenerate": np.full(count, False),
        "chosen": np.arange(count) == 0,
    }
    return columns | {name: np.array(column) for name, column in changed.items()}


def kinds(result):
    return [finding.kind for finding in result.findings]


def only(result, kind):
    (finding,) = [finding for finding in result.findings if finding.kind is kind]
    return finding


def static_patterns(*components):
    B = np.random.default_rng(1).random((5, 6, 3))
    B[:, :, components] = B[:1, :, components]
    return B


def jumping_patterns():
    """Those of the second component change once, after the third time; the others all the time."""
    B = np.random.default_rng(1).random((5, 6, 3))
    B[:3, :, 1], B[3:, :, 1] = B[0, :, 1], B[4, :, 1]
    return B


def coverage(**places):
    shares = np.ones((5, 6))
    for value, (k, j) in places.values():
        shares[k, j] = value
    return shares


SAME_ROWS = np.random.default_rng(0).random((9, 3))
SAME_ROWS[:, 2] = 2.0 * SAME_ROWS[:, 0] + 0.01


def strengths(cosine):
    """Of three components; the first and the last have this cosine, the other is far from both."""
    first = np.array([2.0, 1.0, 2.0, 1.0, 2.0])
    away = np.array([1.0, -2.0, 0.0, 0.0, 0.0]) / np.sqrt(5) * np.linalg.norm(first)
    last = cosine * first + np.sqrt(1 - cosine**2) * away
    return np.stack([first, [0.1, 2.0, 0.1, 2.0, 0.1], last], axis=1)


def trust(**changes):
    plain = {"replicability": [0.97, 0.7, 0.95], "alone": [0.4, 0.5, 0.4], "verdict": ["replicable"] * 3}
    return Trust(**(plain | changes))


CANCELLING = np.array([[1.0, -1.0, 0.3]] * 9)
ALL = slice(None)
CASES = {
    Kind.EXPLAINED: {},
    Kind.EXPLAINS_NOTHING: {"explained_variance": 0.0},
    Kind.CONVERGED: {},
    Kind.NOT_CONVERGED: {"converged": False, "status": "as others call it"},
    Kind.MAX_ITER: {"converged": False, "status": "max_iter"},
    Kind.INFEASIBLE: {"converged": False, "status": "infeasible"},
    Kind.INTERRUPTED: {"converged": False, "status": "interrupted"},
    Kind.NOT_FINITE: {"converged": False, "status": "not_finite", "explained_variance": np.nan},
    Kind.ALL_VANISHED: {"converged": False, "status": "vanished", "A": np.zeros((9, 3))},
    Kind.NO_SOUND_START: {
        "starts": starts(converged=[False] * 2, feasible=[True, False], status=["max_iter", "infeasible"])
    },
    Kind.INTERRUPTED_STARTS: {"starts": starts(status=["converged", "interrupted"])},
    Kind.ONE_START: {"starts": starts([1.0])},
    Kind.STARTS: {"starts": starts([1.0, 1.0, 0.3])},
    Kind.FEW_STARTS_AGREE: {"starts": starts([1.0, 0.3])},
    Kind.LOWER_PASSED_OVER: {
        "starts": starts(objective=[1.0, 0.9], status=["converged", "max_iter"], converged=[True, False])
    },
    Kind.SMOOTHNESS: {
        "parameters": {"smoothness": None},
        "terms": Terms(A=(Ridge(1.0),), B=(TemporalSmoothness(1.0),), C=(Ridge(1.0),), scale=10.0),
    },
    Kind.NOT_UNIQUE: {"terms": Terms(fixed_strengths=True)},
    Kind.DEGENERATE: {
        "starts": starts(degenerate=[True, True]),
        "A": CANCELLING,
        "B": np.ones((5, 6, 3)),
        "C": np.ones((5, 3)),
    },
    Kind.PROPORTIONAL: {"C": strengths(0.99), "B": static_patterns(0, 1, 2)},
    Kind.SAME_ROWS: {"A": SAME_ROWS},
    Kind.VANISHED: {"A": np.random.default_rng(0).random((9, 3)) * [1.0, 0.0, 1.0]},
    Kind.CONSTANT: {"terms": Terms(B=(Static(),)), "B": static_patterns(0, 1, 2)},
    Kind.STATIC: {"B": static_patterns(1)},
    Kind.MAY_JUMP: {"terms": Terms(B=(SuddenChanges(1.0),))},
    Kind.SUDDEN: {"B": jumping_patterns(), "terms": Terms(B=(SuddenChanges(1.0),))},
    Kind.GIVES_WAY: {"terms": Terms(B=(SoftParafac2(2.0), TemporalSmoothness(1.0)))},
    Kind.NONNEGATIVE: {"terms": Terms(A=(NonNegative(),))},
    Kind.SPARSE: {"terms": Terms(B=(L1(1.0),))},
    Kind.SMOOTH_STRENGTHS: {"terms": Terms(C=(Ridge(1.0), TemporalSmoothness(2.0)))},
    Kind.FURTHER_TERM: {"terms": Terms(B=(Box(0.0, 1.0),))},
    Kind.COULD_BE_NONNEGATIVE: {
        "terms": Terms(),
        "negative_share": 0.0,
        "B": np.sin(np.arange(90.0)).reshape(5, 6, 3),
    },
    Kind.NEGATIVE_DATA: {"terms": Terms(B=(NonNegative(),)), "negative_share": 0.3},
    Kind.UNDETERMINED: {"C": np.where(np.eye(5, 3) > 0, 1e-4, 1.0)},
    Kind.COMPLETE: {},
    Kind.MISSING: {"observed_share": 0.75},
    Kind.UNOBSERVED_TIMES: {"observed_share": 0.8, "coverage": coverage(gone=(0.0, (2, ALL)))},
    Kind.FEW_ROWS: {"observed_share": 0.9, "coverage": coverage(few=(1 / 3, (3, ALL)))},
    Kind.BRIDGED: {"observed_share": 0.9, "coverage": coverage(away=(0.0, (1, 2)))},
    Kind.WEIGHTED: {"row_weights": np.linspace(0.5, 1.5, 9), "weighting": {"by": "rows", "mean": 2.0}},
    Kind.UNEVEN_WEIGHTS: {"row_weights": np.array([8.6, *[0.05] * 8])},
    Kind.UNEVEN_TIMES: {"times": np.array([0.0, 1.0, 2.0, 4.0, 5.0])},
    Kind.PERIODIC: {"period": 5.0},
    Kind.RAGGED: {"B": [np.ones((width, 3)) for width in (3, 4, 3, 6, 5)]},
    Kind.APPENDED: {"appended": {"squares": [1.0, 2.0], "errors": [0.5, 0.5]}},
    Kind.ONLY_THERE: {"trust": trust(verdict=["replicable", "there", "replicable"])},
    Kind.NOT_THERE: {"trust": trust(verdict=["replicable", "not there", "replicable"])},
    Kind.DEPENDS_ON_SETTING: {"trust": trust(stability=[0.95, 0.8, 1.0])},
    Kind.CONSTRAINT_CONTRADICTED: {"trust": trust(z=5.0, gain=0.03, null=0.01)},
    Kind.RANK_UNSURE: {
        "choice": {"chosen": {"rank": 2}, "sure": False, "doubts": ["starts"], "ranks_asked": [1, 2]}
    },
    Kind.INTERVALS: {"intervals": intervals_for(make())},
    Kind.UNSTABLE: {"intervals": intervals_for(make(), unmatched=np.array([0.0, 0.3, 0.0]))},
    Kind.TRUST: {},
}


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_found_where_it_is_and_not_elsewhere(kind):
    assert kind in kinds(make(**CASES[kind]))
    if CASES[kind]:
        assert kind not in kinds(make())


@pytest.mark.parametrize("words", [PYTHON, FLAGS], ids=["python", "flags"])
@pytest.mark.parametrize("kind", Kind)
def test_every_finding_is_a_sentence_in_the_words_of_its_place(kind, words):
    for finding in make(**CASES[kind]).findings:
        said = sentence(finding, words)
        assert said.endswith(".")
        assert said[0].isupper() or said[0].isdigit()
        assert "{" not in said
        assert words is PYTHON or not PYTHON_NAMES.search(said)


@pytest.mark.parametrize("kind", Kind)
def test_findings_are_data(kind):
    for finding in make(**CASES[kind]).findings:
        told = finding.as_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["TParafac2", "CP", "TemporalCMF", "Mine"]),
    st.sampled_from([*ENDINGS, "else"]),
    st.sampled_from([0.0, 1.0, np.inf, np.nan]),
    st.floats(),
)
def test_findings_of_any_result_can_be_told(seed, model, status, size, explained):
    rng = np.random.default_rng(seed)
    K, I, J, R, count = rng.integers(1, 4, 5)
    complete = rng.random() < 0.5
    result = Result(
        model=model,
        A=rng.integers(-1, 2, (I, R)),
        B=np.where(rng.random((K, J, R)) < 0.5, 0.0, size),
        C=rng.integers(-1, 2, (K, R)),
        objective=explained,
        explained_variance=explained,
        status=status,
        converged=status == "converged",
        n_iter=count,
        observed_share=1.0 if complete else rng.random(),
        coverage=None if complete else rng.integers(0, 2, (K, J)).astype(float),
        times=np.cumsum(rng.random(K)),
        period=None if complete else 9.0,
        starts=starts(rng.random(count), objective=rng.random(count), status=rng.choice(list(Status), count)),
    )
    for finding in result.findings:
        assert sentence(finding, PYTHON).endswith(".")
        assert not PYTHON_NAMES.search(sentence(finding, FLAGS))
    assert result.summary()
    assert len(account(result)) <= len(result.findings)


def test_every_status_of_a_run_has_an_ending():
    assert {status.value for status in Status} - set(ENDINGS) == {"running"}


# --- what is found ------------------------------------------------------------------------------------------


def test_components_and_times_are_named_by_number_and_label():
    finding = only(make(C=np.vstack([np.ones((4, 3)), [[1.0, 1e-4, 1.0]]])), Kind.UNDETERMINED)
    assert (finding.component, finding.times) == (2, (2004,))
    finding = only(make(**CASES[Kind.FEW_ROWS]), Kind.FEW_ROWS)
    assert (finding.times, finding.numbers["seen"]) == ((2003,), (3,))
    assert "(3 at 2003)" in sentence(finding)


@pytest.mark.parametrize("factor", ["A", "B", "C"])
def test_a_component_without_any_size_has_vanished(factor):
    array = np.array(getattr(make(), factor))
    array[..., 1] = 0.0
    assert only(make(**{factor: array}), Kind.VANISHED).component == 2
    assert Kind.UNDETERMINED not in kinds(make(**{factor: array}))


def test_a_pair_that_cancels_is_named():
    finding = only(make(**CASES[Kind.DEGENERATE]), Kind.DEGENERATE)
    assert (finding.component, finding.numbers["other"]) == (1, 2)
    assert finding.numbers["score"] == pytest.approx(-1)
    passed_over = starts([1.0, 0.5], degenerate=[False, True])
    assert Kind.DEGENERATE not in kinds(make(**(CASES[Kind.DEGENERATE] | {"starts": passed_over})))


def proportional(cosine, **changes):
    plain = {"A": np.eye(9)[:, :3], "B": np.tile(np.eye(6)[:, :3], (5, 1, 1)), "C": strengths(cosine)}
    result = make(**(plain | changes))
    return [finding for finding in result.findings if finding.kind is Kind.PROPORTIONAL]


def test_strengths_that_are_nearly_proportional_are_named_with_their_cosine():
    (finding,) = proportional(0.986)
    assert (finding.component, finding.numbers["other"], finding.severity) == (1, 3, Severity.NOTE)
    assert finding.numbers["cosine"] == pytest.approx(0.986)
    assert "components 1 and 3 are nearly proportional (cosine 0.9860): " in sentence(finding)
    assert "nonnegative='patterns'" in sentence(finding)
    assert "--nonnegative patterns" in sentence(finding, FLAGS)
    assert not proportional(0.984)


def test_non_negative_patterns_stand_strengths_that_are_more_alike():
    bounded = {"terms": Terms(B=(NonNegative(),))}
    assert not proportional(0.989, **bounded)
    (finding,) = proportional(0.995, **bounded)
    assert sentence(finding).endswith("Read them together.")


def test_strengths_are_compared_where_all_size_is_in_them():
    """A pattern may hold the course that its strength does not."""
    sizes = np.array([1.0, 4.0, 1.0, 4.0, 1.0])[:, None, None]
    B = np.tile(np.eye(6)[:, :3], (5, 1, 1))
    B[:, :, 2:] *= sizes
    assert not proportional(0.99, B=B)


def test_several_pairs_are_one_note():
    result = make(C=np.linspace(1, 2, 5)[:, None] * [1.0, 2.0, 3.0], B=np.ones((5, 6, 3)))
    finding = only(result, Kind.PROPORTIONAL)
    assert len(finding.numbers["pairs"]) == 3
    assert sentence(finding).count("1.0000") == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"terms": Terms(fixed_strengths=True)},
        {"A": np.eye(9)[:, :3] * [1.0, 1.0, 0.0]},
        {"A": np.full((9, 3), np.nan)},
    ],
    ids=["fixed", "vanished", "not finite"],
)
def test_strengths_that_tell_nothing_are_not_compared(changes):
    assert not proportional(0.99, **changes)


def test_times_that_nobody_observed_do_not_count():
    seen = {"coverage": coverage(gone=(0.0, (slice(0, 2), ALL))), "observed_share": 0.6}
    assert proportional(0.95, **seen)  # the difference is at the first two times
    assert not proportional(0.95)


def test_a_pattern_is_static_by_one_measure_in_the_order_of_time():
    B = np.outer(np.arange(5), np.ones(6)).reshape(5, 6, 1).repeat(3, axis=2) * 1e-5 + 1.0
    assert kinds(make(B=B)).count(Kind.STATIC) == 3
    shuffled = [0, 4, 1, 3, 2]
    assert kinds(make(B=B[shuffled], times=np.arange(5.0)[shuffled])).count(Kind.STATIC) == 3
    assert Kind.STATIC not in kinds(make(B=1e3 * (B - 1.0) + 1.0))
    assert Kind.STATIC not in kinds(make(B=B, terms=Terms(B=(Static(),))))


def test_a_column_that_was_not_there_is_not_bridged():
    B = np.array(make().B)
    B[1, 2] = 0.0
    assert Kind.BRIDGED not in kinds(make(B=B, **CASES[Kind.BRIDGED]))
    finding = only(make(**CASES[Kind.BRIDGED]), Kind.BRIDGED)
    assert (finding.times, dict(finding.numbers)) == ((2001,), {"columns": 1, "pairs": 1})


def test_non_negative_rows_make_components_unique():
    few = starts([1.0, 0.2, 0.3])
    span = Terms(fixed_strengths=True)
    assert Kind.FEW_STARTS_AGREE not in kinds(make(starts=few, terms=span))  # nobody would expect them to
    found = kinds(make(starts=few, terms=Terms(A=(NonNegative(),), fixed_strengths=True)))
    assert Kind.FEW_STARTS_AGREE in found
    assert Kind.NOT_UNIQUE not in found


@pytest.mark.parametrize("matches", [[1.0, 0.995, 0.3], [0.8, 0.799, 0.8, np.nan, 0.1], [np.nan, np.nan]])
def test_half_of_the_other_starts_are_enough(matches):
    assert Kind.STARTS in kinds(make(starts=starts(matches)))


def test_where_no_start_is_sound_their_agreement_is_no_warning():
    unsound = starts([1.0, 0.2, 0.3], converged=[False] * 3, status=["max_iter"] * 3)
    found = make(starts=unsound, converged=False, status="max_iter")
    assert Kind.FEW_STARTS_AGREE not in kinds(found)
    assert only(found, Kind.NO_SOUND_START).numbers["not_converged"] == 3


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [
        ({}, False),
        ({"init": "uniform", "n_starts": 3}, True),
        ({"init": [1, 2, 3], "n_starts": 2}, True),
        ({"init": (1, 2, 3), "n_starts": 9}, False),
    ],
)
def test_starts_that_were_never_made_are_missed(parameters, missing):
    found = make(starts=starts(), parameters=parameters)
    assert (Kind.INTERRUPTED_STARTS in kinds(found)) == missing


def test_labels_that_are_uneven_are_not_times():
    assert Kind.UNEVEN_TIMES not in kinds(make(labels=Labels(time=[0, 1, 2, 9, 10])))


def test_notes_are_what_is_more_than_information():
    findings = [Finding(Kind.COMPLETE), Finding(Kind.VANISHED, Severity.WARNING, component=3)]
    assert notes(findings) == (sentence(findings[1]),)
    assert make().notes == ()


# --- one answer everywhere ----------------------------------------------------------------------------------


def almost_static(factor):
    """Data whose two patterns change by this part of themselves, or less."""
    rng = np.random.default_rng(0)
    A, B, C = rng.random((8, 2)), rng.random((7, 2)), rng.random((5, 2)) + 0.5
    drift = 1 + factor * np.linspace(0, 1, 5)[:, None, None] * rng.normal(size=(7, 2))
    return np.einsum("ir,kjr,kr->kij", A, B * drift, C)


@pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")
@pytest.mark.parametrize(
    "chosen", [{"epsilon": 1e-3}, {"algorithm": "paper", "max_iter": 300}], ids=["epsilon", "paper"]
)
@pytest.mark.parametrize("factor", [0.0, 0.02])
def test_notes_and_page_agree_on_what_is_static(chosen, factor):
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0, **chosen).fit(almost_static(factor))
    found = [finding for finding in model.findings_ if finding.kind is Kind.STATIC]
    squares, changes = (np.sum(b**2, axis=(0, 1)) for b in (model.B_, np.diff(model.B_, axis=0)))
    assert [finding.component - 1 for finding in found] == np.flatnonzero(changes <= 1e-6 * squares).tolist()
    assert len(found) == (2 if factor == 0.0 and "epsilon" in chosen else 0)
    assert sum("is static" in note for note in model.notes_) == len(found)
    page = " ".join(fact.text for fact in account(model.result_))
    assert page.count("is static") == len(found)
    assert model.summary().count("is static") == len(found)


@pytest.mark.parametrize("roughness", [5e-4, 5e-10])
def test_static_is_what_is_static_whatever_the_settings(roughness):
    """Between the two thresholds there once were: epsilon for the notes, 1e-6 for the page."""
    B = np.ones((5, 6, 3))
    B[1::2] += np.sqrt(roughness)
    for parameters in ({"epsilon": 1e-3}, {"algorithm": "paper", "epsilon": 1e-6}):
        result = make(B=B, parameters=parameters)
        page = " ".join(fact.text for fact in account(result))
        told = [text.count("is static") for text in ("".join(result.notes), page, result.summary())]
        assert told == [3 * (roughness < 1e-6)] * 3


def test_findings_are_the_same_after_loading(tmp_path):
    X = np.random.default_rng(0).random((5, 9, 6))
    X[1, :, 2] = X[3, 3:] = np.nan
    with pytest.warns(tp.ConvergenceWarning) as caught:
        model = tp.TParafac2(2, n_starts=2, max_iter=3, random_state=0).fit(X)
    assert caught[0].message.findings[0].kind is Kind.NO_SOUND_START
    assert "raise --max-iter" in caught[0].message.told(FLAGS)
    model.save(tmp_path / "model.npz")
    assert tp.load(tmp_path / "model.npz").findings_ == model.findings_


# --- counts of starts that found the same -------------------------------------------------------------------


def account_of(objective, matches, chosen=None):
    table = {"objective": np.array(objective), "fms_to_chosen": np.array(matches)}
    return table if chosen is None else table | {"chosen": np.arange(len(objective)) == chosen}


def test_the_chosen_start_need_not_be_the_lowest():
    assert chosen_start(account_of([2.0, 1.0], [1.0, 0.3], chosen=0)) == 0
    assert chosen_start(account_of([2.0, 1.0], [1.0, 0.3])) == 1
    assert count_same_objective(account_of([2.0, 1.0, 2.0 + 1e-7], [1.0] * 3, chosen=0)) == 1


@pytest.mark.parametrize(
    ("matches", "count"),
    [
        ([1.0, 0.995, 0.98, np.nan], 1),
        ([0.0, 0.0, 0.0, np.nan], 0),  # all of them did: nothing can be said to be alike
    ],
)
def test_likeness_is_the_match_with_the_chosen_start(matches, count):
    table = account_of([1.0, 1.0, 1.0, np.nan], matches, chosen=0)
    assert count_alike(table) == count
    assert np.isnan(likeness(table)[-1])


def test_a_new_kind_of_finding_is_told_everywhere_by_its_name_and_sentence(monkeypatch):
    """Whoever adds one writes it in this room, and nothing of what shows it has to know."""
    new = StrEnum("new", {"PROPORTIONAL": "nearly_proportional"})
    told = "The strengths of components 1 and 2 are nearly proportional."
    monkeypatch.setitem(
        wording._SENTENCES, new.PROPORTIONAL, told.replace("1", "{component}").replace("2", "{other}")
    )
    result = make()
    found = Finding(new.PROPORTIONAL, Severity.NOTE, component=1, numbers={"other": 2})
    vars(result)["findings"] = (*result.findings, found)
    assert result.notes[-1] == told
    assert told in result.summary()
    assert account(result)[-1] == ("plain", "nearly proportional", told)
    assert json.loads(json.dumps(found.as_dict()))["kind"] == "nearly_proportional"


def test_a_sudden_change_says_when_and_how_much():
    found = only(make(**CASES[Kind.SUDDEN]), Kind.SUDDEN)
    assert (found.component, found.times) == (2, (2002, 2003))
    assert found.numbers["share"] == pytest.approx(1.0)
    assert 0 < found.numbers["cosine"] < 0.99
    assert sentence(found, PYTHON).startswith(
        "Component 2 changes suddenly between 2002 and 2003: 100 % of all"
    )
