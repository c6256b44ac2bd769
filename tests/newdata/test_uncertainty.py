"""Bounds hold as often as they say, for rows of the fit and others, whatever the noise of a row."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.newdata.uncertainty import _middle_blocks, _noise


def test_diagonal_blocks_of_the_inverse():
    rng = np.random.default_rng(0)
    K, R = 5, 3
    blocks = np.stack([np.eye(R) * 4 + one @ one.T for one in rng.random((K, R, R))])[:, None]
    off = -rng.random((K - 1, R))
    whole = np.zeros((K * R, K * R))
    for k in range(K):
        whole[k * R : k * R + R, k * R : k * R + R] = blocks[k, 0]
    for k in range(K - 1):
        for r in range(R):
            whole[k * R + r, k * R + R + r] = whole[k * R + R + r, k * R + r] = off[k, r]
    inverse = np.linalg.inv(whole)
    for k, found in enumerate(_middle_blocks(blocks, off)[:, 0]):
        assert np.allclose(found, inverse[k * R : k * R + R, k * R : k * R + R])


def test_noise_of_rows_columns_and_times():
    rng = np.random.default_rng(0)
    rows, times, columns = (np.exp(rng.normal(size=n) / 2) for n in (60, 30, 40))
    sizes = np.einsum("i,k,j->ikj", rows, times, columns)
    squares = sizes * rng.normal(size=sizes.shape) ** 2
    seen = rng.random(sizes.shape) < 0.7
    ratio = _noise(np.where(seen, squares, 0.0), seen) / sizes
    assert np.abs(np.log(ratio)).max() < 0.5
    assert not _noise(np.zeros((2, 3, 4)), np.ones((2, 3, 4), dtype=bool)).any()


@pytest.mark.slow
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("new", [False, True])
def test_bounds_hold_as_often_as_they_say(uneven, new):
    inside = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        data = tp.synthetic.easy(seed=seed, n_times=10, n_rows=60, n_columns=30, noise=0.5)
        truth = np.einsum("ir,kr,kjr->kij", data.A, data.C, data.B)[:, rng.permutation(60)]
        noise = rng.normal(size=truth.shape) * (data.X - truth).std() / 2
        X = truth + noise * (np.exp(rng.normal(size=(60, 1)) / 2) if uneven else 1.0)
        holes = rng.random(X.shape) < 0.3
        holed = np.where(holes, np.nan, X)
        model = tp.TParafac2(3, n_starts=2, random_state=0).fit(holed[:, :40] if new else holed)
        rows = slice(40, None) if new else slice(None)
        found = model.complete(holed[:, rows], level=0.9)
        within = (found.lower <= X[:, rows]) & (X[:, rows] <= found.upper)
        inside.append(within[holes[:, rows]].mean())
    assert 0.86 < np.mean(inside) < 0.94
