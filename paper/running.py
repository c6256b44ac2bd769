"""Do what is not done yet, and keep every record the moment it comes.

This process does it, several do, or a Dask cluster: the answers are the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from measure import measure
from plan import Plan, Task
from plan import Protocol as Settings
from records import Record, Store

from tparafac2.clusters import connected, require_dask
from tparafac2.starts.processes import in_processes

Done = tuple[Task, Record]


class TasksDone(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    task: Task | None  # the one just finished; None at the beginning


Watch = Callable[[TasksDone], None]


class Workers(Protocol):
    """Does tasks, and hands out records as they come, in any order."""

    def do(self, tasks: Sequence[Task], protocol: Settings) -> Iterator[Done]:
        """Do the tasks."""
        ...


class Local:
    """Processes on this machine: `jobs` of them, -1 for one per core."""

    def __init__(self, jobs: int = -1) -> None:
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
            raise ValueError(f"jobs must be a positive whole number, or -1 for all cores; got {jobs!r}.")
        self.jobs = jobs

    def do(self, tasks: Sequence[Task], protocol: Settings) -> Iterator[Done]:
        """Do the tasks, each in one process of its own."""
        if self.jobs == 1:
            yield from ((task, measure(task, protocol)) for task in tasks)
            return
        work = [(task, protocol) for task in tasks]
        results = in_processes(_elsewhere, work, min(self.jobs, len(tasks)), ordered=False)
        try:
            yield from results
        except ChildProcessError:
            raise ChildProcessError(
                "a process that did the fits was killed, perhaps for lack of memory. What was finished is "
                "kept, and the same command goes on from there; fewer processes (--jobs) need less memory."
            ) from None
        finally:
            results.close()


class Cluster:
    """A Dask cluster.

    Parameters
    ----------
    address : str
        Of its scheduler, such as ``tcp://10.0.0.1:8786``; or "local" for one on this machine.
    jobs : int
        Number of workers of a local one; -1 for one per core.
    """

    def __init__(self, address: str, jobs: int = -1) -> None:
        require_dask(address)
        self.address = address
        self.jobs = jobs

    def do(self, tasks: Sequence[Task], protocol: Settings) -> Iterator[Done]:
        """Do the tasks; those of a worker that dies are done by another."""
        from distributed import as_completed

        with connected(self.address, None if self.jobs < 0 else self.jobs) as client:
            futures = {client.submit(measure, task, protocol, pure=False): task for task in tasks}
            try:
                for future in as_completed(futures):
                    yield futures.pop(future), future.result()
                    # Let go of it, or the cluster would keep all records until the end.
                    future.release()
            finally:
                client.cancel(list(futures))


def _elsewhere(task: Task, protocol: Settings) -> Done:
    return task, measure(task, protocol)


def workers(jobs: int = -1, dask: str | None = None) -> Workers:
    """Workers by what was asked for: a cluster if there is an address, else processes."""
    return Local(jobs) if dask is None else Cluster(dask, jobs)


def run(plan: Plan, store: Store, workers: Workers, watch: Watch) -> int:
    """Do the tasks of a plan that have no record yet, and tell how many; `watch` is told after each."""
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
