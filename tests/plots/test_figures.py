"""Figures show themselves where the user expects it, and are saved whole."""

import os
import sys
from types import SimpleNamespace

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import tparafac2 as tp
from tparafac2.plots import save
from tparafac2.plots.figures import figure_for_the_user, off_screen


@pytest.fixture
def without_pyplot(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")


@pytest.fixture(scope="module")
def model(small_data):
    return tp.CP(rank=1, n_starts=1, random_state=0).fit(small_data.X)


def test_pyplot_knows_of_figures_if_the_user_has_loaded_it(model):
    drawn = [tp.plots.strengths(model).figure, tp.plots.pattern(model).figure, tp.plots.overview(model)]
    assert [pyplot.figure(number) for number in pyplot.get_fignums()] == drawn


def test_axes_of_the_user_open_no_figure(model):
    tp.plots.strengths(model, ax=Figure().add_subplot())
    assert pyplot.get_fignums() == []


def test_files_open_no_figure(model, tmp_path):
    with off_screen():
        tp.plots.strengths(model)
    tp.io.write_results(model, tmp_path / "out")
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize(
    ("shell", "shown"),
    [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel="a notebook"), True)],
)
def test_a_notebook_shows_figures_without_being_told(without_pyplot, monkeypatch, shell, shown):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert hasattr(figure_for_the_user(8, 5), "number") == shown


@pytest.mark.slow
def test_every_cell_of_a_notebook_shows_its_picture(tmp_path):
    """In a real kernel: the first picture loads pyplot, and the second is shown as well."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    make = (
        "import numpy as np, tparafac2 as tp\n"
        "from tparafac2.result import Result\n"
        "r = Result(model='M', A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)), objective=0.0,\n"
        "           explained_variance=1.0, status='', converged=True, n_iter=1)\n"
    )
    cells = [make, "tp.plots.strengths(r);", "tp.plots.pattern(r);", "tp.plots.overview(r);"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [["image/png" in output.get("data", {}) for output in cell.outputs] for cell in notebook.cells]
    assert shown == [[], [True], [True], [True]]


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
