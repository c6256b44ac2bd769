"""One objective for every program: patterns are first put on the PARAFAC2 set, scales are balanced."""

import numpy as np

from tparafac2.penalties import proximal


def project(B, sweeps=500):
    """The patterns (K, J, R), moved onto the PARAFAC2 set."""
    weights = np.ones(len(B))
    delta = proximal.mean_cross_product_root(B, weights)
    for _ in range(sweeps):
        last = B
        B, delta = proximal.parafac2_sweep(B, weights, delta)
        if np.linalg.norm(B - last) <= 1e-14 * np.linalg.norm(B):
            break
    return B


def objective(X, A, B, C, lambdas):
    """The paper's objective at feasible, balanced factors."""
    B, C = project(B), np.maximum(C, 0.0)
    sse = sum(np.sum((x - (A * c) @ b.T) ** 2) for x, b, c in zip(X, B, C))
    lambda_a, lambda_b, lambda_d = lambdas
    costs = (
        lambda_a * np.sum(A**2, axis=0),
        lambda_b * np.sum(np.diff(B, axis=0) ** 2, axis=(0, 1)),
        lambda_d * np.sum(C**2, axis=0),
    )
    return sse + 3.0 * np.sum(np.cbrt(costs[0] * costs[1] * costs[2]))
