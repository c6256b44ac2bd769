"""With `Settings.paper` the solver does, step by step, what Algorithms 1 and 2 of the paper say.

The reference is slow and plain, works in the user's units, and knows nothing of the solver. It departs from
the printed text in one place: with two auxiliaries the B-update adds rho I, where the paper prints rho/2 I.
`floor` brings one of the solver's additions into the reference, for the test that shows it is left out.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tparafac2.data import DenseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
from tparafac2.solver import Settings, Start, build_problem
from tparafac2.solver.loop import Batch

OUTER = 8


@dataclass
class Reference:
    """The state of Algorithm 1, in the paper's letters."""

    X: np.ndarray  # (K, I, J)
    lambdas: tuple[float, float, float]  # of A, B and D
    settings: Settings
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    floor: float = 0.0  # share of the mean below which no slice's rho falls; not in the paper

    def __post_init__(self):
        self.Y, self.Z, self.Z_D = self.B.copy(), self.B.copy(), self.C.copy()
        self.mu_Y, self.mu_Z, self.mu_D = np.zeros_like(self.B), np.zeros_like(self.B), np.zeros_like(self.C)
        self.Delta = None
        self.inner_done = []

    def step(self):
        """One round of Algorithm 1."""
        self.inner_done.append((self.update_B(), self.update_D()))
        self.update_A()

    def update_B(self):
        """Algorithm 2; tells how many inner iterations it took."""
        K, R = self.C.shape
        N = self.A.T @ self.A
        D = [np.diag(c) for c in self.C]
        rho = self.lift([np.trace(D[k] @ N @ D[k]) / R for k in range(K)])
        for done in range(1, self.settings.inner + 1):
            for k in range(K):
                M = self.Z[k] - self.mu_Z[k] + self.Y[k] - self.mu_Y[k]
                right = self.X[k].T @ self.A @ D[k] + rho[k] / 2 * M
                left = D[k] @ N @ D[k] + rho[k] * np.eye(R)
                self.B[k] = right @ np.linalg.inv(left)
            self.Z = smooth(self.B + self.mu_Z, rho, self.lambdas[1])
            self.Y, self.Delta = project(self.B + self.mu_Y, rho, self.Delta)
            self.mu_Z += self.B - self.Z
            self.mu_Y += self.B - self.Y
            if max(gap(self.B, self.Z), gap(self.B, self.Y)) < self.settings.inner_tol:
                return done
        return self.settings.inner

    def update_D(self):
        """ADMM for the strengths, slice by slice; tells how many inner iterations it took."""
        K, R = self.C.shape
        ridge = self.lambdas[2] * np.eye(R)
        H = [(self.A.T @ self.A) * (B.T @ B) for B in self.B]
        rho = self.lift([np.trace(H[k]) / R for k in range(K)])
        for done in range(1, self.settings.inner + 1):
            for k in range(K):
                pull = rho[k] / 2 * (self.Z_D[k] - self.mu_D[k])
                right = np.diag(self.A.T @ self.X[k] @ self.B[k]) + pull
                self.C[k] = np.linalg.solve(H[k] + ridge + rho[k] / 2 * np.eye(R), right)
                self.Z_D[k] = np.maximum(self.C[k] + self.mu_D[k], 0.0)
                self.mu_D[k] += self.C[k] - self.Z_D[k]
            if gap(self.C, self.Z_D) < self.settings.inner_tol:
                return done
        return self.settings.inner

    def update_A(self):
        """The closed form."""
        BD = [B @ np.diag(c) for B, c in zip(self.B, self.C)]
        left = sum(W.T @ W for W in BD) + self.lambdas[0] * np.eye(self.A.shape[1])
        self.A = sum(X @ W for X, W in zip(self.X, BD)) @ np.linalg.inv(left)

    def lift(self, rho):
        """Give every slice at least its share of the mean."""
        return np.maximum(rho, self.floor * np.mean(rho))


def smooth(V, rho, strength):
    """Solve the tridiagonal system for Z, as one dense matrix over the slices."""
    K = len(V)
    matrix = np.diag(rho)
    for k in range(K - 1):
        matrix[k, k] += 2 * strength
        matrix[k + 1, k + 1] += 2 * strength
        matrix[k, k + 1] = matrix[k + 1, k] = -2 * strength
    return np.linalg.solve(matrix, (rho[:, None, None] * V).reshape(K, -1)).reshape(V.shape)


def project(V, rho, Delta):
    """One sweep of the approximate projection onto the PARAFAC2 set."""
    if Delta is None:
        values, vectors = np.linalg.eigh(sum(r * S.T @ S for r, S in zip(rho, V)) / rho.sum())
        Delta = vectors @ np.diag(np.sqrt(values)) @ vectors.T
    P = []
    for S in V:
        left, _, right = np.linalg.svd(S @ Delta.T, full_matrices=False)
        P.append(left @ right)
    Delta = sum(r * p.T @ S for r, p, S in zip(rho, P, V)) / rho.sum()
    return np.stack([p @ Delta for p in P]), Delta


def gap(x, aux):
    return np.linalg.norm(x - aux) / np.linalg.norm(x)


def draw(shape, rank, seed, negative):
    """Data that do not obey the model, and where to begin, in the user's units."""
    rng = np.random.default_rng(seed)
    K, I, J = shape
    X = np.einsum("ir,kjr,kr->kij", rng.random((I, rank)), rng.random((K, J, rank)), rng.random((K, rank)))
    X += 0.3 * rng.standard_normal(shape)
    if negative:  # a component that would like negative strengths in some slices
        X[: K // 2] *= -1.0
    return 30.0 * X, rng.random((I, rank)), rng.random((K, J, rank)), rng.random((K, rank))


def batch_for(X, lambdas, settings, start):
    """The solver at the same point, in its own units."""
    a, b, d = lambdas
    penalties = (
        [Ridge(a)],
        [Parafac2(), TemporalSmoothness(b, epsilon=0.0)],
        [Ridge(d), NonNegative()],
    )
    problem = build_problem(DenseData.from_slices(X), start[0].shape[1], penalties, absorb=settings.absorb)
    return Batch(problem, [Start(*(factor / problem.unit for factor in start))], settings)


def compare(batch, reference):
    unit = batch.problem.unit
    patterns, strengths = batch.patterns, batch.strengths
    by_slice = [patterns.B, *patterns.aux, *patterns.dual]
    ours = [batch.loadings.values[0].T, strengths.values[0].T, strengths.aux[0][0], strengths.dual[0][0]]
    ours += [array[0].transpose(1, 2, 0) for array in by_slice]
    theirs = [reference.A, reference.C, reference.Z_D, reference.mu_D]
    theirs += [reference.B, reference.Y, reference.Z, reference.mu_Y, reference.mu_Z]
    sizes = 1 * [reference.A] + 3 * [reference.C] + 5 * [reference.B]
    for mine, expected, size in zip(ours, theirs, sizes, strict=True):
        np.testing.assert_allclose(mine * unit, expected, rtol=0, atol=1e-9 * np.linalg.norm(size))


@pytest.mark.parametrize("lambdas", [(0.1, 10.0, 0.1), (20.0, 3000.0, 5.0)])
@pytest.mark.parametrize(
    ("shape", "rank", "negative", "inner"),
    [((6, 9, 7), 3, False, 1), ((6, 9, 7), 3, False, 5), ((4, 5, 4), 2, True, 5), ((5, 8, 6), 1, False, 5)],
)
def test_every_iteration_is_the_papers(shape, rank, negative, inner, lambdas):
    X, *start = draw(shape, rank, seed=rank, negative=negative)
    settings = replace(Settings.paper(), inner=inner)
    batch = batch_for(X, lambdas, settings, start)
    reference = Reference(X, lambdas, settings, *(factor.copy() for factor in start))
    for _ in range(OUTER):
        reference.step()
        batch.step()
        compare(batch, reference)


def test_inner_iterations_end_early_in_both():
    X, *start = draw((6, 9, 7), 3, seed=3, negative=True)
    settings = replace(Settings.paper(), inner_tol=0.15)
    batch = batch_for(X, (0.1, 10.0, 0.1), settings, start)
    reference = Reference(X, (0.1, 10.0, 0.1), settings, *(factor.copy() for factor in start))
    for _ in range(OUTER):
        reference.step()
        batch.step()
        compare(batch, reference)
    assert len({done for done, _ in reference.inner_done}) > 2, "patterns: the tolerance must matter"
    assert len({done for _, done in reference.inner_done}) > 1, "strengths: the tolerance must matter"


def test_a_weight_floor_is_an_addition_that_the_paper_setting_leaves_out():
    X, *start = draw((5, 8, 6), 1, seed=1, negative=False)
    settings = replace(Settings.paper(), inner=1)
    batch = batch_for(X, (0.1, 10.0, 0.1), settings, start)
    floored = batch_for(X, (0.1, 10.0, 0.1), replace(settings, weight_floor=0.01), start)
    printed, lifted = (
        Reference(X, (0.1, 10.0, 0.1), settings, *(factor.copy() for factor in start), floor=floor)
        for floor in (0.0, 0.01)
    )
    for _ in range(OUTER):
        printed.step()
        lifted.step()
        batch.step()
        compare(batch, printed)
        floored.step()
        compare(floored, lifted)
    assert gap(printed.B, lifted.B) > 1e-3, "the floor must matter"


def test_the_reported_objective_is_the_papers():
    X, *start = draw((6, 9, 7), 3, seed=3, negative=False)
    a, b, d = lambdas = (0.5, 40.0, 0.2)
    batch = batch_for(X, lambdas, Settings.paper(), start)
    reference = Reference(X, lambdas, Settings.paper(), *(factor.copy() for factor in start))
    for _ in range(3):
        reference.step()
        info = batch.step()
        A, B, C = reference.A, reference.B, reference.C
        expected = np.sum((X - np.einsum("ir,kr,kjr->kij", A, C, B)) ** 2)
        expected += a * np.sum(A**2) + b * np.sum(np.diff(B, axis=0) ** 2) + d * np.sum(C**2)
        assert info.objective[0] * batch.problem.data.scale**2 == pytest.approx(expected, rel=1e-9)
        gaps = [0.0, max(gap(B, reference.Y), gap(B, reference.Z)), gap(C, reference.Z_D)]
        np.testing.assert_allclose([info.gap_a[0], info.gap_b[0], info.gap_c[0]], gaps, rtol=1e-6, atol=1e-12)
