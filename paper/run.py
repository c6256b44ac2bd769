"""Run the paper's experiments: python paper/run.py --out out/paper [--quick].

Fits the models to three kinds of synthetic data, draws the figures, judges the claims, and writes a page with
all of it, README.md. Run it again to resume: every result is on disk as soon as it is there (records.jsonl).
"""

import argparse
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import figures
import pandas as pd
from claims import judge
from joblib import Parallel, delayed
from page import summary, write_page
from plan import CHOSEN, HEADLINE, LEVELS, QUICK, Plan, Task, factors_of, fit, measure
from rich.progress import track
from rotations import rotation_table

SHOWN = {"almost_zero": 1, "overlapping": 0.2}  # the levels of which the paper shows an example


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/paper"), help="folder (out/paper)")
    parser.add_argument("--quick", action="store_true", help="in about a minute: fewer and smaller data sets")
    parser.add_argument("--cases", nargs="+", choices=LEVELS, help="only these")
    parser.add_argument("--lambdas", nargs="+", type=float, help=f"values of lambda_B beside {HEADLINE:g}")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 for one per core")
    given = parser.parse_args()
    plan = QUICK if given.quick else Plan()
    lambdas = tuple(sorted({*(given.lambdas or plan.lambdas), HEADLINE}))
    plan = replace(plan, cases=tuple(given.cases or plan.cases), lambdas=lambdas)
    verdicts = run(plan, given.out, given.jobs)
    print(*summary(verdicts), f"Figures, tables and all verdicts: {given.out / 'README.md'}", sep="\n")


def run(plan: Plan, out: Path, n_jobs: int = -1) -> pd.DataFrame:
    """Do what is not done yet, write everything to a folder, and give the verdicts."""
    (out / "figures").mkdir(parents=True, exist_ok=True)
    log, tasks = out / "records.jsonl", list(plan.tasks())
    rows = read_records(log, plan.settings)
    missing = [task for task in tasks if task not in rows]
    print(f"{len(tasks)} fits, {len(missing)} of them to do")
    done = Parallel(n_jobs, return_as="generator_unordered")(delayed(measure)(task, plan) for task in missing)
    for task, row in track(done, "Fitting", total=len(missing), transient=True):
        add_record(log, plan.settings, task, row)
        rows[task] = row
    table = pd.DataFrame([rows[task] for task in tasks])
    verdicts = judge(table)
    rotations = rotation_table(plan)
    examples = {case: example(case, table, plan) for case in SHOWN if case in plan.cases}
    figures.save_all(table, {case: found[1:] for case, found in examples.items()}, out / "figures")
    page = write_page(plan, table, verdicts, rotations, {case: one[0] for case, one in examples.items()})
    (out / "README.md").write_text(page, encoding="utf-8")
    for name, content in {"results": table, "verdicts": verdicts, "uniqueness": rotations}.items():
        content.to_csv(out / f"{name}.csv", index=False)
    return verdicts


def read_records(log: Path, settings: str) -> dict[Task, dict[str, Any]]:
    """Read what came out of earlier tasks: one line of JSON each.

    A line counts if its checksum is right and it was made with these settings, by this version. Others (cut
    off, damaged, of another run) are left alone, and their tasks are done again.
    """
    rows, ignored = {}, 0
    for line in filter(None, log.read_bytes().splitlines() if log.exists() else ()):
        try:
            check, *content = json.loads(line)
            made_by, task, row = content
            trusted = check == _checksum(content) and made_by == settings
        except (ValueError, TypeError):
            trusted = False
        if trusted:
            rows[Task(*task)] = row
        else:
            ignored += 1
    if ignored:
        print(f"{ignored} lines of {log} are damaged or of other settings, and are not used.")
    return rows


def add_record(log: Path, settings: str, task: Task, row: dict[str, Any]) -> None:
    """Keep what came out of a task."""
    content = [settings, task, row]
    with open(log, "ab") as file:
        # It begins on a line of its own, since the one before may have been cut off.
        file.write(f"\n{json.dumps([_checksum(content), *content])}\n".encode())
        os.fsync(file.fileno())


def _checksum(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def example(case: str, table: pd.DataFrame, plan: Plan) -> tuple[int, Any, dict[str, Any]]:
    """Give the number of a typical data set, the data, and the factors that four methods find in them.

    Typical is the median gain of tPARAFAC2 over PARAFAC2, the smaller of two, so that no example flatters.
    """
    rows = table[(table["case"] == case) & (table["level"] == SHOWN[case])]
    scores = rows.pivot(index="dataset", columns="method", values="fms")
    gains = (scores[f"tPARAFAC2 {HEADLINE:g}"] - scores["PARAFAC2"]).sort_values(kind="stable")
    dataset = int(gains.index[(len(gains) - 1) // 2])
    estimates = {}
    for model in ("PARAFAC2", "tPARAFAC2", *CHOSEN):
        task = Task(case, SHOWN[case], dataset, model, HEADLINE if model == "tPARAFAC2" else None)
        data, fitted = fit(task, plan)  # as for its record
        estimates[task.method] = factors_of(fitted, model)
    return dataset, data, estimates


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Stopped. Run it again to resume.") from None
