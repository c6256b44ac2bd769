"""Why tCMF is not unique: its components can be rotated at no cost.

For any orthogonal Q, A Q and B_k Q describe the same data as A and B_k, with the same norms and the same
changes in time, so that the objective of tCMF cannot tell them apart. Strengths that differ between
components (tPARAFAC2) or loadings that must not be negative (NNtCMF) do not allow such a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from plan import HEADLINE, RIDGE, Method

from tparafac2.data import FloatArray
from tparafac2.metrics import factor_match_score, reconstruct

if TYPE_CHECKING:
    from tparafac2.models import Decomposition
    from tparafac2.synthetic import SyntheticData

EPSILON = 1e-6
"""Weight of the patterns' norm beside their changes, as in the models."""


class Weights(NamedTuple):
    """The penalties of a model; `d` is 0 where strengths are fixed to one."""

    a: float
    b: float
    d: float


@dataclass(frozen=True)
class RotationRow:
    """What rotations do to the solution of one model. Scores are of loadings and patterns.

    Attributes
    ----------
    model : str
        "tCMF", "NNtCMF" or "tPARAFAC2".
    objective : float
        The objective of the solution.
    smallest_change, largest_change : float
        Relative change of the objective: of the rotation that changes it least, and most.
    smallest_change_refitted : float or None
        The smallest change if the strengths are fitted again, with any sign, to the rotated loadings and
        patterns; None where strengths are fixed.
    lowest_match : float
        Factor match score of the rotated with the unrotated solution, of the rotation where it is lowest.
    truth : float
        Factor match score of the solution with the truth.
    truth_lowest, truth_highest : float
        The range of this score over the rotations.
    most_negative_loading : float or None
        NNtCMF only: the most negative loading after rotation, divided by the largest absolute loading, of the
        rotation that comes closest to having none. Columns count with their better sign.
    """

    model: str
    objective: float
    smallest_change: float
    largest_change: float
    smallest_change_refitted: float | None
    lowest_match: float
    truth: float
    truth_lowest: float
    truth_highest: float
    most_negative_loading: float | None


def rotate(A: FloatArray, B: FloatArray, Q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give A Q and B_k Q for an orthogonal Q: every A B_k', all norms and all changes in time stay."""
    rank = np.shape(A)[-1]
    if np.shape(Q) != (rank, rank) or not np.allclose(Q.T @ Q, np.eye(rank), rtol=0, atol=1e-10):
        raise ValueError(
            f"Q must be an orthogonal {rank} x {rank} matrix, but one of shape {np.shape(Q)} that is "
            "not was given: take the first factor of numpy.linalg.qr."
        )
    return A @ Q, B @ Q


def objective(X: FloatArray, A: FloatArray, B: FloatArray, C: FloatArray, weights: Weights) -> float:
    """Compute the objective from the factors alone; for tCMF strengths are one and have weight 0.

    Examples
    --------
    >>> A, B, C = np.ones((2, 1)), np.zeros((3, 4, 1)), np.ones((3, 1))
    >>> objective(np.ones((3, 2, 4)), A, B, C, Weights(0.5, 1000.0, 0.0))
    25.0
    """
    fit = np.sum((X - reconstruct(A, B, C)) ** 2)
    smoothness = np.sum(np.diff(B, axis=0) ** 2) + EPSILON * np.sum(B**2)
    return float(fit + weights.a * np.sum(A**2) + weights.b * smoothness + weights.d * np.sum(C**2))


def rotation_evidence(
    data: SyntheticData, seed: int, *, n_rotations: int = 100, n_starts: int = 10
) -> list[RotationRow]:
    """Rotate the solutions of tCMF, NNtCMF and tPARAFAC2, and see whether their objectives notice.

    Parameters
    ----------
    data : SyntheticData
        One data set with its truth.
    seed : int
        Seed of starts and rotations.
    n_rotations : int
        Number of random rotations, the same for all models.
    n_starts : int
        Number of starts of each fit.

    Returns
    -------
    list of RotationRow
        One for each model.
    """
    if n_rotations < 1:
        raise ValueError(f"n_rotations is {n_rotations}: at least one rotation is needed.")
    rank = data.A.shape[1]
    rotations = _random_rotations(np.random.default_rng(seed), n_rotations, rank)
    rows = []
    for name in ("tCMF", "NNtCMF", "tPARAFAC2"):
        model = Method(name, HEADLINE).estimator()
        model.set_params(rank=rank, epsilon=EPSILON, n_starts=n_starts, random_state=seed, progress=False)
        rows.append(_evidence(name, model.fit(data.X), data, rotations))
    return rows


def _random_rotations(rng: np.random.Generator, number: int, rank: int) -> FloatArray:
    """Draw orthogonal matrices, all equally likely."""
    q, r = np.linalg.qr(rng.standard_normal((number, rank, rank)))
    # The factorisation fixes the signs of R's diagonal in its own way; only with them undone is Q uniform.
    return np.asarray(q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :])


def _evidence(name: str, model: Decomposition, data: SyntheticData, rotations: FloatArray) -> RotationRow:
    A, B, C = model.A_, np.asarray(model.B_), model.C_
    fixed = name != "tPARAFAC2"
    weights = Weights(RIDGE, HEADLINE, 0.0 if fixed else RIDGE)
    before = objective(data.X, A, B, C, weights)
    rotated = [rotate(A, B, Q) for Q in rotations]

    def change(A: FloatArray, B: FloatArray, C: FloatArray) -> float:
        return abs(objective(data.X, A, B, C, weights) - before) / before

    changes = [change(*one, C) for one in rotated]
    refitted = [change(*one, _best_strengths(data.X, *one, weights.d)) for one in rotated if not fixed]
    matches = [factor_match_score((*one, None), (A, B, None), "AB") for one in rotated]
    truths = [factor_match_score((*one, None), data, "AB") for one in rotated]
    return RotationRow(
        model=name,
        objective=before,
        smallest_change=min(changes),
        largest_change=max(changes),
        smallest_change_refitted=min(refitted, default=None),
        lowest_match=min(matches),
        truth=factor_match_score((A, B, None), data, "AB"),
        truth_lowest=min(truths),
        truth_highest=max(truths),
        most_negative_loading=max(_lowest_loading(A) for A, _ in rotated) if name == "NNtCMF" else None,
    )


def _best_strengths(X: FloatArray, A: FloatArray, B: FloatArray, ridge: float) -> FloatArray:
    """Fit the strengths of every slice to given loadings and patterns, of any sign."""
    normal = (A.T @ A) * (B.transpose(0, 2, 1) @ B) + ridge * np.eye(A.shape[1])
    target = np.einsum("kij,ir,kjr->kr", X, A, B, optimize=True)
    return np.asarray(np.linalg.solve(normal, target[..., None])[..., 0])


def _lowest_loading(A: FloatArray) -> float:
    """Find the lowest loading once every column has the sign that suits it best, relative to the largest."""
    return float(np.maximum(A.min(axis=0), -A.max(axis=0)).min() / np.abs(A).max())
