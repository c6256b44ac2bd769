"""Answers that were wrong once."""

import math

import numpy as np
import pytest

import tparafac2 as tp


@pytest.mark.parametrize("rigidity", [math.inf, 1.0])
def test_rows_of_almost_nothing_beside_others(rigidity):
    """Non-negative loadings far below their start: their kernel wrote out of bounds."""
    X = np.random.default_rng(0).random((6, 30, 12))
    X[:, :10] *= 1e-18
    model = tp.TParafac2(8, 1e-3, nonnegative="rows", rigidity=rigidity, n_starts=2, random_state=0)
    model.fit(X)
    assert np.isfinite(model.A_).all()
    assert (model.A_ >= 0).all()
    assert np.abs(model.A_[:10]).max() < 1e-12 * np.abs(model.A_).max()
    norm = np.linalg.norm(X)
    fitted = np.einsum("ir,kjr,kr->kij", model.A_, model.B_, model.C_)
    explained = 1 - (np.linalg.norm(X - fitted) / norm) ** 2
    assert model.explained_variance_ == pytest.approx(explained, abs=1e-9)
