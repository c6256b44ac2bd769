"""The page in a real browser, opened from a file as its readers do."""

import json
from dataclasses import replace

import numpy as np
import pytest
from banded import intervals_for
from chosen import a_choice, interrupted, spread_out
from explored import HOSTILE, WORDS, bar_names, choose, fit, search, slide

from tparafac2.data import Labels
from tparafac2.report import write_page
from tparafac2.result import Trust

pytestmark = pytest.mark.slow


def test_the_overview_says_what_was_fitted_and_how_far_to_trust_it(show):
    page = show(title="My words", about={"source": "words.csv"})
    assert page.text("#title") == page.run("document.title") == "My words"
    assert page.text("#subtitle") == "TParafac2: 3 author x 60 word x 6 year, 2 components"
    assert page.text("#verdict").startswith("trust: low")
    assert page.texts("#facts dt")[:3] == ["90 %", "converged", "only 0 of 1"]
    assert page.texts("#about dd") == ["TParafac2(rank=2)", "words.csv"]
    assert page.texts("#cards .badge") == ["static"]
    assert page.run("document.querySelectorAll('#strengths path').length") == 2


def test_the_arrow_keys_move_through_time_and_the_bars_follow(show):
    page = show()
    slide(page, 0)
    assert (page.text("#now"), bar_names(page)[0]) == ("1990", "Zo\u00eb")
    page.run("document.getElementById('time').focus()")
    page.press("ArrowRight")
    assert (page.text("#now"), bar_names(page)[0]) == ("1992", "ant")
    page.press("End")
    assert (page.text("#now"), bar_names(page)[0]) == ("2000", WORDS[5])
    assert page.run("document.getElementById('time').getAttribute('aria-valuetext')") == "2000"


def test_only_the_largest_columns_are_drawn(show):
    page = show()
    assert len(page.texts("#bars li:not(.apart)")) == 25
    assert page.text("#bars-hint").startswith("The first 25 of 60.")
    # The five courses drawn at first belong to words that were largest at some time.
    assert set(page.texts("#courses-legend .name")) < set(WORDS[:6])


def test_play_begins_again_after_the_end_can_be_paused_and_stops_at_the_end(show):
    page = show()
    slide(page, 5)
    page.run("document.getElementById('play').focus()")
    page.press(" ")
    assert (page.text("#now"), page.text("#play")) == ("1990", "Pause")
    page.press(" ")
    page.run("new Promise((done) => setTimeout(done, 800))")
    assert (page.text("#now"), page.text("#play")) == ("1990", "Play")
    slide(page, 4)
    page.click("#play")
    page.until("document.getElementById('play').textContent === 'Play'")
    assert page.text("#now") == "2000"


def test_another_component_has_other_columns_and_movers(show):
    page = show()
    assert len(page.texts("#risers tbody tr")) == 5  # the sixth word is there from the beginning
    page.click("#components label:nth-of-type(2)")
    assert bar_names(page)[:2] == ["word 40", "word 41"]
    assert page.texts("#bars .number")[1] == "\u22120.624"
    assert page.texts("#risers tbody td") == ["Nothing rises."]
    assert page.texts("#row-bars .name") == ["Bo", "Cleo", "Ann"]


def test_movers_say_what_rises_when(show):
    page = show()
    rises, falls = (
        dict(zip(page.texts(f"#{table} td:first-child"), page.texts(f"#{table} td:last-child")))
        for table in ("risers", "fallers")
    )
    assert rises["ant"] == "1990 \u2013 1992"
    assert falls["bee"] == "1993 \u2013 1996"
    assert "Zo\u00eb" not in rises
    assert WORDS[5] not in falls


def test_a_click_on_a_bar_draws_its_course_and_another_removes_it(show):
    page = show()
    drawn = "document.querySelectorAll('#courses path').length"
    last = page.texts("#bars li:not(.apart) .name")[24]
    chosen = page.texts("#courses-legend .name")
    page.click("#bars li:nth-child(25) button")
    assert page.texts("#courses-legend .name") == [*chosen, last]
    assert page.run(drawn) == 6
    page.click("#courses-legend .chip:nth-child(1)")
    assert page.texts("#courses-legend .name") == [*chosen[1:], last]
    page.click("#courses-legend .plain")
    assert page.texts("#courses-legend .name") == chosen
    assert page.run(drawn) == 5


def test_a_click_on_a_course_goes_to_that_time(show):
    page = show()
    page.click("#courses svg")
    assert page.text("#now") == "1996"  # 1995 is the middle of the axis, and 1996 is nearest


def test_search_finds_columns_and_rows_without_accents_and_case(show):
    page = show()
    search(page, "ZOE")
    assert page.texts("#results .name") == ["Zo\u00eb"]
    search(page, "o")
    assert page.text("#found") == "60 found, the first 40 shown. Enter chooses the first."
    search(page, "cleo")
    page.click("#results button")
    assert page.texts("#row-table tbody td") == ["Cleo", "0.156", "\u22120.447"]
    assert page.run("document.activeElement.closest('#results') !== null")
    search(page, "word 59")
    page.click("#results button")
    assert page.texts("#bars .apart .name")[-1] == "word 59"
    search(page, "nobody")
    assert (page.text("#found"), page.texts("#results .name")) == ("Nothing found.", [])


def test_sizes_are_weights_times_strength(show):
    page = show()
    slide(page, 5)
    weight = float(page.text("#bars .number"))
    choose(page, "measure", "size")
    size = float(page.text("#bars .number"))
    B = fit().B[5, :, 0]
    assert weight == pytest.approx(1 / np.linalg.norm(B), abs=6e-4)
    assert size == pytest.approx(3 * np.linalg.norm(fit().A[:, 0]), abs=6e-3)


def test_what_the_data_do_not_determine_is_hatched_and_says_why(show):
    undetermined = np.zeros((6, 2), dtype=bool)
    undetermined[2, 0] = undetermined[4] = True
    coverage = np.ones((6, 60))
    coverage[4] = 0.0
    page = show(fit(undetermined=undetermined, coverage=coverage, observed_share=5 / 6))
    doubt = "document.getElementById('doubt').hidden"
    assert page.run(doubt)
    assert page.run("document.querySelectorAll('#courses .bands rect').length") == 2
    slide(page, 2)
    assert "component 1 at 1993: it has almost no strength then" in page.text("#doubt")
    assert page.run("document.querySelectorAll('#bars .faint').length") >= 25
    slide(page, 4)
    assert "nothing was observed then" in page.text("#doubt")
    slide(page, 5)
    assert page.run(doubt)


def test_columns_that_were_not_observed_are_left_out_unless_asked_for(show):
    coverage = np.ones((6, 60))
    coverage[1, 1] = 0.0
    page = show(fit(coverage=coverage, observed_share=0.99))
    slide(page, 1)
    assert "ant" not in bar_names(page)
    assert "1 not observed then" in page.text("#bars-hint")
    page.click("#unseen")
    assert bar_names(page)[0] == "ant"
    assert page.run("document.querySelector('#bars li').classList.contains('faint')")


def test_hostile_text_stays_text_and_runs_nothing(show):
    labels = Labels(
        rows=[HOSTILE, "Bo", "Cleo"],
        columns=[HOSTILE, "\u2028\u2029\x00\ud800", "", *WORDS[3:]],
        time=[HOSTILE, "b", "c", "d", "e", "{{SCRIPT}}"],
        names={"rows": f"r{HOSTILE}", "columns": f"c{HOSTILE}", "time": f"t{HOSTILE}"},
    )
    result = fit(labels=labels, status=HOSTILE, converged=False, model=HOSTILE)
    page = show(result, title=HOSTILE, about={HOSTILE: HOSTILE})
    search(page, "<img")
    page.click("#results li:last-child button")
    slide(page, 1)
    slide(page, 0)
    for place in ("#title", "#bars .name", "#row-bars .name", "#results .name", "#about dd"):
        assert HOSTILE in page.text(place)
    assert page.text("#now").startswith("<img")  # long times are cut
    assert page.run("document.title") == HOSTILE
    assert page.run("window.hit") is None
    assert page.run("document.querySelectorAll('img').length") == 0
    assert page.run("document.querySelectorAll('script').length") == 2
    assert "(empty)" in page.run("document.body.innerText")
    assert page.complaints() == []


def test_the_page_may_not_fetch_anything_nor_run_anything_else(show):
    page = show()
    refused = page.run(
        "new Promise((done) => {"
        "const refused = []; document.addEventListener('securitypolicyviolation', (event) => {"
        "refused.push(event.effectiveDirective); if (refused.length === 3) done(refused.sort()); });"
        "fetch('https://example.org').catch(() => {}); new Image().src = 'https://example.org/x.png';"
        "const script = document.createElement('script'); script.textContent = 'window.hit = 1';"
        "document.body.append(script); })"
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    assert page.run("window.hit") is None


def test_it_can_be_used_with_the_keyboard_alone(show):
    page = show()
    visited = []
    # The radio buttons themselves are invisible: what stands beside them shows the focus.
    outline = (
        "(() => { const one = document.activeElement;"
        "return getComputedStyle(one.type === 'radio' ? one.nextElementSibling : one).outlineStyle; })()"
    )
    while visited[-1:] != ["time"] and len(visited) < 20:
        page.press("Tab")
        visited.append(page.run("document.activeElement.id"))
        assert page.run(outline) != "none"
    assert "play" in visited
    assert visited[-1] == "time"


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_in_light_and_dark(show, dark):
    long = Labels(
        columns=["W" * 150 + str(j) for j in range(60)],
        rows=["r" * 150] * 3,
        time=["t" * 90] * 6,
        attributes={"a" * 90: np.array(["g" * 90, "h" * 90, "g" * 90])},
    )
    page = show(fit(labels=long), {"width": 390, "height": 844, "dark": dark, "touch": True})
    assert page.run("document.documentElement.scrollWidth") <= 390
    assert len(page.texts("#bars li:not(.apart)")) == 12
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (min(map(int, paper[4:-1].split(","))) < 60) == dark


def lonely(rank):
    return {"model": "CP", "A": np.ones((2, rank)), "B": np.ones((1, 3, rank)), "C": np.ones((1, rank))}


@pytest.mark.parametrize(
    "changes",
    [
        {**lonely(1), "labels": Labels(), "trace": {}, "starts": {}},
        {**lonely(11), "labels": Labels()},
        {"A": np.zeros((3, 2)), "C": np.zeros((6, 2))},
        {"B": np.full((6, 60, 2), np.nan), "explained_variance": np.nan, "objective": np.inf},
        {"B": [np.ones((1 + k, 2)) for k in range(6)], "labels": Labels()},
        {"times": np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.5]), "period": 12.0},
        {"C": np.full((6, 2), 1e-200)},
    ],
    ids=["one of all", "many components", "all zero", "not finite", "ragged", "backwards and cyclic", "tiny"],
)
def test_odd_results_are_drawn_too(show, changes):
    page = show(fit(**changes))
    slide(page, len(page.texts("#bars li")) and 3)
    page.click("#components label:last-of-type")
    assert page.complaints() == []
    assert "NaN" not in page.run("document.body.innerText")
    assert "undefined" not in page.run("document.body.innerText")


def test_a_damaged_page_says_so(tab, tmp_path):
    path = write_page(fit(), tmp_path / "page.html")
    path.write_text(path.read_text().replace('"strengths":', '"lost":'))
    page = tab(path)
    page.until("!document.getElementById('failure').hidden")
    assert "could not be drawn" in page.text("#failure")
    assert page.complaints()


def test_without_a_browser_tests_are_skipped_but_fail_where_all_has_to_run(find_program, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        find_program()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no browser"):
        find_program()


def test_numbers_on_the_page_are_those_of_the_fit(show):
    rng = np.random.default_rng(0)
    result = fit(B=rng.normal(size=(6, 60, 2)), C=rng.random((6, 2)) + 0.1)
    page = show(result)
    expected = result.normalised()
    read = "const fit = await Fit.open(JSON.parse(document.getElementById('data').textContent));"
    script = (
        f"(async () => {{ {read} const all = []; for (let k = 0; k < 6; k++) for (let j = 0; j < 60; j++)"
        "for (let r = 0; r < 2; r++) all.push(fit.weight(r, j, k)); return JSON.stringify(all); })()"
    )
    weights = np.array(json.loads(page.run(script))).reshape(6, 60, 2)
    np.testing.assert_allclose(weights, expected.B, atol=np.abs(expected.B).max() / 1_600)
    strengths = page.run(f"(async () => {{ {read} return fit.page.strengths; }})()")
    np.testing.assert_allclose(np.array(strengths).T, expected.C, rtol=1e-6)


def trusted():
    return Trust(
        replicability=[0.97, 0.4], alone=[0.8, 0.1], by="halves", verdict=["replicable", "not there"]
    )


def test_a_choice_is_explained_with_charts_and_tables(show):
    page = show(fit(choice=a_choice(), trust=trusted()))
    assert page.text("#choice-first").startswith("Chosen: tPARAFAC2, rank 2, smoothness 0.01 (sure).")
    assert page.texts("#choice-others li")[1] == "Runner-up: rank 3 predicts 4.8% worse."
    assert page.texts("#choice-facts dt") == ["5 folds", "by chance", "halves"]
    assert page.texts("#choice-charts h3") == [
        "Error by smoothness, rank 2",
        "Error by rank",
        "Are the components found again?",
        "Other models, rank 2",
    ]
    assert page.texts("#choice-ranks tr.chosen td")[:5] == ["2", "0.2004", "49.9%", "2.0%", "9.0"]
    assert page.texts("#choice-models tbody td:nth-child(3)") == ["\u22120.3 %", "chosen", "+199.4 %"]
    assert len(page.texts("#choice-tables table:first-of-type tbody tr")) == 4 + 6
    assert page.texts("#cards .badge") == ["replicable", "static", "not there"]
    assert "0.97 between halves of the rows" in page.text("#cards li")


def test_points_of_a_choice_tell_their_values(show):
    page = show(fit(choice=a_choice()))
    place = page.run(
        "(() => { const one = document.querySelectorAll('#choice .chart')[2].querySelectorAll('.mark')[3];"
        "one.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const box = one.getBoundingClientRect();"
        "return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
    page.until("document.querySelector('#choice .tip:not([hidden])') !== null")
    assert (
        page.text("#choice .tip:not([hidden])")
        == "rank 2, component 1: 0.97, 0.80 without what others share, replicable"
    )


def test_every_point_of_a_choice_is_inside_its_chart(show):
    page = show(fit(choice=a_choice()), {"width": 390, "height": 844, "touch": True})
    outside = (
        "[...document.querySelectorAll('#choice .chart svg')].flatMap((svg) => {"
        "const box = svg.getBoundingClientRect();"
        "return [...svg.querySelectorAll('.mark, text')].map((one) => one.getBoundingClientRect())"
        ".filter((one) => one.left < box.left - 1 || one.right > box.right + 1"
        "|| one.top < box.top - 1 || one.bottom > box.bottom + 1); }).length"
    )
    assert page.run("document.querySelectorAll('#choice .mark').length") > 15
    assert page.run(outside) == 0
    assert page.run("document.documentElement.scrollWidth") <= 390


def test_an_interrupted_choice_shows_what_was_measured(show):
    page = show(fit(choice=interrupted()))
    assert page.texts("#choice-charts h3") == ["Error by smoothness, rank 2", "Error by rank"]
    assert "it was interrupted" in page.text("#choice-first")
    assert "NaN" not in page.run("document.body.innerText")
    assert "null" not in page.run("document.body.innerText")


def test_many_ranks_without_any_error_can_be_drawn(show):
    page = show(fit(choice=spread_out()))
    assert page.run("document.querySelectorAll('#choice .mark').length") > 400
    assert page.run("document.querySelectorAll('#choice [d*=NaN], #choice [cy=NaN]').length") == 0


def test_settings_that_were_given_have_no_section(show):
    page = show()
    assert page.run("document.querySelectorAll('#choice, #choice-link').length") == 0


def test_texts_of_a_choice_are_no_html(show):
    record = a_choice()
    for table in ("compared", "ranks"):
        record[table]["model"][0] = HOSTILE
    record["components"]["verdict"][0] = HOSTILE
    page = show(fit(choice=record))
    assert page.run("window.hit") is None
    assert HOSTILE in page.text("#choice-models")


def test_bands_are_shaded_and_doubtful_moves_are_pale(show):
    result = fit()
    result = replace(result, intervals=intervals_for(result))
    page = show(result)
    assert page.run("document.querySelectorAll('#strengths polygon.band').length") == 2
    assert page.run("document.querySelectorAll('#courses polygon.band').length") == 5
    assert "bands of 90 %" in page.text("#courses-hint")
    assert page.run("document.querySelectorAll('#bars .whisker:not([hidden])').length") > 20
    assert page.run("document.querySelectorAll('#row-bars .whisker:not([hidden])').length") == 3
    assert page.texts("#risers th")[2] == "band of the change"
    doubtful = page.run("document.querySelectorAll('#risers tr.doubtful').length")
    bands = [text.replace("\u2212", "-").split(" to ") for text in page.texts("#risers td:nth-child(3)")]
    assert doubtful == sum(float(low) <= 0 <= float(high) for low, high in bands) > 0
    choose(page, "measure", "size")
    assert page.run("document.querySelectorAll('#courses polygon.band').length") == 0
    assert len(page.texts("#risers th")) == 3


def test_a_component_without_bands_says_so(show):
    result = fit()
    bands = intervals_for(result, unmatched=np.array([0.5, 0.0]))
    nothing = np.where([True, False], np.nan, bands.patterns.lower)
    page = show(replace(result, intervals=replace(bands, patterns=bands.patterns._replace(lower=nothing))))
    assert "no bands" in page.text("#courses-hint")
    assert page.run("document.querySelectorAll('#courses polygon.band').length") == 0
