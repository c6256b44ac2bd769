"""A folder of results is the old or the new one, whole, whatever happens while one replaces the other."""

import os
import sys
import warnings

import pytest

from tparafac2.io.folders import check_folder, folder_written_whole

OLD, NEW = {"model.nc": "old"}, {"log.json": "new", "starts.csv": "new"}


def write(folder, content):
    for name, text in content.items():
        (folder / name).write_text(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    write(folder, OLD)
    return folder


def replace(folder):
    with folder_written_whole(folder) as unfinished:
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_kill_at_any_moment_loses_nothing(tmp_path):
    outcomes = []
    for line in range(1000):
        folder = tmp_path / str(line) / "results"
        folder.mkdir(parents=True)
        write(folder, OLD)
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
        folder.mkdir(parents=True)
        write(folder, OLD)
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
