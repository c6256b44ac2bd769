"""What people expect of any page: files of tables and charts, screen readers, paper, any screen."""

import csv
from xml.etree import ElementTree

import numpy as np
import pytest
from explored import HOSTILE, WORDS, fit, rich, slide

from tparafac2.data import Labels
from tparafac2.report import explore

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "saved").mkdir()
    return tmp_path / "saved"


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_tables_are_saved_as_csv_with_labels_that_run_nothing(show, folder):
    labels = Labels(columns=["=1+1", 'a "b", c', HOSTILE, *WORDS[3:]], time=list("abcdef"))
    page = show(fit(labels=labels))
    slide(page, 0)
    pattern = rows_of(page.saved("#bars + .take button", folder))
    assert len(pattern) == 61
    assert pattern[1][0] == "'=1+1"
    assert float(pattern[1][3]) == pytest.approx(1.0, abs=0.01)
    assert {'a "b", c', HOSTILE} < {line[0] for line in pattern}
    strengths = rows_of(page.saved("#strengths + .take button", folder))
    assert [line[0] for line in strengths] == ["time", *"abcdef"]
    numbers = np.array([[float(one) for one in line[1:]] for line in strengths[1:]])
    assert np.allclose(numbers, fit().normalised().C, rtol=1e-6)
    loadings = rows_of(page.saved("#row-bars + .take button", folder))
    assert loadings[0] == ["rows", "Component 1", "Component 2"]
    rises = rows_of(page.saved("#risers-scroll + .take button", folder))
    assert rises[1][-1] == "a \u2013 b"
    assert page.complaints() == []


def test_charts_are_saved_as_pictures_that_stand_alone(show, folder):
    page = show()
    svg = page.saved("#courses + .take button:nth-child(2)", folder)
    picture = ElementTree.parse(svg).getroot()
    assert not [one for one in picture.iter() if one.get("class") or one.get("style")]
    assert "var(" not in svg.read_text()
    texts = [one.text for one in picture.iter() if one.tag.endswith("text")]
    assert set(page.texts("#courses-legend .name")) <= set(texts)
    assert page.complaints() == []


TAKEN = """(async () => {
  const taken = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { taken.push(blob); return make(blob); };
  HTMLAnchorElement.prototype.click = () => {};  // a browser saves no more than ten files at once
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const buttons = [...document.querySelectorAll(".take button")].filter((one) => one.checkVisibility());
  buttons.forEach((one) => one.click());
  const whole = { "text/csv;charset=utf-8": (text) => text.trim().split("\\r\\n").length > 1,
    "image/svg+xml": (text) =>
      !new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") };
  const bad = [];
  for (const one of taken) if (!whole[one.type](await one.text())) bad.push(await one.text());
  return { count: taken.length, buttons: buttons.length, bad };
})()"""


def test_every_chart_and_every_table_can_be_saved(show):
    result = rich()
    noise = np.random.default_rng(0).normal(size=(6, 20, 60))
    page = show(result, data=np.asarray(result.reconstruct()) + noise)
    page.click("#row-bars button")
    found = page.run(TAKEN)
    assert found["bad"] == []
    assert found["count"] == found["buttons"] > 30
    without = (
        "[...document.querySelectorAll('table, .chart')].filter((one) => one.checkVisibility() && "
        "![one, one.closest('.scroll')].some((box) => box?.nextElementSibling?.matches('.take')))"
        ".map((one) => one.id)"
    )
    assert page.run(without) == []
    assert page.complaints() == []


def test_everything_that_can_be_pressed_has_a_name_and_ids_are_unique(show):
    page = show(fit(labels=Labels(columns=[""] * 60)))
    nameless = (
        "[...document.querySelectorAll('button, input, select, a, [role=img]')].filter((one) => !("
        "one.getAttribute('aria-label') || one.textContent.trim() || (one.labels && one.labels.length)))"
        ".map((one) => one.outerHTML)"
    )
    assert page.run(nameless) == []
    ids = page.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    heads = page.run("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
    assert max(np.diff(heads)) == 1  # no level is left out


CONTRASTS = """(() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const digits = style.getPropertyValue(`--${name}`).trim().slice(1).match(/../g);
    const [r, g, b] = digits.map((two) => parseInt(two, 16) / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const words = ["ink", "quiet", "accent", "good", "warning"].flatMap((one) =>
    ["paper", "panel"].map((ground) => contrast(one, ground)));
  const lines = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => contrast(`c${n}`, "paper"));
  return { words: Math.min(...words), lines: Math.min(...lines) };
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_words_and_lines_stand_out(show, dark):
    found = show(looks={"dark": dark}).run(CONTRASTS)
    assert found["words"] >= 4.5
    assert found["lines"] >= 3.0


def test_it_prints_on_a_few_pages_without_controls(show):
    page = show()
    assert 2 <= page.pages() <= 6
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.getElementById('controls')).display") == "none"


def test_paper_is_white_and_charts_are_drawn_to_its_width(show):
    page = show(looks={"dark": True, "width": 1280})
    width = "document.querySelector('#strengths svg').viewBox.baseVal.width"
    on_screen = page.run(width)
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert 800 < page.run(width) < 1000 < on_screen
    page.call("Emulation.setEmulatedMedia", media="print", features=[])
    found = page.run(CONTRASTS)
    assert (
        page.run("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") == "#ffffff"
    )
    assert found["words"] >= 4.5
    assert found["lines"] >= 3.0
    page.call("Emulation.setEmulatedMedia", media="")
    page.run("dispatchEvent(new Event('afterprint'))")
    page.until(f"{width} === {on_screen}")


def test_a_phone_shows_when_things_moved_without_scrolling(show):
    result = rich()
    page = show(result, {"width": 360, "height": 740, "touch": True})
    ends = (
        "[...document.querySelectorAll('#risers td.when .link')]"
        ".map((one) => one.getBoundingClientRect().right)"
    )
    assert 0 < max(page.run(ends)) <= 360
    assert "band of the change" in page.texts("#risers th")  # in the file, as before


@pytest.mark.parametrize("width", [360, 1920])
def test_it_is_legible_on_a_phone_and_on_a_wall(show, width):
    page = show(looks={"width": width, "height": 800})
    assert page.run("document.documentElement.scrollWidth") <= width
    smallest = (
        "Math.min(...[...document.querySelectorAll('p, td, th, button, text, label')]"
        ".filter((one) => one.textContent.trim() && one.getClientRects().length)"
        ".map((one) => parseFloat(getComputedStyle(one).fontSize)))"
    )
    assert page.run(smallest) >= 11.5


def test_it_works_inside_a_notebook(tab, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title>{explore(fit(), height=500)._repr_html_()}")
    page = tab(path)
    # The frame is a stranger to the notebook, so that the browser keeps it in a process of its own.
    frames = page.browser.call("Target.getTargets", filter=[{"type": "iframe"}])["targetInfos"]
    (frame,) = [one["targetId"] for one in frames if one["url"] == "about:srcdoc"]
    session = page.browser.call("Target.attachToTarget", targetId=frame, flatten=True)["sessionId"]

    def inside(script):
        found = page.browser.call("Runtime.evaluate", session, expression=script, awaitPromise=True)
        return found["result"].get("value")

    inside("new Promise((done) => setTimeout(done, 300))")
    assert inside("document.documentElement.dataset.ready") == "yes"
    inside("document.querySelector('#components label:nth-of-type(2) input').click()")
    inside("document.querySelector('nav a').click()")
    assert inside("document.getElementById('bars-head').textContent").endswith("component 2")
    assert page.complaints() == []


KIND = {"kind": np.array(["a", "b", "a"], dtype=object)}


def two_times():
    return {"B": fit().B[[0, 5]], "C": fit().C[[0, 5]], "labels": Labels(time=[1, 9], attributes=KIND)}


def one_component():
    alone = {"A": fit().A[:, :1], "B": fit().B[:, :, :1], "C": fit().C[:, :1]}
    return alone | {"labels": Labels(attributes=KIND)}


def nothing_at_one_time():
    coverage, undetermined = np.ones((6, 60)), np.zeros((6, 2), dtype=bool)
    coverage[3], undetermined[3] = 0.0, True
    labels = Labels(time=list(range(6)), attributes=KIND)
    return {"coverage": coverage, "undetermined": undetermined, "observed_share": 5 / 6, "labels": labels}


@pytest.mark.parametrize(
    "changes",
    [
        one_component(),
        two_times(),
        nothing_at_one_time(),
    ],
    ids=["one component", "two times", "all missing at one time"],
)
def test_small_and_gappy_fits_are_told_too(show, changes, folder):
    page = show(fit(**changes))
    page.click("#keep")
    page.click("#cards .link")
    page.saved("#courses + .take button:nth-child(2)", folder)
    page.saved("#stream + .take button:nth-child(2)", folder)
    assert len(page.texts("#stream-legend .chip")) > 0
    assert page.texts("#group-legend .number") == ["2", "1"]
    assert page.complaints() == []
    assert "NaN" not in page.run("document.body.innerHTML.replace(/<script.*<.script>/gs, '')")
    assert "undefined" not in page.run("document.body.innerText")
