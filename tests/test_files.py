import os
import threading

import pytest

from tparafac2.files import UNFINISHED, written_whole


def write_first(target, text):
    with written_whole(target, keep=True) as unfinished:
        unfinished.write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_appears_at_one_stroke(tmp_path):
    target = tmp_path / "a.txt"
    with written_whole(target) as unfinished:
        unfinished.write_text("half")
        assert not target.exists()
        assert UNFINISHED in unfinished.name
        assert unfinished.suffix == ".txt"
    assert target.read_text() == "half"
    assert names(tmp_path) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(FileNotFoundError), written_whole(target) as unfinished:
        (unfinished.parent / "missing" / "file").write_text("new")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_kept_files_are_never_replaced(tmp_path):
    target = tmp_path / "a.txt"
    write_first(target, "first")
    with pytest.raises(FileExistsError):
        write_first(target, "second")
    assert target.read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


def test_without_links_kept_files_are_still_kept(tmp_path, monkeypatch):
    def no_links(*arguments):
        raise PermissionError("no links on this file system")

    monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "a.txt"
    write_first(target, "first")
    with pytest.raises(FileExistsError):
        write_first(target, "second")
    assert target.read_text() == "first"


def test_of_many_writers_exactly_one_wins(tmp_path):
    target, won = tmp_path / "a.txt", []
    gate = threading.Barrier(8)

    def write(number):
        try:
            with written_whole(target, keep=True) as unfinished:
                unfinished.write_text(str(number))
                gate.wait()
            won.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [target.read_text()] == [str(number) for number in won]
    assert names(tmp_path) == ["a.txt"]
