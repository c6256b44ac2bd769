"""Groups of rows on the page, and what a component is made of over time."""

import csv
import re

import numpy as np
import pytest
from explored import HOSTILE, YEARS, choose, fit, search, slide

from tparafac2.data import Labels
from tparafac2.report import write_page

pytestmark = pytest.mark.slow

KINDS = np.array(["young", "old", "young", None] * 10, dtype=object)


def grouped(**changes):
    """Forty people, of which twenty are young and ten are old; the old have more of the second component."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 2)) + np.where(KINDS == "old", 3.0, 0.0)[:, np.newaxis] * [0, 1]
    labels = Labels(
        rows=[f"person {i}" for i in range(40)],
        columns=fit().labels.columns,
        time=YEARS,
        attributes={"kind": KINDS, "age": np.arange(40.0), HOSTILE: np.array([HOSTILE, "b"] * 20)},
    )
    return fit(**({"A": A, "labels": labels} | changes))


def saved_lines(page, selector, folder):
    with page.saved(selector, folder).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "saved").mkdir()
    return tmp_path / "saved"


def test_courses_of_groups_are_means_of_the_fit(show, folder):
    result = grouped()
    page = show(result)
    assert page.text("#course option:checked") == "word 40"  # what differs most is of the second component
    search(page, "word 41")
    page.press("Enter")
    assert page.text("#course option:checked") == "word 41"
    fitted = np.stack([np.asarray(piece)[:, 41] for piece in result.reconstruct()])
    lines = saved_lines(page, "#group-courses + .take button", folder)
    assert lines[0][1:] == ["young (20)", "old (10)"]
    found = np.array([[float(one) for one in line[1:]] for line in lines[1:]])
    expected = np.stack([fitted[:, kind == KINDS].mean(axis=1) for kind in ("young", "old")], axis=1)
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)
    assert page.run("document.querySelectorAll('#group-courses polygon.band').length") == 2
    assert "2 standard errors" in page.text("#group-hint")


def test_courses_of_groups_can_be_those_of_one_component(show, folder):
    result = grouped()
    page = show(result)
    page.click("#components label:nth-of-type(2)")
    choose(page, "part", "own")
    normal = result.normalised()
    part = normal.C[:, 1] * np.stack(normal.B)[:, 40, 1]
    lines = saved_lines(page, "#group-courses + .take button", folder)
    found = np.array([float(line[2]) for line in lines[1:]])
    np.testing.assert_allclose(found, normal.A[KINDS == "old", 1].mean() * part, rtol=5e-3)
    assert "component 2" in page.text("#group-hint")
    assert "part=own" in page.run("location.hash")


def test_a_view_of_groups_can_be_sent(show):
    page = show(grouped())
    page.run("location.hash = 'colour=age&course=3&part=own&group=above+9+to+19'")
    page.until("document.getElementById('colour').value === 'age'")
    assert page.text("#groups-head") == "Groups of rows: mean fitted course of bee by age"
    assert page.texts("#row-legend [aria-pressed=true] .name") == ["above 9 to 19"]
    assert page.run("document.getElementById('part').value") == "own"
    page.run("location.hash = 'colour=%3Cb%3E&course=999&part=x&group=nobody'")
    page.until("document.getElementById('part').value === 'all'")
    assert page.complaints() == []


def test_a_group_is_looked_at_alone_in_the_list_and_on_the_map(show):
    page = show(grouped())
    for legend in ("#row-legend", "#group-legend", "#map-legend"):
        assert page.texts(f"{legend} .name") == ["young", "old"]
        assert page.texts(f"{legend} .number") == ["20", "10"]
    page.click("#row-legend .chip:nth-child(2)")
    listed = {int(name.split()[1]) for name in page.texts("#row-bars .name")}
    assert listed == set(np.flatnonzero(KINDS == "old").tolist())
    assert page.run("document.querySelectorAll('#row-map .point.faint').length") == 30
    assert page.run("document.querySelectorAll('#group-courses .line.thin').length") == 1
    assert "group=old" in page.run("location.hash")
    page.click("#group-legend .chip:nth-child(2)")
    assert page.run("document.querySelectorAll('#row-map .point.faint').length") == 0


def test_bars_points_and_courses_of_a_group_have_one_colour(show):
    page = show(grouped())
    tone = (
        "(selector, name) => [...document.querySelectorAll(selector)].filter((one) => "
        "one.textContent.includes(name)).map((one) => one.style.getPropertyValue('--series'))"
    )
    assert set(page.run(f"({tone})('.legend .chip', 'old')")) == {"var(--c1)"}
    assert set(page.run(f"({tone})('#group-courses .end', 'old')")) == {"var(--c1)"}
    slots = {"young": "var(--c0)", "old": "var(--c1)", None: ""}
    people = [int(name.split()[1]) for name in page.texts("#row-bars .name")]
    assert page.run(f"({tone})('#row-bars li', '')") == [slots[KINDS[i]] for i in people]
    points = page.run(f"({tone})('#row-map .point', '')")
    assert [points.count(slot) for slot in ("var(--c0)", "var(--c1)", "var(--quiet)")] == [20, 10, 10]


def test_numbers_are_grouped_by_quarters_and_no_attribute_has_no_groups(show):
    page = show(grouped())
    choose(page, "colour", "age")
    assert page.texts("#group-legend .number") == ["10"] * 4
    choose(page, "colour", "")
    assert page.texts("#group-legend .chip, #row-legend .chip, #map-legend .chip") == []
    assert not page.run("document.getElementById('group-courses').checkVisibility()")
    assert not show(fit()).run("document.getElementById('groups').checkVisibility()")


def test_names_of_groups_are_no_html(show):
    page = show(grouped())
    page.run(
        "(() => { const list = document.getElementById('colour');"
        "list.selectedIndex = 3; list.dispatchEvent(new Event('change')); })()"
    )
    assert HOSTILE in page.texts("#group-legend .name")
    assert HOSTILE[:30] in page.text("#groups-head")
    assert page.run("window.hit") is None
    assert page.complaints() == []


def test_the_stream_has_what_tells_best_of_every_time(show):
    page = show()
    # The first component passes from word to word: each time has its own.
    assert set(page.texts("#stream-legend .name")) == set(fit().labels.columns[:6])
    assert page.run("document.querySelectorAll('#stream .layer').length") == 6
    assert "6 of 60" in page.text("#stream-hint")
    assert "below zero" not in page.text("#stream-hint")
    slide(page, 2)
    numbers = dict(zip(page.texts("#stream-legend .name"), page.texts("#stream-legend .number")))
    assert float(numbers["bee"]) > 0.9


def heights(page, selector):
    """Upper and lower ends of polygons of a chart, in pixels of it."""
    points = page.run(
        f"[...document.querySelectorAll('{selector}')].map((one) => one.getAttribute('points'))"
    )
    numbers = [[float(pair.split(",")[1]) for pair in re.split(r"\s+", one.strip())] for one in points]
    return [(min(one), max(one)) for one in numbers]


def test_negative_weights_hang_below_zero(show):
    page = show()
    page.click("#components label:nth-of-type(2)")
    zero = float(page.run("document.querySelector('#stream .zero').getAttribute('y1')"))
    names = page.texts("#stream-legend .name")
    assert {"word 40", "word 41"} <= set(names)
    below = [one for one in heights(page, "#stream .layer") if one[1] > zero + 1]
    assert len(below) == 1  # word 41
    assert below[0][0] == pytest.approx(zero, abs=0.2)
    assert "negative ones hang below zero" in page.text("#stream-hint")


def test_a_weight_that_changes_its_sign_is_never_in_two_piles_at_once(show):
    B = fit().B.copy()
    B[:, 41, 1] = [0.8, 0.6, 0.2, -0.2, -0.6, -0.8]
    page = show(fit(B=B))
    page.click("#components label:nth-of-type(2)")
    zero = float(page.run("document.querySelector('#stream .zero').getAttribute('y1')"))
    for top, bottom in heights(page, "#stream .layer"):
        assert top >= zero - 0.2 or bottom <= zero + 0.2


def test_change_points_are_marked_below_the_axis_without_overlap(show):
    page = show()
    for chart in ("#stream", "#courses"):
        marks = page.run(
            f"[...document.querySelectorAll('{chart} .change')].map((one) => "
            "['x1', 'x2', 'y1'].map((name) => Number(one.getAttribute(name))))"
        )
        axis = float(page.run(f"document.querySelector('{chart} .tick').getAttribute('y1')"))
        assert len(marks) >= 4
        assert all(y > axis for _, _, y in marks)
        for n, (a, b, y) in enumerate(marks):
            assert all(y != other or a > end or b < begin for begin, end, other in marks[:n])
    titles = page.texts("#courses .change title")
    assert any(text.startswith("ant: half of its largest change, 1990") for text in titles)


def test_a_column_has_one_colour_in_stream_bars_and_courses(show):
    page = show()
    colours = (
        "(selector) => Object.fromEntries([...document.querySelectorAll(selector)].map((one) => "
        "[one.querySelector('.name').textContent, one.style.getPropertyValue('--series')]))"
    )
    stream = page.run(f"({colours})('#stream-legend .chip')")
    courses = page.run(f"({colours})('#courses-legend .chip')")
    assert {name: tone for name, tone in courses.items() if name in stream} == {
        name: tone for name, tone in stream.items() if name in courses
    }
    both = list((stream | courses).values())
    assert len(both) == len(set(both))
    page.click("#stream-legend .chip[aria-pressed=false]")
    assert len(page.texts("#courses-legend .name")) == 6


def test_at_first_there_is_a_colour_for_every_layer_and_every_course(show):
    """What moves most is not what tells most: eleven columns would want eight colours."""
    B = np.full((6, 60, 2), 0.01)
    B[:, 20:26, 0] = 1.0
    B[np.arange(6), np.arange(6), 0] = 0.9
    B[:, :6, 1] = 2.0
    page = show(fit(B=B))
    tones = (
        "[...document.querySelectorAll('.legend .chip')].map((one) => one.style.getPropertyValue('--series'))"
    )
    page.click("#components label:nth-of-type(1)")
    assert len(page.texts("#stream-legend .chip")) == 6
    assert len(page.texts("#courses-legend .chip")) == 5
    assert set(page.texts("#courses-legend .name")) - set(page.texts("#stream-legend .name"))
    assert not {"var(--bar)", "var(--line)"} & set(page.run(tones))


def test_names_inside_layers_do_not_overlap(show):
    page = show(looks={"width": 1280})
    overlaps = (
        "(() => { const boxes = [...document.querySelectorAll('#stream text.inside, #stream text.end')]"
        ".map((one) => one.getBoundingClientRect());"
        "return boxes.filter((a, n) => boxes.some((b, m) => m < n && a.left < b.right - 1 &&"
        "a.right > b.left + 1 && a.top < b.bottom - 2 && a.bottom > b.top + 2)).length; })()"
    )
    assert len(page.texts("#stream text.inside, #stream text.end")) == 6
    assert page.run(overlaps) == 0


def test_uneven_times_are_told(show):
    labels = Labels(time=[0, 1, 2, 4, 6, 8])
    page = show(fit(labels=labels, times=labels.time.astype(float)))
    assert "unevenly apart" in page.text("#courses-hint")
    even = Labels(time=list(range(6)))
    assert "unevenly" not in show(fit(labels=even, times=np.arange(6.0))).text("#courses-hint")


def test_a_large_page_does_all_of_it(tab, tmp_path):
    """A thousand rows, five thousand columns, with groups; also beyond what a screen shows."""
    rng = np.random.default_rng(0)
    I, J, K, R = 1000, 5000, 12, 3
    B = np.abs(np.cumsum(rng.standard_normal((K, J, R)), axis=0)) ** 3
    labels = Labels(
        rows=[f"row {i}" for i in range(I)],
        columns=[HOSTILE, *(f"column {j}" for j in range(1, J))],
        attributes={"group": np.array([f"group {i % 12}" for i in range(I)])},
    )
    C = rng.uniform(1, 2, size=(K, R))
    result = fit(A=rng.normal(size=(I, R)), B=B, C=C, labels=labels, starts={}, trace={})
    page = tab(write_page(result, tmp_path / "large.html"))
    page.until("document.documentElement.dataset.ready")
    assert page.run("document.querySelectorAll('#row-map .point').length") == I
    assert len(page.texts("#group-legend .chip")) == 8
    assert "of a smaller one" in page.text("#group-hint")
    page.click("#components label:nth-of-type(2)")
    slide(page, 7)
    search(page, "column 4999")
    page.press("Enter")
    assert page.text("#course option:checked") == "column 4999"
    search(page, "row 999")
    page.press("Enter")
    assert page.texts("#row-table tbody td")[0] == "row 999"
    page.click("#map-legend .chip")
    assert page.run("document.querySelectorAll('#row-map .point.faint').length") == I - 84
    assert page.run("document.documentElement.scrollWidth") <= 1280
    assert page.run("window.hit") is None
    assert page.complaints() == []
