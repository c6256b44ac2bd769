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


def test_a_summary_where_nothing_is_smooth():
    """A rigidity beside a smoothness of next to nothing has no value of its own: the summary failed."""
    X = 1e-30 * np.random.default_rng(0).random((5, 12, 10))
    model = tp.TParafac2(2, 1e-300, rigidity=1.0, n_starts=1, max_iter=20, random_state=0).fit(X)
    assert "TParafac2" in model.summary()
