import threading

import pytest

from tparafac2.files import UNFINISHED, written_whole


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


def test_of_many_writers_the_file_of_one_is_there_whole(tmp_path):
    target, gate = tmp_path / "a.txt", threading.Barrier(8)

    def write(number):
        with written_whole(target) as unfinished:
            unfinished.write_text(str(number) * 1000)
            gate.wait()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_text() in [str(number) * 1000 for number in range(8)]
    assert names(tmp_path) == ["a.txt"]
