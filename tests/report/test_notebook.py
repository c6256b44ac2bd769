"""The page inside a notebook."""

import re
from html import unescape

import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.report import explore, write_page


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
