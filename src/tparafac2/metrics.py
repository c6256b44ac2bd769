"""How good, how trustworthy and how alike sets of components are.

A set of components is a tuple ``(A, B, C)``, a fitted estimator (``A_``, ``B_``, ``C_``) or any object with
attributes ``A``, ``B`` and ``C``, such as a synthetic data set: loadings A (I, R), patterns B (K, J, R), or a
list of K arrays (J_k, R), and strengths C (K, R).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Definition",
    "MatchScore",
    "agreement",
    "degeneracy_score",
    "explained_variance",
    "factor_match_score",
    "match_components",
    "parafac2_violation",
    "reconstruct",
]

FloatArray: TypeAlias = NDArray[np.float64]
Definition: TypeAlias = Literal["stacked", "slicewise", "scaled"]


@dataclass(frozen=True, eq=False)
class MatchScore:
    """The best one-to-one matching of two sets of components, and what it scores.

    Attributes
    ----------
    score : float
        Sum of `per_component` over the larger number of components: unmatched components count 0.
    per_component : ndarray (R,)
        Product of the absolute cosines over the modes, in the order of the true components.
    per_mode : dict of str to ndarray (R,)
        The absolute cosine of each mode ("A", "B", "C"), in the order of the true components.
    permutation : ndarray of int (R,)
        For each true component the estimated component matched to it, or -1 if none is left.
    """

    score: float
    per_component: FloatArray
    per_mode: dict[str, FloatArray]
    permutation: NDArray[np.intp]


def factor_match_score(
    estimate: object, truth: object, modes: str = "ABC", definition: Definition = "stacked"
) -> float:
    """Score how well estimated components match the true ones: 1 is perfect, 0 is nothing alike.

    The mean over components of the product of absolute cosines, after the one-to-one matching that makes this
    mean largest. Order, sign and scale of the components do not matter; a column of zeros has cosine 0 with
    everything. If the ranks differ, the mean is over the larger one and unmatched components count 0.

    Parameters
    ----------
    estimate, truth : tuple (A, B, C), fitted estimator, or object with attributes A, B and C
        C may be None where it is not asked for. Only the modes asked for need equal shapes.
    modes : str
        The modes to compare, any of the letters A, B and C. Use "AB" for models without strengths (tCMF).
    definition : {"stacked", "slicewise", "scaled"}
        What the pattern of a component is: all its slices as one long vector ("stacked"); the same with every
        slice normalised to length 1 first ("slicewise"); or with every slice multiplied by its strength first
        ("scaled", which needs C even if `modes` leaves it out).

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    match_components : the matching behind the score.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> A, B, C = rng.random((6, 2)), rng.random((3, 4, 2)), rng.random((3, 2))
    >>> factor_match_score((-A[:, ::-1], 10 * B[:, :, ::-1], C[:, ::-1]), (A, B, C))
    1.0
    """
    return match_components(estimate, truth, modes, definition).score


def match_components(
    estimate: object, truth: object, modes: str = "ABC", definition: Definition = "stacked"
) -> MatchScore:
    """Match estimated components to the true ones, one to one, and score each pair.

    Parameters
    ----------
    estimate, truth, modes, definition
        As in `factor_match_score`.

    Returns
    -------
    MatchScore
        The score, its parts by component and by mode, and the permutation.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.random((6, 3)), rng.random((4, 5, 3))
    >>> match = match_components((A[:, [2, 0]], B[:, :, [2, 0]], None), (A, B, None), modes="AB")
    >>> match.permutation
    array([ 1, -1,  0])
    >>> round(match.score, 6)
    0.666667
    """
    letters = _check_modes(modes, definition)
    true_factors = _read_factors(truth, "truth")
    estimated_factors = _read_factors(estimate, "estimate")
    _check_same_shapes(estimated_factors, true_factors, letters)
    return _match(
        _unit_modes(estimated_factors, letters, definition), _unit_modes(true_factors, letters, definition)
    )


def agreement(
    factor_sets: Sequence[object], modes: str = "ABC", definition: Definition = "stacked"
) -> FloatArray:
    """Compare every set of components with every other, for example the results of several starts.

    A component that vanished (a column of zeros in a mode) from both sets is nothing they disagree about, and
    counts 1; one that vanished from one set only counts 0. All else is as in `factor_match_score`, which
    counts every column of zeros 0: what is not there was not recovered.

    Parameters
    ----------
    factor_sets : sequence of n sets
        Each as in `factor_match_score`.
    modes, definition
        As in `factor_match_score`.

    Returns
    -------
    ndarray (n, n)
        The symmetric matrix of scores. Its diagonal is 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> A, B, C = rng.random((6, 2)), rng.random((3, 4, 2)), rng.random((3, 2))
    >>> agreement([(A, B, C), (2 * A, B, C), (A, -B, C)]).round(6)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    letters = _check_modes(modes, definition)
    if len(factor_sets) == 0:
        raise ValueError("factor_sets is empty; give at least one (A, B, C) or fitted estimator.")
    readable = [_read_factors(one, f"factor_sets[{i}]") for i, one in enumerate(factor_sets)]
    for one in readable[1:]:
        _check_same_shapes(one, readable[0], letters)
    # Normalising is the expensive part: once per set, not once per pair.
    units = [_unit_modes(one, letters, definition) for one in readable]
    scores = np.eye(len(units))
    for i, first in enumerate(units):
        for j, second in enumerate(units[:i]):
            scores[i, j] = scores[j, i] = _agreement_of_two(first, second)
    return scores


def agreement_with(reference: object, factor_sets: Sequence[object], modes: str = "ABC") -> FloatArray:
    """Compare sets of components with one: as a row of `agreement`, without the other rows.

    Examples
    --------
    >>> import numpy as np
    >>> A, B, C = np.eye(3, 2), np.ones((3, 4, 2)), np.ones((3, 2))
    >>> agreement_with((A, B, C), [(A, B, C), (np.eye(3)[:, :2] + 1.0, B, C)]).round(3)
    array([1.   , 0.816])
    """
    letters = _check_modes(modes, "stacked")
    wanted = _read_factors(reference, "reference")
    units = _unit_modes(wanted, letters, "stacked")
    scores = []
    for i, one in enumerate(factor_sets):  # one at a time: of large patterns there is no room for all
        read = _read_factors(one, f"factor_sets[{i}]")
        _check_same_shapes(read, wanted, letters)
        scores.append(_agreement_of_two(_unit_modes(read, letters, "stacked"), units))
    return np.array(scores)


def _agreement_of_two(first: dict[str, FloatArray], second: dict[str, FloatArray]) -> float:
    both_vanished = min(_count_vanished(first), _count_vanished(second))
    rank = max(unit.shape[1] for units in (first, second) for unit in units.values())
    return float(_match(first, second).score + both_vanished / rank)


def _count_vanished(units: dict[str, FloatArray]) -> int:
    return int(np.count_nonzero(~np.all([unit.any(axis=0) for unit in units.values()], axis=0)))


def degeneracy_score(A: ArrayLike, B: ArrayLike | Sequence[ArrayLike], C: ArrayLike | None) -> float:
    """Find the pair of components closest to cancelling each other; near -1 the model is degenerate.

    The smallest product of (signed) cosines of A, B (all slices as one long vector) and C over all pairs of
    different components. Below about -0.85 two components are alike in all modes but point in opposite
    directions, and should not be interpreted.

    Parameters
    ----------
    A, B, C : arrays
        Loadings (I, R), patterns (K, J, R) or list of (J_k, R), strengths (K, R). If C is None only A and B
        count.

    Returns
    -------
    float
        Between -1 and 1; 1 if there is only one component.

    Examples
    --------
    >>> import numpy as np
    >>> A, B, C = np.array([[1.0, -1.0], [2.0, -2.0]]), np.ones((3, 4, 2)), np.ones((3, 2))
    >>> degeneracy_score(A, B, C)
    -1.0
    """
    return cancelling_pair(A, B, C)[0]


def cancelling_pair(
    A: ArrayLike, B: ArrayLike | Sequence[ArrayLike], C: ArrayLike | None
) -> tuple[float, int, int]:
    """Give the degeneracy score, and the two components (from 0) that have it.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, -2.0]])
    >>> cancelling_pair(A, np.ones((3, 4, 3)), np.ones((3, 3)))
    (-1.0, 0, 2)
    """
    factors = _check_factors(A, B, C, "the factors")
    letters = "AB" if factors.C is None else "ABC"
    units = _unit_modes(factors, letters, "stacked").values()
    rank = factors.A.shape[1]
    if rank == 1:
        return 1.0, 0, 0
    product = np.prod([unit.T @ unit for unit in units], axis=0)
    np.fill_diagonal(product, np.inf)
    first, second = divmod(int(np.argmin(product)), rank)
    return float(np.clip(product[first, second], -1.0, 1.0)), first, second


def explained_variance(X: ArrayLike | Sequence[ArrayLike], estimate: object) -> float:
    """Compute the share of the data's sum of squares that the components explain: 1 - SSE / ||X||^2.

    Parameters
    ----------
    X : array (K, I, J) or list of K arrays (I, J_k)
        Complete data: missing entries are refused.
    estimate : tuple (A, B, C), fitted estimator, or object with attributes A, B and C
        C may be None: every strength is then 1.

    Returns
    -------
    float
        1 for a perfect fit, 0 for a model of zeros, negative if it is worse than that.

    Examples
    --------
    >>> import numpy as np
    >>> A, B, C = np.ones((2, 1)), np.ones((3, 4, 1)), np.ones((3, 1))
    >>> explained_variance(2 * np.ones((3, 2, 4)), (A, B, C))
    0.75
    """
    factors = _read_factors(estimate, "estimate")
    slices = _read_slices(X, "X")
    expected = [(len(factors.A), len(pattern)) for pattern in factors.B]
    received = [x.shape for x in slices]
    if received != expected:
        raise ValueError(
            f"The slices of X have shapes {_brief(received)}, those of estimate {_brief(expected)}. "
            "Give the data it was fitted to, as (K, I, J)."
        )
    # Relative to the largest entry: squares of very large or very small numbers are not representable.
    scale = max(float(np.abs(x).max()) for x in slices)
    if scale == 0:
        raise ValueError("X is all zeros, so there is no variance to explain; give other data.")
    norm_squared = sum(float(np.sum((x / scale) ** 2)) for x in slices)
    residuals = (x - model for x, model in zip(slices, _model_slices(factors), strict=True))
    sse = sum(float(np.sum((residual / scale) ** 2)) for residual in residuals)
    return 1.0 - sse / norm_squared


def parafac2_violation(B: ArrayLike | Sequence[ArrayLike]) -> float:
    """Measure how far the patterns are from the PARAFAC2 constraint (B_k' B_k the same for every k).

    Parameters
    ----------
    B : array (K, J, R) or list of K arrays (J_k, R)
        The patterns.

    Returns
    -------
    float
        The largest distance of any B_k' B_k from their mean, relative to the norm of the mean: 0 if the
        constraint holds exactly.

    Examples
    --------
    >>> import numpy as np
    >>> parafac2_violation(np.stack([np.eye(3), np.eye(3)[::-1]]))
    0.0
    >>> parafac2_violation([np.eye(3), np.sqrt(3) * np.eye(3)])
    0.5
    """
    slices = _read_patterns(B, "B")
    scale = max(float(np.abs(pattern).max()) for pattern in slices)
    if scale == 0:
        return 0.0
    cross_products = np.stack([(pattern / scale).T @ (pattern / scale) for pattern in slices])
    mean = cross_products.mean(axis=0)
    return float(np.linalg.norm(cross_products - mean, axis=(1, 2)).max() / np.linalg.norm(mean))


@overload
def reconstruct(A: ArrayLike, B: NDArray[Any], C: ArrayLike | None) -> FloatArray: ...
@overload
def reconstruct(A: ArrayLike, B: Sequence[ArrayLike], C: ArrayLike | None) -> list[FloatArray]: ...
def reconstruct(
    A: ArrayLike, B: ArrayLike | Sequence[ArrayLike], C: ArrayLike | None
) -> FloatArray | list[FloatArray]:
    """Compute the data that the components describe: X_k = A diag(c_k) B_k'.

    Parameters
    ----------
    A, B, C : arrays
        Loadings (I, R), patterns (K, J, R) or list of (J_k, R), strengths (K, R). If C is None every strength
        is 1.

    Returns
    -------
    ndarray (K, I, J) or list of K ndarrays (I, J_k)
        An array if B is an array, a list if B is a list.

    Examples
    --------
    >>> import numpy as np
    >>> reconstruct(np.array([[1.0], [2.0]]), np.ones((1, 3, 1)), np.array([[10.0]]))
    array([[[10., 10., 10.],
            [20., 20., 20.]]])
    """
    slices = list(_model_slices(_check_factors(A, B, C, "the factors")))
    return slices if isinstance(B, list | tuple) else np.stack(slices)


# So few components are paired by trying every way: importing SciPy's assignment takes longer than many fits.
_FEW = 5


class _Factors(NamedTuple):
    """One checked set of components."""

    A: FloatArray
    B: list[FloatArray]
    C: FloatArray | None
    name: str


def _match(estimate: dict[str, FloatArray], truth: dict[str, FloatArray]) -> MatchScore:
    """Match the components of two sets given as unit columns per mode."""
    # Rounding can give a cosine just above 1.
    cosines = {mode: np.minimum(np.abs(truth[mode].T @ estimate[mode]), 1.0) for mode in truth}
    product = np.prod(list(cosines.values()), axis=0)
    rows, columns = assign(product)

    def in_true_order(similarities: FloatArray) -> FloatArray:
        matched = np.zeros(len(product))
        matched[rows] = similarities[rows, columns]
        return matched

    permutation = np.full(len(product), -1, dtype=np.intp)
    permutation[rows] = columns
    per_component = in_true_order(product)
    return MatchScore(
        score=float(per_component.sum() / max(product.shape)),
        per_component=per_component,
        per_mode={mode: in_true_order(cosine) for mode, cosine in cosines.items()},
        permutation=permutation,
    )


def assign(similarity: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair rows with columns, one to one, so that the sum of similarities is largest."""
    if max(similarity.shape) > _FEW:
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(similarity, maximize=True)
        return rows, columns
    wide = similarity if similarity.shape[0] <= similarity.shape[1] else similarity.T
    small = np.arange(len(wide))
    ways = np.array(list(permutations(range(wide.shape[1]), len(wide))), dtype=np.intp)
    large = ways[np.argmax(wide[small, ways].sum(axis=1))]
    return (small, large) if wide is similarity else (large, small)


def _unit_modes(factors: _Factors, letters: str, definition: Definition) -> dict[str, FloatArray]:
    """Return for every mode asked for a matrix with one column of length 1 (or 0) per component."""
    return {mode: _unit_columns(_mode_matrix(factors, mode, definition)) for mode in letters}


def _mode_matrix(factors: _Factors, mode: str, definition: Definition) -> FloatArray:
    """Return one mode as a matrix with a column per component; the definition says what a pattern is."""
    if mode == "A":
        return factors.A
    if mode == "C":
        return _require_strengths(factors)
    if definition == "slicewise":
        return np.vstack([_unit_columns(pattern) for pattern in factors.B])
    stacked = np.vstack(factors.B)
    if definition == "stacked":
        return stacked
    # Unit strengths keep the product of very large (or small) numbers representable, and change no cosine.
    strengths = _unit_columns(_require_strengths(factors))
    return stacked * np.repeat(strengths, [len(pattern) for pattern in factors.B], axis=0)


def _require_strengths(factors: _Factors) -> FloatArray:
    if factors.C is None:
        raise ValueError(
            f"The strengths of {factors.name} are needed, but its C is None; give C, or leave it out with "
            'modes="AB" and definition="stacked" or "slicewise".'
        )
    return factors.C


def _unit_columns(matrix: FloatArray) -> FloatArray:
    """Normalise columns to length 1, whatever their size; columns of zeros stay zero."""
    peaks = np.abs(matrix).max(axis=0)
    tame = matrix / np.where(peaks > 0, peaks, 1.0)
    norms = np.linalg.norm(tame, axis=0)
    return np.asarray(tame / np.where(norms > 0, norms, 1.0))


def _model_slices(factors: _Factors) -> Iterator[FloatArray]:
    """Yield A diag(c_k) B_k' for one k at a time, so that large models need the memory of one slice only."""
    strengths = np.ones((len(factors.B), 1)) if factors.C is None else factors.C
    for c, pattern in zip(strengths, factors.B, strict=True):
        yield (factors.A * c) @ pattern.T


def _check_modes(modes: str, definition: str) -> str:
    """Return the letters in the order A, B, C, so that their order in `modes` cannot matter."""
    if not isinstance(modes, str) or not modes or set(modes) - set("ABC") or len(set(modes)) < len(modes):
        raise ValueError(f'modes must be some of the letters "ABC", each at most once; got {modes!r}.')
    if definition not in get_args(Definition):
        known = ", ".join(repr(name) for name in get_args(Definition))
        raise ValueError(f"definition must be one of {known}; got {definition!r}.")
    return "".join(sorted(modes))


def _check_same_shapes(estimate: _Factors, truth: _Factors, letters: str) -> None:
    """Refuse sets whose modes have other lengths; only their number of components may differ."""
    for mode in letters:
        received, expected = _mode_lengths(estimate, mode), _mode_lengths(truth, mode)
        if received != expected:
            raise ValueError(
                f"{estimate.name} and {truth.name} cannot be compared in mode {mode}: "
                f"length {_brief(received)} against {_brief(expected)}. "
                f"Give sets of the same shape, or leave {mode} out of modes."
            )


def _mode_lengths(factors: _Factors, mode: str) -> list[int]:
    if mode == "B":
        return [len(pattern) for pattern in factors.B]
    return [len(factors.A if mode == "A" else factors.B)]


def _read_factors(source: object, name: str) -> _Factors:
    """Read a set of components from any of the forms that users have it in."""
    for suffix in ("_", ""):
        if hasattr(source, f"A{suffix}") and hasattr(source, f"B{suffix}"):
            A, B, C = (getattr(source, f"{letter}{suffix}", None) for letter in "ABC")
            return _check_factors(A, B, C, name)
    if not isinstance(source, tuple | list):
        raise TypeError(
            f"{name} must be a tuple (A, B, C), a fitted estimator or an object with attributes A, B and C; "
            f"got {type(source).__name__}. If it is an estimator, call fit first."
        )
    if len(source) != 3:
        raise ValueError(f"{name} must have three parts (A, B, C), where C may be None; got {len(source)}.")
    A, B, C = source
    return _check_factors(A, B, C, name)


def _check_factors(A: Any, B: Any, C: Any, name: str) -> _Factors:
    """Check that A, B and C are finite numbers and have the same components and slices."""
    loadings = _read_array(A, f"A of {name}", 2, "(I, R)")
    patterns = _read_patterns(B, f"B of {name}")
    strengths = None if C is None else _read_array(C, f"C of {name}", 2, "(K, R)")
    rank = loadings.shape[1]
    if patterns[0].shape[1] != rank:
        raise ValueError(
            f"A and B of {name} must have the same number of components (their last axis); "
            f"got {rank} in A and {patterns[0].shape[1]} in B."
        )
    if strengths is not None and strengths.shape != (len(patterns), rank):
        raise ValueError(
            f"C of {name} must have a row per slice and a column per component, (K, R) = "
            f"{(len(patterns), rank)}; got {strengths.shape}."
        )
    return _Factors(loadings, patterns, strengths, name)


def _read_patterns(B: Any, name: str) -> list[FloatArray]:
    patterns = _read_slices(B, name)
    ranks = [pattern.shape[1] for pattern in patterns]
    if len(set(ranks)) > 1:
        raise ValueError(
            f"The slices of {name} must all have the same number of components; got {_brief(ranks)}."
        )
    return patterns


def _read_slices(value: Any, name: str) -> list[FloatArray]:
    """Read an array with three axes, or a list of matrices, as a list of matrices."""
    if not isinstance(value, list | tuple):
        return list(_read_array(value, name, 3, "(K, ., .), or a list of K matrices"))
    if len(value) == 0:
        raise ValueError(f"{name} is an empty list; give at least one slice.")
    return [_read_array(one, f"slice {k} of {name}", 2, "(., .)") for k, one in enumerate(value)]


def _read_array(value: Any, name: str, ndim: int, layout: str) -> FloatArray:
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex numbers")
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of real numbers; got {type(value).__name__} ({error}). "
            "Convert it to a NumPy array first."
        ) from error
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must be an array {layout} that is not empty; got shape {array.shape}.")
    if not np.isfinite(array).all():
        count = int(np.count_nonzero(~np.isfinite(array)))
        raise ValueError(f"{name} has {count} NaN or infinite entries; fill them in or leave them out first.")
    return array


def _brief(values: Sequence[object]) -> str:
    """Write a list in an error message: one value if all are equal, and never a hundred of them."""
    if len(values) == 1:
        return str(values[0])
    if all(value == values[0] for value in values):
        return f"{values[0]} ({len(values)} times)"
    shown = ", ".join(str(value) for value in values[:5])
    return shown if len(values) <= 5 else f"{shown}, ... ({len(values)} in all)"
