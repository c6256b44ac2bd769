"""Work in pieces that threads may share; what comes out does not depend on how many there are."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Team(NamedTuple):
    """Threads that share the work, the one that asks for it among them."""

    size: int
    others: Executor


_team: ContextVar[Team | None] = ContextVar("team", default=None)


@contextmanager
def teamwork(threads: int) -> Iterator[None]:
    """What is done in pieces meanwhile, in this thread, is shared among so many.

    Examples
    --------
    >>> done = []
    >>> with teamwork(2):
    ...     in_pieces(done.append, 10, 4)
    >>> sorted(done, key=lambda piece: piece.start)
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    """
    if threads < 2:
        yield
        return
    with ThreadPoolExecutor(threads - 1) as others:
        before = _team.set(Team(threads, others))
        try:
            yield
        finally:
            _team.reset(before)


@contextmanager
def one_busy() -> Iterator[None]:
    """One of the threads has something else to do meanwhile.

    Examples
    --------
    >>> with teamwork(2), one_busy():
    ...     in_pieces(print, 2, 1)
    slice(0, 1, None)
    slice(1, 2, None)
    """
    team = _team.get()
    left = None if team is None or team.size < 3 else team._replace(size=team.size - 1)
    before = _team.set(left)
    try:
        yield
    finally:
        _team.reset(before)


def in_pieces(work: Callable[[slice], object], length: int, size: int) -> None:
    """Do the work on every piece of a length, each of the given size but the last."""
    team = _team.get()
    pieces = [slice(first, min(first + size, length)) for first in range(0, length, size)]
    if team is None or len(pieces) == 1:
        _one_by_one(work, pieces)
        return
    elsewhere = [
        team.others.submit(_one_by_one, work, pieces[i :: team.size])
        for i in range(1, min(team.size, len(pieces)))
    ]
    try:
        _one_by_one(work, pieces[:: team.size])
    finally:
        wait(elsewhere)
    for done in elsewhere:
        done.result()


def _one_by_one(work: Callable[[slice], object], pieces: Sequence[slice]) -> None:
    for piece in pieces:
        work(piece)
