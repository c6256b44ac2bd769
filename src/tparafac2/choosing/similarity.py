"""How similar components are that were found in different parts of the rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.rules import Similarity
from tparafac2.metrics import assign

FloatArray = NDArray[np.float64]


def trajectories(B: NDArray[np.floating], C: NDArray[np.floating]) -> FloatArray:
    """Components as they appear in every row: c_k b_k over all times and columns, of length 1, (K J, R)."""
    stacked = (B * C[:, None, :]).reshape(-1, C.shape[1])
    lengths = np.linalg.norm(stacked, axis=0)
    return np.asarray(stacked / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)


def aligned(found: FloatArray, model: FloatArray) -> FloatArray:
    """Components in the order and with the signs of those of a model; zeros for what has none."""
    cosines = found.T @ model
    theirs, own = assign(np.abs(cosines))
    ordered = np.zeros_like(model)
    ordered[:, own] = found[:, theirs] * np.sign(cosines[theirs, own])
    return ordered


def similarity(parts: Sequence[FloatArray], model: FloatArray) -> Similarity:
    """Median over all pairs of parts, of whole trajectories and of what each component has alone.

    Parameters
    ----------
    parts : sequence of ndarray (K J, R)
        Trajectories found in each part, in any order.
    model : ndarray (K J, R)
        Those of all rows.
    """
    found = [aligned(part, model) for part in parts]
    own = [_alone(part, model) for part in found]
    pairs = [(i, j) for i in range(len(parts)) for j in range(i)]
    whole = [(found[i] * found[j]).sum(axis=0) for i, j in pairs]
    alone = [(own[i] * own[j]).sum(axis=0) for i, j in pairs]
    return Similarity(*(np.clip(np.median(one, axis=0), 0.0, 1.0) for one in (whole, alone)))


def _alone(found: FloatArray, model: FloatArray) -> FloatArray:
    """Each component without what the other components of the model have of it, of length 1."""
    left = np.empty_like(found)
    for r in range(model.shape[1]):
        others = np.delete(model, r, axis=1)
        basis = np.linalg.qr(others)[0] if others.any() else others
        rest = found[:, r] - basis @ (basis.T @ found[:, r])
        length = np.linalg.norm(rest)
        left[:, r] = rest / length if length > 1e-12 else 0.0
    return left
