"""Where the scale of a component belongs: in closed form, instead of by thousands of iterations.

The scale of component r can move freely between a_r, b_r and c_r. With penalties P_A, P_B and P_C of degree
two the best split makes all of them equal, to their geometric mean.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray

VANISHED = 1e-12  # weight |a||b||c| of a component, relative to the norm of the data, that counts as zero


class Scales(NamedTuple):
    """Factors (p, R) by which to multiply the components, and what the penalties become."""

    a: FloatArray
    b: FloatArray
    c: FloatArray
    penalty: FloatArray  # (p,) total after rescaling


class Costs(NamedTuple):
    """What each component costs in each mode (p, R); `c` is None where strengths are fixed."""

    a: FloatArray
    b: FloatArray
    c: FloatArray | None

    @property
    def total(self) -> FloatArray:
        """Sum over modes and components."""
        modes = [mode for mode in self if mode is not None]
        return np.asarray(np.sum(modes, axis=(0, 2)))


def no_scaling(costs: Costs) -> Scales:
    """Leave everything as it is."""
    one = np.ones_like(costs.a)
    return Scales(one, one, one, costs.total)


def best_scaling(
    costs: Costs, sizes: Costs, farthest: float = math.inf, movable: Sequence[bool] = (True, True, True)
) -> Scales:
    """Split the scale of every component in the best way.

    Parameters
    ----------
    costs : Costs
        Penalties of the components.
    sizes : Costs
        Squared norms of the components: balanced instead where nothing is penalised.
    farthest : float
        Most that such a square may become: what costs next to nothing would have no end to its scale.
    movable : sequence of bool
        For a, b and c, whether scale may move from and to it; between two of them it moves as among three.
    """
    places = [i for i, cost in enumerate(costs) if cost is not None and movable[i]]
    if len(places) < 2:
        return no_scaling(costs)
    pairs = [(np.asarray(costs[i]), np.asarray(sizes[i])) for i in places]
    # A component that costs nothing in some mode has no best split; its norms are balanced.
    free = np.any([cost <= 0 for cost, _ in pairs], axis=0)
    modes = [np.where(free, size, cost) for cost, size in pairs]
    alive = np.all([mode > 0 for mode in modes], axis=0)
    safe = [np.where(alive, mode, 1.0) for mode in modes]
    common = np.exp(sum(np.log(mode) for mode in safe) / len(safe))
    moved = _within_reach([np.sqrt(common / mode) for mode in safe], [size for _, size in pairs], farthest)
    scales = [np.ones_like(costs.a) for _ in range(3)]
    for i, scale in zip(places, moved):
        scales[i] = scale
    after = sum(cost * scale**2 for cost, scale in zip(costs, scales) if cost is not None)
    return Scales(scales[0], scales[1], scales[2], np.asarray(after).sum(axis=1))


def _within_reach(scales: list[FloatArray], sizes: list[FloatArray], farthest: float) -> list[FloatArray]:
    """Go a part of the way only, where all of it would be too far."""
    ahead_of_all = np.array([size * scale**2 for scale, size in zip(scales, sizes)])
    if ((ahead_of_all < farthest) & (ahead_of_all > 1.0 / farthest)).all():  # as nearly always
        return scales
    share = np.ones_like(scales[0])
    for scale, size in zip(scales, sizes):
        ahead, here = 2 * np.log(scale), np.log(np.where(size > 0, size, 1.0))
        left = np.maximum(math.log(farthest) - np.sign(ahead) * here, 0.0)
        too_far = np.abs(ahead) > left
        share = np.where(too_far, np.minimum(share, left / np.where(too_far, np.abs(ahead), 1.0)), share)
    return scales if (share == 1.0).all() else [scale**share for scale in scales]


def remove_vanished(
    scales: Scales, sizes: Costs, movable: Sequence[bool] = (True, True, True)
) -> tuple[Scales, NDArray[np.bool_]]:
    """Set components without weight to exactly zero; also tells which they are (p, R).

    Zero is absorbing and the last digits of a vanishing component are noise, so nothing is lost. A factor of
    which the scale may not be moved may be one that must not be zero, and stays.
    """
    weight = np.sqrt(sizes.a) * np.sqrt(sizes.b)
    if sizes.c is not None:
        weight = weight * np.sqrt(sizes.c)
    gone = weight < VANISHED
    a, b, c = (np.where(gone & moves, 0.0, scale) for scale, moves in zip(scales[:3], movable))
    return Scales(a, b, c if sizes.c is not None else scales.c, scales.penalty), gone
