"""Whether one method beats another over many data sets: a test for pairs, a correction for many tests."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# The exact distribution costs n^3: beyond this the normal one is as good, and quick.
_LARGEST_EXACT = 200


def paired_test(better: ArrayLike, worse: ArrayLike) -> float:
    """Test whether one method scores higher than another on the same data sets.

    Wilcoxon's signed-rank test, one-sided. Pairs without a difference are left out. The p-value is exact for
    up to 200 pairs, also where differences are tied; beyond, it is that of the normal approximation.

    Parameters
    ----------
    better, worse : array-like (n,)
        One score for each data set, in the same order; `better` is claimed to be the higher one.

    Returns
    -------
    float
        The p-value: 1.0 where no pair differs. With n pairs it is at least 2^-n, so that fewer than five data
        sets cannot give p < 0.05.

    Examples
    --------
    >>> paired_test([0.9, 0.8, 0.9, 0.7, 0.9], [0.5, 0.6, 0.6, 0.6, 0.4])
    0.03125
    >>> paired_test([0.5, 0.6], [0.5, 0.6])
    1.0
    """
    differences = _differences(better, worse)
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    if differences.size > _LARGEST_EXACT:
        from scipy.stats import wilcoxon

        return float(wilcoxon(differences, alternative="greater", method="asymptotic").pvalue)
    return _exact_p(differences)


def holm(p_values: ArrayLike) -> FloatArray:
    """Correct p-values for the number of tests, by Holm's method.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on. No corrected value is below
    that of a smaller p-value, nor above 1.

    Parameters
    ----------
    p_values : array-like (m,)
        The p-values, in any order.

    Returns
    -------
    ndarray (m,)
        The corrected p-values, in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p_values must be a list of numbers from 0 to 1, but {p_values!r} was given.")
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _differences(better: ArrayLike, worse: ArrayLike) -> FloatArray:
    left, right = np.asarray(better, dtype=float), np.asarray(worse, dtype=float)
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(
            f"Scores come in pairs, but shapes {left.shape} and {right.shape} were given: "
            "give two lists of equal length, one score for each data set."
        )
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("Some scores are NaN or infinite: leave these data sets out of both lists.")
    return np.asarray(left - right)


def _exact_p(differences: FloatArray) -> float:
    """Probability of a rank sum as large as this if every sign were decided by a fair coin."""
    from scipy.stats import rankdata

    # Ties share a mean rank, which may be a half: twice the rank is a whole number, and can be an index.
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(int)
    probability = np.zeros(ranks.sum() + 1)
    probability[0] = 1.0
    for rank in ranks:
        probability /= 2
        probability[rank:] += probability[:-rank].copy()
    return float(min(probability[ranks[differences > 0].sum() :].sum(), 1.0))
