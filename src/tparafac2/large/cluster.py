"""Blocks of rows that stay on the workers of a Dask cluster: what travels is as small as the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from tparafac2 import clusters
from tparafac2.clusters import is_loss, result_of, sent, workers_of
from tparafac2.data.memory import in_bytes
from tparafac2.errors import InvalidValue, TooLarge, WorkerLost
from tparafac2.large.blocks import Block, Reads, Work, added
from tparafac2.large.sources import Source
from tparafac2.words import Argument

_ATTEMPTS = 5  # at one pass, each after workers were lost
_PAUSE = 0.2  # seconds before the first of them, longer before the others
_FAN_IN = 4  # answers that are put together at a time
_HELD = 1.5  # times as much memory as the data take, while blocks are made


@dataclass(frozen=True, eq=False)
class OnWorkers:
    """Blocks of rows on the workers of a cluster, which compute with them where they are.

    What a worker had that dies is read and made again by others.

    Parameters
    ----------
    client : distributed.Client
    source : Source
    edges : tuple of slice
    blocks : list of futures
    reads : Reads
        Where it is noted how often all blocks were worked on.
    """

    client: Any
    source: Source
    edges: tuple[slice, ...]
    blocks: list[Any]
    reads: Reads = field(default_factory=Reads)

    @classmethod
    def of(cls, client: Any, source: Source, edges: tuple[slice, ...]) -> OnWorkers:
        """Have the workers read their rows."""
        _require_room(client, source)
        return cls(client, source, edges, _entries(client, source, edges))

    def remade(self, recipe: Callable[[NDArray[Any]], Block]) -> OnWorkers:
        """What a recipe makes of every block."""
        made = [self.client.submit(recipe, block, pure=False) for block in self.blocks]
        return OnWorkers(self.client, self.source, self.edges, made, self.reads)

    @property
    def largest(self) -> int:
        """Nothing of the blocks is held here."""
        return 0

    def run(self, work: Work, shared: Any, own: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        """Do the work on every block once: what each has of its own, in order, and the sums."""
        began = time.perf_counter()
        for attempt in range(_ATTEMPTS):
            try:
                mine, total = self._once(work, shared, own)
            except Exception as error:
                self._recover(error, last=attempt == _ATTEMPTS - 1)
                time.sleep(_PAUSE * (attempt + 1))  # until the scheduler has noticed who is gone
                continue
            self.reads.passes, self.reads.part = self.reads.passes + 1, 1.0
            self.reads.seconds += time.perf_counter() - began
            K, I, J = self.source.shape
            self.reads.bytes += K * I * J * self.source.dtype.itemsize
            if self.reads.watch is not None:
                self.reads.watch()
            return mine, total
        raise AssertionError("the last attempt ends with an error or an answer")

    def _once(self, work: Work, shared: Any, own: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        given = None if shared is None else sent(self.client, shared)
        parts = [
            self.client.submit(_worked, work, block, given, its_own, pure=False)
            for block, its_own in zip(self.blocks, own)
        ]
        while len(parts) > 1:
            groups = [parts[first : first + _FAN_IN] for first in range(0, len(parts), _FAN_IN)]
            parts = [self.client.submit(_together, group, pure=False) for group in groups]
        mine, total = result_of(self.client, parts[0])
        return mine, total

    def _recover(self, error: Exception, *, last: bool) -> None:
        """Go on after workers were lost; raise where that is not what happened, or nobody is left."""
        cause = error.__cause__ if isinstance(error, WorkerLost) else error
        if not isinstance(cause, Exception) or not is_loss(cause):
            raise error
        if last or not _wait_for_workers(self.client):
            raise WorkerLost(
                f"workers of the cluster were lost again and again in pass {self.reads.passes + 1} over the "
                f"data ({type(cause).__name__}), perhaps for lack of memory: give the cluster more workers "
                "or more memory for each, and fit again."
            ) from error
        # What is "lost" is being computed again by others.
        gone = [b for b, block in enumerate(self.blocks) if block.status in ("cancelled", "error")]
        if gone:
            first = self.edges[gone[0]]
            raise WorkerLost(
                f"a worker of the cluster was lost with rows {first.start} to {first.stop - 1} of "
                f"{self.source.name!r}, which nobody can compute again: keep the data where all workers can "
                "read them, for example in a Zarr store, and fit again."
            ) from error


def _entries(client: Any, source: Source, edges: tuple[slice, ...]) -> list[Any]:
    """Futures of entries as a source gives them, which workers read, or have already."""
    inner = getattr(source, "source", None)
    if inner is not None:  # prepared when it is read
        return [
            client.submit(source.finished, stored, rows, pure=False)  # type: ignore[attr-defined]
            for stored, rows in zip(_entries(client, inner, edges), edges)
        ]
    lazy = getattr(source, "lazy_rows", None)
    if lazy is not None:
        found: list[Any] = client.compute([lazy(rows) for rows in edges])
        return found
    return [client.submit(source.read, rows, pure=False) for rows in edges]


def _worked(work: Work, block: Block, shared: Any, own: Any) -> tuple[list[Any], tuple[Any, ...]]:
    mine, parts = work(block, shared, own)
    return [mine], parts


def _together(
    answers: Sequence[tuple[list[Any], tuple[Any, ...]]],
) -> tuple[list[Any], tuple[Any, ...]]:
    mine, total = list(answers[0][0]), tuple(part.copy() for part in answers[0][1])
    for more, parts in answers[1:]:
        mine += more
        total = added(total, parts)
    return mine, total


def _require_room(client: Any, source: Source) -> None:
    """Refuse data that the memory of all workers together cannot hold."""
    limits = [worker["memory_limit"] for worker in workers_of(client)]
    if not limits:
        raise InvalidValue(
            "the Dask cluster has no workers: start some, and fit again.", received=len(limits)
        )
    K, I, J = source.shape
    needed = int(_HELD * 8 * K * I * J)
    if all(limits) and needed > sum(limits):
        raise TooLarge(
            f"the {len(limits)} workers of the cluster have {in_bytes(sum(limits))} of memory together, "
            f"and {source.name!r} takes about {in_bytes(needed)}: add workers, or fit it without ",
            Argument("client"),
            ", from the disk of this machine.",
            received=needed,
        )


def _wait_for_workers(client: Any) -> bool:
    try:
        client.wait_for_workers(1, timeout=clusters.PATIENCE)
    except Exception as error:
        if not isinstance(error, TimeoutError | OSError) and not is_loss(error):
            raise
        return False
    return True
