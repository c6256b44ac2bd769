"""How much smoothness repairs the patterns of concepts that have almost vanished.

The paper's almost-zero data sets (20 for one, 20 for two weak concepts, noise 0.5, 20 starts), with lambda_B
far beyond the published 1 to 1000. The table is in docs/decisions/weak-slices.md.
"""

from dataclasses import replace

import pandas as pd
from plan import Method, Plan, Setting, Task
from records import row
from running import Local

LAMBDAS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
PLAN = replace(Plan(), cases=("almost_zero",))


def main() -> None:
    methods = [Method("PARAFAC2"), *(Method("tPARAFAC2", lambda_b) for lambda_b in LAMBDAS)]
    settings = (Setting("almost_zero", 1), Setting("almost_zero", 2))
    tasks = [Task(setting, i, method) for setting in settings for i in range(20) for method in methods]
    found = [(task, record) for task, record in Local(-1).do(tasks, PLAN.protocol)]
    table = pd.DataFrame([{**row(record), "method": task.method.label} for task, record in found])
    medians = table.groupby(["level", "method"])[["weak_patterns", "fms", "fms_a", "fms_b", "kept"]].median()
    order = [(level, method.label) for level in (1.0, 2.0) for method in methods]
    print(medians.loc[order].round(3).to_string())


if __name__ == "__main__":
    main()
