"""Compile what the tests need, once: each of their processes would compile it for itself.

    python tests/compile_kernels.py float64 | float32

The two precisions have no code in common, and can run side by side.
"""

import sys
import warnings

import numpy as np
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.penalties import TemporalSmoothness, TotalVariation, Unimodal

X = np.random.default_rng(0).random((4, 6, 5))
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def compile_kernels(dtype: str) -> None:
    """Fit every kind of model and data that has kernels of its own."""
    _fit(tp.TParafac2, X, dtype=dtype)
    _fit(tp.TParafac2, X, dtype=dtype, algorithm="paper")
    _fit(tp.CP, X, dtype=dtype)
    _fit(tp.TParafac2, HOLED, dtype=dtype)
    _fit(tp.TParafac2, HOLED, dtype=dtype, algorithm="paper")
    _fit(tp.TemporalCMF, X, dtype=dtype, penalties_b=[TotalVariation(0.1), Unimodal()])
    _fit(tp.TParafac2, X, dtype=dtype, penalties_c=[TemporalSmoothness(0.1)])
    sparse = [csr_array(one) for one in X]
    _fit(tp.CP, sparse, dtype=dtype)


def _fit(model: type, data: np.ndarray, **settings: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        model(2, n_starts=2, max_iter=3, random_state=0, **settings).fit(data)


if __name__ == "__main__":
    compile_kernels(sys.argv[1])
