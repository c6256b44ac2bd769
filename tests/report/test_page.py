import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser

import numpy as np
import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.report import write_page

HOSTILE = "</script><img src=x onerror=alert(1)>&{{DATA}}"


def make(**changes):
    plain = {"model": "CP", "A": np.ones((2, 1)), "B": np.ones((3, 4, 1)), "C": np.ones((3, 1))}
    return hand_made(**(plain | changes))


class Reader(HTMLParser):
    """Collects elements with their attributes, and the text of each."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts, self.inside = [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.found.append((tag, attributes))
        self.inside = attributes.get("id", tag)

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, text):
        self.texts[self.inside] = self.texts.get(self.inside, "") + text


def attributes_of(page, tag):
    return [attributes for name, attributes in page.found if name == tag]


def test_a_fitted_model_and_its_result_give_the_same_page(tmp_path, small_data):
    model = tp.CP(rank=2, n_starts=2, max_iter=20, random_state=0)
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(small_data.X)
    first = write_page(model, tmp_path / "model.html", title="Mine")
    second = write_page(model.result_, str(tmp_path / "result.html"), title="Mine")
    assert first == tmp_path / "model.html"
    assert first.read_bytes() == second.read_bytes()
    assert "CP(rank=2, n_starts=2, init='uniform', max_iter=20, tol=1e-08" in first.read_text()


def test_the_page_needs_nothing_from_elsewhere(tmp_path):
    text = write_page(make(), tmp_path / "page.html").read_text()
    page = Reader(text)
    addresses = [one[name] for _, one in page.found for name in ("src", "href") if name in one]
    assert [one for one in addresses if not one.startswith(("#", "data:"))] == []
    assert set(re.findall(r"https?://[\w./]+", text)) == {
        "http://www.w3.org/2000/svg"
    }  # a name, not an address
    assert "{{" not in text


def test_the_policy_allows_this_style_and_script_only(tmp_path):
    page = Reader(write_page(make(), tmp_path / "page.html").read_text())
    policy = attributes_of(page, "meta")[1]["content"]
    fingerprints = {
        tag: b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()
        for tag in ("style", "script")
    }
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{fingerprints['style']}'; "
        f"script-src 'sha256-{fingerprints['script']}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_hostile_text_opens_no_element(tmp_path):
    names = {"rows": HOSTILE, "columns": "c" + HOSTILE, "time": "t" + HOSTILE}
    labels = Labels(rows=[HOSTILE] * 2, columns=[HOSTILE] * 4, time=[HOSTILE] * 3, names=names)
    harmless = Reader(write_page(make(), tmp_path / "a.html").read_text())
    result = make(labels=labels, status=HOSTILE, model=HOSTILE, converged=False)
    hostile = Reader(
        write_page(result, tmp_path / "b.html", title=HOSTILE, about={HOSTILE: HOSTILE}).read_text()
    )
    assert hostile.found == harmless.found
    assert hostile.texts["title"].startswith(HOSTILE)


@pytest.mark.parametrize("title", ["na\u00efve \u65e5\u672c \U0001f600", "half a pair \ud83d", "\x00 \u2028"])
def test_any_title_can_be_written(tmp_path, title):
    text = write_page(make(), tmp_path / "page.html", title=title, about={title: title}).read_bytes()
    assert text.isascii()


def test_an_older_page_is_replaced_and_survives_a_failure(tmp_path):
    path = write_page(make(), tmp_path / "page.html", title="old")
    write_page(make(), path, title="new")
    assert "<title>new</title>" in path.read_text()
    with pytest.raises(TypeError):
        write_page(make(), path, about=3)
    assert "<title>new</title>" in path.read_text()
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("page.pdf", "ending in .html"), ("none/page.html", "no folder"), ("folder.html", "is a folder")],
)
def test_a_path_that_cannot_be_written_is_refused(tmp_path, path, sentence):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match=sentence):
        write_page(make(), tmp_path / path)


def test_what_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(tp.NotFittedError, match="not fitted"):
        write_page(tp.CP(rank=2), tmp_path / "page.html")
    with pytest.raises(TypeError, match="is needed, not list"):
        write_page([], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_parameters_of_another_version_do_not_stop_the_page(tmp_path):
    result = make(parameters={"rank": 1, "unheard_of": 3})
    assert "CP(rank=1, unheard_of=3)" in write_page(result, tmp_path / "page.html").read_text()
