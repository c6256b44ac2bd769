"""The same prox as an independent implementation."""

import numpy as np
import pytest

from tparafac2.penalties import (
    L1,
    Box,
    GeneralisedRidge,
    NormBall,
    Parafac2,
    Simplex,
    TemporalSmoothness,
    Unimodal,
    laplacian,
)

peer = pytest.importorskip("matcouply.penalties")

SHAPES = [(2, 4, 1), (5, 6, 3), (12, 20, 4)]


def draw(shape, seed):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal(shape),
        rng.uniform(0.2, 5, shape[0]),
        rng.standard_normal((shape[2], shape[2])),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_temporal_smoothness_equals_matcouply(shape, strength):
    v, rho, _ = draw(shape, seed=0)
    theirs = np.stack(
        peer.TemporalSmoothnessPenalty(strength).factor_matrices_update(list(v), list(rho), None)
    )
    ours, _ = TemporalSmoothness(strength, epsilon=0.0).prox(v, rho)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    # They halve the fit: in their units our strength and rho are both twice as large.
    doubled, _ = TemporalSmoothness(2 * strength, epsilon=0.0).prox(v, 2 * rho)
    np.testing.assert_allclose(doubled, theirs, rtol=0, atol=1e-10)


def test_temporal_smoothness_value_equals_matcouply():
    v, _, _ = draw((5, 6, 3), seed=1)
    theirs = float(peer.TemporalSmoothnessPenalty(0.7).penalty(list(v)))
    assert TemporalSmoothness(0.7, epsilon=0.0).value(v) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sweeps", [1, 4])
def test_parafac2_sweeps_equal_matcouply(shape, sweeps):
    v, rho, delta = draw(shape, seed=2)
    bases = [np.eye(shape[1], shape[2])] * shape[0]
    theirs = peer.Parafac2(n_iter=sweeps).factor_matrices_update(list(v), list(rho), (bases, delta))
    for _ in range(sweeps):
        ours, delta = Parafac2().prox(v, rho, delta)
    np.testing.assert_allclose(delta, theirs[1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours, [basis @ theirs[1] for basis in theirs[0]], rtol=0, atol=1e-10)


# --- terms on entries and columns ---------------------------------------------------------------------------

LAPLACIAN = laplacian([(j, j + 1) for j in range(19)], 20).toarray()

TERMS = {
    "L1": (L1(0.7), lambda n: peer.L1Penalty(0.7)),
    "box": (Box(-0.3, 0.8), lambda n: peer.Box(-0.3, 0.8)),
    "simplex": (Simplex(), lambda n: peer.UnitSimplex()),
    "ball": (NormBall(0.6), lambda n: peer.L2Ball(0.6)),
    "one peak": (Unimodal(), lambda n: peer.Unimodality()),
    "one peak, not negative": (Unimodal(nonnegative=True), lambda n: peer.Unimodality(non_negativity=True)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TERMS)
def test_terms_on_columns_equal_matcouply(name, shape):
    v, rho, _ = draw(shape, seed=3)
    ours, make = TERMS[name]
    theirs = make(shape[1])
    found = np.stack(theirs.factor_matrices_update(list(v), list(rho), [None] * len(v)))
    np.testing.assert_allclose(ours.prox(v, rho)[0], found, rtol=0, atol=1e-7)
    if name == "L1":
        assert ours.value(v) == pytest.approx(float(theirs.penalty(list(v))), rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_generalised_ridge_equals_matcouply(shape):
    v, rho, _ = draw(shape, seed=4)
    n = shape[1]
    matrix = LAPLACIAN[:n, :n] + 0.1 * np.eye(n)
    ours, theirs = GeneralisedRidge(matrix), peer.GeneralizedL2Penalty(matrix)
    found = np.stack(theirs.factor_matrices_update(list(v), list(rho), [None] * len(v)))
    np.testing.assert_allclose(ours.prox(v, rho)[0], found, rtol=0, atol=1e-9)
    assert ours.value(v) == pytest.approx(float(theirs.penalty(list(v))), rel=1e-9)
