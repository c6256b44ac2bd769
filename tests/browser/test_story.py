"""What the page tells by itself, and the views that can be sent."""

from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from explored import HOSTILE, YEARS, choose, fit, search, slide

from tparafac2.data import Labels

pytestmark = pytest.mark.slow


def jumping(**changes):
    """A first component that is strong and does not change; the second creeps, then jumps to another word."""
    B = np.full((6, 60, 2), 1e-6)
    B[:, 40, 0] = 1.0
    angles = np.array([0.0, 0.05, 0.1, 0.15, 1.2, 1.3])
    B[:, 7, 1], B[:, 8, 1] = np.cos(angles), np.sin(angles)
    return fit(**({"B": B, "C": np.array([[50.0, 1.0]] * 6), "A": np.eye(3)[:, :2]} | changes))


def test_the_page_opens_at_the_steepest_part_of_the_largest_change(show):
    page = show(jumping())
    assert page.run("document.querySelectorAll('#components input')[1].checked")
    assert page.text("#now") == "1997"
    assert page.texts("#courses-legend .name")[:2] == ["word 08", "word 07"]
    assert page.run("document.querySelectorAll('#courses .steep').length") == 2


def test_strengths_can_be_compared_on_three_scales(show):
    page = show(jumping(C=np.array([[50.0, 1.0]] * 5 + [[25.0, 1.0]])))
    numbers = "#strengths-legend .number"
    assert page.run("document.getElementById('scale').value") == "own"  # the first would flatten the second
    slide(page, 5)
    assert page.texts(numbers) == ["0.500", "1.000"]
    choose(page, "scale", "share")
    assert page.texts(numbers) == ["0.962", "0.038"]
    choose(page, "scale", "absolute")
    assert page.texts(numbers) == ["25.0", "1.0"]
    assert "units of the data" in page.text("#strengths-hint")


def test_movers_name_the_steepest_part_and_the_whole_span(show):
    page = show(jumping())
    assert page.texts("#risers tbody tr:first-child td:last-child .link") == ["1996 \u2013 1997"]
    assert page.texts("#risers tbody tr:first-child td:last-child .all") == ["1990 \u2013 1997"]


def test_a_negative_weight_that_shrinks_does_not_rise(show):
    B = jumping().B.copy()
    B[:, 7, 1] *= -1
    page = show(jumping(B=B))
    assert page.texts("#risers tbody td:first-child") == ["word 08"]
    assert page.texts("#fallers tbody td:first-child") == ["word 07"]


def test_a_weight_that_falls_below_zero_falls(show):
    B = jumping().B.copy()
    B[:, 7, 1] = [1.0, 1.0, 0.9, 0.5, -0.6, -1.1]
    assert "word 07" in show(jumping(B=B)).texts("#fallers tbody td:first-child")


def test_patterns_at_chosen_times_stand_side_by_side(show):
    page = show(jumping())
    panels = "#multiples > li > div .link"
    assert page.texts(panels) == ["1990", "1996", "2000"]
    assert page.texts("#multiples > li:first-child .name")[0] == "word 07"
    assert page.texts("#multiples > li:last-child .name")[0] == "word 08"
    page.click("#keep")
    assert page.texts(panels) == ["1990", "1996", "1997", "2000"]
    page.click("#multiples > li:first-child .plain")
    page.click(f"{panels}")
    assert page.text("#now") == "1996"


def test_longer_gaps_and_the_period_are_on_the_axis(show):
    labels = Labels(time=[2000, 2001, 2002, 2003, 2008, 2009])
    page = show(jumping(labels=labels, period=4.0, times=labels.time.astype(float)))
    assert page.run("document.querySelectorAll('#courses .gap').length") == 1
    assert page.run("document.querySelectorAll('#courses .round').length") == 2
    assert page.run("document.querySelectorAll('#courses .tick').length") == 6
    assert "after 4 it begins again" in page.text("#courses-hint")


def test_a_view_can_be_sent(show, tab):
    page = show(jumping())
    page.click("#components label:nth-of-type(1)")
    slide(page, 2)
    choose(page, "scale", "share")
    search(page, "word 59")
    page.press("Enter")
    page.click("#row-bars button")
    address = page.run("location.href")
    other = tab(
        address.removeprefix("file://")
        .partition("#")[0]
        .replace("%20", " ")
        .replace("%25", "%")
        .replace("%23", "#")
        .replace("%26", "&")
    )
    other.run(f"location.hash = {address.partition('#')[2]!r}")
    other.until("document.getElementById('now').textContent === '1993'")
    for part in ("#bars-head", "#courses-legend", "#strengths-legend", "#row-table"):
        assert other.text(part) == page.text(part)
    assert "word 59" in other.text("#courses-legend")
    other.run("location.hash = 'component=99&time=x&columns=1.-3.0.7x&scale=%3Cb%3E'")
    other.until(f"document.getElementById('now').textContent !== '{YEARS[2]}'")
    assert other.complaints() == []


def test_all_of_a_view_is_in_its_address(show, tab):
    """Names of the reader, times to keep, and what is compared with what."""
    result = fit(A=np.random.default_rng(0).normal(size=(20, 2)), labels=Labels(time=YEARS))
    page = show(result)
    page.click("#cards li:nth-child(2) .rename")
    page.type("Sea & Ice #1")
    page.press("Enter")
    slide(page, 1)
    page.click("#keep")
    for name, value in {"order": "ever", "measure": "size", "scale": "share", "against": "1"}.items():
        choose(page, name, value)
    other = tab(unquote(urlsplit(page.run("location.href")).path))
    other.run(f"location.hash = {page.run('location.hash')!r}")
    other.until("document.querySelectorAll('#multiples > li').length === 4")
    assert other.run("document.body.innerText") == page.run("document.body.innerText")
    assert "2: Sea & Ice #1" in other.texts("#cards .link")
    assert other.run("[...document.querySelectorAll('select')].map((one) => one.value)") == page.run(
        "[...document.querySelectorAll('select')].map((one) => one.value)"
    )


@pytest.mark.parametrize("name", ["Ice", HOSTILE])
def test_components_are_named_on_the_page(show, name):
    page = show(jumping())
    page.click("#cards li:first-child .rename")
    page.type(name)
    page.press("Enter")
    assert page.text("#cards .link") == f"1: {name[:60]}"
    assert page.text("#strengths-legend .name") == name[:60]
    assert page.run("new URLSearchParams(location.hash.slice(1)).get('name1')") == name[:60]
    assert page.run("window.hit") is None
    page.click("#cards li:first-child .rename")
    page.run("document.getElementById('name').value = ''")
    page.press("Enter")
    assert page.text("#cards .link") == "Component 1"
    assert page.complaints() == []


def test_names_of_the_reader_are_in_tables_that_are_saved(show, tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    page = show(jumping())
    page.click("#cards li:first-child .rename")
    page.type("Ice")
    page.press("Enter")
    saved = page.saved("#row-bars + .take button", folder).read_text(encoding="utf-8-sig")
    assert saved.splitlines()[0] == "author,Ice,Component 2"


def test_names_of_the_model_are_on_the_page(show):
    page = show(jumping(component_names=("Ice", "")))
    assert page.texts("#cards .link") == ["1: Ice", "Component 2"]
    assert page.texts("#components span") == ["Ice", "2"]
    assert "name1" not in page.run("location.hash")  # only those of the reader are in the address


def test_cards_say_what_a_component_is_was_and_became_when_it_was_strong_and_how_sure(show):
    page = show(jumping(C=np.array([[50.0, 1.0]] * 5 + [[50.0, 4.0]])))
    card = dict(zip(page.texts("#cards > li:nth-child(2) dt"), page.texts("#cards > li:nth-child(2) dd")))
    assert card["author"] == "Bo"
    assert card["1990"].startswith("word 07")
    assert card["2000"].startswith("word 08, word 07")
    assert card["strength"].startswith("Strongest at 2000")
    assert "0 of 1 other starts" in card["trust"]
    first = dict(zip(page.texts("#cards > li:first-child dt"), page.texts("#cards > li:first-child dd")))
    assert first["always"] == "word 40"
    assert page.run("document.querySelectorAll('#cards .spark').length") == 2


def test_cards_say_what_a_component_has_less_of_where_that_tells_more(show):
    page = show(jumping(B=-jumping().B, A=np.array([[1.0, 0.0], [-3.0, 0.5], [0.0, 1.0]])))
    card = dict(zip(page.texts("#cards > li:first-child dt"), page.texts("#cards > li:first-child dd")))
    assert card["author"] == "Ann; less: Bo"
    assert card["always"] == "less: word 40"


def test_months_are_written_without_their_first_day(show):
    labels = Labels(time=np.arange("2013-01", "2013-07", dtype="M8[M]").astype("M8[ns]"))
    page = show(jumping(labels=labels))
    slide(page, 2)
    assert page.text("#now") == "2013-03"
    assert "2013-01" in page.texts("#cards dt")


def test_rows_are_on_a_map_by_group(show):
    rng = np.random.default_rng(0)
    kinds = np.array(["young", "old", HOSTILE, None] * 10, dtype=object)
    labels = Labels(
        rows=[f"person {i}" for i in range(40)], attributes={"kind": kinds, "age": np.arange(40.0)}
    )
    page = show(jumping(A=rng.normal(size=(40, 2)), labels=labels))
    assert page.run("document.querySelectorAll('#row-map .point').length") == 40
    assert page.texts("#map-legend .name") == ["young", "old", HOSTILE]
    assert len(page.texts("#association-table tbody tr")) == 4  # two components, two attributes
    assert "not a cause" in page.text("#association-note")
    page.click("#map-legend .chip")
    assert page.run("document.querySelectorAll('#row-map .point.faint').length") == 30
    choose(page, "colour", "age")
    assert page.texts("#map-legend .number") == ["10"] * 4
    assert page.run("document.querySelectorAll('#row-map .faint').length") == 0
    overlaps = (
        "(() => { const boxes = [...document.querySelectorAll('#row-map svg > text')]"
        ".map((one) => one.getBoundingClientRect());"
        "return boxes.filter((a, n) => boxes.some((b, m) => m < n && a.left < b.right - 1 &&"
        "a.right > b.left + 1 && a.top < b.bottom - 2 && a.bottom > b.top + 2)).length; })()"
    )
    assert page.run("document.querySelectorAll('#row-map svg > text').length") > 5
    assert page.run(overlaps) == 0
    page.run("document.querySelector('#row-map .point').dispatchEvent(new Event('click'))")
    assert len(page.texts("#row-table tbody tr")) == 1
    assert "colour=age" in page.run("location.hash")


def test_data_stand_beside_their_fit(show):
    result = jumping()
    X = np.asarray(result.reconstruct())
    X[2, 1, 7] += 30.0
    X[3, 1, 7] = np.nan
    page = show(result, data=X)
    assert page.text("#entries-head") == "Data and fit: Bo, word 07"
    assert page.texts("#misses tbody tr:first-child td")[:2] == ["Bo", "word 07"]
    assert page.run("document.querySelectorAll('#entry-chart .line-dot').length") == 5
    page.click("#row-bars button")
    search(page, "word 40")
    page.press("Enter")
    assert page.text("#entries-head").endswith("word 40")
    assert page.complaints() == []
    assert not show(jumping()).run("document.getElementById('entries').checkVisibility()")
