"""What all tests share."""

import os
import signal

# Before NumPy is imported: the libraries read these once, and many small problems only suffer from threads.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import pytest
from hypothesis import HealthCheck, settings

from tparafac2 import synthetic

# The gate draws the same examples every time; `make fuzz` looks for new ones, and what it finds becomes an
# explicit @example.
# Machines may be busy, and examples may share a folder: they write what they read.
BASE = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("gate", BASE, derandomize=True, database=None)
settings.register_profile("fuzz", BASE, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Let tests send it, and what they share, also where a shell has started them in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _ctrl_c_stays_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def read_only(data):
    """Refuse changes: the data of a session belong to all of its tests."""
    for array in (data.X, data.A, data.B, data.C):
        array.flags.writeable = False
    return data


@pytest.fixture(scope="session")
def paper_data():
    """Give the paper's easy case at its published size: 20 slices of 150 x 100, 3 concepts."""
    return read_only(synthetic.easy(seed=0))


@pytest.fixture(scope="session")
def small_data():
    """Give an easy case that fits in no time: 8 slices of 20 x 24, 2 concepts, little noise."""
    return read_only(synthetic.easy(seed=0, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2))
