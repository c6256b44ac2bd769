"""The same prox as an independent implementation."""

import numpy as np
import pytest

from tparafac2.penalties import Parafac2, TemporalSmoothness

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
