import json
from dataclasses import replace

import figures
import pandas as pd
import pytest
from figures.example import typical_dataset
from plan import QUICK, Plan, Setting
from reproduction import command, paper

pytestmark = pytest.mark.slow
PLAN = Plan(
    cases=("almost_zero", "overlapping"),
    datasets=2,
    starts=1,
    n_times=6,
    n_rows=24,
    n_columns=36,
    max_iter=12,
    coarse=True,
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return paper(tmp_path_factory.mktemp("paper") / "out", PLAN, jobs=1)


def test_everything_is_written(outcome):
    files = {
        str(p.relative_to(outcome.folder)) for p in outcome.folder.rglob("*") if "records" not in p.parts
    }
    figures = (
        "drifts",
        "strengths",
        "almost_zero",
        "overlapping",
        "overlapping-unit",
        "example-almost_zero",
        "example-overlapping",
    )
    pictures = {f"figures/{name}.{ending}" for name in figures for ending in ("png", "pdf")}
    texts = {"results.csv", "uniqueness.csv", "protocol.json", "calls.json", "README.md", "index.html"}
    assert files == pictures | texts | {f"verdicts.{ending}" for ending in ("txt", "csv", "json")} | {
        "figures"
    }


def test_the_table_has_every_task(outcome):
    assert len(outcome.table) == 5 * 2 * 15
    written = pd.read_csv(outcome.folder / "results.csv")
    pd.testing.assert_frame_equal(written, outcome.table, check_dtype=False)


def test_the_page_tells_every_verdict_and_shows_every_figure(outcome):
    text = (outcome.folder / "README.md").read_text()
    for verdict in outcome.verdicts:
        again = sum(other.claim.key == verdict.claim.key for other in outcome.verdicts)
        assert text.count(verdict.claim.words) == 2 * again  # in the overview, and with its tests
    assert [line for line in text.splitlines() if line.startswith("## ")][:2] == [
        "## Verdicts",
        "## Verdicts with what the data chose",
    ]
    for path in (outcome.folder / "figures").glob("*.png"):
        assert f"(figures/{path.name})" in text
    assert "tparafac2 paper --quick --case almost-zero" in text
    assert "keeps its objective" in text
    assert (outcome.folder / "index.html").read_text().count("data:image/png;base64,") == 7


def test_the_page_sums_up_what_the_data_chose(outcome):
    text = (outcome.folder / "README.md").read_text()
    part = text.split("## What the data chose")[1].split("## Uniqueness")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    assert [line.split(" | ")[0].strip("| ") for line in lines] == [one.label for one in PLAN.settings]
    chosen = outcome.table[outcome.table["method"] == "tPARAFAC2, chosen"]
    own = chosen[(chosen["case"] == "overlapping") & (chosen["level"] == 0.4)]["smoothness"]
    assert f"| {own.median():.2g} ({own.min():.2g} to {own.max():.2g}) |" in lines[-1]
    assert "of 2 |" in lines[-1]


def test_verdicts_are_written_three_ways(outcome):
    told = json.loads((outcome.folder / "verdicts.json").read_text())
    listed = [told["verdicts"], *told["verdicts_at_chosen"].values()]
    assert [len(those) for those in listed] == [7, 6, 6]  # one start does not agree with others
    keys = [verdict.claim.key for verdict in outcome.verdicts]
    assert [one["claim"] for those in listed for one in those] == keys
    table = pd.read_csv(outcome.folder / "verdicts.csv")
    assert len(table[["claim", "at"]].drop_duplicates()) == len(outcome.verdicts)
    assert "TOO FEW DATA SETS" in (outcome.folder / "verdicts.txt").read_text()


def test_a_second_call_does_nothing_again_and_writes_the_same(outcome, monkeypatch):
    names = ("results.csv", "verdicts.csv", "README.md", "figures/overlapping.png", "figures/overlapping.pdf")
    before = {name: (outcome.folder / name).read_bytes() for name in names}
    seen = []
    save = figures.save_figure  # one stands for all: each takes a second
    monkeypatch.setattr(figures, "save_figure", lambda *one: save(*one) if one[-1] == "overlapping" else ())
    paper(outcome.folder, PLAN, jobs=1, watch=seen.append)
    assert [progress.done for progress in seen] == [len(outcome.table)]
    assert {name: (outcome.folder / name).read_bytes() for name in names} == before


def test_a_run_can_grow_and_shows_what_was_asked_for(outcome, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("reproduction._write", lambda folder, plan, findings: written.append(findings))
    small = Plan(**{**vars(PLAN), "cases": ("almost_zero",), "datasets": 1, "chosen": False})
    grown = paper(tmp_path / "out", small, jobs=1)
    assert len(grown.table) == 2 * 13
    assert all(verdict.claim.is_published for verdict in grown.verdicts)
    assert [list(example.estimates) for example in written[-1].examples] == [["PARAFAC2", "tPARAFAC2 1000"]]
    grown = paper(tmp_path / "out", Plan(**{**vars(small), "datasets": 2, "chosen": True}), jobs=1)
    columns = outcome.table.columns.drop("seconds")
    expected = outcome.table[outcome.table["case"] == "almost_zero"].reset_index(drop=True)
    pd.testing.assert_frame_equal(grown.table[columns], expected[columns])
    assert [call["fits"] for call in json.loads((tmp_path / "out" / "calls.json").read_text())] == [26, 34]


def test_the_example_is_the_data_set_with_the_median_gain():
    gains = {0: 0.05, 1: 0.30, 2: -0.10, 3: 0.07}
    rows = [
        {"case": "easy", "level": 0.5, "dataset": i, "method": method, "fms": fms}
        for i, gain in gains.items()
        for method, fms in (("PARAFAC2", 0.5), ("tPARAFAC2 1000", 0.5 + gain))
    ]
    assert typical_dataset(pd.DataFrame(rows), Setting("easy", 0.5)) == 0


@pytest.mark.parametrize(
    ("plan", "typed"),
    [
        (Plan(), "tparafac2 paper"),
        (QUICK, "tparafac2 paper --quick"),
        (
            Plan(seed=3, n_times=8, n_rows=30, n_columns=36),
            "tparafac2 paper --seed 3 --times 8 --rows 30 --columns 36",
        ),
        (Plan(cases=("almost_zero",)), "tparafac2 paper --case almost-zero"),
        (replace(QUICK, datasets=3, chosen=False), "tparafac2 paper --quick --datasets 3 --without-chosen"),
    ],
)
def test_the_command_says_what_was_done(plan, typed):
    assert command(plan) == typed
