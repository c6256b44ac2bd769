"""Where the starts begin: drawn, taken from the data, or given."""

import math
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from tparafac2.data import (
    Compressed,
    Compressible,
    FloatArray,
    SliceData,
    padded,
    present_columns,
)
from tparafac2.solver import Start

# Largest number of a factor, with which products of the three can be computed.
_TAME = (1e-30, 1e30)

# Norm of a given start's model, where that of the data is one, that is still a matter of taste.
_NEAR = (1e-6, 1e6)


def child_seeds(random_state: Any, n: int) -> list[np.random.SeedSequence]:
    """One seed for each start; start i has the same seed however many starts there are.

    `random_state` is None, a whole number, a SeedSequence or a Generator.

    Examples
    --------
    >>> child_seeds(3, 2)[1].spawn_key == child_seeds(3, 9)[1].spawn_key
    True
    """
    if isinstance(random_state, np.random.Generator):
        root = np.random.SeedSequence(int(random_state.integers(2**63)))
    elif isinstance(random_state, np.random.SeedSequence):
        # A copy: spawning from the user's own would make the second fit differ from the first.
        root = np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    else:
        root = np.random.SeedSequence(random_state)
    return root.spawn(n)


def uniform_start(seed: np.random.SeedSequence, shape: tuple[int, int, int], rank: int) -> Start:
    """Factors from U(0, 1): loadings, then patterns, then strengths, so that models share what they can."""
    rng = np.random.default_rng(seed)
    K, I, J = shape
    return Start(rng.random((I, rank)), rng.random((K, J, rank)), rng.random((K, rank)))


def mixed_start(seed: np.random.SeedSequence, end: Start, *, signed: bool) -> Start:
    """Somewhere else, from which a minimum worth its name is found again: the loadings, well mixed.

    Parameters
    ----------
    seed : SeedSequence
    end : Start
        Where a run ended.
    signed : bool
        Whether loadings may be negative; else they are mixed with positive weights.

    Examples
    --------
    >>> end = Start(np.eye(3, 2), np.ones((1, 3, 2)), np.ones((1, 2)))
    >>> mixed = mixed_start(np.random.SeedSequence(0), end, signed=False)
    >>> bool((mixed.A >= 0).all()), np.linalg.matrix_rank(mixed.A).tolist(), mixed.B is end.B
    (True, 2, True)
    """
    rng = np.random.default_rng(seed)
    rank = end.A.shape[1]
    turn = np.linalg.qr(rng.standard_normal((rank, rank)))[0] * rng.uniform(0.5, 2.0, rank)
    return end._replace(A=end.A @ (turn if signed else np.eye(rank) + rng.random((rank, rank))))


def svd_start(data: SliceData, rank: int) -> Start:
    """Loadings from the leading directions of all slices together, patterns by projection, even strengths."""
    data = data.first_guess() if hasattr(data, "first_guess") else data
    K, I, J = data.shape
    if not isinstance(data, Compressible) and rank + 1 < I:
        A = _fill_up(_leading_directions(data, rank), rank)
        B = data.project(np.ascontiguousarray(A.T)[None])[0].astype(np.float64)
        return Start(A, B.transpose(1, 2, 0), np.ones((K, rank)))
    basis = np.eye(I)[None]
    G = data.project(basis).astype(np.float64)  # (1, I, K, J): the data themselves
    flat = G.reshape(I, K * J)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    A = _fill_up(vectors[:, ::-1][:, :rank], rank)
    B = (A.T @ flat).reshape(rank, K, J).transpose(1, 2, 0)
    return Start(A, B, np.ones((K, rank)))


def _leading_directions(data: SliceData, rank: int) -> FloatArray:
    """Leading left singular vectors of all slices side by side, by products with the data alone."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    I = data.shape[1]

    def times_its_transpose(a: FloatArray) -> FloatArray:
        return data.accumulate(data.project(a.reshape(1, 1, I))).reshape(I)

    squared = LinearOperator((I, I), matvec=times_its_transpose, dtype=np.float64)
    begin = np.random.default_rng(0).random(I)
    try:
        _, vectors = eigsh(squared, rank, v0=begin, tol=float(np.finfo(data.dtype).eps))
    except ArpackNoConvergence as stopped:  # a start needs no more than those that were found
        vectors = stopped.eigenvectors
    return np.asarray(vectors, dtype=np.float64)[:, ::-1]


def _fill_up(leading: FloatArray, rank: int) -> FloatArray:
    A = np.zeros((len(leading), rank))
    A[:, : leading.shape[1]] = leading
    A[:, leading.shape[1] :] = np.random.default_rng(0).random((len(A), rank - leading.shape[1]))
    return A


def fit_size(start: Start, *, fixed_strengths: bool) -> Start:
    """Give the start's model the norm of the data (one), in equal parts over the free modes."""
    A, B = _tamed(start.A), _tamed(start.B)
    C = start.C if fixed_strengths else _tamed(start.C)
    norm = _model_norm(Start(A, B, C))
    if not norm > 0:
        return start
    part = norm ** (-1 / 2 if fixed_strengths else -1 / 3)
    return Start(A * part, B * part, C if fixed_strengths else C * part)


def in_units(start: Start, unit: float, *, fixed_strengths: bool) -> Start:
    """Factors given in the user's units, in those of the solver.

    Where these are so far from the data that nothing is left beside them, or of them, they are given the size
    of the data: only their shape can be of use.
    """
    if fixed_strengths:
        start = start._replace(C=np.ones_like(start.C))
    with np.errstate(over="ignore"):
        A, B, C = (factor / unit for factor in start)
    scaled = Start(A, B, start.C if fixed_strengths else C)
    near = all(_TAME[0] < float(np.abs(factor).max()) < _TAME[1] for factor in scaled)
    if near and _NEAR[0] < _model_norm(scaled) < _NEAR[1]:
        return scaled
    return fit_size(start, fixed_strengths=fixed_strengths)


def _model_norm(start: Start) -> float:
    squared = np.einsum(
        "kr,ks,rs,krs->", start.C, start.C, start.A.T @ start.A, start.B.transpose(0, 2, 1) @ start.B
    )
    return float(np.sqrt(max(squared, 0.0)))


def _tamed(factor: FloatArray) -> FloatArray:
    """A factor whose products do not overflow: multiplied by a power of two if need be, which is exact."""
    largest = float(np.abs(factor).max())
    if _TAME[0] < largest < _TAME[1] or not largest > 0:
        return factor
    return np.asarray(np.ldexp(factor, -math.frexp(largest)[1]))


class Starts(Sequence[Start]):
    """Starts that are made when they are asked for: of large data there is no room for all of them at once.

    Parameters
    ----------
    count : int
    make : callable
        From the number of a start to the start.

    Examples
    --------
    >>> starts = Starts(3, lambda i: Start(np.full((1, 1), i), np.ones((1, 1, 1)), np.ones((1, 1))))
    >>> len(starts), [int(start.A[0, 0]) for start in starts[1:]]
    (3, [1, 2])
    """

    def __init__(self, count: int, make: Callable[[int], Start]) -> None:
        self.number, self.make = count, make

    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, which: int) -> Start: ...

    @overload
    def __getitem__(self, which: slice) -> list[Start]: ...

    def __getitem__(self, which: int | slice) -> Start | list[Start]:
        chosen = range(self.number)[which]
        return self.make(chosen) if isinstance(chosen, int) else [self.make(i) for i in chosen]


def prepare(
    start: Start, data: SliceData, bases: Sequence[Compressed], *, signed: tuple[bool, bool]
) -> Start:
    """A start as the solver takes it: compressed, zero in the padding, without signs that are not allowed.

    Parameters
    ----------
    start : Start
        In the solver's units.
    data : SliceData
        Says where there are no columns: beyond the widths of the slices, or where columns enter and leave.
    bases : sequence of Compressed
        What the data were compressed to, one after the other.
    signed : (bool, bool)
        Whether loadings and strengths may be negative.
    """
    A: FloatArray = start.A if signed[0] else np.abs(start.A)
    C = start.C if signed[1] else np.abs(start.C)
    B: FloatArray = np.array(start.B, dtype=np.float64)
    for k, width in enumerate(data.widths or ()):
        B[k, width:] = 0.0
    present = present_columns(data)
    if present is not None:
        B[~present] = 0.0
    for compressed in bases:
        A, B = compressed.compress_loadings(A), compressed.compress_patterns(B)
    return Start(A, B, C)


def read_factors(given: Any, shape: tuple[int, int, int], rank: int) -> Start:
    """Check factors given by the user, in the user's units.

    Parameters
    ----------
    given : (A, B, C)
        A (I, R), B (K, J, R) or a list of (J_k, R), C (K, R) or None for strengths of one.
    shape : (K, I, J)
    rank : int
    """
    if not isinstance(given, tuple) or len(given) != 3:
        raise ValueError(
            "init must be 'uniform', 'svd', a tuple (A, B, C) or a list of such tuples; "
            f"got {' '.join(repr(given).split()):.80}."
        )
    A, B, C = given
    K, I, J = shape
    if isinstance(B, list | tuple):
        B = _stack(B, J, rank)
    C = np.ones((K, rank)) if C is None else C
    arrays = {"A": (A, (I, rank)), "B": (B, (K, J, rank)), "C": (C, (K, rank))}
    found: dict[str, FloatArray] = {}
    for name, (array, expected) in arrays.items():
        found[name] = _real(name, array)
        if found[name].shape != expected:
            raise ValueError(f"init: {name} must have shape {expected}, got {found[name].shape}.")
        if not np.isfinite(found[name]).all():
            raise ValueError(f"init: {name} holds NaN or infinity; give finite factors.")
        if not found[name].any():
            raise ValueError(f"init: {name} is zero everywhere, and nothing could grow from it.")
    return Start(found["A"], found["B"], found["C"])


def _real(name: str, given: Any) -> FloatArray:
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"init: {name} must hold real numbers, got {array.dtype} of shape {array.shape}.")
    return array.astype(np.float64)


def _stack(slices: Sequence[Any], J: int, rank: int) -> FloatArray:
    arrays = [_real(f"slice {k} of B", piece) for k, piece in enumerate(slices)]
    for k, array in enumerate(arrays):
        if array.ndim != 2 or array.shape[0] > J or array.shape[1] != rank:
            raise ValueError(f"init: slice {k} of B must have shape (J_{k}, {rank}), got {array.shape}.")
    return padded(arrays, J, fill=0.0)
