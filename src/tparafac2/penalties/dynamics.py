"""Systems that couple every slice with where the one before it leads, as pure functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tparafac2.penalties.proximal import Float64Array


class Steps(NamedTuple):
    """``strength * sum_k ||x_(k+1) - H^n_k x_k||^2 / n_k``, with n_k the `counts`."""

    H: Float64Array
    counts: tuple[int, ...]
    strength: float


def _pulls(steps: Steps) -> Float64Array:
    """Twice the weight of each change."""
    return np.asarray(2.0 * steps.strength / np.asarray(steps.counts, dtype=np.float64))


def factorised(rho: Float64Array, steps: Steps) -> list[tuple[Any, Any]]:
    """Eliminate slice by slice: the Cholesky factor of every pivot (J, J), and what couples it to the next.

    Examples
    --------
    >>> factors = factorised(np.ones(2), Steps(np.eye(1), (1,), 1.0))
    >>> len(factors), factors[0][1].tolist()
    (2, [[2.0]])
    """
    from scipy.linalg import cho_factor, cho_solve

    pulls, eye = _pulls(steps), np.eye(len(steps.H))
    powers = {n: np.linalg.matrix_power(steps.H, n) for n in set(steps.counts)}
    found: list[tuple[Any, Any]] = []
    held = rho[0] * eye
    for k, count in enumerate(steps.counts):
        ahead = powers[count]
        found.append((cho_factor(held + pulls[k] * ahead.T @ ahead, lower=True), pulls[k] * ahead))
        # What the slices so far add to the next pivot, in a form in which nothing is subtracted.
        give = eye / pulls[k] + ahead @ cho_solve(cho_factor(held, lower=True), ahead.T)
        held = rho[k + 1] * eye + cho_solve(cho_factor(give, lower=True), eye)
    found.append((cho_factor(held, lower=True), None))
    return found


def solved(v: Float64Array, rho: Float64Array, steps: Steps, factors: list[tuple[Any, Any]]) -> Float64Array:
    """Solve for all slices, from what `factorised` gave.

    Examples
    --------
    >>> steps, rho = Steps(0.5 * np.eye(1), (1,), 1e9), np.ones(2)
    >>> solved(np.array([[[4.0]], [[7.0]]]), rho, steps, factorised(rho, steps))[:, 0, 0].round(6).tolist()
    [6.0, 3.0]
    """
    from scipy.linalg import cho_solve

    x = rho[:, None, None] * v
    for k in range(len(v) - 1):
        factor, coupling = factors[k]
        x[k + 1] += coupling @ cho_solve(factor, x[k])
    x[-1] = cho_solve(factors[-1][0], x[-1])
    for k in range(len(v) - 2, -1, -1):
        factor, coupling = factors[k]
        x[k] = cho_solve(factor, x[k] + coupling.T @ x[k + 1])
    return x


def solved_in_eigenbasis(
    v: Float64Array, rho: Float64Array, steps: Steps, eigen: tuple[Float64Array, Float64Array]
) -> Float64Array:
    """Solve for all slices where H is symmetric: a tridiagonal system over time for every eigenvector.

    Examples
    --------
    >>> steps = Steps(0.5 * np.eye(1), (1,), 1e9)
    >>> eigen = np.array([0.5]), np.eye(1)
    >>> solved_in_eigenbasis(np.array([[[4.0]], [[7.0]]]), np.ones(2), steps, eigen).round(6).ravel().tolist()
    [6.0, 3.0]
    """
    values, vectors = eigen
    pulls, last = _pulls(steps), len(v) - 1
    x = rho[:, None, None] * (vectors.T @ v)
    pivots, shares = [], []
    arriving = np.zeros_like(values)
    for k in range(last):
        ahead = values ** steps.counts[k]
        # As in `solve_tridiagonal`, nothing is subtracted.
        held = rho[k] + arriving
        pivots.append(held + pulls[k] * ahead * ahead)
        shares.append(pulls[k] * ahead / pivots[k])
        arriving = pulls[k] * held / pivots[k]
        x[k + 1] += shares[k][:, None] * x[k]
    x[last] /= (rho[last] + arriving)[:, None]
    for k in range(last - 1, -1, -1):
        x[k] = x[k] / pivots[k][:, None] + shares[k][:, None] * x[k + 1]
    return np.asarray(vectors @ x)
