"""Figures show themselves where the user expects it, and nowhere else."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import tparafac2 as tp
from tparafac2.plots.showing import figure_for_the_user, off_screen

pytestmark = pytest.mark.slow


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


def test_elsewhere_pyplot_is_not_touched():
    code = (
        "import sys; from tparafac2.plots.showing import canvas\n"
        "with canvas(None, 8, 5) as ax: ax.plot([1, 2])\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


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
