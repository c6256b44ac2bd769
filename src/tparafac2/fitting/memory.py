"""How much memory a fit needs, from shapes alone."""

from tparafac2.data import (
    Compressible,
    PartlyObserved,
    Sweepable,
    is_complete,
    is_seen_by_slice,
    sampled_rows,
    sketched_rows,
)
from tparafac2.solver import Problem
from tparafac2.starts import batch_size

_DOUBLE = 8
_MOST_POLISHED = 2


def needed_bytes(problem: Problem, smaller: tuple[int, int, int], n_starts: int, n_jobs: int) -> int:
    """Peak of the arrays that a fit holds, the copy of the data included.

    Parameters
    ----------
    problem : Problem
        With the data as they are before compression.
    smaller : (K, I, J)
        Their shape after it.
    n_starts, n_jobs : int
    """
    K, I, J = problem.data.shape
    patterns = problem.rank * K * J
    fit = _fit_bytes(problem, smaller, n_starts, n_jobs)
    if smaller == problem.data.shape:
        return problem.data.nbytes + fit
    # The basis is as large as the data; three full patterns are there when a start is drawn.
    dense = isinstance(problem.data, Compressible)
    basis = _DOUBLE * K * I * J if dense else problem.data.nbytes
    return problem.data.nbytes + basis + fit + 3 * _DOUBLE * patterns


def _fit_bytes(problem: Problem, shape: tuple[int, int, int], n_starts: int, n_jobs: int) -> int:
    K, I, J = shape
    rank, size = problem.rank, problem.data.dtype.itemsize
    # The starts may be run on a sketch beside the data.
    rows = sketched_rows(problem.data, rank) if is_complete(problem.data) else None
    if isinstance(problem.data, Sweepable):
        rows = rows or sampled_rows(problem.data, rank)
    together = min(n_starts, batch_size((K, rows or I, J), rank) * max(1, n_jobs))
    # Patterns and products; auxiliary and dual of each split term, and those of one step before.
    split = 0 if problem.static else len(problem.b.splits) + (problem.b.shrinking > 0)
    per_start = size * (2 + 4 * split)
    once = size * (rows or 0) // rank
    if isinstance(problem.data, Sweepable):
        once += 3 * size * _MOST_POLISHED  # products at two points, and those that are being summed
    own = isinstance(problem.data, PartlyObserved) and not is_seen_by_slice(problem.data)
    if own or problem.coupled is not None:
        from tparafac2.data.gaps import LANES

        # Each column's cross products; pairs of one start, or of some to make enough of them; inverses.
        per_start += size * (rank + 1) // 2
        once += _DOUBLE * (max((rank + 1) // 2, LANES // rank) + rank)
    # Where starts ended is kept in double precision until one is chosen.
    return (per_start * together + _DOUBLE * n_starts + once) * rank * K * J
