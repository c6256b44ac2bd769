"""From factors to noisy data, holding a single copy of the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.factors import TrueFactors


def signal_slice(factors: TrueFactors, k: int, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the noiseless slice A diag(c_k) B_k', written to ``out`` if given."""
    return np.asarray(np.matmul(factors.A * factors.C[k], factors.B[k].T, out=out))


def signal_norm(factors: TrueFactors) -> float:
    """Return the norm of the noiseless data without forming them."""
    patterns = (factors.B * factors.C[:, None, :]).reshape(-1, factors.C.shape[1])
    return float(np.sqrt(np.sum((patterns.T @ patterns) * (factors.A.T @ factors.A))))


def noisy_data(factors: TrueFactors, noise: float, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """Return X + noise * ||X|| * Theta / ||Theta|| with Theta standard normal, as a (K, I, J) array.

    Theta is drawn where the result will stand, then scaled, and the signal is added slice by slice.
    """
    n_times, n_columns, _ = factors.B.shape
    data = np.zeros((n_times, factors.A.shape[0], n_columns), dtype=dtype)
    scale = noise * signal_norm(factors) / _fill_normal(data, rng) if noise > 0 else 0.0
    signal = np.empty(data.shape[1:])
    for k, slice_ in enumerate(data):
        slice_ *= scale
        slice_ += signal_slice(factors, k, out=signal)
    return data


def _fill_normal(data: NDArray[Any], rng: np.random.Generator) -> float:
    """Fill ``data`` with standard normal draws and return their norm."""
    squares = 0.0
    for slice_ in data:
        rng.standard_normal(out=slice_, dtype=data.dtype.type)
        wide = slice_.astype(np.float64, copy=False)
        squares += float(np.vdot(wide, wide))
    return float(np.sqrt(squares))
