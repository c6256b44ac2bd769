import json
import os
import sys
import time

import pytest

from tparafac2.experiments.measure import measure
from tparafac2.experiments.plan import Plan
from tparafac2.experiments.store import Store
from tparafac2.files import UNFINISHED

PLAN = Plan(cases=("easy",), datasets=1, starts=1, n_times=6, n_rows=24, n_columns=36, max_iter=3)
TASKS = list(PLAN.tasks())


@pytest.fixture(scope="module")
def records():
    return {task: measure(task, PLAN.protocol) for task in TASKS[:2]}


@pytest.fixture
def store(tmp_path, records):
    store = Store(tmp_path / "out", PLAN.protocol)
    for task, record in records.items():
        store.add(task, record)
    return store


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def path_of(store, task):
    return store.folder / "records" / task.path


def test_records_come_back(store, records):
    again = Store(store.folder, PLAN.protocol).read()
    assert set(again) == set(records)
    for task in records:
        assert again[task]["fit"]["objective"] == records[task]["fit"]["objective"]


def test_a_record_is_written_once_and_for_good(store, records):
    before = content(store.folder)
    other = {**records[TASKS[0]], "weak_patterns": 0.5}
    store.add(TASKS[0], other)
    assert content(store.folder) == before


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"starts": 2}, {"n_times": 7}, {"max_iter": 4}, {"tol": 1e-3}]
)
def test_other_settings_are_refused_by_name(store, change):
    before = content(store.folder)
    other = Plan(**{**vars(PLAN), **change})
    with pytest.raises(ValueError, match=rf"{next(iter(change))} .* there, .* now") as refusal:
        Store(store.folder, other.protocol)
    assert str(store.folder / "protocol.json") in str(refusal.value)
    assert content(store.folder) == before


def test_another_version_is_refused(store, monkeypatch):
    monkeypatch.setattr("tparafac2.experiments.plan.__version__", "99.0")
    with pytest.raises(ValueError, match=r"version .* there, 99\.0 now"):
        Store(store.folder, PLAN.protocol)


def test_more_data_sets_or_cases_go_on_in_the_same_folder(store, records):
    grown = Plan(**{**vars(PLAN), "cases": ("easy", "overlapping"), "datasets": 3})
    assert set(Store(store.folder, grown.protocol).read()) == set(records)


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ValueError, match="not empty"):
        Store(tmp_path, PLAN.protocol)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        Store(tmp_path / "out", PLAN.protocol)


@pytest.mark.parametrize("text", ["", "{}", '{"content": "tparafac2 experiments", "format": 1', "[]"])
def test_a_damaged_protocol_is_named(store, text):
    note = store.folder / "protocol.json"
    note.write_text(text)
    with pytest.raises(ValueError, match=r"protocol\.json cannot be used"):
        Store(store.folder, PLAN.protocol)
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
            Store(store.folder, PLAN.protocol)
    finally:
        folder.chmod(0o700)


def test_a_folder_that_cannot_be_written_to_is_refused_before_any_work(store, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    with pytest.raises(PermissionError, match="records"):
        Store(store.folder, PLAN.protocol)


def test_what_a_killed_process_left_is_swept_away_in_time(store, records):
    folder = path_of(store, TASKS[0]).parent
    old, young = (folder / f".{name}{UNFINISHED}.json" for name in ("old", "young"))
    for path in (old, young):
        path.write_text('{"half": ')
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    again = Store(store.folder, PLAN.protocol)
    assert not old.exists()
    assert young.exists()
    assert set(again.read()) == set(records)


def test_settings_of_which_nothing_came_may_be_corrected(tmp_path):
    Store(tmp_path / "out", PLAN.protocol)
    other = Plan(**{**vars(PLAN), "starts": 2}).protocol
    store = Store(tmp_path / "out", other)
    assert '"starts": 2' in (store.folder / "protocol.json").read_text()


def test_a_damaged_log_of_calls_is_named_before_any_work(store):
    for text in ('[{"command"', "{}x", '[{"a": 1}]'):
        (store.folder / "calls.json").write_text(text)
        with pytest.raises(ValueError, match=r"calls\.json cannot be read"):
            Store(store.folder, PLAN.protocol)


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
            if not frame.f_code.co_filename.endswith(("experiments/store.py", "tparafac2/files.py")):
                return None
            if event == "line" and next(lines, None) == 0:
                sys.settrace(None)
                Store(folder, PLAN.protocol)
            return step

        before = sys.gettrace()
        sys.settrace(step)
        try:
            Store(folder, PLAN.protocol)
        finally:
            sys.settrace(before)
        opened_meanwhile += next(lines, None) is None
        assert not [path for path in folder.rglob("*") if UNFINISHED in path.name or "writable" in path.name]
    assert opened_meanwhile > 30
