"""Results that no fit made, for tests of what is done with them."""

import numpy as np

from tparafac2.result import Result


def hand_made(K=3, I=2, J=4, R=2, **changes):
    """Give a result of plain random factors, or what is said."""
    rng = np.random.default_rng(0)
    plain = {
        "model": "TParafac2",
        "A": rng.random((I, R)),
        "B": rng.random((K, J, R)),
        "C": rng.random((K, R)) + 0.1,
        "objective": 1.0,
        "explained_variance": 0.5,
        "status": "converged",
        "converged": True,
        "n_iter": 1,
    }
    return Result(**(plain | changes))
