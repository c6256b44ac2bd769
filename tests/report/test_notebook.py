"""The page inside a notebook."""

import re
from html import unescape

import nbclient
import nbformat
import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.report import explore, write_page

CELL = """
import numpy as np
import tparafac2 as tp
X = np.random.default_rng(0).random((4, 6, 5))
model = tp.CP(rank=2, n_starts=1, random_state=0).fit(X)
model.explore(title="Shown in a notebook", height=400, data=X)
"""


def test_a_notebook_shows_the_page_that_a_file_has(tmp_path):
    view = explore(hand_made(), title='a "b" <c>')
    inside = re.search(r'srcdoc="([^"]*)"', view._repr_html_())[1]
    path = write_page(hand_made(), tmp_path / "page.html", title='a "b" <c>')
    assert unescape(inside) == path.read_text()
    assert "height: 800px" in view._repr_html_()


def test_the_page_stays_a_stranger_to_the_notebook():
    allowed = re.search(r'sandbox="([^"]*)"', explore(hand_made())._repr_html_())[1].split()
    assert "allow-same-origin" not in allowed


@pytest.mark.parametrize("height", [0, 199, 3.5, True, "tall"])
def test_a_frame_has_a_height(height):
    with pytest.raises(ValueError, match="height must be a whole number of pixels, at least 200"):
        explore(hand_made(), height=height)


def test_what_is_not_fitted_cannot_be_explored():
    with pytest.raises(tp.NotFittedError):
        explore(tp.CP(rank=2))
    with pytest.raises(tp.NotFittedError):
        tp.CP(rank=2).explore()


def test_a_model_shows_its_page_itself(small_data):
    model = tp.CP(rank=1, n_starts=1, random_state=0).fit(small_data.X)
    own = model.explore(title="Mine", height=300, data=small_data.X)
    assert own == explore(model, title="Mine", height=300, data=small_data.X)
    assert own != model.explore(title="Mine", height=300)


@pytest.mark.slow
def test_a_real_notebook_shows_the_page_of_a_model():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    [output] = notebook.cells[0].outputs
    shown = output["data"]["text/html"]
    assert shown.startswith("<iframe sandbox=")
    assert "Shown in a notebook" in unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert output["data"]["text/plain"] == "PageView(height=400)"
