"""The check of the built site finds what is broken, and only that."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "docs" / "check_site.py"
SPEC = importlib.util.spec_from_file_location("check_site", SOURCE)
check_site = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_site)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "style.css").write_text("p { background: url(paper.png) }")
    (tmp_path / "sub" / "other.html").write_text('<p id="here &amp; there">Hello</p>')
    return tmp_path


def faults(site, body):
    (site / "index.html").write_text(f'<!doctype html><h1 id="top">Title</h1>{body}')
    return list(check_site.complaints(site))


@pytest.mark.parametrize(
    "body",
    [
        '<link rel="stylesheet" href="style.css?v=1">',
        '<a href="https://example.org/">elsewhere</a> <a href="mailto:ann@example.org">mail</a>',
        '<a href="#top">up</a> <a href="sub/other.html#here%20%26%20there">there</a> <a href="#">nowhere</a>',
        '<img src="data:image/png;base64,AAAA"> <svg><use href="#top"></use></svg>',
        "<pre>&lt;script src='https://example.org/x.js'&gt;</pre>",
    ],
)
def test_a_sound_site_has_no_faults(site, body):
    assert faults(site, body) == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('<script src="https://example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from elsewhere"),
        ('<img src="http://example.org/x.png">', "from elsewhere"),
        ('<img srcset="https://example.org/x.png 2x">', "from elsewhere"),
        ('<p style="background: url(https://example.org/x.png)">', "from elsewhere"),
        ("<style>@import 'https://example.org/x.css';</style>", "from elsewhere"),
        ('<img src="no.png">', "which is not there"),
        ('<a href="sub/no.html">', "which is not there"),
        ('<a href="#bottom">', "has no place of this name"),
        ('<a href="sub/other.html#elsewhere">', "has no place of this name"),
    ],
)
def test_a_fault_is_found(site, body, sentence):
    assert [sentence in fault and fault.startswith("index.html ") for fault in faults(site, body)] == [True]


def test_style_sheets_are_read_too(site):
    (site / "style.css").write_text('@font-face { src: url("https://example.org/f.woff2") }')
    assert faults(site, "") == ["style.css loads 'https://example.org/f.woff2' from elsewhere."]


def test_an_empty_folder_is_no_site(tmp_path):
    assert list(check_site.complaints(tmp_path)) == [
        f"there is no page in '{tmp_path}': build the site first."
    ]


def test_the_exit_code_tells(site, capsys):
    faults(site, "")
    check_site.main([str(site)])
    assert "all of its links lead somewhere" in capsys.readouterr().out
    faults(site, '<a href="#bottom">')
    with pytest.raises(SystemExit, match="1 fault"):
        check_site.main([str(site)])
    with pytest.raises(SystemExit, match="which folder"):
        check_site.main([])
