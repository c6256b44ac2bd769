import copy
import json
import os
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure import fit, measure, unit_form
from plan import (
    ALL_METHODS,
    CHOSEN,
    FLEXIBLE,
    HARD,
    METHODS,
    QUICK,
    Method,
    Plan,
    Setting,
    Task,
)
from records import RecordError, Store, from_text, row, tabulate, to_text

from tparafac2 import choose, synthetic
from tparafac2.files import UNFINISHED
from tparafac2.metrics import factor_match_score

PLAN = Plan(datasets=1, starts=3, n_times=6, n_rows=24, n_columns=36, coarse=True)
TASK = Task(Setting("almost_zero", 1), 0, Method("tPARAFAC2", 1000.0))


LARGER = replace(QUICK, starts=2)  # so large that hidden entries tell how far patterns give way
OVERLAPPING = TASK._replace(setting=Setting("overlapping", 0.2), dataset=1)


@pytest.fixture(scope="module")
def record():
    return measure(TASK, PLAN.protocol)


@pytest.fixture(scope="module")
def chosen():
    """What two data sets chose, for both ways to have them choose."""
    tasks = [OVERLAPPING._replace(method=method) for method in CHOSEN]
    return {task.method: measure(task, LARGER.protocol) for task in tasks}


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


def test_what_the_data_chose_is_in_the_record(chosen):
    tried = FLEXIBLE.search(coarse=True)
    for method, one in chosen.items():
        task, again = from_text(to_text(one), LARGER.protocol)
        assert task.method == method
        found = row(again)
        assert found["smoothness"] == again["chosen"]["smoothness"] in tried["smoothness"]
        assert found["smoothness"] == pytest.approx(one["fit"]["smoothness"])
        assert 0 < again["chosen"]["hidden_error"] < 1
        assert found["rigidity"] in tried["rigidity"]
    assert row(chosen[HARD])["rigidity"] == np.inf
    assert row(chosen[FLEXIBLE])["rigidity"] == 1.0  # where concepts overlap, sizes and angles change


def test_given_penalties_are_no_choice_but_amount_to_a_smoothness(record):
    found = row(record)
    assert record["chosen"] is None
    assert 0 < found["smoothness"] < 0.1
    assert np.isnan(found["rigidity"])


def test_a_choice_fits_as_often_as_all_methods_and_can_be_fitted_again(chosen):
    for method, one in chosen.items():
        found = row(one)
        assert found["starts"] == LARGER.starts
        settled = {name: found[name] for name in ("smoothness", "rigidity")}
        _, model = fit(OVERLAPPING._replace(method=method), LARGER.protocol, **settled)
        assert model.objective_ == pytest.approx(one["fit"]["objective"], rel=1e-9)


def test_a_choice_does_not_see_the_truth(monkeypatch):
    seen = []

    def watched(X, **search):
        seen.append(X)
        return choose(X, **search)

    monkeypatch.setattr("measure.choose", watched)
    data, _ = fit(OVERLAPPING._replace(method=HARD), LARGER.protocol)
    assert seen[0] is data.X  # bare numbers, without the factors behind them


def test_half_a_choice_is_no_result(monkeypatch):
    def interrupted(X, **search):
        return SimpleNamespace(record={"interrupted": True}, model=None)

    monkeypatch.setattr("measure.choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(OVERLAPPING._replace(method=HARD), LARGER.protocol)


def test_unit_form_does_not_depend_on_where_sizes_are():
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(5, 2)), rng.normal(size=(4, 6, 2)), rng.random((4, 2)) + 0.1
    B[2, :, 1] = 0.0
    moved = rng.random((4, 2)) + 0.5
    for one, other in zip(unit_form((A, B, C)), unit_form((A, B * moved[:, None], C / moved))):
        np.testing.assert_allclose(one, other, atol=1e-12)
    lengths = np.linalg.norm(unit_form((A, B, C))[1], axis=1)
    assert lengths[2, 1] == 0.0
    np.testing.assert_allclose(np.delete(lengths.ravel(), 5), 1.0)


def test_patterns_that_change_their_sizes_are_scored_in_unit_form(chosen):
    method = FLEXIBLE
    settled = {name: row(chosen[method])[name] for name in ("smoothness", "rigidity")}
    data, model = fit(OVERLAPPING._replace(method=method), LARGER.protocol, **settled)
    factors = model.A_, model.B_, model.C_
    expected = factor_match_score(unit_form(factors), unit_form(data.factors))
    assert chosen[method]["scores"]["stacked"]["score"] == pytest.approx(expected, abs=1e-9)
    assert abs(expected - factor_match_score(factors, data)) > 1e-4  # the form matters
    assert row(chosen[method])["fms_unit"] == pytest.approx(expected, abs=1e-9)


def test_every_model_has_a_score_in_unit_form_with_strengths():
    of_tcmf = row(measure(OVERLAPPING._replace(method=Method("tCMF", 1000.0)), LARGER.protocol))
    assert 0 < of_tcmf["fms_unit"] <= of_tcmf["fms_unit_c"] <= 1


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
    table = tabulate(made(setting, method) for setting in settings for method in reversed(ALL_METHODS))
    assert list(table["case"].unique()) == ["easy", "overlapping"]
    assert list(table["level"].unique()) == [0.25, 1.0, 0.1]
    assert list(table["method"][:15]) == [method.label for method in ALL_METHODS]


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
        (lambda r: r.pop("chosen"), "lacks 'chosen'"),
        (lambda r: r["scores"]["unit"].update(score=1.5), "a sensible fms_unit"),
        (lambda r: r.update(format=1), "format 1"),
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


# --- the folder ---------------------------------------------------------------------------------------------

QUICKEST = Plan(cases=("easy",), datasets=1, starts=1, n_times=6, n_rows=24, n_columns=36, max_iter=3)
TASKS = list(QUICKEST.tasks())


@pytest.fixture(scope="module")
def records():
    return {task: measure(task, QUICKEST.protocol) for task in TASKS[:2]}


@pytest.fixture
def store(tmp_path, records):
    store = Store(tmp_path / "out", QUICKEST.protocol)
    for task, record in records.items():
        store.add(task, record)
    return store


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def path_of(store, task):
    return store.folder / "records" / task.path


def test_records_come_back(store, records):
    again = Store(store.folder, QUICKEST.protocol).read()
    assert set(again) == set(records)
    for task in records:
        assert again[task]["fit"]["objective"] == records[task]["fit"]["objective"]


def test_a_record_is_written_once_and_for_good(store, records):
    before = content(store.folder)
    other = {**records[TASKS[0]], "weak_patterns": 0.5}
    store.add(TASKS[0], other)
    assert content(store.folder) == before


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"starts": 2}, {"n_times": 7}, {"max_iter": 4}, {"tol": 1e-3}, {"coarse": True}]
)
def test_other_settings_are_refused_by_name(store, change):
    before = content(store.folder)
    other = Plan(**{**vars(QUICKEST), **change})
    with pytest.raises(ValueError, match=rf"{next(iter(change))} .* there, .* now") as refusal:
        Store(store.folder, other.protocol)
    assert str(store.folder / "protocol.json") in str(refusal.value)
    assert content(store.folder) == before


def test_another_version_is_refused(store, monkeypatch):
    monkeypatch.setattr("plan.__version__", "99.0")
    with pytest.raises(ValueError, match=r"version .* there, 99\.0 now"):
        Store(store.folder, QUICKEST.protocol)


def test_more_data_sets_or_cases_go_on_in_the_same_folder(store, records):
    grown = Plan(**{**vars(QUICKEST), "cases": ("easy", "overlapping"), "datasets": 3})
    assert set(Store(store.folder, grown.protocol).read()) == set(records)


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ValueError, match="not empty"):
        Store(tmp_path, QUICKEST.protocol)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        Store(tmp_path / "out", QUICKEST.protocol)


@pytest.mark.parametrize("text", ["", "{}", '{"content": "tparafac2 experiments", "format": 1', "[]"])
def test_a_damaged_protocol_is_named(store, text):
    note = store.folder / "protocol.json"
    note.write_text(text)
    with pytest.raises(ValueError, match=r"protocol\.json cannot be used"):
        Store(store.folder, QUICKEST.protocol)
    assert note.read_text() == text


@pytest.mark.parametrize("damage", ["cut", "empty", "binary", "foreign", "moved"])
def test_a_bad_record_is_named_and_left_alone(store, damage):
    path = path_of(store, TASKS[0])
    whole = path.read_bytes()
    if damage == "moved":
        path = path_of(store, TASKS[2])
    bad = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "binary": b"\xff\xfe\x00",
        "foreign": b'{"some": "thing"}',
        "moved": whole,
    }[damage]
    path.write_bytes(bad)
    with pytest.raises(ValueError, match="cannot be used") as refusal:
        store.read()
    assert str(path) in str(refusal.value)
    assert path.read_bytes() == bad


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused_before_any_work(store):
    folder = store.folder / "records"
    folder.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            Store(store.folder, QUICKEST.protocol)
    finally:
        folder.chmod(0o700)


def test_a_folder_that_cannot_be_written_to_is_refused_before_any_work(store, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    with pytest.raises(PermissionError, match="records"):
        Store(store.folder, QUICKEST.protocol)


def test_what_a_killed_process_left_is_swept_away_in_time(store, records):
    folder = path_of(store, TASKS[0]).parent
    old, young = (folder / f".{name}{UNFINISHED}.json" for name in ("old", "young"))
    for path in (old, young):
        path.write_text('{"half": ')
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    again = Store(store.folder, QUICKEST.protocol)
    assert not old.exists()
    assert young.exists()
    assert set(again.read()) == set(records)


def test_settings_of_which_nothing_came_may_be_corrected(tmp_path):
    Store(tmp_path / "out", QUICKEST.protocol)
    other = Plan(**{**vars(QUICKEST), "starts": 2}).protocol
    store = Store(tmp_path / "out", other)
    assert '"starts": 2' in (store.folder / "protocol.json").read_text()


def test_a_damaged_log_of_calls_is_named_before_any_work(store):
    for text in ('[{"command"', "{}x", '[{"a": 1}]'):
        (store.folder / "calls.json").write_text(text)
        with pytest.raises(ValueError, match=r"calls\.json cannot be read"):
            Store(store.folder, QUICKEST.protocol)


@pytest.mark.parametrize("score", [None, 5.0, "high"])
def test_scores_that_cannot_be_are_noticed(store, score):
    path = path_of(store, TASKS[0])
    record = json.loads(path.read_text())
    record["scores"]["stacked"]["score"] = score
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match="a sensible fms"):
        store.read()


def test_a_run_that_begins_at_any_moment_of_another_does_not_disturb_it(tmp_path):
    """At each line of the opening in turn, another process is let in and opens the same folder."""
    opened_meanwhile = 0
    while opened_meanwhile == len(list(tmp_path.iterdir())):
        folder = tmp_path / str(opened_meanwhile)
        lines = iter(range(opened_meanwhile, -1, -1))

        def step(frame, event, argument, folder=folder, lines=lines):
            if not frame.f_code.co_filename.endswith(("paper/records.py", "tparafac2/files.py")):
                return None
            if event == "line" and next(lines, None) == 0:
                sys.settrace(None)
                Store(folder, QUICKEST.protocol)
            return step

        before = sys.gettrace()
        sys.settrace(step)
        try:
            Store(folder, QUICKEST.protocol)
        finally:
            sys.settrace(before)
        opened_meanwhile += next(lines, None) is None
        assert not [path for path in folder.rglob("*") if UNFINISHED in path.name or "writable" in path.name]
    assert opened_meanwhile > 30
