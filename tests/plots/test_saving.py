"""Pictures on disk."""

import os

import pytest
from matplotlib.figure import Figure

from tparafac2.plots import save


@pytest.fixture
def ax():
    ax = Figure(figsize=(2, 1)).add_subplot()
    ax.set_title("A title & <more>")
    ax.pcolormesh([[1, 2], [3, 4]], rasterized=True)
    return ax


BEGINNINGS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_the_ending_chooses_the_format_and_bytes_repeat(tmp_path, ax, ending):
    path = save(ax.figure, tmp_path / f"picture.{ending}")
    first = path.read_bytes()
    assert first.startswith(BEGINNINGS[ending])
    assert save(ax.figure, path).read_bytes() == first
    assert os.listdir(tmp_path) == [f"picture.{ending}"]


def test_large_letters_and_plain_text_will_do(tmp_path, ax):
    assert save(ax, str(tmp_path / "PICTURE.PNG")).read_bytes().startswith(b"\x89PNG")


def test_axes_are_saved_with_their_whole_figure(tmp_path, ax):
    whole = save(ax.figure, tmp_path / "a.png").read_bytes()
    assert save(ax, tmp_path / "b.png").read_bytes() == whole


def test_axes_in_a_part_of_a_figure(tmp_path):
    figure = Figure()
    part = figure.subfigures(2, 1)[1]
    inner = part.add_subplot()
    whole = save(figure, tmp_path / "a.png").read_bytes()
    assert save(inner, tmp_path / "b.png").read_bytes() == whole
    assert save(part, tmp_path / "c.png").read_bytes() == whole


def test_text_stays_text(tmp_path, ax):
    svg = save(ax, tmp_path / "a.svg").read_text()
    assert "A title &amp; &lt;more&gt;" in svg


def test_resolution_is_200_dots_per_inch(tmp_path, ax):
    assert int.from_bytes(save(ax, tmp_path / "a.png").read_bytes()[16:20], "big") == 400


def test_a_failure_leaves_the_old_file_and_no_rubbish(tmp_path, ax, monkeypatch):
    target = tmp_path / "a.png"
    target.write_bytes(b"old")

    def fail(path, **_):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(ax.figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(ax, target)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.png", b"old")]


@pytest.mark.parametrize("name", ["picture", "picture.jpg", ".png", "picture.pdf.gz"])
def test_other_endings_are_refused(tmp_path, ax, name):
    with pytest.raises(ValueError, match=r"must end in one of \.png, \.pdf, \.svg; got"):
        save(ax, tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_refused(tmp_path, ax):
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere.* to save 'a\.png' in"):
        save(ax, tmp_path / "nowhere" / "a.png")


@pytest.mark.parametrize("thing", [None, "figure", 3])
def test_other_things_are_refused(tmp_path, thing):
    with pytest.raises(TypeError, match="a matplotlib Figure or Axes is needed"):
        save(thing, tmp_path / "a.png")
