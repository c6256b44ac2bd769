"""How a run ended."""

from enum import StrEnum


class Status(StrEnum):
    """How a run ended.

    Examples
    --------
    >>> str(Status.MAX_ITER), Status.MAX_ITER.converged
    ('max_iter', False)
    """

    RUNNING = "running"
    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    INFEASIBLE = "infeasible"
    INTERRUPTED = "interrupted"
    NOT_FINITE = "not_finite"
    VANISHED = "vanished"

    @property
    def converged(self) -> bool:
        """Whether the run ended where it should."""
        return self is Status.CONVERGED
