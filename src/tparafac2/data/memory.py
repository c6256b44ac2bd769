"""Say that something will not fit in memory before starting on it."""

import os
from collections.abc import Sequence

from tparafac2.errors import TooLarge
from tparafac2.words import Advice, Part


def physical_memory() -> int | None:
    """Memory that this process may use, in bytes: at most the machine's. None if the system does not tell.

    Examples
    --------
    >>> memory = physical_memory()
    >>> memory is None or memory > 0
    True
    """
    try:
        import resource  # not on Windows

        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, AttributeError, ValueError, OSError):
        return None
    if limit != resource.RLIM_INFINITY:
        total = min(total, limit)
    return total if total > 0 else None


def require_memory(
    needed_bytes: int, what: str, advice: Sequence[Part] = (), allowed: int | None = None
) -> None:
    """Refuse work that needs more memory than the machine has, or than is allowed.

    Parameters
    ----------
    needed_bytes : int
    what : str
        What needs the memory, as the beginning of a sentence.
    advice : str or parts of a sentence
        What else can be changed, as a sentence.
    allowed : int, optional
        How many bytes the user allows.

    Raises
    ------
    MemoryError
        If more is needed than there is.

    Examples
    --------
    >>> require_memory(1000, "A small table")
    """
    available = physical_memory() if allowed is None else allowed
    if available is not None and needed_bytes > available:
        more = [" ", *advice] if advice else []
        has = "this machine has" if allowed is None else "what may be used is"
        raise TooLarge(
            f"{what} needs {in_bytes(needed_bytes)} of memory, but {has} {in_bytes(available)}. "
            "Keep fewer rows, columns or time points, ",
            Advice("float32", "use dtype='float32' to halve the need, "),
            "or use a machine with more memory.",
            *more,
            received=needed_bytes,
        )


def in_bytes(size: float) -> str:
    """A size as one would say it.

    Examples
    --------
    >>> in_bytes(8e9), in_bytes(12e6)
    ('8.0 GB', '12.0 MB')
    """
    size = min(size, 10**27)  # more has no meaning, and may be no float
    return f"{size / 1e9:,.1f} GB" if size >= 50_000_000 else f"{size / 1e6:,.1f} MB"
