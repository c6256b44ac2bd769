"""Compiled: what is nearest to a column among those that rise and fall once, or change little by steps."""

from functools import partial
from typing import Any

import numpy as np

from tparafac2 import compiling

# Here, because the cache on disk is renewed when this file changes, and no other: all that it calls is here.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
kernel = partial(compiling.kernel, options=_OPTIONS)
part = partial(compiling.part, options=_OPTIONS)


@part
def rising_prefixes(v, w, bounded, means, masses, counts, costs, errors):  # type: ignore[no-untyped-def]
    """Fit columns that only rise to the first i entries, for every i: their squared errors, and all blocks.

    Blocks of equal entries are pooled as long as the last one is below the one before it. Where nothing may
    be negative, blocks below zero become zero, and cost as much more. Gives the number of blocks of the last.
    """
    top = np.int64(-1)
    errors[0] = 0.0
    for i in range(v.shape[0]):
        mean, mass, count, own = v[i], w[i], np.int64(1), 0.0
        while top >= 0 and means[top] >= mean:
            both = mass + masses[top]
            gap = mean - means[top]
            own += costs[top, 0] + mass * masses[top] / both * gap * gap
            mean = means[top] + gap * (mass / both)
            mass, count = both, count + counts[top]
            top -= 1
        below = costs[top, 1] if top >= 0 else 0.0
        top += 1
        means[top], masses[top], counts[top], costs[top, 0] = mean, mass, count, own
        clipped = mass * mean * mean if bounded and mean < 0.0 else 0.0
        costs[top, 1] = below + own + clipped
        errors[i + 1] = costs[top, 1]
    return top + 1


@kernel
def nearest_unimodal(columns, weights, bounded, out):  # type: ignore[no-untyped-def]
    """Write the nearest columns that rise up to some entry and fall from there on; not negative if bounded.

    Every place of the peak is tried: errors of all rising beginnings and of all falling ends are known after
    one pass each.
    """
    m, n = columns.shape
    means, masses, counts, costs = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty((n, 2))
    left, right = np.empty(n + 1), np.empty(n + 1)
    for c in range(m):
        v, w = columns[c], weights[c]
        rising_prefixes(v, w, bounded, means, masses, counts, costs, left)
        rising_prefixes(v[::-1], w[::-1], bounded, means, masses, counts, costs, right)
        peak = 0
        for p in range(1, n + 1):
            if left[p] + right[n - p] < left[peak] + right[n - peak]:
                peak = p
        for side in range(2):
            ahead = v[:peak] if side == 0 else v[peak:][::-1]
            heavy = w[:peak] if side == 0 else w[peak:][::-1]
            place = out[c, :peak] if side == 0 else out[c, peak:][::-1]
            blocks = rising_prefixes(ahead, heavy, bounded, means, masses, counts, costs, left)
            i = 0
            for b in range(blocks):
                level = max(means[b], 0.0) if bounded else means[b]
                for _ in range(counts[b]):
                    place[i] = level
                    i += 1


@kernel
def least_variation(columns, weights, strength, out):  # type: ignore[no-untyped-def]
    """Write the minimisers of ``sum_i w_i / 2 (x_i - v_i)^2 + strength sum_i |x_i - x_(i-1)|``.

    What the entries up to i cost at least, as a function of entry i, has a derivative of straight pieces, and
    the next entry sees it cut off at -strength and +strength. Where it is cut are the bounds that entry i
    keeps to around the next one; entries follow from the last one backwards.
    """
    m, n = columns.shape
    knots = np.empty((2 * n + 2, 3))  # place, and by how much slope and height at 0 change there
    low, high = np.empty(n), np.empty(n)
    for c in range(m):
        first, last = n, n - 1
        for i in range(n):
            w, v = weights[c, i], columns[c, i]
            edge = 0.0 if i == 0 else strength
            slope, height = w, -w * v - edge
            goal = 0.0 if i == n - 1 else -strength
            while first <= last and slope * knots[first, 0] + height < goal:
                slope += knots[first, 1]
                height += knots[first, 2]
                first += 1
            low[i] = (goal - height) / slope
            if i == n - 1:
                break
            first -= 1
            knots[first, 0], knots[first, 1], knots[first, 2] = low[i], slope, height + strength
            slope, height = w, -w * v + edge
            while last > first and slope * knots[last, 0] + height > strength:
                slope -= knots[last, 1]
                height -= knots[last, 2]
                last -= 1
            high[i] = (strength - height) / slope
            last += 1
            knots[last, 0], knots[last, 1], knots[last, 2] = high[i], -slope, strength - height
        out[c, n - 1] = low[n - 1]
        for i in range(n - 2, -1, -1):
            out[c, i] = min(max(out[c, i + 1], low[i]), high[i])
