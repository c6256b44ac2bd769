"""Products with large data in pieces, which threads may share; pieces do not depend on how many there are."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

_team: ContextVar[Executor | None] = ContextVar("team", default=None)


@contextmanager
def teamwork(threads: int) -> Iterator[None]:
    """Products that are asked for meanwhile, in this thread, are shared among so many.

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
    with ThreadPoolExecutor(threads) as team:
        before = _team.set(team)
        try:
            yield
        finally:
            _team.reset(before)


def in_pieces(work: Callable[[slice], object], length: int, size: int) -> None:
    """Do the work on every piece of a length, each of the given size but the last."""
    pieces = [slice(first, min(first + size, length)) for first in range(0, length, size)]
    team = _team.get()
    if team is None or len(pieces) == 1:
        for piece in pieces:
            work(piece)
    else:
        for _ in team.map(work, pieces):
            pass
