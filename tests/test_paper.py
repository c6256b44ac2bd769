"""The paper's experiments, tiny: what a run writes, how it resumes, and what its verdicts are made of."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import claims
import figures
import numpy as np
import page
import pandas as pd
import plan
import pytest
import rotations
import run

import tparafac2 as tp

TINY = replace(
    plan.QUICK, cases=("almost_zero",), datasets=1, lambdas=(plan.HEADLINE,), starts=2, size=(6, 24, 18)
)
TASKS = list(TINY.tasks())


# --- verdicts on made-up scores -----------------------------------------------------------------------------


def made_up(case, scores, n=6, lambdas=(100.0, plan.HEADLINE)):
    """Give each model its score at each level of a case, a bit higher for each data set, in all measures."""
    methods = [("PARAFAC2", None), *((model, x) for model in plan.SMOOTH for x in lambdas)]
    methods += [(model, None) for model in plan.CHOSEN]
    rows = []
    for place, level in enumerate(plan.LEVELS[case]):
        for dataset in range(n):
            for model, lambda_b in methods:
                task = plan.Task(case, level, dataset, model, lambda_b)
                score = scores[model][place] + 0.001 * dataset
                values = dict.fromkeys([*claims.MEASURES], score)
                rows.append({**task._asdict(), "method": task.method, **values})
    return pd.DataFrame(rows)


EASY = {
    "PARAFAC2": (0.9, 0.8, 0.7, 0.6),
    **dict.fromkeys([*plan.SMOOTH, *plan.CHOSEN], (0.91, 0.83, 0.77, 0.7)),
}


def outcomes(table, at=claims.PUBLISHED):
    verdicts = claims.judge(table)
    return verdicts[verdicts["at"] == at].drop_duplicates("claim").set_index("claim")["outcome"].to_dict()


@pytest.mark.parametrize("at", [claims.PUBLISHED, *plan.CHOSEN])
def test_claims_hold_where_every_data_set_agrees(at):
    assert outcomes(made_up("easy", EASY), at) == dict.fromkeys(
        ["easy-better", "easy-noise", "easy-robust"], "holds"
    )


def test_a_claim_holds_in_part_where_one_level_disagrees():
    scores = EASY | {"tPARAFAC2": (0.91, 0.83, 0.77, 0.59)}
    assert outcomes(made_up("easy", scores)) == {
        "easy-better": "holds in part",
        "easy-noise": "holds",
        "easy-robust": "contradicted",
    }
    assert outcomes(made_up("easy", scores), plan.HARD)["easy-better"] == "holds"


def test_no_difference_is_no_support_and_no_contradiction():
    verdicts = claims.judge(made_up("easy", EASY | {"tPARAFAC2": EASY["PARAFAC2"]}))
    better = verdicts[(verdicts["claim"] == "easy-better") & (verdicts["at"] == claims.PUBLISHED)]
    assert set(better["outcome"]) == {"does not hold"}
    assert set(better["p"]) == set(better["p_opposite"]) == {1.0}


def test_four_data_sets_are_too_few_and_five_enough():
    assert set(outcomes(made_up("easy", EASY, n=4)).values()) == {"too few data sets"}
    assert set(outcomes(made_up("easy", EASY, n=5)).values()) == {"holds"}


def test_the_headline_decides_and_what_is_secondary_is_corrected():
    table = made_up("easy", EASY)
    worse = (table["model"] == "tPARAFAC2") & (table["lambda_b"] == 100.0)
    table.loc[worse, "fms"] -= 0.5
    assert outcomes(table)["easy-better"] == "holds"
    verdicts = claims.judge(table)
    better = verdicts[(verdicts["claim"] == "easy-better") & (verdicts["at"] == claims.PUBLISHED)]
    assert better["headline"].tolist() == [True] * 4 + [False] * 4
    assert better["p"][better["headline"]].tolist() == [2.0**-6] * 4
    assert better["p_opposite"][~better["headline"]].tolist() == [4 * 2.0**-6] * 4  # Holm: times four


def test_fixed_lines_and_unit_form_are_compared_as_they_should_be():
    weak = {**dict.fromkeys(["PARAFAC2", "tCMF", "NNtCMF"], (0.1, 0.1)), "tPARAFAC2": (0.2, 0.2)}
    table = made_up("almost_zero", weak | dict.fromkeys(plan.CHOSEN, (0.6, 0.6)))
    assert outcomes(table) == {
        "weak-better": "holds",
        "weak-wrong": "holds",
        "weak-repaired": "holds in part",
    }
    assert outcomes(table, plan.HARD) == {"weak-better": "holds", "weak-repaired": "holds"}
    table["fms_unit"] = 1 - table["fms"]  # only the flexible model is judged by it
    assert outcomes(table, plan.HARD)["weak-better"] == "holds"
    assert outcomes(table, plan.FLEXIBLE)["weak-better"] == "contradicted"


def test_holm_multiplies_by_what_is_left_and_never_falls():
    corrected = claims.holm(pd.Series([0.01, 0.04, 0.03, 0.9], index=list("dcba")))
    assert corrected.to_dict() == pytest.approx({"d": 0.04, "c": 0.09, "b": 0.09, "a": 0.9})
    assert claims.holm(pd.Series([0.6, 0.7])).tolist() == [1.0, 1.0]


def test_the_claims_are_those_of_the_paper():
    assert len(claims.CLAIMS) == len({claim.key for claim in claims.CLAIMS}) == 12
    assert {claim.case for claim in claims.CLAIMS} == set(plan.LEVELS)
    for at in (claims.PUBLISHED, *plan.CHOSEN):
        for claim in claims.claims_at(at):
            for one in claim.expected:
                assert one.measure in claims.MEASURES
                assert one.words(claim.case).count(">") == 1
                assert at == claims.PUBLISHED or "tPARAFAC2" not in (one.left, one.right)
    assert [len(claims.claims_at(at)) for at in plan.CHOSEN] == [10, 10]


def test_the_summary_counts_claims_not_comparisons():
    table = made_up("easy", EASY | {"tPARAFAC2": (0.91, 0.83, 0.77, 0.59)})
    assert page.summary(claims.judge(table))[1] == "3 claims with tPARAFAC2, chosen: holds 3."


# --- what is run --------------------------------------------------------------------------------------------


def test_the_full_plan_is_that_of_the_paper():
    full = plan.Plan()
    tasks = list(full.tasks())
    assert (full.size, full.starts, full.datasets) == ((20, 150, 100), 20, 20)
    assert len(tasks) == len(set(tasks)) == 9 * 20 * 15
    assert [task.dataset for task in tasks] == sorted(task.dataset for task in tasks)
    assert plan.HEADLINE in full.lambdas
    assert plan.HEADLINE in plan.QUICK.lambdas


def test_how_many_there_are_does_not_decide_a_result_but_all_else_does():
    same = replace(TINY, datasets=9, cases=("easy",), lambdas=(1.0, plan.HEADLINE))
    assert same.settings == TINY.settings
    for changed in ({"starts": 3}, {"size": (6, 24, 19)}, {"max_iter": 999}, {"coarse": False}):
        assert replace(TINY, **changed).settings != TINY.settings


def test_unit_form_keeps_the_components():
    data = tp.synthetic.overlapping(0, n_times=6, n_rows=24, n_columns=27)
    A, B, C = plan.unit_form(*data.factors)
    assert np.allclose(np.linalg.norm(B, axis=1), 1.0)
    assert np.allclose(tp.metrics.reconstruct(A, B, C), data.signal())


@pytest.mark.slow
def test_rotations_cost_tcmf_nothing_and_the_others_much():
    small = replace(TINY, size=(8, 30, 27))
    found = rotations.rotation_table(small, n_rotations=20).set_index("model")
    assert found.loc["tCMF", "largest_change"] < 1e-9
    assert found.loc["tCMF", "lowest_match"] < 0.8
    assert found.loc["NNtCMF", "most_negative_loading"] < -1e-3
    assert (
        found.loc["tPARAFAC2", "smallest_change"] > found.loc["tPARAFAC2", "smallest_change_refitted"] > 1e-4
    )
    model = plan.estimator("tPARAFAC2", plan.HEADLINE).set_params(epsilon=1e-6, **small.effort(0))
    model.fit(small.data("overlapping", 0.2, 0).X)
    assert found.loc["tPARAFAC2", "objective"] == pytest.approx(model.objective_, rel=1e-6)


# --- a run, and what becomes of it --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    return out, run.run(TINY, out, n_jobs=1)


def lines_of(out):
    return [line for line in (out / "records.jsonl").read_text().splitlines() if line]


@pytest.mark.slow
def test_a_run_writes_tables_figures_and_a_page(first):
    out, verdicts = first
    table = pd.read_csv(out / "results.csv")
    assert len(table) == len(TASKS) == 12
    assert table["fms"].between(0, 1).all()
    assert set(table["kept"]) <= {0, 1, 2}
    assert table.loc[table["model"] == plan.HARD, "rigidity"].eq(np.inf).all()
    assert table.loc[table["model"] == plan.HARD, "smoothness"].isin(plan.COARSE["smoothness"]).all()
    assert set(verdicts["outcome"]) == {"too few data sets"}
    text = (out / "README.md").read_text()
    pictures = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) == 4
    for picture in pictures:
        assert (out / picture).stat().st_size > 5000
        assert (out / picture).with_suffix(".pdf").exists()
    for line in text.splitlines():
        assert not line.startswith("|") or line.endswith("|")


@pytest.mark.slow
def test_a_second_run_does_nothing_again(first, monkeypatch):
    out, verdicts = first
    before = (out / "records.jsonl").read_bytes()
    monkeypatch.setattr(run, "measure", None)
    pd.testing.assert_frame_equal(run.run(TINY, out, n_jobs=1), verdicts)
    assert (out / "records.jsonl").read_bytes() == before


def spoilt(line):
    """Give a line with one digit of one score changed, one cut off, and one of other settings."""
    check, settings, task, row = json.loads(line)
    yield json.dumps([check, settings, task, row | {"fms": row["fms"] / 2}])
    yield line[:-40]
    yield json.dumps([check, settings.replace("starts=2", "starts=3"), task, row])
    content = [settings.replace("starts=2", "starts=3"), task, row]
    yield json.dumps([run._checksum(content), *content])
    yield json.dumps({"task": task, "row": row})
    yield json.dumps([check, row])
    yield "7"
    yield "\x00\x01"


@pytest.mark.slow
def test_damaged_and_foreign_records_are_not_trusted(first, tmp_path):
    lines = lines_of(first[0])
    kept = run.read_records(first[0] / "records.jsonl", TINY.settings)
    assert set(kept) == set(TASKS)
    log = tmp_path / "records.jsonl"
    for bad in spoilt(lines[0]):
        log.write_text("\n".join([bad, *lines[1:]]) + "\n")
        found = run.read_records(log, TINY.settings)
        assert set(kept) - set(found) == {TASKS[0]}, bad[:60]


@pytest.mark.slow
def test_a_record_after_one_that_was_cut_off_is_read(first, tmp_path):
    log = tmp_path / "records.jsonl"
    log.write_text(lines_of(first[0])[0][:-40])
    row = run.read_records(first[0] / "records.jsonl", TINY.settings)[TASKS[3]]
    run.add_record(log, TINY.settings, TASKS[3], row)
    assert set(run.read_records(log, TINY.settings)) == {TASKS[3]}


@pytest.mark.slow
def test_a_run_killed_in_the_middle_goes_on(first, tmp_path):
    out = tmp_path / "out"
    code = f"import run; from pathlib import Path; run.run(run.{TINY!r}, Path({str(out)!r}), 1)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(run.__file__).parent, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 300
    while not (out / "records.jsonl").exists() or len(lines_of(out)) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = lines_of(out)
    finished = len(run.read_records(out / "records.jsonl", TINY.settings))
    assert 3 <= finished < len(TASKS)
    assert finished >= len(kept) - 1  # at most the line that was being written is lost
    run.run(TINY, out, n_jobs=2)
    assert lines_of(out)[:finished] == kept[:finished]
    assert len(lines_of(out)) - len(kept) == len(TASKS) - finished
    again, whole = (pd.read_csv(folder / "results.csv").drop(columns="seconds") for folder in (out, first[0]))
    pd.testing.assert_frame_equal(again, whole, rtol=1e-9)


def test_the_command_line_refuses_what_it_does_not_know(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "--cases", "esay"])
    with pytest.raises(SystemExit):
        run.main()
    assert "esay" in capsys.readouterr().err


def test_it_knows_the_package_by_its_public_names_only():
    for script in sorted(Path(run.__file__).parent.glob("*.py")):
        text = script.read_text()
        assert "from tparafac2" not in text, script
        assert "import tparafac2." not in text, script
        used = {rest.split(".")[0].split("(")[0] for rest in re.findall(r"\btp\.([\w.]+)", text)}
        assert used <= set(tp.__all__), script


def test_shades_deepen_and_families_stand_apart():
    boxes = figures._line_up(["PARAFAC2", "tPARAFAC2"], [1.0, 10.0, 1000.0])
    places = [place for _, _, place, _ in boxes]
    assert [round(b - a, 1) for a, b in pairwise(places)] == [1.4, 1.0, 1.0]
    depths = [sum(look["facecolor"]) for _, _, _, look in boxes[1:]]
    assert depths == sorted(depths, reverse=True)
