"""How a run ended: the value is the sentence the user reads."""

from enum import Enum


class Status(Enum):
    """How a run ended.

    Examples
    --------
    >>> Status.CONVERGED.value
    'Converged: the objective no longer changes and all constraints hold.'
    """

    RUNNING = "Still running."
    CONVERGED = "Converged: the objective no longer changes and all constraints hold."
    MAX_ITER = "Stopped at max_iter while the objective was still changing: raise max_iter or loosen tol."
    INFEASIBLE = (
        "Stopped at max_iter with a constraint not yet met to feasibility_tol: raise max_iter, or choose a "
        "lower rank; the data may violate the PARAFAC2 constraint strongly."
    )
    INTERRUPTED = "Interrupted by the user: the factors are the best found so far, not a minimum."
    NOT_FINITE = (
        "Broke down: numbers became infinite. Check the data for extreme outliers, or lower the rank."
    )
    VANISHED = (
        "All components vanished: the penalties outweigh the data. Lower smoothness (or the lambdas) by a "
        "factor of ten or more."
    )

    @property
    def converged(self) -> bool:
        """Whether the run ended where it should."""
        return self is Status.CONVERGED
