"""Small data on disk in every way in which large ones may be kept, and the same in memory."""

import numpy as np
import pytest

import tparafac2 as tp

MEMORY = "12MB"  # blocks of a few hundred kB


@pytest.fixture(scope="session")
def X():
    return tp.synthetic.easy(seed=2, n_times=9, n_rows=400, n_columns=40, n_concepts=3).X


@pytest.fixture
def mapped(tmp_path):
    """Put an array into a file, and map it."""

    def keep(X, name="x.bin", dtype=None):
        held = np.memmap(tmp_path / name, dtype=dtype or X.dtype, mode="w+", shape=X.shape)
        held[...] = X
        held.flush()
        return np.memmap(tmp_path / name, dtype=held.dtype, mode="r", shape=X.shape)

    return keep
