"""A hand-made result with intervals."""

import numpy as np
from hand_made import hand_made

from tparafac2.result import Band, Intervals


def band_of(values, half):
    return Band(values, values - half, values + half)


def intervals_for(result, **changes):
    """Bands of half a tenth around all numbers; of changes, half the rises include zero."""
    A, B, C = result.normalised()
    _, J, R = B.shape
    rises = np.linspace(0.02, 0.4, J * R).reshape(J, R)
    places = np.zeros((2, J, R), dtype=np.intp)
    places[1] = len(C) - 1
    plain = {
        "level": 0.9,
        "over": "rows",
        "n_resamples": 50,
        "patterns": band_of(B, 0.05),
        "strengths": band_of(C, 0.05),
        "loadings": band_of(A, 0.05),
        "rises": band_of(rises, 0.2),
        "falls": band_of(-rises, 0.2),
        "rise_times": places,
        "fall_times": places,
        "contrasts": band_of(np.array([0.1]), 0.2),
        "asked": ((1, 2, 0, 1),),
        "unmatched": np.zeros(R),
        "undersmoothing": 4.0,
    }
    return Intervals(**(plain | changes))


def banded(**changes):
    from dataclasses import replace

    rng = np.random.default_rng(0)
    result = hand_made(A=rng.normal(size=(5, 2)), B=rng.normal(size=(3, 4, 2)), **changes)
    return replace(result, intervals=intervals_for(result))
