"""Dask clusters: to find one, to send it things once, and to wait for what it makes, but not for ever."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tparafac2.errors import InvalidValue, WorkerLost
from tparafac2.words import Argument

Done = TypeVar("Done")

PATIENCE = 10
"""Seconds in which a scheduler must answer, and in which workers must come back when all are gone."""

_LOOK_SECONDS = 0.5
_ATOMS = (str, int, float, bool, type(None))


def require_dask(asked: str) -> None:
    """Refuse to look for a cluster where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InvalidValue(
            "a Dask cluster was asked for, but Dask is not installed: pip install 'tparafac2[cluster]', or "
            "leave ",
            Argument("dask"),
            " out to work on this machine alone.",
            received=asked,
        ) from None


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster whose scheduler has an address, or of one on this machine ("local")."""
    require_dask(address)
    from distributed import Client, LocalCluster

    if address == "local":
        usual: dict[str, Any] = {"dashboard_address": None, "silence_logs": "CRITICAL"}
        with (
            LocalCluster(threads_per_worker=1, **usual) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as problem:
        raise InvalidValue(
            f"no Dask scheduler answers at {address!r} ({problem}). Give the address it printed when it "
            "began, such as tcp://10.0.0.1:8786, or 'local'.",
            received=address,
        ) from None
    with client:
        yield client


def current_client() -> Any:
    """The client of a cluster that this process is connected to; None if there is none."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def workers_of(client: Any) -> list[dict[str, Any]]:
    """What is known of every worker of a cluster; nothing of one that is about to end."""
    return list(client.scheduler_info(n_workers=-1).get("workers", {}).values())


def count_threads(client: Any) -> int:
    """How many threads the workers of a cluster have together."""
    threads: int = sum(worker["nthreads"] for worker in workers_of(client))
    return max(1, threads)


def sent(client: Any, thing: Any) -> Any:
    """What workers need, as a task: the scheduler can have it made again where a worker is lost.

    Scattered to workers of whom one is dying, it may never arrive, and nobody is told.
    """
    import dask

    # It is as large as it must be: nobody needs a warning.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PB"}):
        return client.submit(_Packed(thing), pure=False)


@dataclass(frozen=True, eq=False)
class _Packed:
    """A thing in which Dask does not look for tasks."""

    thing: Any

    def __call__(self) -> Any:
        return self.thing


@dataclass(eq=False)
class Cluster:
    """Does pieces of work on the workers of a Dask cluster; what several pieces need is sent once.

    Parameters
    ----------
    client : distributed.Client
    """

    client: Any
    _known: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # with the things, that ids stay theirs

    def do(
        self,
        work: Callable[..., Done],
        pieces: Sequence[tuple[Any, ...]],
        stop: Callable[[], bool] = lambda: False,
    ) -> Generator[Done | None, None, None]:
        """Hand out what comes of the pieces, in their order; None for what is not done when all is to stop.

        Parameters
        ----------
        work : callable
        pieces : sequence of tuple
            Arguments of the calls.
        stop : callable
            Whether nobody wants to wait any longer.
        """
        waiting = [self.client.submit(work, *map(self._sent_once, piece), pure=False) for piece in pieces]
        try:
            while waiting:
                yield result_of(self.client, waiting[0], stop)
                del waiting[0]
        finally:
            if waiting and self.client.status == "running":
                self.client.cancel(waiting)

    def _sent_once(self, thing: Any) -> Any:
        if type(thing) in _ATOMS or callable(thing):
            return thing
        if id(thing) not in self._known:
            self._known[id(thing)] = thing, sent(self.client, thing)
        return self._known[id(thing)][1]


class _Answer:
    """What comes of a task, waited for by a thread of its own.

    Asking with a time limit would break off an answer that is on its way, and Dask may then lose it.
    """

    def __init__(self, future: Any) -> None:
        self.there = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None
        # A daemon: nobody waits for an answer that is not wanted any more.
        threading.Thread(target=self._wait, args=(future,), daemon=True).start()

    def _wait(self, future: Any) -> None:
        try:
            self.value = future.result()
        except BaseException as error:
            self.error = error
        self.there.set()


def result_of(client: Any, future: Any, stop: Callable[[], bool] = lambda: False) -> Any:
    """What comes of a task, None if all is to stop before; refuse to wait where nobody is left to do it."""
    seen, answer = time.monotonic(), _Answer(future)
    while not answer.there.wait(_LOOK_SECONDS):
        if stop():
            return None
        if _has_workers(client):
            seen = time.monotonic()
        elif time.monotonic() - seen > PATIENCE:
            raise _nobody_left(None)
    if answer.error is None:
        return answer.value
    if isinstance(answer.error, Exception) and is_loss(answer.error):
        raise _nobody_left(answer.error) from answer.error
    raise answer.error


def is_loss(error: Exception) -> bool:
    """Whether an error says that workers, or the whole cluster, were lost."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    return isinstance(error, KilledWorker | CancelledError | ClosedClientError | CommClosedError)


def _nobody_left(error: Exception | None) -> WorkerLost:
    why = "" if error is None else f" ({type(error).__name__})"
    return WorkerLost(
        f"the workers of the Dask cluster were lost, and did not come back{why}, perhaps for lack of memory: "
        "give it more workers, or more memory for each, and begin again."
    )


def _has_workers(client: Any) -> bool:
    if client.status != "running":
        return False
    try:
        return bool(workers_of(client))
    except (OSError, TimeoutError):
        return False


def is_unwanted() -> bool:
    """Asked by a task on a worker: whether it was cancelled, or its client is gone."""
    from distributed import get_worker

    try:
        worker = get_worker()
        task = worker.state.tasks.get(worker.get_current_task())
    except (ValueError, AttributeError):  # no worker, or one of another make
        return False
    return task is None or task.state == "cancelled"
