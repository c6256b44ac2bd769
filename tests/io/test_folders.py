"""A folder of results is the old or the new one, whole, whatever happens while one replaces the other."""

import os
import sys
import warnings

import pytest

from tparafac2.io.folders import check_folder, folder_written_whole, record, require_unchanged

OLD, NEW = {"model.npz": "old"}, {"loadings.csv": "new", "starts.csv": "new"}


def write(folder, content):
    for name, text in content.items():
        (folder / name).write_text(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name != "log.json"}


def make_old(folder):
    folder.parent.mkdir(exist_ok=True)
    with folder_written_whole(folder, {}) as unfinished:
        write(unfinished, OLD)


@pytest.fixture
def results(tmp_path):
    make_old(tmp_path / "results")
    return tmp_path / "results"


def replace(folder):
    with folder_written_whole(folder, {"about": "new"}, overwrite=True) as unfinished:
        write(unfinished, NEW)


class AtLine:
    """Do something at the n-th line that is run of the file under test."""

    def __init__(self, n, action):
        self.left, self.action = n, action

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.endswith("io/folders.py"):
            return None
        if event == "line":
            if self.left == 0:
                sys.settrace(None)
                self.action()
            self.left -= 1
        return self

    def run(self, work, folder):
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work(folder)
        finally:
            sys.settrace(before)
        return self.left < 0


def put_right(folder):
    """What the next run in this place does first."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_folder(folder, overwrite=True)
    return [str(one.message) for one in told]


def test_the_new_takes_the_place_of_the_old_and_leaves_nothing(results):
    replace(results)
    assert content(results) == NEW
    assert os.listdir(results.parent) == ["results"]


def test_what_is_put_there_while_the_new_is_written_is_not_lost(results):
    def slowly():
        with folder_written_whole(results, {}, overwrite=True) as unfinished:
            write(unfinished, NEW)
            write(results, {"mine.txt": "precious"})

    with pytest.raises(FileExistsError, match=r"mine\.txt"):
        slowly()
    assert content(results) == {**OLD, "mine.txt": "precious"}
    assert os.listdir(results.parent) == ["results"]


@pytest.mark.parametrize("log", ["[" * 100_000, "[]", "3", "{}", '{"files": 3}', '{"files": {}}', "\0", "é"])
def test_a_log_of_others_records_nothing(results, log):
    (results / "log.json").write_text(log, encoding="latin-1")
    with pytest.raises(FileExistsError, match=r"holds 'log\.json'"):
        check_folder(results, overwrite=True)


@pytest.mark.parametrize(
    "about", [{"é": float("nan"), "n": [1e-310, 10**30]}, {"x": "\ud83d\ude00\ud800"}, {1: (2,)}]
)
def test_whatever_is_in_a_log_it_is_known_again(tmp_path, about):
    for _ in range(2):
        with folder_written_whole(tmp_path / "out", about, overwrite=True) as unfinished:
            write(unfinished, NEW)


def test_a_file_that_is_written_anew_is_recorded(results):
    write(results, {"model.npz": "newer"})
    with pytest.raises(FileExistsError, match=r"'model\.npz', which was changed"):
        require_unchanged(results / "model.npz")
    record(results / "model.npz")
    require_unchanged(results / "model.npz")
    record(results / "log.json")  # as nobody would
    replace(results)


def test_a_file_that_was_never_recorded_is_not_recorded_later(results):
    write(results, {"mine.txt": "precious"})
    record(results / "mine.txt")
    with pytest.raises(FileExistsError, match=r"'mine\.txt', which tparafac2 has no record of"):
        replace(results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_kill_at_any_moment_loses_nothing(tmp_path):
    outcomes = []
    for line in range(1000):
        folder = tmp_path / str(line) / "results"
        make_old(folder)
        child = os.fork()
        if child == 0:
            AtLine(line, lambda: os._exit(9)).run(replace, folder)
            os._exit(0)
        killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        in_place = folder.exists()
        told = put_right(folder)
        assert (told == []) == in_place
        assert content(folder) in (OLD, NEW)
        outcomes.append((in_place, content(folder) == NEW))
        if not killed:
            break
    assert not killed
    assert outcomes[0] == (True, False)
    assert outcomes[-1] == (True, True)
    assert (False, True) in outcomes, "between the two steps there is no folder"


def test_an_interruption_at_any_moment_loses_nothing(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    for line in range(1000):
        folder = tmp_path / str(line) / "results"
        make_old(folder)
        at_line = AtLine(line, interrupt)
        try:
            at_line.run(replace, folder)
        except KeyboardInterrupt:
            put_right(folder)
            assert content(folder) in (OLD, NEW)
        else:
            break
    assert line > 10
    assert content(folder) == NEW


def test_what_was_killed_elsewhere_is_left_alone(tmp_path, results):
    other = tmp_path / ".unfinished-x"
    (other / "new").mkdir(parents=True)
    (other / "old" / "others").mkdir(parents=True)
    assert put_right(tmp_path / "mine") == []
    assert not (tmp_path / "mine").exists()
    assert (other / "old" / "others").exists()


def test_after_a_kill_the_results_are_not_replaced_unasked(tmp_path):
    place = tmp_path / ".unfinished-x"
    (place / "new").mkdir(parents=True)
    write(place / "new", NEW)
    (place / "old" / "results").mkdir(parents=True)
    with (
        pytest.warns(UserWarning, match="killed while it replaced .*results"),
        pytest.raises(FileExistsError, match="exists"),
    ):
        check_folder(tmp_path / "results", overwrite=False)
    assert content(tmp_path / "results") == NEW
