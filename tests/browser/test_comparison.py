"""Models side by side in a real browser: what is drawn, chosen, read out, saved and printed."""

import csv
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from explored import HOSTILE
from hand_made import hand_made

from tparafac2.data import Labels
from tparafac2.report import explore_comparison, write_comparison
from tparafac2.result import Trust

pytestmark = pytest.mark.slow

WORDS = [f"word {j}" for j in range(8)]


def result(*parts, **changes):
    """Components that are sums of unit rows, each with a word of its own that gives way to another."""
    R = len(parts)
    A = np.array([[float(i in part) for part in parts] for i in range(6)])
    B = np.full((3, len(WORDS), R), 0.01)
    for r, part in enumerate(parts):
        B[:2, part[0], r] = B[2, part[0] + 1, r] = 1.0
    labels = Labels(rows=list("abcdef"), columns=WORDS, time=[2001, 2002, 2003])
    plain = {"A": A, "B": B, "C": np.ones((3, R)) * np.arange(R + 1, 1, -1), "labels": labels}
    return hand_made(**(plain | changes))


def three():
    """A component that falls into two parts, one that stays, one that is new, and one that goes."""
    B = np.full((3, len(WORDS), 2), 0.01)
    B[:, 0, 0] = B[:, 4, 1] = 1.0
    wide = result([0, 1], [4], B=B)
    B = np.full((3, len(WORDS), 4), 0.01)
    B[:, 0, 0] = B[:, 0, 1] = B[:, 4, 2] = B[:, 6, 3] = 1.0
    trust = Trust(
        replicability=[0.95, 0.5, 0.97, 0.2],
        chance=[0.3, 0.2, 0.3, 0.2],
        verdict=["replicable", "there", "replicable", "not there"],
    )
    four = result([0], [1], [4], [5], B=B, trust=trust)
    return {"cp rank 2": wide, "cp rank 4": four, "cp rank 1": wide.rename({1: "Both"})}


TABLE = pd.DataFrame(
    {
        "model": ["cp rank 2", "cp rank 4", "cp rank 1"],
        "explained_variance": [0.5, 0.7, 0.4],
        "hidden_error": [0.6, 0.5, np.nan],
        "replicability": [0.9, 0.2, np.nan],
        "chance": [0.1, 0.2, np.nan],
        "agreement": [1.0, 0.8, np.nan],
        "same_objective": [1, 0, 1],
        "starts": [2, 2, 2],
    }
)


@pytest.fixture
def show(tab, tmp_path):
    """Write models side by side and open the page; nothing may go wrong with that."""

    def write_and_open(models=None, looks=None, **options):
        path = write_comparison(models or three(), tmp_path / "50% & #1.html", **({"table": TABLE} | options))
        page = tab(path, **(looks or {}))
        page.until("document.documentElement.dataset.ready || !document.getElementById('failure').hidden")
        assert page.complaints() == []
        assert page.run("document.documentElement.dataset.ready") == "yes"
        return page

    return write_and_open


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "saved").mkdir()
    return tmp_path / "saved"


def lines(page, table):
    return page.run(
        f"[...document.querySelectorAll('#{table} tbody tr')].map((line) => "
        "[...line.cells].map((cell) => cell.textContent))"
    )


def numbers(page, selector, attribute):
    return page.run(
        f"[...document.querySelectorAll('#flow {selector}')]"
        f".map((one) => Number(one.getAttribute('{attribute}')))"
    )


def test_what_was_measured_is_in_a_table_and_in_charts(show):
    page = show()
    found = lines(page, "measures")
    assert [line[0] for line in found] == ["rank 2", "rank 4", "rank 1"]
    assert found[1][1:4] == ["4", "0.7000", "0.5000"]
    assert found[2][3] == ""
    assert page.texts("#measures tr.chosen td:first-child") == ["rank 4"]
    assert page.texts("#errors-legend .chip") == ["not explained", "at hidden entries"]
    assert page.run("document.querySelectorAll('#agreement .line').length") == 3
    assert "Hidden entries are best predicted by rank 4 (error 0.5)." in page.texts("#sentences li")


def test_components_are_linked_with_their_matches_and_their_parts(show):
    page = show()
    assert page.run("document.querySelectorAll('#flow .node').length") == 8
    told = [[line[1], line[3], line[5]] for line in lines(page, "link-table") if line[0] == "rank 2"]
    parts = [line for line in told if line[0] == "component 1"]
    assert sorted(line[2] for line in parts) == ["also alike", "most alike"]
    assert {line[1] for line in parts} == {"component 1", "component 2"}
    assert ["component 2", "component 3", "the same"] in told
    assert ["", "component 4", "new"] in told
    assert max(numbers(page, ".tie", "stroke-width")) == pytest.approx(18, abs=0.1)
    assert page.run("document.querySelectorAll('#flow .tie.also').length") >= 1
    assert page.run("document.querySelectorAll('#flow .node.doubtful').length") == 1


def test_a_box_is_higher_the_stronger_and_says_what_sets_it_apart(show):
    page = show({"a": result([0], [3])}, table=None)
    heights = numbers(page, ".node > rect:not(.edge)", "height")
    assert heights[0] > heights[1]
    assert page.texts("#flow .node text:nth-of-type(2)")[0].startswith("word 0")


def test_a_component_is_chosen_by_mouse_and_by_keys_and_its_relatives_are_shown(show):
    page = show()
    page.click("#flow .node[aria-label^='rank 4: component 3']")
    assert page.text("#chosen-head") == "rank 4, component 3, and its relatives"
    page.press("Tab")
    page.press("Enter")
    assert page.text("#chosen-head") == "rank 4, component 4, and its relatives"
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.run("document.querySelectorAll('#cards > li[aria-current=\"true\"]').length") == 1
    page.click("#flow .node")
    assert page.text("#chosen-head") == "rank 2, component 1, and its relatives"
    first = page.texts("#cards > li")[0]
    assert "in parts: component 1 (0.71), component 2 (0.71)" in first
    assert any("Both" in one for one in page.texts("#cards > li"))
    opacity = "[...document.querySelectorAll('#flow .tie')].map((one) => getComputedStyle(one).opacity)"
    assert set(page.run(opacity)) == {"0.3", "0.85"}
    assert page.complaints() == []


def test_what_is_chosen_stands_in_the_address(show):
    page = show()
    page.click("#flow .node[aria-label^='rank 4: component 3']")
    assert page.run("location.hash") == "#chosen=2.3"
    page.run("location.hash = '#chosen=3.1'")
    page.until("document.getElementById('chosen-head').textContent.startsWith('rank 1, Both')")
    for wrong in ("#chosen=9.1", "#chosen=1.9", "#chosen=0.0", "#kin"):
        page.run(f"location.hash = '{wrong}'")
        assert page.text("#chosen-head").startswith("rank 1, Both")
    assert page.complaints() == []


def test_tables_and_the_flow_are_saved(show, folder):
    page = show()
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    with page.saved("#links .take button", folder).open(encoding="utf-8-sig", newline="") as file:
        head = next(csv.reader(file))
        assert head == ["model", "component", "next model", "component", "likeness", "relation"]
    with page.saved("#all .take button", folder).open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) == 9
    svg = page.saved("#flow-scroll + .take button:nth-child(1)", folder)
    picture = ElementTree.parse(svg).getroot()
    assert not [one for one in picture.iter() if one.get("class") or one.get("style")]
    assert "var(" not in svg.read_text()
    assert page.saved("#flow-scroll + .take button:nth-child(2)", folder).read_bytes()[1:4] == b"PNG"
    assert page.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_and_what_is_wider_scrolls_by_itself(show, dark):
    page = show(looks={"width": 360, "height": 740, "touch": True, "dark": dark})
    assert page.run("document.documentElement.scrollWidth") <= 360
    assert page.run("document.getElementById('flow-scroll').scrollWidth") > 360
    over = (
        "[...document.querySelectorAll('#flow .node')].filter((node) => { "
        "const box = node.querySelector('rect').getBoundingClientRect(); "
        "return [...node.querySelectorAll('text')].some((text) => "
        "text.getBoundingClientRect().right > box.right + 1); }).length"
    )
    assert page.run(over) == 0


def test_hostile_labels_are_text(show):
    labels = Labels(rows=[HOSTILE, *"bcdef"], columns=[HOSTILE, *WORDS[1:]], time=[HOSTILE, "b", "c"])
    named = result([0], labels=labels).rename({1: HOSTILE[:60]})
    models = {HOSTILE: result([0], [3], labels=labels), "b": named}
    page = show(models, table=None, title=HOSTILE, about={HOSTILE: HOSTILE})
    assert page.run("window.hit") is None
    assert page.text("#title") == HOSTILE


def test_everything_has_a_name_ids_are_unique_and_heads_have_no_gaps(show):
    page = show()
    nameless = (
        "[...document.querySelectorAll('button, a, [role=img], [role=button], [role=region], [role=group]')]"
        ".filter((one) => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || "
        "one.textContent.trim())).map((one) => one.outerHTML)"
    )
    assert page.run(nameless) == []
    ids = page.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    heads = page.run("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
    assert max(np.diff(heads)) == 1


@pytest.mark.parametrize(
    "models",
    [
        {"one": result([0])},
        {"one": result([0]), "other": result([5], B=np.eye(8)[None, :, 7:].repeat(3, 0))},
        {f"rank {R}": result(*([r % 5] for r in range(R))) for R in range(1, 13)},
        {"gone": hand_made(A=np.zeros((2, 2))), "there": hand_made()},
    ],
)
def test_few_unrelated_many_and_vanished_components(show, models):
    page = show(models, table=None)
    assert len(page.texts("#flow .node")) == sum(one.rank for one in models.values())


def test_it_prints_on_a_few_pages_and_stands_in_a_notebook(show, tab, tmp_path):
    assert show().pages() <= 3
    frame = explore_comparison(three(), table=TABLE)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>n</title>{frame}")
    page = tab(tmp_path / "notebook.html", width=800)
    page.until("document.querySelector('iframe').getBoundingClientRect().height > 700")
    assert page.complaints() == []
