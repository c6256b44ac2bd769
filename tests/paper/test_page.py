from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from page import Code, Heading, Picture, Table, Text, to_html, to_markdown

PAGE = [
    Heading(1, "Scores & more"),
    Text("All of it."),
    Code("tparafac2 paper"),
    Table(("method", "score"), (("a|b", "0.9"), ("c", "0.8"))),
    Picture("dot.png", "A dot"),
]


class Reader(HTMLParser):
    """Collects tags and the texts inside them, and notices what is not closed."""

    def __init__(self):
        super().__init__()
        self.texts, self.tags, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append((self.open[-1] if self.open else "", text))


def read(page, folder):
    reader = Reader()
    reader.feed(to_html(page, folder))
    assert reader.open == []
    return reader


def test_markdown_has_every_block():
    text = to_markdown(PAGE)
    assert text.startswith(
        "# Scores & more\n\nAll of it.\n\n    tparafac2 paper\n\n| method | score |\n|---|---|\n"
    )
    assert "| a\\|b | 0.9 |" in text
    assert "![A dot](dot.png)" in text


def test_html_is_one_file_with_its_pictures(tmp_path):
    (tmp_path / "dot.png").write_bytes(b"not really a picture")
    reader = read(PAGE, tmp_path)
    [image] = [attributes for tag, attributes in reader.tags if tag == "img"]
    assert image["src"].startswith("data:image/png;base64,")
    assert image["alt"] == "A dot"
    assert [tag for tag, _ in reader.tags].count("td") == 4
    assert not any("http" in str(value) for _, attributes in reader.tags for value in attributes.values())


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1))
@example(text="\n")  # as the page's own white space
def test_texts_stay_texts(text):
    page = [Heading(1, "title"), Text(text), Table(("head",), ((text,),)), Code(text)]
    texts = read(page, None).texts
    assert [found for tag, found in texts if tag in ("p", "td", "pre")] == [text] * 3


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_nothing_gets_out_of_its_place(hostile, tmp_path):
    (tmp_path / "dot.png").write_bytes(b"x")
    page = [Heading(1, hostile), Text(hostile), Table((hostile,), ((hostile,),)), Picture("dot.png", hostile)]
    reader = read(page, tmp_path)
    assert "script" not in {tag for tag, _ in reader.tags}
    assert not any("onerror" in attributes for _, attributes in reader.tags)
