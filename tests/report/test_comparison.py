"""The page of a comparison as a file, and what is refused."""

import re

import pandas as pd
import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.report import explore_comparison, write_comparison

HOSTILE = "<img src=x onerror=window.hit=1></script>"


def ranks(*numbers):
    return {f"rank {R}": hand_made(R=R) for R in numbers}


def test_nothing_that_was_given_ends_its_place(tmp_path):
    models = {HOSTILE: hand_made(), "b": hand_made()}
    path = write_comparison(models, tmp_path / "page.html", title=HOSTILE, about={HOSTILE: HOSTILE})
    text = path.read_text(encoding="ascii")
    assert HOSTILE not in text
    assert text.count("<script") == 2
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[\w./]+", text)) == {"http://www.w3.org/2000/svg"}


def test_only_models_with_a_line_in_the_table_are_shown(tmp_path):
    table = pd.DataFrame({"model": ["rank 2"], "explained_variance": [0.5]})
    text = write_comparison(ranks(1, 2), tmp_path / "page.html", table=table).read_text()
    assert '"label":"rank 2"' in text
    assert '"label":"rank 1"' not in text


def test_a_notebook_shows_what_a_file_has(tmp_path):
    view = explore_comparison(ranks(1, 2), height=300)
    assert view.text == write_comparison(ranks(1, 2), tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match="height"):
        explore_comparison(ranks(1, 2), height=3)


@pytest.mark.parametrize(
    ("models", "options", "error", "said"),
    [
        ([hand_made()], {}, TypeError, "must be a mapping of labels to fitted models; got list"),
        ({}, {}, ValueError, "has no model to show"),
        ({"a": 3}, {}, TypeError, "a fitted model or its result_ is needed, not int"),
        ({"a": tp.CP(2)}, {}, tp.NotFittedError, "not fitted"),
        ({"a": hand_made(), "b": hand_made(I=5)}, {}, ValueError, "must be of the same data"),
        ({"a": hand_made()}, {"table": {"model": 3}}, ValueError, "must be what compare_models gives back"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_written(tmp_path, models, options, error, said):
    with pytest.raises(error, match=said):
        write_comparison(models, tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_the_path_is_one_for_a_page(tmp_path):
    with pytest.raises(ValueError, match=r"ending in \.html"):
        write_comparison(ranks(1), tmp_path / "page.txt")
