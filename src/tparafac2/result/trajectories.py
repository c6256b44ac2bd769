"""The components of a result as they appear in every row: strength times pattern, at all times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tparafac2.result.record import Result


def courses(result: Result) -> NDArray[np.float64]:
    """c_k b_k of each component over all times and columns, of length 1, (K J, R)."""
    stacked = np.concatenate([c * pattern for c, pattern in zip(result.C, result.B)])
    lengths = np.linalg.norm(stacked, axis=0)
    return np.asarray(stacked / np.where(lengths > 0, lengths, 1.0))
