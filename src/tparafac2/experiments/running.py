"""Do what is not done yet, and keep every record the moment it comes."""

from collections.abc import Callable
from typing import NamedTuple

from tparafac2.experiments.plan import Plan, Task
from tparafac2.experiments.store import Store
from tparafac2.experiments.workers import Workers


class TasksDone(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    task: Task | None  # the one just finished; None at the beginning


Watch = Callable[[TasksDone], None]


def run(plan: Plan, store: Store, workers: Workers, watch: Watch) -> int:
    """Do the tasks of a plan that have no record yet.

    Parameters
    ----------
    plan : Plan
    store : Store
    workers : Workers
    watch : callable
        Told at the beginning, and after every task.

    Returns
    -------
    int
        How many tasks were done now.
    """
    tasks = list(plan.tasks())
    finished = store.read()
    missing = [task for task in tasks if task not in finished]
    before = len(tasks) - len(missing)
    watch(TasksDone(before, len(tasks), None))
    if missing:
        for number, (task, record) in enumerate(workers.do(missing, plan.protocol), before + 1):
            store.add(task, record)
            watch(TasksDone(number, len(tasks), task))
    return len(missing)
