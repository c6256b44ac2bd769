"""Why tCMF is not unique: its components can be rotated at no cost.

For any orthogonal Q, A Q and B_k Q describe the same data as A and B_k, with the same norms and the same
changes in time, so that the objective of tCMF cannot tell them apart. Strengths that differ (tPARAFAC2) and
loadings that must not be negative (NNtCMF) do not allow such a rotation.
"""

from typing import Any

import numpy as np
import pandas as pd
from plan import HEADLINE, RIDGE, SMOOTH, Plan, estimator
from scipy.stats import ortho_group

import tparafac2 as tp

EPSILON = 1e-6  # weight of the patterns' norm beside their changes, the default of the models


def rotation_table(plan: Plan, n_rotations: int = 100) -> pd.DataFrame:
    """Rotate the solutions of three models by the same random rotations, and see what changes.

    One row for each model, of one data set (overlap 20 %): its objective; the least and the greatest relative
    change of it, and the least if strengths are fitted again; match scores of loadings and patterns with the
    unrotated solution and with the truth; for NNtCMF the most negative loading of the best rotation.
    """
    data, effort = plan.data("overlapping", 0.2, 0), plan.effort(0)
    rng = np.random.default_rng(effort["random_state"])
    rotations = ortho_group.rvs(data.A.shape[1], size=n_rotations, random_state=rng)
    found = []
    for name in SMOOTH:
        model = estimator(name, HEADLINE).set_params(epsilon=EPSILON, **effort).fit(data.X)
        found.append({"model": name, **_evidence(name, model, data, rotations)})
    return pd.DataFrame(found)


def objective(X: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, ridge_c: float) -> float:
    """Compute the objective from the factors alone; strengths fixed to one have no ridge."""
    misfit = np.sum((X - tp.metrics.reconstruct(A, B, C)) ** 2)
    smoothness = np.sum(np.diff(B, axis=0) ** 2) + EPSILON * np.sum(B**2)
    return float(misfit + RIDGE * np.sum(A**2) + HEADLINE * smoothness + ridge_c * np.sum(C**2))


def _evidence(name: str, model: Any, data: Any, rotations: np.ndarray) -> dict[str, Any]:
    (A, B, C), X, match = (model.A_, np.asarray(model.B_), model.C_), data.X, tp.metrics.factor_match_score
    rotated = [(A @ Q, B @ Q) for Q in rotations]
    ridge_c = RIDGE if name == "tPARAFAC2" else 0.0
    before = objective(X, A, B, C, ridge_c)
    changes = [abs(objective(X, *one, C, ridge_c) / before - 1) for one in rotated]
    refitted = [objective(X, *one, _best_strengths(X, *one), RIDGE) / before for one in rotated if ridge_c]
    truths = [match((*one, None), data, "AB") for one in rotated]
    # The lowest loading, every column with the sign that suits it best, relative to the largest one.
    lowest = [np.maximum(one.min(axis=0), -one.max(axis=0)).min() / np.abs(one).max() for one, _ in rotated]
    return {
        "objective": before,
        "smallest_change": min(changes),
        "largest_change": max(changes),
        "smallest_change_refitted": min((abs(one - 1) for one in refitted), default=None),
        "lowest_match": min(match((*one, None), (A, B, None), "AB") for one in rotated),
        "truth": match((A, B, None), data, "AB"),
        "truth_lowest": min(truths),
        "truth_highest": max(truths),
        "most_negative_loading": max(lowest) if name == "NNtCMF" else None,
    }


def _best_strengths(X: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Fit the strengths of every slice to given loadings and patterns, of any sign."""
    normal = (A.T @ A) * (B.transpose(0, 2, 1) @ B) + RIDGE * np.eye(A.shape[1])
    target = np.einsum("kij,ir,kjr->kr", X, A, B, optimize=True)
    return np.linalg.solve(normal, target[..., None])[..., 0]
