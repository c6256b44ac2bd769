"""Where the scale of a component belongs: in closed form, instead of by thousands of iterations.

The scale of component r can move freely between a_r, b_r and c_r. With penalties P_A, P_B and P_C of degree
two the best split makes all of them equal, to their geometric mean. With terms of degree one among them it
makes what each gains by growing equal, 2 P + L, which takes a few steps of Newton's.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray

_STEPS = 30
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

    @classmethod
    def of(cls, modes: Sequence[FloatArray]) -> "Costs":
        """Of a, b and c, or of a and b alone where strengths are fixed."""
        return cls(modes[0], modes[1], modes[2] if len(modes) > 2 else None)

    def after(self, scales: Sequence[FloatArray], degree: int = 2) -> FloatArray:
        """Sum over modes and components, once these were multiplied."""
        parts = [cost * scale**degree for cost, scale in zip(self, scales) if cost is not None]
        # Mode by mode, so that the sum of a start does not depend on how many there are.
        return np.asarray(sum(part.sum(axis=1) for part in parts))


def no_scaling(costs: Costs, linear: Costs | None = None) -> Scales:
    """Leave everything as it is."""
    return _scaled(costs, linear, [np.ones_like(costs.a)] * 3)


def best_scaling(
    costs: Costs,
    sizes: Costs,
    farthest: float = math.inf,
    movable: Sequence[bool] = (True, True, True),
    linear: Costs | None = None,
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
    linear : Costs, optional
        Penalties of degree one, which are not among `costs`.
    """
    places = [i for i, cost in enumerate(costs) if cost is not None and movable[i]]
    if len(places) < 2:
        return no_scaling(costs, linear)
    squares, lengths = (np.array([of[i] for i in places]) for of in (costs, sizes))
    slopes = np.zeros_like(squares) if linear is None else np.array([linear[i] for i in places])
    # A component that costs nothing in some mode has no best split; its norms are balanced.
    free = (squares + slopes <= 0).any(axis=0)
    squares, slopes = np.where(free, lengths, squares), np.where(free, 0.0, slopes)
    alive = (squares + slopes > 0).all(axis=0)
    found = _even_gains(np.where(alive, squares, 1.0), np.where(alive, slopes, 0.0))
    moved = _within_reach(list(found), list(lengths), farthest)
    scales = [np.ones_like(costs.a) for _ in range(3)]
    for i, scale in zip(places, moved):
        scales[i] = scale
    return _scaled(costs, linear, scales)


def _scaled(costs: Costs, linear: Costs | None, scales: Sequence[FloatArray]) -> Scales:
    total = costs.after(scales)
    if linear is not None:
        total = total + linear.after(scales, 1)
    return Scales(scales[0], scales[1], scales[2], total)


def _even_gains(squares: FloatArray, linear: FloatArray) -> FloatArray:
    """Scales s_i of product one that make 2 squares_i s_i^2 + linear_i s_i the same for all i: the cheapest.

    Examples
    --------
    >>> _even_gains(np.array([[1.0], [4.0]]), np.zeros((2, 1))).round(6).ravel().tolist()
    [1.414214, 0.707107]
    """
    if not linear.any():
        logs = np.log(squares)
        return np.asarray(np.exp(0.5 * (logs.mean(axis=0) - logs)))
    gain = np.mean(2.0 * squares + linear, axis=0)
    scales = np.ones_like(squares)
    for _ in range(_STEPS):
        # Squares of what is huge, and products of what is tiny, would leave the range of floats.
        scales = 2.0 * gain / (linear + np.hypot(linear, np.sqrt(8.0 * squares) * np.sqrt(gain)))
        off = np.log(scales).sum(axis=0)
        slope = ((2.0 * squares * scales + linear) / (4.0 * squares * scales + linear)).sum(axis=0)
        gain = gain * np.exp(-off / slope)
        if np.abs(off).max(initial=0.0) < 1e-12:
            break
    return np.asarray(scales / np.exp(np.log(scales).mean(axis=0)))


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
