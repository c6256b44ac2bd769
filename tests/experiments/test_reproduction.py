import json

import pandas as pd
import pytest

from tparafac2.experiments import QUICK, Plan, figures, paper
from tparafac2.experiments.figures.example import typical_dataset
from tparafac2.experiments.plan import Setting
from tparafac2.experiments.reproduction import command

pytestmark = pytest.mark.slow
PLAN = Plan(
    cases=("almost_zero", "overlapping"),
    datasets=2,
    starts=1,
    n_times=6,
    n_rows=24,
    n_columns=36,
    max_iter=12,
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
        "example-almost_zero",
        "example-overlapping",
    )
    pictures = {f"figures/{name}.{ending}" for name in figures for ending in ("png", "pdf")}
    texts = {"results.csv", "uniqueness.csv", "protocol.json", "calls.json", "README.md", "index.html"}
    assert files == pictures | texts | {f"verdicts.{ending}" for ending in ("txt", "csv", "json")} | {
        "figures"
    }


def test_the_table_has_every_task(outcome):
    assert len(outcome.table) == 5 * 2 * 13
    written = pd.read_csv(outcome.folder / "results.csv")
    pd.testing.assert_frame_equal(written, outcome.table, check_dtype=False)


def test_the_page_tells_every_verdict_and_shows_every_figure(outcome):
    text = (outcome.folder / "README.md").read_text()
    for verdict in outcome.verdicts:
        assert text.count(verdict.claim.words) == 2  # in the overview, and with its tests
    for path in (outcome.folder / "figures").glob("*.png"):
        assert f"(figures/{path.name})" in text
    assert "tparafac2 paper --case almost-zero" in text
    assert "keeps its objective" in text
    assert (outcome.folder / "index.html").read_text().count("data:image/png;base64,") == 6


def test_verdicts_are_written_three_ways(outcome):
    listed = json.loads((outcome.folder / "verdicts.json").read_text())["verdicts"]
    assert [one["claim"] for one in listed] == [verdict.claim.key for verdict in outcome.verdicts]
    table = pd.read_csv(outcome.folder / "verdicts.csv")
    assert list(table["claim"].unique()) == [one["claim"] for one in listed]
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
    monkeypatch.setattr("tparafac2.experiments.reproduction._write", lambda *findings: None)
    small = Plan(**{**vars(PLAN), "cases": ("almost_zero",), "datasets": 1})
    grown = paper(tmp_path / "out", small, jobs=1)
    assert len(grown.table) == 2 * 13
    grown = paper(tmp_path / "out", Plan(**{**vars(small), "datasets": 2}), jobs=1)
    columns = outcome.table.columns.drop("seconds")
    expected = outcome.table[outcome.table["case"] == "almost_zero"].reset_index(drop=True)
    pd.testing.assert_frame_equal(grown.table[columns], expected[columns])
    assert [call["fits"] for call in json.loads((tmp_path / "out" / "calls.json").read_text())] == [26, 26]


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
    ],
)
def test_the_command_says_what_was_done(plan, typed):
    assert command(plan) == typed
