"""What tests and examples in docstrings have in common."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    """Where some test has loaded pyplot, it keeps all later figures, and warns of twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
