import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2 import synthetic
from tparafac2.experiments.measure import fit, measure
from tparafac2.experiments.plan import Plan, Task
from tparafac2.experiments.records import RecordError, from_text, row, tabulate, to_text
from tparafac2.experiments.settings import METHODS, Method, Setting
from tparafac2.metrics import factor_match_score

PLAN = Plan(datasets=1, starts=3, n_times=6, n_rows=24, n_columns=36)
TASK = Task(Setting("almost_zero", 1), 0, Method("tPARAFAC2", 1000.0))


@pytest.fixture(scope="module")
def record():
    return measure(TASK, PLAN.protocol)


def without_times(record):
    record = copy.deepcopy(record)
    del record["fit"]["seconds"]
    return to_text(record)


def test_two_measurements_are_equal_apart_from_times(record):
    assert without_times(measure(TASK, PLAN.protocol)) == without_times(record)


def test_a_record_survives_the_file(record):
    task, again = from_text(to_text(record), PLAN.protocol)
    assert task == TASK
    assert to_text(again) == to_text(record)


def test_scores_are_those_of_the_fit(record):
    data, model = fit(TASK, PLAN.protocol)
    for definition in ("stacked", "slicewise", "scaled"):
        expected = factor_match_score(model, data, definition=definition)
        assert record["scores"][definition]["score"] == pytest.approx(expected, abs=1e-14)
    assert row(record)["fms"] == record["scores"]["stacked"]["score"]
    assert row(record)["fms_b"] == pytest.approx(np.mean(record["scores"]["stacked"]["B"]))
    np.testing.assert_array_equal(data.X, synthetic.almost_zero(0, n_weak=1, **PLAN.size._asdict()).X)


def test_models_without_strengths_are_scored_without_them():
    of_tcmf = measure(TASK._replace(method=Method("tCMF", 1000.0)), PLAN.protocol)
    assert set(of_tcmf["scores"]["stacked"]) == {"score", "per_component", "A", "B"}
    assert np.isnan(row(of_tcmf)["fms_c"])


def test_all_methods_have_the_same_starts():
    protocol = Plan(datasets=1, starts=2, n_times=6, n_rows=24, n_columns=36, max_iter=1).protocol
    seeds = {measure(TASK._replace(method=method), protocol)["seeds"]["starts"] for method in METHODS[::4]}
    assert len(seeds) == 1


def test_weak_patterns_look_only_where_concepts_are_weak(record):
    assert 0 < record["weak_patterns"] < 1
    assert measure(TASK._replace(setting=Setting("easy", 0.5)), PLAN.protocol)["weak_patterns"] is None


def test_starts_are_discarded_by_reason():
    protocol = Plan(datasets=1, starts=3, n_times=6, n_rows=24, n_columns=36, max_iter=2).protocol
    found = row(measure(TASK, protocol))
    assert found["hit_max_iter"] == found["starts"] == 3
    assert found["kept"] == 0
    assert np.isnan(found["agreement"])


def test_agreement_is_of_the_better_half(record):
    record = copy.deepcopy(record)
    made_up = [(10.0, 1.0, True), (10.1, 0.9, True), (10.2, 0.8, True), (99.0, 0.1, True), (1.0, 0.0, False)]
    record["starts"] = [
        {
            "objective": objective,
            "iterations": 9,
            "status": "converged" if kept else "max_iter",
            "feasible": True,
            "degenerate": False,
            "kept": kept,
            "chosen": objective == 10.0,
            "fms_to_chosen": fms,
        }
        for objective, fms, kept in made_up
    ]
    found = row(record)
    assert found["objective_spread"] == pytest.approx(0.01)
    assert found["agreement"] == pytest.approx(0.9)
    assert (found["kept"], found["hit_max_iter"]) == (4, 1)


def test_the_table_is_in_the_order_of_the_experiments(record):
    def made(setting, method):
        other = copy.deepcopy(record)
        other["task"] |= {"case": setting.case, "level": setting.level}
        other["task"] |= {"model": method.model, "lambda_b": method.lambda_b}
        return other

    settings = [Setting("overlapping", 0.1), Setting("easy", 1.0), Setting("easy", 0.25)]
    table = tabulate(made(setting, method) for setting in settings for method in reversed(METHODS))
    assert list(table["case"].unique()) == ["easy", "overlapping"]
    assert list(table["level"].unique()) == [0.25, 1.0, 0.1]
    assert list(table["method"][:13]) == [method.label for method in METHODS]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(content="else"), "not a record"),
        (lambda r: r.update(format=99), "format 99"),
        (lambda r: r.update(protocol="0" * 16), "other settings or by another version"),
        (lambda r: r["task"].update(case="zebra"), "lacks"),
        (lambda r: r["task"].update(level=0.123), "unknown task"),
        (lambda r: r["task"].update(model="CP"), "unknown task"),
        (lambda r: r.pop("scores"), "lacks 'scores'"),
        (lambda r: r.pop("task"), "lacks 'task'"),
        (lambda r: r["fit"].pop("objective"), "lacks 'objective'"),
    ],
)
def test_foreign_records_are_refused(record, change, said):
    changed = json.loads(to_text(record))
    change(changed)
    with pytest.raises(RecordError, match=said):
        from_text(json.dumps(changed), PLAN.protocol)


@settings(max_examples=30)
@given(share=st.floats(0, 0.999))
def test_a_record_cut_off_anywhere_is_noticed(record, share):
    text = to_text(record).rstrip()
    with pytest.raises(RecordError):
        from_text(text[: int(share * len(text))], PLAN.protocol)


@pytest.mark.parametrize("text", ["", "null", "[]", "3", '"text"', "{}", "not JSON"])
def test_other_texts_are_no_records(text):
    with pytest.raises(RecordError):
        from_text(text, PLAN.protocol)
