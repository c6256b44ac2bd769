"""Compile what the tests need, once: each of their processes would compile it for itself.

    python tests/compile_kernels.py complete | incomplete

The two parts have little in common, and can run side by side.
"""

import sys
import warnings

import numpy as np

import tparafac2 as tp

X = np.random.default_rng(0).random((4, 6, 5))
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def complete() -> None:
    """Kernels for data without holes."""
    for dtype in ("float64", "float32"):
        _fit(tp.TParafac2, X, dtype=dtype)
        _fit(tp.TParafac2, X, dtype=dtype, algorithm="paper")
        _fit(tp.CP, X, dtype=dtype)


def incomplete() -> None:
    """Kernels for data with holes."""
    for dtype in ("float64", "float32"):
        for missing in ("exact", "em"):
            _fit(tp.TParafac2, HOLED, dtype=dtype, missing=missing)
    _fit(tp.TParafac2, HOLED, algorithm="paper")


def _fit(model: type, data: np.ndarray, **settings: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.ConvergenceWarning)
        model(2, n_starts=2, max_iter=3, random_state=0, **settings).fit(data)


if __name__ == "__main__":
    {"complete": complete, "incomplete": incomplete}[sys.argv[1]]()
